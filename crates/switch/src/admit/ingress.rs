// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ingress side of a switch's buffer: how much came over which link, and when its sender has to
//! pause (priority flow control, IEEE 802.1Qbb).
//!
//! Every link into the switch has a meter for each lossless queue. Below XOFF, packets use the
//! shared room. The packet that would exceed XOFF makes the switch send a pause frame, and from
//! then on packets use the headroom reserved for this meter. Departing packets free headroom first.
//! At XON the link may send again.

use super::active::{Smoothed, part};
use super::{Admit, RoomRequest};
use crate::counters::DropReason;

/// When a meter pauses its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Xoff {
    /// At this number of bytes.
    Bytes(u32),
    /// At `alpha` (parts of 2^16) times the shared room that is free.
    Dynamic {
        /// Its factor.
        alpha: u32,
    },
    /// Reverie (NSDI 2024): as `Dynamic`, divided by the number of congested meters of the queue,
    /// and compared with a low-pass filter of the meter ([`Active`](super::Active)).
    Filtered {
        /// Factor of the free room.
        alpha: u32,
        /// Weight of the old filter in parts of 2^16.
        gamma: u32,
        /// A meter of this many bytes counts as one.
        congested: u32,
    },
}

/// A pause frame that a switch has to send to the far end of a link into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// The number of the link that the owner gave to [`Ingress::new`].
    pub link: u32,
    /// Which queue.
    pub queue: u8,
    /// Pause (true) or resume (false).
    pub pause: bool,
}

/// Bytes that came over one link for one lossless queue and wait in the switch.
#[derive(Clone, Copy, Debug, Default)]
struct Meter {
    shared: u32,
    headroom: u32,
    paused: bool,
}

/// The meters of one switch.
#[derive(Clone, Debug)]
pub struct Ingress {
    /// By link, then by queue.
    meters: Vec<Meter>,
    /// The numbers that the owner gave to the links.
    links: Vec<u32>,
    /// Headroom of one meter, by link.
    room: Vec<u32>,
    queues: usize,
    /// The filters of the meters under [`Xoff::Filtered`]; else empty.
    smoothed: Vec<Smoothed>,
    /// By queue: the number of congested meters in parts of 2^16.
    sums: Vec<u64>,
    xoff: Xoff,
    xon_offset: u32,
    /// Frames to send, since the owner last took them.
    pub signals: Vec<Signal>,
}

impl Ingress {
    /// Meters for `links` (the owner's number and the headroom of a queue, each) and queues
    /// 0..`queues`. A meter resumes `xon_offset` bytes below XOFF.
    pub fn new(links: &[(u32, u32)], queues: usize, xoff: Xoff, xon_offset: u32) -> Ingress {
        Ingress {
            meters: vec![Meter::default(); links.len() * queues],
            links: links.iter().map(|l| l.0).collect(),
            room: links.iter().map(|l| l.1).collect(),
            queues,
            smoothed: match xoff {
                Xoff::Filtered { .. } => vec![Smoothed::default(); links.len() * queues],
                Xoff::Bytes(_) | Xoff::Dynamic { .. } => Vec::new(),
            },
            sums: vec![0; queues],
            xoff,
            xon_offset,
            signals: Vec::new(),
        }
    }

    #[inline(always)]
    fn at(&self, from: u32, queue: usize) -> usize {
        from as usize * self.queues + queue
    }

    /// The bytes of a meter of `queue` that count, where it has `shared` bytes, and the threshold
    /// above which its sender is paused when `free` bytes of shared room are free.
    #[inline(always)]
    fn compared(&self, at: usize, queue: usize, shared: u32, free: u32) -> (u32, u32) {
        match self.xoff {
            Xoff::Dynamic { alpha } => (shared, times(alpha, free)),
            Xoff::Bytes(n) => (shared, n),
            Xoff::Filtered { alpha, .. } => self.filtered(at, part(alpha, free, self.sums[queue])),
        }
    }

    #[cold]
    fn filtered(&self, at: usize, threshold: u64) -> (u32, u32) {
        let threshold = u32::try_from(threshold).unwrap_or(u32::MAX);
        (self.smoothed[at].bytes(), threshold)
    }

    /// Whether, and where, a packet of a lossless queue gets room.
    #[inline(always)]
    pub(super) fn admit(&self, free: u32, request: &RoomRequest) -> Admit {
        let at = self.at(request.from, request.queue);
        let meter = &self.meters[at];
        let (length, threshold) = self.compared(at, request.queue, meter.shared, free);
        // After a pause, packets still in flight use the headroom: the shared room is for links
        // that may still send.
        let fits = !meter.paused && request.bytes <= free && length + request.bytes <= threshold;
        if fits {
            Admit::Ok
        } else if meter.headroom + request.bytes <= self.room[request.from as usize] {
            Admit::Headroom
        } else {
            Admit::Drop(DropReason::Headroom)
        }
    }

