// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parsers: a state is a label, a `select` a chain of comparisons. A parser that a parser calls is
//! written out where it is called.

use super::Emitter;
use super::code::Label;
use crate::error::{Error, Result};
use crate::ir::{Pattern, State, Stmt, StmtKind, Target};

impl Emitter<'_> {
    pub fn parser(&mut self, parser: usize, accept: Label, reject: Label) -> Result<()> {
        let parser = &self.program.parsers[parser];
        self.block(&parser.before)?;
        let states: Vec<Label> = parser.states.iter().map(|_| self.code.label()).collect();
        let to = |target: Target| match target {
            Target::State(state) => states[state],
            Target::Accept => accept,
            Target::Reject => reject,
        };
        for (state, label) in parser.states.iter().zip(&states) {
            self.code.place(*label);
            for stmt in &state.body {
                self.parser_stmt(stmt, reject)?;
            }
            self.select(state, reject, &to)?;
        }
        Ok(())
    }

    fn parser_stmt(&mut self, stmt: &Stmt, reject: Label) -> Result<()> {
        match &stmt.kind {
            StmtKind::Extract(header) => {
                let header = self.layout.header(*header);
                self.code.op("extract", [header]);
            }
            StmtKind::Parse(parser) => {
                let accept = self.code.label();
                self.parser(*parser, accept, reject)?;
                self.code.place(accept);
            }
            StmtKind::Scope(inner) => {
                for stmt in inner {
                    self.parser_stmt(stmt, reject)?;
                }
            }
            StmtKind::Advance(_) => {
                let what = "SWX skips no bits of a packet: extract a header of this size";
                return Err(Error::new(&stmt.place, what));
            }
            _ => self.stmt(stmt)?,
        }
        Ok(())
    }

    fn select(&mut self, state: &State, reject: Label, to: &dyn Fn(Target) -> Label) -> Result<()> {
        let before = self.temps.clone();
        let mut keys = Vec::new();
        for key in &state.keys {
            keys.push((self.field_operand(key)?, key.width));
        }
        let mut always = false;
        for (patterns, target) in &state.next {
            let other = self.code.label();
            for (pattern, (key, width)) in patterns.iter().zip(&keys) {
                self.unless(pattern, key, *width, other);
            }
            self.code.jump("jmp", to(*target), &[]);
            self.code.place(other);
            always = patterns.iter().all(|p| *p == Pattern::ANY);
        }
        if !always {
            self.code.jump("jmp", reject, &[]);
        }
        self.temps = before;
        Ok(())
    }
}
