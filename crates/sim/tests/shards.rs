// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulation that is divided into shards, on any number of threads, has the outcome of the
//! undivided one; where it cannot be divided, it is not.
#![allow(missing_docs)]

use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::random::{configs, lossless};
use crate::common::{cases, config, permutation, scheme, us, web_that_stops, workload};
use cemark_sim::config::{
    Config, DeviceQueue, Fct, MarkerChoice, Offload, QueueConfig, SchedulerKind, TracePorts,
};
use cemark_sim::topology::{LeafSpine, Ring, Topology};
use cemark_sim::workload::{
    ClassMap, Incast, Kind, Long, LongFlows, Poisson, Probe, RttModel, Workload,
};
use cemark_sim::{Outcome, run, shards};
use cemark_wire::{Nanos, Picos, Rate};
use proptest::prelude::*;

fn fabric(leaves: u32, spines: u32, hosts_per_leaf: u32, delay: Picos) -> Topology {
    Topology::from(LeafSpine {
        leaves,
        spines,
        hosts_per_leaf,
        host_rate: Rate::gbps(10),
        uplink_rate: Rate::gbps(10),
        host_delay: us(2),
        uplink_delay: delay,
    })
}

fn incast(jitter: Picos) -> Workload {
    workload(Kind::Incast(Incast {
        from: Vec::new(),
        senders: 20,
        receiver: 1,
        min_bytes: 20_000,
        max_bytes: 90_000,
        at: us(50),
        repeat: 2,
        every: us(700),
        jitter,
    }))
}

pub(crate) fn divided(cfg: &Config, parts: u32, threads: u32) -> Outcome {
    shards::run(cfg, parts, threads, &mut |_| true).expect("no report abandons it")
}

/// Compares everything but the count of events, of which each shard has some of its own.
pub(crate) fn same(whole: &Outcome, parts: &Outcome) {
    assert_eq!(whole.flows, parts.flows);
    assert_eq!(whole.totals, parts.totals);
    assert_eq!(whole.end, parts.end);
    assert_eq!(whole.goodput, parts.goodput);
    assert_eq!(whole.packet_hops, parts.packet_hops);
    assert_eq!(whole.digest, parts.digest);
    assert_eq!(format!("{:?}", whole.ports), format!("{:?}", parts.ports));
    assert_eq!(whole.probes, parts.probes);
    assert_eq!(whole.pauses, parts.pauses);
    assert_eq!(whole.deadlock, parts.deadlock);
    assert_eq!(format!("{:?}", whole.traces), format!("{:?}", parts.traces));
    assert_eq!(whole.buffers, parts.buffers);
    let long = |o: &Outcome| format!("{:?}", o.long_flows);
    assert_eq!(long(whole), long(parts));
}

/// Losses, SACK, delayed ACKs, coalescing, drawn RTTs, and packets that meet in one tick.
fn rough(seed: u64) -> Config {
    let mut cfg = config(
        vec![web_that_stops(0.7, 40), incast(Picos::ZERO)],
        scheme("threshold", &[("k", 30_000)]),
    );
    cfg.topology = fabric(8, 3, 4, us(10));
    cfg.rtt = RttModel::Variation {
        lo: us(60),
        hi: us(200),
    };
    cfg.switch.buffer_bytes = 40_000;
    cfg.transport.sack = true;
    cfg.transport.handshake = true;
    cfg.transport.ack_every = 2;
    cfg.offload = Offload {
        coalesce: Nanos::from_micros(8),
        gro: true,
        ..Offload::NONE
    };
    cfg.measure.goodput_interval = us(100);
    cfg.seed = seed;
    cfg
}

#[test]
fn any_number_of_shards_and_threads_gives_the_same() {
    let cfg = rough(1);
    let whole = run(&cfg);
    assert!(whole.totals.all_drops() > 0, "nothing was lost");
    assert!(whole.flows.iter().any(|f| f.retransmits > 0));
    for (parts, threads) in [(2, 1), (3, 2), (8, 1), (8, 3)] {
        let o = divided(&cfg, parts, threads);
        same(&whole, &o);
        assert!(o.events > whole.events, "it was not divided");
    }
}

