// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which fields may be read before they are set. SWX keeps the metadata of the packet before, so
//! that these are set to zero; the others need no instruction.

use std::collections::BTreeSet;

use crate::ir::{Expr, ExprKind, Program, Slot, Stmt, StmtKind};

pub(super) struct Early<'p> {
    program: &'p Program,
    /// Fields that may be read before they are set.
    pub read: BTreeSet<Slot>,
}

type Set = BTreeSet<Slot>;

impl<'p> Early<'p> {
    pub fn new(program: &'p Program) -> Self {
        Early {
            program,
            read: Set::new(),
        }
    }

    /// A block that `return` may end: what it sets counts only where nothing ends it early.
    pub fn scope(&mut self, body: &[Stmt], set: &mut Set) {
        let mut ends = false;
        for stmt in body {
            stmt.walk(&mut |s| ends |= matches!(s.kind, StmtKind::Return | StmtKind::Exit));
        }
        let mut inner = set.clone();
        self.block(body, &mut inner);
        if !ends {
            *set = inner;
        }
    }

    fn block(&mut self, body: &[Stmt], set: &mut Set) {
        body.iter().for_each(|stmt| self.stmt(stmt, set));
    }

    /// An expression is read.
    pub fn expr(&mut self, e: &Expr, set: &mut Set) {
        match e.kind {
            ExprKind::Field(slot) if !set.contains(&slot) => {
                self.read.insert(slot);
            }
            ExprKind::Hit(table) => self.table(table, set),
            // The second operand may not be reached.
            ExprKind::Binary("&&" | "||", ..) | ExprKind::Choose(..) => {
                for (i, part) in e.parts().enumerate() {
                    match i {
                        0 => self.expr(part, set),
                        _ => self.expr(part, &mut set.clone()),
                    }
                }
            }
            _ => e.parts().for_each(|part| self.expr(part, set)),
        }
    }

    fn stmt(&mut self, stmt: &Stmt, set: &mut Set) {
        match &stmt.kind {
            StmtKind::Set(slot, bits, value) => {
                self.expr(value, set);
                if bits.is_some() && !set.contains(slot) {
                    self.read.insert(*slot);
                }
                set.insert(*slot);
            }
            StmtKind::If(condition, yes, no) => {
                self.expr(condition, set);
                let mut other = set.clone();
                self.block(yes, set);
                self.block(no, &mut other);
                set.retain(|slot| other.contains(slot));
            }
            StmtKind::Apply(table, cases) => {
                self.table(*table, set);
                for (_, body) in cases {
                    self.block(body, &mut set.clone());
                }
            }
            StmtKind::Action(action, args) => {
                args.iter().for_each(|arg| self.expr(arg, set));
                self.action(*action, set);
            }
            StmtKind::Execute(action, index, into) => {
                self.expr(index, set);
                let action = &self.program.register_actions[*action];
                let mut inner = set.clone();
                inner.extend(action.lanes.iter().chain(&action.result));
                self.scope(&action.body, &mut inner);
                set.extend(into);
            }
            StmtKind::Read(_, index, into) => {
                self.expr(index, set);
                set.extend(into);
            }
            StmtKind::Write(_, index, values) => {
                self.expr(index, set);
                values.iter().for_each(|value| self.expr(value, set));
            }
            StmtKind::Advance(by) => self.expr(by, set),
            StmtKind::Scope(inner) => self.scope(inner, set),
            StmtKind::Extract(_)
            | StmtKind::Emit(_)
            | StmtKind::Parse(_)
            | StmtKind::SetValid(..)
            | StmtKind::Return
            | StmtKind::Exit => {}
        }
    }

    fn table(&mut self, table: usize, set: &mut Set) {
        let table = &self.program.tables[table];
        table.keys.iter().for_each(|key| self.expr(&key.value, set));
        let entries = table.entries.iter().map(|entry| entry.action);
        let mut actions: BTreeSet<usize> = entries.chain([table.default.0]).collect();
        if table.entries.is_empty() {
            actions.extend(&table.actions);
        }
        let mut common: Option<Set> = None;
        for action in actions {
            let mut after = set.clone();
            self.action(action, &mut after);
            common = Some(match common {
                Some(common) => common.intersection(&after).copied().collect(),
                None => after,
            });
        }
        set.extend(common.unwrap_or_default());
    }

    fn action(&mut self, action: usize, set: &mut Set) {
        let action = &self.program.actions[action];
        set.extend(&action.params);
        self.scope(&action.body, set);
    }
}
