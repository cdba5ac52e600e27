// SPDX-License-Identifier: MIT OR Apache-2.0
//! A packet's way from link to link: it reaches the far end of one, and joins the port of the next.

use cemark_marking::{QueueSpec, Values};
use cemark_switch::{NEVER, Offer, Port, REFUSED};
use cemark_wire::Packet;

use super::{Network, Reached, waypoint};
use crate::agenda::{Agenda, kind};
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId, LinkId};

impl Network {
    /// The oldest packet on link `l` reaches its far end. Returns it where that is no switch.
    #[inline]
    pub fn deliver<Q: EventQueue>(&mut self, agenda: &mut Agenda<Q>, l: LinkId) -> Option<Reached> {
        self.hops += 1;
        let place = if Q::SHARDED { self.gates[l.place()] } else { l };
        let port = match &mut self.ports[place] {
            Port::Fused(port) => port,
            Port::Explicit(port) => {
                let tag = port.tag;
                if tag != waypoint::SWITCH || (self.extras && port.head().hop() == 1) {
                    let packet = *port.head();
                    let following = port.deliver(agenda.now, &mut self.pools, &mut self.gone);
                    arm_delivery(agenda, l, following);
                    self.free_gone();
                    if Q::SHARDED && tag == waypoint::CROSSING {
                        return self.leave(agenda, l, packet);
                    }
                    return self.arrive(agenda, tag, packet);
                }
                if let Some(pfc) = &self.pfc {
                    port.stamp_head(pfc.place_of(l));
                }
                let to = self.rows.next_link(port.head());
                self.pass_on(agenda, l, to);
                return None;
            }
        };
        let tag = port.tag;
        let (packet, following) = port.take(agenda.now);
        arm_delivery(agenda, l, following);
        if tag == waypoint::SWITCH && !(self.extras && packet.hop() == 1) {
            self.put_on(agenda, self.rows.next_link(&packet), &packet);
            return None;
        }
        // The usual case of `arrive`, in place.
        if tag < waypoint::FIRST && !self.late_extras {
            return Some(Reached::Host(HostId(tag), packet));
        }
        self.arrive(agenda, tag, packet)
    }

    /// The oldest packet on link `l` joins port `to` of a switch: directly from ring to queue,
    /// where both ports have queues.
    #[inline]
    fn pass_on<Q: EventQueue>(&mut self, agenda: &mut Agenda<Q>, l: LinkId, to: LinkId) {
        let Ok([Port::Explicit(port), Port::Explicit(next)]) =
            self.ports.get_disjoint_mut([l.place(), to.place()])
        else {
            let packet = self.take(agenda, l);
            return self.offer(agenda, to, &packet);
        };
        let packet = port.head();
        let packet_hash = || self.rows.packet_hash(packet);
        let (pools, gone) = (&mut self.pools, &mut self.gone);
        let offer = next.offer(agenda.now, packet, packet_hash, pools, gone);
        let refused = offer.refused.then_some(*packet);
        let following = port.deliver(agenda.now, pools, gone);
        arm_delivery(agenda, l, following);
        if let Some(packet) = refused {
            self.lose(packet);
        }
        self.apply_offer(agenda, to, &offer);
    }

    /// Takes the oldest packet off link `l` and arms the next delivery.
    #[inline]
    fn take<Q: EventQueue>(&mut self, agenda: &mut Agenda<Q>, l: LinkId) -> Packet {
        let (packet, next) = self.ports[l].deliver(agenda.now, &mut self.pools, &mut self.gone);
        arm_delivery(agenda, l, next);
        self.free_gone();
        packet
    }

    /// Brings every port up to the current time, before its state is read.
    pub fn catch_up(&mut self, now: u64) {
        for port in &mut self.ports {
            port.catch_up(now, &mut self.pools, &mut self.gone);
        }
        self.free_gone();
    }

    /// A packet is at the far end of a link with this tag: a host, a switch, or a waypoint.
    pub(super) fn arrive<Q: EventQueue>(
        &mut self,
        agenda: &mut Agenda<Q>,
        tag: u32,
        packet: Packet,
    ) -> Option<Reached> {
        if tag != waypoint::SWITCH && tag != waypoint::STAMPING {
            if tag >= waypoint::FIRST {
                return self.at_waypoint(agenda, tag, packet);
            }
            let waits = self.late_extras && self.waits(agenda, &packet);
            return (!waits).then_some(Reached::Host(HostId(tag), packet));
        }
        if !self.serves_extra(agenda, &packet) {
            self.forward(agenda, packet);
        }
        None
    }

    /// Whether a packet behind its sender's NIC has to wait for its flow's extra delay first.
    #[inline]
    pub(super) fn serves_extra<Q: EventQueue>(
        &mut self,
        agenda: &mut Agenda<Q>,
        packet: &Packet,
    ) -> bool {
        self.extras && packet.hop() == 1 && self.waits(agenda, packet)
    }

    /// Whether a packet has to wait for its flow's extra delay: then it returns in a `DELAYED`
    /// event.
    fn waits<Q: EventQueue>(&mut self, agenda: &mut Agenda<Q>, packet: &Packet) -> bool {
        if packet.flags().0 & self.prompt.0 != 0 {
            return false;
        }
        let extra = self.rows.of(ConnId::of(packet)).extra;
        if extra > 0 {
            let due = self.delayed.put(*packet, agenda.now + extra);
            agenda.events.insert(due, kind::DELAYED | packet.conn);
        }
        extra > 0
    }