    /// A packet has joined its queue.
    #[inline(always)]
    pub(super) fn joined(&mut self, from: u32, queue: usize, bytes: u32, headroom: bool) {
        let at = self.at(from, queue);
        let meter = &mut self.meters[at];
        if !headroom {
            meter.shared += bytes;
            return;
        }
        meter.headroom += bytes;
        if !meter.paused {
            meter.paused = true;
            self.tell(from, queue, true);
        }
    }

    /// A packet leaves its queue. Returns how many of its bytes were headroom, and whether its link
    /// is paused.
    #[inline(always)]
    pub(super) fn leaving(&mut self, from: u32, queue: usize, bytes: u32) -> (u32, bool) {
        let at = self.at(from, queue);
        let meter = &mut self.meters[at];
        let part = meter.headroom.min(bytes);
        meter.headroom -= part;
        meter.shared -= bytes - part;
        let (held, paused) = (meter.shared + meter.headroom, meter.paused);
        if !self.smoothed.is_empty() {
            self.smooth(at, queue, held);
        }
        (part, paused)
    }

    /// A packet has left a meter with a filter, and `held` bytes stay.
    #[cold]
    fn smooth(&mut self, at: usize, queue: usize, held: u32) {
        if let Xoff::Filtered {
            gamma, congested, ..
        } = self.xoff
        {
            let own = &mut self.smoothed[at];
            own.left(gamma, held);
            own.counts(own.bytes(), congested, &mut self.sums[queue]);
        }
    }

    /// Resumes a link after a packet has left, if its meter allows it with `free` bytes of shared
    /// room free.
    #[inline(never)]
    pub(super) fn left(&mut self, from: u32, queue: usize, free: u32) {
        let at = self.at(from, queue);
        let meter = self.meters[at];
        if !meter.paused || meter.headroom > 0 {
            return;
        }
        let (length, threshold) = self.compared(at, queue, meter.shared, free);
        if length <= threshold.saturating_sub(self.xon_offset) {
            self.meters[at].paused = false;
            self.tell(from, queue, false);
        }
    }

    #[cold]
    fn tell(&mut self, from: u32, queue: usize, pause: bool) {
        self.signals.push(Signal {
            link: self.links[from as usize],
            queue: queue as u8,
            pause,
        });
    }

    /// Whether the sender of a link is paused.
    pub fn is_paused(&self, from: u32, queue: usize) -> bool {
        self.meters[self.at(from, queue)].paused
    }

    /// Bytes that came over a link for a queue and wait.
    pub fn held(&self, from: u32, queue: usize) -> u32 {
        let meter = &self.meters[self.at(from, queue)];
        meter.shared + meter.headroom
    }

    /// Headroom of each lossless queue of a link, in bytes.
    pub fn headroom(&self, from: u32) -> u32 {
        self.room[from as usize]
    }

    /// The largest meter, in bytes, that does not pause its sender when `free` bytes of shared room
    /// are free and no other meter is congested.
    pub fn pauses_at(&self, free: u32) -> u32 {
        match self.xoff {
            Xoff::Bytes(n) => n,
            Xoff::Dynamic { alpha } | Xoff::Filtered { alpha, .. } => times(alpha, free),
        }
    }

    /// The largest meter, in bytes, at which its sender may resume when `free` bytes of shared room
    /// are free and no other meter is congested.
    pub fn resumes_at(&self, free: u32) -> u32 {
        self.pauses_at(free).saturating_sub(self.xon_offset)
    }
}

