// SPDX-License-Identifier: MIT OR Apache-2.0
//! Actions that call actions. A compiler puts the statements of the called action in the place of
//! the call, with its arguments in the place of its parameters, so that the caller does in its one
//! stage what both do. The other rules see a program without such calls.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Place};
use crate::ir::{Expr, ExprKind, Program, Slot, Stmt, StmtKind, Table};

/// Blocks and called actions within each other.
const DEEPEST: usize = 200;
/// Statements that calls add to all actions of a program.
const LARGEST: usize = 100_000;

/// A program whose actions call no actions and apply no tables.
pub(super) struct Flat {
    pub program: Program,
    /// Actions that a compiler places: all but those that only actions call. Actions without calls
    /// come first.
    pub placed: Vec<usize>,
    /// Actions that tables may run.
    pub of_tables: BTreeSet<usize>,
    /// Where the statements and expressions of an action with calls itself are.
    own: BTreeMap<usize, BTreeSet<Key>>,
}

type Key = (std::sync::Arc<str>, u32, u32);

fn key(place: &Place) -> Key {
    (place.file.clone(), place.line, place.column)
}

/// Actions that a table may run.
pub(super) fn runs(table: &Table) -> BTreeSet<usize> {
    let entries = table.entries.iter().map(|entry| entry.action);
    let listed = table.actions.iter().copied();
    listed.chain(entries).chain([table.default.0]).collect()
}

/// Fields that statements write.
pub(super) fn writes(stmts: &[Stmt]) -> BTreeSet<Slot> {
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

/// The program with called actions in the places of their calls.
pub(super) fn flat(program: &Program, wrong: &mut Vec<Error>) -> Flat {
    let mut inliner = Inliner {
        program,
        bodies: vec![Body::Unknown; program.actions.len()],
        left: LARGEST,
        wrong,
    };
    for action in 0..program.actions.len() {
        inliner.action(action, 0);
    }
    let mut flat = program.clone();
    for (action, body) in flat.actions.iter_mut().zip(inliner.bodies) {
        action.body = match body {
            Body::Known(body, _) => body,
            _ => Vec::new(),
        };
    }
    let (mut called, mut own) = (BTreeSet::new(), BTreeMap::new());
    for (i, action) in program.actions.iter().enumerate() {
        let of = calls(&action.body);
        if !of.is_empty() {
            own.insert(i, places(&action.body));
        }
        called.extend(of);
    }
    let of_tables: BTreeSet<usize> = program.tables.iter().flat_map(runs).collect();
    let mut used = of_tables.clone();
    for control in program.gresses.iter().flat_map(|g| &g.controls) {
        used.extend(calls(control));
    }
    let mut placed: Vec<usize> = (0..program.actions.len())
        .filter(|i| used.contains(i) || !called.contains(i))
        .collect();
    placed.sort_by_key(|i| own.contains_key(i));
    Flat {
        program: flat,
        placed,
        of_tables,
        own,
    }
}

impl Flat {
    /// Adds what is wrong with an action, and names it where the text is that of another action,
    /// unless the fault is told for that action alone.
    pub fn tell(&self, action: usize, found: Vec<Error>, told: &mut Told, wrong: &mut Vec<Error>) {
        for mut error in found {
            let at = key(&error.place);
            let own = self.own.get(&action).is_none_or(|own| own.contains(&at));
            let fault = (at, error.what.clone());
            if own {
                told.insert(fault);
            } else if told.contains(&fault) {
                continue;
            } else {
                let name = &self.program.actions[action].name;
                error.what += &format!(" (in `{name}`, with the actions that it calls)");
            }
            wrong.push(error);
        }
    }
}

pub(super) type Told = BTreeSet<(Key, String)>;

/// The actions that statements call.
fn calls(stmts: &[Stmt]) -> BTreeSet<usize> {
    let mut all = BTreeSet::new();
    for stmt in stmts {
        stmt.walk(&mut |stmt| {
            if let StmtKind::Action(action, _) = stmt.kind {
                all.insert(action);
            }
        });
    }
    all
}

fn places(stmts: &[Stmt]) -> BTreeSet<Key> {
    fn of(e: &Expr, all: &mut BTreeSet<Key>) {
        all.insert(key(&e.place));
        e.parts().for_each(|part| of(part, all));
    }
    let mut all = BTreeSet::new();
    for stmt in stmts {
        stmt.walk(&mut |stmt| {
            all.insert(key(&stmt.place));
            stmt.exprs().for_each(|e| of(e, &mut all));
        });
    }
    all
}

#[derive(Clone)]
enum Body {
    Unknown,
    /// Under way: an action that asks for this one now is part of it.
    Begun,
    /// The statements, and how deep they are.
    Known(Vec<Stmt>, usize),
}

struct Inliner<'a> {
    program: &'a Program,
    bodies: Vec<Body>,
    /// Statements that calls may still add.
    left: usize,
    wrong: &'a mut Vec<Error>,
}

