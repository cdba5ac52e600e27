// SPDX-License-Identifier: MIT OR Apache-2.0
//! Priority flow control: no packet is lost, pauses travel back to the senders, rings deadlock.

use crate::common::{config, permutation, scheme, us, workload};
use cemark_sim::config::{Buffering, MarkerChoice, Pfc, Policy, QueueConfig, SchedulerKind, Xoff};
use cemark_sim::topology::{Dumbbell, LeafSpine, Ring, Star, Topology};
use cemark_sim::workload::{ClassMap, Incast, Kind, List, Long, LongFlows, RttModel};
use cemark_sim::{Config, Meters, Outcome, meters, run};
use cemark_transport::rdma::Rdma;
use cemark_wire::{Picos, Rate};

/// DCQCN at 100 Gb/s over one lossless queue, 12 MB a switch under a dynamic threshold.
fn lossless(topology: Topology, kind: Kind, marker: MarkerChoice) -> Config {
    let mut cfg = config(vec![workload(kind)], marker);
    cfg.topology = topology;
    cfg.transport.rdma = Some(Rdma::default());
    cfg.transport.mss = 1024;
    cfg.transport.header_bytes = 62;
    cfg.transport.ack_bytes = 64;
    cfg.switch.queues = vec![QueueConfig {
        lossless: true,
        ..QueueConfig::PLAIN
    }];
    cfg.switch.buffering = Buffering {
        policy: Policy::Dynamic { alpha: 1 << 16 },
        pool_bytes: 12_000_000,
        headroom: 0,
    };
    cfg.switch.pfc = Some(Pfc::default());
    cfg.max_time = us(100_000);
    cfg
}

/// 80 hosts under 5 leaves; uplinks as in a fabric without oversubscription.
fn fabric() -> Topology {
    Topology::from(LeafSpine {
        leaves: 5,
        spines: 4,
        hosts_per_leaf: 16,
        host_rate: Rate::gbps(100),
        uplink_rate: Rate::gbps(400),
        host_delay: us(1),
        uplink_delay: us(1),
    })
}

fn incast(senders: u32) -> Kind {
    Kind::Incast(Incast {
        from: Vec::new(),
        senders,
        receiver: 3,
        min_bytes: 900_000,
        max_bytes: 1_100_000,
        at: us(10),
        repeat: 1,
        every: us(1_000),
        jitter: Picos::ZERO,
    })
}

fn paused<'a>(out: &'a Outcome, from: &'a str) -> impl Iterator<Item = &'a str> {
    let names = out.pauses.iter().map(|p| p.name.as_str());
    names.filter(move |n| n.starts_with(from))
}

/// Headroom by hand: (1086 + 128) B in the direction of the frame and 2 us of delay at the link's
/// rate, and 3 packets of 1086 B.
#[test]
fn meters_are_those_of_the_run() {
    let cfg = lossless(fabric(), incast(64), MarkerChoice::None);
    let found = meters(&cfg);
    let kind = |first: &str, links, gbps, headroom, reserved| Meters {
        first: first.to_owned(),
        links,
        rate: Rate::gbps(gbps),
        delay: us(1),
        headroom,
        xoff: 1_500_000,
        shared: 12_000_000,
        reserved,
    };
    let (slow, fast) = (26_214 + 3_258, 101_214 + 3_258);
    let expected = [
        kind("host0->leaf0", 80, 100, slow, 16 * slow + 4 * fast),
        kind("leaf0->spine0", 20, 400, fast, 5 * fast),
        kind("spine0->leaf0", 20, 400, fast, 16 * slow + 4 * fast),
    ];
    let names: Vec<&Meters> = expected.iter().collect();
    let mut sorted: Vec<&Meters> = found.iter().collect();
    sorted.sort_by(|a, b| a.first.cmp(&b.first));
    assert_eq!(sorted, names);
    // Chosen headroom and XOFF are those of every link, and without flow control there are none.
    let mut chosen = cfg;
    chosen.switch.pfc = Some(Pfc {
        xoff: Xoff::Bytes(90_000),
        headroom: 50_000,
        ..Pfc::default()
    });
    assert!(
        meters(&chosen)
            .iter()
            .all(|m| (m.xoff, m.headroom) == (90_000, 50_000))
    );
    chosen.switch.pfc = None;
    assert_eq!(meters(&chosen), []);
}

