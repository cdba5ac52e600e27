// SPDX-License-Identifier: MIT OR Apache-2.0
//! Math units: with a table that is written, and with one that the compiler makes.

use super::Lower;
use super::types::Ty;
use super::value::Value;
use crate::ast::{Arg, Decl};
use crate::error::{Error, Place, Result};
use crate::ir::MathUnit;
use crate::run::fold;

/// An operator of `MathOp_t`: whether the exponent is negated, how it is shifted, and the function
/// of an index of the table over 8.
struct Operator {
    invert: bool,
    shift: i32,
    of: fn(f64) -> f64,
}

const fn operator(invert: bool, shift: i32, of: fn(f64) -> f64) -> Operator {
    Operator { invert, shift, of }
}

/// None: p4c 1.2.5.16 makes a wrong table for RSQR, it computes 1 / x * x.
fn named(operation: &str) -> Option<Operator> {
    match operation {
        "MUL" => Some(operator(false, 0, |x| x)),
        "SQR" => Some(operator(false, 1, |x| x * x)),
        "SQRT" => Some(operator(false, -1, f64::sqrt)),
        "DIV" => Some(operator(true, 0, f64::recip)),
        "RSQRT" => Some(operator(true, -1, |x| x.sqrt().recip())),
        _ => None,
    }
}

impl Lower<'_> {
    /// `MathUnit(invert, shift, scale, {values from index 15 down to 0})`, or with a table that the
    /// compiler makes, `MathUnit(MathOp_t.DIV, A)` and `MathUnit(MathOp_t.DIV, A, B)`.
    pub(super) fn math_unit(&mut self, decl: &Decl, args: &[Arg]) -> Result<usize> {
        let unit = match args {
            [operation, factors @ ..] if (1..=2).contains(&factors.len()) => {
                self.math_operator(operation, factors)?
            }
            [invert, shift, scale, table] => {
                let invert = self.constant(&invert.value, &Ty::Bool)? != 0;
                let shift = self.constant(&shift.value, &Ty::Integer)? as i128;
                let scale = self.constant(&scale.value, &Ty::Integer)? as i128;
                if !(-1..=1).contains(&shift) || !(-32..32).contains(&scale) {
                    let what = "the shift is -1, 0 or 1, the scale -32 to 31";
                    return Err(Error::new(&decl.place, what));
                }
                MathUnit {
                    invert,
                    shift: shift as i32,
                    scale: scale as i32,
                    table: self.written(table)?,
                }
            }
            _ => {
                let what = "a math unit is MathUnit(invert, shift, scale, {16 values}), or \
                            MathUnit(MathOp_t.DIV, factor)";
                return Err(Error::new(&decl.place, what));
            }
        };
        self.out.math.push(unit);
        Ok(self.out.math.len() - 1)
    }

    /// The 16 values of a table, the last index first.
    fn written(&mut self, table: &Arg) -> Result<[u8; 16]> {
        let place = &table.value.place;
        let Value::List(items) = self.value(&table.value, None)? else {
            return Err(Error::new(place, "wants a list of 16 values"));
        };
        if items.len() != 16 {
            let what = format!("wants 16 values, came {}", items.len());
            return Err(Error::new(place, what));
        }
        let mut values = [0; 16];
        for (value, (item, at)) in values.iter_mut().rev().zip(items) {
            *value = self.byte(item, &at)?;
        }
        Ok(values)
    }

    fn byte(&self, item: Value, at: &Place) -> Result<u8> {
        let item = self.coerce(item, &Ty::Bit(8), at)?;
        let value = fold(&item).ok_or_else(|| Error::new(at, "not a constant"))?;
        Ok(value as u8)
    }

    /// The table that p4c makes for an operator and a factor: the largest scale with which every
    /// entry is below 256, and each entry to the nearest.
    fn math_operator(&mut self, operation: &Arg, factors: &[Arg]) -> Result<MathUnit> {
        let name = self.member_of("MathOp_t", &operation.value)?;
        let Some(Operator { invert, shift, of }) = named(&name) else {
            let what = format!("p4c makes a wrong table for {name}: write the 16 values");
            return Err(Error::new(&operation.value.place, what));
        };
        let mut values = Vec::new();
        for Arg { value, .. } in factors {
            match self.constant(value, &Ty::Integer)? {
                n @ 1..=0xffff_ffff_ffff_ffff => values.push(n as f64),
                _ => return Err(Error::new(&value.place, "a factor is 1 to 2^64 - 1")),
            }
        }
        let factor = values[0] / values.get(1).copied().unwrap_or(1.0);
        let first = if shift < 0 { 4 } else { 8 };
        let value = |index: usize| factor * of(index as f64 / 8.0);
        let largest = value(first).max(value(15));
        // The floor of the logarithm; a power of two is exact.
        let mut log = largest.log2().floor() as i32;
        log += i32::from(2f64.powi(log + 1) <= largest) - i32::from(2f64.powi(log) > largest);
        let scale = (log - 7).clamp(-32, 31);
        let mut table = [0; 16];
        for (index, entry) in table.iter_mut().enumerate().skip(first) {
            let value = value(index) * 2f64.powi(-scale);
            *entry = value.round_ties_even().clamp(0.0, 255.0) as u8;
        }
        Ok(MathUnit {
            invert,
            shift,
            scale,
            table,
        })
    }
}
