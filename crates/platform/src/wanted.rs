// SPDX-License-Identifier: MIT OR Apache-2.0
//! Marking that a configuration is written for, in terms of every platform.

/// Marking and classes of the queues of a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Ports by name, as the platform writes lists: `Ethernet0,Ethernet4`, `swp1-32`.
    pub ports: String,
    /// End of the names of marking profiles, where ports of several rates have one each: `_100G`;
    /// empty otherwise.
    pub suffix: String,
    /// Queues with a marker or a class, by number.
    pub queues: Vec<WantedQueue>,
    /// Number of the queue of a DSCP that no queue has.
    pub rest: u8,
    /// Roundings, parts of the scheme that are lost, and the cost of the loss: a sentence each.
    pub notes: Vec<String>,
    /// Title and notes as lines of comments, without a mark before them.
    pub comments: Vec<String>,
}

/// A queue of every port.
#[derive(Clone, Debug, PartialEq)]
pub struct WantedQueue {
    /// Number of the queue.
    pub index: u8,
    /// DSCPs of its packets; empty where the switch has no classes.
    pub dscps: Vec<u8>,
    /// Whether PFC protects it.
    pub lossless: bool,
    /// The marking curve; none where the queue never marks.
    pub ramp: Option<Ramp>,
}

/// A marking curve of whole bytes and whole percents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ramp {
    /// Length up to which no packet is marked, in bytes.
    pub min: u64,
    /// Length above which every packet is marked, in bytes.
    pub max: u64,
    /// Marking probability at `max`, 1 to 100 percent.
    pub percent: u64,
}

/// The form in which SONiC is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SonicForm {
    /// JSON for `config load`.
    Load,
    /// JSON patch for `config apply-patch`.
    Patch,
    /// Lines of `ecnconfig`.
    Lines,
}

/// Names of SONiC's fields for thresholds of ECN alone, which are not settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SonicSchema {
    /// Thresholds of WRED for marks and drops.
    Legacy,
    /// `ecn_green_min_threshold`, as in sonic-buildimage pull request 28164.
    Ecn,
    /// `green_ect_min_threshold`, as in the review of sonic-swss pull request 4719.
    Ect,
}

/// How a platform is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// SONiC's form.
    pub sonic: SonicForm,
    /// SONiC's names.
    pub schema: SonicSchema,
}

/// A text for a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The text.
    pub text: String,
    /// Sentences that the text has no place for: JSON has no comments.
    pub notes: Vec<String>,
}

/// Marking that a platform, or a form of it, cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritable {
    /// Why.
    pub why: String,
    /// The remedy.
    pub instead: String,
}

impl Wanted {
    /// Queues with a marking curve.
    pub(crate) fn marked(&self) -> impl Iterator<Item = (&WantedQueue, Ramp)> {
        self.queues.iter().filter_map(|q| Some((q, q.ramp?)))
    }

    /// Numbers of the lossless queues.
    pub(crate) fn lossless(&self) -> Vec<u8> {
        let lossless = self.queues.iter().filter(|queue| queue.lossless);
        lossless.map(|queue| queue.index).collect()
    }

    /// Whether packets have classes by DSCP.
    pub(crate) fn has_classes(&self) -> bool {
        self.queues.iter().any(|queue| !queue.dscps.is_empty())
    }

    /// Lines of comments with a mark before each.
    pub(crate) fn comments(&self, mark: &str) -> String {
        let lines = self.comments.iter();
        lines.map(|line| format!("{mark} {line}\n")).collect()
    }
}

/// Numbers as a list: `24,26`.
pub(crate) fn list(numbers: &[u8], separator: &str) -> String {
    let words: Vec<String> = numbers.iter().map(u8::to_string).collect();
    words.join(separator)
}

/// A JSON document as text.
pub(crate) fn pretty(json: &serde_json::Value) -> String {
    format!("{json:#}\n")
}
