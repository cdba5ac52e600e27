// SPDX-License-Identifier: MIT OR Apache-2.0
//! The way out: packets of hosts through [`Near`], which selects some of them and keeps copies.

use cemark_edge::{Actions, DcibConfig, Header, Middlebox, Near, NearStats, Report, Shim, Step};
use cemark_wire::{Ecn, Fields, Flags, NONE, Nanos, Packet};

use crate::copies::{self, Copies};
use crate::counts::Counts;
use crate::inner::Inner;

/// A packet that leaves.
#[derive(Debug)]
pub enum Leaves<'a> {
    /// A packet that goes through the tunnel, with this field in its outer header.
    Wrapped(Shim, Ecn, &'a [u8]),
    /// A packet that is forwarded as it came.
    Plain(&'a [u8]),
}

/// Bounds of the memory for copies. At either of them selection stops; no copy is dropped.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bytes of memory, see [`copies::memory`].
    pub memory: u64,
    /// Packets.
    pub packets: usize,
}

/// A near router with the bytes of its copies.
#[derive(Debug)]
pub struct Outgoing {
    near: Near,
    bounds: Bounds,
    actions: Actions,
    steps: Vec<Step>,
    copies: Copies,
    /// Data packets that were not selected because the memory for copies is full.
    full: u64,
    /// Data packets that may not be selected: ECT(1), or CE, which may have been ECT(1).
    spared: u64,
}

impl Outgoing {
    /// A router without copies.
    pub fn new(cfg: DcibConfig, bounds: Bounds) -> Outgoing {
        Outgoing {
            near: Near::new(cfg),
            bounds,
            actions: Actions::default(),
            steps: Vec::new(),
            copies: Copies::default(),
            full: 0,
            spared: 0,
        }
    }

    /// A host's packet.
    pub fn packet(
        &mut self,
        now: Nanos,
        inner: Inner,
        bytes: &[u8],
        each: &mut dyn FnMut(Leaves<'_>),
    ) {
        let slot = self.copies.next_slot();
        let memory = self.copies.memory() + copies::memory(bytes.len());
        let room = memory <= self.bounds.memory && self.copies.kept() < self.bounds.packets;
        let spared = matches!(inner.ecn, Ecn::Ect1 | Ecn::Ce);
        self.spared += u64::from(spared && inner.data > 0);
        self.full += u64::from(!room && !spared && inner.data > 0);
        let fields = Fields {
            wire_bytes: u16::try_from(bytes.len()).unwrap_or(u16::MAX),
            // A packet without data is neither selected nor counted.
            len: if room && !spared { inner.data } else { 0 },
            ecn: inner.ecn,
            flags: Flags::EMPTY,
            class: 0,
        };
        let packet = Packet::new(u64::from(slot), 0, inner.flow, NONE, fields);
        self.near.on_packet(now, packet, &mut self.actions);
        self.follow(Some((slot, bytes)), each);
    }

    /// A router ACK.
    pub fn report(&mut self, now: Nanos, report: Report, each: &mut dyn FnMut(Leaves<'_>)) {
        let mut packet = Packet::default();
        let headers = &mut self.actions.headers;
        headers.wrap(&mut packet, Header::Report(report));
        packet.seq = u64::MAX;
        self.near.on_packet(now, packet, &mut self.actions);
        self.follow(None, each);
    }

    /// When to call [`Outgoing::wake`].
    pub fn next_wake(&self) -> Option<Nanos> {
        self.near.next_wake()
    }

    /// Sends copies whose time has come.
    pub fn wake(&mut self, now: Nanos, each: &mut dyn FnMut(Leaves<'_>)) {
        self.actions.free_at = now;
        self.near.wake(now, &mut self.actions);
        self.follow(None, each);
    }

    fn follow(&mut self, current: Option<(u32, &[u8])>, each: &mut dyn FnMut(Leaves<'_>)) {
        self.actions.drain_into(&mut self.steps);
        for step in self.steps.drain(..) {
            match step {
                Step::Kept(packet) => {
                    let slot = packet.seq as u32;
                    match current.filter(|(s, _)| *s == slot) {
                        Some((_, bytes)) => self.copies.keep(slot, bytes),
                        None => self.copies.keep(slot, &[]),
                    }
                }
                Step::Send(mut packet) => {
                    let slot = packet.seq as u32;
                    let header = self.actions.headers.unwrap(&mut packet);
                    let own = current.filter(|(s, _)| *s == slot);
                    let bytes = own.map(|c| c.1).or_else(|| self.copies.get(slot));
                    match (header, bytes) {
                        (Some(Header::Shim(shim)), Some(bytes)) => {
                            each(Leaves::Wrapped(shim, packet.ecn(), bytes));
                        }
                        (_, Some(bytes)) => each(Leaves::Plain(bytes)),
                        (_, None) => {}
                    }
                    if own.is_none() {
                        self.copies.release(slot);
                    }
                }
                Step::Gone(packet) if packet.seq == u64::MAX => {}
                Step::Gone(packet) => {
                    self.copies.release(packet.seq as u32);
                }
            }
        }
    }

    /// The near router's counts.
    pub fn stats(&self) -> NearStats {
        self.near.stats()
    }

    /// Adds the counts since the start.
    pub fn add_to(&self, counts: &mut Counts) {
        let near = self.near.stats();
        counts.selected += near.selected;
        counts.spared += self.spared;
        counts.stalled_full += near.full + self.full;
        counts.resent += near.resent;
        counts.flushed += near.flushed;
        counts.acks_unmatched += near.unmatched;
    }

    /// Memory that copies take now, and the most that they took.
    pub fn memory(&self) -> (u64, u64) {
        (self.copies.memory(), self.copies.peak)
    }

    /// Copies kept now.
    pub fn kept(&self) -> usize {
        self.copies.kept()
    }
}
