// SPDX-License-Identifier: MIT OR Apache-2.0
//! Thresholds near those of the rules: which multiple is best, and how that moves where the RTTs
//! are 20 % off.

use std::fmt::Write as _;
use std::path::PathBuf;

use cemark_report::RunDir;
use cemark_report::stats::Comparison;
use cemark_report::text::wrap;
use cemark_runner::marker::Watches;
use cemark_scenario::{Overrides, parse};
use cemark_search::{Aim, Bound as Limit, Candidate, Found, Quantity, replications};
use serde_json::{Value, json};

use super::asked::Asked;
use super::beside::Beside;
use super::{Args, USUAL_SEARCH};
use crate::exit::Failure;
use crate::init::{Bound, Numbers, Parts};
use crate::quantity::length;
use crate::search::{Means, difference, simulate};
use crate::terminal::look;

/// Multiples of the thresholds, of one class and of each of two.
const OF_ONE: [f64; 8] = [0.125, 0.25, 0.5, 0.7, 1.4, 2.0, 4.0, 8.0];
const OF_TWO: [f64; 4] = [0.25, 0.5, 2.0, 4.0];
/// Goal and bound: short flows as fast as possible, large ones hardly slower.
const GOAL: &str = "short.mean";
const BOUND: (&str, &str) = ("large.mean", "large.mean<=+3%");
/// Goal where there are no short flows.
const OTHERWISE: &str = "overall.mean";

/// Metrics of a search.
struct Wish {
    goal: &'static str,
    bounds: Vec<&'static str>,
}

impl Wish {
    /// Goal and bounds for the flows that a comparison has measured.
    fn of(beside: &Beside) -> Wish {
        Wish {
            goal: match beside.has(GOAL) {
                true => GOAL,
                false => OTHERWISE,
            },
            bounds: match beside.has(BOUND.0) {
                true => vec![BOUND.1],
                false => Vec::new(),
            },
        }
    }

    fn aim(&self) -> Result<Aim, Failure> {
        let read = |no: cemark_search::Refused| crate::exit::machine(no.why);
        let bounds = self.bounds.iter().map(|text| Limit::read(text, &[]));
        Ok(Aim {
            goal: Quantity::read(self.goal, &[]).map_err(read)?,
            bounds: bounds.collect::<Result<_, _>>().map_err(read)?,
            within: 2.0,
        })
    }
}

/// The best multiple at one size of the RTTs.
struct At {
    /// RTTs over those that were measured.
    rtt: f64,
    best: Option<Bound>,
    goal: Option<Comparison>,
    replications: u32,
    is_over: bool,
}

/// Searches at the measured RTTs, and at RTTs that are 20 % shorter and longer.
pub(super) struct Searched {
    wish: Wish,
    all: Vec<At>,
}

