// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expressions: an instruction of SWX changes its first operand, so that a value is made in a
//! temporary field.

use std::collections::BTreeSet;

use super::Emitter;
use super::code::Label;
use super::layout::{At, bytes};
use crate::error::{Error, Result};
use crate::ir::{Expr, ExprKind, Slot, Unary};
use crate::run::{fold, mask};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    /// A number.
    Number(u128),
    /// A field and its width.
    Field(String, u32),
}

impl Operand {
    pub fn text(&self) -> String {
        match self {
            Operand::Number(n) => number(*n),
            Operand::Field(name, _) => name.clone(),
        }
    }
}

pub(super) fn number(n: u128) -> String {
    match n {
        0..10_000 => n.to_string(),
        _ => format!("{n:#x}"),
    }
}

/// A field that is written, and its width in whole bytes.
#[derive(Clone, Debug)]
pub(super) struct Dest {
    pub name: String,
    pub width: u32,
}

impl Emitter<'_> {
    /// A field that is free until the end of the statement.
    pub fn temp(&mut self, width: u32, e: &Expr) -> Result<Dest> {
        let width = bytes(width);
        if width > 64 {
            let what = "SWX computes with at most 64 bits; use slices of the value";
            return Err(Error::new(&e.place, what));
        }
        let used = self.temps.entry(width).or_default();
        let name = format!("m.t{width}_{used}");
        *used += 1;
        let most = self.most_temps.entry(width).or_default();
        *most = (*most).max(*used);
        Ok(Dest { name, width })
    }

    /// The value as an operand: where it is, or a temporary field.
    pub fn operand(&mut self, e: &Expr) -> Result<Operand> {
        if let Some(value) = fold(e) {
            return Ok(Operand::Number(value));
        }
        match &e.kind {
            ExprKind::Field(slot) => match self.layout.at(*slot) {
                At::Meta(name, width) | At::Whole(name, width) if *width <= 64 => {
                    return Ok(Operand::Field(name.clone(), *width));
                }
                _ => {}
            },
            ExprKind::Cast(inner)
                if inner.width == e.width || inner.width < e.width && !inner.signed =>
            {
                return self.operand(inner);
            }
            _ => {}
        }
        let dest = self.temp(e.width, e)?;
        self.eval(e, &dest)?;
        Ok(Operand::Field(dest.name, dest.width))
    }

    /// An operand that is a field, as the first one of a jump has to be.
    pub fn field_operand(&mut self, e: &Expr) -> Result<String> {
        match self.operand(e)? {
            Operand::Field(name, _) => Ok(name),
            Operand::Number(value) => {
                let dest = self.temp(e.width, e)?;
                self.code.op("mov", [&dest.name, &number(value)]);
                Ok(dest.name)
            }
        }
    }

    /// Whether code that makes the value may write `slot` before it has read it for the last time.
    pub fn clobbers(e: &Expr, slot: Slot) -> bool {
        let reads = |e: &Expr| {
            let mut all = BTreeSet::new();
            e.reads(&mut all);
            all.contains(&slot)
        };
        match &e.kind {
            ExprKind::Field(_) | ExprKind::Constant(_) => false,
            ExprKind::Binary("+" | "-" | "&" | "|" | "^", a, b) => {
                reads(b) || Self::clobbers(a, slot)
            }
            _ => reads(e),
        }
    }

    /// Code that leaves the value in a field.
    pub fn eval(&mut self, e: &Expr, to: &Dest) -> Result<()> {
        if let Some(value) = fold(e) {
            self.code.op("mov", [&to.name, &number(value)]);
            return Ok(());
        }
        match &e.kind {
            ExprKind::Constant(value) => self.code.op("mov", [&to.name, &number(*value)]),
            ExprKind::Field(slot) => self.eval_field(*slot, e, to)?,
            ExprKind::Slice(inner, hi, lo) => {
                if let ExprKind::Field(slot) = inner.kind
                    && let At::Part(name, width, below) = self.layout.at(slot).clone()
                {
                    return self.part(&name, width, (below + hi, below + lo), e, to);
                }
                let from = self.operand(inner)?;
                self.part(&from.text(), inner.width, (*hi, *lo), e, to)?;
            }
            ExprKind::Unary(Unary::Invert, inner) => {
                let from = self.operand(inner)?;
                self.mov(to, &from);
                let all = mask(u128::MAX, e.width);
                self.code.op("xor", [&to.name, &number(all)]);
            }
            ExprKind::Unary(Unary::Negate, inner) => {
                let from = self.operand(inner)?;
                self.code.op("mov", [to.name.as_str(), "0"]);
                self.code.op("sub", [&to.name, &from.text()]);
                self.cut(e.width, to);
            }
            ExprKind::Binary(sign, a, b) => self.eval_binary(e, sign, a, b, to)?,
            ExprKind::Choose(condition, yes, no) => {
                let (other, end) = (self.code.label(), self.code.label());
                self.jump(condition, false, other)?;
                self.eval(yes, to)?;
                self.code.jump("jmp", end, &[]);
                self.code.place(other);
                self.eval(no, to)?;
                self.code.place(end);
            }
            ExprKind::Cast(inner) => {
                let from = self.operand(inner)?;
                self.mov(to, &from);
                if inner.signed && inner.width < e.width {
                    let sign = number(1 << (inner.width - 1));
                    self.code.op("xor", [&to.name, &sign]);
                    self.code.op("sub", [&to.name, &sign]);
                }
                self.cut(e.width, to);
            }
            ExprKind::Math(unit, x) => {
                let x = self.field_operand(x)?;
                self.math(*unit, &x, e, to)?;
            }
            ExprKind::Valid(_) | ExprKind::Unary(Unary::Not, _) | ExprKind::Hit(_) => {
                self.eval_condition(e, to)?;
            }
        }
        Ok(())
    }

    fn eval_field(&mut self, slot: Slot, e: &Expr, to: &Dest) -> Result<()> {
        match self.layout.at(slot).clone() {
            At::Meta(name, width) | At::Whole(name, width) => {
                if width > 64 {
                    return Err(Error::new(&e.place, "SWX computes with at most 64 bits"));
                }
                if name != to.name {
                    self.code.op("mov", [&to.name, &name]);
                }
            }
            At::Part(name, width, below) => {
                self.part(&name, width, (below + e.width - 1, below), e, to)?;
            }
        }
        Ok(())
    }

    /// Leaves the bits `hi` to `lo` of a field in another one.
    fn part(
        &mut self,
        from: &str,
        width: u32,
        (hi, lo): (u32, u32),
        e: &Expr,
        to: &Dest,
    ) -> Result<()> {
        let part = match bytes(width) <= to.width {
            true => to.clone(),
            false => self.temp(width, e)?,
        };
        self.code.op("mov", [part.name.as_str(), from]);
        if lo > 0 {
            self.code.op("shr", [&part.name, &lo.to_string()]);
        }
        // A narrower field takes no more bits than it has.
        if hi < width - 1 && hi - lo + 1 != to.width {
            let all = number(mask(u128::MAX, hi - lo + 1));
            self.code.op("and", [&part.name, &all]);
        }
        if part.name != to.name {
            self.code.op("mov", [&to.name, &part.name]);
        }
        Ok(())
    }

    fn mov(&mut self, to: &Dest, from: &Operand) {
        if to.name != from.text() {
            self.code.op("mov", [&to.name, &from.text()]);
        }
    }

    /// SWX's fields are whole bytes: what is above the value's own bits is zero.
    fn cut(&mut self, width: u32, to: &Dest) {
        if width < to.width {
            let all = number(mask(u128::MAX, width));
            self.code.op("and", [&to.name, &all]);
        }
    }

    fn eval_binary(&mut self, e: &Expr, sign: &str, a: &Expr, b: &Expr, to: &Dest) -> Result<()> {
        let simple = match sign {
            "+" => "add",
            "-" => "sub",
            "&" => "and",
            "|" => "or",
            "^" => "xor",
            "|-|" | "|+|" if !e.signed => return self.eval_saturating(e, sign, a, b, to),
            "<<" | ">>" if !e.signed || sign == "<<" => return self.eval_shift(e, sign, a, b, to),
            "++" => {
                self.eval(a, to)?;
                self.code.op("shl", [&to.name, &b.width.to_string()]);
                let low = self.operand(b)?;
                self.code.op("or", [&to.name, &low.text()]);
                return Ok(());
            }
            "==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||" => {
                return self.eval_condition(e, to);
            }
            _ => {
                let what = format!("SWX has no instruction for `{sign}` of these operands");
                return Err(Error::new(&e.place, what));
            }
        };
        self.eval(a, to)?;
        let b = self.operand(b)?;
        self.code.op(simple, [&to.name, &b.text()]);
        if matches!(sign, "+" | "-") {
            self.cut(e.width, to);
        }
        Ok(())
    }

    fn eval_saturating(
        &mut self,
        e: &Expr,
        sign: &str,
        a: &Expr,
        b: &Expr,
        to: &Dest,
    ) -> Result<()> {
        let end = self.code.label();
        if sign == "|-|" {
            let (a, b) = (self.field_operand(a)?, self.operand(b)?.text());
            self.code.op("mov", [to.name.as_str(), "0"]);
            self.code.jump("jmplt", end, &[&a, &b]);
            self.code.op("mov", [&to.name, &a]);
            self.code.op("sub", [&to.name, &b]);
        } else {
            let (a, b) = (self.operand(a)?, self.operand(b)?.text());
            let most = mask(u128::MAX, e.width);
            self.mov(to, &a);
            self.code.op("add", [&to.name, &b]);
            if e.width < to.width {
                self.code.jump("jmplt", end, &[&to.name, &number(most + 1)]);
            } else {
                // A sum that has wrapped is less than what was added.
                self.code.jump("jmpgt", end, &[&to.name, &b]);
                self.code.jump("jmpeq", end, &[&to.name, &b]);
            }
            self.code.op("mov", [&to.name, &number(most)]);
        }
        self.code.place(end);
        Ok(())
    }

    fn eval_shift(&mut self, e: &Expr, sign: &str, a: &Expr, b: &Expr, to: &Dest) -> Result<()> {
        let by = fold(b)
            .ok_or_else(|| Error::new(&b.place, "a shift by a variable is not emitted for SWX"))?;
        if by >= u128::from(e.width) {
            self.code.op("mov", [to.name.as_str(), "0"]);
            return Ok(());
        }
        self.eval(a, to)?;
        let name = if sign == "<<" { "shl" } else { "shr" };
        self.code.op(name, [&to.name, &number(by)]);
        self.cut(e.width, to);
        Ok(())
    }

    /// A condition as 0 or 1.
    fn eval_condition(&mut self, e: &Expr, to: &Dest) -> Result<()> {
        let (no, end) = (self.code.label(), self.code.label());
        self.jump(e, false, no)?;
        self.code.op("mov", [to.name.as_str(), "1"]);
        self.code.jump("jmp", end, &[]);
        self.code.place(no);
        self.code.op("mov", [to.name.as_str(), "0"]);
        self.code.place(end);
        Ok(())
    }

    /// Jumps where a condition is as it is wanted.
    pub fn jump(&mut self, e: &Expr, when: bool, to: Label) -> Result<()> {
        if let Some(value) = fold(e) {
            if (value != 0) == when {
                self.code.jump("jmp", to, &[]);
            }
            return Ok(());
        }
        match &e.kind {
            ExprKind::Unary(Unary::Not, inner) => self.jump(inner, !when, to)?,
            ExprKind::Binary(sign @ ("&&" | "||"), a, b) => {
                // The first operand decides alone where it is this.
                let decides = *sign == "||";
                if when == decides {
                    self.jump(a, when, to)?;
                    self.jump(b, when, to)?;
                } else {
                    let skip = self.code.label();
                    self.jump(a, decides, skip)?;
                    self.jump(b, when, to)?;
                    self.code.place(skip);
                }
            }
            ExprKind::Valid(header) => {
                let name = if when { "jmpv" } else { "jmpnv" };
                let header = self.layout.header(*header);
                self.code.jump(name, to, &[&header]);
            }
            ExprKind::Hit(table) => self.jump_hit(*table, when, to)?,
            ExprKind::Binary(sign @ ("==" | "!=" | "<" | ">" | "<=" | ">="), a, b) => {
                let orders = !matches!(*sign, "==" | "!=");
                let (a, b) = match orders && a.signed {
                    true => (self.biased(a)?, self.biased(b)?),
                    false => (self.operand(a)?, self.operand(b)?),
                };
                self.compare(sign, a, b, when, to, e)?;
            }
            _ => {
                let field = self.field_operand(e)?;
                let name = if when { "jmpneq" } else { "jmpeq" };
                self.code.jump(name, to, &[&field, "0"]);
            }
        }
        Ok(())
    }

    /// A signed value with its sign turned, which unsigned comparisons order rightly.
    fn biased(&mut self, e: &Expr) -> Result<Operand> {
        let sign = 1u128 << (e.width - 1);
        if let Some(value) = fold(e) {
            return Ok(Operand::Number(value ^ sign));
        }
        let dest = self.temp(e.width, e)?;
        self.eval(e, &dest)?;
        self.code.op("xor", [&dest.name, &number(sign)]);
        Ok(Operand::Field(dest.name, dest.width))
    }

    /// SWX jumps where something is equal, unequal, less or greater.
    fn compare(
        &mut self,
        sign: &str,
        a: Operand,
        b: Operand,
        when: bool,
        to: Label,
        e: &Expr,
    ) -> Result<()> {
        let (mut sign, mut a, mut b) = (sign, a, b);
        if !when {
            sign = match sign {
                "==" => "!=",
                "!=" => "==",
                "<" => ">=",
                ">=" => "<",
                ">" => "<=",
                _ => ">",
            };
        }
        if let Operand::Number(_) = a {
            (a, b) = (b, a);
            sign = match sign {
                "<" => ">",
                ">" => "<",
                "<=" => ">=",
                ">=" => "<=",
                same => same,
            };
        }
        let Operand::Field(a, _) = a else {
            return Err(Error::new(&e.place, "a comparison of two numbers"));
        };
        let text = b.text();
        match (sign, b) {
            ("==", _) => self.code.jump("jmpeq", to, &[&a, &text]),
            ("!=", _) => self.code.jump("jmpneq", to, &[&a, &text]),
            ("<", _) => self.code.jump("jmplt", to, &[&a, &text]),
            (">", _) => self.code.jump("jmpgt", to, &[&a, &text]),
            (">=", Operand::Number(0)) => self.code.jump("jmp", to, &[]),
            (">=", Operand::Number(n)) => self.code.jump("jmpgt", to, &[&a, &number(n - 1)]),
            ("<=", Operand::Number(n)) if n < u128::from(u64::MAX) => {
                self.code.jump("jmplt", to, &[&a, &number(n + 1)]);
            }
            (sign, _) => {
                let name = if sign == "<=" { "jmplt" } else { "jmpgt" };
                self.code.jump(name, to, &[&a, &text]);
                self.code.jump("jmpeq", to, &[&a, &text]);
            }
        }
        Ok(())
    }
}
