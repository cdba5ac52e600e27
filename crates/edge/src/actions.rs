// SPDX-License-Identifier: MIT OR Apache-2.0
//! Actions of a middlebox, and its counters: `in + made = out + gone + kept` at every instant.

use cemark_wire::{Ecn, Nanos, Packet};

use crate::shim::Headers;

/// A step that the owner of a middlebox has to take.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Forward this packet: it has just arrived, or was held and is released, or was made here, or
    /// is a copy that is now sent.
    Send(Packet),
    /// A copy of this packet has been made and is kept.
    Kept(Packet),
    /// Free this packet: it was addressed to the middlebox, arrived twice, or is a copy that is no
    /// longer needed.
    Gone(Packet),
}

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets made: copies and router ACKs.
    pub made: u64,
    /// Packets that ended in a middlebox.
    pub gone: u64,
    /// Packets that middleboxes hold now: copies, and packets that wait for in-order release.
    pub kept: u64,
    /// ECN fields rewritten.
    pub rewrites: u64,
}

/// Steps of a middlebox for its packets; each call adds steps, and the owner takes them out.
#[derive(Debug, Default)]
pub struct Actions {
    steps: Vec<Step>,
    /// Headers of packets between the two edges, and what router ACKs say.
    pub headers: Headers,
    /// When the port behind the middlebox will have sent its backlog: set by the owner before each
    /// call.
    pub free_at: Nanos,
    /// The counters.
    pub tally: Tally,
}

impl Actions {
    /// Forwards the packet that has just arrived.
    pub fn forward(&mut self, packet: Packet) {
        self.steps.push(Step::Send(packet));
    }

    /// A copy for the middlebox to keep. It counts as a packet from now on.
    #[must_use = "a copy that is not kept is lost to the books"]
    pub fn clone_to(&mut self, packet: &Packet) -> Packet {
        self.tally.made += 1;
        self.tally.kept += 1;
        self.steps.push(Step::Kept(*packet));
        *packet
    }

    /// Sends a packet made here.
    pub fn inject(&mut self, packet: Packet) {
        self.tally.made += 1;
        self.steps.push(Step::Kept(packet));
        self.steps.push(Step::Send(packet));
    }

    /// Holds the packet that has just arrived.
    pub fn hold(&mut self) {
        self.tally.kept += 1;
    }

    /// Forwards a packet that was held, or a copy that was kept.
    pub fn release(&mut self, packet: Packet) {
        self.tally.kept -= 1;
        self.steps.push(Step::Send(packet));
    }

    /// Consumes the packet that has just arrived.
    pub fn discard(&mut self, packet: Packet) {
        self.tally.gone += 1;
        self.steps.push(Step::Gone(packet));
    }

    /// Discards a packet that was held, or a copy that was kept.
    pub fn forget(&mut self, packet: Packet) {
        self.tally.kept -= 1;
        self.discard(packet);
    }

    /// Rewrites the ECN field and counts.
    pub fn rewrite(&mut self, packet: &mut Packet, to: Ecn) {
        let mut ecn = packet.ecn();
        self.tally.rewrites += u64::from(ecn.rewrite(to));
        packet.set_ecn(ecn);
    }

    /// Takes the steps, in order.
    pub fn take(&mut self) -> Vec<Step> {
        std::mem::take(&mut self.steps)
    }

    /// Moves the steps into a buffer of the caller, whose memory is reused.
    pub fn drain_into(&mut self, to: &mut Vec<Step>) {
        to.append(&mut self.steps);
    }
}
