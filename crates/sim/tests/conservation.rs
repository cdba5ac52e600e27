// SPDX-License-Identifier: MIT OR Apache-2.0
//! Over random scenarios: every packet is delivered, dropped with a reason, or in flight; every
//! flow ends; forms of a port and event cores agree.

use crate::common::random::{configs, lossless, measured};
use crate::common::{cases, config, scheme, web_that_stops};
use cemark_sim::config::MarkerChoice;
use cemark_sim::{Config, Outcome, run, run_scrambled};
use proptest::prelude::*;

/// Schemes that judge the queue length at arrival, smoothed or not.
fn arriving() -> impl Strategy<Value = MarkerChoice> {
    prop_oneof![
        (0u64..150, 0u64..10).prop_map(|(min, weight)| {
            let max = min * 1000 + 50_000;
            scheme(
                "wred",
                &[("min", min * 1000), ("max", max), ("weight", weight)],
            )
        }),
        (5u64..100, 0u64..2).prop_map(|(t, reset)| {
            let by_length = [("signal", 1), ("hook", 0), ("pst_target", t * 1000)];
            scheme(
                "ecn_sharp_lab",
                &[&by_length[..], &[("reset_on_empty", reset)]].concat(),
            )
        }),
    ]
}

fn books_balance(o: &Outcome) {
    let t = &o.totals;
    assert_eq!(t.sent, t.delivered + t.all_drops() + t.in_flight, "{t:?}");
    assert_eq!(t.all_marks(), o.ports.iter().map(|p| p.marks).sum::<u64>());
    assert_eq!(t.all_drops(), o.ports.iter().map(|p| p.drops).sum::<u64>());
}

/// A switch's WRED on the instantaneous length is RED of weight 1 with independent draws: to the
/// last digit, where no length is a tie and no queue runs empty from above `min` without an arrival
/// (RED's average stays for the time of a packet).
#[test]
fn wred_is_the_red_that_switches_were_given() {
    let with = |marker| run(&config(vec![web_that_stops(0.7, 300)], marker));
    for share in [65_536, 6_554] {
        let wred = [
            ("min", 30_000),
            ("max", 100_001),
            ("drop_probability", share),
        ];
        let floyd = [
            ("kmin", 30_000),
            ("kmax", 100_001),
            ("pmax", share),
            ("weight", 65_536),
            ("spacing", 1),
        ];
        let ours = with(scheme("wred", &wred));
        assert!(ours.totals.all_marks() > 1_000);
        assert_eq!(ours.digest, with(scheme("red", &floyd)).digest);
        let slow = [&wred[..], &[("weight", 9)]].concat();
        assert_ne!(ours.digest, with(scheme("wred", &slow)).digest);
    }
}

proptest! {
    #![proptest_config(cases(24))]
    #[test]
    fn nothing_is_lost_and_every_flow_ends(cfg in configs()) {
        let o = run(&cfg);
        books_balance(&o);
        prop_assert_eq!(o.flows.len(), measured());
        for f in &o.flows {
            let fct = f.fct.expect("the flow has ended");
            prop_assert!(fct >= f.ideal, "{:?} faster than an empty network", f);
        }
        prop_assert_eq!(run(&cfg).digest, o.digest);
        prop_assert_eq!(run_scrambled(&cfg).digest, o.digest);
    }

    /// Fused and unfused ports agree under schemes that read lengths, since these do so as packets
    /// join.
    #[test]
    fn fused_ports_show_arrivals_the_length(cfg in configs(), marker in arriving()) {
        let mut cfg = cfg;
        cfg.switch.marker = marker;
        let fused = run(&cfg);
        cfg.switch.never_fuse = true;
        let unfused = run(&cfg);
        prop_assert_eq!(fused.flows, unfused.flows);
        prop_assert_eq!(fused.totals.all_drops(), unfused.totals.all_drops());
        // A fused port counts a mark as the packet joins, another port as it leaves: what waits
        // when the run ends makes the difference.
        let early = fused.totals.all_marks().checked_sub(unfused.totals.all_marks());
        prop_assert!(
            early.is_some_and(|n| n <= unfused.totals.in_flight),
            "{:?} marks more, {} packets on their way",
            early,
            unfused.totals.in_flight
        );
    }

    #[test]
    fn fused_and_unfused_ports_agree(cfg in configs()) {
        let fused = run(&cfg);
        let switch = cemark_sim::config::SwitchConfig { never_fuse: true, ..cfg.switch.clone() };
        let unfused = run(&Config { switch, ..cfg });
        prop_assert_eq!(fused.flows, unfused.flows);
        prop_assert_eq!(fused.totals.all_drops(), unfused.totals.all_drops());
    }

    /// Queue pairs, and pauses under both transports: the same, and where everything is lossless
    /// nothing is lost.
    #[test]
    fn queue_pairs_and_pauses_balance_too(
        cfg in configs(),
        pause in 0usize..3,
        pairs in 0usize..3,
    ) {
        let cfg = lossless(cfg, pause, pairs);
        let o = run(&cfg);
        books_balance(&o);
        prop_assert_eq!(o.flows.len(), measured());
        for f in &o.flows {
            let fct = f.fct.expect("the flow has ended");
            prop_assert!(fct >= f.ideal, "{:?} faster than an empty network", f);
        }
        if pause > 0 {
            // Whatever a faulty link eats is not for want of room.
            let artificial = o.totals.drops.get("artificial").copied().unwrap_or(0);
            prop_assert_eq!(o.totals.all_drops(), artificial);
            prop_assert!(o.deadlock.is_empty());
        }
        prop_assert_eq!(run_scrambled(&cfg).digest, o.digest);
    }
}
