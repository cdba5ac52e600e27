// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parsers, controls and tables.

use super::Parser;
use crate::ast::{ControlBody, Decl, DeclKind, Expr, ExprKind, Next, ParserBody, State, Table};
use crate::error::{Place, Result};

impl Parser {
    pub(super) fn block_decl(&mut self, place: Place, word: &str) -> Result<Decl> {
        self.at += 1;
        let (name, generics) = self.type_name()?;
        let params = self.params()?;
        if self.eat(";") {
            let kind = match word {
                "parser" => DeclKind::Parser(params, Vec::new(), None),
                _ => DeclKind::Control(params, Vec::new(), None),
            };
            return self.generic(place, name, generics, kind);
        }
        let made_with = match self.sees("(") {
            true => self.params()?,
            false => Vec::new(),
        };
        let kind = match word {
            "parser" => DeclKind::Parser(params, made_with, Some(self.parser_body()?)),
            _ => DeclKind::Control(params, made_with, Some(self.control_body()?)),
        };
        self.generic(place, name, generics, kind)
    }

    fn parser_body(&mut self) -> Result<ParserBody> {
        self.want("{")?;
        let (mut locals, mut states) = (Vec::new(), Vec::new());
        while !self.eat("}") {
            self.annotations()?;
            if self.sees("state") {
                states.push(self.state()?);
            } else {
                locals.push(self.within(Self::decl)?);
            }
        }
        Ok(ParserBody { locals, states })
    }

    fn state(&mut self) -> Result<State> {
        let place = self.place();
        self.want("state")?;
        let name = self.name()?;
        self.want("{")?;
        let mut stmts = Vec::new();
        while !self.sees("transition") && !self.sees("}") {
            stmts.push(self.stmt()?);
        }
        let next = match self.eat("transition") {
            true => self.next()?,
            false => Next::State("reject".into(), self.place()),
        };
        self.want("}")?;
        Ok(State {
            place,
            name,
            stmts,
            next,
        })
    }

    fn next(&mut self) -> Result<Next> {
        if !self.eat("select") {
            let place = self.place();
            let name = self.name()?;
            self.want(";")?;
            return Ok(Next::State(name, place));
        }
        self.want("(")?;
        let keys = self.listed(")")?;
        self.want("{")?;
        let mut cases = Vec::new();
        while !self.eat("}") {
            let patterns = self.patterns()?;
            self.want(":")?;
            let place = self.place();
            let name = self.name()?;
            self.want(";")?;
            cases.push((patterns, name, place));
        }
        Ok(Next::Select(keys, cases))
    }

    fn listed(&mut self, close: &str) -> Result<Vec<Expr>> {
        let mut all = Vec::new();
        while !self.sees(close) {
            all.push(self.expr()?);
            if !self.eat(",") {
                break;
            }
        }
        self.want(close)?;
        Ok(all)
    }

    /// Reads a pattern, or several in brackets.
    fn patterns(&mut self) -> Result<Vec<Expr>> {
        if !self.sees("(") || !self.holds_comma_or_pattern() {
            return Ok(vec![self.pattern()?]);
        }
        self.want("(")?;
        let mut all = Vec::new();
        while !self.sees(")") {
            all.push(self.pattern()?);
            if !self.eat(",") {
                break;
            }
        }
        self.want(")")?;
        Ok(all)
    }

    /// Whether the bracket that is seen ends in front of a `:`, and so is a list of patterns.
    fn holds_comma_or_pattern(&mut self) -> bool {
        let before = self.at;
        let is = self.skip("(", ")").is_ok() && self.sees(":");
        self.at = before;
        is
    }

    fn control_body(&mut self) -> Result<ControlBody> {
        self.want("{")?;
        let mut locals = Vec::new();
        let mut apply = Vec::new();
        while !self.eat("}") {
            self.annotations()?;
            if self.sees("apply") && self.sees_at(1, "{") {
                self.at += 1;
                apply = self.block()?;
            } else {
                locals.push(self.within(Self::decl)?);
            }
        }
        Ok(ControlBody { locals, apply })
    }

    pub(super) fn table(&mut self, place: Place) -> Result<Decl> {
        self.want("table")?;
        let name = self.name()?;
        self.want("{")?;
        let mut table = Table::default();
        while !self.eat("}") {
            self.annotations()?;
            self.eat("const");
            let at = self.place();
            let property = self.name()?;
            self.want("=")?;
            match &*property {
                "key" => self.keys(&mut table)?,
                "actions" => self.actions(&mut table)?,
                "entries" => self.entries(&mut table)?,
                "default_action" => {
                    table.default = Some(self.expr()?);
                    self.want(";")?;
                }
                "size" => {
                    table.size = Some(self.expr()?);
                    self.want(";")?;
                }
                _ => {
                    table.others.push((property, at));
                    self.expr()?;
                    self.want(";")?;
                }
            }
        }
        self.made(place, name, DeclKind::Table(table))
    }

    fn keys(&mut self, table: &mut Table) -> Result<()> {
        self.want("{")?;
        while !self.eat("}") {
            let value = self.expr()?;
            self.want(":")?;
            let place = self.place();
            let kind = self.name()?;
            self.annotations()?;
            self.want(";")?;
            table.keys.push((value, kind, place));
        }
        self.eat(";");
        Ok(())
    }

    fn actions(&mut self, table: &mut Table) -> Result<()> {
        self.want("{")?;
        while !self.eat("}") {
            self.annotations()?;
            table.actions.push(self.expr()?);
            if !self.eat(";") && !self.sees("}") {
                self.want(",")?;
            }
        }
        self.eat(";");
        Ok(())
    }

    fn entries(&mut self, table: &mut Table) -> Result<()> {
        self.want("{")?;
        while !self.eat("}") {
            self.annotations()?;
            self.eat("const");
            let priority = match self.eat("priority") {
                true => {
                    self.want("=")?;
                    let value = self.expr()?;
                    self.want(":")?;
                    Some(value)
                }
                false => None,
            };
            let patterns = self.patterns()?;
            self.want(":")?;
            let action = self.expr()?;
            self.annotations()?;
            self.want(";")?;
            let action = match action.kind {
                ExprKind::Name(_) | ExprKind::Call(..) | ExprKind::Member(..) => action,
                _ => return self.wants("an action"),
            };
            table.entries.push((patterns, action, priority));
        }
        self.eat(";");
        Ok(())
    }
}
