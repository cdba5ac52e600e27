// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads tokens as a program, by the grammar of P4_16 1.2.

mod block;
mod decl;
mod expr;
mod limits;
mod stmt;

use std::collections::BTreeSet;

use crate::ast::{Decl, Expr, ExprKind, Name, Type, TypeKind};
use crate::error::{Error, Place, Result};
use crate::lex::{Kind, Token};

/// Words that cannot name anything.
const RESERVED: &[&str] = &[
    "abstract",
    "action",
    "apply",
    "bit",
    "bool",
    "const",
    "control",
    "default",
    "else",
    "enum",
    "error",
    "exit",
    "extern",
    "false",
    "header",
    "header_union",
    "if",
    "in",
    "inout",
    "int",
    "match_kind",
    "out",
    "package",
    "parser",
    "return",
    "select",
    "state",
    "string",
    "struct",
    "switch",
    "table",
    "this",
    "transition",
    "true",
    "tuple",
    "typedef",
    "varbit",
    "void",
];

pub(crate) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    end: Place,
    /// Names that are types: `(name) value` is a cast only if the name is one of them.
    types: BTreeSet<Name>,
    /// Type parameters of the declarations that are being read.
    generics: Vec<Name>,
    limits: limits::Limits,
}

/// The declarations of a program, those of included files before its own.
pub(crate) fn program(tokens: Vec<Token>) -> Result<Vec<Decl>> {
    let end = tokens.last().map(|t| t.place.clone()).unwrap_or_default();
    let mut parser = Parser {
        limits: limits::Limits::of(tokens.len()),
        tokens,
        at: 0,
        end,
        types: BTreeSet::new(),
        generics: Vec::new(),
    };
    let mut decls = Vec::new();
    while parser.at < parser.tokens.len() {
        if !parser.eat(";") {
            decls.push(parser.decl()?);
        }
    }
    Ok(decls)
}

impl Parser {
    fn kind(&self, ahead: usize) -> Option<&Kind> {
        self.tokens.get(self.at + ahead).map(|t| &t.kind)
    }

    fn place(&self) -> Place {
        let token = self.tokens.get(self.at);
        token.map_or_else(|| self.end.clone(), |t| t.place.clone())
    }

    fn shown(&self) -> String {
        match self.kind(0) {
            None => "the end of the file".to_owned(),
            Some(Kind::Word(w)) => format!("`{w}`"),
            Some(Kind::Number(n)) => format!("`{}`", n.value),
            Some(Kind::Text(t)) => format!("\"{t}\""),
            Some(Kind::Sign(s)) => format!("`{s}`"),
            Some(Kind::Directive(d)) => format!("`#{d}`"),
        }
    }

    fn wants<T>(&self, what: &str) -> Result<T> {
        let came = self.shown();
        Err(Error::new(
            &self.place(),
            format!("wants {what}, came {came}"),
        ))
    }

    fn sees(&self, text: &str) -> bool {
        self.sees_at(0, text)
    }

    fn sees_at(&self, ahead: usize, text: &str) -> bool {
        match self.kind(ahead) {
            Some(Kind::Sign(s)) => *s == text,
            Some(Kind::Word(w)) => &**w == text,
            _ => false,
        }
    }

    fn eat(&mut self, text: &str) -> bool {
        let sees = self.sees(text);
        self.at += usize::from(sees);
        sees
    }

    fn want(&mut self, text: &str) -> Result<()> {
        if self.eat(text) {
            return Ok(());
        }
        self.wants(&format!("`{text}`"))
    }

    /// A word that is not reserved. `apply`, `state` and their like can name fields.
    fn name(&mut self) -> Result<Name> {
        match self.kind(0) {
            Some(Kind::Word(w)) if !RESERVED.contains(&&**w) || may_name(w) => {
                let name = w.clone();
                self.at += 1;
                Ok(name)
            }
            _ => self.wants("a name"),
        }
    }

