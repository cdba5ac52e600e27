// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program as its architecture runs it: which parser, controls and deparser belong together.

use std::collections::BTreeMap;

use super::signature::Meant;
use super::types::{Ty, Var};
use super::{Bound, Lower};
use crate::ast::{
    Arg, Decl, DeclKind, Direction, Expr, ExprKind as Written, Name, Param, Type, TypeKind,
};
use crate::error::{Error, Place, Result};
use crate::ir::Gress;

type Package<'a> = (&'a Decl, &'a Type, &'a [Arg]);

/// A parser or a control, and where the package names it.
type Block<'a, 'p> = (&'a Decl, &'p Place);

/// Role of a block in a package.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Parser,
    Control,
    Deparser,
}

/// The blocks of each half of an architecture, in the order of the package's parameters.
fn halves(package: &str) -> Option<Vec<(&'static str, Vec<Role>)>> {
    use Role::{Control, Deparser, Parser};
    match package {
        "Pipeline" => Some(vec![
            ("ingress", vec![Parser, Control, Deparser]),
            ("egress", vec![Parser, Control, Deparser]),
        ]),
        "V1Switch" => Some(vec![(
            "switch",
            vec![Parser, Control, Control, Control, Control, Deparser],
        )]),
        _ => None,
    }
}

fn name_of(ty: &Type) -> &Name {
    match &ty.kind {
        TypeKind::Named(name, _) => name,
        _ => unreachable!("a package has a name"),
    }
}

