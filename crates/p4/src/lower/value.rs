// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of expressions, before they have to be one number.

use super::types::{Ty, Var};
use crate::error::Place;
use crate::ir::{Expr, ExprKind};

#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A whole number without a width.
    Integer(i128),
    /// A typed expression.
    Typed(Expr, Ty),
    Var(Var),
    List(Vec<(Value, Place)>),
    Text,
}

/// An expression of a type with one value.
pub(super) fn typed(ty: &Ty, kind: ExprKind, place: &Place) -> Expr {
    let (width, signed) = ty.scalar().expect("a scalar");
    Expr {
        width,
        signed,
        kind,
        place: place.clone(),
    }
}

impl Value {
    pub fn typed(ty: &Ty, kind: ExprKind, place: &Place) -> Value {
        Value::Typed(typed(ty, kind, place), ty.clone())
    }

    pub fn shown(&self) -> String {
        match self {
            Value::Integer(n) => n.to_string(),
            Value::Typed(_, ty) => ty.to_string(),
            Value::Var(var) => var.ty().to_string(),
            Value::List(_) => "a list".to_owned(),
            Value::Text => "string".to_owned(),
        }
    }
}
