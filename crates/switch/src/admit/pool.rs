// SPDX-License-Identifier: MIT OR Apache-2.0
//! A buffer and what it holds.

use super::active::Active;
use super::ingress::Ingress;

/// A pool, by its place in the owner's list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolId(pub u32);

impl PoolId {
    /// As a place in a list.
    #[inline(always)]
    pub fn place(self) -> usize {
        self.0 as usize
    }
}

/// A buffer of a port, or of all ports of a switch. Packets being sent do not count.
#[derive(Clone, Debug)]
pub struct Pool {
    room: u32,
    headroom: u32,
    used: u32,
    headroom_used: u32,
    shared: bool,
    /// Where senders are paused before anything is lost.
    ingress: Option<Box<Ingress>>,
    /// The queues of a policy that divides the room among congested ones.
    active: Option<Box<Active>>,
}

impl Pool {
    /// An empty buffer of `bytes`, of which `headroom` (at most all) is kept for lossless queues.
    /// `shared`: by the ports of a switch.
    pub const fn new(bytes: u32, headroom: u32, shared: bool) -> Self {
        let headroom = if headroom > bytes { bytes } else { headroom };
        Pool {
            room: bytes - headroom,
            headroom,
            used: 0,
            headroom_used: 0,
            shared,
            ingress: None,
            active: None,
        }
    }

    /// This pool with an ingress side, which counts bytes by the link that they came over.
    #[must_use]
    pub fn with_ingress(mut self, ingress: Ingress) -> Self {
        self.ingress = Some(Box::new(ingress));
        self
    }

    /// The ingress side, where there is one.
    #[inline]
    pub fn ingress(&self) -> Option<&Ingress> {
        self.ingress.as_deref()
    }

    /// The ingress side, to take its signals.
    #[inline]
    pub fn ingress_mut(&mut self) -> Option<&mut Ingress> {
        self.ingress.as_deref_mut()
    }

    /// Whether its ingress side has pause frames to send.
    #[inline]
    pub fn has_signals(&self) -> bool {
        self.ingress.as_ref().is_some_and(|i| !i.signals.is_empty())
    }

    /// The buffer of one port, without headroom.
    pub const fn of_port(bytes: u32) -> Self {
        Pool::new(bytes, 0, false)
    }

    /// Bytes of ordinary room, free or not.
    #[inline]
    pub fn room(&self) -> u32 {
        self.room
    }

    /// Bytes it can hold, headroom included.
    pub fn capacity(&self) -> u32 {
        self.room + self.headroom
    }

    /// Ordinary room that is free.
    #[inline]
    pub fn free(&self) -> u32 {
        self.room - self.used
    }

    /// Headroom that is free.
    #[inline]
    pub fn free_headroom(&self) -> u32 {
        self.headroom - self.headroom_used
    }

    /// Bytes held, headroom included.
    #[inline]
    pub fn held(&self) -> u32 {
        self.used + self.headroom_used
    }

    /// Whether ports share it.
    #[inline]
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// A packet takes room, or headroom.
    #[inline]
    pub fn take(&mut self, bytes: u32, headroom: bool) {
        if headroom {
            self.headroom_used += bytes;
        } else {
            self.used += bytes;
        }
        debug_assert!(self.used <= self.room && self.headroom_used <= self.headroom);
    }

    /// A packet gives back what it took.
    #[inline]
    pub fn give(&mut self, bytes: u32, headroom: bool) {
        if headroom {
            self.headroom_used -= bytes;
        } else {
            self.used -= bytes;
        }
    }

    /// A packet of a lossless queue, which came by link `from`, joins `queue`.
    #[inline(always)]
    pub fn join(&mut self, from: u32, queue: usize, bytes: u32, headroom: bool) {
        self.take(bytes, headroom);
        if let Some(ingress) = &mut self.ingress {
            ingress.joined(from, queue, bytes, headroom);
        }
    }

    /// A packet of a lossless queue, which came by link `from`, leaves `queue`. `headroom`: whether
    /// it took headroom, where there is no ingress side.
    #[inline(always)]
    pub fn leave(&mut self, from: u32, queue: usize, bytes: u32, headroom: bool) {
        let Some(ingress) = &mut self.ingress else {
            return self.give(bytes, headroom);
        };
        let (part, paused) = ingress.leaving(from, queue, bytes);
        self.headroom_used -= part;
        self.used -= bytes - part;
        if paused {
            ingress.left(from, queue, self.room - self.used);
        }
    }

    /// This pool with the queues of a policy that divides the room among congested ones.
    #[must_use]
    pub fn with_active(mut self, active: Active) -> Self {
        self.active = Some(Box::new(active));
        self
    }

    /// The queues among which the room is divided.
    #[inline]
    pub(super) fn active(&self) -> Option<&Active> {
        self.active.as_deref()
    }

    /// Time has passed up to `now` for a queue.
    pub(crate) fn roll(&mut self, lane: usize, now: u64) {
        if let Some(active) = &mut self.active {
            active.roll(lane, now);
        }
    }

    /// A packet has joined a queue.
    pub(crate) fn joined(&mut self, lane: usize, bytes: u32) {
        if let Some(active) = &mut self.active {
            active.joined(lane, bytes);
        }
    }

    /// A packet has left a queue.
    pub(crate) fn left(&mut self, lane: usize, now: u64, bytes: u32) {
        if let Some(active) = &mut self.active {
            active.left(lane, now, bytes);
        }
    }
}
