// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instances of controls, parsers and externs: registers, register actions, math units.

use std::collections::BTreeMap;

use super::types::{Ty, TypeDef, Var};
use super::value::Value;
use super::{Bound, Lower};
use crate::ast::{Arg, Decl, DeclKind, Direction, ExprKind as Written, Param, Type, TypeKind};
use crate::error::{Error, Result};
use crate::ir::{Register, RegisterAction};
use crate::run::fold;

/// Externs that count or measure, and change nothing that a program reads.
const IGNORED: &[&str] = &["Counter", "DirectCounter", "counter", "direct_counter"];

impl<'a> Lower<'a> {
    pub(super) fn is_package(&self, ty: &Type) -> bool {
        match &ty.kind {
            TypeKind::Named(name, _) => matches!(self.types.get(name), Some(TypeDef::Package)),
            _ => false,
        }
    }

    pub(super) fn instance(
        &mut self,
        decl: &'a Decl,
        ty: &'a Type,
        args: &'a [Arg],
        functions: &'a [Decl],
    ) -> Result<()> {
        let TypeKind::Named(of, types) = &ty.kind else {
            let what = "an instance of this type is not supported";
            return Err(Error::new(&ty.place, what));
        };
        self.type_args(ty)?;
        let bound = match &**of {
            "Register" | "register" => Bound::Register(self.register(decl, types, args)?),
            "RegisterAction" => {
                Bound::RegisterAction(self.register_action(decl, types, args, functions)?)
            }
            "MathUnit" => Bound::Math(self.math_unit(decl, args)?),
            name if IGNORED.contains(&name) => Bound::Ignored,
            _ => match self.look_up(of).cloned() {
                Some(Bound::Control(of) | Bound::Parser(of)) => {
                    Bound::Instance(of, decl.name.clone())
                }
                _ if matches!(self.types.get(of), Some(TypeDef::Extern)) => {
                    Bound::Unsupported(of.clone())
                }
                _ => return Err(Error::new(&ty.place, format!("there is no type `{of}`"))),
            },
        };
        self.bind(&decl.name, &decl.place, bound)
    }

