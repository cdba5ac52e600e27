// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expressions: names, types, operators.

use super::types::{Ty, TypeDef, Var};
use super::value::{Value, typed};
use super::{Bound, Lower};
use crate::ast::{self, ExprKind as Written, Name};
use crate::error::{Error, Place, Result};
use crate::ir::{Expr, ExprKind, Unary};
use crate::run::fold;

impl Lower<'_> {
    /// An expression as one number of a type.
    pub(super) fn scalar(&mut self, e: &ast::Expr, want: &Ty) -> Result<Expr> {
        let value = self.value(e, Some(want))?;
        self.coerce(value, want, &e.place)
    }

    /// An expression as one number of its own type.
    pub(super) fn any_scalar(&mut self, e: &ast::Expr) -> Result<(Expr, Ty)> {
        number(self.value(e, None)?, &e.place)
    }

    /// A number that is known now.
    pub(super) fn constant(&mut self, e: &ast::Expr, want: &Ty) -> Result<u128> {
        let value = self.value(e, Some(want))?;
        if let (Value::Integer(n), Ty::Integer) = (&value, want) {
            return Ok(*n as u128);
        }
        let known = match (&value, want) {
            (Value::Typed(expr, _), Ty::Integer) => fold(expr),
            _ => fold(&self.coerce(value, want, &e.place)?),
        };
        known.ok_or_else(|| Error::new(&e.place, "this is not known before the program runs"))
    }

    /// The member of an enum that an expression names.
    pub(super) fn member_of(&mut self, of: &str, e: &ast::Expr) -> Result<Name> {
        let value = self.value(e, None)?;
        if let (Value::Typed(expr, Ty::Enum(ty)), Some(TypeDef::Enum(names))) =
            (&value, self.types.get(of))
            && **ty == *of
            && let Some(name) = fold(expr).and_then(|index| names.get(index as usize))
        {
            return Ok(name.clone());
        }
        let what = format!("wants a {of}, came {}", value.shown());
        Err(Error::new(&e.place, what))
    }

    /// Gives a value the type that is wanted, or says why it cannot have it.
    pub(super) fn coerce(&self, value: Value, want: &Ty, place: &Place) -> Result<Expr> {
        match value {
            Value::Integer(n) => {
                let Some((width, signed)) = want.scalar() else {
                    let what = format!("wants {want}, came the number {n}");
                    return Err(Error::new(place, what));
                };
                if matches!(want, Ty::Bool) {
                    let what = format!("wants bool, came the number {n}");
                    return Err(Error::new(place, what));
                }
                let fits = width == 128
                    || match signed {
                        true => (-(1 << (width - 1))..1 << (width - 1)).contains(&n),
                        false => n >= 0 && n >> width == 0,
                    };
                if !fits {
                    return Err(Error::new(place, format!("{n} does not fit into {want}")));
                }
                let bits = crate::run::mask(n as u128, width);
                Ok(typed(want, ExprKind::Constant(bits), place))
            }
            Value::Var(Var::Scalar(slot, ty)) => {
                let value = Value::typed(&ty, ExprKind::Field(slot), place);
                self.coerce(value, want, place)
            }
            Value::Typed(expr, ty) if ty == *want => Ok(expr),
            other => Err(Error::new(
                place,
                format!("wants {want}, came {}: write a cast", other.shown()),
            )),
        }
    }

    /// An expression. `want` gives numbers without a width their type.
    pub(super) fn value(&mut self, e: &ast::Expr, want: Option<&Ty>) -> Result<Value> {
        let place = &e.place;
        match &e.kind {
            Written::Number(number) => Ok(match number.width {
                None => Value::Integer(number.value as i128),
                Some((width, signed)) => {
                    if !(1..=128).contains(&width) {
                        let what = format!("a width of {width} bits is not supported: 1 to 128");
                        return Err(Error::new(place, what));
                    }
                    let ty = if signed {
                        Ty::Int(width)
                    } else {
                        Ty::Bit(width)
                    };
                    let expr = self.coerce(Value::Integer(number.value as i128), &ty, place)?;
                    Value::Typed(expr, ty)
                }
            }),
            Written::Bool(b) => {
                let kind = ExprKind::Constant(u128::from(*b));
                Ok(Value::typed(&Ty::Bool, kind, place))
            }
            Written::Text => Ok(Value::Text),
            Written::Name(name) => match self.named(name, place)? {
                Bound::Var(var) | Bound::Read(var) => Ok(Value::Var(var)),
                Bound::Constant(value) => Ok(value),
                _ => Err(Error::new(place, format!("`{name}` is no value"))),
            },
            Written::Member(left, name) => self.member(left, name, place),
            Written::Slice(left, hi, lo) => self.slice(left, hi, lo, place),
            Written::Unary(sign, inner) => self.unary(sign, inner, want, place),
            Written::Binary(sign, left, right) => self.binary(sign, left, right, want, place),
            Written::Choose(condition, yes, no) => {
                let condition = self.scalar(condition, &Ty::Bool)?;
                let values = (self.value(yes, want)?, self.value(no, want)?);
                let (yes, no, ty) = self.same(values, (yes, no), want, place)?;
                let kind = ExprKind::Choose(Box::new(condition), Box::new(yes), Box::new(no));
                Ok(Value::typed(&ty, kind, place))
            }
            Written::Cast(ty, inner) => self.cast(ty, inner, place),
            Written::List(items) => self.list(items.iter(), want),
            Written::Record(fields) => {
                let members = self.members(want);
                let item = |(member, _): &(Name, _)| {
                    let field = fields.iter().find(|(name, _)| name == member);
                    field.map(|(_, item)| item)
                };
                let items: Option<Vec<&ast::Expr>> = members.iter().map(item).collect();
                let what = "a record has each member of its type once";
                let items = items
                    .filter(|items| items.len() == fields.len())
                    .ok_or_else(|| Error::new(place, what))?;
                self.list(items.into_iter(), want)
            }
            Written::Call(callee, args) => self.call_value(callee, args, place),
            Written::Index(..) => Err(Error::new(place, "an index is not supported")),
            Written::Make(..) => Err(Error::new(place, "an instance is no value")),
            Written::Mask(..) | Written::Range(..) | Written::Any => {
                Err(Error::new(place, "a pattern is no value"))
            }
        }
    }

    /// The members of a structure, none of other types.
    fn members(&self, of: Option<&Ty>) -> Vec<(Name, ast::Type)> {
        match of {
            Some(Ty::Struct(name) | Ty::Header(name)) => match self.types.get(name) {
                Some(TypeDef::Struct(fields) | TypeDef::Header(fields)) => fields.clone(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn list<'e>(
        &mut self,
        items: impl Iterator<Item = &'e ast::Expr>,
        want: Option<&Ty>,
    ) -> Result<Value> {
        let members = self.members(want);
        let mut all = Vec::new();
        for (i, item) in items.enumerate() {
            let ty = match members.get(i) {
                Some((_, ty)) => Some(self.ty(ty)?),
                None => None,
            };
            all.push((self.value(item, ty.as_ref())?, item.place.clone()));
        }
        Ok(Value::List(all))
    }

    fn member(&mut self, left: &ast::Expr, name: &str, place: &Place) -> Result<Value> {
        // A member of an enum.
        if let Written::Name(ty) = &left.kind {
            match self.types.get(ty) {
                Some(TypeDef::Enum(names)) => {
                    let index = names.iter().position(|n| &**n == name);
                    let index =
                        index.ok_or_else(|| Error::new(place, format!("{ty} has no `{name}`")))?;
                    let kind = ExprKind::Constant(index as u128);
                    return Ok(Value::typed(&Ty::Enum(ty.clone()), kind, place));
                }
                Some(TypeDef::ValueEnum(own, values)) => {
                    let value = values.iter().find(|(n, _)| &**n == name);
                    let (_, value) =
                        value.ok_or_else(|| Error::new(place, format!("{ty} has no `{name}`")))?;
                    return Ok(Value::typed(own, ExprKind::Constant(*value), place));
                }
                _ => {}
            }
        }
        // `table.apply().hit`
        if let (Written::Call(callee, ..), "hit" | "miss") = (&left.kind, name)
            && let Some(table) = self.applied_table(callee)?
        {
            let hit = typed(&Ty::Bool, ExprKind::Hit(table), place);
            let kind = match name {
                "hit" => hit.kind,
                _ => ExprKind::Unary(Unary::Not, Box::new(hit)),
            };
            return Ok(Value::typed(&Ty::Bool, kind, place));
        }
        match self.value(left, None)? {
            Value::Var(Var::Struct(ty, members) | Var::Header(ty, _, members)) => {
                let found = members.iter().find(|(n, _)| &**n == name);
                let (_, var) = found
                    .ok_or_else(|| Error::new(place, format!("{ty} has no member `{name}`")))?;
                Ok(Value::Var(var.clone()))
            }
            other => {
                let what = format!("{} has no member `{name}`", other.shown());
                Err(Error::new(place, what))
            }
        }
    }

    fn slice(
        &mut self,
        left: &ast::Expr,
        hi: &ast::Expr,
        lo: &ast::Expr,
        place: &Place,
    ) -> Result<Value> {
        let (inner, _) = self.any_scalar(left)?;
        let (hi, lo) = self.bits(inner.width, hi, lo)?;
        let kind = ExprKind::Slice(Box::new(inner), hi, lo);
        Ok(Value::typed(&Ty::Bit(hi - lo + 1), kind, place))
    }

    /// The bounds of a slice.
    pub(super) fn bits(
        &mut self,
        width: u32,
        hi: &ast::Expr,
        lo: &ast::Expr,
    ) -> Result<(u32, u32)> {
        let place = &hi.place;
        let (hi, lo) = (
            self.constant(hi, &Ty::Integer)?,
            self.constant(lo, &Ty::Integer)?,
        );
        if lo > hi || hi >= u128::from(width) {
            let what = format!("[{hi}:{lo}] is not within {width} bits");
            return Err(Error::new(place, what));
        }
        Ok((hi as u32, lo as u32))
    }

    fn unary(
        &mut self,
        sign: &str,
        inner: &ast::Expr,
        want: Option<&Ty>,
        place: &Place,
    ) -> Result<Value> {
        if sign == "!" {
            let inner = Box::new(self.scalar(inner, &Ty::Bool)?);
            return Ok(Value::typed(
                &Ty::Bool,
                ExprKind::Unary(Unary::Not, inner),
                place,
            ));
        }
        let value = self.value(inner, want)?;
        if let Value::Integer(n) = value {
            return Ok(Value::Integer(match sign {
                "-" => n.wrapping_neg(),
                "~" => !n,
                _ => n,
            }));
        }
        let (inner, ty) = number(value, &inner.place)?;
        let operator = match sign {
            "-" => Unary::Negate,
            "~" => Unary::Invert,
            _ => return Ok(Value::Typed(inner, ty)),
        };
        Ok(Value::typed(
            &ty,
            ExprKind::Unary(operator, Box::new(inner)),
            place,
        ))
    }

    /// Two values of one type: a number without a width has the type of the other. Each expression
    /// is resolved once, since what is within it would be twice as often at every level.
    fn same(
        &self,
        (a, b): (Value, Value),
        (left, right): (&ast::Expr, &ast::Expr),
        want: Option<&Ty>,
        place: &Place,
    ) -> Result<(Expr, Expr, Ty)> {
        let ty = match (type_of(&a), type_of(&b)) {
            (Some(ty), _) | (None, Some(ty)) => ty,
            (None, None) => want
                .cloned()
                .filter(|w| w.scalar().is_some())
                .ok_or_else(|| {
                    Error::new(place, "a number here needs a width: write 8w1 for bit<8>")
                })?,
        };
        let a = self.coerce(a, &ty, &left.place)?;
        let b = self.coerce(b, &ty, &right.place)?;
        Ok((a, b, ty))
    }

    fn binary(
        &mut self,
        sign: &'static str,
        left: &ast::Expr,
        right: &ast::Expr,
        want: Option<&Ty>,
        place: &Place,
    ) -> Result<Value> {
        let made = |a: Expr, b: Expr, ty: &Ty| {
            Value::typed(ty, ExprKind::Binary(sign, Box::new(a), Box::new(b)), place)
        };
        match sign {
            "&&" | "||" => {
                let a = self.scalar(left, &Ty::Bool)?;
                let b = self.scalar(right, &Ty::Bool)?;
                return Ok(made(a, b, &Ty::Bool));
            }
            "++" => {
                let ((a, _), (b, _)) = (self.any_scalar(left)?, self.any_scalar(right)?);
                let ty = Ty::Bit(a.width + b.width);
                if a.width + b.width > 128 {
                    return Err(Error::new(place, "more than 128 bits are not supported"));
                }
                return Ok(made(a, b, &ty));
            }
            _ => {}
        }
        let is_comparison = matches!(sign, "==" | "!=" | "<" | ">" | "<=" | ">=");
        let inner_want = if is_comparison { None } else { want };
        let (a, b) = (
            self.value(left, inner_want)?,
            self.value(right, inner_want)?,
        );
        if let (Value::Integer(a), Value::Integer(b)) = (&a, &b) {
            return whole(sign, *a, *b, place);
        }
        if matches!(sign, "<<" | ">>") {
            let ty = match type_of(&a) {
                Some(ty) => ty,
                None => return Err(Error::new(place, "what is shifted needs a width")),
            };
            let a = self.coerce(a, &ty, &left.place)?;
            let by = match type_of(&b) {
                Some(by) => by,
                None => Ty::Bit(32),
            };
            let b = self.coerce(b, &by, &right.place)?;
            return Ok(made(a, b, &ty));
        }
        let (a, b, ty) = self.same((a, b), (left, right), inner_want, place)?;
        if matches!(ty, Ty::Bool) && !matches!(sign, "==" | "!=") {
            return Err(Error::new(place, format!("`{sign}` is not for bool")));
        }
        Ok(match is_comparison {
            true => made(a, b, &Ty::Bool),
            false => made(a, b, &ty),
        })
    }

    fn cast(&mut self, ty: &ast::Type, inner: &ast::Expr, place: &Place) -> Result<Value> {
        let ty = self.ty(ty)?;
        let Some((width, _)) = ty.scalar() else {
            if matches!(ty, Ty::Struct(_) | Ty::Header(_) | Ty::Integer) {
                return self.value(inner, Some(&ty));
            }
            let what = format!("a cast to {ty} is not supported");
            return Err(Error::new(place, what));
        };
        let value = self.value(inner, None)?;
        if let Value::Integer(n) = value {
            let bits = crate::run::mask(n as u128, width);
            return Ok(Value::typed(&ty, ExprKind::Constant(bits), place));
        }
        let (inner, from) = number(value, &inner.place)?;
        let one_bit = matches!(ty, Ty::Bool) == matches!(from, Ty::Bool) || width == inner.width;
        if !one_bit {
            return Err(Error::new(place, format!("{from} cannot be cast to {ty}")));
        }
        Ok(Value::typed(&ty, ExprKind::Cast(Box::new(inner)), place))
    }
}

/// A value that is one number with a type.
fn number(value: Value, place: &Place) -> Result<(Expr, Ty)> {
    match value {
        Value::Typed(expr, ty) => Ok((expr, ty)),
        Value::Var(Var::Scalar(slot, ty)) => Ok((typed(&ty, ExprKind::Field(slot), place), ty)),
        other => Err(Error::new(
            place,
            format!("a number with a width is needed, not {}", other.shown()),
        )),
    }
}

/// The type of a value, unless it is a number without a width.
fn type_of(value: &Value) -> Option<Ty> {
    match value {
        Value::Typed(_, ty) => Some(ty.clone()),
        Value::Var(var) => Some(var.ty()),
        _ => None,
    }
}

/// An operator on two whole numbers without a width.
fn whole(sign: &str, a: i128, b: i128, place: &Place) -> Result<Value> {
    let truth = |b: bool| {
        let kind = ExprKind::Constant(u128::from(b));
        Ok(Value::typed(&Ty::Bool, kind, place))
    };
    let shift = u32::try_from(b).ok();
    let value = match sign {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" => a.checked_div(b),
        "%" => a.checked_rem(b),
        "<<" => shift.and_then(|by| a.checked_shl(by)),
        ">>" => shift.and_then(|by| a.checked_shr(by)),
        "&" => Some(a & b),
        "|" => Some(a | b),
        "^" => Some(a ^ b),
        "==" => return truth(a == b),
        "!=" => return truth(a != b),
        "<" => return truth(a < b),
        ">" => return truth(a > b),
        "<=" => return truth(a <= b),
        ">=" => return truth(a >= b),
        _ => None,
    };
    value
        .map(Value::Integer)
        .ok_or_else(|| Error::new(place, format!("{a} {sign} {b} has no value")))
}
