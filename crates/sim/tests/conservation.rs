// SPDX-License-Identifier: MIT OR Apache-2.0
//! Over random scenarios: every packet is delivered, dropped with a reason, or in flight; every
//! flow ends; forms of a port and event cores agree.

mod common;

use cemark_sim::config::{
    Buffering, MarkerChoice, Nic, NonEct, Offload, Pfc, Policy, QueueConfig, Xoff,
};
use cemark_sim::faults::{ALWAYS, LinkFault, Loss, Victims};
use cemark_sim::topology::{Dumbbell, Fabric, FatTree, Star, Topology, TwoSites};
use cemark_sim::workload::{Kind, RttModel};
use cemark_sim::{Config, Outcome, run, run_scrambled};
use cemark_transport::cc::dctcp::DctcpConfig;
use cemark_transport::rdma::{Rdma, Retransmit};
use cemark_transport::{Control, Stack};
use cemark_wire::{Nanos, Picos, Rate};
use common::{config, scheme, us, web_that_stops, workload};
use proptest::prelude::*;

fn markers() -> impl Strategy<Value = MarkerChoice> {
    prop_oneof![
        Just(MarkerChoice::None),
        (1u64..200).prop_map(|k| scheme("threshold", &[("k", k * 1500)])),
        Just(scheme("red", &[])),
        (5u64..300).prop_map(|t| scheme("tcn", &[("threshold", t * 1000)])),
        Just(scheme("codel", &[])),
        (5u64..100).prop_map(|t| scheme("ecn_sharp", &[("pst_target", t * 1000)])),
    ]
}

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
                "ecn_sharp",
                &[&by_length[..], &[("reset_on_empty", reset)]].concat(),
            )
        }),
    ]
}

fn topologies() -> impl Strategy<Value = Topology> {
    let (r, d) = (Rate::gbps(10), Picos(3_000_017));
    prop_oneof![
        (3u32..9).prop_map(move |hosts| Topology::Star(Star {
            hosts,
            rate: r,
            delay: d
        })),
        Just(Topology::Dumbbell(Dumbbell {
            left: 2,
            right: 3,
            host_rate: r,
            middle_rate: Rate::gbps(25),
            host_delay: d,
            middle_delay: d
        })),
        (1u32..4).prop_map(move |paths| Topology::TwoSites(TwoSites {
            left: 3,
            right: 2,
            paths,
            host_rate: r,
            edge_rate: Rate::gbps(40),
            wan_rate: r,
            host_delay: d,
            edge_delay: d,
            wan_delay: Picos(100_000_007)
        })),
        Just(common::leaf_spine()),
        Just(Topology::FatTree(FatTree {
            k: 4,
            hosts_per_edge: 2,
            host_rate: r,
            pod_rate: r,
            core_rate: Rate::gbps(40),
            host_delay: d,
            fabric_delay: d
        })),
    ]
}

fn configs() -> impl Strategy<Value = Config> {
    let knobs = (
        1u64..1000,
        20_000u32..600_000,
        0usize..6,
        any::<bool>(),
        1u32..4,
        any::<bool>(),
        any::<bool>(),
    );
    (topologies(), markers(), knobs, 0.1f64..0.95).prop_map(
        |(
            topology,
            marker,
            (seed, buffer, control, sack, ack_every, handshake, persistent),
            load,
        )| {
            let mut web = web_that_stops(load, 60);
            web.persistent = persistent;
            let incast = workload(Kind::Incast {
                senders: 12,
                receiver: 0,
                min_bytes: 1,
                max_bytes: 60_000,
                at: us(500),
                repeat: 2,
                every: us(2_000),
                jitter: us(3),
            });
            let mut c = config(vec![web, incast], marker);
            c.topology = topology;
            c.rtt = RttModel::Variation {
                lo: us(40),
                hi: us(200),
            };
            c.seed = seed;
            if seed % 3 == 1 {
                c.faults = faults(seed, &c.topology);
            }
            c.switch.buffer_bytes = buffer;
            c.transport.sack = sack;
            c.transport.ack_every = ack_every;
            c.transport.handshake = handshake;
            c.transport.control = [
                Control::RENO,
                Control::ECN_STAR,
                DctcpConfig {
                    g_shift: 4,
                    alpha_init: 0,
                }
                .control(),
                Control::DCTCP,
                match seed % 2 == 0 {
                    true => Control::CUBIC_ECN,
                    false => Control::CUBIC,
                },
                Control::BBR,
            ][control];
            c.nic = if seed % 3 == 0 {
                Nic::Fifo
            } else {
                Nic::BackPressure {
                    packets: 1 + (seed % 2) as u32,
                }
            };
            c.switch.non_ect = if seed % 2 == 0 {
                NonEct::Forward
            } else {
                NonEct::Drop
            };
            // One seed in four: hosts that process packets in bunches, paced or not.
            if seed % 4 == 1 {
                c.offload = Offload {
                    tso: 64_000,
                    coalesce: Nanos::from_micros(seed % 30),
                    coalesce_packets: 16,
                    gro: seed % 8 == 1,
                };
                c.transport.pacing = seed % 3 == 1;
                c.transport.pace_train = 64_000 * (seed % 2) as u32;
            }
            // One in five: the senders of an operating system.
            if seed % 5 == 2 {
                c.transport.stack = Stack::LINUX;
            }
            // An average that only arrivals move stays high on an idle queue: retries a minute
            // apart would find it there for hours.
            c.transport.rto_max = Nanos::from_millis(500);
            c.max_time = us(500_000_000);
            c
        },
    )
}

