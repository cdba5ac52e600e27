// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small configurations on which the checks are based.

use cemark_marking::{Values, catalogue};
use cemark_sim::config::{
    Buffering, Config, DeviceQueue, Fct, MarkerChoice, Measure, Nic, NonEct, Offload, QueueConfig,
    RoundSpec, SchedulerKind, SwitchConfig, TracePorts,
};
use cemark_sim::topology::{Star, Topology};
use cemark_sim::workload::{ClassMap, Kind, LongFlows, RttModel, Workload};
use cemark_wire::{Picos, Rate};

/// A packet on the wire in every check.
pub(super) const PACKET: u64 = 1500;

/// A scheme of the catalogue with some parameters changed.
pub(super) fn scheme(name: &str, params: &[(&str, u64)]) -> MarkerChoice {
    let scheme = catalogue::find(name).expect("a scheme of the catalogue");
    let values = params.iter().fold(Values::defaults(scheme), |v, (n, x)| {
        v.with(scheme, n, *x).expect("a parameter")
    });
    MarkerChoice::Builtin { scheme, values }
}

/// DCTCP-RED at `packets`.
pub(super) fn step(packets: u64) -> MarkerChoice {
    scheme("threshold", &[("k", packets * PACKET)])
}

/// `flows` endless flows from as many hosts to one, 10 Gb/s, base RTT 100 us (83.3 packets), for
/// `millis`; the first fifth is warm-up.
pub(super) fn many_to_one(flows: u32, millis: u64, marker: MarkerChoice) -> Config {
    Config {
        topology: Topology::Star(Star {
            hosts: flows + 1,
            rate: Rate::gbps(10),
            delay: Picos::from_micros(25),
        }),
        rtt: RttModel::Path,
        delays_syn: true,
        workloads: vec![Workload {
            name: "long".into(),
            kind: Kind::Long {
                flows: LongFlows::ToOne {
                    count: flows,
                    receiver: 0,
                },
                at: Picos::ZERO,
                stagger: Picos::ZERO,
                jitter: Picos::from_micros(100),
            },
            class: ClassMap::Fixed(0),
            persistent: false,
            control: None,
        }],
        transport: cemark_transport::Config::default(),
        nic: Nic::BackPressure { packets: 2 },
        offload: Offload::NONE,
        switch: SwitchConfig {
            buffer_bytes: 4_000_000,
            queues: vec![QueueConfig::PLAIN],
            scheduler: SchedulerKind::Fifo,
            buffering: Buffering::PORT,
            round: RoundSpec::default(),
            marker,
            threshold_rate: None,
            non_ect: NonEct::Forward,
            device: DeviceQueue::NONE,
            most_packets: 0,
            plain_host_ports: false,
            never_fuse: false,
            pfc: None,
        },
        faults: Vec::new(),
        retunes: Vec::new(),
        edge: cemark_sim::config::Edge::Plain,
        measure: Measure {
            queue_interval: Picos::from_micros(5),
            trace: TracePorts::None,
            from: Picos::from_micros(millis * 200),
            until: Picos::from_micros(millis * 1000),
            fct: Fct::LastByte,
            goodput_interval: Picos::ZERO,
        },
        seed: 1,
        max_time: Picos::from_micros(millis * 1000),
    }
}
