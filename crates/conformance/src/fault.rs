// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a foreign marker breaks its promises in mid-run, and how that leaves the simulation.
//!
//! A simulation asks a marker for a verdict and has no use for an error. So a marker that breaks
//! leaves a [`Fault`] in the [`Watch`] of its point and lets packets pass from then on; whoever
//! runs the point looks at the watch from time to time and throws the point away.

use std::fmt;
use std::sync::{Arc, OnceLock};

use cemark_wire::Nanos;

use crate::abi::{Entry, PacketView};

/// What the code of a marker did that it may not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// What it did.
    pub why: String,
    /// What its author can do.
    pub help: &'static str,
}

/// A breach in mid-run, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The marker's own name.
    pub marker: String,
    /// In which function.
    pub hook: Entry,
    /// How many packets this marker (one for each queue) had judged at its hooks by then, the one
    /// at hand among them: as they joined, as they left.
    pub packets: [u64; 2],
    /// When.
    pub now: Nanos,
    /// The packet that it judged or judged last; none before the first.
    pub packet: Option<PacketView>,
    /// What was wrong.
    pub breach: Breach,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [joined, left] = self.packets;
        let hook = self.hook.name();
        write!(f, "{}: {hook}: ", self.marker)?;
        match self.hook {
            Entry::Enqueue => write!(f, "packet {joined} of its queue")?,
            Entry::Dequeue => write!(f, "packet {left} of its queue")?,
            _ if joined + left == 0 => write!(f, "before the first packet of its queue")?,
            _ => write!(f, "after packet {} of its queue", joined.max(left))?,
        }
        let judging = matches!(self.hook, Entry::Enqueue | Entry::Dequeue);
        write!(f, ", {} ns", self.now.0)?;
        if let Some(at) = self.packet.filter(|_| judging) {
            write!(
                f,
                ", {} bytes, {} bytes queued before it",
                at.pkt_bytes, at.queue_bytes
            )?;
            if self.hook == Entry::Dequeue {
                write!(f, ", waited {} ns", at.sojourn)?;
            }
        }
        write!(f, ": {}", self.breach.why)
    }
}

/// Where the markers of one point leave the first fault among them.
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<OnceLock<Fault>>);

impl Watch {
    /// The first fault, if there was one.
    pub fn fault(&self) -> Option<&Fault> {
        self.0.get()
    }

    /// Later ones follow from the first, or would have come without it: they are not kept.
    pub(crate) fn leave(&self, fault: Fault) {
        let _ = self.0.set(fault);
    }
}
