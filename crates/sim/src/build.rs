// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a resolved configuration to a simulation ready to run.

use cemark_marking::QueueSpec;
use cemark_marking::catalogue;
use cemark_switch::sched::{Fifo, Scheduler};
use cemark_switch::{AnyMarker, Clock, Port, PortSpec, QueueSetup};
use cemark_wire::{Picos, Rate};

use crate::config::{Config, MarkerChoice, Nic, NonEct, SchedulerKind};
use crate::conn::Conns;
use crate::engine::{Host, Sim, kind, turn_of};
use crate::events::EventQueue;
use crate::metrics::{Metrics, ProbeState, Sampler};
use crate::pool::{Delayed, Sacks};
use crate::topology::{Fabric, Link};
use crate::workload::Traffic;
use crate::workload::{ClassMap, Flow, Kind};

/// Room in a NIC: far above what may wait there, so that it never drops. Under back-pressure that is a few packets and ACKs.
const NIC_TURNS: u32 = 1 << 20;
/// The same where everything that the windows allow goes into the NIC.
const NIC_WINDOWS: u32 = 1 << 27;

impl<Q: EventQueue> Sim<Q> {
    /// Lays everything out at tick zero.
    pub fn new(cfg: &Config) -> Self {
        let fabric = Fabric::new(&cfg.topology);
        let clock = Clock::new(tick_ps(&fabric));
        let hosts = cfg.topology.hosts();
        let ports: Vec<Port> = fabric
            .links()
            .iter()
            .enumerate()
            .map(|(i, link)| {
                let nic = (i as u32) < hosts;
                Port::new(port_spec(cfg, clock, link, nic))
            })
            .collect();
        let traffic = Traffic::new(cfg);
        let slowest = fabric
            .links()
            .iter()
            .map(|l| l.rate)
            .min()
            .unwrap_or(Rate::gbps(10));
        let sampler = Sampler::new(
            hosts,
            ports.len() - hosts as usize,
            clock.ticks(cfg.measure.queue_interval),
            cfg.switch.buffer_bytes,
            slowest.nanos_for(u64::from(cfg.switch.buffer_bytes)).0,
            cfg.measure.trace.clone(),
        );
        let awaited = traffic.measured_total();
        let mut sim = Sim {
            clock,
            events: Q::new(),
            now: 0,
            delayed: Delayed::default(),
            sacks: Sacks::default(),
            ports,
            hosts: (0..hosts).map(|_| Host::default()).collect(),
            conns: Conns::default(),
            traffic,
            metrics: Metrics {
                flows: Vec::with_capacity(awaited.min(1 << 24) as usize),
                probes: vec![ProbeState::default(); cfg.workloads.len()],
                probe_answers: Vec::new(),
                sampler,
                goodput: Vec::new(),
                all_goodput: Vec::new(),
                all_delivered: 0,
                busy_at_from: Vec::new(),
            },
            extras: !matches!(cfg.rtt, crate::workload::RttModel::Path),
            turn: turn_of(cfg.nic),
            sent: 0,
            delivered: 0,
            hops: 0,
            handled: 0,
            next_report: 1 << 17,
            awaited,
            gone: Vec::new(),
            stop: false,
            cfg: cfg.clone(),
            fabric,
        };
        sim.prime();
        sim
    }

    /// Opens the way of probe workload `w` and sets its first event.
    pub fn prime_probe(&mut self, w: usize) {
        let Kind::Probe {
            src,
            dst,
            at,
            every,
            count,
        } = self.cfg.workloads[w].kind
        else {
            return;
        };
        let class = match self.cfg.workloads[w].class {
            ClassMap::Fixed(c) => c,
            _ => 0,
        };
        let flow = Flow {
            id: u64::MAX - w as u64,
            start: at,
            src,
            dst,
            bytes: 0,
            workload: w as u16,
            class,
            measured: false,
            extra: Picos::ZERO,
        };
        let conn = self.open(flow, flow.id);
        // Never idle: its slot is not reused.
        self.conns.list[conn as usize].idle = false;
        self.metrics.probes[w] = ProbeState {
            conn,
            src,
            class,
            every: self.clock.ticks(every).max(1),
            left: count,
        };
        if count > 0 {
            self.events
                .insert(self.clock.ticks(at), kind::PROBE | w as u32);
        }
    }
}

/// The longest tick that divides every byte time and every delay of the fabric, and a nanosecond.
fn tick_ps(fabric: &Fabric) -> u64 {
    fabric
        .links()
        .iter()
        .flat_map(|l| [l.rate.picos_per_byte().0, l.delay.0])
        .fold(1000, gcd)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn port_spec(cfg: &Config, clock: Clock, link: &Link, nic: bool) -> PortSpec {
    let rate = link.rate;
    let byte_ticks = rate.picos_per_byte().0 / clock.tick_ps();
    let nic_bytes = match cfg.nic {
        Nic::BackPressure { .. } => NIC_TURNS,
        Nic::Fifo => NIC_WINDOWS,
    };
    let s = &cfg.switch;
    let weight_sum = s.queues.iter().map(|q| q.weight).sum();
    let mtu = u32::from(cfg.transport.mss) + u32::from(cfg.transport.header_bytes);
    let queues = if nic {
        vec![QueueSetup {
            spec: QueueSpec::fifo(rate),
            marker: AnyMarker::None,
        }]
    } else {
        s.queues
            .iter()
            .map(|q| {
                let spec = QueueSpec {
                    rate,
                    quantum: q.quantum,
                    weight: q.weight,
                    weight_sum,
                    strict: q.strict,
                    mtu,
                    limit_bytes: s.buffer_bytes,
                };
                let marker = match &s.marker {
                    MarkerChoice::None => AnyMarker::None,
                    MarkerChoice::Builtin { scheme, values } => {
                        AnyMarker::Builtin(catalogue::build(scheme, values, &spec))
                    }
                    MarkerChoice::Custom(make) => AnyMarker::Custom(make(&spec)),
                };
                QueueSetup { spec, marker }
            })
            .collect()
    };
    PortSpec {
        clock,
        byte_ticks,
        tag: link.host.unwrap_or(u32::MAX),
        delay: clock.ticks(link.delay),
        buffer_bytes: if nic { nic_bytes } else { s.buffer_bytes },
        non_ect: if nic { NonEct::Forward } else { s.non_ect },
        queues,
        scheduler: scheduler(s.scheduler),
        never_fuse: s.never_fuse && !nic,
    }
}

fn scheduler(kind: SchedulerKind) -> Box<dyn Scheduler> {
    match kind {
        SchedulerKind::Fifo => Box::new(Fifo::new()),
    }
}
