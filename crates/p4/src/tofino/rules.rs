// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rules.

use std::collections::{BTreeMap, BTreeSet};

use super::calls::{Told, flat, runs};
use crate::error::{Error, Place};
use crate::ir::{Expr, ExprKind, Program, RegisterAction, Slot, Stmt, StmtKind};

/// What a stateful ALU has room for.
const CONDITIONS: usize = 2;
const OPERANDS: usize = 2;
const LANES: usize = 2;
const WIDEST: u32 = 32;
const UPDATES: usize = 2;

pub(super) fn check(program: &Program) -> Vec<Error> {
    let mut wrong = Vec::new();
    let flat = flat(program, &mut wrong);
    let program = &flat.program;
    for gress in &program.gresses {
        let mut accesses = BTreeMap::new();
        for control in &gress.controls {
            join(&mut accesses, walk(program, control), true);
        }
        for (register, places) in accesses {
            if let [first, second, ..] = places.as_slice() {
                let name = &program.registers[register].name;
                let what = format!(
                    "the register `{name}` is accessed again, after {}:{}: a packet accesses a \
                     register once",
                    first.line, first.column
                );
                wrong.push(Error::new(second, what));
            }
        }
        for control in &gress.controls {
            outside(control, &mut wrong);
        }
        outside(&gress.deparser, &mut wrong);
    }
    for parser in &program.parsers {
        outside(&parser.before, &mut wrong);
        for state in &parser.states {
            outside(&state.body, &mut wrong);
            let keys = state.keys.iter();
            keys.for_each(|key| arithmetic(key, &mut wrong));
        }
    }
    for key in program.tables.iter().flat_map(|table| &table.keys) {
        arithmetic(&key.value, &mut wrong);
    }
    let mut told = Told::new();
    for &action in &flat.placed {
        let mut found = Vec::new();
        outside(&program.actions[action].body, &mut found);
        let of_table = flat.of_tables.contains(&action);
        super::actions::action(program, action, of_table, &mut found);
        flat.tell(action, found, &mut told, &mut wrong);
    }
    for action in &program.register_actions {
        stateful(program, action, &mut wrong);
    }
    super::actions::check(program, &mut wrong);
    super::alu::check(program, &mut wrong);
    super::sizes::check(program, &mut wrong);
    wrong.sort_by_key(|e| (e.place.line, e.place.column));
    wrong.dedup();
    wrong
}

type Accesses = BTreeMap<usize, Vec<Place>>;

/// Adds what follows, or takes the longer of two branches, register by register.
fn join(all: &mut Accesses, more: Accesses, follows: bool) {
    for (register, mut places) in more {
        let known = all.entry(register).or_default();
        if follows {
            known.append(&mut places);
        } else if places.len() > known.len() {
            *known = places;
        }
    }
}

/// The most accesses of each register on any path through these statements.
fn walk(program: &Program, stmts: &[Stmt]) -> Accesses {
    let mut all = Accesses::new();
    for stmt in stmts {
        let mut one = Accesses::new();
        // A value may apply a table too: `if (table.apply().hit)`.
        let mut applied = BTreeSet::new();
        stmt.tables(&mut applied);
        for table in applied {
            join(&mut all, applies(program, table), true);
        }
        match &stmt.kind {
            StmtKind::Execute(action, ..) => {
                let register = program.register_actions[*action].register;
                one.insert(register, vec![stmt.place.clone()]);
            }
            StmtKind::Read(register, ..) | StmtKind::Write(register, ..) => {
                one.insert(*register, vec![stmt.place.clone()]);
            }
            StmtKind::If(_, yes, no) => {
                one = walk(program, yes);
                join(&mut one, walk(program, no), false);
            }
            StmtKind::Apply(_, cases) => {
                for (_, body) in cases {
                    join(&mut one, walk(program, body), false);
                }
            }
            StmtKind::Action(action, _) => one = walk(program, &program.actions[*action].body),
            StmtKind::Scope(inner) => one = walk(program, inner),
            _ => {}
        }
        join(&mut all, one, true);
    }
    all
}

/// Of a table one action runs.
fn applies(program: &Program, table: usize) -> Accesses {
    let mut all = Accesses::new();
    for action in runs(&program.tables[table]) {
        join(
            &mut all,
            walk(program, &program.actions[action].body),
            false,
        );
    }
    all
}

/// Statements outside of register actions.
fn outside(stmts: &[Stmt], wrong: &mut Vec<Error>) {
    for stmt in stmts {
        for e in stmt.exprs() {
            arithmetic(e, wrong);
        }
        if let StmtKind::If(condition, ..) = &stmt.kind {
            ordered(condition, wrong);
        }
        for inner in stmt.blocks() {
            outside(inner, wrong);
        }
    }
}

fn arithmetic(e: &Expr, wrong: &mut Vec<Error>) {
    if let ExprKind::Binary(sign, a, b) = &e.kind {
        let constant = |e: &Expr| crate::run::fold(e).is_some();
        match *sign {
            "/" | "%" if !(constant(a) && constant(b)) => {
                let what = "a Tofino does not divide: use a table or a math unit";
                wrong.push(Error::new(&e.place, what));
            }
            "*" if !constant(a) && !constant(b) => {
                let what = "a Tofino does not multiply two variables: use a table or shifts";
                wrong.push(Error::new(&e.place, what));
            }
            _ => {}
        }
    }
    e.parts().for_each(|part| arithmetic(part, wrong));
}

