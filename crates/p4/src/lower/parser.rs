// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parsers: states and transitions.

use std::collections::BTreeMap;

use super::Lower;
use super::types::Ty;
use crate::ast::{Name, Next, ParserBody};
use crate::error::{Error, Place, Result};
use crate::ir::{Parser, Pattern, State, Target};

impl<'a> Lower<'a> {
    /// The states of a parser whose parameters are bound; its number.
    pub(super) fn parser_body(&mut self, name: &Name, body: &'a ParserBody) -> Result<usize> {
        let mut before = Vec::new();
        self.scopes.push(BTreeMap::new());
        for decl in &body.locals {
            self.local(decl, &mut before)?;
        }
        let start = body.states.iter().position(|s| &*s.name == "start");
        let Some(start) = start else {
            let place = body
                .states
                .first()
                .map(|s| s.place.clone())
                .unwrap_or_default();
            return Err(Error::new(&place, format!("`{name}` has no state `start`")));
        };
        // The first state runs first.
        let mut order: Vec<usize> = (0..body.states.len()).collect();
        order.swap(0, start);
        let target = |name: &str, place: &Place| match name {
            "accept" => Ok(Target::Accept),
            "reject" => Ok(Target::Reject),
            _ => order
                .iter()
                .position(|i| &*body.states[*i].name == name)
                .map(Target::State)
                .ok_or_else(|| Error::new(place, format!("there is no state `{name}`"))),
        };
        let mut states = Vec::new();
        for index in &order {
            let state = &body.states[*index];
            let stmts = self.block(&state.stmts)?;
            let (mut keys, mut next) = (Vec::new(), Vec::new());
            match &state.next {
                Next::State(name, place) => next.push((Vec::new(), target(name, place)?)),
                Next::Select(values, cases) => {
                    let mut types = Vec::new();
                    for value in values {
                        let (value, ty) = self.any_scalar(value)?;
                        keys.push(value);
                        types.push(ty);
                    }
                    for (patterns, name, place) in cases {
                        let all = self.select_patterns(patterns, &types, place)?;
                        next.push((all, target(name, place)?));
                    }
                }
            }
            states.push(State {
                body: stmts,
                keys,
                next,
            });
        }
        self.scopes.pop();
        self.out.parsers.push(Parser { before, states });
        Ok(self.out.parsers.len() - 1)
    }

    fn select_patterns(
        &mut self,
        patterns: &[crate::ast::Expr],
        types: &[Ty],
        place: &Place,
    ) -> Result<Vec<Pattern>> {
        if let [only] = patterns
            && matches!(only.kind, crate::ast::ExprKind::Any)
        {
            return Ok(vec![Pattern::ANY; types.len()]);
        }
        if patterns.len() != types.len() {
            let what = format!("wants {} patterns, came {}", types.len(), patterns.len());
            return Err(Error::new(place, what));
        }
        let pairs = patterns.iter().zip(types);
        pairs.map(|(p, ty)| self.pattern(p, ty)).collect()
    }
}
