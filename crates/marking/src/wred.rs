// SPDX-License-Identifier: MIT OR Apache-2.0
//! WRED as switches implement it: a probability that rises with the queue length, drawn for each
//! packet independently.

use cemark_wire::Nanos;

use crate::Fraction;
use crate::config::{OneHook, config};
use crate::{
    At, FirstMark, Hook, Marker, Ordered, QueueSpec, Rule, RuleTime, SchemeSpec, Values, Verdict,
    Why, fixed,
};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "wred",
    title: "WRED",
    aliases: &["random_detect"],
    paper: "Weighted random early detection of shipping switches (SAI, SONiC, NX-OS, EOS, Dell, \
            HPE)",
    doc: "Marks each packet independently with a probability that rises from min to max of the \
          queue length, and every packet above max.",
    params: WredConfig::PARAMS,
    ordered: &[Ordered::pair(
        WredConfig::PARAMS,
        "min",
        "max",
        "min = \"150KB\", max = \"1500KB\"",
    )],
    first_mark: |values| {
        let config = WredConfig::from(values);
        let param = const { WredConfig::param("min") };
        Some(FirstMark::length(param, config.min))
    },
    rules: &[
        Rule::new(WredConfig::PARAMS, "min", RuleTime::Fixed(Nanos(12_000))),
        Rule::new(WredConfig::PARAMS, "max", RuleTime::Fixed(Nanos(120_000))),
    ],
    ..SchemeSpec::BLANK
};

config! {
    /// Parameters of [`Wred`].
    pub struct WredConfig {
        /// Length up to which no packet is marked (Cumulus Linux: 150 KB). A time is read as
        /// rate x time.
        min: u32 = bytes(150_000),
        /// Length at which the probability reaches drop_probability; above it every packet is
        /// marked (Cumulus Linux: 1500 KB).
        max: u32 = bytes(1_500_000),
        /// Probability of a mark at max (SAI, Cumulus Linux: 100 %; SONiC's AZURE_LOSSLESS: 5 %).
        drop_probability: Fraction = fraction(65_536),
        /// n: the newest length counts 2^-n in the average. 0: the length itself (SAI's default,
        /// and DCTCP's advice).
        weight: u32 = count(0, 0..=15),
        /// Judge packets as they join the queue (Cisco, Dell) or as they leave it, by the bytes
        /// that stay behind (SONiC's test plan, HPCC's simulator).
        hook: OneHook = choice(OneHook::Enqueue),
    }
}

/// WRED at one queue.
#[derive(Clone, Copy, Debug)]
pub struct Wred {
    min: u32,
    max: u32,
    /// Probability at max, in parts of 2^16.
    probability: u32,
    /// Weight of the newest length, in parts of 2^16: 2^16 if lengths are not averaged.
    newest: u32,
    /// Smoothed length in 2^-12 bytes; zero if lengths are not averaged.
    avg: u64,
    hook: OneHook,
}

impl Wred {
    /// A marker with these parameters.
    pub fn from_config(config: WredConfig, _: &QueueSpec) -> Self {
        let config = config.clamped();
        Wred {
            min: config.min,
            max: config.max,
            probability: config.drop_probability.0,
            newest: fixed::ONE >> config.weight,
            avg: 0,
            hook: config.hook,
        }
    }

    /// Whether the length itself is compared.
    #[inline(always)]
    fn instantaneous(&self) -> bool {
        self.newest == fixed::ONE
    }

    #[inline(always)]
    fn judge(&mut self, at: &At) -> Verdict {
        let (length, over) = if self.instantaneous() {
            (at.queue_bytes, Why::Instant)
        } else {
            self.avg = fixed::ewma(self.avg, at.queue_bytes, self.newest);
            ((self.avg >> fixed::AVG_BITS) as u32, Why::Average)
        };
        if length > self.max {
            return Verdict::Mark(over);
        }
        let drawn = length > self.min && {
            let share = fixed::ramp(length, self.min, self.max, self.probability);
            fixed::chance(at.packet_hash, 0, share)
        };
        if drawn {
            Verdict::Mark(Why::Random)
        } else {
            Verdict::Pass
        }
    }
}

impl Marker for Wred {
    #[inline]
    fn hook(&self) -> Hook {
        self.hook.into()
    }

    #[inline]
    fn reads_length_at_dequeue(&self) -> bool {
        self.hook == OneHook::Dequeue
    }

    fn draws(&self) -> bool {
        self.min < self.max
    }

    fn quiet_below(&self, _mtu: u32) -> u32 {
        // The judged packet is not counted, and the length `min` passes too. An average moves with
        // every packet.
        if self.instantaneous() {
            self.min.min(self.max).saturating_add(1)
        } else {
            0
        }
    }

    #[inline]
    fn enqueue(&mut self, at: &At) -> Verdict {
        self.judge(at)
    }

    #[inline]
    fn dequeue(&mut self, at: &At) -> Verdict {
        self.judge(at)
    }

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        let avg = self.avg;
        *self = Wred::from_config(params.into(), queue);
        if !self.instantaneous() {
            self.avg = avg;
        }
    }
}
