// SPDX-License-Identifier: MIT OR Apache-2.0
//! Promises to the simulator about its flows.

use std::num::NonZeroU32;

use cemark_wire::{Picos, Rate};

use crate::config::{Config, MarkerChoice, Nic};
use crate::topology::{LeafSpine, Star, Topology};
use crate::workload::load::flows_per_second;
use crate::workload::{
    Arrivals, ClassMap, Flow, FlowLine, Incast, Kind, List, Long, LongFlows, Pairs, Poisson, Probe,
    RttModel, SizeTable, Span, Workload,
};

fn us(n: u64) -> Picos {
    Picos::from_micros(n)
}

fn fabric() -> Topology {
    Topology::from(LeafSpine {
        leaves: 8,
        spines: 8,
        hosts_per_leaf: 16,
        host_rate: Rate::gbps(10),
        uplink_rate: Rate::gbps(10),
        host_delay: us(10),
        uplink_delay: us(10),
    })
}

fn config(topology: Topology, kinds: Vec<Kind>) -> Config {
    let workloads = kinds
        .into_iter()
        .map(|kind| Workload {
            name: String::new(),
            kind,
            class: ClassMap::Fixed(0),
            persistent: true,
            transport: None,
        })
        .collect();
    let mut config = Config::new(topology, workloads, MarkerChoice::None, Picos::MAX);
    config.rtt = RttModel::Variation {
        lo: us(80),
        hi: us(240),
    };
    config.nic = Nic::Fifo;
    config.switch.buffer_bytes = 600_000;
    config.measure.queue_interval = Picos::ZERO;
    config
}

fn web(load: f64, flows: u64, warmup: u64) -> Kind {
    let sizes = SizeTable::builtin("web-search").unwrap();
    Kind::Poisson(Poisson {
        sizes,
        load,
        pairs: Pairs::All,
        flows,
        warmup,
        hold: Picos::MAX,
        arrivals: Arrivals::default(),
    })
}

fn take(cfg: &Config, n: usize) -> Vec<Flow> {
    let mut traffic = cfg.traffic();
    std::iter::from_fn(|| {
        let start = traffic.peek();
        let flow = traffic.pop();
        assert_eq!(start, flow.map(|f| f.start), "peek foretells pop");
        flow
    })
    .take(n)
    .collect()
}

#[test]
fn the_realised_load_is_the_asked_one() {
    for load in [0.1, 0.5, 0.9] {
        let cfg = config(fabric(), vec![web(load, 10_000, 2_000)]);
        let flows = take(&cfg, 25_000);
        let (begin, end) = (flows[2_000].start, flows[12_000].start);
        let bits: u64 = flows[2_000..12_000]
            .iter()
            .filter(|f| cfg.topology.rack(f.src) != cfg.topology.rack(f.dst))
            .map(|f| f.bytes * 8)
            .sum();
        let realised = bits as f64 / (640e9 * (end.0 - begin.0) as f64 * 1e-12);
        // Only the gap between the block's edge and the first flow after it is left.
        assert!((realised / load - 1.0).abs() < 2e-3, "{load}: {realised}");
        let mean = SizeTable::builtin("web-search").unwrap().mean();
        let asked = flows_per_second(&cfg.topology, &Pairs::All, mean, load);
        let rate = 10_000.0 / ((end.0 - begin.0) as f64 * 1e-12);
        assert!(
            (rate / asked - 1.0).abs() < 0.02,
            "{rate} flows/s, {asked} asked"
        );
    }
}

#[test]
fn sizes_are_stratified_in_each_block() {
    let cfg = config(fabric(), vec![web(0.8, 10_000, 0)]);
    let flows = take(&cfg, 20_000);
    for block in flows.chunks(10_000) {
        let mean = block.iter().map(|f| f.bytes).sum::<u64>() as f64 / 10_000.0;
        assert!((mean / 1_711_250.0 - 1.0).abs() < 1e-3, "{mean}");
        let large = block.iter().filter(|f| f.bytes > 10_000_000).count();
        assert!(large.abs_diff(300) <= 1, "{large}");
        // Shuffled: the first half holds its share of the large ones.
        let early = block[..5_000]
            .iter()
            .filter(|f| f.bytes > 10_000_000)
            .count();
        assert!(early.abs_diff(150) < 50, "{early}");
    }
    assert_ne!(
        flows[0].bytes, flows[10_000].bytes,
        "the next block is another"
    );
}

