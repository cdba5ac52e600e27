// SPDX-License-Identifier: MIT OR Apache-2.0
//! Types, and variables of them.

use super::Lower;
use crate::ast::{Name, Type, TypeKind};
use crate::error::{Error, Place, Result};
use crate::ir::{Header, Slot};

/// Structures within each other, and variables with all their members.
const NESTED: u32 = 30;
const MEMBERS: u32 = 100_000;

/// A type that the program declares.
#[derive(Clone, Debug)]
pub(super) enum TypeDef {
    Header(Vec<(Name, Type)>),
    Struct(Vec<(Name, Type)>),
    Enum(Vec<Name>),
    ValueEnum(Ty, Vec<(Name, u128)>),
    Alias(Ty),
    Extern,
    Package,
    /// Declared, but no variable of it can be had here.
    Unsupported(&'static str),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ty {
    Bit(u32),
    Int(u32),
    Bool,
    /// A whole number without a width.
    Integer,
    Enum(Name),
    Struct(Name),
    Header(Name),
    Packet,
    Text,
    Void,
    /// `_`
    Any,
    Extern(Name),
}

impl Ty {
    /// Width and sign of a type that has one value.
    pub fn scalar(&self) -> Option<(u32, bool)> {
        match self {
            Ty::Bit(width) => Some((*width, false)),
            Ty::Int(width) => Some((*width, true)),
            Ty::Bool => Some((1, false)),
            Ty::Enum(_) => Some((32, false)),
            _ => None,
        }
    }
}

impl std::fmt::Display for Ty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ty::Bit(width) => write!(f, "bit<{width}>"),
            Ty::Int(width) => write!(f, "int<{width}>"),
            Ty::Bool => f.write_str("bool"),
            Ty::Integer => f.write_str("int"),
            Ty::Enum(name) | Ty::Struct(name) | Ty::Header(name) | Ty::Extern(name) => {
                f.write_str(name)
            }
            Ty::Packet => f.write_str("a packet"),
            Ty::Text => f.write_str("string"),
            Ty::Void => f.write_str("void"),
            Ty::Any => f.write_str("_"),
        }
    }
}

/// A variable: a scalar, or the members of a structure.
#[derive(Clone, Debug)]
pub(super) enum Var {
    Scalar(Slot, Ty),
    Struct(Name, Vec<(Name, Var)>),
    Header(Name, usize, Vec<(Name, Var)>),
    Packet,
}

impl Var {
    pub fn ty(&self) -> Ty {
        match self {
            Var::Scalar(_, ty) => ty.clone(),
            Var::Struct(name, _) => Ty::Struct(name.clone()),
            Var::Header(name, ..) => Ty::Header(name.clone()),
            Var::Packet => Ty::Packet,
        }
    }

    /// Every scalar in it, in order.
    pub fn slots(&self) -> Vec<Slot> {
        match self {
            Var::Scalar(slot, _) => vec![*slot],
            Var::Struct(_, members) | Var::Header(_, _, members) => {
                members.iter().flat_map(|(_, v)| v.slots()).collect()
            }
            Var::Packet => Vec::new(),
        }
    }

    /// Every header in it, in order.
    pub fn headers(&self) -> Vec<usize> {
        match self {
            Var::Header(_, index, _) => vec![*index],
            Var::Struct(_, members) => members.iter().flat_map(|(_, v)| v.headers()).collect(),
            _ => Vec::new(),
        }
    }
}