/// Searches. Half of the time is for the measured RTTs.
pub(super) fn search(
    args: &Args,
    asked: &Asked,
    (parts, rtt): (&Parts<'_>, &Numbers),
    beside: &Beside,
) -> Result<Searched, Failure> {
    let wish = Wish::of(beside);
    let aim = wish.aim()?;
    let rule = parts.by_rule(rtt);
    let candidates = candidates(&rule);
    let time = args.budget.unwrap_or(USUAL_SEARCH);
    let mut all = vec![at(
        args,
        parts,
        rtt,
        (&aim, &candidates),
        (1.0, 0.5 * time),
    )?];
    for off in [0.8, 1.2] {
        all.push(asked.scaled(rtt, off, |parts, rtt| {
            at(args, parts, rtt, (&aim, &candidates), (off, 0.25 * time))
        })?);
    }
    Ok(Searched { wish, all })
}

/// The rule's own thresholds first, then multiples of them.
fn candidates(rule: &Bound) -> Vec<Bound> {
    let times = |factors: &[f64]| {
        let curves = rule.curves.iter().enumerate().map(|(i, curve)| {
            let factor = factors[i.min(factors.len() - 1)];
            let bytes = |bytes: u64| ((bytes as f64 * factor).round() as u64).max(1_500);
            let mut curve = curve.clone();
            (curve.low, curve.high) = (bytes(curve.low), bytes(curve.high));
            curve
        });
        let words: Vec<String> = factors.iter().map(|f| format!("x{f}")).collect();
        Bound {
            label: words.join(" "),
            comment: String::new(),
            curves: curves.collect(),
        }
    };
    let mut all = vec![rule.clone()];
    match rule.curves.len() {
        2 => {
            let one = |a: f64| OF_TWO.iter().map(move |b| [a, *b]);
            all.extend(OF_TWO.iter().flat_map(|a| one(*a)).map(|both| times(&both)));
            all.extend(
                OF_TWO
                    .iter()
                    .flat_map(|f| [times(&[1.0, *f]), times(&[*f, 1.0])]),
            );
        }
        _ => all.extend(OF_ONE.iter().map(|factor| times(&[*factor]))),
    }
    all
}

fn at(
    args: &Args,
    parts: &Parts<'_>,
    rtt: &Numbers,
    (aim, bound): (&Aim, &[Bound]),
    (off, time): (f64, f64),
) -> Result<At, Failure> {
    let text = parts.of_schemes(rtt, bound);
    let overrides = Overrides {
        seeds: Some(u64::from(replications(bound.len() - 1))),
        ..Overrides::default()
    };
    let plan = parse(&text, parts.file(), &overrides)?;
    let candidates = bound.iter().map(|one| {
        let own = plan.points.iter().enumerate();
        let own = own.filter(|(_, point)| point.scheme == one.label);
        Candidate {
            name: one.label.clone(),
            points: own.map(|(i, _)| i).collect(),
        }
    });
    let candidates: Vec<Candidate> = candidates.collect();
    let out: PathBuf = RunDir::default_path(&plan);
    let means = Means {
        out: &out,
        fresh: false,
        cores: args.cores(),
        budget: time,
        quiet: args.quiet,
        watches: &Watches::default(),
    };
    let found: Found = simulate(&plan, aim, &candidates, 0, &means)?;
    let confirmed = found.confirmed.as_ref();
    Ok(At {
        rtt: off,
        best: found.best.map(|best| bound[best].clone()),
        goal: confirmed.and_then(|c| c.goal),
        replications: confirmed.map_or(0, |c| c.replications),
        is_over: matches!(found.end, cemark_search::End::Spent { .. }),
    })
}

impl At {
    fn sentence(&self, wish: &Wish) -> String {
        let rtts = match self.rtt {
            x if x < 1.0 => "RTTs 20 % shorter",
            x if x > 1.0 => "RTTs 20 % longer",
            _ => "RTTs as measured",
        };
        let Some(best) = &self.best else {
            return format!(
                "{rtts}: not decided, the time ended in the first round; the same command with a \
                 longer --budget continues"
            );
        };
        let curves = best.curves.iter();
        let curves = curves.map(|c| format!("{} to {}", length(c.low), length(c.high)));
        let curves = curves.collect::<Vec<_>>().join(", ");
        let name = format!("{} ({curves})", best.label);
        let Some(goal) = self.goal else {
            return format!(
                "{rtts}: not decided, best so far {name}; the same command with a longer --budget \
                 continues"
            );
        };
        let sure = match (goal.below(), goal.above()) {
            (true, _) => "better than the rule",
            (_, true) => "no multiple is better than the rule; the best of the others is worse",
            _ => "no significant difference from the rule",
        };
        format!(
            "{rtts}: {name}, {sure}: {} {} on {} held-out replications{}",
            wish.goal,
            goal.in_words(),
            self.replications,
            if self.is_over {
                ", the time is over"
            } else {
                ""
            }
        )
    }
}

impl Searched {
    pub fn text(&self) -> String {
        let wish = std::iter::once(self.wish.goal).chain(self.wish.bounds.iter().copied());
        let wish = wish.collect::<Vec<_>>().join(", ");
        let mut out = format!("\nMultiples of the thresholds by rule, for {wish}\n");
        for at in &self.all {
            let _ = writeln!(out, "{}", wrap(&at.sentence(&self.wish), look().width));
        }
        out
    }

    pub fn json(&self) -> Value {
        let at = |at: &At| {
            let curves = at.best.iter().flat_map(|best| &best.curves);
            json!({
                "rtt_factor": at.rtt,
                "best": at.best.as_ref().map(|best| &best.label),
                "curves": curves.map(|c| [c.low, c.high]).collect::<Vec<_>>(),
                "difference": at.goal.map(difference),
                "replications": at.replications,
                "budget_ended": at.is_over,
            })
        };
        self.all.iter().map(at).collect()
    }
}
