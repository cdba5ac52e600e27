// SPDX-License-Identifier: MIT OR Apache-2.0
//! State that only some senders have: a pacing gate, samples of the delivery rate, proportional
//! rate reduction, RACK and tail loss probes. Other senders hold no memory for it.

use alloc::boxed::Box;

use cemark_wire::{Nanos, Rate};

use super::prr::Prr;
use super::rack::Rack;
use super::tlp::Tlp;
use super::writes::Writes;
use crate::Stack;
use crate::cc::{
    Acked, CeCounted, Controller, Lost, Pacing, PathSpec, Sampler, on_the_wire, per_second,
};

/// A controller that is paced or wants samples: BBR, a user's own, any controller under TCP pacing,
/// and any in a [`Stack`] whose habits need state.
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
    /// Reductions that take a round trip.
    prr: Option<Prr>,
    /// Times of segments, if losses are found by them.
    pub(crate) rack: Option<Rack>,
    pub(crate) tlp: Option<Tlp>,
    /// Ends of writes, if the send buffer decides them.
    pub(crate) writes: Option<Writes>,
}

/// Whether the habits of a stack need state.
pub(crate) fn needs_state(stack: &Stack) -> bool {
    stack.prr || stack.rack || stack.tlp || stack.write_window > 0
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
        pacing: &Pacing,
    ) -> Paced {
        let Stack {
            prr,
            rack,
            tlp,
            rack_wait,
            write_window,
            ..
        } = path.stack;
        // A controller with a rate of its own decides itself how its window falls.
        let prr = prr && controller.pacing_rate().is_none();
        Paced {
            path: *path,
            train: pacing.train,
            gate: None,
            due: 0,
            burst: 0,
            spread: spread.then(Spread::default),
            sampler: controller.wants_delivered().then(Sampler::default),
            controller,
            prr: prr.then(Prr::default),
            rack: rack.then(|| Rack::new(rack_wait)),
            tlp: tlp.then(|| Tlp::new(pacing.rto_min)),
            writes: (write_window > 0).then(|| Writes::new(write_window, path.mss)),
        }
    }

    /// Congestion window in bytes.
    #[inline]
    pub(crate) fn cwnd(&self) -> u64 {
        let reduced = self.prr.as_ref().and_then(Prr::window);
        reduced.unwrap_or_else(|| self.controller.cwnd())
    }

    /// CE was reported; `nxt` is the next new byte.
    pub(crate) fn on_ce(&mut self, ce: &CeCounted, nxt: u64) {
        let prior = self.cwnd();
        self.controller.on_ce(ce);
        if let Some(prr) = &mut self.prr {
            prr.begin(prior, nxt, false);
        }
    }

    /// Data was lost; `nxt` is the next new byte.
    pub(crate) fn on_loss(&mut self, loss: &Lost, nxt: u64) {
        let prior = self.cwnd();
        self.controller.on_loss(loss);
        if let Some(tlp) = &mut self.tlp {
            tlp.end();
        }
        match &mut self.prr {
            Some(prr) if loss.timeout => prr.stop(),
            Some(prr) => prr.begin(prior, nxt, true),
            None => {}
        }
    }

    /// The window falls to what the controller says, at once.
    pub(crate) fn end_reduction(&mut self) {
        if let Some(prr) = &mut self.prr {
            prr.stop();
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
        if let Some(prr) = &mut self.prr {
            prr.sent(len);
        }
        if let Some(rack) = &mut self.rack {
            rack.sent(now, seq + len);
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

    #[inline(never)]
    pub(crate) fn on_ack(&mut self, ack: &Acked, una: u64) {
        if let Some(sampler) = &mut self.sampler {
            sampler.acked_below(ack.now, una);
        }
        let mut ack = *ack;
        if let Some(prr) = &mut self.prr {
            prr.acked_below(una);
            ack.in_recovery |= prr.is_active();
        }
        if let Some(rack) = &mut self.rack {
            rack.arrived(ack.now, una);
            rack.acked_below(una);
        }
        self.controller.on_ack(&ack);
        if let (Some(spread), Some(rtt)) = (&mut self.spread, ack.rtt) {
            spread.update(&self.path, &*self.controller, rtt);
        }
    }

    /// `[from, to)` is newly SACKed.
    pub(crate) fn newly_sacked(&mut self, now: Nanos, from: u64, to: u64) {
        if let Some(sampler) = &mut self.sampler {
            sampler.acked_between(now, from, to);
        }
        if let Some(rack) = &mut self.rack {
            rack.arrived(now, to);
        }
    }

    /// Ends the processing of an acknowledgement with its sample. `delivered` bytes were newly
    /// acknowledged, and the cumulative number advanced if `advanced`.
    pub(crate) fn finish_ack(
        &mut self,
        now: Nanos,
        (delivered, advanced): (u64, bool),
        bytes_in_flight: u64,
        lost: u64,
        in_recovery: bool,
    ) {
        if let Some(prr) = &mut self.prr {
            let (target, clean) = (self.controller.cwnd(), advanced && lost == 0);
            let mss = u64::from(self.path.mss);
            prr.delivered(delivered, target, bytes_in_flight, clean, mss);
        }
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
        let controller = self.controller.next_wake();
        let rack = self.rack.as_ref().and_then(Rack::wake);
        let probe = self.tlp.as_ref().and_then(Tlp::wake);
        [self.gate, controller, rack, probe]
            .into_iter()
            .flatten()
            .min()
    }

    pub(crate) fn wake(&mut self, now: Nanos) {
        self.gate = self.gate.filter(|&gate| now < gate);
        if self.controller.next_wake().is_some_and(|at| at <= now) {
            self.controller.wake(now);
        }
    }
}
