// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traffic classes: queues with marking profiles of their own, TCP beside queue pairs.

use crate::common::random::{classed, configs, markers};
use crate::common::{cases, config, scheme, us, workload};
use crate::shards::{divided, same};
use cemark_sim::config::{
    Buffering, MarkerChoice, NonEct, Pfc, Policy, Profile, QueueConfig, SchedulerKind, Xoff,
};
use cemark_sim::topology::{Star, Topology};
use cemark_sim::workload::{ClassMap, FlowLine, Incast, Kind, List, Long, LongFlows, Workload};
use cemark_sim::{Config, Outcome, run, run_scrambled};
use cemark_transport::rdma::Rdma;
use cemark_wire::{Picos, Rate};
use proptest::prelude::*;

fn star(hosts: u32, gbps: u64) -> Topology {
    Topology::from(Star {
        hosts,
        rate: Rate::gbps(gbps),
        delay: us(2),
    })
}

fn long(pairs: Vec<(u32, u32)>, class: u8) -> Workload {
    Workload {
        class: ClassMap::Fixed(class),
        ..workload(Kind::Long(Long {
            flows: LongFlows::Pairs(pairs),
            at: Picos::ZERO,
            stagger: Picos::ZERO,
            jitter: us(1),
        }))
    }
}

fn marked_by(marker: MarkerChoice) -> Option<Profile> {
    Some(Profile {
        marker: Some(marker),
        non_ect: None,
    })
}

/// Payload that endless flows of a class got.
fn got(outcome: &Outcome, class: u8) -> f64 {
    let own = outcome.long_flows.iter().filter(|l| l.class == class);
    own.map(|l| l.arrived as f64).sum()
}

/// A queue pair at the rate of its host.
fn pairs(cfg: &Config) -> Box<cemark_transport::Config> {
    Box::new(cemark_transport::Config {
        mss: 1024,
        header_bytes: 62,
        ack_bytes: 64,
        rdma: Some(Rdma::default()),
        ..cfg.transport.clone()
    })
}

proptest! {
    #![proptest_config(cases(8))]
    /// Conservation, one digest on every event list, and one outcome on any number of shards.
    #[test]
    fn classes_balance_and_divide(
        cfg in configs(),
        seed in 0u64..1000,
        own in (markers(), markers()),
        pause in any::<bool>(),
        threads in 1u32..3,
    ) {
        let mut cfg = classed(cfg, seed, own.into(), pause);
        cfg.max_time = us(60_000);
        let o = run(&cfg);
        let t = &o.totals;
        prop_assert_eq!(t.sent, t.delivered + t.all_drops() + t.in_flight, "{:?}", t);
        prop_assert_eq!(run_scrambled(&cfg).digest, o.digest);
        prop_assert_eq!(cemark_sim::shards::obstacle(&cfg), None);
        same(&o, &divided(&cfg, 3, threads));
    }

    /// A queue without traffic changes no packet of the others, whatever its profile.
    #[test]
    fn a_class_without_traffic_changes_nothing(
        cfg in configs(),
        seed in 0u64..1000,
        own in (markers(), markers()),
        idle in markers(),
    ) {
        let mut cfg = classed(cfg, seed, own.into(), false);
        cfg.max_time = us(20_000);
        let before = run(&cfg);
        cfg.switch.queues.push(QueueConfig { quantum: 9_000, ..QueueConfig::PLAIN });
        cfg.switch.profiles.resize(3, None);
        cfg.switch.profiles.push(marked_by(idle));
        let after = run(&cfg);
        prop_assert_eq!(before.flows, after.flows);
        prop_assert_eq!(before.digest, after.digest);
    }
}

/// Backlogged queues get the link as their quanta say, whatever marks each of them.
#[test]
fn shares_follow_the_quanta_under_unlike_schemes() {
    let senders = |first: u32| (0..4).map(|i| (first + i, 0)).collect();
    let workloads = vec![
        long(senders(1), 0),
        long(senders(5), 1),
        long(senders(9), 2),
    ];
    let marker = scheme("threshold", &[("k", 60_000)]);
    let mut cfg = config(workloads, marker);
    cfg.topology = star(13, 10);
    cfg.switch.buffer_bytes = 4_000_000;
    cfg.switch.scheduler = SchedulerKind::Dwrr;
    let queue = |quantum| QueueConfig {
        quantum,
        ..QueueConfig::PLAIN
    };
    cfg.switch.queues = vec![queue(1_500), queue(3_000), queue(7_500)];
    cfg.switch.profiles = vec![
        None,
        marked_by(scheme("tcn", &[("threshold", 200_000)])),
        marked_by(scheme("ecn_sharp", &[("pst_target", 100_000)])),
    ];
    cfg.max_time = us(200_000);
    cfg.measure.from = us(20_000);
    cfg.measure.until = cfg.max_time;
    let o = run(&cfg);
    let all: f64 = (0..3).map(|class| got(&o, class)).sum();
    for (class, share) in [1.0 / 8.0, 2.0 / 8.0, 5.0 / 8.0].into_iter().enumerate() {
        let own = got(&o, class as u8) / all;
        assert!(
            (own / share - 1.0).abs() < 0.01,
            "class {class}: {own} of {share}"
        );
    }
}

