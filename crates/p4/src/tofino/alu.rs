// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stateful ALU of a Tofino in a register action, by the rules of p4c's back end:
//!
//! - an entry is `bit<8>`, `bit<16>`, `bit<32>`, two of one of them, `bit<1>`, or `bit<64>`;
//! - a math unit gives a value to the first part only;
//! - a part or the result is set once on every path, apart from a zero at the beginning;
//! - a statement has one operator, or an `|` of two that have one;
//! - beside two parts, a result is a part, a field of the packet or a power of two, and there is no
//!   variable to compute in;
//! - a field of the packet has no more bits than a part;
//! - a number that is compared without a sign is at most 2^31;
//! - four numbers outside of -8 to 7 in all actions of one register.

use std::collections::{BTreeMap, BTreeSet};

use super::rules::same;
use crate::error::{Error, Place};
use crate::ir::{Expr, ExprKind, Program, RegisterAction, Slot, Stmt, StmtKind};

/// Numbers of any size that all actions of a register have together.
const NUMBERS: usize = 4;
/// Numbers that are part of an instruction.
const SMALL: std::ops::RangeInclusive<i128> = -8..=7;
/// The bits of a number that is compared.
const HALF: u128 = 1 << 31;

pub(super) fn check(program: &Program, wrong: &mut Vec<Error>) {
    let mut numbers: BTreeMap<usize, BTreeSet<i128>> = BTreeMap::new();
    for register in &program.registers {
        let parts: Vec<u32> = register.lanes.clone();
        let fine = match *parts {
            [1 | 8 | 16 | 32 | 64] => true,
            [a, b] => a == b && [8, 16, 32].contains(&a),
            _ => false,
        };
        // `rules.rs` says what is wrong with wider ones.
        if !fine && parts.len() <= 2 && parts.iter().all(|w| *w <= 32) {
            let shown: Vec<String> = parts.iter().map(|w| format!("bit<{w}>")).collect();
            let what = format!(
                "an entry of {} cannot be had: bit<8>, bit<16>, bit<32>, two of one of them, \
                 bit<1> or bit<64>",
                shown.join(" and ")
            );
            wrong.push(Error::new(&register.place, what));
        }
    }
    for action in &program.register_actions {
        let mut one = Alu {
            program,
            action,
            width: program.registers[action.register].lanes[0].max(8),
            set: BTreeMap::new(),
            numbers: numbers.entry(action.register).or_default(),
            wrong,
        };
        one.block(&action.body, None);
    }
    for (register, numbers) in numbers {
        if numbers.len() > NUMBERS {
            let register = &program.registers[register];
            let what = format!(
                "the actions of `{}` have {} numbers outside of -8 to 7, and there is room for \
                 {NUMBERS}",
                register.name,
                numbers.len()
            );
            wrong.push(Error::new(&register.place, what));
        }
    }
}

struct Alu<'a> {
    program: &'a Program,
    action: &'a RegisterAction,
    /// Bits of a part.
    width: u32,
    /// The conditions under which something is set, as texts. `None`: always.
    set: BTreeMap<Slot, Vec<Option<String>>>,
    numbers: &'a mut BTreeSet<i128>,
    wrong: &'a mut Vec<Error>,
}

