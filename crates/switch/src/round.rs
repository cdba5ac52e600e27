// SPDX-License-Identifier: MIT OR Apache-2.0
//! The round time: how long the port's scheduler takes to return to a queue, smoothed. It is
//! measured by the port, once for all its markers.
//!
//! Under a scheduler that visits queues in rounds (DWRR, WRR), a queue's round lasts from its
//! activation, or the end of its last visit, to the departure of the last packet of its visit. Each
//! such span is a sample: `T = beta x T + (1 - beta) x sample` (MQ-ECN section 3.3.1; the rule in
//! integers is [`fixed::ewma`] on nanoseconds in 2^-12). Queues that are empty give no samples. A
//! port that has been empty for n x T_idle sets `T = T x beta^n` when its next packet arrives
//! ([`fixed::decay`]).
//!
//! Under WFQ, which has no rounds, the port smooths the sum of the quanta (weight x MTU) of its
//! backlogged queues, at each departure and each change between empty and backlogged, and reports
//! the time that they take on the link. Quantum time over round is then the weight over the
//! smoothed sum of weights, MQ-ECN's approximation (section 3.4).
//!
//! Samples, idle times and picoseconds per byte saturate at 2^32 - 1, and the round time saturates
//! too. `dataplane/include/cemark/round.h` is the same rule in C, and `vectors/round.toml` checks
//! both.
//!
//! The bound by the link's rate, min(quantum / T, C), is applied by the markers: a round shorter
//! than the time of the quantum leaves thresholds unchanged.

use cemark_marking::{QueueSpec, fixed};
use cemark_wire::Nanos;

use crate::clock::Clock;
use crate::lines::Lines;
use crate::sched::Rounds;

/// Parameters of the smoothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RoundSpec {
    /// Weight of the old average in parts of 2^16 (MQ-ECN section 3.3.1; 0.75 in section 5).
    pub beta: u32,
    /// T_idle: for each such span in which the port is empty, the average is multiplied by beta.
    /// `None`: the time of one MTU on the link (12 us at 1 Gb/s, 1.2 us at 10 Gb/s). Zero: the
    /// average keeps its value.
    pub idle: Option<Nanos>,
}

impl Default for RoundSpec {
    fn default() -> Self {
        RoundSpec {
            beta: fixed::ONE / 4 * 3,
            idle: None,
        }
    }
}

/// The round time of one port. Instants are ticks of `clock`.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Round {
    value: Nanos,
    /// Nanoseconds (visits) or bytes (weights) in units of 2^-12.
    average: u64,
    /// Queues whose visits or weights count.
    visits: u64,
    weights: u64,
    /// Visits: when each queue's round began.
    start: Lines<u64>,
    clock: Clock,
    idle: u64,
    /// Until when idleness has been accounted for.
    looked: u64,
    /// Weight of a new sample, parts of 2^16.
    weight: u32,
    quanta: Box<[u32]>,
    /// Sum of the quanta of the backlogged queues.
    busy: u32,
    picos_per_byte: u64,
}

impl Round {
    /// A port that has measured no round yet: the round time is zero, which leaves every threshold
    /// at its standard value.
    pub fn new(spec: RoundSpec, rounds: Rounds, queues: &[QueueSpec], clock: Clock) -> Self {
        let rate = queues[0].rate;
        let (visits, weights) = match rounds {
            Rounds::None => (0, 0),
            Rounds::Visits(m) => (m, 0),
            Rounds::Weights(m) => (0, m),
        };
        let mtu = u64::from(queues[0].mtu);
        Round {
            value: Nanos::ZERO,
            average: 0,
            weight: fixed::ONE - spec.beta.min(fixed::ONE),
            idle: spec
                .idle
                .unwrap_or(rate.nanos_for(mtu))
                .0
                .min(u64::from(u32::MAX)),
            looked: 0,
            visits,
            weights,
            clock,
            start: queues.iter().map(|_| 0).collect(),
            quanta: queues.iter().map(|q| q.quantum).collect(),
            busy: 0,
            picos_per_byte: rate.picos_per_byte().0.min(u64::from(u32::MAX)),
        }
    }

