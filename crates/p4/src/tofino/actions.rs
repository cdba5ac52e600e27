// SPDX-License-Identifier: MIT OR Apache-2.0
//! Actions. All that an action does, with the actions that it calls, happens in one stage, so that
//! no operation in it can use the result of another. Statements of an `apply` become actions too,
//! and before that a compiler puts the expression of a variable in the place where it is used.

use std::collections::{BTreeMap, BTreeSet};

use super::calls::{runs, writes};
use crate::error::{Error, Place};
use crate::ir::{Expr, ExprKind, Program, Slot, Stmt, StmtKind};

/// Statements of `apply`, and defaults of tables.
pub(super) fn check(program: &Program, wrong: &mut Vec<Error>) {
    for gress in &program.gresses {
        for control in &gress.controls {
            Applied::default().block(program, control, wrong);
        }
    }
    defaults(program, wrong);
}

/// Faults of an action. Parameters of an action that a table runs are what an entry holds.
pub(super) fn action(program: &Program, action: usize, of_table: bool, wrong: &mut Vec<Error>) {
    let action = &program.actions[action];
    Within::default().block(program, &action.body, wrong);
    if of_table {
        let params = action.params.iter().copied();
        Data(params.collect()).block(&action.body, wrong);
    }
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

    /// A value that is computed in `apply`. Gives its operations and what it reads.
    fn value(
        &self,
        program: &Program,
        value: &Expr,
        place: &Place,
        wrong: &mut Vec<Error>,
    ) -> (u32, BTreeSet<Slot>) {
        let (count, read) = (operations(value), reads(value));
        if count > 1 {
            wrong.push(two(place));
        } else if count == 1
            && let Some(of) = read.iter().find(|of| self.0.contains_key(of))
        {
            let (_, at) = &self.0[of];
            let what = format!(
                "a compiler computes this and `{}` of {}:{} in one action, which would span two \
                 stages: make an action of each",
                program.fields[*of].name, at.line, at.column
            );
            wrong.push(Error::new(place, what));
        }
        (count, read)
    }

    /// A table computes its keys, and runs one of its actions.
    fn table(&mut self, program: &Program, table: usize, wrong: &mut Vec<Error>) {
        let table = &program.tables[table];
        for key in &table.keys {
            self.value(program, &key.value, &key.value.place, wrong);
        }
        for action in runs(table) {
            self.action(program, action);
        }
    }

    fn stmt(&mut self, program: &Program, stmt: &Stmt, wrong: &mut Vec<Error>) {
        let mut tables = BTreeSet::new();
        stmt.tables(&mut tables);
        for table in tables {
            self.table(program, table, wrong);
        }
        match &stmt.kind {
            StmtKind::Set(slot, bits, value) => {
                let (count, read) = self.value(program, value, &stmt.place, wrong);
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
            StmtKind::Action(action, args) => {
                // An argument is computed before the action begins.
                for (param, arg) in program.actions[*action].params.iter().zip(args) {
                    self.value(program, arg, &arg.place, wrong);
                    self.written(*param);
                }
                self.action(program, *action);
            }
            StmtKind::Apply(_, cases) => {
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

/// Statements of an action: what was computed in it so far, on any path.
#[derive(Clone, Default)]
struct Within(BTreeSet<Slot>);

impl Within {
    fn block(&mut self, program: &Program, stmts: &[Stmt], wrong: &mut Vec<Error>) {
        for stmt in stmts {
            self.stmt(program, stmt, wrong);
        }
    }

    fn stmt(&mut self, program: &Program, stmt: &Stmt, wrong: &mut Vec<Error>) {
        let mut read = BTreeSet::new();
        stmt.exprs().for_each(|e| e.reads(&mut read));
        match &stmt.kind {
            StmtKind::Set(slot, bits, value) => {
                let count = operations(value);
                if count > 1 {
                    wrong.push(two(&stmt.place));
                }
                let computed = read.iter().any(|of| self.0.contains(of));
                if count == 1 {
                    self.uses(program, &read, &stmt.place, wrong);
                }
                if count > 0 || computed {
                    self.0.insert(*slot);
                } else if bits.is_none() {
                    self.0.remove(slot);
                }
            }
            StmtKind::Execute(action, _, into) => {
                for inner in &program.register_actions[*action].body {
                    inner.all_reads(&mut read);
                }
                self.uses(program, &read, &stmt.place, wrong);
                self.0.extend(into);
            }
            StmtKind::Read(_, _, into) => {
                self.uses(program, &read, &stmt.place, wrong);
                self.0.extend(into);
            }
            StmtKind::Write(..) => self.uses(program, &read, &stmt.place, wrong),
            StmtKind::If(_, yes, no) => {
                self.uses(program, &read, &stmt.place, wrong);
                let mut other = self.clone();
                self.block(program, yes, wrong);
                other.block(program, no, wrong);
                self.0.extend(other.0);
            }
            _ => stmt.blocks().for_each(|b| self.block(program, b, wrong)),
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

/// Fields that hold what a table's entry holds, on any path.
#[derive(Clone)]
struct Data(BTreeSet<Slot>);

impl Data {
    fn block(&mut self, stmts: &[Stmt], wrong: &mut Vec<Error>) {
        for stmt in stmts {
            stmt.exprs().for_each(|e| self.subtracted(e, wrong));
            match &stmt.kind {
                StmtKind::Set(slot, bits, value) => {
                    // A compiler puts the entry's value where its copy is used.
                    if operations(value) == 0 && !reads(value).is_disjoint(&self.0) {
                        self.0.insert(*slot);
                    } else if bits.is_none() {
                        self.0.remove(slot);
                    }
                }
                StmtKind::If(_, yes, no) => {
                    let mut other = self.clone();
                    self.block(yes, wrong);
                    other.block(no, wrong);
                    self.0.extend(other.0);
                }
                StmtKind::Execute(_, _, into) => into.iter().for_each(|slot| {
                    self.0.remove(slot);
                }),
                StmtKind::Read(_, _, into) => into.iter().for_each(|slot| {
                    self.0.remove(slot);
                }),
                _ => stmt.blocks().for_each(|inner| self.block(inner, wrong)),
            }
        }
    }

    /// The hardware subtracts what is in a field or an instruction, not what an entry holds.
    fn subtracted(&self, e: &Expr, wrong: &mut Vec<Error>) {
        if let ExprKind::Binary("-" | "|-|", _, b) = &e.kind
            && !reads(b).is_disjoint(&self.0)
        {
            let what = "what is subtracted cannot come from a table's entry: let the entry hold \
                        the negative number, and add it";
            wrong.push(Error::new(&e.place, what));
        }
        e.parts().for_each(|part| self.subtracted(part, wrong));
    }
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
