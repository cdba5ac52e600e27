// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whatever is answered, the file is read without a warning.

use cemark_scenario::{Overrides, Plan, parse};
use cemark_sim::workload::load::{Tier, flows_per_second, most_loaded};
use cemark_sim::workload::{Kind as Arriving, Poisson};
use cemark_transport::cc::catalogue;
use cemark_wire::Picos;
use proptest::prelude::*;

use super::answers::{self, Answers, Buffer, Kind, Per, Rtts};
use super::{Failure, Made, compose};

const MICRO: u64 = 1_000_000;

/// A number between two bounds, each order of magnitude equally likely.
fn spread(low: u64, high: u64) -> impl Strategy<Value = u64> {
    let (low, high) = ((low as f64).ln(), (high as f64).ln());
    (low..=high).prop_map(|x| x.exp().round() as u64)
}

fn rtts() -> impl Strategy<Value = Rtts> {
    let ends = [spread(1, 100_000), spread(1, 100_000), spread(1, 100_000)];
    (ends, 0..4_u8).prop_map(|(mut ends, form)| {
        ends.sort_unstable();
        let [smallest, middle, largest] = ends.map(|us| us * MICRO);
        let varies = smallest < largest;
        let rows = |shares: [u32; 3]| shares.into_iter().zip([smallest, middle, largest]);
        match form {
            2 if varies => Rtts::Quantiles(rows([500_000, 900_000, 999_000]).collect()),
            3 if varies => Rtts::Quantiles(rows([0, 990_000, 1_000_000]).collect()),
            _ => Rtts::Range {
                smallest,
                typical: Some(middle).filter(|_| form == 1 && varies),
                largest,
            },
        }
    })
}

fn buffers() -> impl Strategy<Value = Buffer> {
    let most = u64::from(u32::MAX);
    let of = |per: Per, least| {
        spread(least, most).prop_map(move |amount| Buffer {
            amount: amount.clamp(least, most),
            in_cells: false,
            per,
        })
    };
    prop_oneof![of(Per::Port, 15_000), of(Per::Switch, 150_000)]
}

fn answers() -> impl Strategy<Value = Answers> {
    let kinds = prop_oneof![Just(Kind::Star), Just(Kind::LeafSpine), Just(Kind::FatTree)];
    let controls: Vec<&str> = catalogue::ALL
        .iter()
        .filter(|c| c.ecn)
        .map(|c| c.name)
        .collect();
    let sizes = &["web-search", "data-mining", "facebook-small", "20KB", "5MB"];
    let rates = spread(100, 800_000).prop_map(|mbps| mbps * 1_000_000);
    let ratios = prop_oneof![Just(1.0), Just(2.0), Just(3.0), 1.0..32.0_f64];
    let classes = prop::sample::select(
        &[
            "none",
            "none",
            "all:dctcp",
            "a:dcqcn:26 b:ecn-star",
            "a:dcqcn:24,26",
        ][..],
    );
    let uplinks = prop::sample::select(&[1_u64, 1, 2, 4, 8][..]);
    (
        (kinds, spread(2, 1500), rates, ratios),
        (rtts(), buffers(), prop::sample::select(&sizes[..])),
        (1..=19_u64, prop::sample::select(controls), spread(1, 64)),
        (classes, uplinks),
    )
        .prop_map(
            |((kind, hosts, rate, ratio), (rtt, buffer, sizes), rest, (classes, faster))| {
                let (load, control, queues) = rest;
                Answers {
                    kind,
                    hosts: hosts as u32,
                    rate,
                    ratio: if kind == Kind::Star { 1.0 } else { ratio },
                    rtt,
                    rtt_keys: Vec::new(),
                    buffer,
                    sizes: sizes.to_owned(),
                    load: load as f64 / 20.0,
                    transport: control,
                    queues: queues as u32,
                    uplink: Some(rate * faster)
                        .filter(|up| *up > rate && *up <= 800_000_000_000)
                        .filter(|_| kind == Kind::LeafSpine),
                    classes: super::answers::classes(classes).expect("classes"),
                }
            },
        )
}

fn read(made: &Made) -> Plan {
    // One replication has every warning that there is.
    let one = Overrides {
        seed: Some(1),
        ..Overrides::default()
    };
    match parse(&made.text, "my-fabric.toml", &one) {
        Ok(plan) => plan,
        Err(e) => panic!("{e}\n{}", made.text),
    }
}

