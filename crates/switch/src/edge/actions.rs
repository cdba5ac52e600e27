// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a middlebox does, and its books: `in + made = out + gone + kept` at every instant.

use cemark_wire::{Ecn, Nanos, Packet};

use super::shim::Headers;
use crate::ce;

/// What the owner of a box has to do.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// The packet goes on: it came and passes, or was held and is released, or was made here, or is
    /// a copy whose time has come.
    Send(Packet),
    /// A copy of this packet has been made and is kept.
    Kept(Packet),
    /// This packet is no more: it was for the box, came twice, or is a copy that nobody needs.
    Gone(Packet),
}

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets made: copies and router ACKs.
    pub made: u64,
    /// Packets that ended in a box.
    pub gone: u64,
    /// Packets that boxes hold now: copies kept and packets that wait for order.
    pub kept: u64,
    /// ECN fields rewritten.
    pub rewrites: u64,
}

/// What a box does with packets; filled by one call, emptied by the owner.
#[derive(Debug, Default)]
pub struct Actions {
    steps: Vec<Step>,
    /// Headers of packets between the two edges, and what router ACKs say.
    pub headers: Headers,
    /// When the port behind the box will have sent what it holds: set by the owner before each
    /// call.
    pub free_at: Nanos,
    /// The books.
    pub tally: Tally,
}

impl Actions {
    /// The packet that just came goes on.
    pub fn forward(&mut self, packet: Packet) {
        self.steps.push(Step::Send(packet));
    }

    /// A copy for the box to keep. It counts as a packet from now on.
    #[must_use = "a copy that is not kept is lost to the books"]
    pub fn clone_to(&mut self, packet: &Packet) -> Packet {
        self.tally.made += 1;
        self.tally.kept += 1;
        self.steps.push(Step::Kept(*packet));
        *packet
    }

    /// A packet made here sets out.
    pub fn inject(&mut self, packet: Packet) {
        self.tally.made += 1;
        self.steps.push(Step::Kept(packet));
        self.steps.push(Step::Send(packet));
    }

    /// The packet that just came stays here.
    pub fn hold(&mut self) {
        self.tally.kept += 1;
    }

    /// A packet that was held, or a copy that was kept, goes on.
    pub fn release(&mut self, packet: Packet) {
        self.tally.kept -= 1;
        self.steps.push(Step::Send(packet));
    }

    /// The packet that just came ends here.
    pub fn discard(&mut self, packet: Packet) {
        self.tally.gone += 1;
        self.steps.push(Step::Gone(packet));
    }

    /// A packet that was held, or a copy that was kept, is thrown away.
    pub fn forget(&mut self, packet: Packet) {
        self.tally.kept -= 1;
        self.discard(packet);
    }

    /// Rewrites the ECN field and counts.
    pub fn rewrite(&mut self, packet: &mut Packet, to: Ecn) {
        let mut ecn = packet.ecn();
        self.tally.rewrites += u64::from(ce::rewrite(&mut ecn, to));
        packet.set_ecn(ecn);
    }

    /// What is to be done, in order; empty afterwards.
    pub fn take(&mut self) -> Vec<Step> {
        std::mem::take(&mut self.steps)
    }

    /// The same into a buffer of the owner's, whose memory is used again.
    pub fn drain_into(&mut self, to: &mut Vec<Step>) {
        to.append(&mut self.steps);
    }
}
