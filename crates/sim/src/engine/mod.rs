// SPDX-License-Identifier: MIT OR Apache-2.0
//! A shard: one whole simulation, or the part of it that one thread simulates at a time. It owns
//! the parts, takes events in order, and passes each to the part that it is for. Only files of this
//! folder have methods of a shard.
//!
//! ```text
//! shard ──> middleboxes ──> endpoints ──> network        a part uses those to its right;
//!   │                                        │           what goes to the left is returned
//!   └── agenda: the time, what is pending <──┘
//! ```

pub(crate) mod build;
mod finish;
mod flows;
pub(crate) mod part;
mod retune;
pub(crate) mod watch;

use std::sync::Arc;

use cemark_wire::Packet;

use crate::agenda::kind;
use crate::config::Config;
use crate::endpoints::Endpoints;
use crate::endpoints::offload::Hold;
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId, LinkId};
use crate::lookahead::Lookahead;
use crate::metrics::Metrics;
use crate::middleboxes::Middleboxes;
use crate::middleboxes::edges::Place;
use crate::network::{Core, Reached};
use crate::workload::Traffic;
use part::Part;
use retune::Tuning;
use watch::Watched;

/// Progress of a long computation, reported to its caller from time to time.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Share of the work done, 0 to 1, as far as it can be estimated.
    pub done: f64,
    /// Packet-hops so far.
    pub hops: u64,
}

/// See the module's text.
pub(crate) struct Shard<Q> {
    pub cfg: Arc<Config>,
    pub core: Core<Q>,
    pub ends: Endpoints,
    pub boxes: Middleboxes,
    /// Prefetches for the deliveries of the next ticks, in a large fabric.
    pub lookahead: Lookahead,
    /// Flows that have not started.
    pub traffic: Traffic,
    pub metrics: Metrics,
    /// Events so far that were no deliveries, which the network counts.
    pub others: u64,
    pub next_report: u64,
    /// Measured flows that have not ended.
    pub awaited: u64,
    /// The run is over.
    pub stop: bool,
    /// The ports whose markers may change in mid-run.
    pub tuning: Option<Box<Tuning>>,
    /// State for a caller that looks at the run from time to time.
    pub watched: Option<Box<Watched>>,
    /// State for the other shards, where the simulation is divided.
    pub part: Option<Box<Part>>,
}

impl<Q: EventQueue> Shard<Q> {
    /// Handles the event that has been taken from the list. Returns whether the run may have ended:
    /// not by a packet that went from one link to the next, which is by far the most frequent.
    #[inline(always)]
    pub fn handle(&mut self, now: u64, event: u32) -> bool {
        let core = &mut self.core;
        debug_assert!(now >= core.agenda.now, "an event before the present");
        core.agenda.now = now;
        if self.lookahead.is_due(now) {
            self.lookahead.step(core, &self.ends);
        }
        core.net.prefetch::<Q>(core.agenda.events.upcoming());
        if event >= kind::SERVE {
            self.others += 1;
            self.handle_other(event);
            return true;
        }
        match core.deliver(LinkId(event)) {
            None => false,
            Some(reached) => {
                self.reached(reached);
                true
            }
        }
    }

    /// Handles any event but a delivery.
    #[inline]
    pub fn handle_other(&mut self, event: u32) {
        let i = event & kind::INDEX;
        let (core, ends) = (&mut self.core, &mut self.ends);
        match event & !kind::INDEX {
            kind::SERVE => core.serve(LinkId(i)),
            kind::PULL => ends.pull(core, HostId(i)),
            kind::TIMER => ends.sender_timer(core, ConnId(i)),
            kind::ACK_TIMER => ends.ack_timer(core, ConnId(i)),
            kind::DELAYED => {
                let reached = core.after_delay(ConnId(i));
                self.may_have_reached(reached);
            }
            kind::PAUSE => {
                let resumed = core.pause_frame(i);
                if let Some(link) = resumed.filter(|&link| ends.sends_on(link)) {
                    ends.resume(core, HostId(link.0));
                }
            }
            kind::WAKE => core.wake(LinkId(i)),
            kind::EDGE => self.boxes.wake(core, ends, i),
            kind::INTERRUPT => {
                ends.interrupted(HostId(i));
                self.handle_bunch(HostId(i));
            }
            kind::FLOW => self.next_flow(),
            kind::PROBE => self.send_probe(i),
            kind::CHECK => self.check_pauses(),
            _ => self.record(i),
        }
        if self.core.net.has_cleared() {
            self.ends.retire_cleared(&mut self.core.net);
        }
    }

