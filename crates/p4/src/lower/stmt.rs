// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statements and local declarations.

use std::collections::BTreeMap;

use super::types::{Ty, TypeDef, Var};
use super::value::{Value, typed};
use super::{Bound, Lower};
use crate::ast::{self, Decl, DeclKind, ExprKind as Written, StmtKind as Was};
use crate::error::{Error, Place, Result};
use crate::ir::{Action, ExprKind, Slot, Stmt, StmtKind};

pub(super) fn at(place: &Place, kind: StmtKind) -> Stmt {
    Stmt {
        place: place.clone(),
        kind,
    }
}

impl<'a> Lower<'a> {
    pub(super) fn block(&mut self, stmts: &'a [ast::Stmt]) -> Result<Vec<Stmt>> {
        self.scopes.push(BTreeMap::new());
        let mut out = Vec::new();
        for stmt in stmts {
            self.stmt(stmt, &mut out)?;
        }
        self.scopes.pop();
        Ok(out)
    }

    fn stmt(&mut self, stmt: &'a ast::Stmt, out: &mut Vec<Stmt>) -> Result<()> {
        let place = &stmt.place;
        match &stmt.kind {
            Was::Empty => {}
            Was::Block(inner) => out.extend(self.block(inner)?),
            Was::Exit => out.push(at(place, StmtKind::Exit)),
            Was::Return(None) => out.push(at(place, StmtKind::Return)),
            Was::Return(Some(_)) => {
                return Err(Error::new(place, "`return` with a value is not supported"));
            }
            Was::Decl(decl) => self.local(decl, out)?,
            Was::If(condition, yes, no) => {
                let condition = self.scalar(condition, &Ty::Bool)?;
                let yes = self.block(std::slice::from_ref(yes))?;
                let no = match no {
                    Some(no) => self.block(std::slice::from_ref(no))?,
                    None => Vec::new(),
                };
                out.push(at(place, StmtKind::If(condition, yes, no)));
            }
            Was::Switch(value, cases) => self.switch(value, cases, place, out)?,
            Was::Call(call) => self.call(call, None, out)?,
            Was::Assign(target, operator, value) => {
                self.assign(target, *operator, value, place, out)?;
            }
        }
        Ok(())
    }

    fn assign(
        &mut self,
        target: &'a ast::Expr,
        operator: Option<&'static str>,
        value: &'a ast::Expr,
        place: &Place,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        self.writable(target)?;
        if let Written::Slice(inner, hi, lo) = &target.kind {
            let (slot, _) = self.target(inner)?;
            let (hi, lo) = self.bits(self.out.fields[slot].width, hi, lo)?;
            let ty = Ty::Bit(hi - lo + 1);
            let value = self.scalar(value, &ty)?;
            out.push(at(place, StmtKind::Set(slot, Some((hi, lo)), value)));
            return Ok(());
        }
        if let (Written::Call(..), None) = (&value.kind, operator)
            && self.is_effect(value)
        {
            let (slot, _) = self.target(target)?;
            return self.call(value, Some(slot), out);
        }
        match self.value(target, None)? {
            Value::Var(Var::Scalar(slot, ty)) => {
                let value = match operator {
                    None => self.scalar(value, &ty)?,
                    Some(sign) => {
                        let kind = Written::Binary(
                            sign,
                            Box::new(target.clone()),
                            Box::new(value.clone()),
                        );
                        let place = place.clone();
                        self.scalar(&ast::Expr { place, kind }, &ty)?
                    }
                };
                out.push(at(place, StmtKind::Set(slot, None, value)));
                Ok(())
            }
            Value::Var(var) if operator.is_none() => {
                let value = self.value(value, Some(&var.ty()))?;
                self.copy(&var, value, place, out)
            }
            _ => Err(Error::new(place, "nothing can be assigned to this")),
        }
    }

    /// Refuses what cannot be written: an `in` parameter, and what is in one.
    pub(super) fn writable(&self, target: &ast::Expr) -> Result<()> {
        let mut root = target;
        while let Written::Member(left, _) | Written::Slice(left, ..) | Written::Index(left) =
            &root.kind
        {
            root = left;
        }
        if let Written::Name(name) = &root.kind
            && let Some(Bound::Read(_)) = self.look_up(name)
        {
            let what = format!(
                "`{name}` is a parameter that is read only (`in`, or an action's): copy it to a \
                 variable"
            );
            return Err(Error::new(&target.place, what));
        }
        Ok(())
    }

