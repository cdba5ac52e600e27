// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answers, fabric and sizes of a scenario.

use super::answers::{Answers, Class};
use super::fabric::Fabric;
use super::size::Extent;

/// Answers, fabric and sizes that a scenario is made of.
pub(crate) struct Parts<'a> {
    pub(super) answers: &'a Answers,
    pub(super) fabric: Fabric,
    /// Size of the buffer in bytes, and of a cell where the answer counts cells.
    pub(super) buffer: u64,
    pub(super) cell: Option<u64>,
    /// As the user named it, for commands in comments.
    pub(super) file: &'a str,
    pub(super) extent: Extent,
}

impl Parts<'_> {
    /// Rate of the hosts' links.
    pub(crate) fn rate(&self) -> u64 {
        self.answers.rate
    }

    /// Rate of the links between switches, where it is another one.
    pub(crate) fn uplink(&self) -> Option<u64> {
        self.answers.uplink
    }

    /// Bytes of a cell of the chip; one where the cell is not known.
    pub(crate) fn cell(&self) -> u64 {
        self.cell.unwrap_or(1)
    }

    pub(crate) fn classes(&self) -> &[Class] {
        &self.answers.classes
    }

    /// The fabric in words.
    pub(crate) fn words(&self) -> &str {
        &self.fabric.words
    }

    /// The scenario's file as messages name it.
    pub(crate) fn file(&self) -> &str {
        self.file
    }
}
