// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who sends next: one file a scheduler, one table ([`ALL`]) that names them.

mod above;
mod fifo;
mod sp;
mod visits;
mod wfq;

pub use above::StrictAbove;
pub use fifo::Fifo;
pub use sp::StrictPriority;
pub use visits::{Dwrr, Wrr};
pub use wfq::Wfq;

use cemark_marking::{QueueId, QueueSpec};
use cemark_wire::{Nanos, Rate};

use crate::lines::Lines;

/// Most queues of a port: schedulers keep a bit for each.
pub const MAX_QUEUES: usize = 64;

/// The answer of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// The queue whose head is sent.
    pub queue: QueueId,
    /// Whether this packet is the last of the queue's visit (rounds are measured from that).
    pub visit_ends: bool,
}

/// Inputs of a scheduler: the heads and the states of the queues.
#[derive(Clone, Copy, Debug)]
pub struct Heads<'a> {
    /// By queue, in bytes: the length of the head and of the packet behind it (0: none).
    pub lengths: &'a Lines<(u32, u32)>,
    /// Bit i set: queue i holds packets.
    pub backlogged: u64,
    /// Bit i set: queue i may not send (PFC).
    pub paused: u64,
}

/// From what a port measures the round time ([`crate::Round`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// Nothing: no queue is served in rounds.
    None,
    /// From activations and ends of visits of the queues whose bits are set.
    Visits(u64),
    /// From the weights of the backlogged queues among those whose bits are set.
    Weights(u64),
}

/// Decides which queue of a port sends next.
///
/// Contract: `arrived` is called once for every packet that joins, in time order, before the packet
/// can be picked; `pick` only while the link is free; a packet picked and then discarded by the
/// marker is handed back with `refunded` before anything else.
pub trait Scheduler: Send {
    /// A packet has joined a queue.
    fn arrived(&mut self, queue: QueueId, bytes: u32, now: Nanos);
    /// Which queue sends its head now; `None` if all are empty or paused.
    fn pick(&mut self, heads: &Heads<'_>) -> Option<Pick>;
    /// The packet just picked was discarded and used no link time; `heads` no longer includes it.
    /// Returns whether the queue's visit has ended all the same, with the packets sent before.
    fn refunded(&mut self, queue: QueueId, bytes: u32, heads: &Heads<'_>) -> bool;
    /// Whether a packet that arrives at an idle port and leaves at once changes nothing here. The
    /// port then need not call.
    fn is_traceless(&self) -> bool {
        false
    }
    /// Source of the round time under this scheduler.
    fn rounds(&self) -> Rounds {
        Rounds::None
    }
}

/// A scheduler with static dispatch where that pays: for those with rounds, which large fabrics use
/// at every hop.
pub enum AnyScheduler {
    /// See [`Wrr`].
    Wrr(Box<Wrr>),
    /// See [`Dwrr`].
    Dwrr(Box<Dwrr>),
    /// [`Fifo`] where there is one queue: it sends whenever it may.
    Single,
    /// Any other, including a user's own.
    Other(Box<dyn Scheduler>),
}

impl AnyScheduler {
    /// [`Scheduler::arrived`], which computes the time only for those that may look at it.
    #[inline(always)]
    pub(crate) fn joined(&mut self, queue: QueueId, bytes: u32, now: impl FnOnce() -> Nanos) {
        match self {
            AnyScheduler::Wrr(s) => s.arrived(queue, bytes, Nanos::ZERO),
            AnyScheduler::Dwrr(s) => s.arrived(queue, bytes, Nanos::ZERO),
            AnyScheduler::Single => {}
            AnyScheduler::Other(s) => s.arrived(queue, bytes, now()),
        }
    }
}

impl Scheduler for AnyScheduler {
    #[inline]
    fn arrived(&mut self, queue: QueueId, bytes: u32, now: Nanos) {
        match self {
            AnyScheduler::Wrr(s) => s.arrived(queue, bytes, now),
            AnyScheduler::Dwrr(s) => s.arrived(queue, bytes, now),
            AnyScheduler::Single => {}
            AnyScheduler::Other(s) => s.arrived(queue, bytes, now),
        }
    }

    #[inline]
    fn pick(&mut self, heads: &Heads<'_>) -> Option<Pick> {
        match self {
            AnyScheduler::Wrr(s) => s.pick(heads),
            AnyScheduler::Dwrr(s) => s.pick(heads),
            AnyScheduler::Single => (heads.backlogged & !heads.paused != 0).then_some(Pick {
                queue: QueueId(0),
                visit_ends: true,
            }),
            AnyScheduler::Other(s) => s.pick(heads),
        }
    }

    fn refunded(&mut self, queue: QueueId, bytes: u32, heads: &Heads<'_>) -> bool {
        match self {
            AnyScheduler::Wrr(s) => s.refunded(queue, bytes, heads),
            AnyScheduler::Dwrr(s) => s.refunded(queue, bytes, heads),
            AnyScheduler::Single => true,
            AnyScheduler::Other(s) => s.refunded(queue, bytes, heads),
        }
    }

    fn is_traceless(&self) -> bool {
        match self {
            AnyScheduler::Wrr(s) => s.is_traceless(),
            AnyScheduler::Dwrr(s) => s.is_traceless(),
            AnyScheduler::Single => true,
            AnyScheduler::Other(s) => s.is_traceless(),
        }
    }

    fn rounds(&self) -> Rounds {
        match self {
            AnyScheduler::Wrr(s) => s.rounds(),
            AnyScheduler::Dwrr(s) => s.rounds(),
            AnyScheduler::Single => Rounds::None,
            AnyScheduler::Other(s) => s.rounds(),
        }
    }
}

/// A scheduler of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum SchedulerKind {
    /// First in, first out.
    Fifo,
    /// Strict priority: the first queue that holds packets.
    StrictPriority,
    /// Weighted round robin with a quantum of bits.
    Wrr,
    /// Deficit weighted round robin.
    Dwrr,
    /// Weighted fair queueing.
    Wfq,
}

/// Rule that divides a link among queues that are not strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divides {
    /// Nothing: the order of arrival or of priority decides.
    Nothing,
    /// The quanta of the queues, which are visited in rounds.
    Quanta,
    /// The weights of the queues.
    Weights,
}

