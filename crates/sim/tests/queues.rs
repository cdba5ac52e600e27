// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ports with several queues in whole fabrics: conservation under every policy, shares of flows,
//! PIAS, timers of markers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::random::{abm, reverie};
use crate::common::{cases, config, scheme, us, web, web_that_stops, workload};
use cemark_marking::{At, Hook, Marker, QueueSpec, Values, Verdict};
use cemark_sim::config::{
    Buffering, Config, MarkerChoice, NonEct, Policy, QueueConfig, SchedulerKind,
};
use cemark_sim::topology::{Star, Topology};
use cemark_sim::workload::{ClassMap, Incast, Kind, List, Long, LongFlows, Pairs, Poisson};
use cemark_sim::{Outcome, run, run_scrambled};
use cemark_wire::{Nanos, Picos, Rate};
use proptest::prelude::*;

fn star(hosts: u32) -> Topology {
    Topology::from(Star {
        hosts,
        rate: Rate::gbps(10),
        delay: Picos(4_999_999),
    })
}

fn kinds() -> impl Strategy<Value = SchedulerKind> {
    prop_oneof![
        Just(SchedulerKind::Dwrr),
        Just(SchedulerKind::Wrr),
        Just(SchedulerKind::Wfq),
        Just(SchedulerKind::StrictPriority),
    ]
}

fn policies() -> impl Strategy<Value = Policy> {
    prop_oneof![
        Just(Policy::Port),
        Just(Policy::Static),
        Just(Policy::Shared),
        (1_000u32..500_000).prop_map(|alpha| Policy::Dynamic { alpha }),
        (1_000u32..500_000).prop_map(abm),
        (1_000u32..500_000).prop_map(reverie),
    ]
}

fn markers() -> impl Strategy<Value = MarkerChoice> {
    prop_oneof![
        Just(MarkerChoice::None),
        (5u64..100, 0u64..3)
            .prop_map(|(k, scope)| scheme("threshold", &[("k", k * 1500), ("scope", scope)])),
        Just(scheme("red", &[])),
        Just(scheme("codel", &[])),
        Just(scheme("ecn_sharp", &[])),
    ]
}

fn configs() -> impl Strategy<Value = Config> {
    let knobs = (
        1u64..1000,
        30_000u32..300_000,
        2usize..9,
        0usize..3,
        0u32..20_000,
    );
    (kinds(), policies(), markers(), knobs).prop_map(
        |(kind, policy, marker, (seed, buffer, n, strict, headroom))| {
            let mut flows = web_that_stops(0.6, 12);
            flows.class = ClassMap::ByPair(n as u8);
            let mut query = workload(Kind::Incast(Incast {
                from: Vec::new(),
                senders: 16,
                receiver: 0,
                min_bytes: 1,
                max_bytes: 60_000,
                at: us(500),
                repeat: 3,
                every: us(1_500),
                jitter: us(3),
            }));
            query.class = ClassMap::Weighted(vec![1; n]);
            let mut c = config(vec![flows, query], marker);
            c.seed = seed;
            c.switch.buffer_bytes = buffer;
            c.switch.scheduler = kind;
            c.switch.queues = (0..n)
                .map(|i| QueueConfig {
                    quantum: 1500 * (1 + i as u32 % 3),
                    weight: 1 + i as u32 % 3,
                    strict: i < strict,
                    lossless: i == n - 1,
                    limit_bytes: match policy {
                        Policy::Static => (buffer - headroom) / n as u32,
                        _ => u32::MAX,
                    },
                    alpha: 0,
                })
                .collect();
            c.switch.buffering = Buffering {
                policy,
                pool_bytes: 0,
                headroom,
            };
            c.switch.non_ect = [NonEct::Forward, NonEct::Drop][seed as usize % 2];
            c.max_time = us(500_000_000);
            c
        },
    )
}

