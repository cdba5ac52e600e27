// SPDX-License-Identifier: MIT OR Apache-2.0
//! Middleboxes at the edges of two sites: flows end and the counters balance under every form, and
//! each form does what it is for.

use crate::common::{cases, config, us, web_that_stops, workload};
use cemark_edge::{AckForm, CopyPolicy, Recovery};
use cemark_sim::config::{DcibConfig, Edge, MarkerChoice};
use cemark_sim::faults::{ALWAYS, LinkFault, Loss, Victims};
use cemark_sim::topology::{Topology, TwoSites};
use cemark_sim::workload::{Kind, Long, LongFlows, Pairs, Poisson, RttModel};
use cemark_sim::{Config, Outcome, run, run_scrambled};
use cemark_transport::Control;
use cemark_wire::{Nanos, Picos, Rate};
use proptest::prelude::*;

fn sites(paths: u32) -> Topology {
    Topology::from(TwoSites {
        left: 3,
        right: 3,
        paths,
        host_rate: Rate::gbps(10),
        edge_rate: Rate::gbps(40),
        wan_rate: Rate::gbps(10),
        host_delay: us(5),
        edge_delay: us(1),
        wan_delay: us(500),
    })
}

/// Loses this share of all packets on every long link, in both directions.
fn lossy(cfg: &mut Config, share: f64, victims: Victims) {
    let sites = cfg.topology.two_sites().expect("a test of two sites");
    let fabric = cfg.topology.fabric();
    let paths = sites.paths;
    cfg.faults = (0..2 * paths)
        .map(|i| LinkFault {
            link: fabric.inner(sites.between(i / paths, i % paths)[1]).0,
            loss: Loss::Uniform {
                chance: (share * ALWAYS as f64) as u64,
            },
            victims,
            bleach: false,
        })
        .collect();
}

fn books_balance(o: &Outcome) {
    let t = &o.totals;
    assert_eq!(
        t.sent + t.made,
        t.delivered + t.all_drops() + t.gone + t.in_flight,
        "{t:?}"
    );
}

fn edges() -> impl Strategy<Value = Edge> {
    let dcib = (
        0usize..3,
        0usize..2,
        0usize..3,
        any::<bool>(),
        any::<bool>(),
        0u32..2,
    );
    prop_oneof![
        Just(Edge::Plain),
        (20_000u64..5_000_000).prop_map(|buffer| Edge::Pep { buffer }),
        dcib.prop_map(
            |(copies, recovery, form, ordered, filtered, outside)| Edge::Dcib {
                config: DcibConfig {
                    copies: [CopyPolicy::Once, CopyPolicy::Restore, CopyPolicy::Protect][copies],
                    recovery: [Recovery::Evidence, Recovery::Idle][recovery],
                    ack_form: [AckForm::Named, AckForm::Cumulative, AckForm::Bitmap][form],
                    tau: Nanos::from_millis(1),
                    stalled_bytes: 200_000,
                    hold: ordered.then_some(Nanos::from_millis(4)),
                    header_bytes: 8,
                    ..DcibConfig::LITERAL
                },
                filter: filtered.then_some(us(4_000)),
                outside,
            }
        ),
    ]
}

proptest! {
    #![proptest_config(cases(16))]
    #[test]
    fn flows_end_and_books_balance(
        edge in edges(), paths in 1u32..4, seed in 1u64..1000, victims in 0usize..3,
        extra in any::<bool>(), fifo in any::<bool>(),
    ) {
        let mut cfg = config(vec![web_that_stops(0.3, 14)], MarkerChoice::None);
        cfg.topology = sites(paths);
        lossy(&mut cfg, 0.02, [Victims::Any, Victims::NotEct, Victims::PreferNotEct][victims]);
        cfg.edge = edge;
        cfg.seed = seed;
        cfg.transport.control = Control::RENO;
        if extra {
            cfg.rtt = RttModel::Variation { lo: us(1_100), hi: us(3_000) };
        }
        if fifo {
            cfg.nic = cemark_sim::config::Nic::Fifo;
        }
        // The host outside is the only one that may be hit where a router prefers its packets, up
        // to sixteen times in a row.
        cfg.transport.rto_max = Nanos::from_millis(500);
        cfg.max_time = us(500_000_000);
        let o = run(&cfg);
        books_balance(&o);
        prop_assert_eq!(o.flows.len(), 14);
        for f in &o.flows {
            let fct = f.fct.expect("the flow has ended");
            prop_assert!(fct >= f.ideal || matches!(edge, Edge::Pep { .. }), "{:?}", f);
        }
        prop_assert_eq!(run(&cfg).digest, o.digest);
        prop_assert_eq!(run_scrambled(&cfg).digest, o.digest);
    }
}