    /// Handles a packet that left the network. Inlined for deliveries.
    #[inline(always)]
    fn reached(&mut self, reached: Reached) {
        match reached {
            Reached::Host(host, packet) => self.at_host(host, &packet),
            Reached::Middlebox(place, packet) => self.at_middlebox(place, packet),
        }
    }

    /// Handles a packet that left the network, if any. Out of line.
    #[inline(never)]
    pub fn may_have_reached(&mut self, reached: Option<Reached>) {
        if let Some(reached) = reached {
            self.reached(reached);
        }
    }

    #[inline(always)]
    fn at_host(&mut self, host: HostId, packet: &Packet) {
        if self.ends.bunches {
            return self.at_slow_host(host, packet);
        }
        let came = self.ends.receive(&mut self.core, host, packet);
        self.came(packet, came);
    }

    /// Handles a packet at a host that handles packets in bunches.
    #[cold]
    fn at_slow_host(&mut self, host: HostId, packet: &Packet) {
        match self.ends.hold(&mut self.core.agenda, host, *packet) {
            Hold::Waits => {}
            Hold::Full => self.handle_bunch(host),
            Hold::Alone => {
                let came = self.ends.receive(&mut self.core, host, packet);
                self.came(packet, came);
            }
        }
    }

    /// A host handles the packets that wait in its NIC.
    #[cold]
    fn handle_bunch(&mut self, host: HostId) {
        let packets = self.ends.begin_bunch(host);
        for packet in &packets {
            let came = self.ends.receive(&mut self.core, host, packet);
            self.came(packet, came);
        }
        self.ends.end_bunch(&mut self.core, host, packets);
    }

    /// A packet is at a place of a middlebox.
    #[cold]
    fn at_middlebox(&mut self, place: u32, packet: Packet) {
        let place = self.boxes.place(place);
        if place != Place::Proxy {
            let (core, ends) = (&mut self.core, &mut self.ends);
            return self.boxes.at_edge(core, ends, place, packet);
        }
        let Some((end, split)) = self.boxes.proxy_of(&self.core.net, &packet) else {
            return self.core.forward(packet);
        };
        self.may_have_reached(Some(Reached::Host(end, packet)));
        if let Some(split) = split {
            self.boxes.pump(&mut self.core, &mut self.ends, split);
        }
    }

    /// Detects ports that will never send again, and stops the run if there are any. The shards of
    /// a divided simulation are checked together.
    fn check_pauses(&mut self) {
        self.core.check_again();
        if !Q::SHARDED && self.core.net.stalls() {
            self.stop |= self.core.net.is_deadlocked();
        }
    }

    /// Runs to the end. `report` is called every 2^17 events; if it returns false the run is
    /// abandoned.
    pub fn run(&mut self, report: &mut dyn FnMut(Progress) -> bool) -> bool {
        let end = self.core.agenda.ticks(self.cfg.max_time);
        let all = self.starts_and_ends();
        self.core.agenda.insert(end, kind::WINDOW);
        while let Some((now, event)) = self.core.agenda.events.pop() {
            if event >= kind::WINDOW {
                // A run in which nothing was left ended before.
                if !self.core.agenda.events.is_empty() {
                    self.core.agenda.now = end;
                }
                return true;
            }
            if !self.handle(now, event) {
                continue;
            }
            if self.stop {
                return true;
            }
            if self.handled() >= self.next_report {
                self.next_report = self.handled() + (1 << 17);
                let time = now as f64 / end.max(1) as f64;
                let flows = 1.0 - self.starts_and_ends() / all;
                if !report(Progress {
                    done: time.max(flows).min(1.0),
                    hops: self.core.net.hops,
                }) {
                    return false;
                }
            }
        }
        true
    }

    /// Events so far.
    pub fn handled(&self) -> u64 {
        self.core.net.hops + self.others
    }

    /// Number of starts and ends of flows that have to happen before the run ends, at least one.
    /// Starts count as well as ends, because no measured flow ends during a warm-up.
    fn starts_and_ends(&self) -> f64 {
        (self.traffic.ahead() as f64 + self.awaited as f64).max(1.0)
    }
}
