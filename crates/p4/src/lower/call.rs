// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls: of tables, actions, controls, and of the methods of headers, packets and externs.

use std::collections::BTreeMap;

use super::stmt::at;
use super::types::{Ty, Var};
use super::value::Value;
use super::{Bound, Lower, checksum};
use crate::ast::{self, Arg, Decl, DeclKind, Direction, ExprKind as Written, Name};
use crate::error::{Error, Place, Result};
use crate::ir::{Expr, ExprKind, Slot, Stmt, StmtKind};

/// Instances within instances.
const NESTED: u32 = 16;

/// Instances that are applied.
const APPLIED: usize = 1_000;

impl<'a> Lower<'a> {
    /// Whether a call changes state, so that it must be a statement or all of what is assigned.
    pub(super) fn is_effect(&self, e: &ast::Expr) -> bool {
        let Written::Call(callee, ..) = &e.kind else {
            return false;
        };
        let Written::Member(left, _) = &callee.kind else {
            return false;
        };
        let Written::Name(name) = &left.kind else {
            return false;
        };
        matches!(
            self.look_up(name),
            Some(Bound::RegisterAction(_) | Bound::Register(_) | Bound::Unsupported(_))
        )
    }

    /// A call within an expression.
    pub(super) fn call_value(
        &mut self,
        callee: &ast::Expr,
        args: &[Arg],
        place: &Place,
    ) -> Result<Value> {
        if let Written::Member(left, method) = &callee.kind {
            if let Written::Name(name) = &left.kind {
                match (self.look_up(name), &**method) {
                    (Some(Bound::Math(unit)), "execute") => {
                        let unit = *unit;
                        let arg = self.only(args, place)?;
                        let (arg, ty) = self.any_scalar(arg)?;
                        return Ok(Value::typed(
                            &ty,
                            ExprKind::Math(unit, Box::new(arg)),
                            place,
                        ));
                    }
                    (Some(Bound::RegisterAction(_) | Bound::Register(_)), _) => {
                        let what = "assign this to a variable by itself first";
                        return Err(Error::new(place, what));
                    }
                    (Some(Bound::Unsupported(ty)), _) => {
                        let what = format!("the extern {ty} is not supported");
                        return Err(Error::new(place, what));
                    }
                    _ => {}
                }
            }
            if &**method == "isValid"
                && let Value::Var(Var::Header(_, index, _)) = self.value(left, None)?
            {
                return Ok(Value::typed(&Ty::Bool, ExprKind::Valid(index), place));
            }
            let what = format!("a call of `{method}` is not supported here");
            return Err(Error::new(place, what));
        }
        Err(Error::new(place, "a call of a function is not supported"))
    }

