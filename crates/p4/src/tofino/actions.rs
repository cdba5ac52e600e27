// SPDX-License-Identifier: MIT OR Apache-2.0
//! Actions. All that an action does happens in one stage, so that no operation in it can use the
//! result of another. Statements of an `apply` become actions too, and before that a compiler puts
//! the expression of a variable in the place where it is used.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Place};
use crate::ir::{Expr, ExprKind, Program, Slot, Stmt, StmtKind};

pub(super) fn check(program: &Program, wrong: &mut Vec<Error>) {
    for gress in &program.gresses {
        for control in &gress.controls {
            Applied::default().block(program, control, wrong);
        }
    }
    let of_tables: BTreeSet<usize> = program
        .tables
        .iter()
        .flat_map(|t| t.actions.iter().copied().chain([t.default.0]))
        .collect();
    for (i, action) in program.actions.iter().enumerate() {
        Within::default().block(program, &action.body, wrong);
        if of_tables.contains(&i) {
            let data: BTreeSet<Slot> = action.params.iter().copied().collect();
            action.body.iter().for_each(|stmt| {
                stmt.walk(&mut |stmt| stmt.exprs().for_each(|e| subtracted(e, &data, wrong)));
            });
        }
    }
    defaults(program, wrong);
}

/// Whether a value needs an instruction. Slices, casts, bits behind each other and constants do
/// not, and a chain of `^` may be a hash.
fn operations(e: &Expr) -> u32 {
    if crate::run::fold(e).is_some() {
        return 0;
    }
    let inner: u32 = e.parts().map(operations).sum();
    match &e.kind {
        ExprKind::Binary("+" | "-" | "|+|" | "|-|" | "&" | "|" | "<<" | ">>", ..) => inner + 1,
        ExprKind::Binary("^", ..) => inner.max(1),
        _ => inner,
    }
}

fn reads(e: &Expr) -> BTreeSet<Slot> {
    let mut slots = BTreeSet::new();
    e.reads(&mut slots);
    slots
}

fn two(place: &Place) -> Error {
    let what = "two operations in one statement need two stages: make an action of each, with a \
                variable between them";
    Error::new(place, what)
}

/// Statements of an `apply`: variables whose expressions a compiler puts where they are used, and
/// what those expressions read.
#[derive(Clone, Default)]
struct Applied(BTreeMap<Slot, (BTreeSet<Slot>, Place)>);

impl Applied {
    fn block(&mut self, program: &Program, stmts: &[Stmt], wrong: &mut Vec<Error>) {
        for stmt in stmts {
            self.stmt(program, stmt, wrong);
        }
    }

    /// A variable is written: neither its old expression is of use any more, nor one that reads it.
    fn written(&mut self, slot: Slot) {
        self.0
            .retain(|of, (reads, _)| *of != slot && !reads.contains(&slot));
    }

    fn action(&mut self, program: &Program, action: usize) {
        for slot in writes(&program.actions[action].body) {
            self.written(slot);
        }
    }

    fn stmt(&mut self, program: &Program, stmt: &Stmt, wrong: &mut Vec<Error>) {
        match &stmt.kind {
            StmtKind::Set(slot, bits, value) => {
                let (count, read) = (operations(value), reads(value));
                if count > 1 {
                    wrong.push(two(&stmt.place));
                } else if count == 1
                    && let Some(of) = read.iter().find(|of| self.0.contains_key(of))
                {
                    let (_, at) = &self.0[of];
                    let what = format!(
                        "a compiler computes this and `{}` of {}:{} in one action, which would \
                         span two stages: make an action of each",
                        program.fields[*of].name, at.line, at.column
                    );
                    wrong.push(Error::new(&stmt.place, what));
                }
                self.written(*slot);
                if count == 1 && bits.is_none() && !read.contains(slot) {
                    self.0.insert(*slot, (read, stmt.place.clone()));
                }
            }
            StmtKind::If(_, yes, no) => {
                let mut other = self.clone();
                self.block(program, yes, wrong);
                other.block(program, no, wrong);
                self.0.retain(|slot, _| other.0.contains_key(slot));
            }
            StmtKind::Scope(inner) => self.block(program, inner, wrong),
            StmtKind::Execute(_, _, into) => into.iter().for_each(|slot| self.written(*slot)),
            StmtKind::Read(_, _, into) => into.iter().for_each(|slot| self.written(*slot)),
            StmtKind::Action(action, _) => self.action(program, *action),
            StmtKind::Apply(table, cases) => {
                for action in &program.tables[*table].actions {
                    self.action(program, *action);
                }
                let before = self.clone();
                for (_, body) in cases {
                    let mut after = before.clone();
                    after.block(program, body, wrong);
                    self.0.retain(|slot, _| after.0.contains_key(slot));
                }
            }
            _ => {}
        }
    }
}

