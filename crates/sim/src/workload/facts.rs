// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts about the flows of a workload before any of them is drawn: estimates, warnings,
//! memory, shards and progress ask for nothing else.

use cemark_wire::Picos;

use super::load::flows_per_second;
use super::pattern::{LongFlows, Pairs, Span};
use super::sizes::SizeTable;
use crate::topology::Topology;

/// Facts about the flows of a workload.
pub struct Facts<'a> {
    /// Noun for its flows in messages.
    pub noun: &'static str,
    /// Flows before the measured ones.
    pub warmup: u64,
    /// Flows that a run measures and waits for.
    pub measured: u64,
    /// Flows that its source holds at once.
    pub drawn: u64,
    /// Whether some flows start because others have ended.
    pub waits: bool,
    /// When flows start, and between which hosts.
    pub sending: Sending<'a>,
}

/// When flows start, and between which hosts.
pub enum Sending<'a> {
    /// At random times, at a load.
    Arrivals(Arriving<'a>),
    /// At times that are known.
    Bursts(Box<dyn Iterator<Item = Burst> + 'a>),
    /// Once, and without end.
    Endless {
        /// Start of the first flow.
        at: Picos,
        /// The flows.
        flows: &'a LongFlows,
    },
    /// No flows: small packets that are answered.
    Pings(Burst),
}

/// Flows that arrive at a load.
#[derive(Clone, Copy, Debug)]
pub struct Arriving<'a> {
    /// Flow sizes.
    pub sizes: &'a SizeTable,
    /// Offered payload bits on the most loaded tier over its capacity.
    pub load: f64,
    /// Senders and receivers.
    pub pairs: &'a Pairs,
    /// How long flows keep arriving after the measured ones have.
    pub hold: Picos,
    /// The span in which all flows start, where they are not given by a load.
    pub span: Option<Span>,
}

impl Arriving<'_> {
    /// Flows a second, on average.
    pub fn rate(&self, topology: &Topology) -> f64 {
        flows_per_second(topology, self.pairs, self.sizes.mean(), self.load)
    }
}

/// Flows to one host that start together, once or repeatedly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// Start.
    pub at: Picos,
    /// Time from one start to the next.
    pub every: Picos,
    /// Number of starts.
    pub times: u32,
    /// Each flow starts up to this much later.
    pub jitter: Picos,
    /// Flows of one start.
    pub flows: u32,
    /// Their mean payload bytes.
    pub bytes: f64,
    /// Sender; `None`: other hosts, each in turn.
    pub src: Option<u32>,
    /// Receiver.
    pub dst: u32,
}

impl Burst {
    /// A flow that starts once.
    pub fn of_one(at: Picos, src: u32, dst: u32, bytes: u64) -> Burst {
        Burst {
            at,
            every: Picos::ZERO,
            times: 1,
            jitter: Picos::ZERO,
            flows: 1,
            bytes: bytes as f64,
            src: Some(src),
            dst,
        }
    }

    /// Last start of the burst, without jitter.
    pub fn last(&self) -> Picos {
        let more = u64::from(self.times.saturating_sub(1));
        let later = Picos(self.every.0.saturating_mul(more));
        self.at.saturating_add(later)
    }
}

impl<'a> Facts<'a> {
    /// A workload without flows that are measured.
    pub fn new(noun: &'static str, sending: Sending<'a>) -> Facts<'a> {
        Facts {
            noun,
            warmup: 0,
            measured: 0,
            drawn: 0,
            waits: false,
            sending,
        }
    }

    /// Flows up to the last measured one.
    pub fn flows(&self) -> u64 {
        self.warmup.saturating_add(self.measured)
    }

    /// Whether its flows arrive without end, and none is measured.
    pub fn is_unbounded(&self) -> bool {
        matches!(self.sending, Sending::Arrivals(_)) && self.measured == 0
    }

    /// Load of its arrivals, 0 to 1.
    pub fn load(&self) -> Option<f64> {
        match &self.sending {
            Sending::Arrivals(arrivals) => Some(arrivals.load),
            _ => None,
        }
    }

    /// When it sends for the first time, where that is known.
    pub fn first_start(self) -> Option<Picos> {
        match self.sending {
            _ if self.waits => None,
            Sending::Arrivals(_) => None,
            Sending::Bursts(bursts) => bursts.map(|burst| burst.at).min(),
            Sending::Endless { at, .. } => Some(at),
            Sending::Pings(pings) => Some(pings.at),
        }
    }

    /// About when the last measured flow starts, where that is known.
    pub fn last_start(self, topology: &Topology) -> Option<Picos> {
        match self.sending {
            _ if self.waits => None,
            Sending::Arrivals(ref arrivals) => Some(match arrivals.span {
                Some(span) => span.at.saturating_add(span.length),
                None => after(
                    self.warmup as f64 + self.measured as f64,
                    arrivals,
                    topology,
                ),
            }),
            Sending::Bursts(bursts) => bursts.map(|burst| burst.last()).max(),
            Sending::Endless { .. } | Sending::Pings(_) => None,
        }
    }

    /// About when the last flow of the warm-up starts.
    pub fn warmed_up(&self, topology: &Topology) -> Picos {
        match &self.sending {
            Sending::Arrivals(arrivals) => after(self.warmup as f64, arrivals, topology),
            _ => Picos::ZERO,
        }
    }
}

/// The time in which `flows` flows arrive, on average.
fn after(flows: f64, arrivals: &Arriving<'_>, topology: &Topology) -> Picos {
    let seconds = flows / arrivals.rate(topology);
    Picos((seconds * 1e12).min(u64::MAX as f64) as u64)
}