    /// The smoothed round time.
    #[inline]
    pub fn get(&self) -> Nanos {
        self.value
    }

    /// Prefetches the state of queue `i`.
    #[inline(always)]
    pub(crate) fn prefetch(&self, i: usize) {
        self.start.prefetch(i);
    }

    /// Whether anything is measured.
    #[inline]
    pub fn is_measured(&self) -> bool {
        self.visits | self.weights != 0
    }

    /// A packet has arrived at a port that has been empty since `since` (ticks), when its last
    /// packet had been sent.
    #[inline]
    pub fn woke(&mut self, now: u64, since: u64) {
        // The same span must not count twice if the packet is refused.
        let since = since.max(self.looked);
        if self.visits == 0 || self.average == 0 || self.idle == 0 || now <= since {
            return;
        }
        self.looked = now;
        let slots = self.clock.nanos(now - since).0 / self.idle;
        if slots > 0 {
            self.average = fixed::decay(self.average, self.weight, slots);
            self.value = nearest(self.average);
        }
    }

    /// Queue `i` has received its first packet.
    #[inline(always)]
    pub fn activated(&mut self, i: usize, now: u64) {
        if self.visits >> i & 1 == 1 {
            self.start[i] = self.start[i].max(now);
        } else if self.weights >> i & 1 == 1 {
            self.busy = self.busy.saturating_add(self.quanta[i]);
            self.weigh();
        }
    }

    /// A packet of queue `i` is sent, which takes until `end` (ticks). `visit_ends`: it is the last
    /// of the queue's visit; `emptied`: it was the last in the queue.
    #[inline(always)]
    pub fn served(&mut self, i: usize, end: u64, visit_ends: bool, emptied: bool) {
        if self.visits >> i & 1 == 1 {
            if visit_ends {
                self.turn_ended(i, end);
            }
        } else if self.weights >> i & 1 == 1 {
            self.weigh();
            if emptied {
                self.emptied(i);
            }
        }
    }

    /// A packet of queue `i` was discarded at dequeue. `visit_over`: that ended the queue's visit.
    pub fn discarded(&mut self, i: usize, now: u64, visit_over: bool, emptied: bool) {
        if self.visits >> i & 1 == 1 {
            if visit_over {
                self.turn_ended(i, now);
            }
        } else if self.weights >> i & 1 == 1 && emptied {
            self.emptied(i);
        }
    }

    #[inline(always)]
    fn turn_ended(&mut self, i: usize, end: u64) {
        let took = self.clock.nanos(end - self.start[i]).0;
        self.start[i] = end;
        let sample = u32::try_from(took).unwrap_or(u32::MAX);
        self.average = fixed::ewma(self.average, sample, self.weight);
        self.value = nearest(self.average);
    }

    #[inline(never)]
    fn emptied(&mut self, i: usize) {
        self.busy -= self.quanta[i].min(self.busy);
        self.weigh();
    }

    #[inline(never)]
    fn weigh(&mut self) {
        self.average = fixed::ewma(self.average, self.busy, self.weight);
        let picos = u128::from(self.average) * u128::from(self.picos_per_byte);
        self.value = nearest(u64::try_from(picos / 1000).unwrap_or(u64::MAX));
    }

    /// Idle time no longer reduces the average.
    pub fn keep_when_idle(&mut self) {
        self.idle = 0;
    }

    /// Replaces the average, for tests of how it recovers.
    pub fn force(&mut self, round: Nanos) {
        self.average = round.0 << fixed::AVG_BITS;
        self.value = round;
    }
}

/// The nearest nanosecond.
#[inline]
fn nearest(average: u64) -> Nanos {
    Nanos(average.saturating_add(1 << (fixed::AVG_BITS - 1)) >> fixed::AVG_BITS)
}
