// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interpreter.

use std::sync::Arc;

use super::arith::{Reads, eval, math};
use super::packet::{Bits, Written};
use crate::ir::{Entry, Expr, Pattern, Program, Slot, Stmt, StmtKind, Target};

/// How a math unit rounds a quotient that is no whole number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, half upwards, as `cemark_marking::ecn_sharp::tofino` does.
    #[default]
    Nearest,
    /// Bits are cut off.
    Down,
}

/// A program with its registers and its tables' entries.
#[derive(Clone, Debug)]
pub struct Machine {
    program: Arc<Program>,
    state: State,
}

#[derive(Clone, Debug)]
struct State {
    slots: Vec<u128>,
    valid: Vec<bool>,
    registers: Vec<Vec<u128>>,
    entries: Vec<Vec<Entry>>,
    rounding: Rounding,
}

/// Flow of control after a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Flow {
    Next,
    Return,
    Exit,
}

impl Machine {
    /// The program as it starts.
    pub fn new(program: Arc<Program>) -> Self {
        let state = State {
            slots: vec![0; program.fields.len()],
            valid: vec![false; program.headers.len()],
            registers: program
                .registers
                .iter()
                .map(|r| r.initial.repeat(r.size as usize))
                .collect(),
            entries: program.tables.iter().map(|t| t.entries.clone()).collect(),
            rounding: Rounding::default(),
        };
        Machine { program, state }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Sets how the math units round.
    pub fn set_rounding(&mut self, rounding: Rounding) {
        self.state.rounding = rounding;
    }

    /// Adds an entry to a table, behind those that are there.
    pub fn insert(&mut self, table: usize, entry: Entry) {
        self.state.entries[table].push(entry);
    }

    /// A field's value.
    pub fn get(&self, slot: Slot) -> u128 {
        self.state.slots[slot]
    }

    /// Sets a field, such as intrinsic metadata after [`begin`](Machine::begin).
    pub fn set(&mut self, slot: Slot, value: u128) {
        self.state.slots[slot] = super::mask(value, self.program.fields[slot].width);
    }

    /// Clears the fields and headers of one half, for a new packet.
    pub fn begin(&mut self, gress: usize) {
        let gress = &self.program.gresses[gress];
        for slot in &gress.fresh {
            self.state.slots[*slot] = 0;
        }
        for header in &gress.headers {
            self.state.valid[*header] = false;
        }
    }

    /// Runs a packet through one half: parser, controls, deparser. None where the parser rejects
    /// it.
    pub fn run(&mut self, gress: usize, packet: &[u8]) -> Option<Vec<u8>> {
        let mut run = Run {
            program: &self.program,
            state: &mut self.state,
        };
        let gress = &run.program.gresses[gress];
        let mut bits = Bits::new(packet);
        if let Some(parser) = gress.parser
            && !run.parse(parser, &mut bits)
        {
            return None;
        }
        for control in &gress.controls {
            run.block(control, &mut None);
        }
        let mut out = Some(Written::default());
        run.block(&gress.deparser, &mut out);
        Some(out.unwrap_or_default().with(bits.rest()))
    }
}

/// The interpreter at work.
struct Run<'p> {
    program: &'p Program,
    state: &'p mut State,
}