    fn only<'b>(&self, args: &'b [Arg], place: &Place) -> Result<&'b ast::Expr> {
        match args {
            [arg] => Ok(&arg.value),
            _ => Err(Error::new(
                place,
                format!("wants one argument, came {}", args.len()),
            )),
        }
    }

    /// A call as a statement. `into` is the field that its result goes to.
    pub(super) fn call(
        &mut self,
        e: &'a ast::Expr,
        into: Option<Slot>,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let place = &e.place;
        let Written::Call(callee, args) = &e.kind else {
            return Err(Error::new(place, "a call is needed"));
        };
        match &callee.kind {
            Written::Name(name) => self.plain_call(name, args, place, out),
            Written::Member(left, method) => {
                // A member of a member can only be a header.
                let bound = match &left.kind {
                    Written::Name(name) => Some((name, self.named(name, &left.place)?)),
                    _ => None,
                };
                match bound {
                    Some((_, Bound::Var(_) | Bound::Read(_))) | None => {
                        self.header_call(left, method, args, place, out)
                    }
                    Some((name, bound)) => {
                        self.method(name, &bound, method, args, into, place, out)
                    }
                }
            }
            _ => Err(Error::new(place, "a call of a function is not supported")),
        }
    }

    fn plain_call(
        &mut self,
        name: &Name,
        args: &'a [Arg],
        place: &Place,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        match self.look_up(name).cloned() {
            Some(Bound::Action(action)) => {
                let params = self.out.actions[action].params.clone();
                if params.len() != args.len() {
                    let what = format!("`{name}` has {} parameters", params.len());
                    return Err(Error::new(place, what));
                }
                let mut values = Vec::new();
                for (slot, arg) in params.iter().zip(args) {
                    let ty = self.slot_type(*slot);
                    values.push(self.scalar(&arg.value, &ty)?);
                }
                out.push(at(place, StmtKind::Action(action, values)));
                Ok(())
            }
            Some(Bound::Function) if checksum::FUNCTIONS.contains(&&**name) => {
                self.checksum(name, args, place, out)
            }
            // BMv2's way to discard a packet.
            Some(Bound::Function) if &**name == "mark_to_drop" => {
                let arg = self.only(args, place)?;
                let Value::Var(Var::Struct(_, members)) = self.value(arg, None)? else {
                    return Err(Error::new(place, "wants the standard metadata"));
                };
                let spec = members.iter().find(|(n, _)| &**n == "egress_spec");
                let Some((_, Var::Scalar(slot, ty))) = spec else {
                    return Err(Error::new(place, "wants the standard metadata"));
                };
                self.writable(arg)?;
                let value = self.coerce(Value::Integer(511), ty, place)?;
                out.push(at(place, StmtKind::Set(*slot, None, value)));
                Ok(())
            }
            _ => Err(Error::new(
                place,
                format!("a call of `{name}` is not supported"),
            )),
        }
    }

    /// The type of a field.
    pub(super) fn slot_type(&self, slot: Slot) -> Ty {
        let field = &self.out.fields[slot];
        match field.signed {
            true => Ty::Int(field.width),
            false => Ty::Bit(field.width),
        }
    }

    fn header_call(
        &mut self,
        left: &ast::Expr,
        method: &str,
        args: &[Arg],
        place: &Place,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let Value::Var(Var::Header(_, index, _)) = self.value(left, None)? else {
            let what = format!("there is no method `{method}` here");
            return Err(Error::new(place, what));
        };
        let valid = match method {
            "setValid" => true,
            "setInvalid" => false,
            _ => {
                let what = format!("a header has no method `{method}`");
                return Err(Error::new(place, what));
            }
        };
        if !args.is_empty() {
            return Err(Error::new(place, format!("`{method}` has no arguments")));
        }
        self.writable(left)?;
        out.push(at(place, StmtKind::SetValid(index, valid)));
        Ok(())
    }

    #[expect(clippy::too_many_arguments)]
    fn method(
        &mut self,
        name: &Name,
        bound: &Bound<'a>,
        method: &str,
        args: &'a [Arg],
        into: Option<Slot>,
        place: &Place,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        match (bound, method) {
            (Bound::Table(table), "apply") => {
                out.push(at(place, StmtKind::Apply(*table, Vec::new())));
            }
            (Bound::RegisterAction(action), "execute") => {
                let of = self.action_index[*action].clone();
                let index = self.index(self.only(args, place)?, of)?;
                if let Some(slot) = into {
                    let result = self.out.register_actions[*action].result;
                    let (has, wants) = (result.map(|r| self.slot_type(r)), self.slot_type(slot));
                    if has.as_ref() != Some(&wants) {
                        let has = has.map_or_else(|| "nothing".to_owned(), |t| t.to_string());
                        let what = format!("`{name}` gives {has}, wanted is {wants}");
                        return Err(Error::new(place, what));
                    }
                }
                out.push(at(place, StmtKind::Execute(*action, index, into)));
            }
            (Bound::Register(register), "read") => {
                self.read(*register, args, into, place, out)?;
            }
            (Bound::Register(register), "write") => {
                let [index, value] = args else {
                    return Err(Error::new(place, "wants an index and a value"));
                };
                let of = self.register_index[*register].clone();
                let index = self.index(&index.value, of)?;
                let ty = Ty::Bit(self.out.registers[*register].lanes[0]);
                let value = self.scalar(&value.value, &ty)?;
                out.push(at(place, StmtKind::Write(*register, index, vec![value])));
            }
            (Bound::Ignored, _) => {}
            (Bound::Unsupported(ty), _) => {
                let what = format!("the extern {ty} is not supported");
                return Err(Error::new(place, what));
            }
            (Bound::Packet, _) => self.packet_call(method, args, place, out)?,
            (Bound::Instance(decl, instance), "apply") => {
                self.inline(decl, instance, args, place, out)?;
            }
            (Bound::Control(decl), "apply") => self.inline(decl, name, args, place, out)?,
            _ => {
                let what = format!("`{name}` has no method `{method}`");
                return Err(Error::new(place, what));
            }
        }
        Ok(())
    }

    /// `register.read(into, index)` of v1model and `into = register.read(index)`.
    fn read(
        &mut self,
        register: usize,
        args: &'a [Arg],
        into: Option<Slot>,
        place: &Place,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let (slot, index) = match (into, args) {
            (Some(slot), [index]) => (slot, index),
            (None, [target, index]) => {
                self.writable(&target.value)?;
                (self.target(&target.value)?.0, index)
            }
            _ => return Err(Error::new(place, "wants a variable and an index")),
        };
        let width = self.out.registers[register].lanes[0];
        if self.slot_type(slot) != Ty::Bit(width) {
            let what = format!("the register holds bit<{width}>");
            return Err(Error::new(place, what));
        }
        let of = self.register_index[register].clone();
        let index = self.index(&index.value, of)?;
        out.push(at(place, StmtKind::Read(register, index, vec![slot])));
        Ok(())
    }

    /// An index of the type that the declaration names.
    fn index(&mut self, e: &ast::Expr, of: Option<Ty>) -> Result<Expr> {
        match of {
            Some(ty) => self.scalar(e, &ty),
            None => Ok(self.any_scalar(e)?.0),
        }
    }

    fn packet_call(
        &mut self,
        method: &str,
        args: &'a [Arg],
        place: &Place,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let arg = self.only(args, place)?;
        match method {
            "advance" => {
                let bits = self.scalar(arg, &Ty::Bit(32))?;
                out.push(at(place, StmtKind::Advance(bits)));
            }
            "extract" | "emit" => {
                let Value::Var(var) = self.value(arg, None)? else {
                    return Err(Error::new(place, "wants a header"));
                };
                if method == "extract" {
                    self.writable(arg)?;
                }
                let headers = var.headers();
                // A structure may be empty, and then nothing is sent.
                let sends = method == "emit" && matches!(var, Var::Struct(..));
                if !sends && headers.len() != 1 {
                    return Err(Error::new(place, "wants a header"));
                }
                for header in headers {
                    out.push(at(
                        place,
                        match method {
                            "extract" => StmtKind::Extract(header),
                            _ => StmtKind::Emit(header),
                        },
                    ));
                }
            }
            _ => return Err(Error::new(place, format!("`{method}` is not supported"))),
        }
        Ok(())
    }

    /// Applies an instance of a control or a parser: its body takes the place of the call.
    fn inline(
        &mut self,
        decl: &'a Decl,
        instance: &Name,
        args: &'a [Arg],
        place: &Place,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let path = self.path(instance);
        if !self.applied.insert(path.clone()) {
            let what = format!("`{instance}` is applied twice: make two instances");
            return Err(Error::new(place, what));
        }
        if self.depth == NESTED || self.applied.len() > APPLIED {
            let what = "instances apply each other too deeply, or too often";
            return Err(Error::new(place, what));
        }
        let (params, made_with) = match &decl.kind {
            DeclKind::Control(params, made_with, _) | DeclKind::Parser(params, made_with, _) => {
                (params, made_with)
            }
            _ => return Err(Error::new(place, format!("`{instance}` cannot be applied"))),
        };
        if params.len() != args.len() || !made_with.is_empty() {
            let what = format!("`{}` has {} parameters", decl.name, params.len());
            return Err(Error::new(place, what));
        }
        let mut scope = BTreeMap::new();
        let mut stmts = Vec::new();
        let names = params.iter().map(|p| &p.name);
        Self::members_differ(&decl.name, names, &decl.place)?;
        for (param, arg) in params.iter().zip(args) {
            if self.type_parameter(&param.ty).is_some() {
                let Value::Var(var) = self.value(&arg.value, None)? else {
                    return Err(Error::new(&arg.value.place, "a variable is needed"));
                };
                let bound = match param.direction {
                    Direction::In => Bound::Read(var),
                    _ => Bound::Var(var),
                };
                scope.insert(param.name.clone(), bound);
                continue;
            }
            let ty = self.ty(&param.ty)?;
            let bound = if ty == Ty::Packet {
                Bound::Packet
            } else if param.direction == Direction::In || param.direction == Direction::None {
                let var = self.var(&format!("{path}.{}", param.name), &ty, place)?;
                let value = self.value(&arg.value, Some(&ty))?;
                self.copy(&var, value, &arg.value.place, &mut stmts)?;
                Bound::Read(var)
            } else {
                self.writable(&arg.value)?;
                let var = match self.value(&arg.value, None)? {
                    Value::Var(var) if var.ty() == ty => var,
                    other => {
                        let what = format!("wants a variable of {ty}, came {}", other.shown());
                        return Err(Error::new(&arg.value.place, what));
                    }
                };
                Bound::Var(var)
            };
            scope.insert(param.name.clone(), bound);
        }
        // The body sees its parameters and the declarations outside of all blocks.
        let hidden = self.scopes.split_off(1);
        self.scopes.push(scope);
        let outer = std::mem::replace(&mut self.prefix, path);
        self.depth += 1;
        let body = match &decl.kind {
            DeclKind::Control(_, _, Some(body)) => self.control_body(body),
            DeclKind::Parser(_, _, Some(body)) => {
                let parser = self.parser_body(&decl.name, body);
                parser.map(|index| vec![at(place, StmtKind::Parse(index))])
            }
            _ => Err(Error::new(place, format!("`{}` has no body", decl.name))),
        };
        self.depth -= 1;
        self.prefix = outer;
        self.scopes.truncate(1);
        self.scopes.extend(hidden);
        stmts.extend(body?);
        out.push(at(place, StmtKind::Scope(stmts)));
        Ok(())
    }

    pub(super) fn control_body(&mut self, body: &'a ast::ControlBody) -> Result<Vec<Stmt>> {
        let mut stmts = Vec::new();
        self.scopes.push(BTreeMap::new());
        for decl in &body.locals {
            self.local(decl, &mut stmts)?;
        }
        stmts.extend(self.block(&body.apply)?);
        self.scopes.pop();
        Ok(stmts)
    }
}