/// Long flows between these hosts.
fn endless(pairs: Vec<(u32, u32)>) -> Config {
    let long = workload(Kind::Long(Long {
        flows: LongFlows::Pairs(pairs),
        at: Picos::ZERO,
        stagger: Picos::ZERO,
        jitter: us(1_000),
    }));
    config(vec![long], MarkerChoice::None)
}

/// Three long flows across, 5 % lost, four seconds.
fn across(edge: Edge, victims: Victims, control: Control) -> Outcome {
    across_with(edge, 0.05, victims, control, 7)
}

fn across_with(edge: Edge, share: f64, victims: Victims, control: Control, seed: u64) -> Outcome {
    let pairs = (0..3).map(|i| (i, i + 3)).collect();
    let mut cfg = endless(pairs);
    cfg.topology = sites(1);
    lossy(&mut cfg, share, victims);
    // Data is lost, ACKs are not.
    cfg.faults.truncate(1);
    cfg.edge = edge;
    cfg.seed = seed;
    cfg.transport.control = control;
    cfg.transport.rto_min = Nanos::from_millis(200);
    cfg.transport.rto_init = Nanos::from_millis(200);
    cfg.max_time = us(4_000_000);
    let o = run(&cfg);
    books_balance(&o);
    o
}

fn dcib(copies: CopyPolicy, hold: Option<u64>, filter: Option<u64>) -> Edge {
    Edge::Dcib {
        config: DcibConfig {
            copies,
            tau: Nanos::from_millis(1),
            hold: hold.map(Nanos::from_millis),
            ..DcibConfig::LITERAL
        },
        filter: filter.map(|ms| us(ms * 1_000)),
        outside: 0,
    }
}

fn delivered(o: &Outcome) -> f64 {
    o.long_flows.iter().map(|f| f.delivered).sum::<u64>() as f64
}

/// Bytes that the literal form delivers, divided by those of plain Reno, ten seeds together: one
/// seed alone strays by a quarter where timeouts rule.
fn literal_over_plain(share: f64, victims: Victims) -> f64 {
    let of = |edge: Edge| -> f64 {
        let seeds = 1..=10;
        seeds
            .map(|seed| delivered(&across_with(edge, share, victims, Control::RENO, seed)))
            .sum()
    };
    of(dcib(CopyPolicy::Once, None, None)) / of(Edge::Plain)
}

/// The copy arrives a round trip after the hole, so literal DCIB hides few losses from a sender;
/// in-order release or a filter hide them.
#[test]
fn order_and_the_filter_hide_losses_and_the_literal_form_does_not() {
    let of = |edge| delivered(&across(edge, Victims::PreferNotEct, Control::RENO));
    let plain = of(Edge::Plain);
    let literal = literal_over_plain(0.05, Victims::PreferNotEct);
    let ordered = of(dcib(CopyPolicy::Protect, Some(4), None)) / plain;
    let filtered = of(dcib(CopyPolicy::Protect, None, Some(8))) / plain;
    println!("literal {literal:.2}, in order {ordered:.1}, filtered {filtered:.1}");
    // What it saves are timeouts, 200 round trips each: 2.46 with an error of 0.18 (seeds differ by
    // 0.58). Three errors either way.
    assert!((1.9..3.0).contains(&literal), "{literal}");
    assert!(ordered > 3.0 * literal, "{ordered} against {literal}");
    assert!(filtered > 3.0 * literal, "{filtered} against {literal}");
}

