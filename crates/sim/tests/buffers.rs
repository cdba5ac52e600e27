// SPDX-License-Identifier: MIT OR Apache-2.0
//! Occupancy of shared buffers over time: which buffers are traced, and that the samples are those
//! of the queues that fill them.

use crate::common::random::{configs, lossless};
use crate::common::{cases, config, leaf_spine, permutation, us, workload};
use cemark_sim::config::{Buffering, Config, MarkerChoice, Policy, TracePorts};
use cemark_sim::workload::{Incast, Kind};
use cemark_sim::{Outcome, run};
use proptest::prelude::*;

const POOL: u32 = 120_000;

/// Eight senders fill the shared buffer of the leaf of host 4.
fn incast(trace: TracePorts) -> Config {
    let query = Kind::Incast(Incast {
        from: Vec::new(),
        senders: 8,
        receiver: 4,
        min_bytes: 300_000,
        max_bytes: 300_000,
        at: us(100),
        repeat: 2,
        every: us(2_000),
        jitter: us(1),
    });
    let mut cfg = config(vec![workload(query)], MarkerChoice::None);
    cfg.switch.buffering = Buffering {
        policy: Policy::Shared,
        pool_bytes: POOL,
        headroom: 0,
    };
    cfg.measure.trace = trace;
    cfg.measure.queue_interval = us(7);
    cfg
}

fn names(out: &Outcome) -> Vec<&str> {
    out.buffers.iter().map(|b| &b.name[..]).collect()
}

#[test]
fn the_fullest_buffer_is_traced_and_never_exceeds_its_size() {
    let out = run(&incast(TracePorts::Hottest));
    assert_eq!(names(&out), ["leaf1"], "the switch of host 4");
    let buffer = &out.buffers[0];
    assert_eq!(buffer.capacity, POOL);
    let most = buffer.samples.iter().map(|s| s.bytes).max();
    assert!(
        most.is_some_and(|most| most > POOL * 9 / 10 && most <= POOL),
        "{most:?}"
    );
    assert!(out.totals.all_drops() > 0, "the buffer overflowed");
}

/// Every byte in the buffer waits in a queue of the switch.
#[test]
fn a_buffer_holds_what_the_queues_of_its_ports_hold() {
    let ports = leaf_spine().fabric().matching("leaf1->*");
    let nics = leaf_spine().fabric().nics();
    let named: Vec<u32> = ports.iter().map(|l| l.0 - nics).collect();
    let mut cfg = incast(TracePorts::Ports(named));
    cfg.workloads.push(permutation());
    cfg.max_time = us(5_000);
    let out = run(&cfg);
    assert_eq!((out.traces.len(), names(&out)), (5, vec!["leaf1"]));
    let samples = &out.buffers[0].samples;
    assert!(samples.len() > 500 && samples.iter().any(|s| s.bytes > POOL / 2));
    for (i, sample) in samples.iter().enumerate() {
        let queued: u32 = out.traces.iter().map(|t| t.samples[i].bytes).sum();
        assert_eq!(
            (sample.at, sample.bytes),
            (out.traces[0].samples[i].at, queued)
        );
    }
}

#[test]
fn buffers_are_traced_only_where_they_are_shared_and_asked_for() {
    assert_eq!(names(&run(&incast(TracePorts::None))).len(), 0);
    // The port of host 0 is at leaf 0, where nothing waits.
    let idle = run(&incast(TracePorts::ToHosts(vec![0, 4])));
    assert_eq!(names(&idle), ["leaf0", "leaf1"]);
    let mut own = incast(TracePorts::Hottest);
    own.switch.buffering.policy = Policy::Port;
    let out = run(&own);
    assert!(out.buffers.is_empty() && !out.traces.is_empty());
    // Traces change no result.
    assert_eq!(run(&incast(TracePorts::None)).digest, idle.digest);
}

proptest! {
    #![proptest_config(cases(12))]
    #[test]
    fn no_sample_exceeds_its_buffer(cfg in configs(), pause in 0usize..3, pairs in 0usize..3) {
        let mut cfg = lossless(cfg, pause, pairs);
        cfg.max_time = us(30_000);
        let out = run(&cfg);
        prop_assert!(!out.buffers.is_empty());
        for buffer in &out.buffers {
            prop_assert!(!buffer.samples.is_empty());
            prop_assert!(buffer.samples.iter().all(|s| s.bytes <= buffer.capacity));
        }
    }
}
