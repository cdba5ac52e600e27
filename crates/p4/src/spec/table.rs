// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables. One whose entries the program fixes is a chain of comparisons, the first that matches
//! counts; one whose entries come from outside is a table of SWX.

use super::Emitter;
use super::code::{Code, Label};
use super::expr::number;
use super::layout::{bytes, last};
use crate::error::{Error, Result};
use crate::ir::{Pattern, Stmt, Table};
use crate::run::mask;

/// Whether no entries come from outside.
pub(super) fn is_fixed(table: &Table) -> bool {
    !table.entries.is_empty() || table.keys.is_empty()
}

/// The fields that hold a table's keys, and their widths.
pub(super) fn keys(number: usize, table: &Table) -> Vec<(String, u32)> {
    let keys = table.keys.iter().enumerate();
    keys.map(|(i, key)| (format!("k{number}_{i}"), bytes(key.value.width)))
        .collect()
}

impl Emitter<'_> {
    /// Applies a table, then runs what follows the action that ran.
    pub fn apply(&mut self, table: usize, cases: &[(usize, Vec<Stmt>)]) -> Result<()> {
        let program = self.program;
        if is_fixed(&program.tables[table]) {
            return self.apply_fixed(table, None, cases);
        }
        self.lookup(table)?;
        let end = self.code.label();
        for (action, body) in cases {
            let other = self.code.label();
            if *action != usize::MAX {
                let name = self.action_name(*action);
                self.code.jump("jmpna", other, &[&name]);
            }
            self.block(body)?;
            self.code.jump("jmp", end, &[]);
            self.code.place(other);
        }
        self.code.place(end);
        Ok(())
    }

    /// Applies a table, and jumps where an entry was found, or where none was.
    pub fn jump_hit(&mut self, table: usize, when: bool, to: Label) -> Result<()> {
        if !is_fixed(&self.program.tables[table]) {
            self.lookup(table)?;
            self.code.jump(if when { "jmph" } else { "jmpnh" }, to, &[]);
            return Ok(());
        }
        let stay = self.code.label();
        let ends = if when { (to, stay) } else { (stay, to) };
        self.apply_fixed(table, Some(ends), &[])?;
        self.code.place(stay);
        Ok(())
    }

    fn lookup(&mut self, number: usize) -> Result<()> {
        let table = &self.program.tables[number];
        self.tables.insert(number);
        for (key, (name, _)) in table.keys.iter().zip(keys(number, table)) {
            let value = self.operand(&key.value)?;
            self.code.op("mov", [format!("m.{name}"), value.text()]);
        }
        let name = self.table_name(number);
        self.code.op("table", [name]);
        Ok(())
    }

    /// `ends`: where it continues after an entry, and after none.
    fn apply_fixed(
        &mut self,
        table: usize,
        ends: Option<(Label, Label)>,
        cases: &[(usize, Vec<Stmt>)],
    ) -> Result<()> {
        let table = &self.program.tables[table];
        let end = self.code.label();
        let (found, none) = ends.unwrap_or((end, end));
        let before = self.temps.clone();
        let mut values = Vec::new();
        for key in &table.keys {
            values.push((self.field_operand(&key.value)?, key.value.width));
        }
        for entry in &table.entries {
            let other = self.code.label();
            for (pattern, (key, width)) in entry.patterns.iter().zip(&values) {
                self.unless(pattern, key, *width, other);
            }
            self.fixed_action(entry.action, &entry.args, cases)?;
            self.code.jump("jmp", found, &[]);
            self.code.place(other);
        }
        let (action, args) = &table.default;
        self.fixed_action(*action, args, cases)?;
        self.code.jump("jmp", none, &[]);
        self.code.place(end);
        self.temps = before;
        Ok(())
    }

    fn fixed_action(
        &mut self,
        action: usize,
        args: &[u128],
        cases: &[(usize, Vec<Stmt>)],
    ) -> Result<()> {
        let params = &self.program.actions[action].params;
        for (slot, value) in params.iter().zip(args) {
            let name = self.layout.meta(*slot);
            self.code.op("mov", [name, number(*value)]);
        }
        self.action_body(action)?;
        let case = cases.iter().find(|(a, _)| *a == action || *a == usize::MAX);
        match case {
            Some((_, body)) => self.block(body),
            None => Ok(()),
        }
    }

    pub fn action_body(&mut self, action: usize) -> Result<()> {
        let end = self.code.label();
        self.scopes.push(end);
        self.block(&self.program.actions[action].body)?;
        self.scopes.pop();
        self.code.place(end);
        Ok(())
    }

    /// Jumps unless a field matches.
    pub fn unless(&mut self, pattern: &Pattern, key: &str, width: u32, other: Label) {
        let all = mask(u128::MAX, width);
        match *pattern {
            Pattern::Mask(_, under) if under & all == 0 => {}
            Pattern::Mask(bits, under) if under & all == all => {
                self.code.jump("jmpneq", other, &[key, &number(bits & all)]);
            }
            Pattern::Mask(bits, under) => {
                let width = bytes(width);
                let used = *self.temps.entry(width).or_default();
                let most = self.most_temps.entry(width).or_default();
                *most = (*most).max(used + 1);
                let part = format!("m.t{width}_{used}");
                self.code.op("mov", [part.as_str(), key]);
                self.code.op("and", [part.as_str(), &number(under & all)]);
                self.code
                    .jump("jmpneq", other, &[&part, &number(bits & under & all)]);
            }
            Pattern::Range(from, to) => {
                if from > 0 {
                    self.code.jump("jmplt", other, &[key, &number(from)]);
                }
                if to < all {
                    self.code.jump("jmpgt", other, &[key, &number(to)]);
                }
            }
        }
    }

    /// The code of an action that a table of SWX runs.
    pub fn own_action(&mut self, action: usize) -> Result<Code> {
        let outer = std::mem::take(&mut self.code);
        let exit = self.exit.take();
        let temps = std::mem::take(&mut self.temps);
        let given: Vec<String> = self
            .arguments(action)
            .map(|arg| format!("t.{arg}"))
            .collect();
        for (slot, given) in self.program.actions[action].params.iter().zip(given) {
            let name = self.layout.meta(*slot);
            self.code.op("mov", [name, given]);
        }
        let done = self.action_body(action);
        self.code.bare("return");
        (self.exit, self.temps) = (exit, temps);
        let code = std::mem::replace(&mut self.code, outer);
        done.map(|()| code)
    }

    /// Its own name, with its number where two tables have actions of one name.
    pub fn action_name(&self, action: usize) -> String {
        let name = last(&self.program.actions[action].name);
        let mut same = self
            .tables
            .iter()
            .flat_map(|t| &self.program.tables[*t].actions);
        let unique = same.all(|a| *a == action || last(&self.program.actions[*a].name) != name);
        match unique {
            true => name.to_owned(),
            false => format!("{name}_{action}"),
        }
    }

    /// The names of an action's arguments in SWX.
    pub fn arguments(&self, action: usize) -> impl Iterator<Item = &str> {
        let params = self.program.actions[action].params.iter();
        params.map(|slot| last(&self.program.fields[*slot].name))
    }

    pub fn table_name(&self, table: usize) -> String {
        last(&self.program.tables[table].name).to_owned()
    }

    /// A table's kind of match in SWX's words.
    pub fn kind(table: &Table, key: usize) -> Result<&'static str> {
        match table.keys[key].kind.as_str() {
            "exact" => Ok("exact"),
            "ternary" => Ok("wildcard"),
            "lpm" => Ok("lpm"),
            other => {
                let what = format!("SWX has no keys of the kind `{other}`");
                Err(Error::new(&table.place, what))
            }
        }
    }
}
