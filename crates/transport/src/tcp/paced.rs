// SPDX-License-Identifier: MIT OR Apache-2.0
//! What only some senders have: a pacing gate, and samples of the delivery rate. Others hold no
//! memory for it.

use alloc::boxed::Box;

use cemark_wire::{Nanos, Rate};

use crate::cc::{Acked, Controller, PathSpec, Sampler, on_the_wire, per_second};

/// A controller that is paced or wants samples: BBR, a user's own, and any controller under TCP
/// pacing.
#[derive(Debug)]
pub struct Paced {
    pub(crate) controller: Box<dyn Controller>,
    path: PathSpec,
    /// Largest train that leaves together, in bytes; 0: one segment.
    train: u32,
    /// Nothing leaves before this time.
    pub(crate) gate: Option<Nanos>,
    /// When the next segment is due, in picoseconds: the gate is rounded up to nanoseconds, and
    /// the rounding must not slow the sender down.
    due: u64,
    /// Bytes that left since the gate opened.
    burst: u64,
    /// Rate at which the window is released, if the controller sets no rate.
    spread: Option<Spread>,
    sampler: Option<Sampler>,
}

/// A window released over its round trip (Linux, `tcp_update_pacing_rate`).
#[derive(Clone, Copy, Debug, Default)]
struct Spread {
    /// Smoothed round trip in nanoseconds.
    srtt: u64,
    rate: Option<Rate>,
}

impl Spread {
    fn update(&mut self, path: &PathSpec, controller: &dyn Controller, rtt: u32) {
        self.srtt = match self.srtt {
            0 => u64::from(rtt),
            old => (7 * old + u64::from(rtt)) / 8,
        };
        // Twice the window in slow start, so that it can double; a fifth more afterwards, so that
        // pacing does not limit it.
        let tenths = if controller.in_slow_start() { 20 } else { 12 };
        let rate = per_second(controller.cwnd(), self.srtt) / 10 * tenths;
        let segment = (u64::from(path.mss), u64::from(path.header));
        self.rate = Some(Rate(on_the_wire(segment, rate)).max(Rate(8_000)));
    }
}

impl Paced {
    pub(crate) fn new(
        controller: Box<dyn Controller>,
        path: &PathSpec,
        spread: bool,
        train: u32,
    ) -> Paced {
        Paced {
            path: *path,
            train,
            gate: None,
            due: 0,
            burst: 0,
            spread: spread.then(Spread::default),
            sampler: controller.wants_delivered().then(Sampler::default),
            controller,
        }
    }

    /// A segment leaves; `before` bytes were in the network until then, and `last` says that
    /// nothing else is written.
    pub(crate) fn sent(&mut self, now: Nanos, (seq, len): (u64, u64), before: u64, last: bool) {
        if let Some(sampler) = &mut self.sampler {
            sampler.sent(now, (seq, len), len, before);
            if last {
                sampler.limit(before + len);
            }
        }
        self.controller.on_sent(now, len, before + len);
        let Some(rate) = self.rate() else {
            return;
        };
        let wire = len + u64::from(self.path.header);
        let spacing = (u128::from(wire) * 8_000_000_000_000 / u128::from(rate.0.max(1))) as u64;
        let now_ps = now.0.saturating_mul(1_000);
        // A segment that left late lets the next one leave earlier, but by no more than half a gap
        // (Linux, `tcp_update_skb_after_send`).
        let late = now_ps.saturating_sub(self.due);
        let gap = spacing - late.min(spacing / 2);
        self.due = self.due.max(now_ps).saturating_add(gap);
        self.burst += len;
        if self.burst >= self.quantum(rate) {
            self.burst = 0;
            self.gate = Some(Nanos(self.due.div_ceil(1_000)));
        }
    }

    /// The controller's rate, or that of its window.
    pub(crate) fn rate(&self) -> Option<Rate> {
        self.controller
            .pacing_rate()
            .or_else(|| self.spread.and_then(|s| s.rate))
    }

    /// Largest train that pacing lets through at once.
    pub(crate) fn largest_train(&self) -> u64 {
        self.rate().map_or(u64::MAX, |rate| self.quantum(rate))
    }

    /// Bytes that leave together: one segment, or a train of what a millisecond sends, at least two
    /// segments.
    fn quantum(&self, rate: Rate) -> u64 {
        if self.train == 0 {
            return 1;
        }
        let train = (rate.0 / 8_000).max(2 * u64::from(self.path.mss));
        train.min(u64::from(self.train))
    }

    pub(crate) fn on_ack(&mut self, ack: &Acked, una: u64) {
        if let Some(sampler) = &mut self.sampler {
            sampler.acked_below(ack.now, una);
        }
        self.controller.on_ack(ack);
        if let (Some(spread), Some(rtt)) = (&mut self.spread, ack.rtt) {
            spread.update(&self.path, &*self.controller, rtt);
        }
    }

    /// `[from, to)` is newly SACKed.
    pub(crate) fn newly_sacked(&mut self, now: Nanos, from: u64, to: u64) {
        if let Some(sampler) = &mut self.sampler {
            sampler.acked_between(now, from, to);
        }
    }

    /// Ends the processing of an acknowledgement with its sample.
    pub(crate) fn finish_ack(
        &mut self,
        now: Nanos,
        bytes_in_flight: u64,
        lost: u64,
        in_recovery: bool,
    ) {
        let Some(sampler) = &mut self.sampler else {
            return;
        };
        if let Some(delivered) = sampler.finish(now, bytes_in_flight, lost, in_recovery)
            && self.controller.on_delivered(&delivered)
        {
            sampler.limit(bytes_in_flight);
        }
    }

    pub(crate) fn next_wake(&self) -> Option<Nanos> {
        match (self.gate, self.controller.next_wake()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    pub(crate) fn wake(&mut self, now: Nanos) {
        self.gate = self.gate.filter(|&gate| now < gate);
        if self.controller.next_wake().is_some_and(|at| at <= now) {
            self.controller.wake(now);
        }
    }
}
