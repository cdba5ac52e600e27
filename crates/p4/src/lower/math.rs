// SPDX-License-Identifier: MIT OR Apache-2.0
//! Math units: with a table that is written, and with one that the compiler makes.

use super::Lower;
use super::types::Ty;
use super::value::Value;
use crate::ast::{Arg, Decl};
use crate::error::{Error, Place, Result};
use crate::ir::{Expr, ExprKind, MathUnit};
use crate::run::fold;

/// An operator of `MathOp_t`: whether the exponent is negated, how it is shifted, and the largest
/// value of the function over the indices of a table, which are 8/8 to 15/8 (4/8 to 15/8 for a
/// root).
struct Operator {
    name: &'static str,
    invert: bool,
    shift: i32,
    largest: f64,
    of: fn(f64) -> f64,
}

const OPERATORS: [Operator; 5] = [
    Operator {
        name: "MUL",
        invert: false,
        shift: 0,
        largest: 15.0 / 8.0,
        of: |x| x,
    },
    Operator {
        name: "SQR",
        invert: false,
        shift: 1,
        largest: 225.0 / 64.0,
        of: |x| x * x,
    },
    Operator {
        name: "SQRT",
        invert: false,
        shift: -1,
        largest: 1.369_306_393_762_915_3,
        of: f64::sqrt,
    },
    Operator {
        name: "DIV",
        invert: true,
        shift: 0,
        largest: 1.0,
        of: |x| 1.0 / x,
    },
    Operator {
        name: "RSQRT",
        invert: true,
        shift: -1,
        largest: std::f64::consts::SQRT_2,
        of: |x| 1.0 / x.sqrt(),
    },
];

impl Lower<'_> {
    /// `MathUnit(invert, shift, scale, {values from index 15 down to 0})`, or with a table that the
    /// compiler makes, `MathUnit(MathOp_t.DIV, A)` and `MathUnit(MathOp_t.DIV, A, B)`.
    pub(super) fn math_unit(&mut self, decl: &Decl, args: &[Arg]) -> Result<usize> {
        let place = &decl.place;
        let [invert, shift, scale, table] = match args {
            [operator, factors @ ..] if (1..=2).contains(&factors.len()) => {
                return self.math_operator(operator, factors);
            }
            [invert, shift, scale, table] => [invert, shift, scale, table],
            _ => {
                let what = "a math unit is MathUnit(invert, shift, scale, {16 values}), or \
                            MathUnit(MathOp_t.DIV, factor)";
                return Err(Error::new(place, what));
            }
        };
        let invert = self.constant(&invert.value, &Ty::Bool)? != 0;
        let shift = self.constant(&shift.value, &Ty::Integer)? as i128;
        let scale = self.constant(&scale.value, &Ty::Integer)? as i128;
        if !(-1..=1).contains(&shift) || !(-32..32).contains(&scale) {
            return Err(Error::new(
                place,
                "the shift is -1, 0 or 1, the scale -32 to 31",
            ));
        }
        let Value::List(items) = self.value(&table.value, None)? else {
            return Err(Error::new(&table.value.place, "wants a list of 16 values"));
        };
        let mut values = [0u8; 16];
        if items.len() != 16 {
            let what = format!("wants 16 values, came {}", items.len());
            return Err(Error::new(&table.value.place, what));
        }
        for (i, (item, at)) in items.into_iter().enumerate() {
            values[15 - i] = self.byte(item, &at)?;
        }
        self.out.math.push(MathUnit {
            invert,
            shift: shift as i32,
            scale: scale as i32,
            table: values,
        });
        Ok(self.out.math.len() - 1)
    }

    fn byte(&self, item: Value, at: &Place) -> Result<u8> {
        let item = self.coerce(item, &Ty::Bit(8), at)?;
        let value = fold(&item).ok_or_else(|| Error::new(at, "not a constant"))?;
        Ok(value as u8)
    }

    /// The table that p4c makes for an operator and a factor: the largest scale with which every
    /// entry is below 256, and each entry to the nearest.
    fn math_operator(&mut self, operator: &Arg, factors: &[Arg]) -> Result<usize> {
        let at = &operator.value.place;
        let index = match self.value(&operator.value, None)? {
            Value::Typed(
                Expr {
                    kind: ExprKind::Constant(index),
                    ..
                },
                Ty::Enum(of),
            ) if &*of == "MathOp_t" => index,
            other => {
                let what = format!("wants a MathOp_t, came {}", other.shown());
                return Err(Error::new(at, what));
            }
        };
        let named =
            |o: &&Operator| self.enum_index("MathOp_t", o.name).map(|i| i as u128) == Some(index);
        let Some(operator) = OPERATORS.iter().find(named) else {
            // p4c 1.2.5.16 computes 1 / x * x.
            let what = "p4c makes a wrong table for RSQR: write the 16 values";
            return Err(Error::new(at, what));
        };
        let mut values = Vec::new();
        for factor in factors {
            let value = self.constant(&factor.value, &Ty::Integer)?;
            if value == 0 || value > u128::from(u64::MAX) {
                let what = "a factor of a math unit is 1 to 2^64 - 1";
                return Err(Error::new(&factor.value.place, what));
            }
            values.push(value as f64);
        }
        let factor = values[0] / values.get(1).copied().unwrap_or(1.0);
        let largest = factor * operator.largest;
        // The floor of the logarithm; a power of two is exact.
        let mut log = largest.log2().floor() as i32;
        log += i32::from(2f64.powi(log + 1) <= largest) - i32::from(2f64.powi(log) > largest);
        let scale = (log - 7).clamp(-32, 31);
        let mut table = [0; 16];
        let first = if operator.shift < 0 { 4 } else { 8 };
        for (i, entry) in table.iter_mut().enumerate().skip(first) {
            let value = (operator.of)(i as f64 / 8.0) * factor * 2f64.powi(-scale);
            *entry = value.round_ties_even().clamp(0.0, 255.0) as u8;
        }
        self.out.math.push(MathUnit {
            invert: operator.invert,
            shift: operator.shift,
            scale,
            table,
        });
        Ok(self.out.math.len() - 1)
    }

    /// The place of a member in an enum.
    pub(super) fn enum_index(&self, of: &str, member: &str) -> Option<usize> {
        match self.types.get(of) {
            Some(super::types::TypeDef::Enum(names)) => names.iter().position(|n| &**n == member),
            _ => None,
        }
    }
}
