// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plans of scenarios: points, axes, digests, warnings, cost.

use cemark_scenario::{Overrides, Plan, builtins, load, parse};
use cemark_sim::config::{MarkerChoice, Nic, NonEct, TracePorts};
use cemark_sim::topology::{Star, Topology};
use cemark_sim::workload::{ClassMap, Kind, Long, LongFlows, Pairs, Poisson, RttModel, Workload};
use cemark_transport::Control;
use cemark_transport::cc::dctcp::DctcpConfig;
use cemark_wire::{Nanos, Picos, Rate};

fn with(set: &[&str]) -> Overrides {
    let mut overrides = Overrides::default();
    for option in set {
        overrides.add(option).unwrap();
    }
    overrides
}

fn main_job(set: &[&str]) -> Plan {
    load_main(&with(set))
}

fn load_main(overrides: &Overrides) -> Plan {
    load("rtt-variation", overrides).unwrap_or_else(|e| panic!("{e}"))
}

fn value(plan: &Plan, scheme: &str, name: &str) -> u64 {
    let point = plan.points.iter().find(|p| p.scheme == scheme).unwrap();
    match &point.config.switch.marker {
        MarkerChoice::Builtin { scheme, values } => values.get(scheme.index_of(name).unwrap()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_main_job() {
    let plan = main_job(&[]);
    assert_eq!(plan.name, "rtt-variation");
    assert_eq!(
        plan.schemes,
        ["DCTCP-RED-Tail", "DCTCP-RED-AVG", "CoDel", "TCN", "ECN#"]
    );
    assert_eq!(
        (plan.baseline, plan.axes.as_slice()),
        (0, ["workload.load".to_owned()].as_slice())
    );
    // All replications; a run takes the first ones that its precision needs.
    assert_eq!(plan.points.len(), 2 * 5 * 64);
    let precision = plan.precision.as_ref().unwrap();
    assert_eq!((precision.within, precision.most), (5.0, 64));
    assert_eq!(precision.metrics, ["short.mean", "large.mean"]);
    assert_eq!(plan.workloads, ["poisson"]);
    // Axes outermost, then scheme, then seed.
    let first: Vec<_> = [0, 1, 63, 64]
        .iter()
        .map(|&i| &plan.points[i])
        .map(|p| (p.axes["workload.load"].as_str(), p.scheme.as_str(), p.seed))
        .collect();
    assert_eq!(
        first,
        [
            ("0.5", "DCTCP-RED-Tail", 1),
            ("0.5", "DCTCP-RED-Tail", 2),
            ("0.5", "DCTCP-RED-Tail", 64),
            ("0.5", "DCTCP-RED-AVG", 1)
        ]
    );
    assert_eq!(
        (plan.points[0].load, plan.points[639].load),
        (Some(0.5), Some(0.9))
    );
    assert_eq!(plan.points[639].config.seed, 64);
    let config = &plan.points[0].config;
    assert_eq!(config.topology.hosts(), 128);
    assert_eq!(config.topology.propagation(0, 127), Picos::from_micros(40));
    assert_eq!(
        config.rtt,
        RttModel::Variation {
            lo: Picos::from_micros(80),
            hi: Picos::from_micros(240)
        }
    );
    assert_eq!(
        (config.transport.init_window, config.transport.rto_min),
        (10, Nanos::from_millis(5))
    );
    assert_eq!(config.nic, Nic::BackPressure { packets: 2 });
    assert_eq!(
        (config.switch.buffer_bytes, config.switch.non_ect),
        (600_000, NonEct::Forward)
    );
    assert_eq!(config.measure.trace, TracePorts::Hottest);
    match &config.workloads[0].kind {
        Kind::Poisson(Poisson {
            sizes,
            pairs,
            flows,
            warmup,
            ..
        }) => {
            assert_eq!(
                (sizes.name.as_str(), pairs, *flows, *warmup),
                ("web-search", &Pairs::All, 2_000, 1_000)
            );
        }
        other => panic!("{other:?}"),
    }
    // A threshold written as a time is what the link sends in it.
    assert_eq!(value(&plan, "DCTCP-RED-Tail", "k"), 275_000);
    assert_eq!(value(&plan, "DCTCP-RED-AVG", "k"), 171_250);
    assert_eq!(value(&plan, "ECN#", "ins_target"), 220_000);
    assert_eq!(value(&plan, "ECN#", "pst_target"), 10_000);
    assert_eq!(value(&plan, "CoDel", "interval"), 240_000);
    let published: Vec<_> = plan
        .published
        .iter()
        .map(|p| {
            (
                p.metric.as_str(),
                p.percent,
                p.axes["workload.load"].as_str(),
            )
        })
        .collect();
    assert_eq!(
        published,
        [
            ("short.mean", -23.4, "0.9"),
            ("short.p99", -37.3, "0.9"),
            ("overall.mean", 0.0, "0.9"),
            ("large.mean", 0.0, "0.9")
        ]
    );
    // At 0.9 of the uplinks 1000 flows of warm-up take 21 ms.
    assert_eq!(plan.points[639].config.measure.from.0 / 1_000_000_000, 20);
}

#[test]
fn cost_is_what_the_flows_make() {
    // 12,000 flows, 1172 data packets each and as many ACKs, over 3.76 links; then the load is held
    // until the last large flow ends, which takes the longer the less the load leaves (measured:
    // 1.2 to 1.3 times the flows asked for at 0.5, 3.9 to 5.1 times at 0.9).
    let flows = 12_000.0 * 1172.0 * 2.0 * (2.0 + 2.0 * 112.0 / 127.0);
    for (load, low, high) in [("0.5", 1.0, 1.6), ("0.9", 2.5, 6.0)] {
        let overrides = Overrides {
            full: true,
            ..with(&[&format!("workload.load={load}")])
        };
        let plan = load_main(&overrides);
        let share = plan.points[0].cost / flows;
        assert!(
            (low..high).contains(&share),
            "load {load}: {share} times the flows"
        );
    }
}

#[test]
fn every_builtin_can_be_read() {
    let mut names = Vec::new();
    for builtin in builtins() {
        let plan = load(builtin.name, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(plan.name, builtin.name);
        assert_eq!(plan.source, builtin.text);
        assert_eq!(plan.warnings, [], "{}", builtin.name);
        assert!(
            !plan.title.is_empty() && plan.title == builtin.title() && !plan.description.is_empty()
        );
        assert_eq!(plan.title.starts_with("Bench"), builtin.is_bench());
        for point in &plan.points {
            assert!(
                point.cost > 1e4 && point.cost < 1e10,
                "{}: {}",
                builtin.name,
                point.cost
            );
        }
        names.push(builtin.name);
    }
    assert_eq!(names[0], "rtt-variation");
    let bench = load("leafspine-128", &Overrides::default()).unwrap();
    assert_eq!(bench.points.len(), 1);
    assert_eq!(value(&bench, &bench.schemes[0], "k"), 65 * 1500);
    assert_eq!(bench.points[0].config.topology.hosts(), 128);
    assert_eq!(
        load("fattree-432", &Overrides::default()).unwrap().points[0]
            .config
            .topology
            .hosts(),
        432
    );
    assert_eq!(
        load("leafspine-1024", &Overrides::default())
            .unwrap()
            .points[0]
            .config
            .topology
            .hosts(),
        1024
    );
}

#[test]
fn digests_depend_on_contents_alone() {
    let plan = main_job(&[]);
    let mut all: Vec<u64> = plan.points.iter().map(|p| p.digest).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), plan.points.len(), "each point has its own file");
    let again = load("rtt-variation", &Overrides::default()).unwrap();
    assert_eq!(plan.digest, again.digest);
    // Comments, title and folder do not count; a parameter does.
    let text = format!(
        "# a comment\n{}",
        plan.source
            .replace("title = \"ECN#", "title = \"Another, ECN#")
    );
    let moved = parse(&text, "elsewhere/other.toml", &Overrides::default()).unwrap();
    assert_eq!(moved.digest, plan.digest);
    assert_eq!(moved.name, "other");
    assert_ne!(main_job(&["switch.buffer=601KB"]).digest, plan.digest);
    assert_ne!(main_job(&["baseline=ECN#"]).digest, plan.digest);
}

#[test]
fn set_changes_adds_and_sweeps() {
    // One value for a swept path: the axis keeps that value alone.
    let plan = main_job(&["workload.load=0.90"]);
    assert_eq!(plan.points.len(), 5 * 64);
    assert_eq!(plan.published.len(), 4, "0.90 is 0.9");
    assert_eq!(plan.published[0].axes["workload.load"], "0.90");
    assert_eq!(
        main_job(&["workload.load=0.7"]).published,
        [],
        "no such cell"
    );
    // A new axis, and a parameter of one scheme.
    let plan = main_job(&[
        "scheme.ECN#.pst_target=10us,23us",
        "transport.init-window=2",
        "workload.load=0.5",
    ]);
    assert_eq!(plan.axes, ["workload.load", "scheme.ECN#.pst_target"]);
    assert_eq!(plan.points.len(), 2 * 5 * 64);
    let marker = format!("{:?}", plan.points[639].config.switch.marker);
    assert!(
        marker.starts_with("ecn_sharp[220000, 23000, 240000"),
        "{marker}"
    );
    assert_eq!(plan.points[0].config.transport.init_window, 2);
    // Without selector: every scheme that has the parameter.
    let plan = main_job(&["scheme.k=100pkt"]);
    assert_eq!(
        (
            value(&plan, "DCTCP-RED-Tail", "k"),
            value(&plan, "DCTCP-RED-AVG", "k")
        ),
        (150_000, 150_000)
    );
    let plan = main_job(&[
        "scheme.1.k=100pkt",
        "workload.sizes=data-mining",
        "rtt.model=path",
    ]);
    assert_eq!(
        (
            value(&plan, "DCTCP-RED-Tail", "k"),
            value(&plan, "DCTCP-RED-AVG", "k")
        ),
        (275_000, 150_000)
    );
    // Seeds.
    let seeds = |o: &Overrides| {
        load("rtt-variation", o)
            .unwrap()
            .points
            .iter()
            .take(4)
            .map(|p| p.seed)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        seeds(&Overrides {
            seed: Some(9),
            ..with(&[])
        }),
        [9; 4]
    );
    assert_eq!(
        seeds(&Overrides {
            seeds: Some(2),
            ..with(&[])
        }),
        [1, 2, 1, 2]
    );
    assert_eq!(seeds(&with(&["seeds=5,6"])), [5, 6, 5, 6]);
}

/// The manifest's text gives the same plan again, without the command line.
#[test]
fn the_source_says_what_ran() {
    let overrides = Overrides {
        seed: Some(4),
        ..with(&[
            "workload.load=0.3,0.6",
            "scheme.ECN#.marker=ecn_sharp_lab",
            "scheme.ECN#.law=sqrt",
            "switch.buffer=1MiB",
        ])
    };
    let plan = load("rtt-variation", &overrides).unwrap();
    let again = parse(&plan.source, "rtt-variation.toml", &Overrides::default())
        .unwrap_or_else(|e| panic!("{e}\n{}", plan.source));
    assert_eq!(again.digest, plan.digest);
    assert_eq!(again.points.len(), 10);
}

const SMALL: &str = r#"
[topology]
kind = "star"
hosts = 8

[[workload]]
kind = "long"
pattern = "to-one"
count = 2
receiver = 7

[[scheme]]
marker = "threshold"
"#;

fn small(more: &str) -> Plan {
    let text = format!("max_time = \"5ms\"\n{SMALL}{more}");
    parse(&text, "small.toml", &Overrides::default()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn little_needs_to_be_said() {
    let plan = small("");
    assert_eq!(
        (plan.points.len(), plan.points[0].seed, plan.title.as_str()),
        (1, 1, "small")
    );
    assert_eq!(plan.schemes, ["DCTCP-RED"]);
    let config = &plan.points[0].config;
    assert_eq!(
        config.topology,
        Topology::from(Star {
            hosts: 8,
            rate: Rate::gbps(10),
            delay: Picos::from_micros(10)
        })
    );
    assert_eq!(config.max_time, Picos::from_micros(5_000));
    assert_eq!(config.transport, cemark_transport::Config::default());
    assert!(matches!(
        &config.workloads[0].kind,
        Kind::Long(Long {
            flows: LongFlows::ToOne {
                count: 2,
                receiver: 7
            },
            ..
        })
    ));
    assert_eq!(plan.points[0].load, None);
}

/// A switch's WRED has the parameter names of switches.
#[test]
fn wred_is_written_as_switches_write_it() {
    let plan = small(
        "[[scheme]]\nlabel = \"slow\"\nmarker = \"wred\"\nmin = \"150KB\"\nmax = \
            \"120us\"\ndrop-probability = \"10%\"\nweight = 9\n\
         [[scheme]]\nmarker = \"random-detect\"\n",
    );
    assert_eq!(plan.schemes[1..], ["slow", "WRED"]);
    let of = |n: usize| match &plan.points[n].config.switch.marker {
        MarkerChoice::Builtin { scheme, values } => (scheme.name, values.0[..4].to_vec()),
        other => panic!("{other:?}"),
    };
    // 120 us at 10 Gb/s are 150 KB; 10 % are 6,553.6 parts of 2^16.
    assert_eq!(of(1), ("wred", vec![150_000, 150_000, 6_554, 9]));
    assert_eq!(of(2), ("wred", vec![150_000, 1_500_000, 65_536, 0]));
}

#[test]
fn every_kind_of_section() {
    let plan = small(
        r#"
[scheme.transport]
control = "ecn_star"
sack = false
[[scheme]]
marker = "red"
kmin = "5pkt"
kmax = "20us"
pmax = "10%"
[[scheme]]
marker = "none"
[scheme.switch]
buffer = "64KiB"
non-ect = "drop"
[rtt]
model = "classes"
values = ["82us", "241us"]
[[workload]]
kind = "incast"
name = "query"
senders = 5
receiver = 0
min-size = "3KB"
max_size = "60KB"
at = "1ms"
repeat = 2
every = "1ms"
class-bounds = []
[[workload]]
kind = "list"
flow = [{ src = 0, dst = 1, size = "1MB", at = "2us" }, { src = 1, dst = 2, size = "2MB" }]
connections = "persistent"
[[workload]]
kind = "probe"
src = 0
dst = 7
every = "10us"
count = 100
[[workload]]
kind = "poisson"
sizes = "100KB"
load = "10%"
flows = 10
pairs = "to-one"
receiver = 3
class = "by-sender"
[transport]
g = 0.125
alpha-init = 1
[host]
nic = "fifo"
[measure]
trace-hosts = [7]
until = "4ms"
"#,
    );
    assert_eq!(plan.schemes, ["DCTCP-RED", "RED", "drop-tail"]);
    assert_eq!(
        plan.workloads,
        ["long", "query", "list", "probe", "poisson"]
    );
    let [star, red, none] = [0, 1, 2].map(|i| &plan.points[i].config);
    assert_eq!(
        (star.transport.control, star.transport.sack),
        (Control::ECN_STAR, false)
    );
    assert_eq!(
        red.transport.control,
        DctcpConfig {
            g_shift: 3,
            alpha_init: 1024,
        }
        .control()
    );
    assert_eq!(
        (red.switch.non_ect, red.switch.buffer_bytes),
        (NonEct::Forward, 1_000_000)
    );
    assert_eq!(
        (none.switch.non_ect, none.switch.buffer_bytes),
        (NonEct::Drop, 65_536)
    );
    assert_eq!(
        (
            value(&plan, "RED", "kmin"),
            value(&plan, "RED", "kmax"),
            value(&plan, "RED", "pmax")
        ),
        (7_500, 25_000, 6_554)
    );
    assert_eq!(none.nic, Nic::Fifo);
    assert_eq!(none.measure.trace, TracePorts::ToHosts(vec![7]));
    assert_eq!(none.workloads[1].class, ClassMap::ByBytesSent(vec![]));
    assert_eq!(none.workloads[4].class, ClassMap::BySender(1));
    assert!(none.workloads[2].persistent && !none.workloads[1].persistent);
    match &none.workloads[2].kind {
        Kind::List(list) => assert_eq!(list.lines[0].bytes, 2_000_000, "in order of start"),
        other => panic!("{other:?}"),
    }
    match &none.workloads[4].kind {
        Kind::Poisson(Poisson {
            sizes,
            load,
            warmup,
            ..
        }) => assert_eq!((sizes.mean(), *load, *warmup), (100_000.0, 0.1, 1)),
        other => panic!("{other:?}"),
    }
    let mut traffic = none.traffic();
    assert_eq!(traffic.measured_total(), 5 * 2 + 2 + 10);
    assert!(traffic.pop().is_some());
}

#[test]
fn size_tables_from_files() {
    let folder = std::env::temp_dir().join(format!("cemark-scenario-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("mine.txt"), "1 0\n3 50\n10 100\n").unwrap();
    let text = format!(
        "{}\nsizes = \"mine.txt\"\nsize-unit = \"packets\"\npacket-bytes = 1000\nload = \
            0.5\nflows = 10\n[[scheme]]\nmarker = \"tcn\"\n",
        "[topology]\nkind = \"star\"\nhosts = 3\n[[workload]]\nkind = \"poisson\""
    );
    let file = folder.join("mine.toml");
    std::fs::write(&file, &text).unwrap();
    let plan =
        load(file.to_str().unwrap(), &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    match &plan.points[0].config.workloads[0].kind {
        Kind::Poisson(Poisson { sizes, .. }) => {
            assert_eq!(sizes.name, "mine");
            assert_eq!(
                sizes.rows,
                [(1_000.0, 0.0), (3_000.0, 0.5), (10_000.0, 1.0)]
            );
        }
        other => panic!("{other:?}"),
    }
    // The same table under another name and in another folder: the same experiment.
    std::fs::rename(folder.join("mine.txt"), folder.join("yours.txt")).unwrap();
    let renamed = parse(
        &text.replace("mine.txt", "yours.txt"),
        file.to_str().unwrap(),
        &Overrides::default(),
    )
    .unwrap();
    assert_eq!(renamed.digest, plan.digest);
    // A malformed one names its line.
    std::fs::write(folder.join("mine.txt"), "1 0\n3 x\n").unwrap();
    let error = load(file.to_str().unwrap(), &Overrides::default()).unwrap_err();
    assert!(
        error.to_string().contains("line 2: `x` is not a number"),
        "{error}"
    );
    assert_eq!(error.position(), Some((6, 9)));
    std::fs::remove_file(folder.join("mine.txt")).unwrap();
    let error = load(file.to_str().unwrap(), &Overrides::default()).unwrap_err();
    assert!(error.to_string().contains("cannot be read"), "{error}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The page that describes the format names every key, and its example is one.
#[test]
fn the_documentation_keeps_up() {
    let page = include_str!("../../../docs/scenarios.md");
    let example = page
        .split("```toml")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let plan =
        parse(example, "example.toml", &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(plan.points.len(), 18);
    let every_key = concat!(
        include_str!("corpus/good/everything.toml"),
        include_str!("corpus/good/two-sites.toml")
    );
    let markers_own = ["kmin", "kmax", "pmax", "law", "ins_target", "web"];
    for line in every_key
        .lines()
        .filter(|l| l.contains(" = ") && !l.starts_with('"'))
    {
        let key = line.split(" = ").next().unwrap();
        let named = [format!("`{key}`"), format!("`{key} =")]
            .iter()
            .any(|k| page.contains(k));
        assert!(
            named || markers_own.contains(&key),
            "docs/scenarios.md does not name `{key}`"
        );
    }
}

#[test]
fn workloads_share_one_load_and_are_swept_together() {
    let text = r#"
        max-time = "10ms"
        [topology]
        kind = "star"
        hosts = 4
        [[workload]]
        name = "a"
        kind = "poisson"
        sizes = "web-search"
        load = 0.5
        share = 0.25
        flows = 10
        [[workload]]
        name = "b"
        kind = "poisson"
        sizes = "100KB"
        load = 0.5
        share = 0.75
        flows = 10
        [[workload]]
        kind = "probe"
        src = 0
        dst = 1
        every = "1ms"
        count = 3
        [[scheme]]
        marker = "threshold"
    "#;
    let loads = |set: &[&str]| -> Vec<Vec<f64>> {
        let plan = parse(text, "shares.toml", &with(set)).unwrap_or_else(|e| panic!("{e}"));
        let of = |w: &Workload| match w.kind {
            Kind::Poisson(Poisson { load, .. }) => Some(load),
            _ => None,
        };
        let each = |p: &cemark_scenario::Point| p.config.workloads.iter().filter_map(of).collect();
        plan.points.iter().map(each).collect()
    };
    let near = |got: Vec<Vec<f64>>, want: &[[f64; 2]]| {
        assert_eq!(got.len(), want.len());
        for (g, w) in got.iter().flatten().zip(want.iter().flatten()) {
            assert!((g - w).abs() < 1e-12, "{got:?}");
        }
    };
    near(loads(&[]), &[[0.125, 0.375]]);
    near(
        loads(&["workload.*.load=0.2,0.8"]),
        &[[0.05, 0.15], [0.2, 0.6]],
    );
    let wrong = parse(text, "shares.toml", &with(&["workload.*.lood=0.2"]));
    let said = wrong.expect_err("no workload says that").to_string();
    assert!(said.contains("lood"), "{said}");
}

/// A packet-hop takes twice the time where switches pause links (measured: 5.9 million a second
/// against 11.6); how many there are is the same.
#[test]
fn pauses_cost() {
    let plain = load("dcqcn-128", &Overrides::default()).unwrap();
    let paused = load("dcqcn-128-pfc", &Overrides::default()).unwrap();
    let (plain, paused) = (&plain.points[0], &paused.points[0]);
    assert!(plain.config.switch.pfc.is_none() && paused.config.switch.pfc.is_some());
    assert_eq!(plain.cost, paused.cost);
    let dearer = paused.cpu_seconds() / plain.cpu_seconds();
    assert!((1.8..2.8).contains(&dearer), "{dearer}");
    assert!(paused.cost / paused.cpu_seconds() < 7e6);
}