/// Every packet is accounted for, and every drop has a reason that the policy can give.
fn books_balance(o: &Outcome, policy: Policy) {
    let t = &o.totals;
    assert_eq!(t.sent, t.delivered + t.all_drops() + t.in_flight, "{t:?}");
    assert_eq!(t.all_drops(), o.ports.iter().map(|p| p.drops).sum::<u64>());
    let none = |reason: &str| assert_eq!(t.drops[reason], 0, "{policy:?} and {reason}: {t:?}");
    match policy {
        Policy::Port => {
            none("queue");
            none("pool");
        }
        Policy::Static => none("pool"),
        Policy::Shared => {
            none("tail");
            none("queue");
        }
        Policy::Dynamic { .. } | Policy::Abm { .. } | Policy::Reverie { .. } => none("tail"),
    }
}

proptest! {
    #![proptest_config(cases(24))]
    #[test]
    fn nothing_is_lost_without_a_reason_under_any_policy(cfg in configs()) {
        let o = run(&cfg);
        books_balance(&o, cfg.switch.buffering.policy);
        prop_assert_eq!(o.flows.len(), 12 + 48);
        prop_assert!(o.flows.iter().all(|f| f.fct.is_some_and(|t| t >= f.ideal)));
        prop_assert_eq!(run_scrambled(&cfg).digest, o.digest);
    }

    #[test]
    fn ports_that_serve_late_and_in_time_agree(cfg in configs(), own in any::<bool>()) {
        let mut late = cfg;
        if own {
            late.switch.buffering.policy = Policy::Port;
        }
        let mut in_time = late.clone();
        in_time.switch.never_fuse = true;
        let (late, in_time) = (run(&late), run(&in_time));
        prop_assert_eq!(&late.flows, &in_time.flows);
        prop_assert_eq!(&late.totals, &in_time.totals);
    }
}

#[test]
fn each_policy_drops_for_its_own_reason() {
    for (policy, reason) in [
        (Policy::Port, "tail"),
        (Policy::Static, "queue"),
        (Policy::Shared, "pool"),
        (Policy::Dynamic { alpha: 1 << 14 }, "queue"),
        (abm(1 << 14), "queue"),
        (reverie(1 << 14), "queue"),
    ] {
        let mut cfg = config(
            vec![workload(Kind::Incast(Incast {
                from: Vec::new(),
                senders: 64,
                receiver: 0,
                min_bytes: 50_000,
                max_bytes: 50_000,
                at: us(10),
                repeat: 1,
                every: us(1),
                jitter: us(1),
            }))],
            MarkerChoice::None,
        );
        cfg.topology = star(17);
        cfg.switch.buffering.policy = policy;
        cfg.switch.buffering.pool_bytes = 300_000;
        let limit_bytes = if policy == Policy::Static {
            150_000
        } else {
            u32::MAX
        };
        cfg.switch.queues = vec![
            QueueConfig {
                limit_bytes,
                ..QueueConfig::PLAIN
            };
            2
        ];
        cfg.switch.scheduler = SchedulerKind::Dwrr;
        let o = run(&cfg);
        books_balance(&o, policy);
        assert!(
            o.totals.drops[reason] > 50,
            "{policy:?}: {:?}",
            o.totals.drops
        );
        assert_eq!(
            o.totals.drops[reason],
            o.totals.all_drops(),
            "{policy:?}: {:?}",
            o.totals.drops
        );
    }
}

/// Long flows of `counts[i]` senders in queue i, all to host 0: goodput by queue.
fn goodput(kind: SchedulerKind, queues: &[QueueConfig], counts: &[u32]) -> Vec<f64> {
    let mut next = 1;
    let workloads = counts
        .iter()
        .enumerate()
        .map(|(i, &n)| {
            let pairs = (0..n).map(|j| (next + j, 0)).collect();
            next += n;
            let mut w = workload(Kind::Long(Long {
                flows: LongFlows::Pairs(pairs),
                at: Picos::ZERO,
                stagger: Picos::ZERO,
                jitter: us(10),
            }));
            w.class = ClassMap::Fixed(i as u8);
            w.name = format!("w{i}");
            w
        })
        .collect();
    let mut cfg = config(workloads, scheme("threshold", &[("k", 30_000)]));
    cfg.topology = star(next);
    cfg.switch.buffer_bytes = 2_000_000;
    cfg.switch.scheduler = kind;
    cfg.switch.queues = queues.to_vec();
    cfg.measure.from = us(10_000);
    cfg.measure.until = us(50_000);
    cfg.max_time = us(50_000);
    let o = run(&cfg);
    let mut by_class = vec![0.0; counts.len()];
    for l in &o.long_flows {
        by_class[usize::from(l.class)] += l.delivered as f64;
    }
    by_class
}

