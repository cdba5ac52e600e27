// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instances of controls, parsers and externs: registers, register actions, math units.

use std::collections::BTreeMap;

use super::types::{Ty, TypeDef, Var};
use super::value::Value;
use super::{Bound, Lower};
use crate::ast::{Arg, Decl, DeclKind, ExprKind as Written, Type, TypeKind};
use crate::error::{Error, Place, Result};
use crate::ir::{MathUnit, Register, RegisterAction};
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
            return Err(Error::new(
                &ty.place,
                "an instance of this type is not supported",
            ));
        };
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
        self.bind(&decl.name, bound);
        Ok(())
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
            return Err(Error::new(
                &ty.place,
                format!("a register of {ty_} is not supported"),
            ));
        }
        Ok((ty_, lanes))
    }

    fn register(&mut self, decl: &'a Decl, types: &[Type], args: &[Arg]) -> Result<usize> {
        let place = &decl.place;
        let Some(ty) = types.first() else {
            return Err(Error::new(
                place,
                "a register's type is needed: Register<bit<32>, _>",
            ));
        };
        let (ty, lanes) = self.lanes(ty)?;
        let Some(size) = args.first() else {
            return Err(Error::new(
                place,
                "a register's number of entries is needed",
            ));
        };
        let size = self.constant(&size.value, &Ty::Bit(32))?;
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
            place: place.clone(),
            lanes,
            initial,
            size: size as u64,
        });
        Ok(self.out.registers.len() - 1)
    }

    fn register_action(
        &mut self,
        decl: &'a Decl,
        types: &[Type],
        args: &[Arg],
        functions: &'a [Decl],
    ) -> Result<usize> {
        let place = &decl.place;
        let register = match args {
            [arg] => match &arg.value.kind {
                Written::Name(name) => match self.named(name, &arg.value.place)? {
                    Bound::Register(register) => register,
                    _ => {
                        return Err(Error::new(
                            &arg.value.place,
                            format!("`{name}` is no register"),
                        ));
                    }
                },
                _ => {
                    return Err(Error::new(
                        &arg.value.place,
                        "the name of a register is needed",
                    ));
                }
            },
            _ => return Err(Error::new(place, "the name of a register is needed")),
        };
        let Some((ty, lanes)) = types.first().map(|ty| self.lanes(ty)).transpose()? else {
            return Err(Error::new(
                place,
                "the type of the register's entry is needed",
            ));
        };
        if lanes != self.out.registers[register].lanes {
            let of = &self.out.registers[register].name;
            return Err(Error::new(place, format!("{ty} is not what `{of}` holds")));
        }
        let apply = functions.iter().find(|f| &*f.name == "apply");
        let Some((function, params, body)) = apply.and_then(|f| match &f.kind {
            DeclKind::Function(_, params, body) => Some((f, params, body)),
            _ => None,
        }) else {
            return Err(Error::new(
                place,
                "a register action needs a function `apply`",
            ));
        };
        if params.is_empty() || params.len() > 2 {
            let what = "`apply` has the entry and at most one result";
            return Err(Error::new(&function.place, what));
        }
        let path = self.path(&decl.name);
        let outer = std::mem::replace(&mut self.prefix, path.clone());
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
            name: path,
            place: place.clone(),
            register,
            lanes: value.slots(),
            result,
            body: body?,
        });
        Ok(self.out.register_actions.len() - 1)
    }

    /// `MathUnit(invert, shift, scale, {values from index 15 down to 0})`
    fn math_unit(&mut self, decl: &'a Decl, args: &[Arg]) -> Result<usize> {
        let place = &decl.place;
        let [invert, shift, scale, table] = args else {
            let what = "a math unit is supported as MathUnit(invert, shift, scale, {16 values})";
            return Err(Error::new(place, what));
        };
        let invert = self.constant(&invert.value, &Ty::Bool)? != 0;
        let shift = self.constant(&shift.value, &Ty::Integer)? as i128 as i32;
        let scale = self.constant(&scale.value, &Ty::Integer)? as i128 as i32;
        if !(-1..=1).contains(&shift) || !(-32..32).contains(&scale) {
            return Err(Error::new(
                place,
                "the shift is -1, 0 or 1, the scale -32 to 31",
            ));
        }
        let Value::List(items) = self.value(&table.value, None)? else {
            return Err(Error::new(&table.value.place, "wants a list of 16 values"));
        };
        let mut values = [0u8; 16];
        if items.len() != 16 {
            let what = format!("wants 16 values, came {}", items.len());
            return Err(Error::new(&table.value.place, what));
        }
        for (i, (item, at)) in items.into_iter().enumerate() {
            values[15 - i] = self.byte(item, &at)?;
        }
        self.out.math.push(MathUnit {
            name: self.path(&decl.name),
            invert,
            shift,
            scale,
            table: values,
        });
        Ok(self.out.math.len() - 1)
    }

    fn byte(&self, item: Value, at: &Place) -> Result<u8> {
        let item = self.coerce(item, &Ty::Bit(8), at)?;
        let value = fold(&item).ok_or_else(|| Error::new(at, "not a constant"))?;
        Ok(value as u8)
    }
}