impl Lower<'_> {
    /// The name of a type parameter of a parser or a control. The parser of the source has refused
    /// names that are no types, so that one which is not declared is a parameter.
    pub(super) fn type_parameter(&self, ty: &Type) -> Option<Name> {
        match &ty.kind {
            TypeKind::Named(name, args) if args.is_empty() && !self.types.contains_key(name) => {
                Some(name.clone())
            }
            _ => None,
        }
    }

    /// Refuses type arguments that are more or fewer than the type has parameters.
    pub(super) fn type_args(&self, ty: &Type) -> Result<()> {
        let TypeKind::Named(name, args) = &ty.kind else {
            return Ok(());
        };
        let wants = self.generics.get(name).copied().unwrap_or(0);
        if args.is_empty() || args.len() == wants {
            return Ok(());
        }
        let what = format!("`{name}` has {wants} type parameters, came {}", args.len());
        Err(Error::new(&ty.place, what))
    }

    pub(super) fn ty(&mut self, ty: &Type) -> Result<Ty> {
        self.type_args(ty)?;
        let refuse = |what: &str| Err(Error::new(&ty.place, format!("{what} is not supported")));
        Ok(match &ty.kind {
            TypeKind::Bit(width) => Ty::Bit(self.width(width)?),
            TypeKind::Int(width) => Ty::Int(self.width(width)?),
            TypeKind::Integer => Ty::Integer,
            TypeKind::Bool => Ty::Bool,
            TypeKind::Void => Ty::Void,
            TypeKind::Text => Ty::Text,
            TypeKind::Any => Ty::Any,
            TypeKind::Varbit => return refuse("`varbit`"),
            TypeKind::Error => Ty::Enum("error".into()),
            TypeKind::Tuple => return refuse("a tuple"),
            TypeKind::Stack => return refuse("a stack of headers"),
            TypeKind::Named(name, _) => match self.types.get(name) {
                Some(TypeDef::Header(_)) => Ty::Header(name.clone()),
                Some(TypeDef::Struct(_)) => Ty::Struct(name.clone()),
                Some(TypeDef::Enum(_)) => Ty::Enum(name.clone()),
                Some(TypeDef::ValueEnum(ty, _) | TypeDef::Alias(ty)) => ty.clone(),
                Some(TypeDef::Extern) if &**name == "packet_in" || &**name == "packet_out" => {
                    Ty::Packet
                }
                Some(TypeDef::Extern | TypeDef::Package) => Ty::Extern(name.clone()),
                Some(TypeDef::Unsupported(what)) => return refuse(what),
                None => {
                    let what = format!("there is no type `{name}`");
                    return Err(Error::new(&ty.place, what));
                }
            },
        })
    }

    fn width(&mut self, width: &crate::ast::Expr) -> Result<u32> {
        let value = self.constant(width, &Ty::Integer)?;
        match u32::try_from(value) {
            Ok(width @ 1..=128) => Ok(width),
            _ => Err(Error::new(
                &width.place,
                format!("a width of {value} bits is not supported: 1 to 128"),
            )),
        }
    }

    /// A new variable. `path` is its name.
    pub(super) fn var(&mut self, path: &str, ty: &Ty, place: &Place) -> Result<Var> {
        self.members += 1;
        if self.nested == NESTED || self.members > MEMBERS {
            let what = format!(
                "structures within structures: more than {NESTED}, or more than {MEMBERS} members"
            );
            return Err(Error::new(place, what));
        }
        self.nested += 1;
        let var = self.whole_var(path, ty, place);
        self.nested -= 1;
        var
    }

    fn whole_var(&mut self, path: &str, ty: &Ty, place: &Place) -> Result<Var> {
        if ty.scalar().is_some() {
            let slot = self.slot(path.to_owned(), ty);
            return Ok(Var::Scalar(slot, ty.clone()));
        }
        match ty {
            Ty::Packet => Ok(Var::Packet),
            Ty::Struct(name) | Ty::Header(name) => {
                let (fields, is_header) = match self.types.get(name) {
                    Some(TypeDef::Header(fields)) => (fields.clone(), true),
                    Some(TypeDef::Struct(fields)) => (fields.clone(), false),
                    _ => unreachable!("a structure's type has fields"),
                };
                let mut members = Vec::new();
                for (field, ty) in &fields {
                    let inner = self.ty(ty)?;
                    let var = self.var(&format!("{path}.{field}"), &inner, &ty.place)?;
                    members.push((field.clone(), var));
                }
                if !is_header {
                    return Ok(Var::Struct(name.clone(), members));
                }
                let slots = members.iter().flat_map(|(_, v)| v.slots());
                let bits: u32 = slots.map(|slot| self.out.fields[slot].width).sum();
                if !bits.is_multiple_of(8) {
                    let what = format!("the header `{name}` has {bits} bits, no whole bytes");
                    return Err(Error::new(place, what));
                }
                self.out.headers.push(Header {
                    name: path.to_owned(),
                    type_name: name.to_string(),
                    fields: members.iter().flat_map(|(_, v)| v.slots()).collect(),
                });
                let index = self.out.headers.len() - 1;
                Ok(Var::Header(name.clone(), index, members))
            }
            _ => Err(Error::new(
                place,
                format!("a variable of type {ty} is not supported"),
            )),
        }
    }

    /// More members of `error`.
    pub(super) fn declare_errors(&mut self, names: &[Name], place: &Place) -> Result<()> {
        let known = self.types.entry("error".into());
        let TypeDef::Enum(known) = known.or_insert_with(|| TypeDef::Enum(Vec::new())) else {
            unreachable!("no type can be called `error`")
        };
        for name in names {
            if known.contains(name) {
                let what = format!("`error.{name}` is declared already");
                return Err(Error::new(place, what));
            }
            known.push(name.clone());
        }
        Ok(())
    }

    /// Refuses members of a type that share a name.
    pub(super) fn members_differ<'n>(
        of: &Name,
        names: impl Iterator<Item = &'n Name>,
        place: &Place,
    ) -> Result<()> {
        let mut seen = std::collections::BTreeSet::new();
        for name in names {
            if !seen.insert(name) {
                let what = format!("`{of}` has two members `{name}`");
                return Err(Error::new(place, what));
            }
        }
        Ok(())
    }

    pub(super) fn declare_type(&mut self, name: &Name, def: TypeDef) {
        self.types.insert(name.clone(), def);
    }
}
