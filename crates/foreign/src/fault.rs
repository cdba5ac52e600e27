// SPDX-License-Identifier: MIT OR Apache-2.0
//! Violations of the interface by a marker in C or BPF in the middle of a run.
//!
//! A marker answers a verdict and cannot return an error. So the first violation is stored as a
//! [`Fault`] in the [`Watch`] of the simulation point, and the marker lets packets pass from then
//! on. The caller that runs the point checks the watch from time to time and discards the point.

use std::fmt;
use std::sync::{Arc, OnceLock};

use cemark_wire::Nanos;

use crate::abi::{Entry, PacketView};

/// A violation of the interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The violation in words.
    pub why: String,
    /// Advice for the marker's author.
    pub help: &'static str,
}

/// A violation in the middle of a run, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The marker's own name.
    pub marker: String,
    /// The function.
    pub hook: Entry,
    /// How many packets this marker (one for each queue) had judged at enqueue and at dequeue,
    /// including the current one.
    pub packets: [u64; 2],
    /// The time of the call.
    pub now: Nanos,
    /// The current or last packet; none before the first.
    pub packet: Option<PacketView>,
    /// The violation.
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

/// The first fault among the markers of one simulation point.
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<OnceLock<Fault>>);

impl Watch {
    /// The first fault, if there was one.
    pub fn fault(&self) -> Option<&Fault> {
        self.0.get()
    }

    /// Keeps the first fault only: later ones may follow from it.
    pub(crate) fn leave(&self, fault: Fault) {
        let _ = self.0.set(fault);
    }
}
