// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stateful ALU of a Tofino in a register action, by the rules of p4c's back end:
//!
//! - an entry is `bit<8>`, `bit<16>`, `bit<32>`, two of one of them, `bit<1>`, or `bit<64>`;
//! - a math unit gives a value to the first part only;
//! - a part or the result is set once on every path, apart from a zero before;
//! - nothing else happens: no action is called, no table applied, no other register accessed;
//! - a statement has one operator, or an `|` of two that have one;
//! - beside two parts, a result is a part, a field of the packet or a power of two, and there is no
//!   variable to compute in;
//! - a field of the packet has no more bits than a part;
//! - a number that is compared without a sign is at most 2^31;
//! - four numbers outside of -8 to 7 in all actions of one register.

use std::collections::{BTreeMap, BTreeSet};

use super::rules::same;
use crate::error::{Error, Place};
use crate::ir::{Expr, ExprKind, Program, RegisterAction, Slot, Stmt, StmtKind, Unary};

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
            writes: BTreeMap::new(),
            conditions: BTreeMap::new(),
            numbers: numbers.entry(action.register).or_default(),
            wrong,
        };
        one.block(&action.body, &Path::new());
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

/// Conditions by number, and whether they are true, under which a statement runs.
type Path = BTreeMap<usize, bool>;

/// Whether two paths take different branches of a condition.
fn exclude(a: &Path, b: &Path) -> bool {
    a.iter()
        .any(|(condition, taken)| b.get(condition).is_some_and(|other| other != taken))
}

/// Where a field is set, and whether to zero.
struct Setting {
    path: Path,
    zero: bool,
}

impl Setting {
    /// Whether another one may follow: it runs on no path of this one, or what this one gives is
    /// zero, which an ALU joins to the other by `|`. p4c takes a zero that is set under the same
    /// conditions for a second value.
    fn allows(&self, path: &Path) -> bool {
        let first = self.path.is_empty() || !path.is_empty() && self.path != *path;
        exclude(&self.path, path) || self.zero && first
    }
}

struct Alu<'a> {
    program: &'a Program,
    action: &'a RegisterAction,
    /// Bits of a part.
    width: u32,
    /// Where parts and the result are set.
    set: BTreeMap<Slot, Vec<Setting>>,
    /// How often a field was set so far, on all paths together.
    writes: BTreeMap<Slot, u32>,
    /// Numbers of conditions. A condition is its text and how often each of its fields was set
    /// before, so that it has one value wherever it is.
    conditions: BTreeMap<String, usize>,
    numbers: &'a mut BTreeSet<i128>,
    wrong: &'a mut Vec<Error>,
}

impl Alu<'_> {
    fn refuse(&mut self, place: &Place, what: impl Into<String>) {
        self.wrong.push(Error::new(place, what));
    }

    fn block(&mut self, stmts: &[Stmt], path: &Path) {
        for stmt in stmts {
            for e in stmt.exprs() {
                self.operands(e);
            }
            let mut tables = BTreeSet::new();
            stmt.tables(&mut tables);
            match &stmt.kind {
                _ if !tables.is_empty() => self.more(stmt),
                StmtKind::Set(slot, _, value) => {
                    self.assigns(stmt, *slot, value, path);
                    *self.writes.entry(*slot).or_default() += 1;
                }
                StmtKind::If(condition, yes, no) => {
                    self.compares(condition);
                    self.nested(condition, &condition.place, false);
                    let [mut is, mut is_not] = [path.clone(), path.clone()];
                    self.known(condition, true, &mut is);
                    self.known(condition, false, &mut is_not);
                    self.block(yes, &is);
                    self.block(no, &is_not);
                }
                StmtKind::Scope(inner) => self.block(inner, path),
                StmtKind::Return => {}
                _ => self.more(stmt),
            }
        }
    }

    fn more(&mut self, stmt: &Stmt) {
        let what = "a register action only compares, and sets the entry and its result";
        self.refuse(&stmt.place, what);
    }

    /// Adds what a branch of a condition says of it and of the conditions in it.
    fn known(&mut self, e: &Expr, taken: bool, out: &mut Path) {
        match &e.kind {
            ExprKind::Unary(Unary::Not, inner) => return self.known(inner, !taken, out),
            ExprKind::Binary("&&", a, b) if taken => {
                self.known(a, true, out);
                self.known(b, true, out);
            }
            ExprKind::Binary("||", a, b) if !taken => {
                self.known(a, false, out);
                self.known(b, false, out);
            }
            _ => {}
        }
        // A comparison and its opposite are one.
        let (text, taken) = match &e.kind {
            ExprKind::Binary("!=", a, b) => (format!("=={},{}", same(a), same(b)), !taken),
            ExprKind::Binary(">=", a, b) => (format!("<{},{}", same(a), same(b)), !taken),
            ExprKind::Binary("<=", a, b) => (format!(">{},{}", same(a), same(b)), !taken),
            ExprKind::Binary(sign @ ("==" | "<" | ">"), a, b) => {
                (format!("{sign}{},{}", same(a), same(b)), taken)
            }
            _ => (same(e), taken),
        };
        let mut reads = BTreeSet::new();
        e.reads(&mut reads);
        let writes = reads.iter().map(|slot| self.writes.get(slot).copied());
        let writes: Vec<u32> = writes.map(Option::unwrap_or_default).collect();
        let next = self.conditions.len();
        let condition = format!("{text}{writes:?}");
        out.insert(*self.conditions.entry(condition).or_insert(next), taken);
    }

    fn assigns(&mut self, stmt: &Stmt, slot: Slot, value: &Expr, path: &Path) {
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
            let before = self.set.entry(slot).or_default();
            if before.iter().all(|first| first.allows(path)) {
                before.push(Setting {
                    path: path.clone(),
                    zero: crate::run::fold(value) == Some(0),
                });
            } else {
                let what = format!(
                    "`{name}` is set again on the same path: a stateful ALU sets it once (write \
                     `else`; only a zero may come first)"
                );
                self.refuse(place, what);
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
                | ExprKind::Unary(Unary::Negate, _)
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
        ExprKind::Unary(Unary::Not, _) => true,
        _ => false,
    }
}

/// A part of the entry as it is.
fn is_part(e: &Expr, action: &RegisterAction) -> bool {
    matches!(&bare(e).kind, ExprKind::Field(slot) if action.lanes.contains(slot))
}