impl Inliner<'_> {
    fn refuse(&mut self, place: &Place, what: impl Into<String>) {
        self.wrong.push(Error::new(place, what));
    }

    fn action(&mut self, action: usize, level: usize) {
        if matches!(self.bodies[action], Body::Unknown) {
            self.bodies[action] = Body::Begun;
            let program = self.program;
            let body = self.block(&program.actions[action].body, level);
            let deep = deep(&body);
            self.bodies[action] = Body::Known(body, deep);
        }
    }

    fn block(&mut self, stmts: &[Stmt], level: usize) -> Vec<Stmt> {
        let mut out = Vec::new();
        for stmt in stmts {
            out.extend(self.stmt(stmt, level));
        }
        out
    }

    fn stmt(&mut self, stmt: &Stmt, level: usize) -> Option<Stmt> {
        let mut tables = BTreeSet::new();
        stmt.tables(&mut tables);
        if !tables.is_empty() {
            self.refuse(&stmt.place, "an action applies no table: `apply` does");
            return None;
        }
        let kind = match &stmt.kind {
            StmtKind::Action(action, args) => self.call(*action, args, &stmt.place, level)?,
            StmtKind::If(condition, yes, no) => {
                let yes = self.block(yes, level + 1);
                StmtKind::If(condition.clone(), yes, self.block(no, level + 1))
            }
            StmtKind::Scope(inner) => StmtKind::Scope(self.block(inner, level + 1)),
            kind => kind.clone(),
        };
        Some(Stmt {
            place: stmt.place.clone(),
            kind,
        })
    }

    fn call(
        &mut self,
        action: usize,
        args: &[Expr],
        place: &Place,
        level: usize,
    ) -> Option<StmtKind> {
        let called = &self.program.actions[action];
        if level < DEEPEST {
            self.action(action, level + 1);
        }
        let (body, deep) = match &self.bodies[action] {
            Body::Known(body, deep) => (body, *deep),
            Body::Begun => {
                let what = format!(
                    "`{}` calls itself, or an action that calls it: P4 has no recursion",
                    called.name
                );
                self.refuse(place, what);
                return None;
            }
            Body::Unknown => (&Vec::new(), DEEPEST),
        };
        if level + deep >= DEEPEST {
            let what = format!("more than {DEEPEST} blocks and called actions within each other");
            self.refuse(place, what);
            return None;
        }
        let size = 1 + args.len() + size(body);
        if size > self.left {
            let what = format!("calls add more than {LARGEST} statements to the actions");
            self.refuse(place, what);
            return None;
        }
        self.left -= size;
        let written = writes(body);
        let (mut stmts, mut given) = (Vec::new(), BTreeMap::new());
        for (param, arg) in called.params.iter().zip(args) {
            let mut reads = BTreeSet::new();
            arg.reads(&mut reads);
            match plain(arg) {
                // What the body overwrites has its old value in the parameter.
                Some(arg) if reads.is_disjoint(&written) => {
                    given.insert(*param, arg);
                }
                _ => stmts.push(Stmt {
                    place: place.clone(),
                    kind: StmtKind::Set(*param, None, arg.clone()),
                }),
            }
        }
        stmts.extend(body.iter().map(|stmt| stmt.with(&given)));
        Some(StmtKind::Scope(stmts))
    }
}

/// An argument that can stand for a parameter: a constant, a field, or bits of one.
fn plain(e: &Expr) -> Option<Expr> {
    if let Some(bits) = crate::run::fold(e) {
        let kind = ExprKind::Constant(bits);
        return Some(Expr { kind, ..e.clone() });
    }
    let field = match &e.kind {
        ExprKind::Slice(inner, ..) | ExprKind::Cast(inner) => &inner.kind,
        kind => kind,
    };
    matches!(field, ExprKind::Field(_)).then(|| e.clone())
}

fn size(stmts: &[Stmt]) -> usize {
    let mut all = 0;
    for stmt in stmts {
        stmt.walk(&mut |_| all += 1);
    }
    all
}

fn deep(stmts: &[Stmt]) -> usize {
    let inner = stmts.iter().flat_map(Stmt::blocks).map(deep);
    1 + inner.max().unwrap_or(0)
}