    /// The scalar that an expression names.
    pub(super) fn target(&mut self, e: &ast::Expr) -> Result<(Slot, Ty)> {
        match self.value(e, None)? {
            Value::Var(Var::Scalar(slot, ty)) => Ok((slot, ty)),
            other => Err(Error::new(
                &e.place,
                format!("a variable with one value is needed, not {}", other.shown()),
            )),
        }
    }

    /// Assigns a structure member by member, and a header with its validity.
    pub(super) fn copy(
        &mut self,
        to: &Var,
        from: Value,
        place: &Place,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let members: Vec<Var> = match to {
            Var::Scalar(slot, ty) => {
                let value = self.coerce(from, ty, place)?;
                out.push(at(place, StmtKind::Set(*slot, None, value)));
                return Ok(());
            }
            Var::Packet => return Ok(()),
            Var::Struct(_, members) | Var::Header(_, _, members) => {
                members.iter().map(|(_, v)| v.clone()).collect()
            }
        };
        let values: Vec<Value> = match &from {
            Value::Var(Var::Struct(name, of) | Var::Header(name, _, of))
                if Ty::Struct(name.clone()) == to.ty() || Ty::Header(name.clone()) == to.ty() =>
            {
                of.iter().map(|(_, v)| Value::Var(v.clone())).collect()
            }
            Value::List(items) if items.len() == members.len() => {
                items.iter().map(|(v, _)| v.clone()).collect()
            }
            _ => {
                let what = format!("wants {}, came {}", to.ty(), from.shown());
                return Err(Error::new(place, what));
            }
        };
        if let Var::Header(_, to, _) = to {
            let valid = match &from {
                Value::Var(Var::Header(_, from, _)) => ExprKind::Valid(*from),
                _ => ExprKind::Constant(1),
            };
            let valid = typed(&Ty::Bool, valid, place);
            let set = |v| vec![at(place, StmtKind::SetValid(*to, v))];
            out.push(at(place, StmtKind::If(valid, set(true), set(false))));
        }
        for (to, from) in members.iter().zip(values) {
            self.copy(to, from, place, out)?;
        }
        Ok(())
    }

    fn switch(
        &mut self,
        value: &'a ast::Expr,
        cases: &'a [(ast::Expr, Option<ast::Stmt>)],
        place: &Place,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let table = match &value.kind {
            Written::Member(left, name) if &**name == "action_run" => match &left.kind {
                Written::Call(callee, ..) => self.applied_table(callee)?,
                _ => None,
            },
            _ => None,
        };
        let Some(table) = table else {
            let what = "`switch` is supported for `table.apply().action_run` only: write `if`";
            return Err(Error::new(place, what));
        };
        let mut bodies = Vec::new();
        for (i, (label, body)) in cases.iter().enumerate() {
            // A label without a block has that of the next one.
            let body = body
                .as_ref()
                .or_else(|| cases[i..].iter().find_map(|(_, b)| b.as_ref()));
            let body = match body {
                Some(body) => self.block(std::slice::from_ref(body))?,
                None => Vec::new(),
            };
            let action = match &label.kind {
                Written::Any => usize::MAX,
                Written::Name(name) => match self.named(name, &label.place)? {
                    Bound::Action(action) => action,
                    _ => return Err(Error::new(&label.place, format!("`{name}` is no action"))),
                },
                _ => return Err(Error::new(&label.place, "the name of an action is needed")),
            };
            bodies.push((action, body));
        }
        out.push(at(place, StmtKind::Apply(table, bodies)));
        Ok(())
    }

