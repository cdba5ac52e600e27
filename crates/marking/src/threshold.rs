// SPDX-License-Identifier: MIT OR Apache-2.0
//! DCTCP-RED: a step on the instantaneous queue length, as DCTCP sets up a RED switch (Kmin = Kmax
//! = K, weight 1).

use crate::{
    At, FirstMark, Hook, Kind, Level, Marker, ParamSpec, QueueSpec, SchemeSpec, Values, Verdict,
    Why,
};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "threshold",
    title: "DCTCP-RED",
    aliases: &["step"],
    paper: "Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010",
    doc: "Marks a packet when the instantaneous queue length exceeds one threshold.",
    params: &[
        ParamSpec {
            name: "k",
            kind: Kind::Bytes,
            default: 97_500,
            min: 0,
            max: u32::MAX as u64,
            doc: "Threshold K (DCTCP 3.1; 65 packets of 1500 B at 10 Gb/s). A time is read as rate x time.",
        },
        ParamSpec {
            name: "count_self",
            kind: Kind::Flag,
            default: 1,
            min: 0,
            max: 1,
            doc: "Whether the judged packet counts itself (MQ-ECN's code: yes; CEDM's switch: no).",
        },
        ParamSpec {
            name: "cmp",
            kind: Kind::Choice(&["strict", "at_least"]),
            default: 0,
            min: 0,
            max: 1,
            doc: "Mark above K (strict) or from K on (at_least).",
        },
        ParamSpec {
            name: "hook",
            kind: Kind::Choice(&["enqueue", "dequeue"]),
            default: 0,
            min: 0,
            max: 1,
            doc: "Judge packets as they join (as most switches do) or as they leave.",
        },
        ParamSpec {
            name: "scope",
            kind: Kind::Choice(&["queue", "port", "pool"]),
            default: 0,
            min: 0,
            max: 2,
            doc: "Compare the length of the queue, of the whole port or of the service pool (MQ-ECN 2.2).",
        },
        ParamSpec {
            name: "level",
            kind: Kind::Choice(&["standard", "minimum"]),
            default: 0,
            min: 0,
            max: 1,
            doc: "K itself, or the queue's part of it by weight among all queues of the port, busy or not (MQ-ECN 2.2).",
        },
    ],
    first_mark: |v| {
        Some(FirstMark {
            param: "k",
            level: Level::Length(v.of(&SPEC, "k")),
        })
    },
    ..SchemeSpec::BLANK
};

/// Which length is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Queue,
    Port,
    Pool,
}

/// DCTCP-RED at one queue. Stateless.
#[derive(Clone, Copy, Debug)]
pub struct Threshold {
    k: u64,
    count_self: bool,
    at_least: bool,
    at_dequeue: bool,
    scope: Scope,
}

impl Threshold {
    /// A marker with these parameters, in the order of [`SPEC`].
    pub fn new(params: &Values, queue: &QueueSpec) -> Self {
        let k = params.of(&SPEC, "k");
        let minimum = params.of(&SPEC, "level") == 1;
        Threshold {
            k: if minimum {
                k * u64::from(queue.weight) / u64::from(queue.weight_sum.max(1))
            } else {
                k
            },
            count_self: params.of(&SPEC, "count_self") != 0,
            at_least: params.of(&SPEC, "cmp") == 1,
            at_dequeue: params.of(&SPEC, "hook") == 1,
            scope: match params.of(&SPEC, "scope") {
                0 => Scope::Queue,
                1 => Scope::Port,
                _ => Scope::Pool,
            },
        }
    }

    #[inline(always)]
    fn judge(&self, at: &At) -> Verdict {
        let others = match self.scope {
            Scope::Queue => at.queue_bytes,
            Scope::Port => at.port_bytes,
            Scope::Pool => at.pool_bytes,
        };
        let length = u64::from(others)
            + if self.count_self {
                u64::from(at.pkt_bytes)
            } else {
                0
            };
        if length > self.k || (self.at_least && length == self.k) {
            Verdict::Mark(Why::Instant)
        } else {
            Verdict::Pass
        }
    }
}

impl Marker for Threshold {
    #[inline]
    fn hook(&self) -> Hook {
        if self.at_dequeue {
            Hook::Dequeue
        } else {
            Hook::Enqueue
        }
    }

    #[inline]
    fn reads_length_at_dequeue(&self) -> bool {
        self.at_dequeue
    }

    fn quiet_below(&self, mtu: u32) -> u32 {
        // Other scopes look at lengths that the queue's own does not bound.
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

    fn retune(&mut self, params: &Values, spec: &QueueSpec) {
        *self = Threshold::new(params, spec);
    }
}
