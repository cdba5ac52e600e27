// SPDX-License-Identifier: MIT OR Apache-2.0
//! Walks over expressions and statements.

use std::collections::BTreeSet;

use crate::ir::{Expr, ExprKind, Slot, Stmt, StmtKind};

impl Expr {
    /// The expressions in it, one level down.
    pub fn parts(&self) -> impl Iterator<Item = &Expr> {
        let parts: Vec<&Expr> = match &self.kind {
            ExprKind::Constant(_) | ExprKind::Field(_) | ExprKind::Valid(_) | ExprKind::Hit(_) => {
                Vec::new()
            }
            ExprKind::Slice(a, ..)
            | ExprKind::Unary(_, a)
            | ExprKind::Cast(a)
            | ExprKind::Math(_, a) => vec![a],
            ExprKind::Binary(_, a, b) => vec![a, b],
            ExprKind::Choose(a, b, c) => vec![a, b, c],
        };
        parts.into_iter()
    }

    /// Adds the fields that it reads.
    pub fn reads(&self, out: &mut BTreeSet<Slot>) {
        if let ExprKind::Field(slot) = self.kind {
            out.insert(slot);
        }
        self.parts().for_each(|part| part.reads(out));
    }
}

impl Stmt {
    /// The expressions of this statement itself.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let exprs: Vec<&Expr> = match &self.kind {
            StmtKind::Set(_, _, e)
            | StmtKind::If(e, ..)
            | StmtKind::Execute(_, e, _)
            | StmtKind::Read(_, e, _)
            | StmtKind::Advance(e) => vec![e],
            StmtKind::Write(_, e, values) => std::iter::once(e).chain(values).collect(),
            StmtKind::Action(_, args) => args.iter().collect(),
            _ => Vec::new(),
        };
        exprs.into_iter()
    }

    /// The blocks in it, one level down.
    pub fn blocks(&self) -> impl Iterator<Item = &[Stmt]> {
        let blocks: Vec<&[Stmt]> = match &self.kind {
            StmtKind::If(_, yes, no) => vec![yes, no],
            StmtKind::Scope(inner) => vec![inner],
            StmtKind::Apply(_, cases) => cases.iter().map(|(_, body)| &**body).collect(),
            _ => Vec::new(),
        };
        blocks.into_iter()
    }

    /// Visits this statement and all in it.
    pub fn walk(&self, visit: &mut impl FnMut(&Stmt)) {
        visit(self);
        for block in self.blocks() {
            for stmt in block {
                stmt.walk(visit);
            }
        }
    }

    /// Adds the fields that this statement and all in it read.
    pub fn all_reads(&self, out: &mut BTreeSet<Slot>) {
        self.walk(&mut |stmt| stmt.exprs().for_each(|e| e.reads(out)));
    }
}