    /// The widths of a register's entry: one number, or a structure of two.
    fn lanes(&mut self, ty: &Type) -> Result<(Ty, Vec<u32>)> {
        let ty_ = self.ty(ty)?;
        if let Some((width, _)) = ty_.scalar() {
            return Ok((ty_, vec![width]));
        }
        let fields = match &ty_ {
            Ty::Struct(name) => match self.types.get(name) {
                Some(TypeDef::Struct(fields)) => fields.clone(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let mut lanes = Vec::new();
        for (_, field) in &fields {
            let width = self.ty(field)?.scalar().map(|(width, _)| width);
            lanes.push(
                width.ok_or_else(|| {
                    Error::new(&field.place, "a part of a register has one value")
                })?,
            );
        }
        if lanes.is_empty() {
            let what = format!("a register of {ty_} is not supported");
            return Err(Error::new(&ty.place, what));
        }
        Ok((ty_, lanes))
    }

    fn register(&mut self, decl: &'a Decl, types: &[Type], args: &[Arg]) -> Result<usize> {
        let place = &decl.place;
        let Some(ty) = types.first() else {
            let what = "a register's type is needed: Register<bit<32>, _>";
            return Err(Error::new(place, what));
        };
        let (ty, lanes) = self.lanes(ty)?;
        let Some(size) = args.first() else {
            let what = "a register's number of entries is needed";
            return Err(Error::new(place, what));
        };
        let entries = self.constant(&size.value, &Ty::Bit(32))?;
        if entries == 0 {
            let what = "a register of no entries: 1 to 4294967295 can be had";
            return Err(Error::new(&size.value.place, what));
        }
        let index = match types.get(1) {
            Some(index) => self.index_type(index)?,
            // That of v1model has no second parameter.
            None => Some(Ty::Bit(32)),
        };
        let initial = match args.get(1) {
            None => vec![0; lanes.len()],
            Some(arg) => match self.value(&arg.value, Some(&ty))? {
                Value::List(items) if items.len() == lanes.len() => {
                    let mut all = Vec::new();
                    for ((item, at), width) in items.into_iter().zip(&lanes) {
                        let item = self.coerce(item, &Ty::Bit(*width), &at)?;
                        all.push(fold(&item).ok_or_else(|| Error::new(&at, "not a constant"))?);
                    }
                    all
                }
                Value::List(_) => {
                    let what = format!("wants {} values", lanes.len());
                    return Err(Error::new(&arg.value.place, what));
                }
                _ => vec![self.constant(&arg.value, &ty)?],
            },
        };
        self.out.registers.push(Register {
            name: self.path(&decl.name),
            lanes,
            initial,
            size: entries as u64,
        });
        self.register_index.push(index);
        Ok(self.out.registers.len() - 1)
    }

    /// The type of an index. `_`: it is not said.
    fn index_type(&mut self, ty: &Type) -> Result<Option<Ty>> {
        match self.ty(ty)? {
            Ty::Any => Ok(None),
            index if index.scalar().is_some() => Ok(Some(index)),
            other => Err(Error::new(
                &ty.place,
                format!("an index of {other} is not supported: bit<W>"),
            )),
        }
    }

    fn register_action(
        &mut self,
        decl: &'a Decl,
        types: &[Type],
        args: &[Arg],
        functions: &'a [Decl],
    ) -> Result<usize> {
        let place = &decl.place;
        let (name, at) = match args {
            [Arg { value, .. }] => match &value.kind {
                Written::Name(name) => (name, &value.place),
                _ => return Err(Error::new(&value.place, "the name of a register is needed")),
            },
            _ => return Err(Error::new(place, "the name of a register is needed")),
        };
        let Bound::Register(register) = self.named(name, at)? else {
            return Err(Error::new(at, format!("`{name}` is no register")));
        };
        let Some((ty, lanes)) = types.first().map(|ty| self.lanes(ty)).transpose()? else {
            let what = "the type of the register's entry is needed";
            return Err(Error::new(place, what));
        };
        if lanes != self.out.registers[register].lanes {
            let of = &self.out.registers[register].name;
            return Err(Error::new(place, format!("{ty} is not what `{of}` holds")));
        }
        let apply = functions.iter().find(|f| &*f.name == "apply");
        let Some((function, params, body)) = apply.and_then(|f| match &f.kind {
            DeclKind::Function(params, body) => Some((f, params, body)),
            _ => None,
        }) else {
            let what = "a register action needs a function `apply`";
            return Err(Error::new(place, what));
        };
        if params.is_empty() || params.len() > 2 {
            let what = "`apply` has the entry and at most one result";
            return Err(Error::new(&function.place, what));
        }
        let index = types.get(1).map(|ty| self.index_type(ty)).transpose()?;
        self.apply_fits(&ty, types.get(2), params)?;
        let path = self.path(&decl.name);
        let outer = std::mem::replace(&mut self.prefix, path);
        let mut scope = BTreeMap::new();
        let value = self.fresh_param(&params[0])?;
        let result = match params.get(1) {
            Some(param) => {
                let var = self.fresh_param(param)?;
                scope.insert(param.name.clone(), Bound::Var(var.clone()));
                match var {
                    Var::Scalar(slot, _) => Some(slot),
                    _ => return Err(Error::new(&param.ty.place, "a result has one value")),
                }
            }
            None => None,
        };
        scope.insert(params[0].name.clone(), Bound::Var(value.clone()));
        self.scopes.push(scope);
        let body = self.block(body);
        self.scopes.pop();
        self.prefix = outer;
        self.out.register_actions.push(RegisterAction {
            place: place.clone(),
            register,
            lanes: value.slots(),
            result,
            body: body?,
        });
        self.action_index.push(index.flatten());
        Ok(self.out.register_actions.len() - 1)
    }

    /// `void apply(inout T entry, out U result)`
    fn apply_fits(&mut self, entry: &Ty, result: Option<&Type>, params: &[Param]) -> Result<()> {
        let result = result.map(|ty| self.ty(ty)).transpose()?;
        let wants = [
            (Direction::InOut, "inout", Some(entry.clone())),
            (Direction::Out, "out", result.filter(|ty| *ty != Ty::Any)),
        ];
        for (param, (direction, word, ty)) in params.iter().zip(wants) {
            let has = self.ty(&param.ty)?;
            let ty = ty.unwrap_or_else(|| has.clone());
            if param.direction != direction || has != ty {
                let what = format!("`{}` of `apply` is `{word} {ty}`", param.name);
                return Err(Error::new(&param.ty.place, what));
            }
        }
        Ok(())
    }
}
