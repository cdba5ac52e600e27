// SPDX-License-Identifier: MIT OR Apache-2.0
//! Declarations.

use super::Parser;
use crate::ast::{Arg, Decl, DeclKind, Direction, Expr, Name, Param, Type};
use crate::error::{Place, Result};
use crate::lex::Kind;

impl Parser {
    pub(super) fn decl(&mut self) -> Result<Decl> {
        let outer = self.generics.len();
        let decl = self.whole_decl();
        for name in self.generics.drain(outer..) {
            self.types.remove(&name);
        }
        decl
    }

    fn whole_decl(&mut self) -> Result<Decl> {
        self.annotations()?;
        let place = self.place();
        let word = match self.kind(0) {
            Some(Kind::Word(w)) => w.clone(),
            _ => return self.wants("a declaration"),
        };
        match &*word {
            "const" => self.constant(place),
            "header" | "struct" | "header_union" => self.fields(place, &word),
            "enum" => self.enumeration(place),
            "typedef" | "type" if !self.sees_at(1, "(") => self.typedef(place),
            "error" | "match_kind" if self.sees_at(1, "{") => {
                self.at += 1;
                let names = self.names()?;
                self.made(place, word.clone(), DeclKind::Names(names))
            }
            "extern" => self.external(place),
            "package" => {
                self.at += 1;
                let (name, generics) = self.type_name()?;
                let params = self.params()?;
                self.want(";")?;
                self.generic(place, name, generics, DeclKind::Package(params))
            }
            "parser" | "control" => self.block_decl(place, &word),
            "action" => self.action(place),
            "table" => self.table(place),
            "value_set" => self.value_set(place),
            _ => self.function_or_instance(place),
        }
    }

    pub(super) fn made(&self, place: Place, name: Name, kind: DeclKind) -> Result<Decl> {
        self.generic(place, name, Vec::new(), kind)
    }

    /// A declaration with type parameters.
    pub(super) fn generic(
        &self,
        place: Place,
        name: Name,
        generics: Vec<Name>,
        kind: DeclKind,
    ) -> Result<Decl> {
        Ok(Decl {
            place,
            name,
            generics,
            kind,
        })
    }

    /// The name of a new type, and its type parameters.
    pub(super) fn type_name(&mut self) -> Result<(Name, Vec<Name>)> {
        let name = self.name()?;
        self.types.insert(name.clone());
        let generics = self.type_params()?;
        Ok((name, generics))
    }

    fn type_params(&mut self) -> Result<Vec<Name>> {
        let mut all = Vec::new();
        if !self.eat("<") {
            return Ok(all);
        }
        loop {
            let name = self.name()?;
            self.type_parameter(name.clone());
            all.push(name);
            if !self.eat(",") {
                self.want(">")?;
                return Ok(all);
            }
        }
    }

    fn type_parameter(&mut self, name: Name) {
        if self.types.insert(name.clone()) {
            self.generics.push(name);
        }
    }

    /// `{ A, B }`
    fn names(&mut self) -> Result<Vec<Name>> {
        self.want("{")?;
        let mut all = Vec::new();
        while !self.eat("}") {
            self.annotations()?;
            all.push(self.name()?);
            if !self.eat(",") {
                self.want("}")?;
                break;
            }
        }
        Ok(all)
    }

    fn constant(&mut self, place: Place) -> Result<Decl> {
        self.want("const")?;
        let ty = self.ty()?;
        let name = self.name()?;
        self.want("=")?;
        let value = self.expr()?;
        self.want(";")?;
        self.made(place, name, DeclKind::Const(ty, value))
    }

    fn fields(&mut self, place: Place, word: &str) -> Result<Decl> {
        self.at += 1;
        let (name, generics) = self.type_name()?;
        self.want("{")?;
        let mut fields = Vec::new();
        while !self.eat("}") {
            self.annotations()?;
            let ty = self.ty()?;
            let field = self.name()?;
            self.want(";")?;
            fields.push((field, ty));
        }
        let kind = match word {
            "header" => DeclKind::Header(fields),
            "struct" => DeclKind::Struct(fields),
            _ => DeclKind::Union,
        };
        self.generic(place, name, generics, kind)
    }

