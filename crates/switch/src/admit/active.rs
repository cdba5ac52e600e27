// SPDX-License-Identifier: MIT OR Apache-2.0
//! Policies that divide the free room of a switch among its congested queues: ABM (Addanki et al.,
//! SIGCOMM 2022) and Reverie (Addanki et al., NSDI 2024).
//!
//! A queue of class p may hold `alpha x free / n`, with n the number of congested queues of class p
//! at the ports of the switch, at least 1. A queue counts in n by its length, as a part of
//! `congested` bytes, at most 1.
//!
//! - **ABM** multiplies this by the rate at which the queue was served in the last whole interval,
//!   as a part of the link's. A queue that is no longer than `congested` then, or that sent no more
//!   than two packets (2048 bytes), has the rate 1.
//! - **Reverie** compares a low-pass filter of the length instead of the length. Each departure
//!   makes it `gamma x filter + (1 - gamma) x length`, and at most the length.
//!
//! The rules are those of the authors' simulator. Factors, rates and filters have parts of 2^16.
//! Packets of the first round trip have no larger factor of their own here.

/// Parts of one.
pub(super) const ONE: u32 = 1 << 16;
/// Bytes above which a queue's departures in an interval are a rate.
const TWO_PACKETS: u64 = 2_048;

/// The rule of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Rule {
    /// ABM.
    Abm {
        /// Ticks of an interval; above zero.
        interval: u64,
    },
    /// Reverie.
    Reverie {
        /// Weight of the old filter in parts of 2^16.
        gamma: u32,
    },
}

/// A filter of a length, and the length's part in the number of congested queues.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Smoothed {
    /// Bytes in parts of 2^16.
    filter: u64,
    saturation: u32,
}

impl Smoothed {
    /// Whole bytes of the filter.
    #[inline]
    pub(super) fn bytes(&self) -> u32 {
        (self.filter >> 16) as u32
    }

    /// A packet has left, and `length` bytes stay.
    pub(super) fn left(&mut self, gamma: u32, length: u32) {
        let length = u64::from(length) << 16;
        let (old, new) = (u64::from(gamma), u64::from(ONE.saturating_sub(gamma)));
        let filter = (u128::from(self.filter) * u128::from(old)
            + u128::from(length) * u128::from(new))
            >> 16;
        self.filter = (filter as u64).min(length);
    }

    /// The length that counts is now `bytes`: corrects the sum of the class.
    pub(super) fn counts(&mut self, bytes: u32, congested: u32, sum: &mut u64) {
        let part = (u64::from(bytes) << 16) / u64::from(congested.max(1));
        let new = part.min(u64::from(ONE)) as u32;
        *sum = *sum + u64::from(new) - u64::from(self.saturation);
        self.saturation = new;
    }
}

/// `alpha x free / n`, where `sum` is n in parts of 2^16 and counts as 1 at least.
pub(super) fn part(alpha: u32, free: u32, sum: u64) -> u64 {
    let whole = u128::from(alpha) * u128::from(free);
    let part = whole / u128::from(sum.max(u64::from(ONE)));
    u64::try_from(part).unwrap_or(u64::MAX)
}

/// A queue of one port.
#[derive(Clone, Copy, Debug)]
struct Lane {
    bytes: u32,
    smoothed: Smoothed,
    /// Bytes sent in the present interval.
    sent: u64,
    /// Number of the present interval.
    interval: u64,
    /// Bytes that the link carries in an interval.
    line: u64,
    /// Part of the link's rate, of 2^16.
    rate: u32,
}

/// The lossy queues of all ports of a switch.
#[derive(Clone, Debug)]
pub struct Active {
    rule: Rule,
    congested: u32,
    classes: usize,
    /// By port of the switch, then by class.
    lanes: Vec<Lane>,
    /// By class: the number of congested queues in parts of 2^16.
    sums: Vec<u64>,
}

impl Active {
    /// Queues of `classes` at each port. `lines`: by port the bytes that its link carries in an
    /// interval.
    pub fn new(rule: Rule, congested: u32, classes: usize, lines: &[u64]) -> Active {
        let lane = |&line: &u64| Lane {
            bytes: 0,
            smoothed: Smoothed::default(),
            sent: 0,
            interval: 0,
            line: line.max(1),
            rate: ONE,
        };
        let lanes = lines
            .iter()
            .flat_map(|line| (0..classes).map(move |_| lane(line)));
        Active {
            rule,
            congested,
            classes,
            lanes: lanes.collect(),
            sums: vec![0; classes],
        }
    }

    /// Intervals that have passed up to `now` end for a queue.
    pub(super) fn roll(&mut self, lane: usize, now: u64) {
        let Rule::Abm { interval } = self.rule else {
            return;
        };
        let own = &mut self.lanes[lane];
        let number = now / interval.max(1);
        if number == own.interval {
            return;
        }
        // A queue whose packets all waited has sent nothing in the last interval.
        let sent = if number == own.interval + 1 {
            own.sent
        } else {
            0
        };
        own.rate = match own.bytes > self.congested && sent > TWO_PACKETS {
            true => ((sent << 16) / own.line).min(u64::from(ONE)) as u32,
            false => ONE,
        };
        (own.sent, own.interval) = (0, number);
    }

    /// The longest that a queue may be when `free` bytes are free.
    pub(super) fn threshold(&self, lane: usize, alpha: u32, free: u32) -> u32 {
        let own = &self.lanes[lane];
        let part = part(alpha, free, self.sums[lane % self.classes]);
        let scaled = (u128::from(part) * u128::from(own.rate)) >> 16;
        u32::try_from(scaled).unwrap_or(u32::MAX)
    }

    /// The length that a threshold is compared with.
    pub(super) fn length(&self, lane: usize) -> u32 {
        let own = &self.lanes[lane];
        match self.rule {
            Rule::Abm { .. } => own.bytes,
            Rule::Reverie { .. } => own.smoothed.bytes(),
        }
    }

    fn count(&mut self, lane: usize) {
        let length = self.length(lane);
        let sum = &mut self.sums[lane % self.classes];
        self.lanes[lane]
            .smoothed
            .counts(length, self.congested, sum);
    }

    /// A packet has joined a queue.
    pub(super) fn joined(&mut self, lane: usize, bytes: u32) {
        self.lanes[lane].bytes += bytes;
        self.count(lane);
    }

    /// A packet has left a queue.
    pub(super) fn left(&mut self, lane: usize, now: u64, bytes: u32) {
        self.roll(lane, now);
        let own = &mut self.lanes[lane];
        own.bytes -= bytes;
        own.sent += u64::from(bytes);
        if let Rule::Reverie { gamma } = self.rule {
            own.smoothed.left(gamma, own.bytes);
        }
        self.count(lane);
    }
}