/// Flows that share connections: the receiver learns of a flow after its sender, and not too late.
#[test]
fn connections_that_persist() {
    let mut cfg = rough(5);
    for w in &mut cfg.workloads {
        w.persistent = true;
    }
    // Two classes on the connections of a pair, and endless flows among them.
    cfg.switch.queues = vec![QueueConfig::PLAIN; 2];
    cfg.switch.scheduler = SchedulerKind::Dwrr;
    cfg.workloads[0].class = ClassMap::Weighted(vec![1, 1]);
    cfg.workloads.push(Workload {
        persistent: true,
        ..permutation()
    });
    cfg.measure.from = us(200);
    cfg.max_time = us(30_000);
    let whole = run(&cfg);
    assert!(whole.totals.all_drops() > 0, "nothing was lost");
    for (parts, threads) in [(2, 1), (3, 2), (8, 2)] {
        let o = divided(&cfg, parts, threads);
        same(&whole, &o);
        assert!(o.events > whole.events, "it was not divided");
    }
}

/// Flows that their senders end: what the receivers counted by then is in another shard.
#[test]
fn flows_that_end_at_their_senders() {
    for (fct, persistent) in [
        (Fct::LastAck, false),
        (Fct::Client, true),
        (Fct::Closed, false),
    ] {
        let mut cfg = rough(6);
        cfg.measure.fct = fct;
        for w in &mut cfg.workloads {
            w.persistent = persistent;
        }
        // Timeouts too early: packets that come twice, some of them marked.
        cfg.transport.rto_min = Nanos::from_micros(150);
        cfg.transport.rto_init = Nanos::from_micros(150);
        cfg.max_time = us(30_000);
        let whole = run(&cfg);
        let marks = |o: &Outcome| o.flows.iter().map(|f| u64::from(f.marks)).sum::<u64>();
        assert!(marks(&whole) > 0 && whole.flows.iter().any(|f| f.retransmits > 0));
        for (parts, threads) in [(2, 1), (3, 2), (8, 2)] {
            let o = divided(&cfg, parts, threads);
            same(&whole, &o);
            assert!(o.events > whole.events, "it was not divided");
        }
    }
}

#[test]
fn endless_flows_and_traces() {
    let mut cfg = config(vec![permutation(), incast(us(3))], scheme("ecn_sharp", &[]));
    cfg.topology = fabric(4, 2, 6, us(5));
    cfg.measure.trace = TracePorts::ToHosts(vec![1, 20]);
    cfg.measure.goodput_interval = us(500);
    cfg.measure.from = us(1_000);
    cfg.measure.until = us(4_000);
    cfg.max_time = us(5_000);
    let whole = run(&cfg);
    let parts = divided(&cfg, 4, 2);
    same(&whole, &parts);
    assert!(parts.events > whole.events, "it was not divided");
    // Without measured flows only the clock ends the run.
    cfg.workloads.pop();
    cfg.measure.trace = TracePorts::Hottest;
    same(&run(&cfg), &divided(&cfg, 3, 2));
}

/// Rings of paused switches end in a deadlock, which one shard finds for all.
#[test]
fn a_deadlock_ends_all_shards() {
    let ring = Ring {
        switches: 3,
        hosts_per_switch: 2,
        rate: Rate::gbps(10),
        delay: us(1),
    };
    let pairs = (0..6).map(|h| (h, (h + 4) % 6)).collect();
    let mut cfg = config(
        vec![workload(Kind::Long(Long {
            flows: LongFlows::Pairs(pairs),
            at: Picos::ZERO,
            stagger: Picos::ZERO,
            jitter: us(1),
        }))],
        MarkerChoice::None,
    );
    cfg.topology = ring.into();
    cfg.max_time = us(50_000);
    let mut cfg = lossless(cfg, 2, 1);
    cfg.switch.marker = MarkerChoice::None;
    cfg.switch.buffering.pool_bytes = 100_000;
    let whole = run(&cfg);
    assert!(!whole.deadlock.is_empty(), "no deadlock");
    for parts in [2, 3, 6] {
        let o = divided(&cfg, parts, 2);
        same(&whole, &o);
        assert!(o.events > whole.events, "it was not divided");
    }
}

