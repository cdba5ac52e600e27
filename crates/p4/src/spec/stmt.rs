// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statements. A register action is written out between a read and a write of its entry: SWX runs
//! the instructions of one packet without a break until a table is looked up, so that no other
//! packet comes between them.

use std::collections::BTreeSet;

use super::code::Label;
use super::early::Early;
use super::expr::{Dest, number};
use super::layout::{At, last};
use super::{Emitter, sets};
use crate::error::{Error, Result};
use crate::ir::{Expr, Slot, Stmt, StmtKind};
use crate::run::mask;

impl Emitter<'_> {
    pub fn block(&mut self, stmts: &[Stmt]) -> Result<()> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    pub fn stmt(&mut self, stmt: &Stmt) -> Result<()> {
        let before = self.temps.clone();
        self.stmt_with_temps(stmt)?;
        self.temps = before;
        Ok(())
    }

    fn stmt_with_temps(&mut self, stmt: &Stmt) -> Result<()> {
        match &stmt.kind {
            StmtKind::Set(slot, bits, value) => self.set(*slot, *bits, value)?,
            StmtKind::If(condition, yes, no) => {
                let (other, end) = (self.code.label(), self.code.label());
                self.jump(condition, false, other)?;
                self.block(yes)?;
                self.code.jump("jmp", end, &[]);
                self.code.place(other);
                self.block(no)?;
                self.code.place(end);
            }
            StmtKind::Apply(table, cases) => self.apply(*table, cases)?,
            StmtKind::Action(action, args) => {
                let params = self.program.actions[*action].params.clone();
                for (slot, value) in params.into_iter().zip(args) {
                    self.set(slot, None, value)?;
                }
                self.action_body(*action)?;
            }
            StmtKind::Execute(action, index, into) => self.execute(*action, index, *into)?,
            StmtKind::Read(register, index, into) => {
                let end = self.code.label();
                for slot in into {
                    let to = self.layout.meta(*slot);
                    self.code.op("mov", [to.as_str(), "0"]);
                }
                let index = self.index(*register, index, end)?;
                for (lane, slot) in into.iter().enumerate() {
                    let to = self.layout.meta(*slot);
                    self.read(*register, lane, &index, &to);
                }
                self.code.place(end);
            }
            StmtKind::Write(register, index, values) => {
                let end = self.code.label();
                let index = self.index(*register, index, end)?;
                for (lane, value) in values.iter().enumerate() {
                    let value = self.operand(value)?.text();
                    self.write(*register, lane, &index, &value);
                }
                self.code.place(end);
            }
            StmtKind::SetValid(header, valid) => {
                let header = self.layout.header(*header);
                let name = if *valid { "validate" } else { "invalidate" };
                self.code.op(name, [header]);
            }
            StmtKind::Emit(header) => {
                let skip = self.code.label();
                let header = self.layout.header(*header);
                self.code.jump("jmpnv", skip, &[&header]);
                self.code.op("emit", [header]);
                self.code.place(skip);
            }
            StmtKind::Scope(inner) => {
                let end = self.code.label();
                self.scopes.push(end);
                self.block(inner)?;
                self.scopes.pop();
                self.code.place(end);
            }
            StmtKind::Return => {
                let end = *self.scopes.last().expect("a scope");
                self.code.jump("jmp", end, &[]);
            }
            StmtKind::Exit => {
                let what = "an action of a table with entries from outside cannot `exit` in SWX";
                let exit = self.exit.ok_or_else(|| Error::new(&stmt.place, what))?;
                self.code.jump("jmp", exit, &[]);
            }
            StmtKind::Extract(_) | StmtKind::Advance(_) | StmtKind::Parse(_) => {
                let what = "a statement of a parser outside of it";
                return Err(Error::new(&stmt.place, what));
            }
        }
        Ok(())
    }

    fn set(&mut self, slot: Slot, bits: Option<(u32, u32)>, value: &Expr) -> Result<()> {
        match (self.layout.at(slot).clone(), bits) {
            (At::Meta(name, width), None) if width <= 64 && !Self::clobbers(value, slot) => {
                self.eval(value, &Dest { name, width })
            }
            (At::Meta(name, width) | At::Whole(name, width), None) => {
                if width > 64 {
                    let what = "SWX computes with at most 64 bits";
                    return Err(Error::new(&value.place, what));
                }
                // Through a temporary field: the value may depend on what is written.
                let made = self.operand(value)?.text();
                if made != name {
                    self.code.op("mov", [name, made]);
                }
                Ok(())
            }
            (At::Meta(name, width) | At::Whole(name, width), Some((hi, lo))) => {
                self.insert(&name, width, hi, lo, value)
            }
            (At::Part(name, width, below), bits) => {
                let own = self.program.fields[slot].width;
                let (hi, lo) = bits.unwrap_or((own - 1, 0));
                self.insert(&name, width, below + hi, below + lo, value)
            }
        }
    }

    /// Sets the bits `hi` to `lo` of a field.
    fn insert(&mut self, name: &str, width: u32, hi: u32, lo: u32, value: &Expr) -> Result<()> {
        let all = mask(u128::MAX, width);
        let hole = mask(u128::MAX, hi - lo + 1) << lo;
        if let Some(value) = crate::run::fold(value) {
            let ones = value << lo & hole;
            if ones != hole {
                self.code.op("and", [name, &number(all & !hole)]);
            }
            if ones != 0 {
                self.code.op("or", [name, &number(ones)]);
            }
            return Ok(());
        }
        let part = self.temp(width, value)?;
        self.eval(value, &part)?;
        if lo > 0 {
            self.code.op("shl", [&part.name, &lo.to_string()]);
        }
        self.code.op("and", [name, number(all & !hole).as_str()]);
        self.code.op("or", [name, part.name.as_str()]);
        Ok(())
    }

    /// An index as an operand. SWX takes one beyond the end as one from the beginning again, so
    /// that it jumps to `beyond` before.
    fn index(&mut self, register: usize, index: &Expr, beyond: Label) -> Result<String> {
        let size = u128::from(self.program.registers[register].size);
        let name = self.field_operand(index)?;
        if mask(u128::MAX, index.width) >= size {
            self.code.jump("jmpgt", beyond, &[&name, &number(size - 1)]);
        }
        Ok(name)
    }

    pub fn register_name(&self, register: usize, lane: usize) -> String {
        let register = &self.program.registers[register];
        let name = last(&register.name);
        match register.lanes.len() {
            1 => name.to_owned(),
            _ => format!("{name}_{lane}"),
        }
    }

    fn read(&mut self, register: usize, lane: usize, index: &str, to: &str) {
        self.registers.insert(register);
        let name = self.register_name(register, lane);
        self.code.op("regrd", [to, &name, index]);
    }

    fn write(&mut self, register: usize, lane: usize, index: &str, value: &str) {
        self.registers.insert(register);
        let name = self.register_name(register, lane);
        self.code.op("regwr", [name.as_str(), index, value]);
    }

    fn execute(&mut self, action: usize, index: &Expr, into: Option<Slot>) -> Result<()> {
        let action = &self.program.register_actions[action];
        let beyond = self.code.label();
        let index = self.index(action.register, index, beyond)?;
        let (mut early, mut set) = (Early::new(self.program), BTreeSet::new());
        early.scope(&action.body, &mut set);
        let begins = |slot: &Slot| early.read.contains(slot) || !set.contains(slot);
        for (lane, slot) in action.lanes.iter().enumerate() {
            if early.read.contains(slot) || sets(&action.body, *slot) && !set.contains(slot) {
                let to = self.layout.meta(*slot);
                self.read(action.register, lane, &index, &to);
            }
        }
        if let Some(result) = action.result.filter(begins) {
            let name = self.layout.meta(result);
            self.code.op("mov", [name.as_str(), "0"]);
        }
        let end = self.code.label();
        self.scopes.push(end);
        self.block(&action.body)?;
        self.scopes.pop();
        self.code.place(end);
        for (lane, slot) in action.lanes.iter().enumerate() {
            if sets(&action.body, *slot) {
                let value = self.layout.meta(*slot);
                self.write(action.register, lane, &index, &value);
            }
        }
        if let (Some(into), Some(result)) = (into, action.result) {
            let from = self.layout.meta(result);
            match self.layout.at(into).clone() {
                At::Meta(name, _) | At::Whole(name, _) => self.code.op("mov", [name, from]),
                At::Part(..) => {
                    let what = "a register's result in bits of a header is not emitted for SWX";
                    return Err(Error::new(&action.place, what));
                }
            }
        }
        self.code.place(beyond);
        Ok(())
    }
}
