// SPDX-License-Identifier: MIT OR Apache-2.0
//! The main loop: takes events in order and passes each to the part that handles it.

use cemark_switch::edge::{Actions, Step};
use cemark_switch::{Clock, Pool, Port};
use cemark_wire::Packet;

use crate::config::{Config, Nic};
use crate::endpoints::conn::Conns;
use crate::endpoints::offload::Held;
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId, LinkId};
use crate::metrics::Metrics;
use crate::middleboxes::dupacks::DupAcks;
use crate::middleboxes::edges::RouterPair;
use crate::middleboxes::pep::Pep;
use crate::network::pfc::Lossless;
use crate::network::pool::{Delayed, Sacks};
use crate::network::tap::Taps;
use crate::network::waypoint::Waypoint;
use crate::retune::Tuning;
use crate::shards::Part;
use crate::stepped::Watched;
use crate::topology::Fabric;
use crate::workload::Traffic;

/// An event is a kind in the high bits and an index in the low ones. Kind 0: the packet at the head
/// of a link arrives at its far end (`EventQueue::insert_delivery`).
///
/// Events of one tick are handled in the order of these numbers: what the network does, then what
/// hosts do, then flows that start, then what is recorded; within a kind by link, host or
/// connection. None depends on when an event was inserted.
pub(crate) mod kind {
    /// A link with explicit queues may have become free.
    pub const SERVE: u32 = 1 << SHIFT;
    /// A packet has waited for its flow's extra delay (index: its connection).
    pub const DELAYED: u32 = 2 << SHIFT;
    /// A pause frame arrives (index: see `network::pfc`).
    pub const PAUSE: u32 = 3 << SHIFT;
    /// A NIC is free for the next connection in its line.
    pub const PULL: u32 = 4 << SHIFT;
    /// A host takes what its NIC has received.
    pub const INTERRUPT: u32 = 5 << SHIFT;
    /// A sender's timer.
    pub const TIMER: u32 = 6 << SHIFT;
    /// A receiver's delayed ACK.
    pub const ACK_TIMER: u32 = 7 << SHIFT;
    /// The timer of a middlebox at an edge is due (index: twice the path, plus 1 for the far
    /// router).
    pub const EDGE: u32 = 8 << SHIFT;
    /// A marker's timer at a port is due.
    pub const WAKE: u32 = 9 << SHIFT;
    /// The next flow starts.
    pub const FLOW: u32 = 10 << SHIFT;
    /// A probe is due (index: workload).
    pub const PROBE: u32 = 11 << SHIFT;
    /// Stalled ports are checked for deadlock.
    pub const CHECK: u32 = 12 << SHIFT;
    /// Something is to be recorded.
    pub const RECORD: u32 = 13 << SHIFT;
    /// The last tick of a shard's window ends.
    pub const WINDOW: u32 = 14 << SHIFT;
    /// Where the kind starts.
    pub const SHIFT: u32 = 28;
    /// The index.
    pub const INDEX: u32 = (1 << SHIFT) - 1;
}

/// What a long computation reports to its caller from time to time.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Share of the work done, 0 to 1, as far as it can be estimated.
    pub done: f64,
    /// Packet-hops so far.
    pub hops: u64,
}

/// A host, with the queue of connections that have something to send through its NIC.
#[derive(Default)]
pub(crate) struct Host {
    pub line: std::collections::VecDeque<ConnId>,
    /// Connections that wait for the end of a pause.
    pub held: Vec<ConnId>,
    pub pull_armed: bool,
    /// Received packets that wait for the interrupt.
    pub received: Vec<Packet>,
    pub interrupt_armed: bool,
}

