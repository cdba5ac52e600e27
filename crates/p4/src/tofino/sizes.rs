// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sizes: what fits nowhere in a Tofino, whatever else is in it.

use crate::error::Error;
use crate::ir::{Program, Table};

/// Bytes of a stage's 80 blocks of memory; a register is in one stage.
const STAGE: u64 = 80 * 16 * 1024;
/// Stages of a pipe, over which a table may be spread.
const STAGES: u64 = 12;
/// Entries of a stage's 24 blocks for ternary matches.
const TERNARY: u64 = 24 * 512;

pub(super) fn check(program: &Program, wrong: &mut Vec<Error>) {
    for register in &program.registers {
        let bits: u64 = register.lanes.iter().map(|w| u64::from(*w)).sum();
        let bytes = u128::from(register.size) * u128::from(bits) / 8;
        if bytes > STAGE.into() {
            let what = format!(
                "the register `{}` has {bytes} bytes, and a stage of a Tofino {STAGE}",
                register.name
            );
            wrong.push(Error::new(&register.place, what));
        }
    }
    for table in &program.tables {
        let (most, of) = most(table);
        if table.size > most {
            let what = format!(
                "the table `{}` has {} entries, and {of} of a Tofino have room for {most}",
                table.name, table.size
            );
            wrong.push(Error::new(&table.place, what));
        }
    }
}

/// The entries for which all of a pipe's memory would be enough.
fn most(table: &Table) -> (u64, &'static str) {
    let of = |kind: &str| table.keys.iter().any(|key| key.kind == kind);
    if of("ternary") || of("range") {
        return (STAGES * TERNARY, "12 stages of ternary memory");
    }
    let bits: u64 = table.keys.iter().map(|k| u64::from(k.value.width)).sum();
    // A key of a few bits may be an index, and an entry without data has a bit.
    let stored = bits.saturating_sub(10).max(1);
    (STAGES * STAGE * 8 / stored, "the memory of 12 stages")
}
