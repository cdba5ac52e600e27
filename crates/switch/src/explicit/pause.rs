// SPDX-License-Identifier: MIT OR Apache-2.0
//! A port that obeys pause frames and sends them.
//!
//! Simplifications: a pause lasts until the frame that ends it (quanta do not expire, so frames
//! need not be repeated); a frame names one queue; and a frame leaves before all waiting packets,
//! as soon as the packet in transmission has been sent.

use cemark_marking::QueueId;

use super::ExplicitPort;
use crate::admit::Pool;
use crate::spec::{Discarded, Offer};

/// Bytes of a pause frame on the wire.
pub const PAUSE_BYTES: u32 = 64;

/// Records of a port's pauses.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    /// Bytes of pause frames sent.
    control_bytes: u64,
    /// Pauses of any queue.
    any: Spells,
    /// Pauses by queue, up to the last queue that was ever paused.
    queues: Vec<Spells>,
}

/// Pauses of a queue, or of any queue of a port.
#[derive(Clone, Copy, Debug, Default)]
struct Spells {
    frames: u64,
    /// Start of the pause that lasts.
    since: u64,
    /// Ticks of the pauses that have ended.
    ticks: u64,
}

impl Spells {
    fn begin(&mut self, now: u64, lasts: bool) {
        if !lasts {
            self.since = now;
        }
        self.frames += 1;
    }

    fn until(&self, now: u64, lasts: bool) -> Paused {
        let open = if lasts { now - self.since } else { 0 };
        Paused {
            frames: self.frames,
            ticks: self.ticks + open,
        }
    }
}

/// How much a port, or one queue of it, was paused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paused {
    /// Pauses that began.
    pub frames: u64,
    /// Ticks in which the queue, or some queue of the port, was paused.
    pub ticks: u64,
}

impl ExplicitPort {
    pub(crate) fn pause(&mut self, now: u64, queue: u8) {
        let (any, this) = (self.paused != 0, self.is_paused(queue));
        self.pause.any.begin(now, any);
        let (queues, place) = (&mut self.pause.queues, usize::from(queue));
        if place >= queues.len() {
            queues.resize(place + 1, Spells::default());
        }
        queues[place].begin(now, this);
        self.paused |= 1 << queue;
    }

    fn is_paused(&self, queue: u8) -> bool {
        self.paused >> queue & 1 == 1
    }

    pub(crate) fn resume(
        &mut self,
        now: u64,
        queue: u8,
        pools: &mut [Pool],
        gone: &mut Discarded,
    ) -> Offer {
        let this = self.is_paused(queue);
        if let Some(spells) = self.pause.queues.get_mut(usize::from(queue)) {
            spells.ticks = spells.until(now, this).ticks;
        }
        self.paused &= !(1 << queue);
        if self.paused == 0 {
            self.pause.any.ticks = self.pause.any.until(now, true).ticks;
        }
        let mut offer = Offer::QUIET;
        if self.busy <= now {
            offer.deliver_at = self.start(now, &mut pools[self.pool.place()], gone);
        }
        offer.serve_at = self.arm();
        offer
    }

    pub(crate) fn send_pause(&mut self, now: u64) -> (u64, u64) {
        self.pause.control_bytes += u64::from(PAUSE_BYTES);
        self.busy = self.busy.max(now) + u64::from(PAUSE_BYTES) * self.byte_ticks;
        (self.busy + self.delay, self.arm())
    }

    /// Bytes of pause frames sent.
    pub(crate) fn control_bytes(&self) -> u64 {
        self.pause.control_bytes
    }

    /// How long it was paused up to `now`.
    pub(crate) fn pauses(&self, now: u64) -> Paused {
        self.pause.any.until(now, self.paused != 0)
    }

    /// How long one queue was paused up to `now`.
    pub(crate) fn pauses_of(&self, queue: u8, now: u64) -> Paused {
        let spells = self.pause.queues.get(usize::from(queue));
        spells.map_or_else(Paused::default, |s| s.until(now, self.is_paused(queue)))
    }

    /// Ticks until everything that may be sent now has been sent.
    pub(crate) fn open_ticks(&self, now: u64) -> u64 {
        let queues = self.queues.iter().enumerate();
        let open = queues.filter(|(i, _)| self.paused >> i & 1 == 0);
        let bytes: u64 = open.map(|(_, queue)| u64::from(queue.bytes)).sum();
        self.busy.saturating_sub(now) + bytes * self.byte_ticks
    }

    /// Calls `each` with the place of its link and the bytes of every packet that waits in a queue.
    pub(crate) fn waiting(&self, queue: QueueId, mut each: impl FnMut(u32, u32)) {
        if let Some(queue) = self.queues.get(usize::from(queue.0)) {
            queue
                .waiting
                .each(&self.slots, |w| each(w.packet.stamp, w.bytes()));
        }
    }
}
