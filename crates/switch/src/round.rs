// SPDX-License-Identifier: MIT OR Apache-2.0
//! The round time: how long the port's scheduler takes to come back to a queue, smoothed. A signal
//! of the port, not of a marker.
//!
//! Under a scheduler of turns (DWRR, WRR) a queue's round lasts from its activation, or the end of
//! its last turn, to the departure of the last packet of its turn, and each such span is a sample:
//! `T = beta x T + (1 - beta) x sample` (MQ-ECN section 3.3.1; the rule in integers is
//! [`fixed::ewma`] on nanoseconds in 2^-12). Queues that are empty give no samples. A port that has
//! been empty for n x T_idle takes `T = T x beta^n`, when its next packet arrives
//! ([`fixed::decay`]).
//!
//! Under WFQ, which has no rounds, the port smooths the sum of the quanta (weight x MTU) of its
//! backlogged queues, at each departure and each change between empty and backlogged, and gives the
//! time that they take on the link. Quantum time over round is then the weight over the smoothed
//! sum of weights, MQ-ECN's approximation (section 3.4).
//!
//! Samples, idle times and picoseconds a byte beyond 2^32 - 1 count as that, and the round stands
//! at its largest: `dataplane/include/cemark/round.h` is the same in C, and `vectors/round.toml`
//! holds both to it.
//!
//! The bound by the link's rate, min(quantum / T, C), is the markers': a round shorter than the
//! quantum's time leaves thresholds alone.

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
    /// T_idle: every so long that the port is empty the average loses a factor beta. `None`: the
    /// time of one MTU on the link (12 us at 1 Gb/s, 1.2 us at 10 Gb/s). Zero: it keeps its value.
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
    /// Nanoseconds (turns) or bytes (weights) in 2^-12.
    average: u64,
    /// Queues whose turns or weights count.
    turns: u64,
    weights: u64,
    /// Turns: when each queue's round began.
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
    /// A port that has served no round yet: zero, which leaves every threshold at its standard
    /// value.
    pub fn new(spec: RoundSpec, rounds: Rounds, queues: &[QueueSpec], clock: Clock) -> Self {
        let rate = queues[0].rate;
        let (turns, weights) = match rounds {
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
            turns,
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

    /// Asks the cache for what is kept of queue `i`.
    #[inline(always)]
    pub(crate) fn prefetch(&self, i: usize) {
        self.start.prefetch(i);
    }

    /// Whether anything is measured.
    #[inline]
    pub fn is_measured(&self) -> bool {
        self.turns | self.weights != 0
    }

    /// A packet has come to a port that held none since `since` (ticks), when its last one had
    /// left.
    #[inline]
    pub fn woke(&mut self, now: u64, since: u64) {
        // Not twice over the same span, should the packet be refused.
        let since = since.max(self.looked);
        if self.turns == 0 || self.average == 0 || self.idle == 0 || now <= since {
            return;
        }
        self.looked = now;
        let slots = self.clock.nanos(now - since).0 / self.idle;
        if slots > 0 {
            self.average = fixed::decay(self.average, self.weight, slots);
            self.value = nearest(self.average);
        }
    }

    /// Queue `i` has got its first packet.
    #[inline]
    pub fn activated(&mut self, i: usize, now: u64) {
        if self.turns >> i & 1 == 1 {
            self.start[i] = self.start[i].max(now);
        } else if self.weights >> i & 1 == 1 {
            self.busy = self.busy.saturating_add(self.quanta[i]);
            self.weigh();
        }
    }

    /// A packet of queue `i` leaves for the link until `end` (ticks); `visit_ends`: the last of the
    /// queue's turn; `emptied`: the last in the queue.
    #[inline]
    pub fn served(&mut self, i: usize, end: u64, visit_ends: bool, emptied: bool) {
        if self.turns >> i & 1 == 1 {
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

    /// A packet of queue `i` was discarded as it was to leave; `turn_over`: and that was the end of
    /// the queue's turn.
    pub fn discarded(&mut self, i: usize, now: u64, turn_over: bool, emptied: bool) {
        if self.turns >> i & 1 == 1 {
            if turn_over {
                self.turn_ended(i, now);
            }
        } else if self.weights >> i & 1 == 1 && emptied {
            self.emptied(i);
        }
    }

    #[inline]
    fn turn_ended(&mut self, i: usize, end: u64) {
        let took = self.clock.nanos(end - self.start[i]).0;
        self.start[i] = end;
        let sample = u32::try_from(took).unwrap_or(u32::MAX);
        self.average = fixed::ewma(self.average, sample, self.weight);
        self.value = nearest(self.average);
    }

    fn emptied(&mut self, i: usize) {
        self.busy -= self.quanta[i].min(self.busy);
        self.weigh();
    }

    fn weigh(&mut self) {
        self.average = fixed::ewma(self.average, self.busy, self.weight);
        let picos = u128::from(self.average) * u128::from(self.picos_per_byte);
        self.value = nearest(u64::try_from(picos / 1000).unwrap_or(u64::MAX));
    }

    /// Idle time no longer wears it down.
    pub fn keep_when_idle(&mut self) {
        self.idle = 0;
    }

    /// Replaces what has been measured so far, to see how it heals.
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
