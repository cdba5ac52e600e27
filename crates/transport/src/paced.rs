// SPDX-License-Identifier: MIT OR Apache-2.0
//! What only some senders have: a gate that paces, and samples of the delivery rate. The others pay
//! nothing for it.

use alloc::boxed::Box;

use cemark_wire::{Nanos, Rate};

use crate::delivery::{Sampler, per_second};
use crate::{Acked, Config, Controller};

/// A law that is paced, or wants samples: a user's own, BBR, and any law under TCP pacing.
#[derive(Debug)]
pub struct Paced {
    pub(crate) law: Box<dyn Controller>,
    /// Nothing leaves before this instant.
    pub(crate) gate: Option<Nanos>,
    /// When the next segment is due, in picoseconds: what a gate in whole nanoseconds rounds up is
    /// not lost.
    due: u64,
    /// Bytes that left since the gate opened.
    burst: u64,
    /// The window's own pace, where the law has none.
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
    fn update(&mut self, cfg: &Config, law: &dyn Controller, rtt: u32) {
        self.srtt = match self.srtt {
            0 => u64::from(rtt),
            old => (7 * old + u64::from(rtt)) / 8,
        };
        // Twice the window in slow start, so that it can double; a fifth more afterwards, so that
        // pacing does not hold it back.
        let tenths = if law.slow_start() { 20 } else { 12 };
        let rate = per_second(law.window(), self.srtt) / 10 * tenths;
        let segment = (u64::from(cfg.mss), u64::from(cfg.header_bytes));
        self.rate = Some(Rate(on_the_wire(segment, rate)).max(Rate(8_000)));
    }
}

/// What a rate of payload needs with headers.
pub(crate) fn on_the_wire((mss, header): (u64, u64), payload: u64) -> u64 {
    payload + payload / mss.max(1) * header
}

impl Paced {
    pub(crate) fn new(law: Box<dyn Controller>, spread: bool) -> Paced {
        Paced {
            gate: None,
            due: 0,
            burst: 0,
            spread: spread.then(Spread::default),
            sampler: law.samples().then(Sampler::default),
            law,
        }
    }

    /// A segment leaves; `before` is what was in the network until then, `dry` that nothing else is
    /// written.
    pub(crate) fn sent(
        &mut self,
        cfg: &Config,
        now: Nanos,
        (seq, len): (u64, u64),
        before: u64,
        dry: bool,
    ) {
        if let Some(sampler) = &mut self.sampler {
            sampler.sent(now, seq, len, before);
            if dry {
                sampler.limit(before + len);
            }
        }
        self.law.on_sent(cfg, now, len, before + len);
        let Some(rate) = self.rate() else {
            return;
        };
        let wire = len + u64::from(cfg.header_bytes);
        let spacing = (u128::from(wire) * 8_000_000_000_000 / u128::from(rate.0.max(1))) as u64;
        let now_ps = now.0.saturating_mul(1_000);
        // What left late is caught up with, but by no more than half a gap (Linux,
        // `tcp_update_skb_after_send`).
        let late = now_ps.saturating_sub(self.due);
        let gap = spacing - late.min(spacing / 2);
        self.due = self.due.max(now_ps).saturating_add(gap);
        self.burst += len;
        if self.burst >= self.quantum(cfg, rate) {
            self.burst = 0;
            self.gate = Some(Nanos(self.due.div_ceil(1_000)));
        }
    }

    fn rate(&self) -> Option<Rate> {
        self.law.pace().or_else(|| self.spread.and_then(|s| s.rate))
    }

    /// Largest train that pacing lets through at once.
    pub(crate) fn train(&self, cfg: &Config) -> u64 {
        self.rate().map_or(u64::MAX, |rate| self.quantum(cfg, rate))
    }

    /// Bytes that leave together: one segment, or a train of what a millisecond sends, two segments
    /// at least.
    fn quantum(&self, cfg: &Config, rate: Rate) -> u64 {
        if cfg.pace_train == 0 {
            return 1;
        }
        let train = (rate.0 / 8_000).max(2 * u64::from(cfg.mss));
        train.min(u64::from(cfg.pace_train))
    }

    pub(crate) fn on_ack(&mut self, cfg: &Config, ack: &Acked) {
        if let Some(sampler) = &mut self.sampler {
            sampler.below(ack.now, ack.una);
        }
        self.law.on_ack(cfg, ack);
        if let (Some(spread), Some(rtt)) = (&mut self.spread, ack.rtt) {
            spread.update(cfg, &*self.law, rtt);
        }
    }

    /// SACK told of `[from, to)`, and of none of it before.
    pub(crate) fn told(&mut self, now: Nanos, from: u64, to: u64) {
        if let Some(sampler) = &mut self.sampler {
            sampler.between(now, from, to);
        }
    }

    /// An acknowledgement has been worked off.
    pub(crate) fn finish(
        &mut self,
        cfg: &Config,
        now: Nanos,
        in_flight: u64,
        lost: u64,
        repairing: bool,
    ) {
        let Some(sampler) = &mut self.sampler else {
            return;
        };
        if let Some(delivered) = sampler.finish(now, in_flight, lost, repairing)
            && self.law.on_delivered(cfg, &delivered)
        {
            sampler.limit(in_flight);
        }
    }

    pub(crate) fn next_wake(&self) -> Option<Nanos> {
        match (self.gate, self.law.next_wake()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    pub(crate) fn wake(&mut self, cfg: &Config, now: Nanos) {
        self.gate = self.gate.filter(|&gate| now < gate);
        if self.law.next_wake().is_some_and(|at| at <= now) {
            self.law.wake(cfg, now);
        }
    }
}