#[test]
fn warmup_then_measured_then_load_without_end() {
    let cfg = config(fabric(), vec![web(0.8, 1_000, 300)]);
    let flows = take(&cfg, 5_000);
    assert_eq!(flows.len(), 5_000);
    assert!(
        flows
            .iter()
            .enumerate()
            .all(|(i, f)| f.measured == (300..1_300).contains(&i))
    );
    assert!(flows.iter().enumerate().all(|(i, f)| f.id == i as u64));
    assert!(flows.windows(2).all(|w| w[0].start <= w[1].start));
    assert!(
        flows
            .iter()
            .all(|f| f.start.0 % 1000 == 0 && f.extra.0 % 1000 == 0)
    );
    assert_eq!(cfg.traffic().measured_total(), 1_000);
}

#[test]
fn gaps_are_those_of_a_poisson_process() {
    let cfg = config(fabric(), vec![web(0.8, 100_000, 0)]);
    let flows = take(&cfg, 100_000);
    let gaps: Vec<f64> = flows
        .windows(2)
        .map(|w| (w[1].start.0 - w[0].start.0) as f64)
        .collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let longer =
        |times: f64| gaps.iter().filter(|&&g| g > times * mean).count() as f64 / gaps.len() as f64;
    for times in [0.1, 1.0, 2.0, 4.0f64] {
        assert!(
            (longer(times) - (-times).exp()).abs() < 0.005,
            "{times}: {}",
            longer(times)
        );
    }
}

#[test]
fn extra_delay_tops_up_the_path() {
    let cfg = config(fabric(), vec![web(0.8, 20_000, 0)]);
    let flows = take(&cfg, 20_000);
    let mut sum = 0.0;
    for f in &flows {
        let path = 2 * cfg.topology.propagation(f.src, f.dst).0;
        let rtt = path + f.extra.0;
        assert!((us(80).0..=us(240).0).contains(&rtt), "{rtt}");
        sum += rtt as f64 * 1e-6;
    }
    let mean = sum / flows.len() as f64;
    assert!((mean - 136.4).abs() < 1.5, "{mean}");
    let mut path = cfg.clone();
    path.rtt = RttModel::Fixed(us(60));
    for f in take(&path, 1_000) {
        let expected = if path.topology.rack(f.src) == path.topology.rack(f.dst) {
            us(20)
        } else {
            Picos::ZERO
        };
        assert_eq!(f.extra, expected, "never negative");
    }
}

#[test]
fn same_seed_same_flows_and_streams_stay_apart() {
    let cfg = config(fabric(), vec![web(0.8, 2_000, 0)]);
    let flows = take(&cfg, 3_000);
    assert_eq!(flows, take(&cfg, 3_000));
    let mut other = cfg.clone();
    other.seed = 2;
    assert_ne!(flows, take(&other, 3_000));
    // Another RTT model, another map of classes: still the same arrivals, sizes and pairs.
    let mut other = cfg.clone();
    other.rtt = RttModel::Path;
    other.workloads[0].class = ClassMap::Weighted(vec![1, 2, 1]);
    for (a, b) in flows.iter().zip(take(&other, 3_000)) {
        assert_eq!(
            (a.start, a.src, a.dst, a.bytes),
            (b.start, b.src, b.dst, b.bytes)
        );
        assert_eq!(b.extra, Picos::ZERO);
    }
    // Another load: the same sizes and pairs, at another pace.
    let slow = config(fabric(), vec![web(0.4, 2_000, 0)]);
    for (a, b) in flows.iter().zip(take(&slow, 2_000)) {
        assert_eq!((a.src, a.dst, a.bytes), (b.src, b.dst, b.bytes));
        assert!((b.start.0 as f64 - 2.0 * a.start.0 as f64).abs() <= 4_000.0);
    }
    // A second workload does not disturb the first.
    let two = config(fabric(), vec![web(0.8, 2_000, 0), web(0.1, 500, 0)]);
    let first: Vec<Flow> = take(&two, 3_000)
        .into_iter()
        .filter(|f| f.workload == 0)
        .collect();
    for (a, b) in flows.iter().zip(first) {
        assert_eq!(
            (a.start, a.src, a.dst, a.bytes, a.extra),
            (b.start, b.src, b.dst, b.bytes, b.extra)
        );
    }
}