    /// A packet of a connection has waited for its extra delay.
    pub fn after_delay<Q: EventQueue>(
        &mut self,
        agenda: &mut Agenda<Q>,
        conn: ConnId,
    ) -> Option<Reached> {
        let packet = self.delayed.take(conn);
        if self.late_extras {
            return Some(Reached::Host(self.rows.of(conn).dst, packet));
        }
        if let Some(place) = self.place_behind(conn) {
            return Some(Reached::Middlebox(place, packet));
        }
        self.forward(agenda, packet);
        None
    }

    /// A packet at a switch joins the next port on its way.
    pub fn forward<Q: EventQueue>(&mut self, agenda: &mut Agenda<Q>, mut packet: Packet) {
        if self.pfc.is_some() {
            self.stamp(&mut packet);
        }
        self.offer(agenda, self.rows.next_link(&packet), &packet);
    }

    /// Puts a packet of a host on the link of its NIC.
    #[inline]
    pub fn transmit<Q: EventQueue>(&mut self, agenda: &mut Agenda<Q>, nic: LinkId, packet: Packet) {
        self.sent += 1;
        self.rows.hold(ConnId::of(&packet));
        self.offer(agenda, nic, &packet);
    }

    /// A packet joins port `l`, and the events that the port asks for are inserted.
    #[inline(never)]
    pub fn offer<Q: EventQueue>(&mut self, agenda: &mut Agenda<Q>, l: LinkId, packet: &Packet) {
        self.put_on(agenda, l, packet);
    }

    /// The same in place, for what happens at every hop.
    #[inline(always)]
    fn put_on<Q: EventQueue>(&mut self, agenda: &mut Agenda<Q>, l: LinkId, packet: &Packet) {
        match &mut self.ports[l] {
            Port::Fused(port) => {
                let packet_hash = if port.draws() {
                    self.rows.packet_hash(packet)
                } else {
                    0
                };
                let at = port.offer(agenda.now, packet, packet_hash);
                if at < REFUSED {
                    // What crosses is told at the end of the window.
                    if !(Q::SHARDED && port.tag == waypoint::CROSSING) {
                        agenda.events.insert_delivery(at, l.0);
                    }
                } else if at == REFUSED {
                    self.lose(*packet);
                }
            }
            Port::Explicit(_) => self.offer_explicit(agenda, l, packet),
        }
    }

    #[inline(never)]
    fn offer_explicit<Q: EventQueue>(
        &mut self,
        agenda: &mut Agenda<Q>,
        l: LinkId,
        packet: &Packet,
    ) {
        let Port::Explicit(port) = &mut self.ports[l] else {
            unreachable!("the caller has found queues");
        };
        let packet_hash = || self.rows.packet_hash(packet);
        let (pools, gone) = (&mut self.pools, &mut self.gone);
        let offer = port.offer(agenda.now, packet, packet_hash, pools, gone);
        if offer.refused {
            self.lose(*packet);
        }
        self.apply_offer(agenda, l, &offer);
    }

    /// Does what port `l`, which has explicit queues, asks for: inserts its events, takes away what
    /// it discarded, and sends the pause frames of its switch.
    #[inline(always)]
    fn apply_offer<Q: EventQueue>(&mut self, agenda: &mut Agenda<Q>, l: LinkId, offer: &Offer) {
        follow(agenda, l, offer.deliver_at, offer.serve_at);
        arm_wake(agenda, l, offer.wake_at);
        self.free_gone();
        if offer.signals {
            self.send_signals(agenda, l);
        }
    }

    #[inline]
    pub fn serve<Q: EventQueue>(&mut self, agenda: &mut Agenda<Q>, l: LinkId) {
        let offer = self.ports[l].serve(agenda.now, &mut self.pools, &mut self.gone);
        self.apply_offer(agenda, l, &offer);
    }

    /// The timer of a marker at link `l` is due.
    pub fn wake<Q: EventQueue>(&mut self, agenda: &mut Agenda<Q>, l: LinkId) {
        let next = self.ports[l].wake(agenda.now, &self.pools);
        arm_wake(agenda, l, next);
    }

    /// Sets the first timers of markers, before the first event.
    pub fn arm_wakes<Q: EventQueue>(&mut self, agenda: &mut Agenda<Q>) {
        for l in (0..self.ports().len() as u32).map(LinkId) {
            if self.owns(l) {
                arm_wake(agenda, l, self.ports[l].first_wake());
            }
        }
    }

    /// Changes parameters of the markers of a port, up to now. `specs`: what these were built for.
    pub fn retune<Q: EventQueue>(
        &mut self,
        agenda: &mut Agenda<Q>,
        l: LinkId,
        values: &Values,
        specs: &[QueueSpec],
    ) {
        let wake_at = Port::retune(&mut self.ports[l], values, specs);
        arm_wake(agenda, l, wake_at);
    }

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

#[inline]
fn arm_delivery<Q: EventQueue>(agenda: &mut Agenda<Q>, l: LinkId, at: u64) {
    if at != NEVER {
        agenda.events.insert_delivery(at, l.0);
    }
}

#[inline]
pub(super) fn follow<Q: EventQueue>(
    agenda: &mut Agenda<Q>,
    l: LinkId,
    deliver_at: u64,
    serve_at: u64,
) {
    arm_delivery(agenda, l, deliver_at);
    if serve_at != NEVER {
        agenda.events.insert(serve_at, kind::SERVE | l.0);
    }
}

/// A marker at link `l` has set its timer.
#[inline]
fn arm_wake<Q: EventQueue>(agenda: &mut Agenda<Q>, l: LinkId, at: u64) {
    if at != NEVER {
        agenda.events.insert(at.max(agenda.now), kind::WAKE | l.0);
    }
}
