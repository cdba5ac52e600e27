// SPDX-License-Identifier: MIT OR Apache-2.0
//! Resolves a program's names and types: from what was written to what runs.

mod call;
mod expr;
mod instance;
mod package;
mod parser;
mod stmt;
mod table;
mod types;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::{Decl, DeclKind, Name, Param};
use crate::error::{Error, Place, Result};
use crate::ir::{Field, Program, Slot};
use types::{Ty, TypeDef, Var};
use value::Value;

/// What a name is bound to.
#[derive(Clone, Debug)]
enum Bound<'a> {
    Var(Var),
    Constant(Value),
    Action(usize),
    Table(usize),
    Register(usize),
    RegisterAction(usize),
    Math(usize),
    /// Counters and their like, which decide nothing.
    Ignored,
    /// An extern that is not supported: its type.
    Unsupported(Name),
    Control(&'a Decl),
    Parser(&'a Decl),
    /// An instance of a control or a parser: its type and its name.
    Instance(&'a Decl, Name),
    Packet,
}

struct Lower<'a> {
    out: Program,
    types: BTreeMap<Name, TypeDef>,
    scopes: Vec<BTreeMap<Name, Bound<'a>>>,
    /// In front of the names of new fields, tables and registers.
    prefix: String,
    /// Instances that were applied.
    applied: BTreeSet<String>,
    /// Instances that are being inlined.
    depth: u32,
    /// Structures that are being laid out within each other.
    nested: u32,
    /// Variables and members made so far.
    members: u32,
}

/// Resolves a whole program.
pub(crate) fn program(file: &str, decls: &[Decl]) -> Result<Program> {
    let mut lower = Lower {
        out: Program {
            file: file.to_owned(),
            ..Program::default()
        },
        types: BTreeMap::new(),
        scopes: vec![BTreeMap::new()],
        prefix: String::new(),
        applied: BTreeSet::new(),
        depth: 0,
        nested: 0,
        members: 0,
    };
    let mut packages = Vec::new();
    for decl in decls {
        match &decl.kind {
            DeclKind::Instance(ty, args, _) if lower.is_package(ty) => {
                packages.push((decl, ty, args));
            }
            _ => lower.global(decl)?,
        }
    }
    lower.packages(&packages)?;
    Ok(lower.out)
}

impl<'a> Lower<'a> {
    fn global(&mut self, decl: &'a Decl) -> Result<()> {
        match &decl.kind {
            DeclKind::Parser(_, _, body) => {
                if body.is_some() {
                    self.bind(&decl.name, Bound::Parser(decl));
                }
            }
            DeclKind::Control(_, _, body) => {
                if body.is_some() {
                    self.bind(&decl.name, Bound::Control(decl));
                }
            }
            _ => {
                self.local(decl, &mut Vec::new())?;
            }
        }
        Ok(())
    }

    fn bind(&mut self, name: &Name, bound: Bound<'a>) {
        let scope = self.scopes.last_mut().expect("the outermost scope");
        scope.insert(name.clone(), bound);
    }

    fn look_up(&self, name: &str) -> Option<&Bound<'a>> {
        self.scopes.iter().rev().find_map(|s| s.get(name))
    }

    fn named(&self, name: &str, place: &Place) -> Result<Bound<'a>> {
        self.look_up(name)
            .cloned()
            .ok_or_else(|| Error::new(place, format!("`{name}` is not declared")))
    }

    fn path(&self, name: &str) -> String {
        match self.prefix.is_empty() {
            true => name.to_owned(),
            false => format!("{}.{name}", self.prefix),
        }
    }

    /// A new scalar.
    fn slot(&mut self, name: String, ty: &Ty) -> Slot {
        let (width, signed) = ty.scalar().expect("a scalar");
        self.out.fields.push(Field {
            name,
            width,
            signed,
        });
        self.out.fields.len() - 1
    }

    /// New fields for a parameter, named for the block that it belongs to.
    fn fresh_param(&mut self, param: &Param) -> Result<Var> {
        let ty = self.ty(&param.ty)?;
        self.var(&self.path(&param.name), &ty, &param.ty.place)
    }
}
