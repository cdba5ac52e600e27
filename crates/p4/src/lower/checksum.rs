// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checksums of v1model: the ones' complement sum of 16-bit words, in statements.

use super::Lower;
use super::stmt::at;
use super::types::{Ty, Var};
use super::value::{Value, typed};
use crate::ast::{self, Arg};
use crate::error::{Error, Place, Result};
use crate::ir::{Expr, ExprKind, Slot, Stmt, StmtKind, Unary};

/// Functions of v1model that compute or check a checksum.
pub(super) const FUNCTIONS: &[&str] = &[
    "update_checksum",
    "verify_checksum",
    "update_checksum_with_payload",
    "verify_checksum_with_payload",
];

/// `HashAlgorithm.csum16`
const CSUM16: &str = "csum16";
/// Words that a checksum may cover, so that their sum has 32 bits.
const WORDS: usize = 1 << 16;

impl<'a> Lower<'a> {
    /// `update_checksum(condition, {data}, checksum, algorithm)` and `verify_checksum`, which sets
    /// `checksum_error` of the standard metadata.
    pub(super) fn checksum(
        &mut self,
        name: &str,
        args: &'a [Arg],
        place: &Place,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let [condition, data, checksum, algorithm] = args else {
            let what = format!("`{name}` wants a condition, data, a checksum and an algorithm");
            return Err(Error::new(place, what));
        };
        if name.ends_with("_with_payload") {
            let what = format!("`{name}` is not supported: a payload is not read here");
            return Err(Error::new(place, what));
        }
        let condition = self.scalar(&condition.value, &Ty::Bool)?;
        let bits = self.data(&data.value)?;
        let (slot, ty) = self.target(&checksum.value)?;
        if ty != Ty::Bit(16) {
            let what = format!("a checksum of {ty} is not supported: bit<16>");
            return Err(Error::new(&checksum.value.place, what));
        }
        if &*self.member_of("HashAlgorithm", &algorithm.value)? != CSUM16 {
            let what = format!("a checksum by another algorithm than {CSUM16} is not supported");
            return Err(Error::new(&algorithm.value.place, what));
        }
        let mut stmts = Vec::new();
        let sum = self.sum(&bits, place, &mut stmts)?;
        let answer = typed(
            &Ty::Bit(16),
            ExprKind::Unary(Unary::Invert, Box::new(sum)),
            place,
        );
        if name == "update_checksum" {
            self.writable(&checksum.value)?;
            stmts.push(at(place, StmtKind::Set(slot, None, answer)));
        } else {
            let error = self.checksum_error(place)?;
            let is = typed(&ty, ExprKind::Field(slot), place);
            let differs = ExprKind::Binary("!=", Box::new(is), Box::new(answer));
            let one = typed(&Ty::Bit(1), ExprKind::Constant(1), place);
            let set = at(place, StmtKind::Set(error, None, one));
            let differs = typed(&Ty::Bool, differs, place);
            stmts.push(at(place, StmtKind::If(differs, vec![set], Vec::new())));
        }
        out.push(at(place, StmtKind::If(condition, stmts, Vec::new())));
        Ok(())
    }

    /// The data in a row: each number of a list, and each field of a structure in it.
    fn data(&mut self, e: &ast::Expr) -> Result<Vec<Expr>> {
        let mut all = Vec::new();
        let mut rest = vec![(self.value(e, None)?, e.place.clone())];
        while let Some((value, place)) = rest.pop() {
            match value {
                Value::List(items) => rest.extend(items.into_iter().rev()),
                Value::Var(var) => {
                    for slot in var.slots() {
                        let ty = self.slot_type(slot);
                        all.push(typed(&ty, ExprKind::Field(slot), &place));
                    }
                }
                Value::Typed(expr, _) => all.push(expr),
                Value::Integer(_) | Value::Text => {
                    let what = "a number here needs a width: write 8w1 for bit<8>";
                    return Err(Error::new(&place, what));
                }
            }
        }
        let bits: usize = all.iter().map(|e| e.width as usize).sum();
        if !bits.is_multiple_of(16) || bits == 0 || bits / 16 > WORDS {
            let what = format!("the data has {bits} bits: whole 16-bit words are needed");
            return Err(Error::new(&e.place, what));
        }
        Ok(all)
    }

    /// The ones' complement sum of the words; statements that come before it.
    fn sum(&mut self, data: &[Expr], place: &Place, out: &mut Vec<Stmt>) -> Result<Expr> {
        let (wide, half) = (Ty::Bit(32), Ty::Bit(16));
        let slot = self.slot(self.path("checksum_sum"), &wide);
        let field = || typed(&wide, ExprKind::Field(slot), place);
        let add = |a: Expr, b: Expr| {
            typed(
                &wide,
                ExprKind::Binary("+", Box::new(a), Box::new(b)),
                place,
            )
        };
        let widened = |e: Expr| typed(&wide, ExprKind::Cast(Box::new(e)), place);
        let zero = typed(&wide, ExprKind::Constant(0), place);
        out.push(at(place, StmtKind::Set(slot, None, zero)));
        for word in words(data, place) {
            let sum = add(field(), widened(word));
            out.push(at(place, StmtKind::Set(slot, None, sum)));
        }
        // What runs over the upper end is added at the lower, twice.
        for _ in 0..2 {
            let part = |hi, lo| {
                widened(typed(
                    &half,
                    ExprKind::Slice(Box::new(field()), hi, lo),
                    place,
                ))
            };
            let folded = add(part(15, 0), part(31, 16));
            out.push(at(place, StmtKind::Set(slot, None, folded)));
        }
        Ok(typed(
            &half,
            ExprKind::Slice(Box::new(field()), 15, 0),
            place,
        ))
    }

    fn checksum_error(&self, place: &Place) -> Result<Slot> {
        let Some(Var::Struct(_, members)) = &self.standard else {
            return Err(Error::new(place, "there is no standard metadata here"));
        };
        let found = members.iter().find(|(n, _)| &**n == "checksum_error");
        match found {
            Some((_, Var::Scalar(slot, _))) => Ok(*slot),
            _ => Err(Error::new(place, "there is no standard metadata here")),
        }
    }
}

/// The data cut into words of 16 bits, the first bit first.
fn words(data: &[Expr], place: &Place) -> Vec<Expr> {
    let mut words = Vec::new();
    let mut word: Option<Expr> = None;
    for e in data {
        let mut left = e.width;
        while left > 0 {
            let has = word.as_ref().map_or(0, |w| w.width);
            let take = left.min(16 - has);
            let ty = Ty::Bit(take);
            let part = ExprKind::Slice(Box::new(e.clone()), left - 1, left - take);
            let part = typed(&ty, part, place);
            left -= take;
            let joined = match word.take() {
                None => part,
                Some(before) => typed(
                    &Ty::Bit(has + take),
                    ExprKind::Binary("++", Box::new(before), Box::new(part)),
                    place,
                ),
            };
            match joined.width {
                16 => words.push(joined),
                _ => word = Some(joined),
            }
        }
    }
    words
}
