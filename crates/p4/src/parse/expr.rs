// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expressions.

use super::Parser;
use crate::ast::{Arg, Expr, ExprKind, TypeKind};
use crate::error::{Place, Result};
use crate::lex::Kind;

/// Binary operators from the weakest to the strongest.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["|"],
    &["^"],
    &["&"],
    &["<<", ">>"],
    &["++", "+", "-", "|+|", "|-|"],
    &["*", "/", "%"],
];

fn at(place: Place, kind: ExprKind) -> Expr {
    Expr { place, kind }
}

impl Parser {
    pub(super) fn expr(&mut self) -> Result<Expr> {
        self.within(Self::whole_expr)
    }

    fn whole_expr(&mut self) -> Result<Expr> {
        let condition = self.binary(0)?;
        if !self.eat("?") {
            return Ok(condition);
        }
        let yes = self.expr()?;
        self.want(":")?;
        let no = self.expr()?;
        let place = condition.place.clone();
        let kind = ExprKind::Choose(Box::new(condition), Box::new(yes), Box::new(no));
        Ok(at(place, kind))
    }

    /// A pattern of `select` or of a table's entry.
    pub(super) fn pattern(&mut self) -> Result<Expr> {
        let place = self.place();
        if self.eat("default") || self.eat("_") {
            return Ok(at(place, ExprKind::Any));
        }
        let first = Box::new(self.expr()?);
        if self.eat("&&&") {
            let mask = Box::new(self.expr()?);
            return Ok(at(place, ExprKind::Mask(first, mask)));
        }
        if self.eat("..") {
            let last = Box::new(self.expr()?);
            return Ok(at(place, ExprKind::Range(first, last)));
        }
        Ok(*first)
    }

    fn operator(&self, level: usize) -> Option<(&'static str, usize)> {
        for sign in LEVELS[level] {
            if *sign == ">>" {
                let joined = self.tokens.get(self.at + 1).is_some_and(|t| !t.spaced);
                if self.sees(">") && self.sees_at(1, ">") && joined {
                    return Some((sign, 2));
                }
            } else if self.sees(sign) {
                let shift = *sign == ">"
                    && self.sees_at(1, ">")
                    && self.tokens.get(self.at + 1).is_some_and(|t| !t.spaced);
                if !shift {
                    return Some((sign, 1));
                }
            }
        }
        None
    }

