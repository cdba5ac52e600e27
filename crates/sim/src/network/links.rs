// SPDX-License-Identifier: MIT OR Apache-2.0
//! A packet's way from link to link: it reaches the far end of one, and joins the port of the next.

use cemark_marking::{QueueId, QueueSpec, Values};
use cemark_switch::{Offer, Port, REFUSED};
use cemark_wire::Packet;

use super::{Core, Network, Reached, waypoint};
use crate::agenda::kind;
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId, LinkId};

impl<Q: EventQueue> Core<Q> {
    /// The oldest packet on link `l` reaches its far end. Returns it where that is no switch.
    #[inline]
    pub fn deliver(&mut self, l: LinkId) -> Option<Reached> {
        let net = &mut self.net;
        net.hops += 1;
        let place = if Q::SHARDED { net.gates[l.place()] } else { l };
        let port = match &mut net.ports[place] {
            Port::Fused(port) => port,
            Port::Explicit(port) => {
                let tag = port.tag;
                if tag != waypoint::SWITCH || (net.extras && port.head().hop() == 1) {
                    let packet = *port.head();
                    let following = port.deliver(self.agenda.now, &mut net.pools, &mut net.gone);
                    self.agenda.arm_delivery(l, following);
                    net.free_gone();
                    if Q::SHARDED && tag == waypoint::CROSSING {
                        return self.leave(l, packet);
                    }
                    return self.arrive(tag, packet);
                }
                if let Some(pfc) = &net.pfc {
                    port.stamp_head(pfc.place_of(l));
                }
                let to = net.rows.next_link(port.head());
                self.pass_on(l, to);
                return None;
            }
        };
        let tag = port.tag;
        let (packet, following) = port.take(self.agenda.now);
        self.agenda.arm_delivery(l, following);
        if tag == waypoint::SWITCH && !(self.net.extras && packet.hop() == 1) {
            self.put_on(self.net.rows.next_link(&packet), &packet);
            return None;
        }
        // The usual case of `arrive`, in place.
        if tag < waypoint::FIRST && !self.net.late_extras {
            return Some(Reached::Host(HostId(tag), packet));
        }
        self.arrive(tag, packet)
    }

    /// The oldest packet on link `l` joins port `to` of a switch: directly from ring to queue,
    /// where both ports have queues.
    #[inline]
    fn pass_on(&mut self, l: LinkId, to: LinkId) {
        let net = &mut self.net;
        let Ok([Port::Explicit(port), Port::Explicit(next)]) =
            net.ports.get_disjoint_mut([l.place(), to.place()])
        else {
            let packet = self.take(l);
            return self.offer(to, &packet);
        };
        let packet = port.head();
        let packet_hash = || net.rows.packet_hash(packet);
        let (pools, gone) = (&mut net.pools, &mut net.gone);
        let offer = next.offer(self.agenda.now, packet, packet_hash, pools, gone);
        let refused = offer.refused.then_some(*packet);
        let following = port.deliver(self.agenda.now, pools, gone);
        self.agenda.arm_delivery(l, following);
        if let Some(packet) = refused {
            self.net.lose(packet);
        }
        self.apply_offer(to, &offer);
    }

    /// Takes the oldest packet off link `l` and arms the next delivery.
    #[inline]
    fn take(&mut self, l: LinkId) -> Packet {
        let net = &mut self.net;
        let (packet, next) = net.ports[l].deliver(self.agenda.now, &mut net.pools, &mut net.gone);
        self.agenda.arm_delivery(l, next);
        net.free_gone();
        packet
    }

    /// A packet is at the far end of a link with this tag: a host, a switch, or a waypoint.
    pub(super) fn arrive(&mut self, tag: u32, packet: Packet) -> Option<Reached> {
        if tag != waypoint::SWITCH && tag != waypoint::STAMPING {
            if tag >= waypoint::FIRST {
                return self.at_waypoint(tag, packet);
            }
            let waits = self.net.late_extras && self.waits(&packet);
            return (!waits).then_some(Reached::Host(HostId(tag), packet));
        }
        if !self.serves_extra(&packet) {
            self.forward(packet);
        }
        None
    }

    /// Whether a packet behind its sender's NIC has to wait for its flow's extra delay first.
    #[inline]
    pub(super) fn serves_extra(&mut self, packet: &Packet) -> bool {
        self.net.extras && packet.hop() == 1 && self.waits(packet)
    }

    /// Whether a packet has to wait for its flow's extra delay: then it returns in a `DELAYED`
    /// event.
    fn waits(&mut self, packet: &Packet) -> bool {
        if packet.flags().0 & self.net.prompt.0 != 0 {
            return false;
        }
        let extra = self.net.rows.of(ConnId::of(packet)).extra;
        if extra > 0 {
            let due = self.net.delayed.put(*packet, self.agenda.now + extra);
            self.agenda.insert(due, kind::DELAYED | packet.conn);
        }
        extra > 0
    }

