// SPDX-License-Identifier: MIT OR Apache-2.0
//! Resolves a program's names and types: from what was written to what runs.

mod call;
mod checksum;
mod expr;
mod instance;
mod math;
mod package;
mod parser;
mod signature;
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

/// Meaning of a name in its scope.
#[derive(Clone, Debug)]
enum Bound<'a> {
    Var(Var),
    /// A parameter that is `in`, or an action's: nothing can be assigned to it.
    Read(Var),
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
    /// A function of the architecture.
    Function,
}

struct Lower<'a> {
    out: Program,
    types: BTreeMap<Name, TypeDef>,
    /// How many type parameters a type has.
    generics: BTreeMap<Name, usize>,
    /// Where a name outside of all blocks is declared, and whether it is a function.
    declared: BTreeMap<Name, (Place, bool)>,
    /// Types of parsers and controls, and packages.
    blocks: BTreeMap<Name, &'a Decl>,
    packages: BTreeMap<Name, &'a [Param]>,
    package_generics: BTreeMap<Name, Vec<Name>>,
    /// The type of a register's index, and of a register action's. `None`: it is not said.
    register_index: Vec<Option<Ty>>,
    action_index: Vec<Option<Ty>>,
    /// The standard metadata of v1model.
    standard: Option<Var>,
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
        generics: BTreeMap::new(),
        declared: BTreeMap::new(),
        blocks: BTreeMap::new(),
        packages: BTreeMap::new(),
        package_generics: BTreeMap::new(),
        register_index: Vec::new(),
        action_index: Vec::new(),
        standard: None,
        scopes: vec![BTreeMap::new()],
        prefix: String::new(),
        applied: BTreeSet::new(),
        depth: 0,
        nested: 0,
        members: 0,
    };
    let mut packages = Vec::new();
    for decl in decls {
        lower.declare(decl)?;
        match &decl.kind {
            DeclKind::Instance(ty, args, _) if lower.is_package(ty) => {
                lower.type_args(ty)?;
                packages.push((decl, ty, args.as_slice()));
            }
            _ => lower.global(decl)?,
        }
    }
    lower.packages(&packages)?;
    Ok(lower.out)
}

impl<'a> Lower<'a> {
    /// Notes a name outside of all blocks, which has one meaning: types, blocks, tables and
    /// constants share their names. Functions of the architecture may differ in their parameters.
    fn declare(&mut self, decl: &Decl) -> Result<()> {
        if matches!(decl.kind, DeclKind::Names(_)) {
            return Ok(());
        }
        let function = matches!(decl.kind, DeclKind::ExternFunction);
        if let Some((first, was)) = self.declared.get(&decl.name)
            && !(function && *was)
        {
            let what = format!("`{}` is declared already, at {first}", decl.name);
            return Err(Error::new(&decl.place, what));
        }
        let at = (decl.place.clone(), function);
        self.declared.insert(decl.name.clone(), at);
        self.generics.insert(decl.name.clone(), decl.generics.len());
        Ok(())
    }

    fn global(&mut self, decl: &'a Decl) -> Result<()> {
        let (name, place) = (&decl.name, &decl.place);
        match &decl.kind {
            DeclKind::Parser(_, _, None) | DeclKind::Control(_, _, None) => {
                self.blocks.insert(name.clone(), decl);
                Ok(())
            }
            DeclKind::Parser(..) => self.bind(name, place, Bound::Parser(decl)),
            DeclKind::Control(..) => self.bind(name, place, Bound::Control(decl)),
            DeclKind::Package(params) => {
                self.packages.insert(name.clone(), params);
                let generics = decl.generics.clone();
                self.package_generics.insert(name.clone(), generics);
                self.declare_type(name, TypeDef::Package);
                Ok(())
            }
            _ => self.local(decl, &mut Vec::new()),
        }
    }

    fn bind(&mut self, name: &Name, place: &Place, bound: Bound<'a>) -> Result<()> {
        let scope = self.scopes.last_mut().expect("the outermost scope");
        // Functions of the architecture may share a name, which [`Self::declare`] has checked.
        let again = matches!(bound, Bound::Function);
        match scope.insert(name.clone(), bound) {
            Some(_) if !again => {
                let what = format!("`{name}` is declared twice in this block");
                Err(Error::new(place, what))
            }
            _ => Ok(()),
        }
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
