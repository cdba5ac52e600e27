// SPDX-License-Identifier: MIT OR Apache-2.0
//! An estimate of the stages: what needs a result of another step is a stage later. A compiler may
//! need more, where tables do not fit beside each other.

use std::collections::{BTreeMap, BTreeSet};

use super::calls::{runs, writes};
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

    /// Sets a field; gives the stage from which on it can be read.
    fn set(&mut self, slot: Slot, value: &Expr, is_wired: bool, from: u32) -> u32 {
        let mut reads = BTreeSet::new();
        value.reads(&mut reads);
        let stage = from.max(self.reads(reads));
        if is_wired {
            self.ready.insert(slot, stage);
        } else {
            self.writes(stage, [slot]);
        }
        self.ready[&slot]
    }

    fn stmt(&mut self, program: &Program, stmt: &Stmt, from: u32) {
        let mut reads = BTreeSet::new();
        stmt.exprs().for_each(|e| e.reads(&mut reads));
        let mut stage = from.max(self.reads(reads));
        let mut tables = BTreeSet::new();
        stmt.tables(&mut tables);
        for table in tables {
            stage = 1 + self.table(program, table, stage);
        }
        match &stmt.kind {
            // A constant is set by the parser. A copy is the same place, and bits put behind each
            // other are an index that the hash units make.
            StmtKind::Set(slot, bits, value) => {
                let is_wired = from == 0 && bits.is_none() && is_wired(value);
                self.set(*slot, value, is_wired, stage);
            }
            StmtKind::If(_, yes, no) => {
                self.block(program, yes, stage);
                self.block(program, no, stage);
            }
            StmtKind::Scope(inner) => self.block(program, inner, from),
            StmtKind::Execute(action, _, into) => {
                let action = &program.register_actions[*action];
                let mut inner = BTreeSet::new();
                for stmt in &action.body {
                    stmt.all_reads(&mut inner);
                }
                let stage = stage.max(self.reads(inner));
                self.writes(stage, *into);
            }
            StmtKind::Read(_, _, into) => self.writes(stage, into.iter().copied()),
            StmtKind::Write(..) => self.writes(stage, []),
            StmtKind::Action(action, args) => {
                let mut stage = from;
                // An argument that is computed needs a stage before.
                for (param, arg) in program.actions[*action].params.iter().zip(args) {
                    stage = stage.max(self.set(*param, arg, is_wired(arg), from));
                }
                self.actions(program, [*action], stage);
            }
            StmtKind::Apply(_, cases) => {
                for (_, body) in cases {
                    self.block(program, body, stage);
                }
            }
            _ => {}
        }
    }

    /// Applies a table; gives its stage.
    fn table(&mut self, program: &Program, table: usize, from: u32) -> u32 {
        let table = &program.tables[table];
        let mut keys = BTreeSet::new();
        table.keys.iter().for_each(|k| k.value.reads(&mut keys));
        let stage = from.max(self.reads(keys));
        self.actions(program, runs(table), stage)
    }

    /// The actions of a table run in one stage, in which everything that they read is there.
    fn actions(
        &mut self,
        program: &Program,
        actions: impl IntoIterator<Item = usize>,
        stage: u32,
    ) -> u32 {
        let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
        for action in actions {
            let body = &program.actions[action].body;
            for stmt in body {
                stmt.all_reads(&mut read);
                stmt.walk(&mut |stmt| {
                    if let StmtKind::Execute(of, ..) = &stmt.kind {
                        for inner in &program.register_actions[*of].body {
                            inner.all_reads(&mut read);
                        }
                    }
                });
            }
            written.extend(writes(body));
        }
        // Parameters, also those of called actions, are set in the action.
        for param in program.actions.iter().flat_map(|action| &action.params) {
            read.remove(param);
        }
        let stage = stage.max(self.reads(read));
        self.writes(stage, written);
        stage
    }
}