#[test]
fn pairs_follow_the_pattern() {
    let with = |pairs| {
        let sizes = SizeTable::constant(10_000);
        config(
            fabric(),
            vec![Kind::Poisson(Poisson {
                sizes,
                load: 0.5,
                pairs,
                flows: 128_000,
                warmup: 0,
                hold: Picos::MAX,
                arrivals: Arrivals::default(),
            })],
        )
    };
    let all = take(&with(Pairs::All), 128_000);
    assert!(all.iter().all(|f| f.src != f.dst));
    let mut to = [0u32; 128];
    let mut from = [0u32; 128];
    for f in &all {
        to[f.dst as usize] += 1;
        from[f.src as usize] += 1;
    }
    assert!(
        to.iter().chain(&from).all(|&n| n.abs_diff(1_000) < 150),
        "{to:?} {from:?}"
    );
    let far = with(Pairs::OtherRack);
    assert!(
        take(&far, 10_000)
            .iter()
            .all(|f| far.topology.rack(f.src) != far.topology.rack(f.dst))
    );
    let one = take(&with(Pairs::ToOne(5)), 10_000);
    assert!(one.iter().all(|f| f.dst == 5 && f.src != 5 && f.src < 128));
}

#[test]
fn classes_follow_the_map() {
    let mut cfg = config(fabric(), vec![web(0.5, 30_000, 0)]);
    let mut classes = |map: ClassMap| {
        cfg.workloads[0].class = map;
        take(&cfg, 30_000)
    };
    assert!(classes(ClassMap::Fixed(3)).iter().all(|f| f.class == 3));
    assert!(
        classes(ClassMap::BySender(5))
            .iter()
            .all(|f| u32::from(f.class) == f.src % 5)
    );
    assert!(
        classes(ClassMap::ByPair(8))
            .iter()
            .all(|f| u32::from(f.class) == ((f.dst + 1) * 128 + f.src + 1) % 8)
    );
    assert!(
        classes(ClassMap::ByBytesSent(vec![140_000]))
            .iter()
            .all(|f| f.class == 0)
    );
    let weighted = classes(ClassMap::Weighted(vec![2, 1]));
    let second = weighted.iter().filter(|f| f.class == 1).count();
    assert!(second.abs_diff(10_000) < 400, "{second}");
}