    /// A declaration in a block, a control or a parser, or outside of all.
    pub(super) fn local(&mut self, decl: &'a Decl, out: &mut Vec<Stmt>) -> Result<()> {
        let (name, place) = (&decl.name, &decl.place);
        match &decl.kind {
            DeclKind::Const(ty, value) => {
                let ty = self.ty(ty)?;
                let bound = match self.value(value, Some(&ty))? {
                    Value::Integer(n) if ty == Ty::Integer => Value::Integer(n),
                    value => {
                        let value = self.coerce(value, &ty, &value_place(decl))?;
                        let bits = crate::run::fold(&value).ok_or_else(|| {
                            Error::new(place, "a constant must be known before the program runs")
                        })?;
                        Value::typed(&ty, ExprKind::Constant(bits), place)
                    }
                };
                self.bind(name, place, Bound::Constant(bound))?;
            }
            DeclKind::Variable(ty, value) => {
                let ty = self.ty(ty)?;
                let var = self.var(&self.path(name), &ty, place)?;
                if let Some(value) = value {
                    match &var {
                        Var::Scalar(slot, _) if self.is_effect(value) => {
                            self.call(value, Some(*slot), out)?;
                        }
                        _ => {
                            let value = self.value(value, Some(&ty))?;
                            self.copy(&var, value, place, out)?;
                        }
                    }
                }
                self.bind(name, place, Bound::Var(var))?;
            }
            DeclKind::Header(fields) => {
                Self::members_differ(name, fields.iter().map(|(n, _)| n), place)?;
                self.declare_type(name, TypeDef::Header(fields.clone()));
            }
            DeclKind::Struct(fields) => {
                Self::members_differ(name, fields.iter().map(|(n, _)| n), place)?;
                self.declare_type(name, TypeDef::Struct(fields.clone()));
            }
            DeclKind::Union => self.declare_type(name, TypeDef::Unsupported("a header union")),
            DeclKind::Enum(names) => {
                Self::members_differ(name, names.iter(), place)?;
                self.declare_type(name, TypeDef::Enum(names.clone()));
            }
            DeclKind::ValueEnum(ty, values) => {
                Self::members_differ(name, values.iter().map(|(n, _)| n), place)?;
                let ty = self.ty(ty)?;
                let mut all = Vec::new();
                for (name, value) in values {
                    all.push((name.clone(), self.constant(value, &ty)?));
                }
                self.declare_type(name, TypeDef::ValueEnum(ty, all));
            }
            DeclKind::Typedef(ty) => {
                let of = self.ty(ty)?;
                self.declare_type(name, TypeDef::Alias(of));
            }
            DeclKind::Names(names) if &**name == "error" => self.declare_errors(names, place)?,
            DeclKind::Names(_) => {}
            DeclKind::Extern => self.declare_type(name, TypeDef::Extern),
            DeclKind::ExternFunction => self.bind(name, place, Bound::Function)?,
            DeclKind::Package(_) => {
                let what = "a package is declared outside of all blocks";
                return Err(Error::new(place, what));
            }
            DeclKind::Parser(..) | DeclKind::Control(..) => {
                return Err(Error::new(place, "a parser or a control within another"));
            }
            DeclKind::Action(params, body) => self.action(decl, params, body)?,
            DeclKind::Function(..) => {
                let what = "a function is not supported: write an action";
                return Err(Error::new(place, what));
            }
            DeclKind::Table(table) => self.table(decl, table)?,
            DeclKind::Instance(ty, args, functions) => self.instance(decl, ty, args, functions)?,
            DeclKind::ValueSet => return Err(Error::new(place, "a value set is not supported")),
        }
        Ok(())
    }

    fn action(
        &mut self,
        decl: &'a Decl,
        params: &'a [ast::Param],
        body: &'a [ast::Stmt],
    ) -> Result<()> {
        let name = self.path(&decl.name);
        self.scopes.push(BTreeMap::new());
        let outer = std::mem::replace(&mut self.prefix, name.clone());
        let mut slots = Vec::new();
        for param in params {
            if matches!(param.direction, ast::Direction::Out | ast::Direction::InOut) {
                let what = "`out` of an action is not supported: set a variable of the control";
                return Err(Error::new(&param.ty.place, what));
            }
            let var = self.fresh_param(param)?;
            let Var::Scalar(slot, _) = var else {
                let what = "a parameter of an action has one value";
                return Err(Error::new(&param.ty.place, what));
            };
            slots.push(slot);
            self.bind(&param.name, &param.ty.place, Bound::Read(var))?;
        }
        let body = self.block(body);
        self.prefix = outer;
        self.scopes.pop();
        self.out.actions.push(Action {
            name,
            params: slots,
            body: body?,
        });
        let index = self.out.actions.len() - 1;
        self.bind(&decl.name, &decl.place, Bound::Action(index))
    }

    /// The table whose `apply` this is.
    pub(super) fn applied_table(&mut self, callee: &ast::Expr) -> Result<Option<usize>> {
        let Written::Member(left, method) = &callee.kind else {
            return Ok(None);
        };
        let Written::Name(name) = &left.kind else {
            return Ok(None);
        };
        if &**method != "apply" {
            return Ok(None);
        }
        Ok(match self.named(name, &left.place)? {
            Bound::Table(table) => Some(table),
            _ => None,
        })
    }
}

fn value_place(decl: &Decl) -> Place {
    match &decl.kind {
        DeclKind::Const(_, value) => value.place.clone(),
        _ => decl.place.clone(),
    }
}
