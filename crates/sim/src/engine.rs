// SPDX-License-Identifier: MIT OR Apache-2.0
//! The main loop: takes events in order and passes each to the part that handles it.

use cemark_switch::edge::{Actions, Step};
use cemark_switch::{Clock, NEVER, Offer, Pool, Port, REFUSED};
use cemark_wire::{Flags, Packet};

use crate::config::{Config, Nic};
use crate::conn::Conns;
use crate::dupacks::DupAcks;
use crate::edges::RouterPair;
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId, LinkId};
use crate::metrics::Metrics;
use crate::offload::Held;
use crate::pep::Pep;
use crate::pfc::Lossless;
use crate::pool::{Delayed, Sacks};
use crate::topology::Fabric;
use crate::waypoint::{self, Waypoint};
use crate::workload::Traffic;

/// An event is a kind in the high bits and an index in the low ones.
pub(crate) mod kind {
    /// The packet at the head of a link arrives at its far end.
    pub const DELIVER: u32 = 0 << SHIFT;
    /// A link with explicit queues may have become free.
    pub const SERVE: u32 = 1 << SHIFT;
    /// A NIC is free for the next connection in its line.
    pub const PULL: u32 = 2 << SHIFT;
    /// A sender's timer.
    pub const TIMER: u32 = 3 << SHIFT;
    /// A receiver's delayed ACK.
    pub const ACK_TIMER: u32 = 4 << SHIFT;
    /// A packet has waited for its flow's extra delay.
    pub const DELAYED: u32 = 5 << SHIFT;
    /// The next flow starts.
    pub const FLOW: u32 = 6 << SHIFT;
    /// A probe is due (index: workload).
    pub const PROBE: u32 = 7 << SHIFT;
    /// Something is to be recorded.
    pub const RECORD: u32 = 8 << SHIFT;
    /// A marker's timer at a port is due.
    pub const WAKE: u32 = 9 << SHIFT;
    /// A host takes what its NIC has received.
    pub const INTERRUPT: u32 = 12 << SHIFT;
    /// The timer of a middlebox at an edge is due (index: twice the path, plus 1 for the far
    /// router).
    pub const EDGE: u32 = 13 << SHIFT;
    /// A pause frame arrives (index: its slot).
    pub const PAUSE: u32 = 14 << SHIFT;
    /// Stalled ports are checked for deadlock.
    pub const CHECK: u32 = 15 << SHIFT;
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
            let i = event & kind::INDEX;
            match event & !kind::INDEX {
                kind::SERVE => self.serve(LinkId(i)),
                kind::PULL => self.pull(HostId(i)),
                kind::TIMER => self.sender_timer(ConnId(i)),
                kind::ACK_TIMER => self.ack_timer(ConnId(i)),
                kind::DELAYED => {
                    let packet = self.delayed.take(i);
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
                kind::CHECK => self.check_pauses(),
                _ => self.record(i),
            }
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

    /// What has to happen to the flows before the run ends, at least one. Starts count as well as
    /// ends, because no measured flow ends during a warm-up.
    fn starts_and_ends(&self) -> f64 {
        (self.traffic.ahead() as f64 + self.awaited as f64).max(1.0)
    }

    /// Prefetches the packet of the next delivery, which is usually not in the first-level cache.
    #[inline(always)]
    fn prefetch(&self) {
        let upcoming = self.events.upcoming();
        if let Some(port) = upcoming.and_then(|event| self.ports.get(event as usize)) {
            port.prefetch_head();
        }
    }

    /// The oldest packet on link `l` reaches its far end.
    #[inline]
    fn deliver(&mut self, l: LinkId) {
        self.hops += 1;
        let port = match &mut self.ports[l] {
            Port::Fused(port) => port,
            Port::Explicit(port) => {
                let (tag, packet) = (port.tag, port.head());
                let plain = !self.extras && self.pfc.is_none();
                if tag != waypoint::SWITCH || !plain {
                    let packet = self.take(l);
                    self.arrive(tag, packet);
                    return;
                }
                let to = Self::next_link(&self.conns, packet);
                self.pass_on(l, to);
                return;
            }
        };
        let tag = port.tag;
        let packet = port.head();
        if tag != waypoint::SWITCH || (self.extras && packet.hop() == 1) {
            let packet = *packet;
            let next = port.deliver(self.now);
            self.arm_delivery(l, next);
            self.arrive(tag, packet);
            return;
        }
        // From switch to switch: the packet moves directly from one ring to the other.
        let to = Self::next_link(&self.conns, packet);
        if let Ok([Port::Fused(port), Port::Fused(next)]) =
            self.ports.get_disjoint_mut([l.place(), to.place()])
        {
            let packet = port.head();
            let packet_hash = if next.draws() {
                packet_hash(&self.conns, packet)
            } else {
                0
            };
            let at = next.offer(self.now, packet, packet_hash);
            if at == REFUSED {
                let packet = *packet;
                let following = port.deliver(self.now);
                self.arm_delivery(l, following);
                self.dropped(packet);
                return;
            }
            let following = port.deliver(self.now);
            self.arm_delivery(l, following);
            self.arm_delivery(to, at);
        } else {
            let packet = self.take(l);
            self.offer(to, &packet);
        }
    }

    /// The oldest packet on link `l` joins port `to` of a switch: directly from ring to queue,
    /// where both ports have queues.
    #[inline]
    fn pass_on(&mut self, l: LinkId, to: LinkId) {
        let Ok([Port::Explicit(port), Port::Explicit(next)]) =
            self.ports.get_disjoint_mut([l.place(), to.place()])
        else {
            let packet = self.take(l);
            return self.offer(to, &packet);
        };
        let packet = port.head();
        let packet_hash = if next.draws {
            packet_hash(&self.conns, packet)
        } else {
            0
        };
        let (pools, gone) = (&mut self.pools, &mut self.gone);
        let offer = next.offer(self.now, packet, packet_hash, pools, gone);
        let refused = offer.refused.then_some(*packet);
        let following = port.deliver(self.now, pools, gone);
        self.arm_delivery(l, following);
        self.apply_offer(to, &offer, refused);
    }

    /// Takes the oldest packet off link `l` and arms the next delivery.
    #[inline]
    fn take(&mut self, l: LinkId) -> Packet {
        let (packet, next) = self.ports[l].deliver(self.now, &mut self.pools, &mut self.gone);
        self.arm_delivery(l, next);
        if !self.gone.is_empty() {
            self.free_gone();
        }
        packet
    }

    /// Brings every port up to the current time, before its state is read.
    pub fn catch_up(&mut self) {
        for port in &mut self.ports {
            port.catch_up(self.now, &mut self.pools, &mut self.gone);
        }
        self.free_gone();
    }

    #[inline]
    fn arm_delivery(&mut self, l: LinkId, at: u64) {
        if at != NEVER {
            self.events.insert(at, kind::DELIVER | l.0);
        }
    }

    /// A packet is at the far end of a link with this tag: a host, a switch, or a waypoint.
    pub fn arrive(&mut self, tag: u32, packet: Packet) {
        if tag != waypoint::SWITCH {
            if tag < waypoint::FIRST {
                if self.late_extras && self.waits(&packet) {
                    return;
                }
                self.at_host(HostId(tag), packet);
            } else {
                self.at_waypoint(tag, packet);
            }
            return;
        }
        if self.serves_extra(&packet) {
            return;
        }
        self.forward(packet);
    }

    /// Whether a packet behind its sender's NIC has to wait for its flow's extra delay first.
    #[inline]
    pub fn serves_extra(&mut self, packet: &Packet) -> bool {
        self.extras && packet.hop() == 1 && self.waits(packet)
    }

    /// Whether a packet has to wait for its flow's extra delay: then it returns in a `DELAYED`
    /// event.
    fn waits(&mut self, packet: &Packet) -> bool {
        if packet.flags().has(Flags::ACK) {
            return false;
        }
        let extra = self.conns.list[ConnId::of(packet)].extra;
        if extra > 0 {
            let i = self.delayed.put(*packet);
            self.events.insert(self.now + extra, kind::DELAYED | i);
        }
        extra > 0
    }

    /// The link that a packet at a switch takes next.
    #[inline]
    pub fn next_link(conns: &Conns, packet: &Packet) -> LinkId {
        let direction = usize::from(packet.flags().has(Flags::ACK));
        conns.routes[ConnId::of(packet)][direction][usize::from(packet.hop())]
    }

    /// A packet at a switch joins the next port on its way.
    pub fn forward(&mut self, mut packet: Packet) {
        if self.pfc.is_some() {
            self.stamp(&mut packet);
        }
        self.offer(Self::next_link(&self.conns, &packet), &packet);
    }

    /// A packet joins port `l`, and the events that the port asks for are inserted.
    #[inline]
    pub fn offer(&mut self, l: LinkId, packet: &Packet) {
        match &mut self.ports[l] {
            Port::Fused(port) => {
                let packet_hash = if port.draws() {
                    packet_hash(&self.conns, packet)
                } else {
                    0
                };
                let at = port.offer(self.now, packet, packet_hash);
                if at < REFUSED {
                    self.events.insert(at, kind::DELIVER | l.0);
                } else if at == REFUSED {
                    self.dropped(*packet);
                }
            }
            Port::Explicit(_) => self.offer_explicit(l, packet),
        }
    }

    fn offer_explicit(&mut self, l: LinkId, packet: &Packet) {
        let port = &mut self.ports[l];
        let packet_hash = if port.draws() {
            packet_hash(&self.conns, packet)
        } else {
            0
        };
        let offer = port.offer(
            self.now,
            packet,
            packet_hash,
            &mut self.pools,
            &mut self.gone,
        );
        self.apply_offer(l, &offer, offer.refused.then_some(*packet));
    }

    /// Inserts the events that port `l`, which has explicit queues, asks for after an offer.
    #[inline]
    fn apply_offer(&mut self, l: LinkId, offer: &Offer, refused: Option<Packet>) {
        self.follow(l, offer.deliver_at, offer.serve_at);
        self.arm_wake(l, offer.wake_at);
        if let Some(packet) = refused {
            self.dropped(packet);
        }
        self.after_explicit(l);
    }

    /// A port with explicit queues may have discarded packets, and its switch may have to send
    /// pause frames.
    #[inline]
    pub fn after_explicit(&mut self, l: LinkId) {
        if !self.gone.is_empty() {
            self.free_gone();
        }
        if self.pfc.is_some() {
            self.send_signals(l);
        }
    }

    #[inline]
    pub fn follow(&mut self, l: LinkId, deliver_at: u64, serve_at: u64) {
        if deliver_at != NEVER {
            self.events.insert(deliver_at, kind::DELIVER | l.0);
        }
        if serve_at != NEVER {
            self.events.insert(serve_at, kind::SERVE | l.0);
        }
    }

    fn serve(&mut self, l: LinkId) {
        let offer = self.ports[l].serve(self.now, &mut self.pools, &mut self.gone);
        self.follow(l, offer.deliver_at, offer.serve_at);
        self.after_explicit(l);
    }

    /// A marker at link `l` has set its timer.
    #[inline]
    pub fn arm_wake(&mut self, l: LinkId, at: u64) {
        if at != NEVER {
            self.events.insert(at.max(self.now), kind::WAKE | l.0);
        }
    }

    fn wake(&mut self, l: LinkId) {
        let next = self.ports[l].wake(self.now, &self.pools);
        self.arm_wake(l, next);
    }

    #[cold]
    fn free_gone(&mut self) {
        while let Some(packet) = self.gone.pop() {
            self.dropped(packet);
        }
    }

    #[cold]
    pub fn dropped(&mut self, mut packet: Packet) {
        self.actions.headers.unwrap(&mut packet);
        if packet.aux != cemark_wire::NONE {
            self.sacks.take(packet.aux);
        }
        self.release(ConnId::of(&packet));
    }

    /// A packet has left the fabric.
    #[inline]
    pub fn release(&mut self, conn: ConnId) {
        self.conns.list[conn].in_fabric -= 1;
        self.conns.maybe_retire(conn);
    }

    /// Puts a packet on its sender's NIC.
    #[inline]
    pub fn transmit(&mut self, host: HostId, packet: Packet) {
        self.sent += 1;
        self.conns.list[ConnId::of(&packet)].in_fabric += 1;
        self.offer(host.nic(), &packet);
    }

    /// Packets in flight: queued, on a wire, waiting for an extra delay, kept at an edge, or held
    /// for an interrupt.
    pub fn in_flight(&self) -> u64 {
        self.ports.iter().map(Port::held).sum::<u64>()
            + self.delayed.live()
            + self.actions.tally.kept
            + self.held()
    }
}

/// The packet's random hash at this hop: the same under every scheme for what is sent for the first
/// time.
fn packet_hash(conns: &Conns, p: &Packet) -> u64 {
    // A retransmission, or an ACK with the same number, would get the same hash again: the time of
    // sending tells them apart.
    let again = if p.flags().0 & (Flags::RETX.0 | Flags::ACK.0) != 0 {
        u64::from(p.ts) + 1
    } else {
        0
    };
    cemark_marking::fixed::hash(conns.list[ConnId::of(p)].hash_seed, again, p.seq, p.hop())
}

/// Packets that a connection may send before the NIC serves the next one, for trains of `tso`
/// bytes.
pub(crate) fn turn_of(nic: Nic, tso: u32, mss: u16) -> u32 {
    match nic {
        Nic::BackPressure { packets } => packets.max(tso / u32::from(mss)).max(1),
        Nic::Fifo | Nic::SwitchPort => 0,
    }
}
