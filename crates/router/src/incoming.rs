// SPDX-License-Identifier: MIT OR Apache-2.0
//! The way in: packets from the peer through [`Far`], which acknowledges them, drops duplicates and
//! may restore their order.

use cemark_edge::{Actions, DcibConfig, Far, Header, Middlebox, Report, Shim, Step};
use cemark_wire::{Ecn, Fields, Flags, NONE, Nanos, Packet};

use crate::copies::Copies;
use crate::counts::Counts;
use crate::inner;

/// Packet that comes out.
#[derive(Debug)]
pub enum Comes<'a> {
    /// A packet for a host.
    Deliver(&'a [u8]),
    /// A router ACK for the peer.
    Acknowledge(Report),
}

/// A far router with the bytes of the packets that wait for others.
#[derive(Debug)]
pub struct Incoming {
    far: Far,
    /// Most memory of packets that wait.
    most: u64,
    actions: Actions,
    steps: Vec<Step>,
    held: Copies,
    /// Packets of ECN hosts that got the WAN's CE.
    ce_passed: u64,
    /// Waits that ended because the memory for waiting packets was full.
    hurried: u64,
}

impl Incoming {
    /// A router that has seen no packet.
    pub fn new(cfg: DcibConfig, most: u64) -> Incoming {
        Incoming {
            far: Far::new(cfg, NONE),
            most,
            actions: Actions::default(),
            steps: Vec::new(),
            held: Copies::default(),
            ce_passed: 0,
            hurried: 0,
        }
    }

    /// A packet that arrived with this ECN field in its outer header.
    pub fn packet(
        &mut self,
        now: Nanos,
        shim: Shim,
        outer: Ecn,
        bytes: &mut [u8],
        each: &mut dyn FnMut(Comes<'_>),
    ) {
        let slot = self.held.next_slot();
        let fields = Fields {
            wire_bytes: u16::try_from(bytes.len()).unwrap_or(u16::MAX),
            len: 1,
            ecn: outer,
            flags: Flags::EMPTY,
            class: 0,
        };
        let mut packet = Packet::new(u64::from(slot), 0, 0, NONE, fields);
        let headers = &mut self.actions.headers;
        headers.wrap(&mut packet, Header::Shim(shim));
        self.far.on_packet(now, packet, &mut self.actions);
        self.follow(Some((slot, bytes)), each);
        if self.held.memory() > self.most {
            self.hurried += 1;
            self.end_waits(each);
        }
    }

    /// Sets the share of the data that the peer selects, in 1/65536.
    pub fn set_share(&mut self, share: u32) {
        self.far.set_share(share);
    }

    /// When to call [`Incoming::wake`].
    pub fn next_wake(&self) -> Option<Nanos> {
        self.far.next_wake()
    }

    /// Sends a delayed router ACK, and ends waits whose time has come.
    pub fn wake(&mut self, now: Nanos, each: &mut dyn FnMut(Comes<'_>)) {
        self.far.wake(now, &mut self.actions);
        self.follow(None, each);
    }

    /// Delivers all that waits.
    pub fn end_waits(&mut self, each: &mut dyn FnMut(Comes<'_>)) {
        self.far.end_waits(&mut self.actions);
        self.follow(None, each);
    }

    fn follow(&mut self, mut current: Option<(u32, &mut [u8])>, each: &mut dyn FnMut(Comes<'_>)) {
        self.actions.drain_into(&mut self.steps);
        for step in self.steps.drain(..) {
            match step {
                Step::Kept(_) => {}
                Step::Send(mut packet) => {
                    let slot = packet.seq as u32;
                    if let Some(Header::Report(r)) = self.actions.headers.unwrap(&mut packet) {
                        each(Comes::Acknowledge(r));
                    } else if let Some((_, bytes)) = current.take_if(|(s, _)| *s == slot) {
                        self.ce_passed += u64::from(deliver(packet.ecn(), bytes, each));
                    } else if let Some(mut bytes) = self.held.release(slot) {
                        self.ce_passed += u64::from(deliver(packet.ecn(), &mut bytes, each));
                    }
                }
                Step::Gone(packet) => {
                    let slot = packet.seq as u32;
                    if current.take_if(|(s, _)| *s == slot).is_none() {
                        self.held.release(slot);
                    }
                }
            }
        }
        // Neither delivered nor dropped: it waits.
        if let Some((slot, bytes)) = current {
            self.held.keep(slot, bytes);
        }
    }

    /// Adds the counts since the start.
    pub fn add_to(&self, counts: &mut Counts) {
        let far = self.far.stats();
        counts.router_acks += far.acks;
        counts.twice += far.twice;
        counts.late += far.late;
        counts.given_up += far.given_up;
        counts.hurried += self.hurried;
        counts.held_memory_peak = counts.held_memory_peak.max(self.held.peak);
        counts.marks_taken += far.marks_taken;
        counts.marks_passed += self.ce_passed;
    }
}

/// Delivers a packet to the hosts, and returns whether CE was written into it. The host's field has
/// not been touched inside the tunnel. Only a CE of the WAN on a packet of an ECN host is written.
fn deliver(ecn: Ecn, bytes: &mut [u8], each: &mut dyn FnMut(Comes<'_>)) -> bool {
    let own = inner::read(bytes).map_or(Ecn::NotEct, |i| i.ecn);
    let passed = ecn == Ecn::Ce && own.is_capable() && own != Ecn::Ce;
    if passed {
        inner::set_ce(bytes);
    }
    each(Comes::Deliver(bytes));
    passed
}
