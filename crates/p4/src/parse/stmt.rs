// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statements.

use super::Parser;
use crate::ast::{ExprKind, Stmt, StmtKind};
use crate::error::{Error, Result};
use crate::lex::Kind;

const COMPOUND: &[(&str, &str)] = &[
    ("+=", "+"),
    ("-=", "-"),
    ("*=", "*"),
    ("/=", "/"),
    ("%=", "%"),
    ("&=", "&"),
    ("|=", "|"),
    ("^=", "^"),
    ("<<=", "<<"),
    ("|+|=", "|+|"),
    ("|-|=", "|-|"),
];

impl Parser {
    pub(super) fn block(&mut self) -> Result<Vec<Stmt>> {
        self.annotations()?;
        self.want("{")?;
        let mut stmts = Vec::new();
        while !self.eat("}") {
            stmts.push(self.stmt()?);
        }
        Ok(stmts)
    }

    pub(super) fn stmt(&mut self) -> Result<Stmt> {
        self.within(Self::whole_stmt)
    }

    fn whole_stmt(&mut self) -> Result<Stmt> {
        self.annotations()?;
        let place = self.place();
        let kind = match self.kind(0).cloned() {
            Some(Kind::Sign("{")) => StmtKind::Block(self.block()?),
            Some(Kind::Sign(";")) => {
                self.at += 1;
                StmtKind::Empty
            }
            Some(Kind::Word(word)) => match &*word {
                "if" => self.if_()?,
                "switch" => self.switch()?,
                "for" => return Err(Error::new(&place, "`for` is not supported")),
                "return" => {
                    self.at += 1;
                    let value = match self.sees(";") {
                        true => None,
                        false => Some(self.expr()?),
                    };
                    self.want(";")?;
                    StmtKind::Return(value)
                }
                "exit" => {
                    self.at += 1;
                    self.want(";")?;
                    StmtKind::Exit
                }
                "const" => StmtKind::Decl(Box::new(self.decl()?)),
                _ if self.begins_decl() => StmtKind::Decl(Box::new(self.decl()?)),
                _ => self.assignment_or_call()?,
            },
            _ => self.assignment_or_call()?,
        };
        Ok(Stmt { place, kind })
    }

    /// A type and a name behind it.
    fn begins_decl(&mut self) -> bool {
        let before = self.at;
        let known = self.is_type();
        let is = match self.ty() {
            Ok(_) => matches!(self.kind(0), Some(Kind::Word(_))) || (known && self.sees("(")),
            Err(_) => false,
        };
        // `name(…)` is a call, `Type(…) name;` an instance.
        let is = is && {
            if self.sees("(") {
                self.skip("(", ")").is_ok() && matches!(self.kind(0), Some(Kind::Word(_)))
            } else {
                true
            }
        };
        self.at = before;
        is
    }

    fn if_(&mut self) -> Result<StmtKind> {
        self.want("if")?;
        self.want("(")?;
        let condition = self.expr()?;
        self.want(")")?;
        let yes = Box::new(self.stmt()?);
        let no = match self.eat("else") {
            true => Some(Box::new(self.stmt()?)),
            false => None,
        };
        Ok(StmtKind::If(condition, yes, no))
    }

    fn switch(&mut self) -> Result<StmtKind> {
        self.want("switch")?;
        self.want("(")?;
        let value = self.expr()?;
        self.want(")")?;
        self.want("{")?;
        let mut cases = Vec::new();
        while !self.eat("}") {
            let label = self.pattern()?;
            self.want(":")?;
            let body = match self.sees("{") {
                true => Some(self.stmt()?),
                false => None,
            };
            cases.push((label, body));
        }
        Ok(StmtKind::Switch(value, cases))
    }

    fn assignment_or_call(&mut self) -> Result<StmtKind> {
        // `type.apply(…)` on a type makes and applies an instance at once.
        let left = self.primary()?;
        let left = self.postfix(left)?;
        if self.eat("=") {
            let value = self.expr()?;
            self.want(";")?;
            return Ok(StmtKind::Assign(left, None, value));
        }
        for (sign, operator) in COMPOUND {
            if self.eat(sign) {
                let value = self.expr()?;
                self.want(";")?;
                return Ok(StmtKind::Assign(left, Some(operator), value));
            }
        }
        if !matches!(left.kind, ExprKind::Call(..)) {
            return self.wants("`=` or a call");
        }
        self.want(";")?;
        Ok(StmtKind::Call(left))
    }
}