    fn binary(&mut self, level: usize) -> Result<Expr> {
        if level == LEVELS.len() {
            return self.unary();
        }
        let mut left = self.binary(level + 1)?;
        let mut chain = 0;
        while let Some((sign, tokens)) = self.operator(level) {
            self.longer(&mut chain)?;
            self.at += tokens;
            let right = self.binary(level + 1)?;
            let place = left.place.clone();
            left = at(
                place,
                ExprKind::Binary(sign, Box::new(left), Box::new(right)),
            );
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr> {
        let place = self.place();
        for sign in ["!", "~", "-", "+"] {
            if self.eat(sign) {
                let inner = Box::new(self.within(Self::unary)?);
                return Ok(at(place, ExprKind::Unary(sign, inner)));
            }
        }
        if self.sees("(") && self.is_cast() {
            self.at += 1;
            let ty = self.ty()?;
            self.want(")")?;
            let inner = Box::new(self.within(Self::unary)?);
            return Ok(at(place, ExprKind::Cast(ty, inner)));
        }
        let first = self.primary()?;
        self.postfix(first)
    }

    /// Whether the bracket that is seen holds a type.
    fn is_cast(&self) -> bool {
        match self.kind(1) {
            Some(Kind::Word(w)) => match &**w {
                "bit" | "int" | "bool" | "varbit" | "tuple" | "error" => !self.sees_at(2, "."),
                _ => self.types.contains(w) && (self.sees_at(2, ")") || self.sees_at(2, "<")),
            },
            _ => false,
        }
    }

    pub(super) fn primary(&mut self) -> Result<Expr> {
        let place = self.place();
        let kind = match self.kind(0).cloned() {
            Some(Kind::Number(n)) => {
                self.at += 1;
                ExprKind::Number(n)
            }
            Some(Kind::Text(_)) => {
                // Strings beside each other are one.
                while let Some(Kind::Text(_)) = self.kind(0) {
                    self.at += 1;
                }
                ExprKind::Text
            }
            Some(Kind::Sign("(")) => {
                self.at += 1;
                let inner = self.expr()?;
                self.want(")")?;
                return Ok(inner);
            }
            Some(Kind::Sign("{")) => self.list()?,
            Some(Kind::Sign(".")) => {
                self.at += 1;
                ExprKind::Name(self.name()?)
            }
            Some(Kind::Word(word)) => match &*word {
                "true" | "false" => {
                    self.at += 1;
                    ExprKind::Bool(&*word == "true")
                }
                "_" | "default" => {
                    self.at += 1;
                    ExprKind::Any
                }
                "this" | "error" => {
                    self.at += 1;
                    ExprKind::Name(word)
                }
                _ if self.is_type() => return self.instance_or_name(place),
                _ => ExprKind::Name(self.name()?),
            },
            _ => return self.wants("an expression"),
        };
        Ok(at(place, kind))
    }

    /// `Pipe<H>(…)` and `Parser()` make an instance; a type's name alone is a name.
    fn instance_or_name(&mut self, place: Place) -> Result<Expr> {
        let before = self.at;
        let ty = self.ty()?;
        if self.sees("(") {
            self.args()?;
            return Ok(at(place, ExprKind::Make(ty)));
        }
        match ty.kind {
            TypeKind::Named(name, args) if args.is_empty() => Ok(at(place, ExprKind::Name(name))),
            _ => {
                self.at = before;
                self.wants("an expression")
            }
        }
    }

    fn list(&mut self) -> Result<ExprKind> {
        self.want("{")?;
        let is_record = matches!(self.kind(0), Some(Kind::Word(_))) && self.sees_at(1, "=");
        let mut fields = Vec::new();
        let mut items = Vec::new();
        while !self.sees("}") {
            if self.eat("...") {
                return self.wants("a value in place of `...`");
            }
            if is_record {
                let name = self.name()?;
                self.want("=")?;
                fields.push((name, self.expr()?));
            } else {
                items.push(self.expr()?);
            }
            if !self.eat(",") {
                break;
            }
        }
        self.want("}")?;
        Ok(match is_record {
            true => ExprKind::Record(fields),
            false => ExprKind::List(items),
        })
    }

    pub(super) fn postfix(&mut self, mut left: Expr) -> Result<Expr> {
        let mut chain = 0;
        loop {
            self.longer(&mut chain)?;
            let place = self.place();
            let start = left.place.clone();
            if self.eat(".") {
                let name = self.name()?;
                left = at(place, ExprKind::Member(Box::new(left), name));
                left.place = start;
            } else if self.eat("[") {
                let first = Box::new(self.expr()?);
                let kind = if self.eat(":") {
                    let last = Box::new(self.expr()?);
                    ExprKind::Slice(Box::new(left), first, last)
                } else {
                    ExprKind::Index(Box::new(left))
                };
                self.want("]")?;
                left = at(start, kind);
            } else if self.sees("(") {
                let args = self.args()?;
                left = at(start, ExprKind::Call(Box::new(left), args));
            } else if self.sees("<") {
                // Type arguments, if a call follows them; otherwise a comparison.
                let before = self.at;
                match self.type_args() {
                    Ok(_) if self.sees("(") => {
                        let args = self.args()?;
                        left = at(start, ExprKind::Call(Box::new(left), args));
                    }
                    _ => {
                        self.at = before;
                        return Ok(left);
                    }
                }
            } else {
                return Ok(left);
            }
        }
    }

    pub(super) fn args(&mut self) -> Result<Vec<Arg>> {
        self.want("(")?;
        let mut args = Vec::new();
        while !self.sees(")") {
            let named = matches!(self.kind(0), Some(Kind::Word(_))) && self.sees_at(1, "=");
            let name = match named {
                true => Some(self.name()?),
                false => None,
            };
            if named {
                self.want("=")?;
            }
            let value = self.expr()?;
            args.push(Arg { name, value });
            if !self.eat(",") {
                break;
            }
        }
        self.want(")")?;
        Ok(args)
    }
}