/// Fields that statements write.
fn writes(stmts: &[Stmt]) -> BTreeSet<Slot> {
    let mut all = BTreeSet::new();
    for stmt in stmts {
        stmt.walk(&mut |stmt| match &stmt.kind {
            StmtKind::Set(slot, ..) | StmtKind::Execute(_, _, Some(slot)) => {
                all.insert(*slot);
            }
            StmtKind::Read(_, _, into) => all.extend(into),
            _ => {}
        });
    }
    all
}

/// Statements of an action: what was computed in it so far.
#[derive(Default)]
struct Within(BTreeSet<Slot>);

impl Within {
    fn block(&mut self, program: &Program, stmts: &[Stmt], wrong: &mut Vec<Error>) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Set(slot, _, value) => {
                    let count = operations(value);
                    if count > 1 {
                        wrong.push(two(&stmt.place));
                    }
                    let read = reads(value);
                    let computed = read.iter().any(|of| self.0.contains(of));
                    if count == 1 {
                        self.uses(program, &read, &stmt.place, wrong);
                    }
                    if count > 0 || computed {
                        self.0.insert(*slot);
                    } else {
                        self.0.remove(slot);
                    }
                }
                StmtKind::Execute(action, index, into) => {
                    let mut read = reads(index);
                    for inner in &program.register_actions[*action].body {
                        inner.all_reads(&mut read);
                    }
                    self.uses(program, &read, &stmt.place, wrong);
                    self.0.extend(into);
                }
                _ => stmt.blocks().for_each(|b| self.block(program, b, wrong)),
            }
        }
    }

    fn uses(&self, program: &Program, read: &BTreeSet<Slot>, at: &Place, wrong: &mut Vec<Error>) {
        if let Some(of) = read.intersection(&self.0).next() {
            let what = format!(
                "this needs `{}`, which the same action computes, and an action has one stage: \
                 make two actions",
                program.fields[*of].name
            );
            wrong.push(Error::new(at, what));
        }
    }
}

/// The hardware subtracts what is in a field or an instruction, not what an entry holds.
fn subtracted(e: &Expr, data: &BTreeSet<Slot>, wrong: &mut Vec<Error>) {
    if let ExprKind::Binary("-" | "|-|", _, b) = &e.kind
        && !reads(b).is_disjoint(data)
    {
        let what = "what is subtracted cannot come from a table's entry: let the entry hold the \
                    negative number, and add it";
        wrong.push(Error::new(&e.place, what));
    }
    e.parts().for_each(|part| subtracted(part, data, wrong));
}

/// An index of the packet reaches a register through the hash units, which a table with a key does
/// not use for what no entry matches.
fn defaults(program: &Program, wrong: &mut Vec<Error>) {
    for table in program.tables.iter().filter(|t| !t.keys.is_empty()) {
        let action = &program.actions[table.default.0];
        let mut hashes = false;
        let mut look = |stmt: &Stmt| {
            let index = match &stmt.kind {
                StmtKind::Execute(_, index, _)
                | StmtKind::Read(_, index, _)
                | StmtKind::Write(_, index, _) => index,
                _ => return,
            };
            hashes |= crate::run::fold(index).is_none();
        };
        action.body.iter().for_each(|stmt| stmt.walk(&mut look));
        if hashes {
            let what = format!(
                "`{}` cannot be the default action of `{}`, since its register's index needs the \
                 hash units: write an entry that matches everything, `_ : …`",
                action.name, table.name
            );
            wrong.push(Error::new(&table.place, what));
        }
    }
}