/// A condition of an `if` may order a field and a constant, not two fields.
fn ordered(e: &Expr, wrong: &mut Vec<Error>) {
    if let ExprKind::Binary("<" | ">" | "<=" | ">=", a, b) = &e.kind {
        let constant = |e: &Expr| crate::run::fold(e).is_some();
        if !constant(a) && !constant(b) {
            let what = "an `if` does not order two fields: subtract them (`|-|`), and match the \
                        difference";
            wrong.push(Error::new(&e.place, what));
        }
    }
    e.parts().for_each(|part| ordered(part, wrong));
}

/// What a register action's body contains.
#[derive(Default)]
struct Body {
    /// Comparisons without their places: the same one again takes no room.
    conditions: BTreeSet<String>,
    operands: BTreeSet<Slot>,
    updates: BTreeMap<Slot, Vec<Place>>,
}

fn stateful(program: &Program, action: &RegisterAction, wrong: &mut Vec<Error>) {
    let register = &program.registers[action.register];
    // One part of 64 bits can be held, and not computed with.
    let computes = action
        .body
        .iter()
        .any(|stmt| matches!(stmt.kind, StmtKind::Set(..) | StmtKind::If(..)));
    if register.lanes.len() > LANES || computes && register.lanes.iter().any(|w| *w > WIDEST) {
        let shown: Vec<String> = register.lanes.iter().map(u32::to_string).collect();
        let what = format!(
            "an entry of {} bits: a stateful ALU has at most two parts of 32 bits",
            shown.join(" + ")
        );
        wrong.push(Error::new(&register.place, what));
    }
    let mut body = Body::default();
    gather(action, &action.body, &mut body, wrong);
    for (slot, places) in &body.updates {
        if action.lanes.contains(slot) && places.len() > UPDATES {
            let what = "a third update of one part: a stateful ALU has two";
            wrong.push(Error::new(&places[UPDATES], what));
        }
    }
    let place = &action.place;
    if body.conditions.len() > CONDITIONS {
        let what = format!(
            "`{}` has {} conditions: a stateful ALU has two",
            action.name,
            body.conditions.len()
        );
        wrong.push(Error::new(place, what));
    }
    if body.operands.len() > OPERANDS {
        let names: Vec<&str> = body
            .operands
            .iter()
            .map(|slot| program.fields[*slot].name.as_str())
            .collect();
        let what = format!(
            "`{}` reads {}: a stateful ALU has two operands from the packet",
            action.name,
            names.join(", ")
        );
        wrong.push(Error::new(place, what));
    }
    for slot in &body.operands {
        if program.fields[*slot].width > WIDEST {
            let name = &program.fields[*slot].name;
            let what = format!("`{name}` has more than the 32 bits of a stateful ALU's operand");
            wrong.push(Error::new(place, what));
        }
    }
}

fn gather(action: &RegisterAction, stmts: &[Stmt], body: &mut Body, wrong: &mut Vec<Error>) {
    for stmt in stmts {
        for e in stmt.exprs() {
            arithmetic(e, wrong);
            compared(e, body);
            let mut reads = BTreeSet::new();
            e.reads(&mut reads);
            let own = |slot: &Slot| action.lanes.contains(slot) || Some(*slot) == action.result;
            body.operands
                .extend(reads.into_iter().filter(|slot| !own(slot)));
        }
        if let StmtKind::Set(slot, ..) = &stmt.kind {
            body.updates
                .entry(*slot)
                .or_default()
                .push(stmt.place.clone());
        }
        for inner in stmt.blocks() {
            gather(action, inner, body, wrong);
        }
    }
}

fn compared(e: &Expr, body: &mut Body) {
    // A comparison and its opposite are one: the ALU's predicate may be negated.
    if let ExprKind::Binary(sign @ ("<" | ">" | "<=" | ">=" | "==" | "!="), a, b) = &e.kind {
        let sign = match *sign {
            "==" | "!=" => "==",
            "<" | ">=" => "<",
            _ => ">",
        };
        body.conditions
            .insert(format!("{}{sign}{}", same(a), same(b)));
    }
    e.parts().for_each(|part| compared(part, body));
}

/// A text that two expressions share if they give the same value.
pub(super) fn same(e: &Expr) -> String {
    let parts: Vec<String> = e.parts().map(same).collect();
    let kind = match &e.kind {
        ExprKind::Constant(value) => format!("{value}"),
        ExprKind::Field(slot) => format!("field{slot}"),
        ExprKind::Valid(header) => format!("valid{header}"),
        ExprKind::Slice(_, hi, lo) => format!("[{hi}:{lo}]"),
        ExprKind::Unary(sign, _) => format!("{sign:?}"),
        ExprKind::Binary(sign, ..) => (*sign).to_owned(),
        ExprKind::Choose(..) => "?".to_owned(),
        ExprKind::Cast(_) => format!("cast{}{}", e.width, e.signed),
        ExprKind::Math(unit, _) => format!("math{unit}"),
        ExprKind::Hit(table) => format!("hit{table}"),
    };
    format!("{kind}({})", parts.join(","))
}