impl<'a> Lower<'a> {
    pub(super) fn packages(&mut self, packages: &[Package<'a>]) -> Result<()> {
        let is_switch = |(_, ty, _): &&Package<'a>| &**name_of(ty) == "Switch";
        let chosen = match packages.iter().find(is_switch) {
            Some((decl, ty, args)) => self.pipeline(packages, name_of(ty), args, &decl.place)?,
            None => packages.first().copied(),
        };
        let Some((decl, ty, args)) = chosen else {
            let place = Place {
                file: self.out.file.as_str().into(),
                line: 1,
                column: 1,
            };
            let what = "there is no Pipeline and no V1Switch in this program";
            return Err(Error::new(&place, what));
        };
        let name = name_of(ty);
        let Some(halves) = halves(name) else {
            let what = format!("the package {name} is not supported: Pipeline, V1Switch");
            return Err(Error::new(&ty.place, what));
        };
        let mut blocks = Vec::new();
        let mut meant = self.meant(ty)?;
        for (param, e) in self.arguments(name, args, &decl.place)? {
            let block = self.block_named(e)?;
            self.fits(param, block, &e.place, &mut meant)?;
            blocks.push((block, &e.place));
        }
        let mut rest = blocks.as_slice();
        for (half, roles) in halves {
            let (own, behind) = rest.split_at(roles.len());
            rest = behind;
            self.gress(half, &roles, own)?;
        }
        Ok(())
    }

    /// The pipeline that `Switch(pipe)` names. All pipes of a switch run one of them.
    fn pipeline(
        &mut self,
        packages: &[Package<'a>],
        switch: &Name,
        args: &'a [Arg],
        place: &Place,
    ) -> Result<Option<Package<'a>>> {
        let mut chosen: Option<Package<'a>> = None;
        for (_, e) in self.arguments(switch, args, place)? {
            let named = match &e.kind {
                Written::Name(name) => packages.iter().find(|(decl, ..)| decl.name == *name),
                _ => None,
            };
            let Some(pipe) = named.filter(|(_, ty, _)| &**name_of(ty) == "Pipeline") else {
                return Err(Error::new(&e.place, "the name of a Pipeline is needed"));
            };
            match chosen {
                Some((first, ..)) if first.name != pipe.0.name => {
                    let what = "pipes with different programs are not supported: name one";
                    return Err(Error::new(&e.place, what));
                }
                _ => chosen = Some(*pipe),
            }
        }
        Ok(chosen)
    }

    /// The types that a package is given in `<>`.
    fn meant(&mut self, ty: &Type) -> Result<Meant> {
        let TypeKind::Named(name, args) = &ty.kind else {
            return Ok(Meant::new());
        };
        let generics = self.package_generics.get(name).cloned().unwrap_or_default();
        let mut meant = Meant::new();
        for (generic, arg) in generics.into_iter().zip(args) {
            match self.ty(arg)? {
                Ty::Any => {}
                ty => {
                    meant.insert(generic, ty);
                }
            }
        }
        Ok(meant)
    }

    fn gress(&mut self, half: &str, roles: &[Role], blocks: &[Block<'a, '_>]) -> Result<()> {
        let mut gress = Gress::default();
        let (first_field, first_header) = (self.out.fields.len(), self.out.headers.len());
        // Blocks share what has the same type.
        let mut shared: BTreeMap<String, Var> = BTreeMap::new();
        // A type parameter is what other blocks have at the same position: headers first, then the
        // user's metadata.
        let mut positions: BTreeMap<usize, Var> = BTreeMap::new();
        for (role, (decl, at)) in roles.iter().zip(blocks) {
            self.prefix = half.to_owned();
            let params = match &decl.kind {
                DeclKind::Parser(params, ..) | DeclKind::Control(params, ..) => params,
                _ => unreachable!("a block"),
            };
            let names = params.iter().map(|p| &p.name);
            Self::members_differ(&decl.name, names, &decl.place)?;
            let bound = |var: Var, param: &Param| match param.direction {
                Direction::In | Direction::None => Bound::Read(var),
                _ => Bound::Var(var),
            };
            let mut scope = BTreeMap::new();
            let mut position = 0;
            for param in params {
                if let Some(name) = self.type_parameter(&param.ty) {
                    let none = || Var::Struct(name, Vec::new());
                    let var = positions.entry(position).or_insert_with(none).clone();
                    scope.insert(param.name.clone(), bound(var, param));
                    position += 1;
                    continue;
                }
                let ty = self.ty(&param.ty)?;
                let whole = if ty == Ty::Packet {
                    Bound::Packet
                } else {
                    let key = ty.to_string();
                    if !shared.contains_key(&key) {
                        let var = self.fresh_param(param)?;
                        if key == "standard_metadata_t" {
                            self.standard = Some(var.clone());
                        }
                        shared.insert(key.clone(), var);
                    }
                    positions.insert(position, shared[&key].clone());
                    position += 1;
                    bound(shared[&key].clone(), param)
                };
                scope.insert(param.name.clone(), whole);
            }
            self.scopes.push(scope);
            match (&decl.kind, role) {
                (DeclKind::Parser(_, _, Some(body)), Role::Parser) => {
                    gress.parser = Some(self.parser_body(&decl.name, body)?);
                }
                (DeclKind::Control(_, _, Some(body)), Role::Control) => {
                    let stmts = self.control_body(body)?;
                    gress.controls.push(stmts);
                }
                (DeclKind::Control(_, _, Some(body)), Role::Deparser) => {
                    gress.deparser = self.control_body(body)?;
                }
                _ => {
                    let what = format!("`{}` is not what is needed here", decl.name);
                    return Err(Error::new(at, what));
                }
            }
            self.scopes.pop();
            self.prefix.clear();
        }
        gress.fresh = (first_field..self.out.fields.len()).collect();
        gress.headers = (first_header..self.out.headers.len()).collect();
        self.out.gresses.push(gress);
        Ok(())
    }

    /// The parser or control that an argument of a package makes.
    fn block_named(&mut self, e: &Expr) -> Result<&'a Decl> {
        let name = match &e.kind {
            Written::Name(name)
            | Written::Make(Type {
                kind: TypeKind::Named(name, _),
                ..
            }) => name,
            _ => return Err(Error::new(&e.place, "a parser or a control is needed")),
        };
        match self.named(name, &e.place)? {
            Bound::Parser(decl) | Bound::Control(decl) => Ok(decl),
            _ => {
                let what = format!("`{name}` is no parser and no control");
                Err(Error::new(&e.place, what))
            }
        }
    }
}