#[test]
fn nothing_is_lost_under_64_to_1_incast() {
    for marker in [
        MarkerChoice::None,
        scheme(
            "red",
            &[
                ("kmin", 400_000),
                ("kmax", 1_600_000),
                ("pmax", 13_107),
                ("weight", 65_536),
            ],
        ),
    ] {
        let cfg = lossless(fabric(), incast(64), marker);
        let out = run(&cfg);
        assert_eq!(out.flows.len(), 64);
        assert!(out.flows.iter().all(|f| f.fct.is_some()));
        assert_eq!(out.totals.all_drops(), 0, "{:?}", out.totals.drops);
        assert_eq!(out.totals.retransmits + out.totals.timeouts, 0);
        // The receiver's leaf pauses spines, spines pause leaves, leaves pause hosts.
        assert!(paused(&out, "spine").count() > 0 && paused(&out, "host").count() > 16);
        assert!(
            paused(&out, "leaf").all(|n| n.contains("->spine")),
            "no host sends pause frames"
        );
        assert!(out.pauses.iter().all(|p| p.share > 0.0 && p.share < 1.0));
        assert_eq!(out.digest, run(&cfg).digest);
        // The same without pauses loses packets.
        let mut without = cfg;
        without.switch.pfc = None;
        assert!(run(&without).totals.all_drops() > 0);
    }
}

/// A packet that finds its output port idle takes headroom like any other, and its sender is
/// paused, whether a marker has to judge it or not.
#[test]
fn a_marker_that_never_marks_changes_no_pause() {
    let most = u64::from(u32::MAX);
    let mut cfg = lossless(fabric(), incast(64), MarkerChoice::None);
    // Beside the incast, every host sends somewhere else: by the same links, out of idle ports.
    cfg.workloads.push(permutation());
    cfg.max_time = us(1_000);
    let silent = run(&cfg);
    assert!(!silent.pauses.is_empty());
    for (name, params) in [
        ("red", [("kmin", most), ("kmax", most)]),
        ("wred", [("min", most), ("max", most)]),
    ] {
        cfg.switch.marker = scheme(name, &params);
        assert_eq!(run(&cfg).digest, silent.digest, "{name}");
    }
}

#[test]
fn the_headroom_is_enough_and_hardly_more() {
    // With a fixed XOFF everything above it is headroom: what the formula keeps is used to the last
    // few packets, and with half of it packets are lost.
    let mut cfg = lossless(
        Topology::from(Star {
            hosts: 9,
            rate: Rate::gbps(100),
            delay: us(5),
        }),
        incast(8),
        MarkerChoice::None,
    );
    let pfc = |headroom| {
        Some(Pfc {
            xoff: Xoff::Bytes(50_000),
            headroom,
            ..Pfc::default()
        })
    };
    cfg.switch.pfc = pfc(0);
    assert_eq!(run(&cfg).totals.all_drops(), 0);
    // Two delays of 5 us at 12.5 bytes a nanosecond are 125 kB: less than that is not enough.
    cfg.switch.pfc = pfc(120_000);
    assert!(run(&cfg).totals.drops["headroom"] > 0);
}

/// A NIC that obeys 4 us late sends 50 kB more at 100 Gb/s. The headroom that is computed covers
/// it, one of 130 kB without it does not, and a deadlock is seen in neither case.
#[test]
fn a_sender_that_obeys_late_needs_more_headroom() {
    let mut cfg = lossless(
        Topology::from(Star {
            hosts: 9,
            rate: Rate::gbps(100),
            delay: us(5),
        }),
        incast(8),
        MarkerChoice::None,
    );
    let pfc = |headroom, micros| {
        Some(Pfc {
            xoff: Xoff::Bytes(50_000),
            headroom,
            reaction: us(micros),
            ..Pfc::default()
        })
    };
    let mut lost = |headroom, micros| {
        cfg.switch.pfc = pfc(headroom, micros);
        let out = run(&cfg);
        assert!(out.deadlock.is_empty(), "{:?}", out.deadlock);
        (out.totals.all_drops(), out.digest)
    };
    let (none, digest) = lost(0, 0);
    let (late, other) = lost(0, 4);
    assert_eq!((none, late), (0, 0), "the headroom follows");
    assert_ne!(digest, other);
    let enough = 135_000;
    assert_eq!(lost(enough, 0).0, 0);
    assert!(lost(enough, 4).0 > 0);
    assert_eq!(lost(enough + 50_000, 4).0, 0);
}

#[test]
fn a_pause_stops_its_own_queue_only() {
    // Queue 0 is lossless and jammed by an incast, queue 1 carries one more flow to another host.
    let mut cfg = lossless(
        Topology::from(Star {
            hosts: 12,
            rate: Rate::gbps(100),
            delay: us(1),
        }),
        incast(10),
        MarkerChoice::None,
    );
    cfg.switch.queues.push(QueueConfig::PLAIN);
    cfg.switch.scheduler = SchedulerKind::Dwrr;
    let mut other = workload(Kind::List(List::from(vec![
        cemark_sim::workload::FlowLine {
            start: us(100),
            src: 1,
            dst: 11,
            bytes: 1_000_000,
            class: None,
            rtt: None,
        },
    ])));
    other.class = ClassMap::Fixed(1);
    cfg.workloads.push(other);
    let out = run(&cfg);
    let flow = out.flows.iter().find(|f| f.workload == 1).unwrap();
    let fct = flow.fct.unwrap();
    assert!(paused(&out, "host1->").count() == 1, "{:?}", out.pauses);
    // It shares its NIC with a paused connection and still takes little longer than alone: at worst
    // half the link while that one may send.
    assert!(fct.0 < flow.ideal.0 * 2, "{fct:?} for {:?}", flow.ideal);
    let behind = out
        .flows
        .iter()
        .filter(|f| f.workload == 0)
        .map(|f| f.fct.unwrap());
    assert!(behind.max().unwrap().0 > 8 * fct.0);
}

