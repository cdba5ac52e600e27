// SPDX-License-Identifier: MIT OR Apache-2.0
//! Workloads with different congestion controllers.

use crate::common::{scheme, us, workload};
use cemark_sim::config::{MarkerChoice, NonEct};
use cemark_sim::topology::Star;
use cemark_sim::workload::{FlowLine, Kind, List, Long, LongFlows, Workload};
use cemark_sim::{Config, Outcome};
use cemark_transport::Control;
use cemark_wire::{Picos, Rate};

/// Three hosts at 10 Gb/s.
fn star() -> Star {
    Star {
        hosts: 3,
        rate: Rate::gbps(10),
        delay: us(5),
    }
}

/// A wait of 30 KB.
fn tcn() -> MarkerChoice {
    scheme("tcn", &[("threshold", 24_000)])
}

/// TCP as all flows use it, under another controller.
fn of_tcp(control: Control) -> Box<cemark_transport::Config> {
    Box::new(cemark_transport::Config::default().under(&control))
}

/// Gives the own transports all of the common one but the controller.
fn inherit(config: &mut Config) {
    for own in config
        .workloads
        .iter_mut()
        .filter_map(|w| w.transport.as_mut())
    {
        **own = config.transport.under(&own.control);
    }
}

fn long(pairs: Vec<(u32, u32)>, control: Option<Control>) -> Workload {
    let kind = Kind::Long(Long {
        flows: LongFlows::Pairs(pairs),
        at: Picos::ZERO,
        stagger: Picos::ZERO,
        jitter: us(1),
    });
    Workload {
        transport: control.map(of_tcp),
        ..workload(kind)
    }
}

/// Payload that the flows of each workload got.
fn shares(outcome: &Outcome) -> [u64; 2] {
    let of = |w: u16| {
        let own = outcome.long_flows.iter().filter(|l| l.workload == w);
        own.map(|l| l.delivered).sum()
    };
    [of(0), of(1)]
}

fn two(non_ect: NonEct) -> Config {
    let workloads = vec![
        long(vec![(0, 2)], None),
        long(vec![(1, 2)], Some(Control::CUBIC)),
    ];
    let mut config = Config::new(star(), workloads, tcn(), us(50_000));
    config.switch.non_ect = non_ect;
    config
}

/// CUBIC without ECN fills the buffer, and DCTCP yields; where its packets are dropped instead of
/// marked, it is the other way round.
#[test]
fn the_policy_for_not_ect_decides_who_yields() {
    let passes = cemark_sim::run(&two(NonEct::Forward));
    let [dctcp, cubic] = shares(&passes);
    assert!(cubic > 3 * dctcp, "{dctcp} and {cubic} bytes");
    let dropped = cemark_sim::run(&two(NonEct::Drop));
    let [dctcp, cubic] = shares(&dropped);
    assert!(dctcp > 3 * cubic, "{dctcp} and {cubic} bytes");
    assert!(dropped.totals.drops["not_ect"] > 0);
}

/// With controllers that are the same in all but their place in the configuration nothing changes.
#[test]
fn an_own_controller_equals_the_same_one_for_all() {
    let both = |common: Control, own: Option<Control>| {
        let workloads = vec![long(vec![(0, 2), (1, 2)], own)];
        let mut config = Config::new(star(), workloads, tcn(), us(20_000));
        config.transport.control = common;
        config.transport.stack.ect_control = true;
        inherit(&mut config);
        cemark_sim::run(&config)
    };
    for control in [Control::DCTCP, Control::CUBIC, Control::ECN_STAR] {
        let common = both(control, None);
        assert_eq!(both(Control::RENO, Some(control)).digest, common.digest);
    }
}

/// A persistent connection keeps its controller, so only flows with the same one may reuse it.
#[test]
fn controllers_do_not_share_persistent_connections() {
    let list = |at: u64, control: Option<Control>| Workload {
        persistent: true,
        transport: control.map(of_tcp),
        ..workload(Kind::List(List::from(vec![FlowLine {
            start: us(at),
            src: 0,
            dst: 1,
            bytes: 1_000_000,
            class: None,
            rtt: None,
        }])))
    };
    let run = |last: Option<Control>| {
        // The first leaves a marked DCTCP connection behind; a fresh one starts at ten segments.
        let mut workloads = vec![list(0, None), list(5_000, last)];
        workloads.push(list(0, Some(Control::RENO)));
        workloads[2].kind = Kind::List(List::from(vec![FlowLine {
            start: Picos::ZERO,
            src: 2,
            dst: 1,
            bytes: 1_000_000,
            class: None,
            rtt: None,
        }]));
        let mut config = Config::new(star(), workloads, tcn(), us(50_000));
        config.transport.init_window = 2;
        inherit(&mut config);
        let out = cemark_sim::run(&config);
        let second = out.flows.iter().find(|f| f.workload == 1).expect("a flow");
        second.fct.expect("its end")
    };
    let (reused, own) = (run(None), run(Some(Control::ECN_STAR)));
    // The window of two segments has to grow first.
    assert!(own > reused + us(20), "{own:?} {reused:?}");
}