    /// A packet of a connection has waited for its extra delay.
    pub fn after_delay(&mut self, conn: ConnId) -> Option<Reached> {
        let packet = self.net.delayed.take(conn);
        if self.net.late_extras {
            return Some(Reached::Host(self.net.rows.of(conn).dst, packet));
        }
        if let Some(place) = self.net.place_behind(conn) {
            return Some(Reached::Middlebox(place, packet));
        }
        self.forward(packet);
        None
    }

    /// A packet at a switch joins the next port on its way.
    pub fn forward(&mut self, mut packet: Packet) {
        if self.net.pfc.is_some() {
            self.net.stamp(&mut packet);
        }
        self.offer(self.net.rows.next_link(&packet), &packet);
    }

    /// Puts a packet of a host on the link of its NIC.
    #[inline]
    pub fn transmit(&mut self, host: HostId, packet: Packet) {
        self.net.sent += 1;
        self.net.rows.hold(ConnId::of(&packet));
        self.offer(host.nic(), &packet);
    }

    /// A packet joins port `l`, and the events that the port asks for are inserted.
    #[inline(never)]
    pub fn offer(&mut self, l: LinkId, packet: &Packet) {
        self.put_on(l, packet);
    }

    /// A packet joins port `l` as in [`offer`](Self::offer), but in place, for callers at every
    /// hop.
    #[inline(always)]
    fn put_on(&mut self, l: LinkId, packet: &Packet) {
        match &mut self.net.ports[l] {
            Port::Fused(port) => {
                let packet_hash = if port.draws() {
                    self.net.rows.packet_hash(packet)
                } else {
                    0
                };
                let at = port.offer(self.agenda.now, packet, packet_hash);
                if at < REFUSED {
                    // What crosses is told at the end of the window.
                    if !(Q::SHARDED && port.tag == waypoint::CROSSING) {
                        self.agenda.events.insert_delivery(at, l.0);
                    }
                } else if at == REFUSED {
                    self.net.lose(*packet);
                }
            }
            Port::Explicit(_) => self.offer_explicit(l, packet),
        }
    }

    #[inline(never)]
    fn offer_explicit(&mut self, l: LinkId, packet: &Packet) {
        let Port::Explicit(port) = &mut self.net.ports[l] else {
            unreachable!("the caller has found queues");
        };
        let packet_hash = || self.net.rows.packet_hash(packet);
        let (pools, gone) = (&mut self.net.pools, &mut self.net.gone);
        let offer = port.offer(self.agenda.now, packet, packet_hash, pools, gone);
        if offer.refused {
            self.net.lose(*packet);
        }
        self.apply_offer(l, &offer);
    }

    /// Does what port `l`, which has explicit queues, asks for: inserts its events, takes away what
    /// it discarded, and sends the pause frames of its switch.
    #[inline(always)]
    fn apply_offer(&mut self, l: LinkId, offer: &Offer) {
        self.agenda.arm_delivery(l, offer.deliver_at);
        self.agenda.arm_serve(l, offer.serve_at);
        self.agenda.arm_wake(l, offer.wake_at);
        self.net.free_gone();
        if offer.signals {
            self.send_signals(l);
        }
    }

    #[inline]
    pub fn serve(&mut self, l: LinkId) {
        let net = &mut self.net;
        let offer = net.ports[l].serve(self.agenda.now, &mut net.pools, &mut net.gone);
        self.apply_offer(l, &offer);
    }

    /// The timer of a marker at link `l` is due.
    pub fn wake(&mut self, l: LinkId) {
        let next = self.net.ports[l].wake(self.agenda.now, &self.net.pools);
        self.agenda.arm_wake(l, next);
    }

    /// Brings every port up to the current time, before its state is read.
    pub fn catch_up(&mut self) {
        let net = &mut self.net;
        for port in &mut net.ports {
            port.catch_up(self.agenda.now, &mut net.pools, &mut net.gone);
        }
        net.free_gone();
    }

    /// Sets the first timers of markers, before the first event.
    pub fn arm_wakes(&mut self) {
        for l in (0..self.net.ports().len() as u32).map(LinkId) {
            if self.net.owns(l) {
                self.agenda.arm_wake(l, self.net.ports[l].first_wake());
            }
        }
    }

    /// Changes parameters of the marker of a queue, up to now. `spec`: the specification that the
    /// marker was built for.
    pub fn retune(&mut self, l: LinkId, queue: QueueId, values: &Values, spec: &QueueSpec) {
        let wake_at = Port::retune(&mut self.net.ports[l], queue, values, spec);
        self.agenda.arm_wake(l, wake_at);
    }
}

impl Network {
    /// Counts as lost what ports have discarded.
    #[inline]
    pub(super) fn free_gone(&mut self) {
        if !self.gone.is_empty() {
            self.lose_gone();
        }
    }

    #[cold]
    fn lose_gone(&mut self) {
        while let Some(packet) = self.gone.pop() {
            self.lose(packet);
        }
    }

    /// A packet is no more.
    #[cold]
    pub fn lose(&mut self, mut packet: Packet) {
        self.headers.unwrap(&mut packet);
        if packet.aux != cemark_wire::NONE {
            self.sacks.take(packet.aux);
        }
        let conn = ConnId::of(&packet);
        if self.rows.release(conn) {
            self.cleared.push(conn);
        }
    }
}
