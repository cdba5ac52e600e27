// SPDX-License-Identifier: MIT OR Apache-2.0
//! DCTCP-RED: marks packets while the instantaneous queue length exceeds one threshold. DCTCP
//! configures a RED switch this way (Kmin = Kmax = K, weight 1).

use crate::config::{Compare, OneHook, choice, config};
use crate::{
    At, FirstMark, Hook, Marker, QueueSpec, Rule, RuleTime, SchemeSpec, Values, Verdict, Why,
};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "threshold",
    title: "DCTCP-RED",
    aliases: &["step"],
    paper: "Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010",
    doc: "Marks a packet when the instantaneous queue length exceeds one threshold.",
    params: ThresholdConfig::PARAMS,
    first_mark: |values| {
        let config = ThresholdConfig::from(values);
        let param = const { ThresholdConfig::param("k") };
        Some(FirstMark::length(param, config.k))
    },
    rules: &[Rule::new(ThresholdConfig::PARAMS, "k", RuleTime::TailRtt)],
    ..SchemeSpec::BLANK
};

config! {
    /// Parameters of [`Threshold`].
    pub struct ThresholdConfig {
        /// Threshold K (DCTCP 3.1; 65 packets of 1500 B at 10 Gb/s). A time is read as rate x time.
        k: u32 = bytes(97_500),
        /// Whether the length includes the judged packet (MQ-ECN's code: yes; CEDM's switch: no).
        count_self: bool = flag(true),
        /// Mark above K (strict) or from K on (at_least).
        cmp: Compare = choice(Compare::Strict),
        /// Judge packets as they join the queue (as most switches do) or as they leave it.
        hook: OneHook = choice(OneHook::Enqueue),
        /// Compare the length of the queue, of the whole port or of the service pool (MQ-ECN 2.2).
        scope: Scope = choice(Scope::Queue),
        /// K itself, or the queue's share of K by its weight among all queues of the port, busy or
        /// not (MQ-ECN 2.2.2).
        level: ShareOfK = choice(ShareOfK::Standard),
    }
}

choice! {
    /// Which length is compared.
    pub enum Scope {
        /// The queue's.
        Queue = "queue",
        /// The sum over all queues of the port.
        Port = "port",
        /// The sum over the service pool.
        Pool = "pool",
    }
}

choice! {
    /// How much of K a queue gets.
    pub enum ShareOfK {
        /// All of it: MQ-ECN's standard threshold.
        Standard = "standard",
        /// K x weight / sum of the weights: MQ-ECN's minimum threshold.
        Minimum = "minimum",
    }
}

/// DCTCP-RED at one queue. It has no state.
#[derive(Clone, Copy, Debug)]
pub struct Threshold {
    k: u64,
    count_self: bool,
    cmp: Compare,
    hook: OneHook,
    scope: Scope,
}

impl Threshold {
    /// A marker with these parameters.
    pub fn from_config(config: ThresholdConfig, queue: &QueueSpec) -> Self {
        let config = config.clamped();
        let k = u64::from(config.k);
        Threshold {
            k: match config.level {
                ShareOfK::Standard => k,
                ShareOfK::Minimum => {
                    k * u64::from(queue.weight) / u64::from(queue.weight_sum.max(1))
                }
            },
            count_self: config.count_self,
            cmp: config.cmp,
            hook: config.hook,
            scope: config.scope,
        }
    }

    #[inline(always)]
    fn judge(&self, at: &At) -> Verdict {
        let others = match self.scope {
            Scope::Queue => at.queue_bytes,
            Scope::Port => at.port_bytes,
            Scope::Pool => at.pool_bytes,
        };
        let own = if self.count_self { at.pkt_bytes } else { 0 };
        let length = u64::from(others) + u64::from(own);
        if self.cmp.beyond(length, self.k) {
            Verdict::Mark(Why::Instant)
        } else {
            Verdict::Pass
        }
    }
}

impl Marker for Threshold {
    #[inline]
    fn hook(&self) -> Hook {
        self.hook.into()
    }

    #[inline]
    fn reads_length_at_dequeue(&self) -> bool {
        self.hook == OneHook::Dequeue
    }

    fn quiet_below(&self, mtu: u32) -> u32 {
        // The length of the port or the pool may be long while the queue's own is short.
        if self.scope != Scope::Queue {
            return 0;
        }
        u32::try_from(self.k)
            .unwrap_or(u32::MAX)
            .saturating_sub(mtu)
    }

    fn draws(&self) -> bool {
        false
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
        *self = Threshold::from_config(params.into(), queue);
    }
}
