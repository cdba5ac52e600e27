// SPDX-License-Identifier: MIT OR Apache-2.0
//! Thresholds beside those of the choice: the best rule, published set or multiple, and how the
//! best moves where the RTTs are 20 % off.

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
use super::candidates::{around, candidates};
use super::{Args, USUAL_SEARCH};
use crate::exit::Failure;
use crate::init::{Bound, Numbers, Parts};
use crate::quantity::length;
use crate::search::{Means, difference, simulate};
use crate::terminal::look;

/// Goal and bound: short flows as fast as possible, large ones hardly slower.
const GOAL: &str = "short.mean";
const BOUND: (&str, &str) = ("large.mean", "large.mean<=+3%");
/// Goal where there are no short flows.
const OTHERWISE: &str = "overall.mean";
/// Label of the best thresholds in the scenario that is written.
const BY_SEARCH: &str = "by search";

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

/// The best candidate at one size of the RTTs.
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
    /// Candidates beside the choice.
    tried: usize,
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
    let classes = parts.classes().iter();
    let classes = classes.map(|class| (class.name.as_str(), parts.curves(class, rtt)));
    let candidates = candidates(&rule, &classes.collect::<Vec<_>>(), parts.cell());
    let time = args.budget.unwrap_or(USUAL_SEARCH);
    let mut all = vec![at(
        args,
        parts,
        rtt,
        (&aim, &candidates),
        (1.0, 0.5 * time),
    )?];
    let best = all[0].best.as_ref().unwrap_or(&rule);
    let near = around(&rule, best, parts.cell());
    for off in [0.8, 1.2] {
        all.push(asked.scaled(rtt, off, |parts, rtt| {
            at(args, parts, rtt, (&aim, &near), (off, 0.25 * time))
        })?);
    }
    Ok(Searched {
        wish,
        tried: candidates.len() - 1,
        all,
    })
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
            (true, _) => "better than the choice",
            (_, true) => "no candidate is better than the choice; the best of the others is worse",
            _ => "no significant difference from the choice",
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
    /// The best thresholds at the measured RTTs, if they are better than the choice, as a scheme.
    pub fn better(&self) -> Option<Bound> {
        let measured = self.all.first()?;
        let goal = measured.goal.filter(Comparison::below)?;
        let best = measured.best.clone()?;
        Some(Bound {
            comment: format!(
                "{}: {} {} on {} held-out replications",
                best.label,
                self.wish.goal,
                goal.in_words(),
                measured.replications
            ),
            label: BY_SEARCH.to_owned(),
            ..best
        })
    }

    /// The sentence that says what to do.
    fn sentence(&self) -> String {
        let Some(best) = self.better() else {
            return match self.all.first() {
                Some(measured) if measured.goal.is_none() => {
                    "Not decided: a longer --budget continues the search at the measured RTTs."
                }
                _ => {
                    "Keep the choice: no other thresholds are better with 95 % confidence at the \
                     measured RTTs."
                }
            }
            .to_owned();
        };
        let label = |at: &At| at.best.as_ref().map(|best| best.label.clone());
        let measured = label(&self.all[0]);
        let side = |at: &At| match (label(at), at.goal) {
            (Some(_), Some(_)) if label(at) == measured => "they stay ahead".to_owned(),
            (Some(label), Some(_)) => format!("{label} is ahead"),
            _ => "nothing is decided".to_owned(),
        };
        let sides: Vec<String> = self.all[1..].iter().map(side).collect();
        let [shorter, longer] = &sides[..] else {
            return format!("Use {}.", best.comment);
        };
        format!(
            "Use {}; with RTTs 20 % shorter {shorter}, with RTTs 20 % longer {longer}.",
            best.comment
        )
    }

    pub fn text(&self) -> String {
        let wish = std::iter::once(self.wish.goal).chain(self.wish.bounds.iter().copied());
        let wish = wish.collect::<Vec<_>>().join(", ");
        let mut out = format!(
            "\n{} candidates beside the choice, for {wish}\n",
            self.tried
        );
        for at in &self.all {
            let _ = writeln!(out, "{}", wrap(&at.sentence(&self.wish), look().width));
        }
        out + "\n" + &wrap(&self.sentence(), look().width) + "\n"
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
        json!({
            "candidates": self.tried,
            "at": self.all.iter().map(at).collect::<Vec<_>>(),
            "sentence": self.sentence(),
        })
    }
}
