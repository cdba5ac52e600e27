// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random scenarios of every kind, small enough for many of them.
#![allow(dead_code, missing_docs, unreachable_pub)] // each test binary uses its part

use cemark_sim::Config;
use cemark_sim::config::{
    Buffering, MarkerChoice, Nic, NonEct, Offload, Pfc, Policy, Profile, QueueConfig,
    SchedulerKind, Xoff,
};
use cemark_sim::faults::{ALWAYS, LinkFault, Loss, Victims};
use cemark_sim::topology::{Cord, Dumbbell, FatTree, Graph, Node, Star, Topology, TwoSites};
use cemark_sim::workload::{ClassMap, Incast, Kind, RttModel};
use cemark_transport::cc::dctcp::DctcpConfig;
use cemark_transport::rdma::{Rdma, Retransmit};
use cemark_transport::{Control, Stack};
use cemark_wire::{Nanos, Picos, Rate};
use proptest::prelude::*;

use super::{config, leaf_spine, scheme, times, us, web_that_stops, workload};

pub fn markers() -> impl Strategy<Value = MarkerChoice> {
    prop_oneof![
        Just(MarkerChoice::None),
        (1u64..200).prop_map(|k| scheme("threshold", &[("k", k * 1500)])),
        Just(scheme("red", &[])),
        (5u64..300).prop_map(|t| scheme("tcn", &[("threshold", t * 1000)])),
        Just(scheme("codel", &[])),
        (5u64..100).prop_map(|t| scheme("ecn_sharp", &[("pst_target", t * 1000)])),
    ]
}

