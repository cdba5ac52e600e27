// SPDX-License-Identifier: MIT OR Apache-2.0
//! Remedies, which each platform says in its own words.

use crate::model::Length;

/// A change that mends a mistake.
#[derive(Clone, Debug, PartialEq)]
pub enum Fix {
    /// Enable the profile of this name.
    Enable(String),
    /// Mark ECN-capable packets instead of dropping them.
    Mark(String),
    /// Bind a profile to a queue of a port.
    Bind {
        /// The profile; empty where none is defined.
        profile: String,
        /// The first port that needs it.
        port: String,
        /// Number of the queue.
        queue: u8,
    },
    /// Define the profile of this name; empty: any profile.
    Define(String),
    /// Set both thresholds.
    Thresholds(String, Length, Length),
    /// Set the marking probability at the upper threshold, in percent.
    Probability(String, u64),
    /// Judge the queue length itself, not an average.
    Instantaneous(String),
    /// Send a DSCP to a traffic class.
    Classify {
        /// The map.
        map: String,
        /// The DSCP.
        dscp: u8,
        /// The class.
        class: u8,
    },
    /// Protect a priority by PFC.
    Pause {
        /// The first port that needs it.
        port: String,
        /// The priority.
        priority: u8,
    },
    /// A remedy in words of its own.
    Write(String),
}

impl Fix {
    /// Thresholds in bytes.
    pub(crate) fn bytes(profile: &str, min: u64, max: u64) -> Fix {
        Fix::Thresholds(profile.to_owned(), Length::Bytes(min), Length::Bytes(max))
    }
}