#[test]
fn queries_fan_in() {
    let incast = |senders, every, jitter| {
        Kind::Incast(Incast {
            from: Vec::new(),
            senders,
            receiver: 2,
            min_bytes: 3_000,
            max_bytes: 60_000,
            at: us(100),
            repeat: 3,
            every,
            jitter,
        })
    };
    let star = Topology::from(Star {
        hosts: 17,
        rate: Rate::gbps(10),
        delay: us(1),
    });
    let cfg = config(star.clone(), vec![incast(100, us(50), Picos::ZERO)]);
    let flows = take(&cfg, 1_000);
    assert_eq!(
        (flows.len() as u64, cfg.traffic().measured_total()),
        (300, 300)
    );
    assert!(
        flows
            .iter()
            .all(|f| f.dst == 2 && f.src != 2 && f.measured && (3_000..=60_000).contains(&f.bytes))
    );
    for (i, query) in flows.chunks(100).enumerate() {
        assert!(query.iter().all(|f| f.start == us(100 + 50 * i as u64)));
        let number = NonZeroU32::new(i as u32 + 1);
        assert!(query.iter().all(|f| f.query == number));
        for host in (0..17).filter(|&h| h != 2) {
            let sent = query.iter().filter(|f| f.src == host).count();
            assert!(
                (6..=7).contains(&sent),
                "100 flows over 16 hosts in turn: {sent}"
            );
        }
    }
    // Jitter longer than the gap: queries overlap, and starts still rise.
    let flows = take(&config(star, vec![incast(10, us(5), us(40))]), 1_000);
    assert_eq!(flows.len(), 30);
    assert!(flows.windows(2).all(|w| w[0].start <= w[1].start));
    assert!(
        flows
            .iter()
            .all(|f| f.start >= us(100) && f.start <= us(150))
    );
    for number in 1..=3_u32 {
        let asked = us(95 + 5 * u64::from(number));
        let own = flows.iter().filter(|f| f.query == NonZeroU32::new(number));
        let own = own.map(|f| f.start - asked);
        assert_eq!(own.clone().count(), 10, "query {number}");
        assert!(own.clone().all(|late| late <= us(40)), "query {number}");
    }
}

#[test]
fn endless_flows() {
    let long = |flows| {
        Kind::Long(Long {
            flows,
            at: us(10),
            stagger: us(2),
            jitter: us(1),
        })
    };
    let flows = take(
        &config(fabric(), vec![long(LongFlows::Permutation { per_host: 2 })]),
        1_000,
    );
    assert_eq!(flows.len(), 256);
    let mut to = [0; 128];
    for f in &flows {
        assert!(f.src != f.dst && f.bytes == u64::MAX && !f.measured);
        to[f.dst as usize] += 1;
    }
    assert_eq!(to, [2; 128]);
    assert!(flows[0].start >= us(10) && flows[255].start <= us(10 + 2 * 255 + 1));
    let cfg = config(
        fabric(),
        vec![long(LongFlows::ToOne {
            count: 3,
            receiver: 1,
        })],
    );
    let senders: Vec<u32> = take(&cfg, 9).iter().map(|f| f.src).collect();
    assert_eq!(senders, [0, 2, 3]);
    assert_eq!(cfg.traffic().measured_total(), 0);
    let cfg = config(fabric(), vec![long(LongFlows::Pairs(vec![(7, 9), (9, 7)]))]);
    assert_eq!(
        take(&cfg, 9)
            .iter()
            .map(|f| (f.src, f.dst))
            .collect::<Vec<_>>(),
        [(7, 9), (9, 7)]
    );
}

#[test]
fn workloads_merge_in_time() {
    let line = |start, bytes| FlowLine {
        start: us(start),
        src: 0,
        dst: 1,
        bytes,
        class: None,
        rtt: None,
    };
    let list = |lines| Kind::List(List::from(lines));
    let probe = Kind::Probe(Probe {
        src: 0,
        dst: 1,
        at: us(1),
        every: us(1),
        count: 10,
    });
    let cfg = config(
        fabric(),
        vec![
            list(vec![line(9, 1), line(3, 2)]),
            probe,
            list(vec![line(3, 3), line(5, 4)]),
        ],
    );
    let got: Vec<(u64, u64, u16)> = take(&cfg, 9)
        .iter()
        .map(|f| (f.id, f.bytes, f.workload))
        .collect();
    assert_eq!(got, [(0, 2, 0), (1, 3, 2), (2, 4, 2), (3, 1, 0)]);
    assert_eq!(cfg.traffic().measured_total(), 4);
}