#[test]
fn what_cannot_be_divided_runs_whole() {
    let mut endless = rough(2);
    if let Kind::Poisson(Poisson { flows, .. }) = &mut endless.workloads[0].kind {
        *flows = 0;
    }
    let cfg = endless;
    assert!(shards::obstacle(&cfg).is_some());
    assert_eq!(shards::most_shards(&cfg), 1);
    let (whole, parts) = (run(&cfg), divided(&cfg, 4, 2));
    same(&whole, &parts);
    assert_eq!(whole.events, parts.events, "it was divided");
}

/// The first thread takes over the shards of all in mid-run, as on a machine with other work.
#[test]
fn threads_that_part_leave_the_same() {
    for cfg in [rough(3), rough(8)] {
        let whole = run(&cfg);
        for after in [0, 1, 3] {
            let together = AtomicBool::new(true);
            let mut reports = 0;
            let mut report = |_| {
                reports += 1;
                if reports > after {
                    together.store(false, Ordering::Relaxed);
                }
                true
            };
            let parts = shards::run_around(&cfg, 4, 3, &mut report, &|work| work(), &together);
            same(&whole, &parts.expect("no report abandons it"));
            assert!(reports > after, "it was too short for this test");
        }
    }
}

#[test]
fn a_report_abandons_it() {
    let cfg = rough(3);
    assert!(shards::run(&cfg, 4, 2, &mut |_| false).is_none());
}

/// Ports with several queues under some scheduler, and what only such ports have.
fn with_queues(cfg: &mut Config, scheduler: usize) {
    cfg.switch.scheduler = [
        SchedulerKind::Dwrr,
        SchedulerKind::Wrr,
        SchedulerKind::Wfq,
        SchedulerKind::StrictPriority,
        SchedulerKind::Fifo,
    ][scheduler];
    if scheduler == 4 {
        // One queue of its own events, above a device that holds two packets.
        cfg.switch.never_fuse = true;
        cfg.switch.device = DeviceQueue {
            packets: 2,
            bytes: 0,
        };
        return;
    }
    let queue = QueueConfig {
        lossless: cfg.switch.pfc.is_some(),
        ..QueueConfig::PLAIN
    };
    cfg.switch.queues = vec![queue; 3];
    for (w, class) in cfg.workloads.iter_mut().zip([
        ClassMap::ByBytesSent(vec![20_000, 200_000]),
        ClassMap::ByPair(3),
    ]) {
        w.class = class;
    }
    if scheduler < 2 {
        cfg.switch.marker = scheme("mq_ecn", &[]);
    }
}

/// A ping between two hosts.
fn ping(hosts: u32) -> Workload {
    workload(Kind::Probe(Probe {
        src: hosts - 1,
        dst: 0,
        at: us(3),
        every: us(40),
        count: 50,
    }))
}

proptest! {
    #![proptest_config(cases(8))]
    /// Every topology, transport and scheduler, with losses, faults, probes, pauses.
    #[test]
    fn random_scenarios_give_the_same(
        cfg in configs(),
        scheduler in 0usize..8,
        lossless_as in (0usize..3, 0usize..3, any::<bool>()),
        probe in any::<bool>(),
        threads in 1u32..3,
    ) {
        let mut cfg = cfg;
        let (pause, pairs, is_lossless) = lossless_as;
        if is_lossless {
            cfg = lossless(cfg, pause, pairs);
        }
        if is_lossless && pause > 0 {
            // With drawn RTTs and pauses connections that persist cannot be divided.
            for w in &mut cfg.workloads {
                w.persistent = false;
            }
        }
        if scheduler < 5 {
            with_queues(&mut cfg, scheduler);
        }
        if probe {
            cfg.workloads.push(ping(cfg.topology.hosts()));
        }
        // Long enough for losses and their timeouts; some runs end in the middle.
        cfg.max_time = us(60_000);
        prop_assert_eq!(shards::obstacle(&cfg), None);
        let whole = run(&cfg);
        let answers = whole.flows.iter().filter(|f| f.query.is_some());
        prop_assert!(answers.clone().count() > 0, "no flow answers a query");
        prop_assert!(answers.clone().all(|f| f.workload == 1));
        for parts in [2, 3, 8] {
            same(&whole, &divided(&cfg, parts, threads));
        }
    }
}
