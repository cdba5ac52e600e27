// SPDX-License-Identifier: MIT OR Apache-2.0
//! Goodput over time: every interval of every flow, and of all together, from the same clock.

use crate::common::{config, scheme, us, web, workload};
use cemark_sim::config::MarkerChoice;
use cemark_sim::run;
use cemark_sim::workload::{Kind, Long, LongFlows};
use cemark_wire::Picos;

/// Flows of hosts 0 to 2 to host 8, each 2 ms after the one before.
fn staggered() -> cemark_sim::workload::Workload {
    workload(Kind::Long(Long {
        flows: LongFlows::Pairs(vec![(0, 8), (1, 8), (2, 8)]),
        at: Picos::ZERO,
        stagger: us(2_000),
        jitter: Picos::ZERO,
    }))
}

#[test]
fn intervals_add_up_and_share_a_clock() {
    let mut cfg = config(vec![staggered()], scheme("threshold", &[("k", 97_500)]));
    cfg.measure.from = us(1_000);
    cfg.measure.until = us(8_000);
    cfg.measure.goodput_interval = us(500);
    cfg.max_time = us(10_000);
    let out = run(&cfg);
    assert_eq!(out.goodput.len(), 14, "seven milliseconds in halves");
    assert_eq!(out.long_flows.len(), 3);
    for (i, &all) in out.goodput.iter().enumerate() {
        let each: Vec<u64> = out.long_flows.iter().map(|l| l.intervals[i]).collect();
        assert_eq!(each.iter().sum::<u64>(), all, "interval {i}");
        // The first flow alone fills the link; flows start at 0, 2 and 4 ms, the measurement at 1
        // ms.
        let started = [true, i >= 2, i >= 6];
        for (flow, started) in started.into_iter().enumerate() {
            assert_eq!(each[flow] > 0, started, "flow {flow} in interval {i}");
        }
    }
    // In order: an interval in which a hole is filled may deliver more than the line does.
    let gbps = out.goodput.iter().sum::<u64>() as f64 * 8.0 / 7e6;
    assert!((8.5..=9.74).contains(&gbps), "{gbps} Gb/s");
    for l in &out.long_flows {
        assert_eq!(
            l.intervals.iter().sum::<u64>(),
            l.delivered,
            "flow {}",
            l.id
        );
    }
}

/// Flows that start as the measurement ends, and after it, have no part in it.
#[test]
fn flows_that_start_too_late_deliver_nothing() {
    for until in [us(4_000), us(3_000)] {
        let mut cfg = config(vec![staggered()], scheme("threshold", &[("k", 97_500)]));
        cfg.measure.from = us(1_000);
        cfg.measure.until = until;
        cfg.max_time = us(10_000);
        let out = run(&cfg);
        let got: Vec<bool> = out.long_flows.iter().map(|l| l.delivered > 0).collect();
        assert_eq!(got, [true, true, false], "until {until:?}");
    }
}

/// Flows that end leave their connections, and their bytes stay counted.
#[test]
fn flows_that_end_count_too() {
    let mut cfg = config(vec![web(0.5, 300)], MarkerChoice::None);
    cfg.measure.goodput_interval = us(1_000);
    let out = run(&cfg);
    let summed: u64 = out.goodput.iter().sum();
    let all = out.totals.goodput_bytes;
    assert!(summed <= all && summed > all * 9 / 10, "{summed} of {all}");
    cfg.measure.goodput_interval = Picos::ZERO;
    let without = run(&cfg);
    assert!(without.goodput.is_empty());
    assert_eq!(without.digest, out.digest, "to look changes nothing");
}