#[test]
fn services_share_by_quantum_and_by_weight_however_many_flows_they_have() {
    let queues = [2u32, 1, 1].map(|n| QueueConfig {
        quantum: 1500 * n,
        weight: n,
        ..QueueConfig::PLAIN
    });
    for kind in [SchedulerKind::Dwrr, SchedulerKind::Wrr, SchedulerKind::Wfq] {
        let got = goodput(kind, &queues, &[2, 4, 8]);
        let all: f64 = got.iter().sum();
        for (g, share) in got.iter().zip([0.5, 0.25, 0.25]) {
            assert!((g / all - share).abs() < 0.01 * share, "{kind:?}: {got:?}");
        }
        assert!(all * 8.0 / 0.04 > 0.96e10, "{kind:?} fills the link: {all}");
    }
}

#[test]
fn a_strict_queue_takes_the_link() {
    let got = goodput(
        SchedulerKind::StrictPriority,
        &[QueueConfig::PLAIN; 2],
        &[4, 4],
    );
    assert!(got[0] > 0.97 * (got[0] + got[1]), "{got:?}");
    let mut above = [QueueConfig::PLAIN; 3];
    above[0].strict = true;
    let got = goodput(SchedulerKind::Dwrr, &above, &[4, 4, 4]);
    assert!(got[0] > 0.97 * got.iter().sum::<f64>(), "{got:?}");
}