/// Entry of the table of schedulers.
#[derive(Clone, Copy, Debug)]
pub struct SchedulerSpec {
    /// Which one.
    pub kind: SchedulerKind,
    /// Its word in scenario files.
    pub name: &'static str,
    /// The keys of a queue that it looks at.
    pub keys: &'static [&'static str],
    /// Rule that divides the link among the queues that are not strict.
    pub divides: Divides,
    /// Rule for the queue that sends next, in one sentence.
    pub doc: &'static str,
}

/// Every scheduler, in the order in which it is shown to people.
pub static ALL: &[SchedulerSpec] = &[
    SchedulerSpec {
        kind: SchedulerKind::Fifo,
        name: "fifo",
        keys: &[],
        divides: Divides::Nothing,
        doc: "Packets leave in the order of their arrival.",
    },
    SchedulerSpec {
        kind: SchedulerKind::StrictPriority,
        name: "sp",
        keys: &[],
        divides: Divides::Nothing,
        doc: "The first queue that holds packets sends.",
    },
    SchedulerSpec {
        kind: SchedulerKind::Wrr,
        name: "wrr",
        keys: &["quantum", "strict"],
        divides: Divides::Quanta,
        doc: "Visits queues in rounds, each for at most a quantum of bits; unused credit is \
            discarded.",
    },
    SchedulerSpec {
        kind: SchedulerKind::Dwrr,
        name: "dwrr",
        keys: &["quantum", "strict"],
        divides: Divides::Quanta,
        doc: "Visits queues in rounds, each for a quantum; unused credit is kept until the queue \
            empties.",
    },
    SchedulerSpec {
        kind: SchedulerKind::Wfq,
        name: "wfq",
        keys: &["weight", "strict"],
        divides: Divides::Weights,
        doc: "The packet with the smallest finish tag of its weight leaves (self-clocked).",
    },
];

impl SchedulerKind {
    /// Its line in the table.
    pub fn spec(self) -> &'static SchedulerSpec {
        ALL.iter()
            .find(|s| s.kind == self)
            .expect("every kind has its line")
    }

    /// Whether ports under it have a round time ([`Scheduler::rounds`] of what [`build`] returns).
    pub fn has_rounds(self) -> bool {
        self.spec().divides != Divides::Nothing
    }

    /// Specifications of the queues of a port of rate `rate`, for their markers and the scheduler.
    /// `mtu`: a full packet on the wire in bytes.
    pub fn queue_specs(self, queues: &[Share], rate: Rate, mtu: u32) -> Vec<QueueSpec> {
        let divides = self.spec().divides;
        let strict = |q: &Share| q.strict || self == SchedulerKind::StrictPriority;
        let weight = |q: &Share| match divides {
            Divides::Quanta => q.quantum,
            Divides::Nothing | Divides::Weights => q.weight,
        };
        // A strict queue takes no part in the division: it may have the whole link.
        let weight_sum = queues
            .iter()
            .filter(|q| !strict(q))
            .fold(0, |sum: u32, q| sum.saturating_add(weight(q)))
            .max(1);
        let spec = |q: &Share| QueueSpec {
            rate,
            // Where only weights count, a quantum of that many MTUs: quantum over round is then
            // weight over the sum of weights.
            quantum: match divides {
                Divides::Weights => q.weight.saturating_mul(mtu),
                Divides::Nothing | Divides::Quanta => q.quantum,
            },
            weight: if strict(q) { weight_sum } else { weight(q) },
            weight_sum,
            strict: strict(q),
            mtu,
            limit_bytes: q.limit_bytes,
        };
        queues.iter().map(spec).collect()
    }
}