/// A twentieth of all packets of one link, and bursts on another.
fn faults(seed: u64, topology: &Topology) -> Vec<LinkFault> {
    // Ports of switches, as reports list those.
    let hosts = topology.hosts();
    let ports = Fabric::new(topology).links().len() as u32 - hosts;
    let link = (seed * 7) as u32 % ports;
    vec![
        LinkFault {
            link: hosts + link,
            loss: Loss::Uniform {
                chance: ALWAYS / 20,
            },
            victims: Victims::Any,
            bleach: seed.is_multiple_of(2),
        },
        LinkFault {
            link: hosts + (link + 1) % ports,
            loss: Loss::Bursty {
                enter: ALWAYS / 500,
                leave: ALWAYS / 4,
                good: 0,
                bad: ALWAYS / 2,
            },
            victims: Victims::NotEct,
            bleach: false,
        },
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
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn nothing_is_lost_and_every_flow_ends(cfg in configs()) {
        let o = run(&cfg);
        books_balance(&o);
        prop_assert_eq!(o.flows.len(), 60 + 24);
        for f in &o.flows {
            let fct = f.fct.expect("the flow has ended");
            prop_assert!(fct >= f.ideal, "{:?} faster than an empty network", f);
        }
        prop_assert_eq!(run(&cfg).digest, o.digest);
        prop_assert_eq!(run_scrambled(&cfg).digest, o.digest);
    }

    /// The same of the schemes whose ports may be fused although they read lengths, since they do
    /// so as packets join.
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
        let mut cfg = cfg;
        if pause == 0 {
            // Losses alone slow no queue pair down: without marks and pauses it would send at line
            // rate over a full buffer for a long time.
            cfg.switch.marker = scheme("threshold", &[("k", 30_000)]);
            cfg.switch.buffer_bytes = cfg.switch.buffer_bytes.max(100_000);
        }
        let retransmit = [None, Some(Retransmit::GoBackN), Some(Retransmit::Selective)][pairs];
        cfg.transport.rdma = retransmit.map(|retransmit| Rdma { retransmit, ..Rdma::default() });
        cfg.switch.non_ect = NonEct::Forward;
        cfg.switch.buffering = Buffering {
            policy: [Policy::Shared, Policy::Dynamic { alpha: 1 << 16 }][cfg.seed as usize % 2],
            pool_bytes: cfg.switch.buffer_bytes * 3,
            headroom: 0,
        };
        let xoff = [Xoff::Dynamic { alpha: 1 << 13 }, Xoff::Bytes(20_000)];
        cfg.switch.pfc = (pause > 0).then(|| Pfc { xoff: xoff[pause - 1], ..Pfc::default() });
        cfg.switch.queues = vec![QueueConfig { lossless: true, ..QueueConfig::PLAIN }];
        let o = run(&cfg);
        books_balance(&o);
        prop_assert_eq!(o.flows.len(), 60 + 24);
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
