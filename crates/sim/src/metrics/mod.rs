// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records that are taken while a point runs.

mod buffers;
mod histogram;
mod sampler;
mod thinned;

pub(crate) use buffers::Buffers;
use histogram::Histogram;
pub(crate) use sampler::Sampler;

use crate::config::Config;
use crate::endpoints::conn::Sink;
use crate::ids::ConnId;
use crate::outcome::{FlowRecord, ProbeRecord};

/// A probe workload's progress.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProbeState {
    pub conn: ConnId,
    pub class: u8,
    pub every: u64,
    pub left: u64,
}

/// Delivered bytes of an endless flow at the instants that count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Goodput {
    pub conn: ConnId,
    pub at_from: Received,
    pub at_until: Option<Received>,
    /// Bytes that had arrived when the last interval ended.
    pub last: u64,
    pub intervals: Vec<u64>,
}

/// Payload bytes of a connection so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Received {
    /// Before the first hole.
    pub in_order: u64,
    /// Before and beyond it, each byte once.
    pub arrived: u64,
}

impl Received {
    /// Bytes of the receiver of a connection.
    pub fn of(sink: &Sink) -> Received {
        Received {
            in_order: sink.delivered(),
            arrived: sink.arrived(),
        }
    }
}

/// Everything recorded beside the counters of ports and ends.
pub(crate) struct Metrics {
    pub flows: Vec<FlowRecord>,
    /// By workload; only those of probe workloads are used.
    pub probes: Vec<ProbeState>,
    pub probe_answers: Vec<ProbeRecord>,
    pub sampler: Sampler,
    pub buffers: Buffers,
    pub goodput: Vec<Goodput>,
    /// Bytes of all flows that arrived in each whole interval so far.
    pub all_goodput: Vec<u64>,
    /// Bytes of all flows that had arrived when the last interval ended.
    pub all_arrived: u64,
    /// Busy and paused time of every link when measuring began; empty until then.
    pub at_from: Vec<Done>,
    /// Busy and paused time of every link when measuring ended; empty until then.
    pub at_until: Vec<Done>,
}

impl Metrics {
    /// Nothing is recorded yet. `awaited`: measured flows.
    pub fn new(cfg: &Config, sampler: Sampler, buffers: Buffers, awaited: u64) -> Metrics {
        Metrics {
            flows: Vec::with_capacity(awaited.min(1 << 24) as usize),
            probes: vec![ProbeState::default(); cfg.workloads.len()],
            probe_answers: Vec::new(),
            sampler,
            buffers,
            goodput: Vec::new(),
            all_goodput: Vec::new(),
            all_arrived: 0,
            at_from: Vec::new(),
            at_until: Vec::new(),
        }
    }
}

/// Busy and paused time of a link so far, in ticks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Done {
    /// The link was sending.
    pub busy: u64,
    /// Some queue was paused.
    pub paused: u64,
    /// By queue: the queue was paused. Empty where no switch pauses.
    pub queues: Vec<u64>,
}

/// Indices of `RECORD` events.
pub(crate) mod record {
    /// Measuring begins.
    pub const FROM: u32 = 0;
    /// Measuring ends.
    pub const UNTIL: u32 = 1;
    /// Queue lengths are sampled.
    pub const SAMPLE: u32 = 2;
    /// Goodput of endless flows is summed.
    pub const GOODPUT: u32 = 3;
    /// Watched ports are sampled, and at the end of an interval the caller is asked.
    pub const WATCH: u32 = 4;
    /// The first retune of the configuration. Behind everything else of a tick.
    pub const RETUNE: u32 = 5;
}
