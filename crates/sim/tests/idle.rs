// SPDX-License-Identifier: MIT OR Apache-2.0
//! A flow alone in its network, with an open window, takes exactly the time that slowdowns are
//! measured against.

use crate::common::{config, us, workload};
use cemark_sim::config::{MarkerChoice, Nic};
use cemark_sim::run;
use cemark_sim::topology::{LeafSpine, Topology};
use cemark_sim::workload::{FlowLine, Kind, List};
use cemark_wire::{Picos, Rate};

fn leaf_spine(host: u64, uplink: u64) -> Topology {
    Topology::from(LeafSpine {
        leaves: 2,
        spines: 1,
        hosts_per_leaf: 2,
        host_rate: Rate::gbps(host),
        uplink_rate: Rate::gbps(uplink),
        host_delay: Picos(9_999_991),
        uplink_delay: Picos(10_000_019),
    })
}

#[test]
fn a_lone_flow_takes_the_ideal_time() {
    for topology in [leaf_spine(10, 10), leaf_spine(10, 40), leaf_spine(40, 10)] {
        for bytes in [1, 1_460, 1_461, 2_920, 100_000, 1_234_567] {
            let line = FlowLine {
                start: us(3),
                src: 0,
                dst: 3,
                bytes,
                class: None,
                rtt: None,
            };
            let mut cfg = config(
                vec![workload(Kind::List(List::from(vec![line])))],
                MarkerChoice::None,
            );
            cfg.topology = topology.clone();
            cfg.transport.init_window = 10_000;
            cfg.switch.buffer_bytes = 10_000_000;
            let flow = &run(&cfg).flows[0];
            assert_eq!(flow.fct, Some(flow.ideal), "{bytes} bytes");
        }
    }
}

/// A lone flow finds no queue in the fabric, only in its own host: marks show whether that host has
/// a switch port.
#[test]
fn a_host_that_is_a_switch_port_marks_a_lone_flow() {
    let marks = |nic| {
        let line = FlowLine {
            start: us(3),
            src: 0,
            dst: 3,
            bytes: 5_000_000,
            class: None,
            rtt: None,
        };
        let mut cfg = config(
            vec![workload(Kind::List(List::from(vec![line])))],
            crate::common::scheme("threshold", &[("k", 30_000)]),
        );
        cfg.topology = leaf_spine(10, 10);
        cfg.nic = nic;
        let o = run(&cfg);
        assert!(o.flows[0].fct.is_some_and(|t| t >= o.flows[0].ideal));
        o.totals.all_marks()
    };
    assert_eq!(marks(Nic::Fifo), 0);
    assert!(marks(Nic::SwitchPort) > 10);
}

/// A drop-tail queue at the host: a flow that is alone overruns it in slow start, on links of one
/// rate, where no switch has a queue.
#[test]
fn a_limited_nic_loses_what_does_not_fit() {
    let lost = |packets| {
        let line = FlowLine {
            start: us(3),
            src: 0,
            dst: 3,
            bytes: 5_000_000,
            class: None,
            rtt: None,
        };
        let mut cfg = config(
            vec![workload(Kind::List(List::from(vec![line])))],
            MarkerChoice::None,
        );
        cfg.topology = leaf_spine(10, 10);
        cfg.nic = Nic::Limited { packets };
        let o = run(&cfg);
        assert!(o.flows[0].fct.is_some());
        o.totals.all_drops()
    };
    assert!(lost(20) > 0);
    assert_eq!(lost(1_000_000), 0);
}
