// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a program takes of a switch.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::stages::stages;
use crate::ir::{Program, StmtKind};

/// What a program takes of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Takes {
    /// Tables that a packet at the egress meets.
    pub tables: usize,
    /// Entries that these tables have from the program.
    pub entries: usize,
    /// The width of each register array, in bits.
    pub registers: Vec<u32>,
    /// Bytes of all registers.
    pub bytes: u64,
    /// Bits of variables beside headers and intrinsic metadata.
    pub metadata: u32,
    /// Stages of the egress, estimated.
    pub stages: u32,
}

pub(super) fn takes(program: &Program) -> Takes {
    // What is wrong with calls is told by `check`.
    let program = &super::calls::flat(program, &mut Vec::new()).program;
    let egress = program.gresses.len() - 1;
    let mut tables = BTreeSet::new();
    for control in &program.gresses[egress].controls {
        for stmt in control {
            stmt.walk(&mut |stmt| stmt.tables(&mut tables));
        }
    }
    let registers: Vec<u32> = program
        .registers
        .iter()
        .map(|r| r.lanes.iter().sum())
        .collect();
    let bytes = program.registers.iter().zip(&registers);
    let bytes = bytes
        .map(|(r, bits)| r.size * u64::from(*bits))
        .sum::<u64>()
        / 8;
    Takes {
        entries: tables
            .iter()
            .map(|t| program.tables[*t].entries.len())
            .sum(),
        tables: tables.len(),
        bytes,
        metadata: metadata(program, egress),
        stages: stages(program, egress),
        registers,
    }
}

/// Variables of the egress: not what is in headers, in intrinsic metadata, in a stateful ALU, or an
/// argument of an action or a control.
fn metadata(program: &Program, egress: usize) -> u32 {
    let mut not = BTreeSet::new();
    for header in &program.headers {
        not.extend(header.fields.iter().copied());
    }
    for action in &program.register_actions {
        not.extend(action.lanes.iter().copied());
        not.extend(action.result);
    }
    for action in &program.actions {
        not.extend(action.params.iter().copied());
    }
    let mut written = BTreeSet::new();
    let mut note = |stmt: &crate::ir::Stmt| match &stmt.kind {
        StmtKind::Set(slot, ..) => {
            written.insert(*slot);
        }
        StmtKind::Execute(_, _, Some(slot)) => {
            written.insert(*slot);
        }
        StmtKind::Read(_, _, into) => written.extend(into),
        _ => {}
    };
    for control in &program.gresses[egress].controls {
        control.iter().for_each(|stmt| stmt.walk(&mut note));
    }
    for action in &program.actions {
        action.body.iter().for_each(|stmt| stmt.walk(&mut note));
    }
    let own = program.gresses[egress].fresh.iter();
    own.filter(|slot| written.contains(slot) && !not.contains(slot))
        .map(|slot| program.fields[*slot].width)
        .sum()
}

impl Takes {
    /// The register arrays in words: `3 of 64 bits, 1 of 8 bits`.
    pub fn arrays(&self) -> String {
        let widths: BTreeSet<u32> = self.registers.iter().copied().collect();
        let mut text = String::new();
        for width in widths.into_iter().rev() {
            let number = self.registers.iter().filter(|w| **w == width).count();
            let comma = if text.is_empty() { "" } else { ", " };
            let _ = write!(text, "{comma}{number} of {width} bits");
        }
        match text.is_empty() {
            true => "none".to_owned(),
            false => text,
        }
    }
}