/// The square-root law: where nine losses in ten have no copy, DCIB can give a factor of sqrt(1 /
/// 0.9) = 1.054 at most.
#[test]
fn a_wan_that_does_not_cooperate_leaves_little_to_gain() {
    // Windows of 27 packets, so that hardly a timeout is among the losses and the law holds. The
    // copy comes too late to save a cut: 1 is the other end. Seeds differ by 0.037, so ten of them
    // have an error of 0.012: two of these beyond the law, three below one.
    let factor = literal_over_plain(0.002, Victims::Any);
    println!("{factor:.3}");
    assert!((0.965..1.078).contains(&factor), "{factor}");
    // Windows of five packets: every other loss is a timeout of 200 round trips, of which the law
    // knows nothing. Those that a copy saves count: 1.16 over twenty seeds, which differ by 0.23.
    // Two errors of ten seeds either way.
    let factor = literal_over_plain(0.05, Victims::Any);
    println!("{factor:.3}");
    assert!((1.01..1.31).contains(&factor), "{factor}");
}

/// A proxy's short loops recover where the long one does not have to; it stores what is in flight,
/// and no more than its buffers.
#[test]
fn a_proxy_keeps_its_bound() {
    let buffer = 300_000;
    let o = across(Edge::Pep { buffer }, Victims::Any, Control::RENO);
    let peak = o.edges["pep_stored_peak_bytes"];
    // Three flows, two proxies.
    assert!(peak > 0 && peak <= 6 * buffer, "{peak}");
    assert_eq!(o.edges["pep_peak_flows"], 3);
    assert!(delivered(&o) > 0.0);
    let f = &o.long_flows[0];
    assert_eq!((f.src, f.dst), (0, 3));
}

/// Where the path has no loss, DCIB is invisible: every flow gets what it gets without, but for
/// copies of nothing.
#[test]
fn without_loss_the_flows_are_the_same() {
    let of = |edge: Edge| {
        let mut web = web_that_stops(0.2, 60);
        if let Kind::Poisson(Poisson { pairs, .. }) = &mut web.kind {
            *pairs = Pairs::OtherRack;
        }
        let mut cfg = config(vec![web], MarkerChoice::None);
        cfg.topology = sites(1);
        cfg.switch.buffer_bytes = 50_000_000;
        cfg.edge = edge;
        cfg.transport.control = Control::RENO;
        cfg.max_time = us(100_000_000);
        run(&cfg)
    };
    // So patient that no queue looks like a loss.
    let patient = Edge::Dcib {
        config: DcibConfig {
            tau: Nanos::from_millis(500),
            stalled_bytes: 50_000_000,
            ..DcibConfig::LITERAL
        },
        filter: None,
        outside: 0,
    };
    let (plain, with) = (of(Edge::Plain), of(patient));
    assert_eq!(with.edges["resent"] + with.edges["flushed"], 0);
    assert!(with.edges["selected"] > 1_000);
    let sum = |o: &Outcome| {
        let all = o.flows.iter().filter_map(|f| f.fct);
        all.map(|t| t.as_secs_f64()).sum::<f64>()
    };
    // Router ACKs take a little of the way back.
    let ratio = sum(&with) / sum(&plain);
    assert!((0.99..1.01).contains(&ratio), "{ratio}");
}

