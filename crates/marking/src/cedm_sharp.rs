// SPDX-License-Identifier: MIT OR Apache-2.0
//! CEDM x ECN#: ECN# with CEDM's two thresholds and slope as its instantaneous part. This
//! combination is unpublished.
//!
//! ECN# marks every packet of a burst above its instantaneous threshold, even if the burst is over
//! before a sender can react. CEDM never marks a standing queue below its lower threshold. Here
//! each covers the case that the other misses. Their intents are kept apart: CEDM withdraws its own
//! marks only.

use cemark_wire::Nanos;

use crate::cedm::{Slope, upper};
use crate::config::{Field, SECOND, config};
use crate::{
    At, Hook, Marker, Ordered, QueueSpec, Rule, RuleTime, SchemeSpec, Values, Verdict, Why,
};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "cedm_sharp",
    title: "CEDM x ECN#",
    aliases: &["cedm_ecn_sharp"],
    paper: "Combination of CEDM (INFOCOM 2017) and ECN# (CoNEXT 2019), not published",
    doc: "Marks where CEDM does, and like ECN# one packet at increasing frequency while the \
          sojourn time stays at or above pst_target.",
    params: CedmSharpConfig::PARAMS,
    ordered: &[Ordered::pair_or_zero(
        CedmSharpConfig::PARAMS,
        "k1",
        "k2",
        "k1 = \"20pkt\", k2 = \"40pkt\"",
    )],
    rules: &[
        Rule::new(CedmSharpConfig::PARAMS, "rtt", RuleTime::MeanRtt),
        Rule::of_wait(CedmSharpConfig::PARAMS, "pst_target", RuleTime::MeanRtt),
        Rule::new(
            CedmSharpConfig::PARAMS,
            "pst_interval",
            RuleTime::LargestRtt,
        ),
    ],
    ..SchemeSpec::BLANK
};

config! {
    /// Parameters of [`CedmSharp`].
    pub struct CedmSharpConfig {
        /// CEDM's lower threshold (our choice: ECN#'s ins_target of 200 us at 10 Gb/s). A time is
        /// read as rate x time.
        k1: u32 = bytes(250_000),
        /// CEDM's upper threshold. 0: k1 + (k1 + rate x rtt) / 4 (375 KB).
        k2: u32 = bytes(0),
        /// Base round-trip time in the rule for k2 (our choice: the tail that ECN# is set for).
        rtt: Nanos = time(200_000, 0..=SECOND),
        /// Sojourn time from which on the queue counts as persistent (ECN# 3.2; testbed 5.2: 85
        /// us).
        pst_target: Nanos = time(85_000, 0..=SECOND),
        /// How long the queue must be persistent before the first mark (ECN# 3.2; testbed 5.2: 200
        /// us).
        pst_interval: Nanos = time(200_000, 1..=SECOND),
    }
}

/// CEDM's weight of the newest slope, 0.129.
const WEIGHT: u32 = 8_454;

/// Only departures of larger packets measure the slope, as in CEDM.
const MIN_PKT: u32 = 800;

/// CEDM × ECN# at one queue.
#[derive(Clone, Copy, Debug)]
pub struct CedmSharp {
    slope: Slope,
    /// Before the marking state, when `standing` became true; in it, when the next mark is due.
    time: Nanos,
    k1: u32,
    k2: u32,
    pst_target: u32,
    pst_interval: u32,
    /// Marks in this marking state.
    count: u32,
    standing: bool,
    marking: bool,
}

impl CedmSharp {
    /// A marker with these parameters.
    pub fn from_config(config: CedmSharpConfig, queue: &QueueSpec) -> Self {
        let config = config.clamped();
        CedmSharp {
            slope: Slope::default(),
            time: Nanos::ZERO,
            k1: config.k1,
            k2: match config.k2 {
                0 => upper(config.k1, config.rtt, queue),
                k2 => k2,
            },
            pst_target: Field::from_stored(config.pst_target.0),
            pst_interval: Field::from_stored(config.pst_interval.0),
            count: 0,
            standing: false,
            marking: false,
        }
    }

    /// ECN#'s second condition as in its Algorithm 1 (harmonic, from the previous schedule,
    /// strict).
    #[inline]
    fn persistent(&mut self, at: &At) -> bool {
        let interval = Nanos(u64::from(self.pst_interval));
        if at.sojourn.0 < u64::from(self.pst_target) {
            self.standing = false;
            self.marking = false;
            return false;
        }
        if !self.standing {
            self.standing = true;
            self.time = at.now;
            return false;
        }
        if !self.marking {
            if at.now.saturating_sub(self.time) <= interval {
                return false;
            }
            self.marking = true;
            self.count = 1;
            self.time = at.now.saturating_add(interval);
            return true;
        }
        if at.now <= self.time {
            return false;
        }
        self.count = self.count.saturating_add(1);
        let step = (self.pst_interval / self.count).max(1);
        self.time = self.time.saturating_add(Nanos(u64::from(step)));
        true
    }
}

impl Marker for CedmSharp {
    #[inline]
    fn hook(&self) -> Hook {
        Hook::Both
    }

    #[inline]
    fn reads_length_at_dequeue(&self) -> bool {
        true
    }

    fn draws(&self) -> bool {
        false
    }

    #[inline]
    fn enqueue(&mut self, at: &At) -> Verdict {
        if at.queue_bytes > self.k2 {
            Verdict::Mark(Why::Instant)
        } else if at.queue_bytes >= self.k1 && !self.slope.falls() {
            Verdict::Mark(Why::Tentative)
        } else {
            Verdict::Pass
        }
    }

    #[inline]
    fn dequeue(&mut self, at: &At) -> Verdict {
        let length = at.queue_bytes;
        if at.pkt_bytes > MIN_PKT {
            self.slope.measure(length, at.now, WEIGHT);
        }
        // Judged for every packet, so that its state is updated under CEDM's marks too.
        let persistent = self.persistent(at);
        let turned = length < self.k1 || (length < self.k2 && self.slope.falls());
        match at.intent {
            Some(Why::Tentative) if turned => {}
            Some(why) => return Verdict::Mark(why),
            None => {}
        }
        if persistent {
            Verdict::Mark(Why::Persistent)
        } else {
            Verdict::Pass
        }
    }

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        let new = CedmSharp::from_config(params.into(), queue);
        *self = CedmSharp {
            slope: self.slope,
            time: self.time,
            count: self.count,
            standing: self.standing,
            marking: self.marking,
            ..new
        };
    }
}
