// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nothing is allocated per packet once a run is warm: a ten times longer run allocates (almost) nothing more.

mod common;

use std::alloc::System;

use common::{config, permutation, scheme, us};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn allocations(millis: u64, marker: &str, never_fuse: bool) -> (usize, u64) {
    let mut cfg = config(vec![permutation()], scheme(marker, &[]));
    cfg.max_time = us(millis * 1000);
    cfg.switch.never_fuse = never_fuse;
    let region = Region::new(ALLOCATOR);
    let out = cemark_sim::run(&cfg);
    let change = region.change();
    (change.allocations + change.reallocations, out.packet_hops)
}

#[test]
fn nothing_is_allocated_per_packet() {
    for (marker, never_fuse) in [
        ("threshold", false),
        ("threshold", true),
        ("ecn_sharp", false),
        ("codel", false),
    ] {
        let (short, hops) = allocations(10, marker, never_fuse);
        let (long, more_hops) = allocations(100, marker, never_fuse);
        assert!(more_hops > 8 * hops, "{more_hops} against {hops}");
        let per_million = (long.saturating_sub(short)) as f64 / ((more_hops - hops) as f64 / 1e6);
        println!(
            "{marker}, never_fuse {never_fuse}: {short} allocations in 10 ms, {long} in 100 ms, {per_million:.1} a million packet-hops more"
        );
        // Rings, histograms and the packet pool may still double once or twice.
        assert!(long <= short + 64, "{marker}: {short} -> {long}");
    }
}