/// Web search to one host at a load, under PIAS' two strict queues and in one queue: mean FCT of
/// short and of long flows.
fn pias(seed: u64, bounds: Option<Vec<u64>>) -> (f64, f64) {
    let mut flows = web(0.7, 400);
    if let Kind::Poisson(Poisson { pairs, .. }) = &mut flows.kind {
        *pairs = Pairs::ToOne(0);
    }
    if let Some(bounds) = &bounds {
        flows.class = ClassMap::ByBytesSent(bounds.clone());
    }
    let mut cfg = config(vec![flows], scheme("threshold", &[("k", 97_500)]));
    cfg.topology = star(9);
    if bounds.is_some() {
        cfg.switch.queues = vec![QueueConfig::PLAIN; 2];
        cfg.switch.scheduler = SchedulerKind::StrictPriority;
    }
    cfg.max_time = us(20_000_000);
    cfg.seed = seed;
    let o = run(&cfg);
    let mean = |keep: &dyn Fn(u64) -> bool| {
        let all: Vec<f64> = o
            .flows
            .iter()
            .filter(|f| keep(f.bytes))
            .map(|f| f.fct.expect("it ended").as_micros_f64())
            .collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    (mean(&|b| b <= 100_000), mean(&|b| b > 1_000_000))
}

#[test]
fn pias_serves_short_flows_before_long_ones() {
    for seed in [7, 8, 9] {
        let (short, long) = pias(seed, None);
        let (short_first, long_after) = pias(seed, Some(vec![140_000]));
        assert!(
            short_first < 0.75 * short,
            "seed {seed}: short flows take {short_first} us, {short} us in one queue"
        );
        // Their own beginning goes first too, so that they lose little, or nothing.
        assert!(
            long_after < 1.1 * long,
            "seed {seed}: long flows take {long_after} us, {long} us in one queue"
        );
    }
}

/// Counts arrivals and departures, and checks that its queue holds the difference.
struct Tally {
    bytes: u32,
    asked: Arc<AtomicU64>,
}

impl Marker for Tally {
    fn hook(&self) -> Hook {
        Hook::Both
    }
    fn reads_length_at_dequeue(&self) -> bool {
        true
    }
    fn enqueue(&mut self, at: &At) -> Verdict {
        assert_eq!(at.queue_bytes, self.bytes, "at enqueue");
        self.bytes += at.pkt_bytes;
        Verdict::Pass
    }
    fn dequeue(&mut self, at: &At) -> Verdict {
        self.bytes -= at.pkt_bytes;
        assert_eq!(at.queue_bytes, self.bytes, "at dequeue");
        self.asked.fetch_add(1, Ordering::Relaxed);
        Verdict::Pass
    }
    fn retune(&mut self, _: &Values, _: &QueueSpec) {}
}

#[test]
fn every_queue_has_a_marker_of_its_own() {
    let built: Arc<std::sync::Mutex<Vec<Arc<AtomicU64>>>> = Arc::default();
    let kept = built.clone();
    let marker = MarkerChoice::Custom(Arc::new(move |_| {
        let asked = Arc::new(AtomicU64::new(0));
        kept.lock().expect("no panic").push(asked.clone());
        Box::new(Tally { bytes: 0, asked })
    }));
    let mut flows = web(0.7, 200);
    if let Kind::Poisson(Poisson { pairs, .. }) = &mut flows.kind {
        *pairs = Pairs::ToOne(0);
    }
    flows.class = ClassMap::ByBytesSent(vec![140_000]);
    let mut cfg = config(vec![flows], marker);
    cfg.topology = star(9);
    cfg.switch.queues = vec![QueueConfig::PLAIN; 2];
    cfg.switch.scheduler = SchedulerKind::StrictPriority;
    run(&cfg);
    // The port to host 0, and those that its acknowledgements leave by: both queues of each carry
    // something.
    let built = built.lock().expect("no panic");
    let busy = built.iter().filter(|n| n.load(Ordering::Relaxed) > 100);
    assert_eq!(built.len(), 2 * 9);
    assert!(busy.count() >= 4, "{built:?}");
}

/// Shares of the link that the markers of a switch's queues are told: weight, and sum of weights.
fn parts(scheduler: SchedulerKind, queues: &[QueueConfig]) -> Vec<(u32, u32)> {
    let specs: Arc<std::sync::Mutex<Vec<(u32, u32)>>> = Arc::default();
    let kept = specs.clone();
    let marker = MarkerChoice::Custom(Arc::new(move |spec: &QueueSpec| {
        let part = (spec.weight, spec.weight_sum);
        kept.lock().expect("no panic").push(part);
        Box::new(Tally {
            bytes: 0,
            asked: Arc::default(),
        })
    }));
    let mut cfg = config(vec![web(0.1, 1)], marker);
    cfg.topology = star(2);
    cfg.switch.scheduler = scheduler;
    cfg.switch.queues = queues.to_vec();
    run(&cfg);
    let specs = specs.lock().expect("no panic");
    specs[..queues.len()].to_vec()
}

/// A minimum threshold is a queue's part of the standard one (MQ-ECN 2.2): of quanta where queues
/// are visited in rounds, of weights under WFQ.
#[test]
fn a_part_of_the_link_is_counted_as_the_scheduler_counts() {
    let mut queues = [(13_500, 1), (1_500, 3)].map(|(quantum, weight)| QueueConfig {
        quantum,
        weight,
        ..QueueConfig::PLAIN
    });
    for turns in [SchedulerKind::Dwrr, SchedulerKind::Wrr] {
        assert_eq!(parts(turns, &queues), [(13_500, 15_000), (1_500, 15_000)]);
    }
    assert_eq!(parts(SchedulerKind::Wfq, &queues), [(1, 4), (3, 4)]);
    // A strict queue may have all of the link, and takes no part in what the others share.
    queues[0].strict = true;
    assert_eq!(
        parts(SchedulerKind::Dwrr, &queues),
        [(1_500, 1_500), (1_500, 1_500)]
    );
    assert_eq!(
        parts(SchedulerKind::StrictPriority, &queues),
        [(1, 1), (1, 1)]
    );
}

#[test]
fn pias_demotes_a_flow_as_it_sends() {
    // Two flows to one host: a long one that has long been demoted, and one that starts later and
    // overtakes it.
    let line = |at, src, bytes| cemark_sim::workload::FlowLine {
        start: us(at),
        src,
        dst: 0,
        bytes,
        class: None,
        rtt: None,
    };
    let ended = |classes: ClassMap| {
        let mut w = workload(Kind::List(List::from(vec![
            line(0, 1, 20_000_000),
            line(3_000, 2, 130_000),
        ])));
        w.class = classes;
        let mut cfg = config(vec![w], scheme("threshold", &[("k", 300_000)]));
        cfg.topology = star(3);
        cfg.switch.queues = vec![QueueConfig::PLAIN; 2];
        cfg.switch.scheduler = SchedulerKind::StrictPriority;
        // The whole flow at once, as the ideal has it.
        cfg.transport.init_window = 100;
        let o = run(&cfg);
        (o.flows[1].fct.expect("it ended"), o.flows[1].ideal)
    };
    let (overtaking, ideal) = ended(ClassMap::ByBytesSent(vec![140_000]));
    let (behind, _) = ended(ClassMap::Fixed(0));
    // Ahead of the long flow it waits for one packet being sent at most.
    assert!(
        overtaking.0 <= ideal.0 + 1_200_000,
        "{overtaking:?} for {ideal:?}"
    );
    assert!(
        behind.0 > overtaking.0 / 2 * 3,
        "{behind:?} against {overtaking:?}"
    );
}

/// Sets its timer every 10 us while it has seen a packet in the last 100 us, and counts how often
/// it fired, and whether on time.
struct Ticker {
    next: Option<Nanos>,
    last: Nanos,
    woken: Arc<AtomicU64>,
    late: Arc<AtomicU64>,
}

impl Marker for Ticker {
    fn hook(&self) -> Hook {
        Hook::Enqueue
    }
    fn keeps_time(&self) -> bool {
        true
    }
    fn enqueue(&mut self, at: &At) -> Verdict {
        self.last = at.now;
        self.next.get_or_insert(at.now + Nanos(10_000));
        Verdict::Pass
    }
    fn retune(&mut self, _: &Values, _: &QueueSpec) {}
    fn next_wake(&self) -> Option<Nanos> {
        self.next
    }
    fn wake(&mut self, at: &At) {
        self.woken.fetch_add(1, Ordering::Relaxed);
        if self.next != Some(at.now) {
            self.late.fetch_add(1, Ordering::Relaxed);
        }
        self.next = (at.now < self.last + Nanos(100_000)).then(|| at.now + Nanos(10_000));
    }
}

#[test]
fn the_clock_of_a_marker_is_served_on_time_and_rests_with_it() {
    for queues in [1, 4] {
        let (woken, late) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let counters = (woken.clone(), late.clone());
        let marker = MarkerChoice::Custom(Arc::new(move |_| {
            Box::new(Ticker {
                next: None,
                last: Nanos::ZERO,
                woken: counters.0.clone(),
                late: counters.1.clone(),
            })
        }));
        let line = |at, bytes| cemark_sim::workload::FlowLine {
            start: us(at),
            src: 1,
            dst: 0,
            bytes,
            class: None,
            rtt: None,
        };
        let mut cfg = config(
            // A megabyte takes 0.8 ms and some rounds; a second flow starts after a long silence.
            vec![workload(Kind::List(List::from(vec![
                line(0, 1_000_000),
                line(50_000, 1_000),
            ])))],
            marker,
        );
        cfg.topology = star(2);
        cfg.switch.queues = vec![QueueConfig::PLAIN; queues];
        cfg.switch.scheduler = SchedulerKind::Dwrr;
        let o = run(&cfg);
        assert!(o.flows.iter().all(|f| f.fct.is_some()));
        let n = woken.load(Ordering::Relaxed);
        // Data at one port, ACKs at the other: about a millisecond each, then it rests.
        assert!((150..400).contains(&n), "woken {n} times");
        assert_eq!(late.load(Ordering::Relaxed), 0);
    }
}

/// Forgets what it sees but the largest lengths.
struct Lengths {
    queue: Arc<AtomicU64>,
    port: Arc<AtomicU64>,
    pool: Arc<AtomicU64>,
}

impl Marker for Lengths {
    fn hook(&self) -> Hook {
        Hook::Enqueue
    }
    fn enqueue(&mut self, at: &At) -> Verdict {
        assert!(at.queue_bytes <= at.port_bytes && at.port_bytes <= at.pool_bytes);
        assert!(at.queue_bytes + at.pkt_bytes <= at.limit_bytes);
        for (most, now) in [
            (&self.queue, at.queue_bytes),
            (&self.port, at.port_bytes),
            (&self.pool, at.pool_bytes),
        ] {
            most.fetch_max(now.into(), Ordering::Relaxed);
        }
        Verdict::Pass
    }
    fn retune(&mut self, _: &Values, _: &QueueSpec) {}
}

#[test]
fn markers_see_the_port_and_the_pool() {
    let most: [Arc<AtomicU64>; 3] = Default::default();
    let kept = most.clone();
    let marker = MarkerChoice::Custom(Arc::new(move |_| {
        Box::new(Lengths {
            queue: kept[0].clone(),
            port: kept[1].clone(),
            pool: kept[2].clone(),
        })
    }));
    // Two incasts at once to two ports of one switch, spread over two queues.
    let query = |receiver| {
        let mut w = workload(Kind::Incast(Incast {
            from: Vec::new(),
            senders: 32,
            receiver,
            min_bytes: 20_000,
            max_bytes: 20_000,
            at: us(10),
            repeat: 1,
            every: us(1),
            jitter: us(1),
        }));
        w.class = ClassMap::BySender(2);
        w.name = format!("to{receiver}");
        w
    };
    let mut cfg = config(vec![query(0), query(1)], marker);
    cfg.topology = star(20);
    cfg.switch.queues = vec![QueueConfig::PLAIN; 2];
    cfg.switch.scheduler = SchedulerKind::Dwrr;
    cfg.switch.buffering = Buffering {
        policy: Policy::Dynamic { alpha: 1 << 16 },
        pool_bytes: 1_200_000,
        headroom: 0,
    };
    run(&cfg);
    let [queue, port, pool] = most.map(|m| m.load(Ordering::Relaxed));
    assert!(queue > 50_000, "{queue}");
    assert!(port > queue + queue / 2, "{port} over {queue}");
    assert!(pool > port + port / 2, "{pool} over {port}");
}

/// Share of its port that one flow gets while 16 others fill another port of the same pool, K being
/// 65 packets of `scope`. How much of its port a lone flow uses, and the mean wait of the crowd at
/// its own in microseconds.
fn victim(scope: u64) -> (f64, f64) {
    let long = |pairs: Vec<(u32, u32)>| {
        workload(Kind::Long(Long {
            flows: LongFlows::Pairs(pairs),
            at: Picos::ZERO,
            stagger: Picos::ZERO,
            jitter: us(100),
        }))
    };
    let crowd = (0..16).map(|i| (i, 18)).collect();
    let marker = scheme("threshold", &[("k", 97_500), ("scope", scope)]);
    let mut cfg = config(vec![long(vec![(16, 17)]), long(crowd)], marker);
    cfg.topology = star(19);
    cfg.switch.buffering = Buffering {
        policy: Policy::Shared,
        pool_bytes: 4_000_000,
        headroom: 0,
    };
    cfg.measure.from = us(20_000);
    cfg.max_time = us(60_000);
    let out = run(&cfg);
    let to = |end: &str| out.ports.iter().find(|p| p.name.ends_with(end));
    (
        to("->host17").expect("the victim's port").utilisation,
        to("->host18").expect("the crowd's port").sojourn.mean / 1e3,
    )
}

/// MQ-ECN section 2.2: marking by service pool lets ports mark each other's packets.
/// `cemark figure pool` prints the shares.
///
/// All flows see the same marks, so the victim has the window of one of the crowd: a sixteenth of
/// what fills RTT and queue. It sends that in an RTT without the queue (20 us and two packet
/// times), which is a sixteenth of (RTT + queue) / RTT of its port. That is the least: its windows
/// are shorter in time than the crowd's, so that it grows more often between two spells of marks (a
/// quarter more here).
#[test]
fn a_pool_threshold_makes_a_victim_of_a_flow_that_queues_nowhere() {
    let [queue, port, (share, wait)] = [0, 1, 2].map(victim);
    assert!(queue.0 > 0.99 && port.0 > 0.99, "{queue:?}, {port:?}");
    let expected = (22.4 + wait) / 22.4 / 16.0;
    assert!(
        (1.0..1.5).contains(&(share / expected)),
        "{share}, against {expected} at a wait of {wait} us"
    );
}