/// One simulation point while it runs.
pub(crate) struct Sim<Q> {
    pub cfg: Config,
    pub clock: Clock,
    pub fabric: Fabric,
    pub events: Q,
    pub now: u64,
    /// Packets that wait for their flow's extra delay.
    pub delayed: Delayed,
    pub sacks: Sacks,
    /// One for each link: NICs first.
    pub ports: Vec<Port>,
    /// Buffers, which ports of a switch may share.
    pub pools: Vec<Pool>,
    pub hosts: Vec<Host>,
    /// Far ends of links that are more than a host or a plain switch.
    pub waypoints: Vec<Waypoint>,
    /// What records the packets of chosen links.
    pub taps: Taps,
    /// The DCIB routers, a pair for each path between two sites.
    pub edges: Vec<RouterPair>,
    /// What they request, their headers and their counters.
    pub actions: Actions,
    pub steps: Vec<Step>,
    pub filter: Option<DupAcks>,
    /// The proxies at the edges.
    pub pep: Option<Box<Pep>>,
    pub conns: Conns,
    pub traffic: Traffic,
    pub metrics: Metrics,
    /// Some flow may have an extra delay behind its sender's NIC,
    pub extras: bool,
    /// or before its receiver, where switches pause their senders: the last link is never paused.
    pub late_extras: bool,
    /// Packets with one of these flags wait for no extra delay.
    pub prompt: cemark_wire::Flags,
    /// The sender says when a flow is complete, not the receiver.
    pub sender_ends: bool,
    /// Hosts have queue pairs.
    pub rdma: bool,
    /// Switches pause their senders.
    pub pfc: Option<Box<Lossless>>,
    /// Packets that a connection may put into the NIC before the next connection is served; 0:
    /// everything that the window allows.
    pub turn: u32,
    /// Largest train of a connection in bytes; 0: segment by segment.
    pub tso: u32,
    /// Hosts handle what they receive in bunches.
    pub bunches: bool,
    /// A bunch is being handled whose answers are gathered (GRO).
    pub gathers: bool,
    /// Answers that wait for the end of the bunch.
    pub answers: Vec<Held>,
    pub sent: u64,
    pub delivered: u64,
    pub hops: u64,
    pub handled: u64,
    pub next_report: u64,
    /// Measured flows that have not ended.
    pub awaited: u64,
    pub gone: Vec<Packet>,
    pub stop: bool,
    /// The ports whose markers may change in mid-run.
    pub tuning: Option<Box<Tuning>>,
    /// What the caller sees of the run from time to time.
    pub watched: Option<Box<Watched>>,
    /// What this shard holds of a divided simulation.
    pub part: Option<Box<Part>>,
}

impl<Q: EventQueue> Sim<Q> {
    /// Runs to the end. `report` is called every 2^17 events; if it returns false the run is
    /// abandoned.
    pub fn run(&mut self, report: &mut dyn FnMut(Progress) -> bool) -> bool {
        let end = self.clock.ticks(self.cfg.max_time);
        let all = self.starts_and_ends();
        while let Some((now, event)) = self.events.pop() {
            if now > end {
                self.now = end;
                return true;
            }
            debug_assert!(now >= self.now);
            self.now = now;
            self.handled += 1;
            self.prefetch();
            if event < kind::SERVE {
                // By far the most frequent.
                self.deliver(LinkId(event));
                if self.stop {
                    return true;
                }
                continue;
            }
            self.handle_event(event);
            if self.stop {
                return true;
            }
            // Deliveries alone never run for long without timers and samples, so it is enough to
            // report progress here.
            if self.handled >= self.next_report {
                self.next_report = self.handled + (1 << 17);
                let time = now as f64 / end.max(1) as f64;
                let flows = 1.0 - self.starts_and_ends() / all;
                if !report(Progress {
                    done: time.max(flows).min(1.0),
                    hops: self.hops,
                }) {
                    return false;
                }
            }
        }
        true
    }

    /// Handles any event but a delivery.
    #[inline]
    pub fn handle_event(&mut self, event: u32) {
        let i = event & kind::INDEX;
        match event & !kind::INDEX {
            kind::SERVE => self.serve(LinkId(i)),
            kind::PULL => self.pull(HostId(i)),
            kind::TIMER => self.sender_timer(ConnId(i)),
            kind::ACK_TIMER => self.ack_timer(ConnId(i)),
            kind::DELAYED => {
                let packet = self.delayed.take(ConnId(i));
                if self.late_extras {
                    let host = self.conns.list[ConnId::of(&packet)].dst;
                    self.at_host(host, packet);
                } else if self.waypoints.is_empty() {
                    self.forward(packet);
                } else {
                    self.after_delay(packet);
                }
            }
            kind::FLOW => self.next_flow(),
            kind::PROBE => self.send_probe(i),
            kind::WAKE => self.wake(LinkId(i)),
            kind::INTERRUPT => self.interrupt(HostId(i)),
            kind::EDGE => self.wake_edge(i),
            kind::PAUSE => self.pause_frame(i),
            // The shards of a divided simulation are checked together.
            kind::CHECK if Q::SHARDED => self.check_again(),
            kind::CHECK => self.check_pauses(),
            _ => self.record(i),
        }
    }

    /// What has to happen to the flows before the run ends, at least one. Starts count as well as
    /// ends, because no measured flow ends during a warm-up.
    fn starts_and_ends(&self) -> f64 {
        (self.traffic.ahead() as f64 + self.awaited as f64).max(1.0)
    }

    /// Prefetches the packet of the next delivery, which is usually not in the first-level cache.
    #[inline(always)]
    pub fn prefetch(&self) {
        let upcoming = self.events.upcoming();
        if let Some(port) = upcoming.and_then(|link| self.ports.get(link as usize)) {
            port.prefetch_head();
        }
    }
}

/// Packets that a connection may send before the NIC serves the next one, for trains of `tso`
/// bytes.
pub(crate) fn turn_of(nic: Nic, tso: u32, mss: u16) -> u32 {
    match nic {
        Nic::BackPressure { packets } => packets.max(tso / u32::from(mss)).max(1),
        Nic::Fifo | Nic::SwitchPort => 0,
    }
}