    /// `@name(…)` and `@name[…]` say nothing that changes what a program does. Whether one of them
    /// is `@optional`.
    fn annotations(&mut self) -> Result<bool> {
        let mut optional = false;
        while self.eat("@") {
            optional |= self.sees("optional");
            self.at += 1;
            for (open, close) in [("(", ")"), ("[", "]")] {
                if self.sees(open) {
                    self.skip(open, close)?;
                    break;
                }
            }
        }
        Ok(optional)
    }

    /// Skips to the bracket that belongs to the one that is seen.
    fn skip(&mut self, open: &str, close: &str) -> Result<()> {
        let begin = self.place();
        let mut depth = 0;
        loop {
            if self.kind(0).is_none() {
                let what = format!("this `{open}` has no `{close}`");
                return Err(Error::new(&begin, what));
            }
            if self.sees(open) {
                depth += 1;
            } else if self.sees(close) {
                depth -= 1;
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn is_type(&self) -> bool {
        match self.kind(0) {
            Some(Kind::Word(w)) => {
                let own = [
                    "bit", "int", "bool", "varbit", "tuple", "error", "void", "string", "_",
                ];
                own.contains(&&**w) || self.types.contains(w)
            }
            _ => false,
        }
    }

    fn ty(&mut self) -> Result<Type> {
        self.within(Self::whole_type)
    }

    fn whole_type(&mut self) -> Result<Type> {
        let place = self.place();
        let mut kind = self.base_type()?;
        let mut chain = 0;
        while self.sees("[") {
            self.longer(&mut chain)?;
            self.at += 1;
            self.expr()?;
            self.want("]")?;
            kind = TypeKind::Stack;
        }
        Ok(Type { place, kind })
    }

    fn base_type(&mut self) -> Result<TypeKind> {
        for word in ["bit", "int", "varbit"] {
            if !self.eat(word) {
                continue;
            }
            if !self.eat("<") {
                return match word {
                    "int" => Ok(TypeKind::Integer),
                    "bit" => Ok(TypeKind::Bit(Box::new(self.literal(1)))),
                    _ => self.wants("`<`"),
                };
            }
            let width = if self.eat("(") {
                let width = self.expr()?;
                self.want(")")?;
                width
            } else {
                self.primary()?
            };
            self.want(">")?;
            let width = Box::new(width);
            return Ok(match word {
                "bit" => TypeKind::Bit(width),
                "int" => TypeKind::Int(width),
                _ => TypeKind::Varbit,
            });
        }
        for (word, kind) in [
            ("bool", TypeKind::Bool),
            ("void", TypeKind::Void),
            ("error", TypeKind::Error),
            ("string", TypeKind::Text),
            ("_", TypeKind::Any),
        ] {
            if self.eat(word) {
                return Ok(kind);
            }
        }
        if self.eat("tuple") {
            self.type_args()?;
            return Ok(TypeKind::Tuple);
        }
        let dot = self.sees(".");
        self.at += usize::from(dot);
        let place = self.place();
        let name = self.name()?;
        if !self.types.contains(&name) {
            let what = format!("there is no type `{name}` so far");
            return Err(Error::new(&place, what));
        }
        let args = match self.sees("<") {
            true => self.type_args()?,
            false => Vec::new(),
        };
        Ok(TypeKind::Named(name, args))
    }

    /// `<bit<32>, _>`
    fn type_args(&mut self) -> Result<Vec<Type>> {
        self.want("<")?;
        let mut args = vec![self.ty()?];
        while self.eat(",") {
            args.push(self.ty()?);
        }
        self.want(">")?;
        Ok(args)
    }

    fn literal(&self, value: u128) -> Expr {
        let number = crate::lex::Number { value, width: None };
        Expr {
            place: self.place(),
            kind: ExprKind::Number(number),
        }
    }
}

/// Reserved words that the grammar allows as names.
fn may_name(word: &str) -> bool {
    matches!(word, "apply" | "state")
}
