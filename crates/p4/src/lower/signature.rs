// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a parser or a control is what an architecture wants at its place: the parameters of the
//! block are compared with those of the block's type in the architecture's file.

use std::collections::BTreeMap;

use super::Lower;
use super::types::Ty;
use crate::ast::{Arg, Decl, DeclKind, Direction, Expr, Name, Param, Type, TypeKind};
use crate::error::{Error, Place, Result};

/// Types that stand for the type parameters of a package.
pub(super) type Meant = BTreeMap<Name, Ty>;

fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::None => "",
        Direction::In => "in ",
        Direction::Out => "out ",
        Direction::InOut => "inout ",
    }
}

fn params_of(decl: &Decl) -> Option<&[Param]> {
    match &decl.kind {
        DeclKind::Parser(params, ..) | DeclKind::Control(params, ..) => Some(params),
        _ => None,
    }
}

impl<'a> Lower<'a> {
    /// The arguments of a package in the order of its parameters. A parameter that is `@optional`
    /// may have none.
    pub(super) fn arguments(
        &self,
        package: &Name,
        args: &'a [Arg],
        place: &Place,
    ) -> Result<Vec<(&'a Param, &'a Expr)>> {
        let params = self.packages[package];
        if args.len() > params.len() {
            let what = format!("{package} has {} blocks, came {}", params.len(), args.len());
            return Err(Error::new(place, what));
        }
        let mut given: BTreeMap<usize, &'a Expr> = BTreeMap::new();
        for (i, arg) in args.iter().enumerate() {
            let at = match &arg.name {
                None => Some(i),
                Some(name) => params.iter().position(|p| p.name == *name),
            };
            let Some(at) = at else {
                let known: Vec<&str> = params.iter().map(|p| &*p.name).collect();
                let name = arg.name.as_deref().unwrap_or_default();
                let what = format!("{package} has no `{name}`: {}", known.join(", "));
                return Err(Error::new(&arg.value.place, what));
            };
            if given.insert(at, &arg.value).is_some() {
                let what = format!("`{}` of {package} is given twice", params[at].name);
                return Err(Error::new(&arg.value.place, what));
            }
        }
        if let Some((_, missing)) = params
            .iter()
            .enumerate()
            .find(|(i, p)| !p.optional && !given.contains_key(i))
        {
            let what = format!(
                "{package} has {} blocks, came {}: `{}` is missing",
                params.len(),
                args.len(),
                missing.name
            );
            return Err(Error::new(place, what));
        }
        Ok(given.into_iter().map(|(i, e)| (&params[i], e)).collect())
    }

    /// Checks that a block is of the type of a package's parameter.
    pub(super) fn fits(
        &mut self,
        param: &Param,
        block: &Decl,
        place: &Place,
        meant: &mut Meant,
    ) -> Result<()> {
        let TypeKind::Named(of, stand_for) = &param.ty.kind else {
            return Ok(());
        };
        let Some(wanted) = self.blocks.get(of).copied() else {
            return Ok(());
        };
        let (Some(wants), Some(has)) = (params_of(wanted), params_of(block)) else {
            return Ok(());
        };
        let is_parser = |decl: &Decl| matches!(decl.kind, DeclKind::Parser(..));
        let name = &block.name;
        if is_parser(wanted) != is_parser(block) {
            let kind = if is_parser(wanted) {
                "parser"
            } else {
                "control"
            };
            let what = format!(
                "`{}` is the place of a {kind}, which `{name}` is not",
                param.name
            );
            return Err(Error::new(place, what));
        }
        let needed = wants.iter().filter(|p| !p.optional).count();
        if has.len() > wants.len() || has.len() < needed {
            let what = format!(
                "`{name}` has {} parameters, and {of} has {needed} to {}",
                has.len(),
                wants.len()
            );
            return Err(Error::new(place, what));
        }
        // A type parameter of the block's type is one of the package's, or a type.
        let generics: BTreeMap<&Name, &Type> = wanted.generics.iter().zip(stand_for).collect();
        for (i, (want, has)) in wants.iter().zip(has).enumerate() {
            // A block with type parameters of its own takes what comes.
            let own = self.type_parameter(&has.ty).is_some();
            let ty = match own {
                true => None,
                false => Some(self.ty(&has.ty)?),
            };
            let wanted = self.meaning(&want.ty, &generics, meant, ty.as_ref())?;
            let same = want.direction == has.direction && (own || wanted.is_none() || wanted == ty);
            if !same {
                let shown = |ty: Option<Ty>| ty.map_or_else(|| "_".to_owned(), |t| t.to_string());
                let what = format!(
                    "`{name}` is no {of}: its parameter {} is `{}{}`, wanted is `{}{}`",
                    i + 1,
                    word(has.direction),
                    shown(ty),
                    word(want.direction),
                    shown(wanted)
                );
                return Err(Error::new(place, what));
            }
        }
        Ok(())
    }

    /// The type of a parameter of a block's type. `None`: any, and from now on `has`.
    fn meaning(
        &mut self,
        ty: &Type,
        generics: &BTreeMap<&Name, &Type>,
        meant: &mut Meant,
        has: Option<&Ty>,
    ) -> Result<Option<Ty>> {
        let TypeKind::Named(name, _) = &ty.kind else {
            return self.ty(ty).map(Some);
        };
        let Some(stand_for) = generics.get(name) else {
            return self.ty(ty).map(Some);
        };
        let TypeKind::Named(package, _) = &stand_for.kind else {
            return Ok(None);
        };
        match (meant.get(package), has) {
            (Some(ty), _) => Ok(Some(ty.clone())),
            (None, Some(ty)) => {
                meant.insert(package.clone(), ty.clone());
                Ok(None)
            }
            (None, None) => Ok(None),
        }
    }
}