fn said(e: Failure) -> String {
    match e {
        Failure::User(report) | Failure::Machine(report) => {
            format!(
                "{report}: {}",
                report.help().map(|h| h.to_string()).unwrap_or_default()
            )
        }
        Failure::Interrupted(text) => text,
        Failure::OutputClosed => String::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn every_combination_of_answers_is_read_without_a_warning(answers in answers()) {
        match compose(&answers, answers.buffer.amount, None, "my-fabric.toml", &[]) {
            Ok(made) => {
                let plan = read(&made);
                let mut warnings = plan.warning_lines();
                // A published set does not follow from the buffer.
                warnings.retain(|text| !text.contains("sonic, as published"));
                prop_assert!(warnings.is_empty(), "{warnings:#?}\n{}", made.text);
                let fewest = if answers.classes.is_empty() { 3 } else { 2 };
                prop_assert!(plan.schemes.len() >= fewest);
                // Fewer than a thousand flows only where the longest run has no time for them.
                let cut = made.notes.iter().any(|n| n.contains("a run may last"));
                prop_assert!(made.flows >= 1000 || cut, "{} flows", made.flows);
            }
            Err(e) => {
                let said = said(e);
                let known = ["write --hosts", "more than one a nanosecond"];
                prop_assert!(known.iter().any(|k| said.contains(k)), "{said}");
            }
        }
    }
}

/// The most loaded tier carries what the drawn flows offer: the bytes that its links send between
/// the first and the last start of a measured flow, over the bytes of the flows that start in this
/// time, data and acknowledgements. And the number of marks.
fn carried(made: &Made) -> (f64, u64) {
    let plan = read(made);
    let mut config = plan.points[0].config.clone();
    let topology = config.topology.clone();
    let (mut starts, mut offered) = (Vec::new(), 0.0);
    let mut traffic = config.traffic();
    let mut waiting = Vec::new();
    while let Some(flow) = traffic.pop() {
        if flow.measured {
            starts.push(flow.start);
            waiting.push(flow);
        } else if !starts.is_empty() {
            break;
        }
    }
    config.measure.from = starts[0];
    config.measure.until = starts[starts.len() - 1];
    let Arriving::Poisson(Poisson { pairs, .. }) = &config.workloads[0].kind else {
        panic!("init writes a Poisson workload");
    };
    let tier = most_loaded(&topology, pairs).tier;
    let inner = tier != Tier::Hosts;
    for flow in &waiting {
        let crosses = !inner || topology.rack(flow.src) != topology.rack(flow.dst);
        let packets = flow.bytes.div_ceil(u64::from(config.transport.mss));
        let wire = flow.bytes + packets * u64::from(config.transport.header_bytes);
        let acks = packets * u64::from(config.transport.ack_bytes);
        offered += if crosses { (wire + acks) as f64 } else { 0.0 };
    }
    let span = config.measure.until.saturating_sub(config.measure.from);
    let outcome = cemark_sim::run(&config);
    let here = |name: &str| match inner {
        true => name.contains("leaf") && name.contains("->spine"),
        false => name.contains("->host"),
    };
    let sent: f64 = outcome
        .ports
        .iter()
        .filter(|p| here(&p.name))
        .map(|p| p.utilisation * p.rate.0 as f64 / 8.0 * span.as_secs_f64())
        .sum();
    (sent / offered, outcome.totals.all_marks())
}

/// The uplinks carry the load that was asked for. With half the warm-up this fabric carries 0.89 of
/// the offered bytes.
#[test]
fn the_measured_flows_meet_the_load_that_was_asked_for() {
    let answers = Answers {
        kind: Kind::LeafSpine,
        hosts: 24,
        rate: 1_000_000_000,
        ratio: 2.0,
        load: 0.8,
        ..usual()
    };
    let (share, _) = carried(&composed(&answers));
    assert!(
        (0.9..=1.1).contains(&share),
        "{share} of what is offered: {answers:?}"
    );
}

/// Large fabrics were measured empty: all measured flows started within 70 us.
#[test]
fn large_fabrics_are_measured_under_load() {
    for (hosts, rate) in [(256, 10), (256, 100), (512, 25), (1024, 100)] {
        let answers = Answers {
            hosts,
            rate: rate * 1_000_000_000,
            ..usual()
        };
        let plan = read(&composed(&answers));
        let config = &plan.points[0].config;
        let Arriving::Poisson(Poisson {
            flows,
            warmup,
            hold,
            load,
            sizes,
            pairs,
            ..
        }) = &config.workloads[0].kind
        else {
            panic!("init writes a Poisson workload");
        };
        let per_second = flows_per_second(&config.topology, pairs, sizes.mean(), *load);
        // A byte is under way for as long as its flow shares its host's link, at the least.
        let link = config.topology.host_rate().0 as f64;
        let stay = sizes.mean_of_bytes() * 8.0 / link / (1.0 - load);
        let before = *warmup as f64 / per_second;
        let measured = *flows as f64 / per_second;
        assert!(
            before > 2.0 * stay && measured > 2.0 * stay,
            "{hosts} hosts: {before} s"
        );
        assert!(hold.as_secs_f64() > 2.0 * stay);
    }
    let answers = Answers {
        hosts: 256,
        sizes: "100KB".to_owned(),
        ..usual()
    };
    let (share, marks) = carried(&composed(&answers));
    assert!(
        (0.9..=1.1).contains(&share) && marks > 0,
        "{share}, {marks} marks"
    );
}

fn usual() -> Answers {
    Answers {
        kind: Kind::LeafSpine,
        hosts: 64,
        rate: 25_000_000_000,
        ratio: 2.0,
        rtt: Rtts::Range {
            smallest: 20 * MICRO,
            typical: None,
            largest: 120 * MICRO,
        },
        buffer: Buffer {
            amount: 16_000_000,
            in_cells: false,
            per: Per::Switch,
        },
        sizes: "web-search".to_owned(),
        load: 0.6,
        transport: "dctcp",
        queues: 1,
        rtt_keys: Vec::new(),
        uplink: None,
        classes: Vec::new(),
    }
}

fn composed(answers: &Answers) -> Made {
    let made = compose(answers, answers.buffer.amount, None, "my-fabric.toml", &[]);
    made.unwrap_or_else(|e| panic!("{}", said(e)))
}

/// The defaults: thresholds by the papers' rules.
#[test]
fn thresholds_follow_from_the_base_rtts() {
    let made = composed(&usual());
    // 20 us + min(Exp(38 us), 100 us): 90th percentile 107.5, mean 55.3.
    for line in [
        "k = \"107.5us\"",
        "ins_target = \"107.5us\"",
        "pst_interval = \"120us\"",
        "pst_target = \"55.27us\"",
        "leaves = 4",
        "spines = 8 # 16 links of hosts on 8 links to spines: 2:1",
    ] {
        assert!(made.text.contains(line), "{line} is not in\n{}", made.text);
    }
    assert!(made.notes.is_empty());
    assert!(
        made.text.lines().all(|line| line.chars().count() <= 100),
        "{}",
        made.text
    );
    let labels = read(&made).schemes;
    assert_eq!(labels, ["DCTCP-RED-Tail", "DCTCP-RED-AVG", "CoDel", "ECN#"]);
}

/// Percentiles become a table of quantiles, flat where none is known, and a comment says so.
#[test]
fn percentiles_are_a_table_with_a_comment() {
    let rtt = answers::rtt("p50=12us,p99=95us").expect("percentiles");
    let made = composed(&Answers { rtt, ..usual() });
    for line in [
        "model = \"quantiles\"",
        "table = [[0, \"12us\"], [0.5, \"12us\"], [0.99, \"95us\"], [1, \"95us\"]]",
        "No RTT below p50 is known: RTTs there equal that of p50, 12us.",
        // 12 + 83 x 40 / 49, by hand.
        "k = \"79.76us\"",
        "pst_interval = \"95us\"",
    ] {
        let text = made.text.replace("\n# ", " ");
        assert!(text.contains(line), "{line} is not in\n{}", made.text);
    }
    assert!(
        made.text.lines().all(|line| line.len() <= 100),
        "{}",
        made.text
    );
    let rtt = &read(&made).points[0].config.rtt;
    let below = |us: u64| rtt.share_below(Picos::from_micros(us));
    assert_eq!([below(12), below(95), below(96)], [0.0, 0.99, 1.0]);
}

#[test]
fn several_queues_bring_the_schemes_for_them() {
    let made = composed(&Answers {
        queues: 4,
        ..usual()
    });
    let plan = read(&made);
    assert_eq!(
        plan.schemes,
        ["DCTCP-RED-Tail", "MQ-ECN", "TCN", "CoDel", "ECN#"]
    );
    assert_eq!(plan.points[0].config.switch.queues.len(), 4);
}

/// A buffer below the bandwidth-delay product leaves thresholds that it can reach, and says so.
#[test]
fn a_small_buffer_is_noted() {
    let buffer = Buffer {
        amount: 100_000,
        in_cells: false,
        per: Per::Port,
    };
    let made = composed(&Answers { buffer, ..usual() });
    assert!(
        made.notes.iter().any(|n| n.contains("is small")),
        "{:?}",
        made.notes
    );
    assert!(made.text.contains("k = \"16us\""), "{}", made.text);
}
