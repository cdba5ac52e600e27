// SPDX-License-Identifier: MIT OR Apache-2.0
//! An estimate of the stages: what needs a result of another step is a stage later. A compiler may
//! need more, where tables do not fit beside each other.

use std::collections::BTreeMap;

use crate::ir::{Expr, ExprKind, Program, Slot, Stmt, StmtKind};

#[derive(Default)]
struct Stages {
    /// The stage from which on a field has its newest value.
    ready: BTreeMap<Slot, u32>,
    last: u32,
}

/// Stages of the controls of one half.
pub(super) fn stages(program: &Program, gress: usize) -> u32 {
    let mut stages = Stages::default();
    for control in &program.gresses[gress].controls {
        stages.block(program, control, 0);
    }
    stages.last
}

fn is_wired(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Field(_) | ExprKind::Constant(_) => true,
        ExprKind::Binary("++", a, b) => is_bits(a) && is_bits(b),
        _ => false,
    }
}

fn is_bits(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Slice(inner, ..) => matches!(inner.kind, ExprKind::Field(_)),
        _ => is_wired(value),
    }
}

impl Stages {
    fn reads(&self, slots: impl IntoIterator<Item = Slot>) -> u32 {
        let ready = slots.into_iter().filter_map(|slot| self.ready.get(&slot));
        ready.copied().max().unwrap_or(0)
    }

    /// Runs something in a stage; what it writes can be read from the next one on.
    fn writes(&mut self, stage: u32, slots: impl IntoIterator<Item = Slot>) {
        for slot in slots {
            self.ready.insert(slot, stage + 1);
        }
        self.last = self.last.max(stage + 1);
    }

    fn block(&mut self, program: &Program, stmts: &[Stmt], from: u32) {
        for stmt in stmts {
            self.stmt(program, stmt, from);
        }
    }

    fn stmt(&mut self, program: &Program, stmt: &Stmt, from: u32) {
        let mut reads = std::collections::BTreeSet::new();
        stmt.exprs().for_each(|e| e.reads(&mut reads));
        let stage = from.max(self.reads(reads));
        match &stmt.kind {
            // A constant is set by the parser. A copy is the same place, and bits put behind each
            // other are an index that the hash units make.
            StmtKind::Set(slot, None, value) if from == 0 && is_wired(value) => {
                self.ready.insert(*slot, stage);
            }
            StmtKind::Set(slot, ..) => self.writes(stage, [*slot]),
            StmtKind::If(_, yes, no) => {
                self.block(program, yes, stage);
                self.block(program, no, stage);
            }
            StmtKind::Scope(inner) => self.block(program, inner, from),
            StmtKind::Execute(action, _, into) => {
                let action = &program.register_actions[*action];
                let mut inner = std::collections::BTreeSet::new();
                for stmt in &action.body {
                    stmt.all_reads(&mut inner);
                }
                let stage = stage.max(self.reads(inner));
                self.writes(stage, *into);
            }
            StmtKind::Read(_, _, into) => self.writes(stage, into.iter().copied()),
            StmtKind::Write(..) => self.writes(stage, []),
            StmtKind::Action(action, _) => {
                self.actions(program, &[*action], stage);
            }
            StmtKind::Apply(table, cases) => {
                let table = &program.tables[*table];
                let mut keys = std::collections::BTreeSet::new();
                table.keys.iter().for_each(|k| k.value.reads(&mut keys));
                let stage = stage.max(self.reads(keys));
                let ran = self.actions(program, &table.actions, stage);
                for (_, body) in cases {
                    self.block(program, body, ran + 1);
                }
            }
            _ => {}
        }
    }

    /// The actions of a table run in one stage, in which everything that they read is there.
    fn actions(&mut self, program: &Program, actions: &[usize], stage: u32) -> u32 {
        let mut reads = std::collections::BTreeSet::new();
        let mut writes = std::collections::BTreeSet::new();
        for action in actions {
            let action = &program.actions[*action];
            for stmt in &action.body {
                stmt.all_reads(&mut reads);
                if let StmtKind::Execute(of, _, into) = &stmt.kind {
                    for inner in &program.register_actions[*of].body {
                        inner.all_reads(&mut reads);
                    }
                    writes.extend(*into);
                }
                if let StmtKind::Set(slot, ..) = &stmt.kind {
                    writes.insert(*slot);
                }
            }
            for param in &action.params {
                reads.remove(param);
            }
        }
        let stage = stage.max(self.reads(reads));
        self.writes(stage, writes);
        stage
    }
}