impl Run<'_> {
    fn parse(&mut self, parser: usize, bits: &mut Bits<'_>) -> bool {
        let parser = &self.program.parsers[parser];
        self.block(&parser.before, &mut None);
        let mut at = Target::State(0);
        loop {
            let Target::State(index) = at else {
                return at == Target::Accept;
            };
            let state = &parser.states[index];
            for stmt in &state.body {
                if !self.parser_stmt(stmt, bits) {
                    return false;
                }
            }
            let values: Vec<u128> = state.keys.iter().map(|k| self.value(k)).collect();
            let next = state
                .next
                .iter()
                .find(|(patterns, _)| all(patterns, &values));
            at = next.map_or(Target::Reject, |(_, target)| *target);
        }
    }

    /// False where the packet is too short, or is rejected.
    fn parser_stmt(&mut self, stmt: &Stmt, bits: &mut Bits<'_>) -> bool {
        match &stmt.kind {
            StmtKind::Extract(header) => {
                for slot in &self.program.headers[*header].fields {
                    let Some(value) = bits.take(self.program.fields[*slot].width) else {
                        return false;
                    };
                    self.state.slots[*slot] = value;
                }
                self.state.valid[*header] = true;
                true
            }
            StmtKind::Advance(by) => {
                let by = self.value(by);
                bits.skip(by)
            }
            StmtKind::Parse(parser) => self.parse(*parser, bits),
            StmtKind::Scope(inner) => inner.iter().all(|s| self.parser_stmt(s, bits)),
            _ => {
                self.stmt(stmt, &mut None);
                true
            }
        }
    }

    fn value(&mut self, e: &Expr) -> u128 {
        // Only a division by zero has no value.
        eval(e, self).unwrap_or(0)
    }

    fn block(&mut self, stmts: &[Stmt], out: &mut Option<Written>) -> Flow {
        for stmt in stmts {
            let flow = self.stmt(stmt, out);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    fn stmt(&mut self, stmt: &Stmt, out: &mut Option<Written>) -> Flow {
        match &stmt.kind {
            StmtKind::Set(slot, None, value) => self.state.slots[*slot] = self.value(value),
            StmtKind::Set(slot, Some((hi, lo)), value) => {
                let hole = super::mask(u128::MAX, hi - lo + 1) << lo;
                let value = self.value(value) << lo;
                self.state.slots[*slot] = self.state.slots[*slot] & !hole | value;
            }
            StmtKind::If(condition, yes, no) => {
                let branch = if self.value(condition) != 0 { yes } else { no };
                return self.block(branch, out);
            }
            StmtKind::Apply(table, cases) => {
                let (action, _, flow) = self.apply(*table);
                if flow == Flow::Exit {
                    return flow;
                }
                let body = cases.iter().find(|(a, _)| *a == action || *a == usize::MAX);
                if let Some((_, body)) = body {
                    return self.block(body, out);
                }
            }
            StmtKind::Action(action, args) => {
                let values: Vec<u128> = args.iter().map(|a| self.value(a)).collect();
                return self.action(*action, &values);
            }
            StmtKind::Execute(action, index, into) => self.execute(*action, index, *into),
            StmtKind::Read(register, index, into) => {
                let index = self.value(index) as usize;
                let lanes = self.program.registers[*register].lanes.len();
                for (lane, slot) in into.iter().enumerate() {
                    // BMv2 reads 0 beyond the end.
                    let place = self.state.registers[*register].get(index * lanes + lane);
                    self.state.slots[*slot] = place.copied().unwrap_or(0);
                }
            }
            StmtKind::Write(register, index, values) => {
                let index = self.value(index) as usize;
                for (lane, value) in values.iter().enumerate() {
                    let value = self.value(value);
                    let place = index * values.len() + lane;
                    if let Some(place) = self.state.registers[*register].get_mut(place) {
                        *place = value;
                    }
                }
            }
            StmtKind::SetValid(header, valid) => self.state.valid[*header] = *valid,
            StmtKind::Emit(header) => self.emit(*header, out),
            StmtKind::Scope(inner) => {
                return match self.block(inner, out) {
                    Flow::Exit => Flow::Exit,
                    _ => Flow::Next,
                };
            }
            StmtKind::Return => return Flow::Return,
            StmtKind::Exit => return Flow::Exit,
            // Statements of parsers.
            StmtKind::Extract(_) | StmtKind::Advance(_) | StmtKind::Parse(_) => {}
        }
        Flow::Next
    }

    fn emit(&mut self, header: usize, out: &mut Option<Written>) {
        if let (Some(out), true) = (out, self.state.valid[header]) {
            for slot in &self.program.headers[header].fields {
                out.put(self.state.slots[*slot], self.program.fields[*slot].width);
            }
        }
    }

    /// Applies a table: the action that ran, whether an entry was found, and how it ended.
    fn apply(&mut self, table: usize) -> (usize, bool, Flow) {
        let program = self.program;
        let keys = &program.tables[table].keys;
        let values: Vec<u128> = keys.iter().map(|k| self.value(&k.value)).collect();
        let found = self.state.entries[table]
            .iter()
            .find(|e| all(&e.patterns, &values));
        let (action, args, hit) = match found {
            Some(entry) => (entry.action, entry.args.clone(), true),
            None => {
                let (action, args) = &program.tables[table].default;
                (*action, args.clone(), false)
            }
        };
        let flow = self.action(action, &args);
        (action, hit, flow)
    }

    fn action(&mut self, action: usize, args: &[u128]) -> Flow {
        let program = self.program;
        let action = &program.actions[action];
        for (slot, value) in action.params.iter().zip(args) {
            self.state.slots[*slot] = *value;
        }
        match self.block(&action.body, &mut None) {
            Flow::Exit => Flow::Exit,
            _ => Flow::Next,
        }
    }

    fn execute(&mut self, action: usize, index: &Expr, into: Option<Slot>) {
        let program = self.program;
        let action = &program.register_actions[action];
        let (lanes, register) = (&action.lanes, action.register);
        let index = self.value(index) as usize * lanes.len();
        let Some(entry) = self.state.registers[register].get(index..index + lanes.len()) else {
            return;
        };
        for (slot, value) in lanes.iter().zip(entry) {
            self.state.slots[*slot] = *value;
        }
        if let Some(result) = action.result {
            self.state.slots[result] = 0;
        }
        self.block(&action.body, &mut None);
        for (lane, slot) in lanes.iter().enumerate() {
            self.state.registers[register][index + lane] = self.state.slots[*slot];
        }
        if let (Some(into), Some(result)) = (into, action.result) {
            self.state.slots[into] = self.state.slots[result];
        }
    }
}

fn all(patterns: &[Pattern], values: &[u128]) -> bool {
    patterns.iter().zip(values).all(|(p, v)| p.matches(*v))
}

impl Reads for Run<'_> {
    #[inline]
    fn field(&mut self, slot: usize) -> Option<u128> {
        Some(self.state.slots[slot])
    }

    fn valid(&mut self, header: usize) -> Option<bool> {
        Some(self.state.valid[header])
    }

    fn math(&mut self, unit: usize, x: u128, width: u32) -> Option<u128> {
        Some(math(
            &self.program.math[unit],
            x,
            width,
            self.state.rounding,
        ))
    }

    fn hit(&mut self, table: usize) -> Option<bool> {
        Some(self.apply(table).1)
    }
}