/// The largest that the paper's section 3D asks for: a tenth of 100 Gb/s over a round trip of 60 ms
/// needs 75 MB of copies, and gets them.
#[test]
fn a_tenth_of_a_long_fast_path_is_held() {
    let pairs = (0..3).map(|i| (i, i + 3)).collect();
    let long = workload(Kind::Long(Long {
        flows: LongFlows::Pairs(pairs),
        at: Picos::ZERO,
        stagger: Picos::ZERO,
        jitter: Picos::ZERO,
    }));
    let mut cfg = config(vec![long], MarkerChoice::None);
    cfg.topology = Topology::from(TwoSites {
        left: 3,
        right: 3,
        paths: 1,
        // Together as fast as the link, so that no queue lengthens the round trip.
        host_rate: Rate::gbps(33),
        edge_rate: Rate::gbps(100),
        wan_rate: Rate::gbps(100),
        host_delay: us(1),
        edge_delay: us(1),
        wan_delay: us(30_000),
    });
    // Open windows: slow start would take sixteen round trips.
    cfg.transport.control = Control::RENO;
    cfg.transport.init_window = 200_000;
    cfg.transport.receive_window = 1 << 30;
    cfg.transport.rto_init = Nanos::from_millis(1_000);
    cfg.max_time = us(75_000);
    cfg.edge = Edge::Dcib {
        config: DcibConfig {
            tau: Nanos::from_millis(60),
            stalled_bytes: 100_000_000,
            ..DcibConfig::LITERAL
        },
        filter: None,
        outside: 0,
    };
    let o = run(&cfg);
    books_balance(&o);
    let law = 0.1 * 0.06 * 100e9 / 8.0;
    let peak = o.edges["stalled_peak_bytes"] as f64;
    assert!((peak / law - 1.0).abs() < 0.02, "{peak} against {law}");
    assert_eq!(o.edges["stalled_full"], 0);
}

/// Nine long flows over two paths, a second, and a fault of one path that is no random loss.
fn over_two_paths(fault: impl Fn(u32) -> LinkFault, dcib: DcibConfig) -> Outcome {
    let pairs = (0..9).map(|i| (i / 3, 3 + i % 3)).collect();
    let mut cfg = endless(pairs);
    cfg.topology = sites(2);
    let long = cfg.topology.two_sites().map(|sites| sites.between(0, 0)[1]);
    let fabric = cfg.topology.fabric();
    cfg.faults = vec![fault(fabric.inner(long.expect("two sites")).0)];
    cfg.edge = Edge::Dcib {
        config: dcib,
        filter: None,
        outside: 0,
    };
    cfg.transport.control = Control::RENO;
    let o = run(&cfg);
    books_balance(&o);
    o
}

/// Each path has a stalled queue of its own. One path loses every selected packet, so its copies
/// are never acknowledged and (the routers being patient) never sent: its queue is full after 166
/// packets. The other path keeps selecting.
#[test]
fn a_full_stalled_queue_stops_its_own_path_only() {
    let fault = |link| LinkFault {
        link,
        loss: Loss::Uniform { chance: ALWAYS },
        victims: Victims::NotEct,
        bleach: false,
    };
    let bound = 250_000;
    let patient = DcibConfig {
        tau: Nanos::from_millis(10_000),
        stalled_bytes: bound,
        ..DcibConfig::LITERAL
    };
    let o = over_two_paths(fault, patient);
    assert!(o.edges["stalled_full"] > 10_000, "{:?}", o.edges);
    assert!(o.edges["stalled_peak_bytes"] > bound - 1_500);
    assert!(o.edges["selected"] > 20 * bound / 1_500, "{:?}", o.edges);
}

/// A path that clears ECN makes its own pair of routers turn themselves off; those of the other
/// path keep working.
#[test]
fn a_bleached_path_shuts_off_its_own_pair_only() {
    let fault = |bleach| {
        move |link| LinkFault {
            link,
            loss: Loss::Uniform { chance: 0 },
            victims: Victims::Any,
            bleach,
        }
    };
    let usual = DcibConfig {
        tau: Nanos::from_millis(1),
        ..DcibConfig::LITERAL
    };
    let (sound, bleached) = (
        over_two_paths(fault(false), usual),
        over_two_paths(fault(true), usual),
    );
    assert_eq!((sound.edges["off"], bleached.edges["off"]), (0, 1));
    let selected = |o: &Outcome| o.edges["selected"] as f64;
    println!(
        "selected {} of {}, delivered {:.3}",
        selected(&bleached),
        selected(&sound),
        delivered(&bleached) / delivered(&sound)
    );
    let share = selected(&bleached) / selected(&sound);
    assert!((0.2..0.8).contains(&share), "{share}");
    let ratio = delivered(&bleached) / delivered(&sound);
    assert!((0.97..1.03).contains(&ratio), "{ratio}");
}
