// SPDX-License-Identifier: MIT OR Apache-2.0
//! A port that obeys pause frames and sends them.
//!
//! Simplifications: a pause lasts until the frame that ends it (quanta do not expire, so frames
//! need not be repeated); a frame names one queue; and a frame leaves before all waiting packets,
//! as soon as the packet in transmission has been sent.

use cemark_marking::QueueId;

use crate::admit::Pool;
use crate::explicit::ExplicitPort;
use crate::port::{Discarded, NEVER, Offer, Port};

/// Bytes of a pause frame on the wire.
pub const PAUSE_BYTES: u32 = 64;

/// What a port records of its pauses.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    /// Bytes of pause frames sent.
    control_bytes: u64,
    frames: u64,
    /// When the first of the paused queues was paused.
    since: u64,
    ticks: u64,
}

/// How much a port was paused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paused {
    /// Pauses that began.
    pub frames: u64,
    /// Ticks in which some queue was paused.
    pub ticks: u64,
}

impl ExplicitPort {
    fn pause(&mut self, now: u64, queue: u8) {
        if self.paused == 0 {
            self.pause.since = now;
        }
        self.paused |= 1 << queue;
        self.pause.frames += 1;
    }

    fn resume(&mut self, now: u64, queue: u8, pools: &mut [Pool], gone: &mut Discarded) -> Offer {
        self.paused &= !(1 << queue);
        if self.paused == 0 {
            self.pause.ticks += now - self.pause.since;
        }
        let mut offer = Offer::QUIET;
        if self.busy <= now {
            offer.deliver_at = self.start(now, &mut pools[self.pool.place()], gone);
        }
        offer.serve_at = self.arm();
        offer
    }

    fn send_pause(&mut self, now: u64) -> (u64, u64) {
        self.pause.control_bytes += u64::from(PAUSE_BYTES);
        self.busy = self.busy.max(now) + u64::from(PAUSE_BYTES) * self.byte_ticks;
        (self.busy + self.delay, self.arm())
    }

    /// Bytes of pause frames sent.
    pub(crate) fn control_bytes(&self) -> u64 {
        self.pause.control_bytes
    }
}

impl Port {
    /// A pause frame for a queue has arrived. Only a port with explicit queues can be paused.
    pub fn pause(&mut self, now: u64, queue: u8) {
        if let Port::Explicit(p) = self {
            p.pause(now, queue);
        }
    }

    /// The frame that ends a pause has arrived.
    pub fn resume(
        &mut self,
        now: u64,
        queue: u8,
        pools: &mut [Pool],
        gone: &mut Discarded,
    ) -> Offer {
        match self {
            Port::Fused(_) => Offer::QUIET,
            Port::Explicit(p) => p.resume(now, queue, pools, gone),
        }
    }

    /// Sends a pause frame (or the frame that ends a pause) to the far end of the link. Returns
    /// when it arrives there, and when to call [`Port::serve`].
    pub fn send_pause(&mut self, now: u64) -> (u64, u64) {
        match self {
            Port::Fused(_) => (now, NEVER),
            Port::Explicit(p) => p.send_pause(now),
        }
    }

    /// Queues that may not send, as bits.
    #[inline]
    pub fn paused(&self) -> u64 {
        match self {
            Port::Fused(_) => 0,
            Port::Explicit(p) => p.paused,
        }
    }

    /// How long it was paused up to `now`.
    pub fn pauses(&self, now: u64) -> Paused {
        let Port::Explicit(p) = self else {
            return Paused::default();
        };
        let open = match p.paused {
            0 => 0,
            _ => now - p.pause.since,
        };
        Paused {
            frames: p.pause.frames,
            ticks: p.pause.ticks + open,
        }
    }

    /// Ticks until everything that may be sent now has been sent.
    pub fn open_ticks(&self, now: u64) -> u64 {
        match self {
            Port::Fused(p) => p.busy.saturating_sub(now),
            Port::Explicit(p) => {
                let open = |i: &usize| p.paused >> i & 1 == 0;
                let bytes: u64 = (0..p.queues.len())
                    .filter(open)
                    .map(|i| u64::from(p.queues[i].bytes))
                    .sum();
                p.busy.saturating_sub(now) + bytes * p.byte_ticks
            }
        }
    }

    /// Calls `each` with the place of its link and the bytes of every packet that waits in a queue.
    pub fn waiting(&self, queue: QueueId, mut each: impl FnMut(u32, u32)) {
        let Port::Explicit(p) = self else { return };
        if let Some(queue) = p.queues.get(usize::from(queue.0)) {
            queue
                .waiting
                .each(&p.slots, |w| each(w.packet.stamp, w.bytes()));
        }
    }
}
