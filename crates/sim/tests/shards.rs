// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulation that is divided into shards, on any number of threads, has the outcome of the
//! undivided one; where it cannot be divided, it is not.
#![allow(missing_docs)]

mod common;

use cemark_sim::config::{Config, Nic, Offload, TracePorts};
use cemark_sim::topology::{LeafSpine, Star, Topology};
use cemark_sim::workload::{Kind, RttModel, Workload};
use cemark_sim::{Outcome, run, shards};
use cemark_transport::Control;
use cemark_wire::{Nanos, Picos, Rate};
use common::{config, permutation, scheme, us, web_that_stops, workload};
use proptest::prelude::*;

fn fabric(leaves: u32, spines: u32, hosts_per_leaf: u32, delay: Picos) -> Topology {
    Topology::LeafSpine(LeafSpine {
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
    workload(Kind::Incast {
        senders: 20,
        receiver: 1,
        min_bytes: 20_000,
        max_bytes: 90_000,
        at: us(50),
        repeat: 2,
        every: us(700),
        jitter,
    })
}

fn divided(cfg: &Config, parts: u32, threads: u32) -> Outcome {
    shards::run(cfg, parts, threads, &mut |_| true).expect("no report abandons it")
}

/// Compares everything but the count of events, of which each shard has some of its own.
fn same(whole: &Outcome, parts: &Outcome) {
    assert_eq!(whole.flows, parts.flows);
    assert_eq!(whole.totals, parts.totals);
    assert_eq!(whole.end, parts.end);
    assert_eq!(whole.goodput, parts.goodput);
    assert_eq!(whole.packet_hops, parts.packet_hops);
    assert_eq!(whole.digest, parts.digest);
    assert_eq!(format!("{:?}", whole.ports), format!("{:?}", parts.ports));
    assert_eq!(format!("{:?}", whole.traces), format!("{:?}", parts.traces));
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

#[test]
fn what_cannot_be_divided_runs_whole() {
    let mut persistent = rough(2);
    for w in &mut persistent.workloads {
        w.persistent = true;
    }
    let mut queues = rough(2);
    queues.switch.never_fuse = true;
    let mut star = rough(2);
    star.topology = Topology::Star(Star {
        hosts: 6,
        rate: Rate::gbps(10),
        delay: us(5),
    });
    for cfg in [persistent, queues, star] {
        let (whole, parts) = (run(&cfg), divided(&cfg, 4, 2));
        same(&whole, &parts);
        assert_eq!(whole.events, parts.events, "it was divided");
    }
}

#[test]
fn a_report_abandons_it() {
    let cfg = rough(3);
    assert!(shards::run(&cfg, 4, 2, &mut |_| false).is_none());
}

fn configs() -> impl Strategy<Value = Config> {
    let shape = (2u32..6, 1u32..4, 2u32..5, 1u64..20);
    let control = prop_oneof![
        Just(Control::RENO),
        Just(Control::ECN_STAR),
        Just(Control::CUBIC),
        Just(Control::DCTCP),
    ];
    let nic = prop_oneof![
        Just(Nic::Fifo),
        Just(Nic::SwitchPort),
        (1u32..3).prop_map(|packets| Nic::BackPressure { packets }),
    ];
    let host = (control, nic, any::<bool>(), 1u32..3);
    let load = (0.1f64..0.8, any::<bool>(), 20_000u32..200_000, 0u64..1_000);
    (shape, host, load).prop_map(|(shape, host, load)| {
        let mut cfg = config(
            vec![web_that_stops(load.0, 40), incast(us(3))],
            scheme("codel", &[]),
        );
        cfg.topology = fabric(shape.0, shape.1, shape.2, us(shape.3));
        if load.1 {
            cfg.switch.marker = scheme("threshold", &[("k", 30_000)]);
            cfg.rtt = RttModel::Fixed(us(120));
        }
        cfg.switch.buffer_bytes = load.2;
        cfg.seed = load.3;
        cfg.transport.control = host.0;
        cfg.nic = host.1;
        cfg.transport.sack = host.2;
        cfg.transport.ack_every = host.3;
        cfg.max_time = us(100_000);
        cfg
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn random_scenarios_give_the_same(cfg in configs(), parts in 2u32..6, threads in 1u32..4) {
        same(&run(&cfg), &divided(&cfg, parts, threads));
    }
}