    fn enumeration(&mut self, place: Place) -> Result<Decl> {
        self.want("enum")?;
        let ty = match self.sees("bit") || self.sees("int") || self.sees_at(2, "{") {
            true if !self.sees_at(1, "{") => Some(self.ty()?),
            _ => None,
        };
        let (name, _) = self.type_name()?;
        self.want("{")?;
        let (mut names, mut values) = (Vec::new(), Vec::new());
        while !self.eat("}") {
            self.annotations()?;
            let member = self.name()?;
            if self.eat("=") {
                values.push((member, self.expr()?));
            } else {
                names.push(member);
            }
            if !self.eat(",") {
                self.want("}")?;
                break;
            }
        }
        let kind = match ty {
            Some(ty) => DeclKind::ValueEnum(ty, values),
            None => DeclKind::Enum(names),
        };
        self.made(place, name, kind)
    }

    fn typedef(&mut self, place: Place) -> Result<Decl> {
        self.at += 1;
        self.annotations()?;
        // A struct or an enum may be declared here too.
        if ["header", "struct", "enum", "header_union"]
            .iter()
            .any(|w| self.sees(w))
        {
            return self.wants("the name of a type");
        }
        let ty = self.ty()?;
        let name = self.name()?;
        self.types.insert(name.clone());
        self.want(";")?;
        self.made(place, name, DeclKind::Typedef(ty))
    }

    fn external(&mut self, place: Place) -> Result<Decl> {
        self.want("extern")?;
        let named = matches!(self.kind(0), Some(Kind::Word(_)))
            && (self.sees_at(1, "{") || self.sees_at(1, "<"));
        let before = self.at;
        if named && !self.sees("bit") && !self.sees("int") {
            let (name, generics) = self.type_name()?;
            if self.sees("{") {
                self.skip("{", "}")?;
                return self.generic(place, name, generics, DeclKind::Extern);
            }
            self.types.remove(&name);
            self.at = before;
        }
        // A function. Its type may be one of its own type parameters.
        if !self.is_type()
            && let Some(Kind::Word(word)) = self.kind(0)
        {
            let word = word.clone();
            self.type_parameter(word);
        }
        self.ty()?;
        let name = self.name()?;
        self.type_params()?;
        self.skip("(", ")")?;
        self.want(";")?;
        self.made(place, name, DeclKind::ExternFunction)
    }

    pub(super) fn params(&mut self) -> Result<Vec<Param>> {
        self.want("(")?;
        let mut params = Vec::new();
        while !self.eat(")") {
            let optional = self.annotations()?;
            let direction = if self.eat("in") {
                Direction::In
            } else if self.eat("out") {
                Direction::Out
            } else if self.eat("inout") {
                Direction::InOut
            } else {
                Direction::None
            };
            let ty = self.ty()?;
            let name = self.name()?;
            if self.eat("=") {
                self.expr()?;
            }
            params.push(Param {
                optional,
                direction,
                ty,
                name,
            });
            if !self.eat(",") {
                self.want(")")?;
                break;
            }
        }
        Ok(params)
    }

    fn action(&mut self, place: Place) -> Result<Decl> {
        self.want("action")?;
        let name = self.name()?;
        let params = self.params()?;
        let body = self.block()?;
        self.made(place, name, DeclKind::Action(params, body))
    }

    fn value_set(&mut self, place: Place) -> Result<Decl> {
        self.at += 1;
        self.type_args()?;
        self.args()?;
        let name = self.name()?;
        self.want(";")?;
        self.made(place, name, DeclKind::ValueSet)
    }

    /// A function, a variable, or an instance of an extern, a parser, a control or a package.
    fn function_or_instance(&mut self, place: Place) -> Result<Decl> {
        self.eat("abstract");
        let ty = self.ty()?;
        if self.sees("(") {
            let args = self.args()?;
            self.annotations()?;
            let name = self.name()?;
            return self.instance(place, ty, args, name);
        }
        let name = self.name()?;
        if self.sees("<") {
            self.type_params()?;
        }
        if self.sees("(") {
            let params = self.params()?;
            let body = self.block()?;
            return self.made(place, name, DeclKind::Function(params, body));
        }
        let value: Option<Expr> = match self.eat("=") {
            true => Some(self.expr()?),
            false => None,
        };
        self.want(";")?;
        self.made(place, name, DeclKind::Variable(ty, value))
    }

    fn instance(&mut self, place: Place, ty: Type, args: Vec<Arg>, name: Name) -> Result<Decl> {
        let mut functions = Vec::new();
        if self.eat("=") {
            self.want("{")?;
            while !self.eat("}") {
                functions.push(self.within(Self::decl)?);
            }
        }
        self.want(";")?;
        self.made(place, name, DeclKind::Instance(ty, args, functions))
    }
}
