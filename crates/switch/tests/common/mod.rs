// SPDX-License-Identifier: MIT OR Apache-2.0
//! A port with its events, driven by hand.
#![allow(dead_code, missing_docs, unreachable_pub)] // each test binary uses its part

use std::collections::BTreeMap;

use cemark_marking::QueueSpec;
use cemark_switch::admit::RoomPolicy;
use cemark_switch::ce::NonEct;
use cemark_switch::sched::{SchedulerKind, build};
use cemark_switch::{
    AnyMarker, Clock, DeviceQueue, ExplicitPort, NEVER, Offer, Pool, PoolId, Port, PortSpec,
    QueueSetup, RoundSpec,
};
use cemark_wire::{Ecn, Fields, NONE, Nanos, Packet, Rate};

/// Ticks of a nanosecond: a byte takes 4 ticks of 200 ps at 10 Gb/s.
pub const NS: u64 = 5;

pub fn queue(quantum: u32, weight: u32, strict: bool) -> QueueSpec {
    QueueSpec {
        quantum,
        weight,
        strict,
        ..QueueSpec::fifo(Rate::gbps(10))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Deliver,
    Serve,
    Wake,
}

pub struct Rig {
    pub port: Port,
    pub pools: Vec<Pool>,
    pub now: u64,
    /// Bytes delivered by class, and classes in order.
    pub delivered: Vec<u64>,
    pub order: Vec<u8>,
    pub refused: u64,
    pub gone: Vec<Packet>,
    events: BTreeMap<(u64, u64), Event>,
    made: u64,
}

impl Rig {
    pub fn new(kind: SchedulerKind, queues: &[QueueSpec]) -> Rig {
        Rig::with(kind, queues, |_| AnyMarker::None)
    }

    pub fn with(
        kind: SchedulerKind,
        queues: &[QueueSpec],
        marker: impl Fn(usize) -> AnyMarker,
    ) -> Rig {
        Rig::on(
            kind,
            queues,
            marker,
            Pool::of_port(100_000_000),
            RoomPolicy::Whole,
        )
    }

    pub fn on(
        kind: SchedulerKind,
        queues: &[QueueSpec],
        marker: impl Fn(usize) -> AnyMarker,
        pool: Pool,
        buffering: RoomPolicy,
    ) -> Rig {
        let port = Port::new(PortSpec {
            clock: Clock::new(200),
            byte_ticks: 4,
            tag: 0,
            delay: 1000 * NS,
            buffer_bytes: pool.room(),
            buffering,
            pool: PoolId(0),
            own_pool: !pool.is_shared(),
            scheduler: build(kind, queues),
            round: RoundSpec::default(),
            queues: queues
                .iter()
                .enumerate()
                .map(|(i, &spec)| QueueSetup {
                    spec,
                    marker: marker(i),
                    non_ect: NonEct::Forward,
                    lossless: false,
                })
                .collect(),
            device: DeviceQueue::NONE,
            most_packets: 0,
            never_fuse: true,
            may_lag: false,
        });
        let mut rig = Rig {
            port,
            pools: vec![pool],
            now: 0,
            delivered: vec![0; queues.len()],
            order: Vec::new(),
            refused: 0,
            gone: Vec::new(),
            events: BTreeMap::new(),
            made: 0,
        };
        let first = rig.port.first_wake();
        rig.arm(first, Event::Wake);
        rig
    }

    fn arm(&mut self, at: u64, event: Event) {
        if at != NEVER {
            assert!(at >= self.now);
            self.made += 1;
            self.events.insert((at, self.made), event);
        }
    }

    fn follow(&mut self, o: Offer) {
        self.arm(o.deliver_at, Event::Deliver);
        self.arm(o.serve_at, Event::Serve);
        self.arm(o.wake_at, Event::Wake);
    }

    /// A packet arrives now.
    pub fn offer(&mut self, class: u8, bytes: u16) {
        let fields = Fields {
            wire_bytes: bytes,
            len: bytes - 40,
            ecn: Ecn::Ect0,
            class,
            ..Fields::default()
        };
        let packet = Packet::new(0, 0, 0, NONE, fields);
        let o = self
            .port
            .offer(self.now, &packet, 0, &mut self.pools, &mut self.gone);
        self.refused += u64::from(o.refused);
        self.follow(o);
    }

    /// Runs to `end` (ticks) and reports every delivery.
    pub fn run(&mut self, end: u64, mut report: impl FnMut(&mut Rig, Packet)) {
        while let Some((&(at, _), _)) = self.events.first_key_value() {
            if at > end {
                break;
            }
            let (_, event) = self.events.pop_first().expect("it was there");
            self.now = at;
            match event {
                Event::Deliver => {
                    let (packet, next) = self.port.deliver(at, &mut self.pools, &mut self.gone);
                    self.arm(next, Event::Deliver);
                    let class = packet.class();
                    self.delivered[usize::from(class)] += u64::from(packet.wire_bytes());
                    self.order.push(class);
                    report(self, packet);
                }
                Event::Serve => {
                    let o = self.port.serve(at, &mut self.pools, &mut self.gone);
                    self.follow(o);
                }
                Event::Wake => {
                    let next = self.port.wake(at, &self.pools);
                    self.arm(next, Event::Wake);
                }
            }
        }
        self.now = end;
    }

    /// Keeps these queues backlogged with packets of these bytes until `end`.
    pub fn saturate(&mut self, queues: &[(u8, u16)], end: u64) {
        for _ in 0..20 {
            for &(class, bytes) in queues {
                self.offer(class, bytes);
            }
        }
        let sizes = queues.to_vec();
        self.run(end, |rig, p| {
            if let Some(&(class, bytes)) = sizes.iter().find(|s| s.0 == p.class()) {
                rig.offer(class, bytes);
            }
        });
    }

    pub fn explicit(&mut self) -> &mut ExplicitPort {
        match &mut self.port {
            Port::Explicit(p) => p,
            Port::Fused(_) => panic!("built explicit"),
        }
    }

    pub fn round(&mut self) -> Nanos {
        self.explicit().round().get()
    }
}

/// Within a share of the ideal.
pub fn near(measured: f64, ideal: f64, share: f64) -> bool {
    (measured - ideal).abs() <= ideal * share
}
