// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which schemes a virtual queue can serve.

use cemark_marking::{Hook, Marker, QueueSpec, SchemeSpec, Values, catalogue};

/// Requirement of a scheme that a virtual queue does not meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The scheme needs a timer, and a tc program runs only when a packet comes.
    Timer,
    /// The scheme reads the round time of a scheduler.
    Rounds,
    /// The scheme judges a packet twice, as it joins and as it leaves, by lengths that a tc program
    /// does not know in advance.
    BothEnds,
    /// Its threshold is a part of a buffer, and a virtual queue has none.
    Buffer,
    /// The scheme measures lengths as packets leave, which a tc program does not know in advance.
    LengthBehind,
}

impl Misfit {
    /// A sentence that begins with the name of the scheme.
    pub fn text(self) -> &'static str {
        match self {
            Misfit::Timer => "acts on a timer, and a tc program runs only when a packet comes",
            Misfit::Rounds => "reads the round time of a scheduler, and a virtual queue has none",
            Misfit::BothEnds => {
                "judges packets as they join and again as they leave; a tc program sees them once"
            }
            Misfit::Buffer => "follows the limit of a buffer, and a virtual queue has none",
            Misfit::LengthBehind => {
                "reads the length behind a packet that leaves, which a tc program cannot know"
            }
        }
    }
}

/// Whether a virtual queue can serve the scheme with these parameters. CoDel's `min_bytes` is the
/// one exception from its rule: the bytes that a packet finds stand for those behind it.
pub fn fits(spec: &SchemeSpec, values: &Values, queue: &QueueSpec) -> Result<(), Misfit> {
    let marker = catalogue::build(spec, values, queue);
    if marker.keeps_time() {
        return Err(Misfit::Timer);
    }
    if (spec.reads_round)(values) {
        return Err(Misfit::Rounds);
    }
    if spec.name == "dynamic" {
        return Err(Misfit::Buffer);
    }
    match marker.hook() {
        Hook::Both => Err(Misfit::BothEnds),
        Hook::Dequeue if marker.reads_length_at_dequeue() && spec.name != "codel" => {
            Err(Misfit::LengthBehind)
        }
        Hook::Enqueue | Hook::Dequeue => Ok(()),
    }
}