fn topologies() -> impl Strategy<Value = Topology> {
    let (r, d) = (Rate::gbps(10), Picos(3_000_017));
    prop_oneof![
        (3u32..9).prop_map(move |hosts| Topology::from(Star {
            hosts,
            rate: r,
            delay: d
        })),
        Just(Topology::from(Dumbbell {
            left: 2,
            right: 3,
            host_rate: r,
            middle_rate: Rate::gbps(25),
            host_delay: d,
            middle_delay: d
        })),
        (1u32..4).prop_map(move |paths| Topology::from(TwoSites {
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
        Just(leaf_spine()),
        Just(Topology::from(FatTree {
            k: 4,
            hosts_per_edge: 2,
            host_rate: r,
            pod_rate: r,
            core_rate: Rate::gbps(40),
            host_delay: d,
            fabric_delay: d
        })),
        (1u64..50, 1u64..50).prop_map(|(gbps, us)| graph(gbps, us)),
    ]
}

/// Four racks of one to three hosts in a ring with parallel cables and short cuts over two switches
/// without hosts, of which the second is joined first. Hosts of a rack are not numbered together,
/// no two links need be alike, and two hosts have several: one at two switches, one at three.
fn graph(gbps: u64, us: u64) -> Topology {
    let host = |rack: u32| (format!("h{rack}"), true);
    let mut nodes: Vec<(String, bool)> = (0..6).map(|s| (format!("s{s}"), false)).collect();
    let homes = [0, 1, 2, 3, 0, 2, 2];
    nodes.extend(homes.map(host));
    let nodes = nodes.into_iter().enumerate().map(|(i, (name, host))| Node {
        name: format!("{name}.{i}"),
        host,
    });
    let inner = [
        [0, 1],
        [5, 1],
        [1, 2],
        [2, 3],
        [3, 0],
        [1, 0],
        [0, 4],
        [4, 2],
        [5, 3],
    ];
    let more = [[6, 1], [8, 2], [8, 3]];
    let ends = (6..)
        .zip(homes)
        .map(|(h, s)| [h, s])
        .chain(inner)
        .chain(more);
    let cords = ends.zip(0..).map(|(ends, i)| Cord {
        ends,
        rate: Rate::gbps(10 + i % 3 * gbps),
        delay: Picos(us * 1_000_017 * (1 + i % 4)),
    });
    let graph = Graph::new(nodes.collect(), cords.collect());
    Topology::from(graph.expect("a fabric"))
}

/// Measured flows of [`configs`] that arrive at a load. A web search moves 1.6 MB on average:
/// twenty of them, beside the incasts, fill every buffer that is drawn.
fn flows() -> u64 {
    if times().is_some() { 60 } else { 20 }
}
const SENDERS: u32 = 12;
const QUERIES: u32 = 2;
/// All measured flows of [`configs`].
pub fn measured() -> usize {
    flows() as usize + (SENDERS * QUERIES) as usize
}

/// TCP of every kind over ports with one queue.
pub fn configs() -> impl Strategy<Value = Config> {
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
            let mut web = web_that_stops(load, flows());
            web.persistent = persistent;
            let incast = workload(Kind::Incast(Incast {
                from: Vec::new(),
                senders: SENDERS,
                receiver: 0,
                min_bytes: 1,
                max_bytes: 60_000,
                at: us(500),
                repeat: QUERIES,
                every: us(2_000),
                jitter: us(3),
            }));
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
    let nics = topology.fabric().nics();
    let ports = topology.fabric().links().len() as u32 - nics;
    let link = (seed * 7) as u32 % ports;
    vec![
        LinkFault {
            link: nics + link,
            loss: Loss::Uniform {
                chance: ALWAYS / 20,
            },
            victims: Victims::Any,
            bleach: seed.is_multiple_of(2),
        },
        LinkFault {
            link: nics + (link + 1) % ports,
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

/// A configuration with queue pairs, pauses, or both: `pause` 0 to 2, `pairs` 0 to 2, where 0 is
/// none.
pub fn lossless(mut cfg: Config, pause: usize, pairs: usize) -> Config {
    if pause == 0 {
        // Losses alone slow no queue pair down: without marks and pauses, or behind a link that
        // bleaches marks, it would send at line rate over a full buffer for minutes.
        cfg.faults.iter_mut().for_each(|fault| fault.bleach = false);
        cfg.switch.marker = scheme("threshold", &[("k", 30_000)]);
        cfg.switch.buffer_bytes = cfg.switch.buffer_bytes.max(100_000);
    }
    let retransmit = [None, Some(Retransmit::GoBackN), Some(Retransmit::Selective)][pairs];
    cfg.transport.rdma = retransmit.map(|retransmit| Rdma {
        retransmit,
        ..Rdma::default()
    });
    cfg.switch.non_ect = NonEct::Forward;
    cfg.switch.buffering = Buffering {
        policy: [
            Policy::Shared,
            Policy::Dynamic { alpha: 1 << 16 },
            abm(1 << 16),
            reverie(1 << 16),
        ][cfg.seed as usize % 4],
        pool_bytes: cfg.switch.buffer_bytes * 3,
        headroom: 0,
    };
    let xoff = [Xoff::Dynamic { alpha: 1 << 13 }, Xoff::Bytes(20_000)];
    cfg.switch.pfc = (pause > 0).then(|| Pfc {
        xoff: xoff[pause - 1],
        reaction: Picos::from_nanos(cfg.seed / 2 % 3 * 650),
        ..Pfc::default()
    });
    cfg.switch.queues = vec![QueueConfig {
        lossless: true,
        ..QueueConfig::PLAIN
    }];
    cfg
}

/// ABM as its authors' simulator has it.
pub fn abm(alpha: u32) -> Policy {
    Policy::Abm {
        alpha,
        interval: Nanos::from_micros(30),
        congested: 20_480,
    }
}

/// Reverie as its authors' simulator has it.
pub fn reverie(alpha: u32) -> Policy {
    Policy::Reverie {
        alpha,
        gamma: 64_881,
        congested: 20_480,
    }
}

/// Traffic classes: three queues with marking profiles of their own, and a transport of its own for
/// the incast: queue pairs, beside TCP or in its queue, or TCP with other segments. `pause`: flow
/// control for the queue of the pairs.
pub fn classed(mut cfg: Config, seed: u64, markers: [MarkerChoice; 2], pause: bool) -> Config {
    cfg.switch.scheduler = [
        SchedulerKind::Dwrr,
        SchedulerKind::Wrr,
        SchedulerKind::Wfq,
        SchedulerKind::StrictPriority,
    ][seed as usize % 4];
    let queue = |lossless| QueueConfig {
        lossless,
        quantum: 9_000,
        ..QueueConfig::PLAIN
    };
    cfg.switch.queues = vec![queue(false), queue(pause), queue(false)];
    cfg.switch.queues[2].strict = true;
    let [first, second] = markers;
    // Losses alone slow no queue pair down.
    let of_pairs = Profile {
        marker: Some(scheme("threshold", &[("k", 30_000)])),
        non_ect: Some(NonEct::Forward),
    };
    let other = Profile {
        marker: Some(second),
        non_ect: seed.is_multiple_of(3).then_some(NonEct::Drop),
    };
    cfg.switch.marker = first;
    cfg.switch.profiles = vec![(!seed.is_multiple_of(5)).then_some(other), Some(of_pairs)];
    cfg.switch.buffering = Buffering {
        policy: [
            Policy::Dynamic { alpha: 1 << 16 },
            abm(1 << 16),
            reverie(1 << 16),
        ][seed as usize % 3],
        pool_bytes: cfg.switch.buffer_bytes.max(100_000) * 4,
        headroom: 0,
    };
    cfg.switch.pfc = pause.then(Pfc::default);
    cfg.faults.iter_mut().for_each(|fault| fault.bleach = false);
    let mut own = cfg.transport.clone();
    match seed % 3 {
        0 => own.mss = 8_940,
        same => {
            own.mss = 1_024;
            own.header_bytes = 62;
            own.ack_bytes = 64;
            own.rdma = Some(Rdma {
                retransmit: [Retransmit::GoBackN, Retransmit::Selective][seed as usize % 2],
                cnp_class: (same == 1).then_some(2),
                ..Rdma::default()
            });
        }
    }
    cfg.workloads[0].class = ClassMap::Weighted(vec![2, u32::from(seed.is_multiple_of(2)), 0]);
    cfg.workloads[1].class = ClassMap::Fixed(1);
    cfg.workloads[1].transport = Some(Box::new(own));
    if pause {
        // With drawn RTTs and pauses connections that persist cannot be divided.
        for w in &mut cfg.workloads {
            w.persistent = false;
        }
    }
    cfg
}
