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
    fn exprs(&self) -> impl Iterator<Item = &Expr> {
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

    /// Visits this statement and all in it.
    pub fn walk(&self, visit: &mut impl FnMut(&Stmt)) {
        visit(self);
        match &self.kind {
            StmtKind::If(_, yes, no) => yes.iter().chain(no).for_each(|stmt| stmt.walk(visit)),
            StmtKind::Scope(inner) => inner.iter().for_each(|stmt| stmt.walk(visit)),
            StmtKind::Apply(_, cases) => {
                let inner = cases.iter().flat_map(|(_, body)| body);
                inner.for_each(|stmt| stmt.walk(visit));
            }
            _ => {}
        }
    }

    /// Adds the fields that this statement and all in it read.
    pub fn all_reads(&self, out: &mut BTreeSet<Slot>) {
        self.walk(&mut |stmt| stmt.exprs().for_each(|e| e.reads(out)));
    }
}
