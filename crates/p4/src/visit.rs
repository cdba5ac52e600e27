// SPDX-License-Identifier: MIT OR Apache-2.0
//! Walks over expressions and statements.

use std::collections::{BTreeMap, BTreeSet};

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

    /// Adds the tables that it applies.
    pub fn tables(&self, out: &mut BTreeSet<usize>) {
        if let ExprKind::Hit(table) = self.kind {
            out.insert(table);
        }
        self.parts().for_each(|part| part.tables(out));
    }

    /// This expression with other expressions in the places of fields.
    pub fn with(&self, given: &BTreeMap<Slot, Expr>) -> Expr {
        let of = |e: &Expr| Box::new(e.with(given));
        let kind = match &self.kind {
            ExprKind::Field(slot) => match given.get(slot) {
                Some(other) => other.kind.clone(),
                None => ExprKind::Field(*slot),
            },
            ExprKind::Slice(a, hi, lo) => ExprKind::Slice(of(a), *hi, *lo),
            ExprKind::Unary(sign, a) => ExprKind::Unary(*sign, of(a)),
            ExprKind::Cast(a) => ExprKind::Cast(of(a)),
            ExprKind::Math(unit, a) => ExprKind::Math(*unit, of(a)),
            ExprKind::Binary(sign, a, b) => ExprKind::Binary(sign, of(a), of(b)),
            ExprKind::Choose(a, b, c) => ExprKind::Choose(of(a), of(b), of(c)),
            kind @ (ExprKind::Constant(_) | ExprKind::Valid(_) | ExprKind::Hit(_)) => kind.clone(),
        };
        Expr {
            width: self.width,
            signed: self.signed,
            kind,
            place: self.place.clone(),
        }
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

    /// Adds the tables that this statement itself applies.
    pub fn tables(&self, out: &mut BTreeSet<usize>) {
        if let StmtKind::Apply(table, _) = self.kind {
            out.insert(table);
        }
        self.exprs().for_each(|e| e.tables(out));
    }

    /// This statement, and all in it, with other expressions in the places of fields that it reads.
    pub fn with(&self, given: &BTreeMap<Slot, Expr>) -> Stmt {
        let all = |es: &[Expr]| es.iter().map(|e| e.with(given)).collect();
        let block = |stmts: &[Stmt]| stmts.iter().map(|stmt| stmt.with(given)).collect();
        let kind = match &self.kind {
            StmtKind::Set(slot, bits, e) => StmtKind::Set(*slot, *bits, e.with(given)),
            StmtKind::If(e, yes, no) => StmtKind::If(e.with(given), block(yes), block(no)),
            StmtKind::Apply(table, cases) => {
                let cases = cases.iter().map(|(action, body)| (*action, block(body)));
                StmtKind::Apply(*table, cases.collect())
            }
            StmtKind::Action(action, args) => StmtKind::Action(*action, all(args)),
            StmtKind::Execute(action, e, into) => StmtKind::Execute(*action, e.with(given), *into),
            StmtKind::Read(of, e, into) => StmtKind::Read(*of, e.with(given), into.clone()),
            StmtKind::Write(of, e, values) => StmtKind::Write(*of, e.with(given), all(values)),
            StmtKind::Advance(e) => StmtKind::Advance(e.with(given)),
            StmtKind::Scope(inner) => StmtKind::Scope(block(inner)),
            kind @ (StmtKind::SetValid(..)
            | StmtKind::Extract(_)
            | StmtKind::Emit(_)
            | StmtKind::Parse(_)
            | StmtKind::Return
            | StmtKind::Exit) => kind.clone(),
        };
        Stmt {
            place: self.place.clone(),
            kind,
        }
    }
}
