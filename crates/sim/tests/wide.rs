// SPDX-License-Identifier: MIT OR Apache-2.0
//! The congestion controllers for wide areas on a shared link: they converge to fair shares and
//! fill it.
#![allow(missing_docs)]

use crate::common::{config, scheme, us, workload};
use cemark_sim::config::{Config, MarkerChoice, TracePorts};
use cemark_sim::outcome::Outcome;
use cemark_sim::run;
use cemark_sim::topology::{Dumbbell, Topology};
use cemark_sim::workload::{Kind, Long, LongFlows};
use cemark_transport::Control;
use cemark_wire::{Nanos, Picos, Rate};

/// Two flows over 100 Mb/s and 20 ms (166 packets) with a buffer of `packets` packets; the second
/// starts ten seconds later, and the last thirty of sixty count.
fn late_comer(control: Control, buffer: u32, marker: MarkerChoice) -> Config {
    let long = workload(Kind::Long(Long {
        flows: LongFlows::Pairs(vec![(0, 2), (1, 3)]),
        at: Picos::ZERO,
        stagger: us(10_000_000),
        jitter: Picos::ZERO,
    }));
    let mut c = config(vec![long], marker);
    c.topology = Topology::from(Dumbbell {
        left: 2,
        right: 2,
        host_rate: Rate::gbps(1),
        middle_rate: Rate::mbps(100),
        host_delay: us(10),
        middle_delay: us(9_980),
    });
    c.transport.control = control;
    c.transport.lost_retransmissions = control == Control::BBR;
    c.transport.rto_init = Nanos::from_millis(1_000);
    c.transport.rto_min = Nanos::from_millis(200);
    c.switch.buffer_bytes = buffer * 1500;
    c.measure.trace = TracePorts::None;
    c.measure.queue_interval = us(1_000);
    c.measure.from = us(30_000_000);
    c.measure.until = us(60_000_000);
    c.max_time = us(60_000_000);
    c
}

/// Share of the link used, and Jain's index of the two.
fn shares(o: &Outcome) -> (f64, f64) {
    let d: Vec<f64> = o.long_flows.iter().map(|l| l.delivered as f64).collect();
    let (sum, squares) = (d[0] + d[1], d[0] * d[0] + d[1] * d[1]);
    (
        sum * 8.0 / 30.0 / 1e8 * 1500.0 / 1460.0,
        sum * sum / (2.0 * squares),
    )
}

#[test]
fn a_late_cubic_flow_gets_its_share() {
    let step = scheme("threshold", &[("k", 100 * 1500)]);
    for (ecn, marker) in [(false, MarkerChoice::None), (true, step)] {
        let control = match ecn {
            true => Control::CUBIC_ECN,
            false => Control::CUBIC,
        };
        let o = run(&late_comer(control, 166, marker));
        let (used, fair) = shares(&o);
        assert!(used > 0.99 && fair > 0.98, "ECN {ecn}: {used}, {fair}");
        assert!(o.totals.timeouts <= 1, "{:?}", o.totals);
    }
}

#[test]
fn a_late_bbr_flow_gets_its_share_and_loses_nothing() {
    let o = run(&late_comer(Control::BBR, 500, MarkerChoice::None));
    let (used, fair) = shares(&o);
    // The probes of the round trip cost one part in fifty: 200 ms of ten seconds.
    assert!(used > 0.96 && fair > 0.95, "{used}, {fair}");
    assert_eq!(o.totals.all_drops(), 0);
    // Two windows of twice the share: a BDP (250 KB) of queue, and what one flow takes the other's
    // queue for path.
    let queue = o.ports.iter().map(|p| p.queue.p99).fold(0.0, f64::max);
    assert!(queue < 375_000.0, "{queue}");
}