impl Alu<'_> {
    fn refuse(&mut self, place: &Place, what: impl Into<String>) {
        self.wrong.push(Error::new(place, what));
    }

    fn block(&mut self, stmts: &[Stmt], when: Option<&str>) {
        for stmt in stmts {
            for e in stmt.exprs() {
                self.operands(e);
            }
            match &stmt.kind {
                StmtKind::Set(slot, _, value) => self.assigns(stmt, *slot, value, when),
                StmtKind::If(condition, yes, no) => {
                    self.compares(condition);
                    self.nested(condition, &condition.place, false);
                    let outer = when.unwrap_or_default();
                    let is = format!("{outer}&{}", same(condition));
                    self.block(yes, Some(&is));
                    self.block(no, Some(&format!("{outer}&!{}", same(condition))));
                }
                _ => stmt.blocks().for_each(|inner| self.block(inner, when)),
            }
        }
    }

    fn assigns(&mut self, stmt: &Stmt, slot: Slot, value: &Expr, when: Option<&str>) {
        let name = self.program.fields[slot].name.clone();
        let (action, place) = (self.action, &stmt.place);
        let part = action.lanes.iter().position(|lane| *lane == slot);
        let pair = action.lanes.len() > 1;
        if part != Some(0) && has_math(value) {
            let first = &self.program.fields[action.lanes[0]].name;
            let what = format!("a math unit gives its value to the first part, `{first}`, only");
            self.refuse(place, what);
        }
        if pair && Some(slot) == action.result && !is_given(value) {
            let what = format!(
                "`{name}` is computed, beside an entry of two parts: it can be a part, a field \
                 of the packet, or a power of two"
            );
            self.refuse(place, what);
        }
        let own = part.is_some() || Some(slot) == action.result;
        if pair && !own && !is_part(value, action) {
            let what = format!("beside an entry of two parts there is no place for `{name}`");
            self.refuse(place, what);
        }
        self.nested(value, place, part.is_some());
        self.compares(value);
        self.number(value);
        if own {
            let zero = when.is_none() && crate::run::fold(value) == Some(0);
            let before = self.set.entry(slot).or_default();
            let when = when.map(str::to_owned);
            let again = before
                .iter()
                .any(|b| b.is_none() || when.is_none() || *b == when);
            if again {
                let what = format!(
                    "`{name}` is set again on the same path: a stateful ALU sets it once \
                     (write `else`; only a zero may come first)"
                );
                self.refuse(place, what);
            } else if !zero || !before.is_empty() {
                before.push(when);
            }
        }
    }

    /// Fields of the packet that are wider than a part.
    fn operands(&mut self, e: &Expr) {
        if let ExprKind::Field(slot) = e.kind {
            let field = &self.program.fields[slot];
            let own = self.action.lanes.contains(&slot) || self.action.result == Some(slot);
            let is_local = field.name.starts_with(&format!("{}.", self.action.name));
            // Wider ones than any part are in `rules.rs`.
            if !own && !is_local && field.width > self.width && field.width <= 32 {
                let what = format!(
                    "`{}` has {} bits, and a stateful ALU for this entry reads {}",
                    field.name, field.width, self.width
                );
                self.refuse(&e.place, what);
            }
        }
        // A slice of a wide field is narrow.
        if !matches!(e.kind, ExprKind::Slice(..) | ExprKind::Cast(_)) {
            e.parts().for_each(|part| self.operands(part));
        }
    }

    /// An operator on the result of another. `part`: an `|` may join two.
    fn nested(&mut self, e: &Expr, place: &Place, part: bool) {
        if let ExprKind::Binary(sign, a, b) = &e.kind {
            let counts = ["+", "-", "|+|", "|-|", "&", "|", "^"].contains(sign);
            let inner = is_operation(a) || is_operation(b);
            if counts && inner && !(*sign == "|" && part) {
                let what = "an operator on the result of another: a stateful ALU has one in a \
                            statement, or `|` around two";
                self.refuse(place, what);
                return;
            }
        }
        e.parts().for_each(|inner| self.nested(inner, place, false));
    }

    /// Comparisons without a sign.
    fn compares(&mut self, e: &Expr) {
        if let ExprKind::Binary("<" | ">" | "<=" | ">=" | "==" | "!=", a, b) = &e.kind {
            for (side, other) in [(a, b), (b, a)] {
                let ordered = !matches!(e.kind, ExprKind::Binary("==" | "!=", ..));
                match crate::run::fold(side) {
                    Some(n) if ordered && !other.signed && n > HALF => {
                        let what = format!(
                            "{n} is compared without a sign, and such a number is at most 2^31"
                        );
                        self.refuse(&side.place, what);
                    }
                    Some(_) => self.number(side),
                    None => {}
                }
            }
        }
        e.parts().for_each(|part| self.compares(part));
    }

    /// Counts the numbers of an expression.
    fn number(&mut self, e: &Expr) {
        match crate::run::fold(e) {
            Some(bits) => {
                let signed = e.signed && e.width < 127 && bits >> (e.width - 1) & 1 == 1;
                let n = match signed {
                    true => bits as i128 - (1 << e.width),
                    false => bits as i128,
                };
                if !SMALL.contains(&n) {
                    self.numbers.insert(n);
                }
            }
            None => e.parts().for_each(|part| self.number(part)),
        }
    }
}

fn has_math(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Math(..)) || e.parts().any(has_math)
}

/// The expression inside casts.
fn bare(e: &Expr) -> &Expr {
    match &e.kind {
        ExprKind::Cast(inner) => bare(inner),
        _ => e,
    }
}

fn is_operation(e: &Expr) -> bool {
    let e = bare(e);
    crate::run::fold(e).is_none()
        && matches!(
            e.kind,
            ExprKind::Binary("+" | "-" | "|+|" | "|-|" | "&" | "|" | "^" | "/" | "%", ..)
                | ExprKind::Unary(crate::ir::Unary::Negate, _)
        )
}

/// A field, a power of two or zero, the truth of a condition, or a choice of those.
fn is_given(e: &Expr) -> bool {
    match &bare(e).kind {
        ExprKind::Constant(n) => *n == 0 || n.is_power_of_two(),
        ExprKind::Field(_) => true,
        ExprKind::Slice(inner, ..) => is_given(inner),
        ExprKind::Choose(_, yes, no) => is_given(yes) && is_given(no),
        ExprKind::Binary("==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||", ..) => true,
        ExprKind::Unary(crate::ir::Unary::Not, _) => true,
        _ => false,
    }
}

/// A part of the entry as it is.
fn is_part(e: &Expr, action: &RegisterAction) -> bool {
    matches!(&bare(e).kind, ExprKind::Field(slot) if action.lanes.contains(slot))
}
