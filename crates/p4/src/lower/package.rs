// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program as its architecture runs it: which parser, controls and deparser belong together.

use std::collections::BTreeMap;

use super::types::{Ty, Var};
use super::{Bound, Lower};
use crate::ast::{Arg, Decl, DeclKind, Expr, ExprKind as Written, Name, Type, TypeKind};
use crate::error::{Error, Place, Result};
use crate::ir::Gress;

type Package<'a> = (&'a Decl, &'a Type, &'a Vec<Arg>);

/// What a block of a package is.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Parser,
    Control,
    Deparser,
}

/// The blocks of each half of an architecture, in the order of the package's arguments.
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

impl<'a> Lower<'a> {
    pub(super) fn packages(&mut self, packages: &[Package<'a>]) -> Result<()> {
        for (decl, ty, args) in packages {
            let TypeKind::Named(name, _) = &ty.kind else {
                continue;
            };
            // `Switch(pipe) main` only says which pipeline runs.
            if &**name == "Switch" {
                continue;
            }
            let Some(halves) = halves(name) else {
                let what = format!("the package {name} is not supported: Pipeline, V1Switch");
                return Err(Error::new(&ty.place, what));
            };
            let blocks: usize = halves.iter().map(|(_, roles)| roles.len()).sum();
            if args.len() != blocks {
                let what = format!("{name} has {blocks} blocks, came {}", args.len());
                return Err(Error::new(&decl.place, what));
            }
            let mut rest = args.as_slice();
            for (half, roles) in halves {
                let (own, behind) = rest.split_at(roles.len());
                rest = behind;
                self.gress(half, &roles, own)?;
            }
            return Ok(());
        }
        let place = Place {
            file: self.out.file.as_str().into(),
            line: 1,
            column: 1,
        };
        Err(Error::new(
            &place,
            "there is no Pipeline and no V1Switch in this program",
        ))
    }

    fn gress(&mut self, half: &str, roles: &[Role], args: &'a [Arg]) -> Result<()> {
        let mut gress = Gress::default();
        let (first_field, first_header) = (self.out.fields.len(), self.out.headers.len());
        // Blocks share what has the same type.
        let mut shared: BTreeMap<String, Var> = BTreeMap::new();
        // A type parameter is what other blocks have at the same position: headers first, then the
        // user's metadata.
        let mut positions: BTreeMap<usize, Var> = BTreeMap::new();
        for (role, arg) in roles.iter().zip(args) {
            let decl = self.block_named(&arg.value)?;
            self.prefix = half.to_owned();
            let params = match &decl.kind {
                DeclKind::Parser(params, ..) | DeclKind::Control(params, ..) => params,
                _ => unreachable!("a block"),
            };
            let mut scope = BTreeMap::new();
            let mut position = 0;
            for param in params {
                if let Some(name) = self.type_parameter(&param.ty) {
                    let none = || Var::Struct(name, Vec::new());
                    let var = positions.entry(position).or_insert_with(none).clone();
                    scope.insert(param.name.clone(), Bound::Var(var));
                    position += 1;
                    continue;
                }
                let ty = self.ty(&param.ty)?;
                let bound = if ty == Ty::Packet {
                    Bound::Packet
                } else {
                    let key = ty.to_string();
                    if !shared.contains_key(&key) {
                        let var = self.fresh_param(param)?;
                        shared.insert(key.clone(), var);
                    }
                    positions.insert(position, shared[&key].clone());
                    position += 1;
                    Bound::Var(shared[&key].clone())
                };
                scope.insert(param.name.clone(), bound);
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
                    return Err(Error::new(&arg.value.place, what));
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
        let name: Name = match &e.kind {
            Written::Make(ty, _) => match &ty.kind {
                TypeKind::Named(name, _) => name.clone(),
                _ => return Err(Error::new(&e.place, "a parser or a control is needed")),
            },
            Written::Name(name) => name.clone(),
            _ => return Err(Error::new(&e.place, "a parser or a control is needed")),
        };
        match self.named(&name, &e.place)? {
            Bound::Parser(decl) | Bound::Control(decl) => Ok(decl),
            _ => Err(Error::new(
                &e.place,
                format!("`{name}` is no parser and no control"),
            )),
        }
    }
}
