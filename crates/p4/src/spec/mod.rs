// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a program to the `.spec` of DPDK's software switch (SWX), so that an engine that is not
//! ours runs it.
//!
//! SWX has no traffic manager and no clock. A packet therefore carries in front of it what a switch
//! would give the program: the header `shim`, with every field of intrinsic metadata that the
//! program reads, and behind it what the parser of the egress sees. What comes out begins with the
//! same header; its field `why` says what was decided.
//!
//! Only the last half of a program, the egress of a Tofino, is emitted.

mod code;
mod early;
mod expr;
mod layout;
mod math;
mod parser;
mod stmt;
mod table;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use crate::Rounding;
use crate::error::Result;
use crate::ir::{Program, Slot, Stmt, StmtKind};
use code::{Code, Label};
use early::Early;
use layout::Layout;

/// The packet's field in which the decision is reported.
const REPORTED: &str = ".md.why";

/// The `.spec` of a program.
///
/// # Errors
///
/// Where the program does what SWX cannot: with file, line and column.
///
/// # Panics
///
/// If the program has no halves, which no compiled program is without.
pub fn emit(program: &Program, rounding: Rounding) -> Result<String> {
    let mut emitter = Emitter::new(program, rounding);
    emitter.packet()?;
    emitter.tables_actions()?;
    text::text(&emitter)
}

/// The fields of the header `shim` in front of `why`, in their order, and the bytes of each: what a
/// switch would give the program.
///
/// # Panics
///
/// As [`emit`].
pub fn given(program: &Program) -> Vec<(Slot, u32)> {
    let layout = Layout::new(program, program.gresses.len() - 1);
    let bytes = |slot: Slot| program.fields[slot].width.div_ceil(8);
    layout.given().map(|slot| (slot, bytes(slot))).collect()
}

/// A `.spec` program in the making: its instructions so far, and the names in use.
struct Emitter<'p> {
    program: &'p Program,
    gress: usize,
    rounding: Rounding,
    layout: Layout<'p>,
    code: Code,
    /// Temporary fields in use, by width, and the most that were at once.
    temps: BTreeMap<u32, u32>,
    most_temps: BTreeMap<u32, u32>,
    /// Where `return` goes, innermost last, and where `exit` goes.
    scopes: Vec<Label>,
    exit: Option<Label>,
    /// Tables whose entries come from outside.
    tables: BTreeSet<usize>,
    registers: BTreeSet<usize>,
    /// The code of actions that such tables run.
    actions: BTreeMap<usize, Code>,
}

impl<'p> Emitter<'p> {
    fn new(program: &'p Program, rounding: Rounding) -> Self {
        let gress = program.gresses.len() - 1;
        Emitter {
            program,
            gress,
            rounding,
            layout: Layout::new(program, gress),
            code: Code::default(),
            temps: BTreeMap::new(),
            most_temps: BTreeMap::new(),
            scopes: Vec::new(),
            exit: None,
            tables: BTreeSet::new(),
            registers: BTreeSet::new(),
            actions: BTreeMap::new(),
        }
    }

    /// Emits the instructions for a packet, from its arrival to its departure.
    fn packet(&mut self) -> Result<()> {
        let gress = &self.program.gresses[self.gress];
        self.code.op("rx", ["m.port"]);
        self.code.op("extract", ["h.shim"]);
        for slot in self.layout.given().collect::<Vec<_>>() {
            let name = self.layout.meta(slot);
            self.code.op("mov", [name, self.layout.shim(slot)]);
        }
        for slot in self.cleared() {
            let name = self.layout.meta(slot);
            self.code.op("mov", [name, "0".to_owned()]);
        }
        if let Some(parser) = gress.parser {
            let (accept, reject) = (self.code.label(), self.code.label());
            self.parser(parser, accept, reject)?;
            if self.code.is_used(reject) {
                self.code.place(reject);
                self.code.bare("drop");
            }
            self.code.place(accept);
        }
        for control in &gress.controls {
            let end = self.code.label();
            self.exit = Some(end);
            self.scopes.push(end);
            self.block(control)?;
            self.scopes.pop();
            self.code.place(end);
        }
        let end = self.code.label();
        self.exit = Some(end);
        if let Some(slot) = self.layout.reported() {
            let name = self.layout.meta(slot);
            self.code.op("mov", ["h.shim.why".to_owned(), name]);
        }
        self.code.op("emit", ["h.shim"]);
        self.scopes.push(end);
        self.block(&gress.deparser)?;
        self.scopes.pop();
        self.code.place(end);
        self.code.op("tx", ["m.port"]);
        Ok(())
    }

    /// Actions of the tables that are SWX's own, each once.
    fn tables_actions(&mut self) -> Result<()> {
        for table in self.tables.clone() {
            for action in &self.program.tables[table].actions {
                if !self.actions.contains_key(action) {
                    let code = self.own_action(*action)?;
                    self.actions.insert(*action, code);
                }
            }
        }
        Ok(())
    }

    /// Fields of the packet's own that may be read before they are set.
    fn cleared(&self) -> Vec<Slot> {
        let gress = &self.program.gresses[self.gress];
        let mut early = Early::new(self.program);
        let mut set = self.layout.given().collect();
        for parser in &self.program.parsers {
            for state in &parser.states {
                let mut set = BTreeSet::clone(&set);
                early.scope(&state.body, &mut set);
                state.keys.iter().for_each(|key| early.expr(key, &mut set));
            }
        }
        for control in &gress.controls {
            early.scope(control, &mut set);
        }
        if let Some(slot) = self.layout.reported().filter(|slot| !set.contains(slot)) {
            early.read.insert(slot);
        }
        early.scope(&gress.deparser, &mut set);
        let read = early.read.into_iter();
        read.filter(|slot| gress.fresh.contains(slot) && self.layout.is_meta(*slot))
            .collect()
    }
}

/// Whether a statement in here gives a field a value.
fn sets(body: &[Stmt], slot: Slot) -> bool {
    let mut found = false;
    for stmt in body {
        stmt.walk(&mut |stmt| {
            found |= matches!(&stmt.kind, StmtKind::Set(s, ..) if *s == slot);
        });
    }
    found
}
