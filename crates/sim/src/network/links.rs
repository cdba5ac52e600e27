// SPDX-License-Identifier: MIT OR Apache-2.0
//! A packet's way from link to link: it reaches the far end of one, and joins the port of the next.

use cemark_switch::{NEVER, Offer, Port, REFUSED};
use cemark_wire::{Flags, Packet};

use super::waypoint;
use crate::endpoints::conn::Conns;
use crate::engine::{Sim, kind};
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId, LinkId};

impl<Q: EventQueue> Sim<Q> {
    /// The oldest packet on link `l` reaches its far end.
    #[inline]
    pub fn deliver(&mut self, l: LinkId) {
        self.hops += 1;
        let port = match &mut self.ports[l] {
            Port::Fused(port) => port,
            Port::Explicit(port) => {
                let tag = port.tag;
                if tag != waypoint::SWITCH || (self.extras && port.head().hop() == 1) {
                    let packet = *port.head();
                    let following = port.deliver(self.now, &mut self.pools, &mut self.gone);
                    self.arm_delivery(l, following);
                    if !self.gone.is_empty() {
                        self.free_gone();
                    }
                    if Q::SHARDED && tag == waypoint::CROSSING {
                        return self.leave(l, packet);
                    }
                    self.arrive(tag, packet);
                    return;
                }
                if let Some(pfc) = &self.pfc {
                    port.stamp_head(pfc.place_of(l));
                }
                let to = Self::next_link(&self.conns, port.head());
                self.pass_on(l, to);
                return;
            }
        };
        let tag = port.tag;
        let (packet, following) = port.take(self.now);
        self.arm_delivery(l, following);
        if Q::SHARDED && tag == waypoint::CROSSING {
            return self.leave(l, packet);
        }
        if tag != waypoint::SWITCH || (self.extras && packet.hop() == 1) {
            self.arrive(tag, packet);
            return;
        }
        self.put_on(Self::next_link(&self.conns, &packet), &packet);
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
        if let Some(packet) = refused {
            self.dropped(packet);
        }
        self.apply_offer(to, &offer);
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
            self.events.insert_delivery(at, l.0);
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
        if packet.flags().0 & self.prompt.0 != 0 {
            return false;
        }
        let extra = self.conns.list[ConnId::of(packet)].extra;
        if extra > 0 {
            let due = self.delayed.put(*packet, self.now + extra);
            self.events.insert(due, kind::DELAYED | packet.conn);
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
    #[inline(never)]
    pub fn offer(&mut self, l: LinkId, packet: &Packet) {
        self.put_on(l, packet);
    }

    /// The same in place, for what happens at every hop.
    #[inline(always)]
    fn put_on(&mut self, l: LinkId, packet: &Packet) {
        match &mut self.ports[l] {
            Port::Fused(port) => {
                let packet_hash = if port.draws() {
                    packet_hash(&self.conns, packet)
                } else {
                    0
                };
                let at = port.offer(self.now, packet, packet_hash);
                if Q::SHARDED && at != REFUSED {
                    self.tell(l);
                }
                if at < REFUSED {
                    self.events.insert_delivery(at, l.0);
                } else if at == REFUSED {
                    self.dropped(*packet);
                }
            }
            Port::Explicit(_) => self.offer_explicit(l, packet),
        }
    }

    #[inline(never)]
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
        if offer.refused {
            self.dropped(*packet);
        }
        self.apply_offer(l, &offer);
    }

    /// Does what port `l`, which has explicit queues, asks for: inserts its events, takes away what
    /// it discarded, and sends the pause frames of its switch.
    #[inline(always)]
    fn apply_offer(&mut self, l: LinkId, offer: &Offer) {
        self.follow(l, offer.deliver_at, offer.serve_at);
        self.arm_wake(l, offer.wake_at);
        if !self.gone.is_empty() {
            self.free_gone();
        }
        if offer.signals {
            self.send_signals(l);
        }
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
            self.events.insert_delivery(deliver_at, l.0);
        }
        if serve_at != NEVER {
            self.events.insert(serve_at, kind::SERVE | l.0);
        }
    }

    pub fn serve(&mut self, l: LinkId) {
        let offer = self.ports[l].serve(self.now, &mut self.pools, &mut self.gone);
        self.apply_offer(l, &offer);
    }

    /// A marker at link `l` has set its timer.
    #[inline]
    pub fn arm_wake(&mut self, l: LinkId, at: u64) {
        if at != NEVER {
            self.events.insert(at.max(self.now), kind::WAKE | l.0);
        }
    }

    pub fn wake(&mut self, l: LinkId) {
        let next = self.ports[l].wake(self.now, &self.pools);
        self.arm_wake(l, next);
    }

    #[cold]
    pub fn free_gone(&mut self) {
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
        // A packet that left another shard is counted there: the sum over shards is right.
        let c = &mut self.conns.list[conn];
        c.in_fabric = c.in_fabric.wrapping_sub(1);
        self.conns.maybe_retire(conn);
    }

    /// Puts a packet on its sender's NIC.
    #[inline]
    pub fn transmit(&mut self, host: HostId, packet: Packet) {
        self.sent += 1;
        let c = &mut self.conns.list[ConnId::of(&packet)];
        c.in_fabric = c.in_fabric.wrapping_add(1);
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
