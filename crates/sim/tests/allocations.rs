// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nothing is allocated per packet once a run is warm: a ten times longer run allocates (almost)
//! nothing more.

mod common;

use std::alloc::System;

use cemark_sim::config::{QueueConfig, SchedulerKind};
use cemark_sim::workload::ClassMap;
use common::{config, permutation, scheme, us};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn allocations(millis: u64, marker: &str, never_fuse: bool, queues: usize) -> (usize, u64) {
    let mut flows = permutation();
    flows.class = ClassMap::BySender(queues as u8);
    let mut cfg = config(vec![flows], scheme(marker, &[]));
    if queues > 1 {
        cfg.switch.queues = vec![QueueConfig::PLAIN; queues];
        cfg.switch.scheduler = SchedulerKind::Dwrr;
    }
    cfg.max_time = us(millis * 1000);
    cfg.switch.never_fuse = never_fuse;
    let region = Region::new(ALLOCATOR);
    let out = cemark_sim::run(&cfg);
    let change = region.change();
    (change.allocations + change.reallocations, out.packet_hops)
}

#[test]
fn nothing_is_allocated_per_packet() {
    for (marker, never_fuse, queues) in [
        ("threshold", false, 1),
        ("threshold", true, 1),
        ("threshold", false, 4),
        ("ecn_sharp", false, 1),
        ("ecn_sharp", false, 4),
        ("codel", false, 1),
    ] {
        let (short, hops) = allocations(10, marker, never_fuse, queues);
        let (long, more_hops) = allocations(100, marker, never_fuse, queues);
        assert!(more_hops > 8 * hops, "{more_hops} against {hops}");
        let per_million = (long.saturating_sub(short)) as f64 / ((more_hops - hops) as f64 / 1e6);
        println!(
            "{marker}, never_fuse {never_fuse}, queues {queues}: {short} allocations in 10 ms, \
                {long} in 100 ms, {per_million:.1} a million packet-hops more"
        );
        // Rings, histograms and the packet pool may still double once or twice.
        assert!(long <= short + 64, "{marker}: {short} -> {long}");
    }
}