/// Each host sends to the one `hops` switches further on.
fn ring(hops: u32, marker: MarkerChoice) -> Config {
    let pairs = (0..6).map(|h| (h, (h + 2 * hops) % 6)).collect();
    let mut cfg = lossless(
        Topology::from(Ring {
            switches: 3,
            hosts_per_switch: 2,
            rate: Rate::gbps(100),
            delay: us(1),
        }),
        Kind::Long(Long {
            flows: LongFlows::Pairs(pairs),
            at: Picos::ZERO,
            stagger: Picos::ZERO,
            jitter: us(10),
        }),
        marker,
    );
    cfg.max_time = us(20_000);
    cfg.measure.until = cfg.max_time;
    cfg
}

#[test]
fn a_ring_of_three_switches_deadlocks_and_the_run_stops() {
    let out = run(&ring(2, MarkerChoice::None));
    let mut cycle = out.deadlock.clone();
    cycle.sort();
    assert_eq!(
        cycle,
        ["switch0->switch1", "switch1->switch2", "switch2->switch0"]
    );
    // Each waits for the next.
    let at = |i: usize| out.deadlock[i % 3].split_once("->").unwrap();
    assert!((0..3).all(|i| at(i).1 == at(i + 1).0), "{:?}", out.deadlock);
    assert!(out.end < us(5_000), "stopped at {:?}", out.end);
    assert_eq!(out.totals.all_drops(), 0);
    // One hop each: buffers wait for hosts only, and hosts take everything.
    let open = run(&ring(1, MarkerChoice::None));
    assert!(open.deadlock.is_empty());
    assert_eq!(open.end, us(20_000));
    assert!(
        open.pauses.iter().any(|p| p.share > 0.1),
        "pauses alone are none"
    );
}

/// The part of a drawn base RTT above that of the path is applied behind the last link, which is
/// never paused.
#[test]
fn drawn_base_rtts_and_pauses_go_together() {
    // One packet alone: 4 us of links there, and 96 us of the base RTT.
    let alone = Kind::List(List::from(vec![cemark_sim::workload::FlowLine {
        start: us(0),
        src: 20,
        dst: 3,
        bytes: 1_000,
        class: None,
        rtt: None,
    }]));
    let mut cfg = lossless(fabric(), alone, MarkerChoice::None);
    let fct = |cfg: &Config| run(cfg).flows[0].fct.expect("it ends").as_micros_f64();
    let path = fct(&cfg);
    cfg.rtt = RttModel::Fixed(us(104));
    assert!((fct(&cfg) - path - 96.0).abs() < 1e-9, "{path}");

    // With it the headroom that follows from the links is still enough.
    let mut cfg = lossless(fabric(), incast(64), MarkerChoice::None);
    cfg.rtt = RttModel::Classes(vec![us(20), us(200)]);
    let out = run(&cfg);
    assert_eq!(out.totals.all_drops(), 0, "{:?}", out.totals.drops);
    assert!(paused(&out, "host").count() > 32, "senders are paused");
    assert!(out.flows.iter().all(|f| f.fct.is_some()));
}

/// A link between two switches brings 200 Gb/s to a port of 100 Gb/s. Since its queue is never
/// empty it sends at full rate or is paused, so it is paused half of the time.
#[test]
fn a_saturated_link_is_busy_or_paused() {
    let middle = Topology::from(Dumbbell {
        left: 2,
        right: 1,
        host_rate: Rate::gbps(100),
        middle_rate: Rate::gbps(200),
        host_delay: us(1),
        middle_delay: us(1),
    });
    let endless = Kind::Long(Long {
        flows: LongFlows::Pairs(vec![(0, 2), (1, 2)]),
        at: Picos::ZERO,
        stagger: Picos::ZERO,
        jitter: us(1),
    });
    let mut cfg = lossless(middle, endless, MarkerChoice::None);
    cfg.measure.from = us(2_000);
    cfg.measure.until = us(9_000);
    cfg.max_time = us(10_000);
    let out = run(&cfg);
    let port = out
        .ports
        .iter()
        .find(|p| p.name == "switch0->switch1")
        .unwrap();
    let paused = out.pauses.iter().find(|p| p.name == port.name).unwrap();
    assert!((port.utilisation - 0.5).abs() < 0.01, "{port:?}");
    assert!(
        (port.utilisation + paused.share - 1.0).abs() < 0.01,
        "{paused:?}"
    );
    // One queue: its pauses are those of the port.
    for p in &out.pauses {
        let [queue] = p.queues[..] else {
            panic!("{p:?}")
        };
        assert_eq!(
            (queue.class, queue.frames, queue.share),
            (0, p.frames, p.share)
        );
    }
}
