// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows of a list.

use cemark_wire::Picos;

/// A flow, with nodes as its file numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its line in the file, counted from one.
    pub line: usize,
    /// Sender.
    pub src: u32,
    /// Receiver.
    pub dst: u32,
    /// Payload bytes, at least one.
    pub bytes: u64,
    /// When it starts.
    pub start: Picos,
    /// Its priority, where the format has one.
    pub priority: Option<u32>,
}