/// `alpha` (parts of 2^16) times the free room.
#[inline(always)]
pub(super) fn times(alpha: u32, free: u32) -> u32 {
    u32::try_from((u64::from(alpha) * u64::from(free)) >> 16).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::Pool;
    use super::*;

    /// Reverie's meters by hand, with gamma 3/4 and one congested meter of 1000 bytes: a burst
    /// meets a filter of zero, a sustained one is paused, and empties into its resumption.
    #[test]
    fn a_filtered_meter_lets_a_burst_pass() {
        let xoff = Xoff::Filtered {
            alpha: 1 << 15,
            gamma: 3 << 14,
            congested: 1_000,
        };
        let mut pool = pool(xoff);
        let ingress =
            |pool: &Pool, bytes| pool.ingress().map(|i| i.admit(pool.free(), &ask(0, bytes)));
        // The filter is zero, so a packet of half of the free room passes at any length.
        for _ in 0..5 {
            assert_eq!(ingress(&pool, 1_000), Some(Admit::Ok));
            pool.join(0, 0, 1_000, false);
        }
        assert_eq!(ingress(&pool, 2_500), Some(Admit::Ok));
        assert_eq!(ingress(&pool, 2_501), Some(Admit::Headroom));
        // A quarter of 4000.
        pool.leave(0, 0, 1_000, false);
        assert_eq!(ingress(&pool, 2_000), Some(Admit::Ok));
        assert_eq!(ingress(&pool, 2_001), Some(Admit::Headroom));
        // A second congested meter halves the threshold of 6000/2, and more.
        for _ in 0..5 {
            pool.join(1, 0, 1_000, false);
        }
        pool.leave(1, 0, 1_000, false);
        assert_eq!(pool.free(), 2_000);
        // n = 2: 2000 / 2 / 2 = 500 is below the filter of 1000.
        assert_eq!(ingress(&pool, 1), Some(Admit::Headroom));
        pool.join(0, 0, 1_000, true);
        assert!(pool.ingress().is_some_and(|i| i.is_paused(0, 0)));
        // Emptied, the filter is zero, and the link resumes.
        for _ in 0..5 {
            pool.leave(0, 0, 1_000, false);
        }
        assert!(pool.ingress().is_some_and(|i| !i.is_paused(0, 0)));
        assert_eq!(pool.ingress().map(|i| i.held(0, 0)), Some(0));
    }

    fn ask(from: u32, bytes: u32) -> RoomRequest {
        RoomRequest {
            bytes,
            queue_bytes: 0,
            queue_limit: u32::MAX,
            lossless: true,
            from,
            queue: 0,
        }
    }

    fn pool(xoff: Xoff) -> Pool {
        // Two links with 3000 bytes of headroom each, 10 kB shared.
        let ingress = Ingress::new(&[(7, 3_000), (9, 3_000)], 1, xoff, 500);
        Pool::new(16_000, 6_000, true).with_ingress(ingress)
    }

    fn join(pool: &mut Pool, from: u32, bytes: u32) -> Admit {
        let answer = pool
            .ingress()
            .unwrap()
            .admit(pool.free(), &ask(from, bytes));
        if let Admit::Ok | Admit::Headroom = answer {
            pool.join(from, 0, bytes, answer == Admit::Headroom);
        }
        answer
    }

    fn signals(pool: &mut Pool) -> Vec<(u32, bool)> {
        let signals = &mut pool.ingress_mut().unwrap().signals;
        signals.drain(..).map(|s| (s.link, s.pause)).collect()
    }

    #[test]
    fn xoff_headroom_drop_and_xon() {
        let mut p = pool(Xoff::Bytes(4_000));
        for _ in 0..4 {
            assert_eq!(join(&mut p, 0, 1_000), Admit::Ok);
        }
        assert_eq!(signals(&mut p), []);
        // The packet that exceeds the threshold pauses the link; packets after it use the headroom
        // until it is full.
        let answers: Vec<_> = (0..4).map(|_| join(&mut p, 0, 1_000)).collect();
        let full = Admit::Drop(DropReason::Headroom);
        assert_eq!(
            answers,
            [Admit::Headroom, Admit::Headroom, Admit::Headroom, full]
        );
        assert_eq!(signals(&mut p), [(7, true)], "sent once");
        // The other link is not affected.
        assert_eq!(join(&mut p, 1, 1_000), Admit::Ok);
        // Headroom is freed first: three packets, then the shared room down to XOFF less 500.
        for left in 1..=4 {
            p.leave(0, 0, 1_000, true);
            let expected: &[(u32, bool)] = if left == 4 { &[(7, false)] } else { &[] };
            assert_eq!(signals(&mut p), expected, "after {left}");
        }
        assert_eq!((p.held(), p.free()), (4_000, 6_000));
        assert_eq!(p.ingress().unwrap().held(0, 0), 3_000);
    }

    #[test]
    fn a_dynamic_threshold_follows_the_free_room() {
        // alpha = 1: a meter alone settles at half of the shared room.
        let mut p = pool(Xoff::Dynamic { alpha: 1 << 16 });
        let mut joined = 0;
        while join(&mut p, 0, 100) == Admit::Ok {
            joined += 100;
        }
        assert_eq!(joined, 5_000);
        assert_eq!(signals(&mut p), [(7, true)]);
        // The second finds 5 kB free and takes half of them.
        let mut joined = 0;
        while join(&mut p, 1, 100) == Admit::Ok {
            joined += 100;
        }
        assert_eq!(joined, 2_500);
        // An empty meter resumes even where nothing is free.
        let mut full = pool(Xoff::Dynamic { alpha: 1 << 10 });
        full.take(10_000, false);
        assert_eq!(join(&mut full, 0, 1_000), Admit::Headroom);
        assert_eq!(signals(&mut full), [(7, true)]);
        full.leave(0, 0, 1_000, true);
        assert_eq!(signals(&mut full), [(7, false)]);
    }
}
