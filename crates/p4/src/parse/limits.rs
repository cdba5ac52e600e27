// SPDX-License-Identifier: MIT OR Apache-2.0
//! Limits that no sensible program reaches, so that a strange one is refused instead of taking all
//! memory, all of the stack or forever.

use super::Parser;
use crate::error::{Error, Result};

/// Brackets, blocks, `else if`s and types within each other.
const DEEPEST: u32 = 100;

/// Operators or members in a row, `a + b + c`.
const LONGEST: u32 = 500;

#[derive(Debug)]
pub(super) struct Limits {
    depth: u32,
    /// How many expressions and types may still be begun. What could be a type argument or a
    /// comparison is read twice, and twice again within itself.
    left: u64,
}

impl Limits {
    pub(super) fn of(tokens: usize) -> Self {
        Limits {
            depth: 0,
            left: 1_000 + 50 * tokens as u64,
        }
    }
}

impl Parser {
    /// Reads what may contain itself.
    pub(super) fn within<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.limits.depth == DEEPEST {
            let what = format!("more than {DEEPEST} of these are within each other");
            return Err(Error::new(&self.place(), what));
        }
        if self.limits.left == 0 {
            let what = "this can be read in too many ways: write brackets";
            return Err(Error::new(&self.place(), what));
        }
        self.limits.left -= 1;
        self.limits.depth += 1;
        let read = read(self);
        self.limits.depth -= 1;
        read
    }

    /// Counts what is read one behind the other, and is within each other all the same.
    pub(super) fn longer(&self, chain: &mut u32) -> Result<()> {
        *chain += 1;
        if *chain > LONGEST {
            let what = format!("more than {LONGEST} of these in a row");
            return Err(Error::new(&self.place(), what));
        }
        Ok(())
    }
}
