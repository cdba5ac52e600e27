// SPDX-License-Identifier: MIT OR Apache-2.0
//! A shard: one whole simulation, or the part of it that one thread simulates at a time. It owns
//! the parts, takes events in order, and passes each to the part that it is for.
//!
//! ```text
//! shard ──> middleboxes ──> endpoints ──> network        a part uses those to its right;
//!   │                                        │           what goes to the left is returned
//!   └── agenda: the time, what is pending <──┘
//! ```

use std::sync::Arc;

use crate::agenda::{Agenda, kind};
use crate::config::Config;
use crate::endpoints::Endpoints;
use crate::endpoints::offload::Hold;
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId, LinkId};
use crate::lookahead::Lookahead;
use crate::metrics::Metrics;
use crate::middleboxes::Middleboxes;
use crate::middleboxes::edges::Place;
use crate::network::{Network, Reached};
use crate::retune::Tuning;
use crate::shards::Part;
use crate::stepped::Watched;
use crate::workload::Traffic;
use cemark_wire::Packet;

/// What a long computation reports to its caller from time to time.
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
    pub agenda: Agenda<Q>,
    pub net: Network,
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
    /// What the caller sees of the run from time to time.
    pub watched: Option<Box<Watched>>,
    /// What it holds for the other shards, where it is one of several.
    pub part: Option<Box<Part>>,
}

impl<Q: EventQueue> Shard<Q> {
    /// Handles the event that has been taken from the list. Returns whether the run may have ended:
    /// not by a packet that went from one link to the next, which is by far the most frequent.
    #[inline(always)]
    pub fn handle(&mut self, now: u64, event: u32) -> bool {
        debug_assert!(now >= self.agenda.now, "an event before the present");
        self.agenda.now = now;
        if self.lookahead.is_due(now) {
            self.lookahead
                .step(now, &self.agenda.events, &self.net, &self.ends);
        }
        self.net.prefetch::<Q>(self.agenda.events.upcoming());
        if event >= kind::SERVE {
            self.others += 1;
            self.handle_other(event);
            return true;
        }
        match self.net.deliver(&mut self.agenda, LinkId(event)) {
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
        let (agenda, net, ends) = (&mut self.agenda, &mut self.net, &mut self.ends);
        match event & !kind::INDEX {
            kind::SERVE => net.serve(agenda, LinkId(i)),
            kind::PULL => ends.pull(agenda, net, HostId(i)),
            kind::TIMER => ends.sender_timer(agenda, net, ConnId(i)),
            kind::ACK_TIMER => ends.ack_timer(agenda, net, ConnId(i)),
            kind::DELAYED => {
                let reached = net.after_delay(agenda, ConnId(i));
                self.may_have_reached(reached);
            }
            kind::PAUSE => {
                let resumed = net.pause_frame(agenda, i);
                if let Some(link) = resumed.filter(|&link| ends.sends_on(link)) {
                    ends.resume(agenda, net, HostId(link.0));
                }
            }
            kind::WAKE => net.wake(agenda, LinkId(i)),
            kind::EDGE => self.boxes.wake(agenda, net, ends, i),
            kind::INTERRUPT => {
                ends.interrupted(HostId(i));
                self.handle_bunch(HostId(i));
            }
            kind::FLOW => self.next_flow(),
            kind::PROBE => self.send_probe(i),
            kind::CHECK => self.check_pauses(),
            _ => self.record(i),
        }
        if self.net.has_cleared() {
            self.ends.retire_cleared(&mut self.net);
        }
    }

    /// A packet has left the network. In place, for what is delivered.
    #[inline(always)]
    fn reached(&mut self, reached: Reached) {
        match reached {
            Reached::Host(host, packet) => self.at_host(host, &packet),
            Reached::Middlebox(place, packet) => self.at_middlebox(place, packet),
        }
    }

    /// The same elsewhere, if one has.
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
        let (agenda, net) = (&mut self.agenda, &mut self.net);
        let came = self.ends.receive(agenda, net, host, packet);
        self.came(packet, came);
    }

    /// The same where hosts handle packets in bunches.
    #[cold]
    fn at_slow_host(&mut self, host: HostId, packet: &Packet) {
        let (agenda, net) = (&mut self.agenda, &mut self.net);
        match self.ends.hold(agenda, host, *packet) {
            Hold::Waits => {}
            Hold::Full => self.handle_bunch(host),
            Hold::Alone => {
                let came = self.ends.receive(agenda, net, host, packet);
                self.came(packet, came);
            }
        }
    }

    /// A host handles the packets that wait in its NIC.
    #[cold]
    fn handle_bunch(&mut self, host: HostId) {
        let packets = self.ends.begin_bunch(host);
        for packet in &packets {
            let (agenda, net) = (&mut self.agenda, &mut self.net);
            let came = self.ends.receive(agenda, net, host, packet);
            self.came(packet, came);
        }
        let (agenda, net) = (&mut self.agenda, &mut self.net);
        self.ends.end_bunch(agenda, net, host, packets);
    }

    /// A packet is at a place of a middlebox.
    #[cold]
    fn at_middlebox(&mut self, place: u32, packet: Packet) {
        let place = self.boxes.place(place);
        if place != Place::Proxy {
            let (agenda, net, ends) = (&mut self.agenda, &mut self.net, &mut self.ends);
            return self.boxes.at_edge(agenda, net, ends, place, packet);
        }
        let Some((end, split)) = self.boxes.proxy_of(&self.net, &packet) else {
            return self.net.forward(&mut self.agenda, packet);
        };
        self.may_have_reached(Some(Reached::Host(end, packet)));
        if let Some(split) = split {
            let (agenda, net, ends) = (&mut self.agenda, &mut self.net, &mut self.ends);
            self.boxes.pump(agenda, net, ends, split);
        }
    }

    /// Detects ports that will never send again, and stops the run if there are any. The shards of
    /// a divided simulation are checked together.
    fn check_pauses(&mut self) {
        self.net.check_again(&mut self.agenda);
        if !Q::SHARDED && self.net.stalls() {
            self.stop |= self.net.is_deadlocked();
        }
    }

    /// Runs to the end. `report` is called every 2^17 events; if it returns false the run is
    /// abandoned.
    pub fn run(&mut self, report: &mut dyn FnMut(Progress) -> bool) -> bool {
        let end = self.agenda.clock.ticks(self.cfg.max_time);
        let all = self.starts_and_ends();
        self.agenda.events.insert(end, kind::WINDOW);
        while let Some((now, event)) = self.agenda.events.pop() {
            if event >= kind::WINDOW {
                // A run in which nothing was left ended before.
                if !self.agenda.events.is_empty() {
                    self.agenda.now = end;
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
                    hops: self.net.hops,
                }) {
                    return false;
                }
            }
        }
        true
    }

    /// Events so far.
    pub fn handled(&self) -> u64 {
        self.net.hops + self.others
    }

    /// What has to happen to the flows before the run ends, at least one. Starts count as well as
    /// ends, because no measured flow ends during a warm-up.
    fn starts_and_ends(&self) -> f64 {
        (self.traffic.ahead() as f64 + self.awaited as f64).max(1.0)
    }
}
