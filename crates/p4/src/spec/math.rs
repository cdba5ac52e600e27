// SPDX-License-Identifier: MIT OR Apache-2.0
//! A math unit. SWX neither divides nor finds a number's first bit, but the unit's result depends
//! on the top four bits of its operand only, so that it is a staircase: its steps are searched in
//! halves, with one comparison for each half.

use super::Emitter;
use super::code::Label;
use super::expr::{Dest, number};
use crate::error::Result;
use crate::ir::Expr;
use crate::run::math;

impl Emitter<'_> {
    /// Leaves in a field what a math unit makes of another field.
    pub fn math(&mut self, unit: usize, x: &str, e: &Expr, to: &Dest) -> Result<()> {
        let steps = self.steps(unit, e.width);
        let end = self.code.label();
        self.search(&steps, x, to, end);
        self.code.place(end);
        Ok(())
    }

    /// From where on which result holds, upwards.
    fn steps(&self, unit: usize, width: u32) -> Vec<(u128, u128)> {
        let unit = &self.program.math[unit];
        let result = |x| math(unit, x, width, self.rounding);
        let mut steps = vec![(0, result(0))];
        for log in 0..width {
            let unused = log.saturating_sub(3);
            for x in (1u128 << log..2 << log).step_by(1 << unused) {
                let value = result(x);
                if steps.last().is_none_or(|(_, last)| *last != value) {
                    steps.push((x, value));
                }
            }
        }
        steps
    }

    fn search(&mut self, steps: &[(u128, u128)], x: &str, to: &Dest, end: Label) {
        if let [(_, value)] = steps {
            self.code.op("mov", [&to.name, &number(*value)]);
            self.code.jump("jmp", end, &[]);
            return;
        }
        let (low, high) = steps.split_at(steps.len() / 2);
        let below = self.code.label();
        self.code.jump("jmplt", below, &[x, &number(high[0].0)]);
        self.search(high, x, to, end);
        self.code.place(below);
        self.search(low, x, to, end);
    }
}