/// The profile of a queue decides for its packets alone: CUBIC is dropped in one queue and passes
/// in the other.
#[test]
fn a_queue_has_its_own_policy_for_not_ect() {
    let mut cfg = config(
        vec![long(vec![(1, 0), (2, 0)], 0), long(vec![(3, 0), (4, 0)], 1)],
        scheme("tcn", &[("threshold", 50_000)]),
    );
    cfg.topology = star(5, 10);
    cfg.transport.control = cemark_transport::Control::CUBIC;
    cfg.switch.scheduler = SchedulerKind::Dwrr;
    cfg.switch.queues = vec![QueueConfig::PLAIN; 2];
    cfg.switch.buffer_bytes = 2_000_000;
    cfg.max_time = us(20_000);
    cfg.measure.until = cfg.max_time;
    let policy = |non_ect| Profile {
        marker: None,
        non_ect: Some(non_ect),
    };
    let dropped = |profiles: [NonEct; 2]| {
        let mut cfg = cfg.clone();
        cfg.switch.profiles = profiles.map(|p| Some(policy(p))).into();
        let o = run(&cfg);
        o.totals.drops.get("not_ect").copied().unwrap_or(0)
    };
    let (none, all) = (NonEct::Forward, NonEct::Drop);
    assert_eq!(dropped([none, none]), 0);
    let (first, both) = (dropped([all, none]), dropped([all, all]));
    assert!(first > 0 && both > first, "{first} and {both}");
}

/// Storage over queue pairs in a lossless queue, TCP in another, on the same hosts.
fn storage_beside_tcp(mut tcp: Vec<Workload>) -> Config {
    let incast = Kind::Incast(Incast {
        from: Vec::new(),
        senders: 8,
        receiver: 9,
        min_bytes: 2_000_000,
        max_bytes: 2_000_000,
        at: Picos::ZERO,
        repeat: 1,
        every: us(1_000),
        jitter: Picos::ZERO,
    });
    tcp.push(Workload {
        name: "storage".into(),
        class: ClassMap::Fixed(1),
        ..workload(incast)
    });
    let mut cfg = config(tcp, scheme("tcn", &[("threshold", 30_000)]));
    cfg.topology = star(10, 100);
    let own = pairs(&cfg);
    cfg.workloads.last_mut().expect("storage").transport = Some(own);
    cfg.switch.scheduler = SchedulerKind::Dwrr;
    cfg.switch.queues = vec![
        QueueConfig::PLAIN,
        QueueConfig {
            lossless: true,
            ..QueueConfig::PLAIN
        },
    ];
    // Nothing marks the queue pairs, so that only pauses stop them.
    cfg.switch.profiles = vec![None, marked_by(MarkerChoice::None)];
    cfg.switch.buffering = Buffering {
        policy: Policy::Dynamic { alpha: 1 << 16 },
        pool_bytes: 4_000_000,
        headroom: 0,
    };
    cfg.switch.pfc = Some(Pfc {
        xoff: Xoff::Bytes(50_000),
        ..Pfc::default()
    });
    cfg.max_time = us(20_000);
    cfg.measure.until = cfg.max_time;
    cfg
}

/// A paused class leaves the others of its host alone: TCP to an idle receiver ends as fast as
/// beside a host that is not paused, but for the packets with which it shares its NIC.
#[test]
fn pauses_stop_only_their_class_at_hosts() {
    let flow = |class| Workload {
        class: ClassMap::Fixed(class),
        ..workload(Kind::List(List::from(vec![FlowLine {
            start: us(400),
            src: 0,
            dst: 8,
            bytes: 1_000_000,
            class: None,
            rtt: None,
        }])))
    };
    let time = |class| {
        let o = run(&storage_beside_tcp(vec![flow(class)]));
        assert_eq!(o.totals.all_drops(), 0);
        let host = o.pauses.iter().find(|p| p.name.starts_with("host0->"));
        assert!(host.is_some_and(|p| p.share > 0.01), "{:?}", o.pauses);
        let flow = o.flows.iter().find(|f| f.workload == 0).expect("TCP");
        (flow.fct.expect("its end"), flow.ideal)
    };
    let (apart, ideal) = time(0);
    assert!(apart.0 < 2 * ideal.0, "{apart:?} of {ideal:?}");
    let (paused, _) = time(1);
    assert!(paused.0 > 2 * apart.0, "{paused:?} of {apart:?}");
}

/// Both transports end all their flows, and each marks and retransmits as its kind does.
#[test]
fn tcp_and_queue_pairs_share_hosts_and_links() {
    let mut cfg = storage_beside_tcp(vec![long(vec![(0, 9), (1, 9)], 0)]);
    cfg.switch.profiles = vec![None, marked_by(scheme("threshold", &[("k", 100_000)]))];
    let o = run(&cfg);
    assert_eq!(o.totals.all_drops(), 0);
    assert!(
        o.flows
            .iter()
            .all(|f| f.fct.is_some() && f.class == 1 && f.marks > 0)
    );
    assert!(got(&o, 0) > 0.0);
    // The packets of queue pairs are as long as their transport says.
    let sizes: Vec<u64> = o.flows.iter().map(|f| f.ideal.0).collect();
    let byte = Rate::gbps(100).picos_per_byte().0;
    let packets = 2_000_000u64.div_ceil(1024);
    let least = (2_000_000 + packets * 62) * byte;
    assert!(
        sizes.iter().all(|&s| s > least && s < least + 20_000_000),
        "{sizes:?} {least}"
    );
}