/// Configured share of one queue; [`SchedulerKind::queue_specs`] decides which of its fields count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Quantum in bytes, for schedulers that visit queues in rounds.
    pub quantum: u32,
    /// Weight, for schedulers that divide by weights.
    pub weight: u32,
    /// Whether it is served before all queues that are not strict.
    pub strict: bool,
    /// Most bytes that it may hold.
    pub limit_bytes: u32,
}

/// A scheduler for queues of these specifications, in order of class: those marked strict are
/// served first, in their order, under every scheduler but first-in first-out. 1 to [`MAX_QUEUES`]
/// queues.
pub fn build(kind: SchedulerKind, queues: &[QueueSpec]) -> AnyScheduler {
    assert!(!queues.is_empty() && queues.len() <= MAX_QUEUES);
    let strict = mask(queues, |q| q.strict);
    let quanta = || queues.iter().map(|q| q.quantum).collect::<Vec<u32>>();
    match kind {
        SchedulerKind::Fifo => fifo(queues.len()),
        SchedulerKind::StrictPriority => AnyScheduler::Other(Box::new(StrictPriority)),
        SchedulerKind::Wrr if strict == 0 => AnyScheduler::Wrr(Box::new(Wrr::new(&quanta()))),
        SchedulerKind::Wrr => under(strict, queues.len(), Wrr::new(&quanta())),
        SchedulerKind::Dwrr if strict == 0 => AnyScheduler::Dwrr(Box::new(Dwrr::new(&quanta()))),
        SchedulerKind::Dwrr => under(strict, queues.len(), Dwrr::new(&quanta())),
        SchedulerKind::Wfq => {
            let weights: Vec<u32> = queues.iter().map(|q| q.weight).collect();
            under(strict, queues.len(), Wfq::new(&weights))
        }
    }
}

/// First in, first out over this number of queues.
pub fn fifo(queues: usize) -> AnyScheduler {
    match queues {
        1 => AnyScheduler::Single,
        _ => AnyScheduler::Other(Box::new(Fifo::new())),
    }
}

fn under<S: Scheduler + 'static>(strict: u64, queues: usize, inner: S) -> AnyScheduler {
    AnyScheduler::Other(if strict == 0 {
        Box::new(inner)
    } else if strict.count_ones() as usize == queues {
        Box::new(StrictPriority)
    } else {
        Box::new(StrictAbove::new(strict, inner))
    })
}

/// The queues of which something holds, as bits.
fn mask(queues: &[QueueSpec], holds: impl Fn(&QueueSpec) -> bool) -> u64 {
    queues
        .iter()
        .enumerate()
        .filter(|(_, q)| holds(q))
        .fold(0, |m, (i, _)| m | 1 << i)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARES: [Share; 3] = [
        Share {
            quantum: 3_000,
            weight: 5,
            strict: true,
            limit_bytes: 10_000,
        },
        Share {
            quantum: 1_500,
            weight: 1,
            strict: false,
            limit_bytes: 20_000,
        },
        Share {
            quantum: 4_500,
            weight: 2,
            strict: false,
            limit_bytes: 30_000,
        },
    ];

    /// The table says of a kind what its scheduler says of itself.
    #[test]
    fn the_table_knows_which_schedulers_have_rounds() {
        for spec in ALL {
            let queues = spec.kind.queue_specs(&SHARES, Rate::gbps(10), 1_500);
            let measured = match (build(spec.kind, &queues).rounds(), spec.divides) {
                (Rounds::None, Divides::Nothing) => false,
                (Rounds::Visits(0b110), Divides::Quanta) => true,
                (Rounds::Weights(0b110), Divides::Weights) => true,
                other => panic!("{}: {other:?}", spec.name),
            };
            assert_eq!(spec.kind.has_rounds(), measured, "{}", spec.name);
        }
    }

    /// Quanta, or weights in MTUs, divide the link among the queues that are not strict.
    #[test]
    fn what_divides_the_link() {
        let specs = |kind: SchedulerKind| {
            let of = |q: QueueSpec| (q.quantum, q.weight, q.weight_sum, q.strict);
            let all = kind.queue_specs(&SHARES, Rate::gbps(10), 1_500);
            all.into_iter().map(of).collect::<Vec<_>>()
        };
        let by_quanta = [
            (3_000, 6_000, 6_000, true),
            (1_500, 1_500, 6_000, false),
            (4_500, 4_500, 6_000, false),
        ];
        assert_eq!(specs(SchedulerKind::Dwrr), by_quanta);
        assert_eq!(specs(SchedulerKind::Wrr), by_quanta);
        let by_weights = [
            (7_500, 3, 3, true),
            (1_500, 1, 3, false),
            (3_000, 2, 3, false),
        ];
        assert_eq!(specs(SchedulerKind::Wfq), by_weights);
        let of_priority = specs(SchedulerKind::StrictPriority);
        assert!(of_priority.iter().all(|q| q.1 == 1 && q.2 == 1 && q.3));
    }
}
