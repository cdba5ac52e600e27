// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables and patterns.

use super::types::Ty;
use super::{Bound, Lower};
use crate::ast::{self, Decl, ExprKind as Written};
use crate::error::{Error, Place, Result};
use crate::ir::{Entry, Key, Pattern, Table};

const KINDS: &[&str] = &["exact", "ternary", "lpm", "range"];

/// Properties that say nothing about what a table does.
const HARMLESS: &[&str] = &["counters", "meters", "idle_timeout", "requires_versioning"];

impl<'a> Lower<'a> {
    pub(super) fn table(&mut self, decl: &'a Decl, table: &'a ast::Table) -> Result<()> {
        let mut keys = Vec::new();
        for (value, kind, place) in &table.keys {
            if !KINDS.contains(&&**kind) {
                let what = format!(
                    "a key that is `{kind}` is not supported: {}",
                    KINDS.join(", ")
                );
                return Err(Error::new(place, what));
            }
            let (value, _) = self.any_scalar(value)?;
            keys.push(Key {
                value,
                kind: kind.to_string(),
            });
        }
        if let Some((name, place)) = table.others.iter().find(|(n, _)| !HARMLESS.contains(&&**n)) {
            let what = format!("the property `{name}` is not supported");
            return Err(Error::new(place, what));
        }
        let mut actions = Vec::new();
        for action in &table.actions {
            let Written::Name(name) = &action.kind else {
                return Err(Error::new(&action.place, "the name of an action is needed"));
            };
            actions.push(self.action_named(name, &action.place)?);
        }
        let default = match &table.default {
            Some(default) => self.bound_action(default)?,
            None => match self.look_up("NoAction") {
                Some(Bound::Action(action)) => (*action, Vec::new()),
                _ => return Err(Error::new(&decl.place, "a default_action is needed")),
            },
        };
        let mut entries = Vec::new();
        for (patterns, action, priority) in &table.entries {
            if let Some(priority) = priority {
                let what = "a priority is not supported: the first entry that matches counts";
                return Err(Error::new(&priority.place, what));
            }
            if patterns.len() != keys.len() {
                let what = format!("wants {} patterns, came {}", keys.len(), patterns.len());
                return Err(Error::new(&action.place, what));
            }
            let mut all = Vec::new();
            for (pattern, key) in patterns.iter().zip(&keys) {
                let ty = match key.value.signed {
                    true => Ty::Int(key.value.width),
                    false => Ty::Bit(key.value.width),
                };
                all.push(self.pattern(pattern, &ty)?);
            }
            let (action, args) = self.bound_action(action)?;
            entries.push(Entry {
                patterns: all,
                action,
                args,
            });
        }
        let size = match &table.size {
            Some(written) => {
                let size = self.constant(written, &Ty::Integer)?;
                u32::try_from(size).ok().filter(|n| *n > 0).ok_or_else(|| {
                    let what = format!("the size of a table is 1 to {}", u32::MAX);
                    Error::new(&written.place, what)
                })?
            }
            None => 1024,
        };
        let size = u64::from(size);
        self.out.tables.push(Table {
            name: self.path(&decl.name),
            place: decl.place.clone(),
            keys,
            actions,
            entries,
            default,
            size,
        });
        let index = self.out.tables.len() - 1;
        self.bind(&decl.name, &decl.place, Bound::Table(index))
    }

    fn action_named(&mut self, name: &str, place: &Place) -> Result<usize> {
        match self.named(name, place)? {
            Bound::Action(action) => Ok(action),
            _ => Err(Error::new(place, format!("`{name}` is no action"))),
        }
    }

    /// An action with its arguments, as in an entry.
    fn bound_action(&mut self, e: &ast::Expr) -> Result<(usize, Vec<u128>)> {
        let (callee, args): (&ast::Expr, &[ast::Arg]) = match &e.kind {
            Written::Call(callee, args) => (callee, args),
            _ => (e, &[]),
        };
        let Written::Name(name) = &callee.kind else {
            return Err(Error::new(&e.place, "the name of an action is needed"));
        };
        let action = self.action_named(name, &callee.place)?;
        let params = self.out.actions[action].params.clone();
        if params.len() != args.len() {
            let what = format!(
                "`{name}` has {} parameters, came {}",
                params.len(),
                args.len()
            );
            return Err(Error::new(&e.place, what));
        }
        let mut values = Vec::new();
        for (slot, arg) in params.iter().zip(args) {
            let ty = self.slot_type(*slot);
            values.push(self.constant(&arg.value, &ty)?);
        }
        Ok((action, values))
    }

    pub(super) fn pattern(&mut self, e: &ast::Expr, ty: &Ty) -> Result<Pattern> {
        let (width, _) = ty.scalar().expect("a scalar");
        let all = crate::run::mask(u128::MAX, width);
        // A bool is compared as its bit.
        let ty = match (&e.kind, ty) {
            (Written::Bool(_), _) => &Ty::Bool,
            _ => ty,
        };
        Ok(match &e.kind {
            Written::Any => Pattern::ANY,
            Written::Mask(bits, mask) => {
                let bits = self.constant(bits, ty)?;
                Pattern::Mask(bits, self.constant(mask, ty)?)
            }
            Written::Range(from, to) => {
                let from = self.constant(from, ty)?;
                Pattern::Range(from, self.constant(to, ty)?)
            }
            _ => Pattern::Mask(self.constant(e, ty)?, all),
        })
    }
}