#[test]
fn a_load_held_for_a_while_ends_and_changes_nothing_before() {
    let held = |hold| {
        let Kind::Poisson(Poisson {
            sizes,
            load,
            pairs,
            flows,
            warmup,
            ..
        }) = web(0.8, 1_000, 300)
        else {
            unreachable!()
        };
        let kind = Kind::Poisson(Poisson {
            sizes,
            load,
            pairs,
            flows,
            warmup,
            hold,
            arrivals: Arrivals::default(),
        });
        take(&config(fabric(), vec![kind]), 5_000)
    };
    let (endless, short) = (held(Picos::MAX), held(Picos(1_000_000_000)));
    assert!((1_301..2_500).contains(&short.len()), "{}", short.len());
    assert_eq!(
        endless[..short.len()]
            .iter()
            .map(|f| (f.start, f.bytes))
            .collect::<Vec<_>>(),
        short.iter().map(|f| (f.start, f.bytes)).collect::<Vec<_>>()
    );
    let none = held(Picos::ZERO);
    assert_eq!(none.len(), 1_300, "only those asked for");
}

/// A Poisson workload at load 0.5 with other draws.
fn drawn(arrivals: Arrivals, pairs: Pairs) -> Config {
    let Kind::Poisson(Poisson { sizes, load, .. }) = web(0.5, 0, 0) else {
        unreachable!()
    };
    let kind = Kind::Poisson(Poisson {
        sizes,
        load,
        pairs,
        flows: 20_000,
        warmup: 0,
        hold: Picos::MAX,
        arrivals,
    });
    config(fabric(), vec![kind])
}

#[test]
fn independent_sizes_vary_and_meet_the_load_on_average() {
    let total = |seed: u64, independent: bool| {
        let mut cfg = drawn(
            Arrivals {
                independent,
                ..Arrivals::default()
            },
            Pairs::All,
        );
        cfg.seed = seed;
        let flows = take(&cfg, 20_000);
        let bytes: u64 = flows.iter().map(|f| f.bytes).sum();
        (bytes as f64, flows[19_999].start.as_secs_f64())
    };
    let spread = |independent: bool| {
        let rates: Vec<f64> = (1..9)
            .map(|seed| total(seed, independent))
            .map(|(bytes, seconds)| bytes / seconds)
            .collect();
        let mean = rates.iter().sum::<f64>() / 8.0;
        let off = rates.iter().map(|r| (r / mean - 1.0).abs());
        (mean, off.fold(0.0, f64::max))
    };
    let (exact, plain) = (spread(false), spread(true));
    assert!(exact.1 < 0.01, "{exact:?}");
    assert!(plain.1 > 0.01 && plain.1 < 0.2, "{plain:?}");
    assert!(
        (plain.0 / exact.0 - 1.0).abs() < 0.03,
        "{plain:?} {exact:?}"
    );
}

#[test]
fn a_subset_of_hosts_sends_at_the_whole_load() {
    let senders: Vec<u32> = (1..128).step_by(4).collect();
    let some = Arrivals {
        senders: senders.clone(),
        ..Arrivals::default()
    };
    let cfg = drawn(some, Pairs::OtherRack);
    let flows = take(&cfg, 20_000);
    assert!(flows.iter().all(|f| senders.contains(&f.src)));
    assert!(senders.iter().all(|s| flows.iter().any(|f| f.src == *s)));
    assert!(flows.iter().any(|f| !senders.contains(&f.dst)));
    let all = take(&drawn(Arrivals::default(), Pairs::OtherRack), 20_000);
    let end = |flows: &[Flow]| flows[19_999].start.as_secs_f64();
    assert!((end(&flows) / end(&all) - 1.0).abs() < 0.01);
}

#[test]
fn flows_of_a_span_start_within_it() {
    let spread = Arrivals {
        span: Some(Span {
            at: us(1_000),
            length: us(400_000),
        }),
        ..Arrivals::default()
    };
    let flows = take(&drawn(spread, Pairs::ToOne(5)), 30_000);
    assert_eq!(flows.len(), 20_000, "none after them");
    assert!(flows.iter().all(|f| f.measured && f.dst == 5));
    assert!(
        flows
            .iter()
            .all(|f| f.start >= us(1_000) && f.start < us(401_000))
    );
    let early = flows.iter().filter(|f| f.start < us(101_000)).count();
    assert!((4_700..5_300).contains(&early), "a quarter: {early}");
}
