// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results of operators on numbers. A value is in the low bits of a `u128`, the bits above are
//! zero.

use crate::ir::{Expr, ExprKind, MathUnit, Unary};
use crate::run::Rounding;

/// State of the program that an expression reads. `None`: the state is not known.
pub(super) trait Reads {
    fn field(&mut self, slot: usize) -> Option<u128>;
    fn valid(&mut self, header: usize) -> Option<bool>;
    fn math(&mut self, unit: usize, x: u128, width: u32) -> Option<u128>;
    fn hit(&mut self, table: usize) -> Option<bool>;
}

struct Nothing;

impl Reads for Nothing {
    fn field(&mut self, _: usize) -> Option<u128> {
        None
    }
    fn valid(&mut self, _: usize) -> Option<bool> {
        None
    }
    fn math(&mut self, _: usize, _: u128, _: u32) -> Option<u128> {
        None
    }
    fn hit(&mut self, _: usize) -> Option<bool> {
        None
    }
}

/// The value of an expression that reads nothing.
pub(crate) fn fold(e: &Expr) -> Option<u128> {
    eval(e, &mut Nothing)
}

/// The lowest `width` bits.
#[inline]
pub(crate) fn mask(value: u128, width: u32) -> u128 {
    match width {
        128.. => value,
        _ => value & ((1 << width) - 1),
    }
}

/// A value with its sign.
#[inline]
fn signed(value: u128, width: u32) -> i128 {
    let unused = 128 - width;
    ((value << unused) as i128) >> unused
}

/// The value of an expression; none if it reads something that is not there.
pub(super) fn eval(e: &Expr, reads: &mut impl Reads) -> Option<u128> {
    let value = match &e.kind {
        ExprKind::Constant(value) => return Some(*value),
        ExprKind::Field(slot) => return reads.field(*slot),
        ExprKind::Valid(header) => u128::from(reads.valid(*header)?),
        ExprKind::Hit(table) => u128::from(reads.hit(*table)?),
        ExprKind::Slice(inner, _, lo) => eval(inner, reads)? >> lo,
        ExprKind::Cast(inner) => {
            let value = eval(inner, reads)?;
            match inner.signed {
                true => signed(value, inner.width) as u128,
                false => value,
            }
        }
        ExprKind::Unary(operator, inner) => {
            let value = eval(inner, reads)?;
            match operator {
                Unary::Not => value ^ 1,
                Unary::Invert => !value,
                Unary::Negate => value.wrapping_neg(),
            }
        }
        ExprKind::Choose(condition, yes, no) => match eval(condition, reads)? {
            0 => eval(no, reads)?,
            _ => eval(yes, reads)?,
        },
        ExprKind::Math(unit, x) => {
            let x = eval(x, reads)?;
            reads.math(*unit, x, e.width)?
        }
        ExprKind::Binary("&&", a, b) => match eval(a, reads)? {
            0 => 0,
            _ => eval(b, reads)?,
        },
        ExprKind::Binary("||", a, b) => match eval(a, reads)? {
            0 => eval(b, reads)?,
            _ => 1,
        },
        ExprKind::Binary(sign, a, b) => {
            let (x, y) = (eval(a, reads)?, eval(b, reads)?);
            binary(sign, x, y, a, b)?
        }
    };
    Some(mask(value, e.width))
}

fn binary(sign: &str, x: u128, y: u128, a: &Expr, b: &Expr) -> Option<u128> {
    let (sx, sy) = match a.signed {
        true => (signed(x, a.width), signed(y, b.width)),
        // A bit<128> is no i128, but the order of two of them is that of their bits.
        false => (0, 0),
    };
    let ordered = |u: bool, s: bool| u128::from(if a.signed { s } else { u });
    Some(match sign {
        "+" => x.wrapping_add(y),
        "-" => x.wrapping_sub(y),
        "*" => x.wrapping_mul(y),
        "/" => x.checked_div(y)?,
        "%" => x.checked_rem(y)?,
        "&" => x & y,
        "|" => x | y,
        "^" => x ^ y,
        "|+|" => saturate(a, sx.wrapping_add(sy), x.checked_add(y)),
        "|-|" => saturate(a, sx.wrapping_sub(sy), Some(x.saturating_sub(y))),
        "<<" => u32::try_from(y)
            .ok()
            .and_then(|by| x.checked_shl(by))
            .unwrap_or(0),
        ">>" if a.signed => (sx >> y.min(127)) as u128,
        ">>" => u32::try_from(y)
            .ok()
            .and_then(|by| x.checked_shr(by))
            .unwrap_or(0),
        "++" => x << b.width | y,
        "==" => u128::from(x == y),
        "!=" => u128::from(x != y),
        "<" => ordered(x < y, sx < sy),
        ">" => ordered(x > y, sx > sy),
        "<=" => ordered(x <= y, sx <= sy),
        ">=" => ordered(x >= y, sx >= sy),
        _ => return None,
    })
}

/// The nearest value of the type.
fn saturate(of: &Expr, signed: i128, unsigned: Option<u128>) -> u128 {
    let top = mask(u128::MAX, of.width);
    match of.signed {
        true => {
            let limit = 1i128 << (of.width - 1);
            signed.clamp(-limit, limit - 1) as u128
        }
        false => unsigned.map_or(top, |value| value.min(top)),
    }
}

/// `table[top four bits of x] * 2^(scale +- exponent)`.
///
/// Zero gives zero. With the shift -1 the exponent is even, so that three or four bits remain.
pub(crate) fn math(unit: &MathUnit, x: u128, width: u32, rounding: Rounding) -> u128 {
    if x == 0 {
        return 0;
    }
    let wide = x << 3;
    let mut top = 127 - wide.leading_zeros() as i32;
    if unit.shift == -1 && top % 2 == 0 {
        top += 1;
    }
    let exponent = top - 3;
    let index = (wide >> exponent) & 15;
    let mut power = match unit.shift {
        -1 => exponent >> 1,
        0 => exponent,
        _ => exponent << 1,
    };
    if unit.invert {
        power = -power;
    }
    power += unit.scale;
    let entry = u128::from(unit.table[index as usize]);
    let half = match rounding {
        Rounding::Nearest => 1,
        Rounding::Down => 0,
    };
    let value = match power {
        0..=100 => entry << power,
        101.. => 0,
        -100..=-1 => (entry + (half << (-power - 1))) >> -power,
        _ => 0,
    };
    mask(value, width)
}
