// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rules of a Tofino that a program can be checked against without its compiler, and what a
//! program takes of the switch.
//!
//! Passing is necessary, not sufficient: a compiler also has to place the program.

mod actions;
mod alu;
mod calls;
mod rules;
mod sizes;
mod stages;
mod takes;

pub use takes::Takes;

use crate::error::Error;
use crate::ir::Program;

/// Every rule that a program breaks, in the order of its text.
///
/// - A packet accesses each register at most once, on every path.
/// - A register action has at most two conditions, two fields of the packet as operands, two parts
///   of 32 bits, and two updates of each part.
/// - There is no division, and no product of two variables.
/// - An `if` outside of a register action compares fields with constants, or for equality.
/// - An action takes one stage, with the actions that it calls: no operation in it needs the result
///   of another. It calls neither itself nor a table.
/// - What is subtracted does not come from a table's entry.
/// - What a table with a key does by default accesses no register by an index of the packet.
/// - A register action is what a stateful ALU can do (`alu.rs` lists the rules).
/// - Registers fit into a stage, tables into a pipe (`sizes.rs`).
pub fn check(program: &Program) -> Vec<Error> {
    rules::check(program)
}

/// What a program takes of the switch; the stages are an estimate.
pub fn takes(program: &Program) -> Takes {
    takes::takes(program)
}
