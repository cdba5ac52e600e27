// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where packets of many links meet in one tick: outcomes depend neither on the order in which
//! events were inserted nor on the form of a port.
#![allow(missing_docs)]

use crate::common::{config, scheme, us, web_that_stops, workload};
use cemark_sim::config::{Buffering, Config, Pfc, Policy};
use cemark_sim::topology::{LeafSpine, Topology};
use cemark_sim::workload::{Incast, Kind, RttModel};
use cemark_sim::{run, run_scrambled};
use cemark_wire::{Picos, Rate};

/// All times are multiples of the time of a byte, and senders begin in the same tick.
fn meeting(seed: u64) -> Config {
    let incast = workload(Kind::Incast(Incast {
        from: Vec::new(),
        senders: 24,
        receiver: 0,
        min_bytes: 30_000,
        max_bytes: 30_000,
        at: us(100),
        repeat: 3,
        every: us(1_000),
        jitter: Picos::ZERO,
    }));
    let mut cfg = config(
        vec![web_that_stops(0.6, 150), incast],
        scheme("threshold", &[("k", 60_000)]),
    );
    cfg.topology = Topology::from(LeafSpine {
        leaves: 4,
        spines: 3,
        hosts_per_leaf: 6,
        host_rate: Rate::gbps(10),
        uplink_rate: Rate::gbps(10),
        host_delay: us(10),
        uplink_delay: us(10),
    });
    cfg.rtt = RttModel::Fixed(us(100));
    cfg.seed = seed;
    cfg
}

#[test]
fn the_form_of_a_port_does_not_matter() {
    for seed in 0..3 {
        let mut cfg = meeting(seed);
        let fused = run(&cfg);
        assert_eq!(run_scrambled(&cfg).digest, fused.digest);
        cfg.switch.never_fuse = true;
        let unfused = run(&cfg);
        assert_eq!(fused.flows, unfused.flows);
        assert_eq!(run_scrambled(&cfg).digest, unfused.digest);
    }
}

#[test]
fn connections_that_persist_and_pauses_do_not_matter() {
    for seed in 0..2 {
        let mut cfg = meeting(seed);
        for w in &mut cfg.workloads {
            w.persistent = true;
        }
        assert_eq!(run_scrambled(&cfg).digest, run(&cfg).digest);
        cfg.switch.buffering = Buffering {
            policy: Policy::Shared,
            ..Buffering::PORT
        };
        for queue in &mut cfg.switch.queues {
            queue.lossless = true;
        }
        cfg.switch.pfc = Some(Pfc::default());
        let paused = run(&cfg);
        assert!(!paused.pauses.is_empty(), "no link was paused");
        assert_eq!(run_scrambled(&cfg).digest, paused.digest);
    }
}
