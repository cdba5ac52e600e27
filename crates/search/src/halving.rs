// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rule of a search: which points it simulates next, and when it has enough.

use std::collections::{BTreeSet, VecDeque};

use cemark_report::Finished;
use cemark_report::RunDir;
use cemark_report::rundir::Console;
use cemark_report::stats::{self, Comparison, sequential};
use cemark_runner::{Results, Show, StopRule, longest_first};
use cemark_scenario::Plan;

use crate::Candidate;
use crate::aim::{self, Aim, Bound, Done, Limit};
use crate::found::{Confirmed, End, Estimate, Found, Interval, Rung};
use crate::front::front;

/// Most replications that compare the best candidate with the baseline.
pub const MOST: u32 = 48;

/// Replications that a search of this number of candidates may need: the plan has as many seeds.
pub fn replications(candidates: usize) -> u32 {
    last_rung(candidates) + MOST
}

/// Replications of the first round: one, or more where there are few candidates to begin with.
fn first_rung(candidates: usize) -> u32 {
    if candidates > 4 { 1 } else { 2 }
}

/// Replications after which one candidate is left.
fn last_rung(candidates: usize) -> u32 {
    let halvings = candidates.max(2).next_power_of_two().ilog2();
    first_rung(candidates) << (halvings - 1)
}

/// Points that are being simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// Candidates with this many replications, of which half go on.
    Choose(u32),
    /// The best candidate at this look, an index into the looks.
    Confirm {
        best: usize,
        look: usize,
    },
    Ended,
}

/// Halves the candidates until one is left, then compares it with the baseline.
pub struct Halving<'a> {
    aim: &'a Aim,
    candidates: &'a [Candidate],
    base: usize,
    /// By point: the point whose simulation gives its result.
    first: Vec<usize>,
    dir: &'a RunDir,
    console: &'a dyn Console,
    /// Whether the time of the search is over.
    is_over: &'a (dyn Fn() -> bool + Sync),
    /// CPU seconds of the points.
    spent: f64,
    points: usize,
    /// Candidates that are left, without the baseline, the best first.
    alive: Vec<usize>,
    /// Replications that choose.
    choosing: u32,
    /// Replications after which the best candidate is looked at.
    looks: Vec<u32>,
    stage: Stage,
    lacks: BTreeSet<usize>,
    todo: VecDeque<usize>,
    estimates: Vec<Estimate>,
    rungs: Vec<Rung>,
    confirmed: Option<Confirmed>,
    end: End,
}

impl<'a> Halving<'a> {
    /// A search over candidates, of which `base` is the baseline. No point is begun once `is_over`
    /// returns true. Results of earlier sessions are taken from the directory.
    ///
    /// # Panics
    /// Where there is no second candidate, or a candidate has fewer points than [`replications`].
    pub fn new(
        aim: &'a Aim,
        candidates: &'a [Candidate],
        base: usize,
        is_over: &'a (dyn Fn() -> bool + Sync),
        (plan, dir): (&Plan, &'a RunDir),
        console: &'a dyn Console,
        results: &mut Results,
    ) -> Self {
        let alive: Vec<usize> = (0..candidates.len()).filter(|c| *c != base).collect();
        let needed = replications(alive.len()) as usize;
        assert!(
            !alive.is_empty(),
            "a search has a candidate but the baseline"
        );
        assert!(candidates.iter().all(|c| c.points.len() >= needed));
        let mut rule = Halving {
            aim,
            base,
            first: plan.simulated_as(),
            dir,
            console,
            is_over,
            spent: 0.0,
            points: 0,
            choosing: last_rung(alive.len()),
            looks: sequential::looks(MOST),
            stage: Stage::Choose(first_rung(alive.len())),
            alive,
            lacks: BTreeSet::new(),
            todo: VecDeque::new(),
            estimates: vec![Estimate::default(); candidates.len()],
            rungs: Vec::new(),
            confirmed: None,
            end: End::NoMore,
            candidates,
        };
        rule.want(plan, results);
        rule.advance(plan, results);
        rule
    }

    /// Points of a candidate's replications.
    fn of(&self, candidate: usize, from: u32, to: u32) -> impl Iterator<Item = usize> {
        let points = &self.candidates[candidate].points;
        points[from as usize..to as usize]
            .iter()
            .map(|i| self.first[*i])
    }

    /// The replications that the present stage needs, of which candidates.
    fn needed(&self) -> (Vec<usize>, u32, u32) {
        match self.stage {
            Stage::Choose(to) => {
                let all = self.alive.iter().copied().chain([self.base]);
                (all.collect(), 0, to)
            }
            Stage::Confirm { best, look } => {
                let from = self.choosing;
                (vec![best, self.base], from, from + self.looks[look])
            }
            Stage::Ended => (Vec::new(), 0, 0),
        }
    }

    /// Names the points that the stage lacks; those on disk are taken from there.
    fn want(&mut self, plan: &Plan, results: &mut Results) {
        let (candidates, from, to) = self.needed();
        let wanted: BTreeSet<usize> = candidates
            .iter()
            .flat_map(|c| self.of(*c, from, to))
            .collect();
        let new: Vec<usize> = wanted
            .into_iter()
            .filter(|i| results[*i].is_none())
            .collect();
        for i in &new {
            results[*i] = self.dir.load(&plan.points[*i], self.console);
            if let Some(found) = &results[*i] {
                self.count(found);
            }
        }
        let missing: Vec<usize> = new.into_iter().filter(|i| results[*i].is_none()).collect();
        self.lacks = missing.iter().copied().collect();
        self.todo = longest_first(plan, missing).into();
    }

    fn count(&mut self, done: &Finished) {
        self.spent += done.summary.cpu_seconds;
        self.points += 1;
    }

    /// Goes from stage to stage while all points are there.
    fn advance(&mut self, plan: &Plan, results: &mut Results) {
        while self.lacks.is_empty() && self.stage != Stage::Ended {
            self.stage = match self.stage {
                Stage::Choose(replications) => self.halve(plan, results, replications),
                Stage::Confirm { best, look } => self.look(plan, results, best, look),
                Stage::Ended => Stage::Ended,
            };
            self.want(plan, results);
        }
    }

    /// Estimates every candidate that is left, and keeps the better half.
    fn halve(&mut self, plan: &Plan, results: &Results, replications: u32) -> Stage {
        for c in self.alive.iter().copied().chain([self.base]) {
            self.estimates[c] = self.estimate(plan, results, c, replications);
        }
        let rank = |c: &usize| {
            let estimate = &self.estimates[*c];
            let cost = estimate.percent.map_or(f64::INFINITY, |p| self.aim.cost(p));
            (estimate.excess.max(0.0), cost)
        };
        let mut ranked: Vec<(usize, (f64, f64))> =
            self.alive.iter().map(|c| (*c, rank(c))).collect();
        ranked.sort_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let tried = ranked.len();
        let kept = tried.div_ceil(2);
        self.alive = ranked.into_iter().take(kept).map(|(c, _)| c).collect();
        self.rungs.push(Rung {
            replications,
            tried,
            kept,
        });
        match tried {
            1 | 2 => Stage::Confirm {
                best: self.alive[0],
                look: 0,
            },
            _ => Stage::Choose(2 * replications),
        }
    }

    fn estimate(&self, plan: &Plan, results: &Results, c: usize, n: u32) -> Estimate {
        let pairs = self.pairs(plan, results, c, 0, n);
        let own: Vec<Done<'_>> = pairs.iter().map(|(_, own)| *own).collect();
        let percent = |of: &aim::Quantity| match c == self.base {
            true => aim::mean(of, &own).map(|_| 0.0),
            false => of.compare(&pairs, None).map(|c| c.percent),
        };
        let bounds: Vec<&Bound> = self.aim.bounds.iter().collect();
        let percents: Vec<Option<f64>> = bounds.iter().map(|b| percent(&b.of)).collect();
        let values: Vec<Option<f64>> = bounds.iter().map(|b| aim::mean(&b.of, &own)).collect();
        let each = bounds.iter().zip(percents.iter().zip(&values));
        let excesses = each.map(|(b, (p, v))| b.excess(*p, *v).unwrap_or(f64::INFINITY));
        Estimate {
            replications: n,
            value: aim::mean(&self.aim.goal, &own),
            percent: percent(&self.aim.goal),
            excess: excesses.fold(f64::NEG_INFINITY, f64::max),
            bounds: percents,
            bound_values: values,
            is_on_front: false,
        }
    }

    /// Points of the baseline and a candidate by replication.
    fn pairs<'r>(
        &self,
        plan: &'r Plan,
        results: &'r Results,
        candidate: usize,
        from: u32,
        to: u32,
    ) -> Vec<(Done<'r>, Done<'r>)> {
        let point = |i: usize| Some((&plan.points[i], results[i].as_ref()?));
        let base = self.of(self.base, from, to);
        base.zip(self.of(candidate, from, to))
            .filter_map(|(b, c)| Some((point(b)?, point(c)?)))
            .collect()
    }

    /// Compares the best candidate with the baseline on held-out replications.
    fn look(&mut self, plan: &Plan, results: &Results, best: usize, look: usize) -> Stage {
        let n = self.looks[look];
        let from = self.choosing;
        let pairs = self.pairs(plan, results, best, from, from + n);
        let bounds = &self.aim.bounds;
        let compare = |of: &aim::Quantity| of.compare(&pairs, Some(n));
        let value = |of: &aim::Quantity| {
            let own = pairs.iter().filter_map(|(_, (p, done))| of.value(p, done));
            let own: Vec<f64> = own.collect();
            Some(Interval {
                mean: stats::mean(&own)?,
                ends: stats::interval_of_mean(&own, Some(n)),
            })
        };
        let confirmed = Confirmed {
            replications: n,
            goal: compare(&self.aim.goal),
            bounds: bounds.iter().map(|b| compare(&b.of)).collect(),
            bound_values: bounds.iter().map(|b| value(&b.of)).collect(),
        };
        let known = self.is_known(&confirmed);
        self.confirmed = Some(confirmed);
        if known {
            self.end = End::Known;
            return Stage::Ended;
        }
        match look + 1 < self.looks.len() {
            true => Stage::Confirm {
                best,
                look: look + 1,
            },
            false => Stage::Ended,
        }
    }

    /// Whether the goal is decided or narrow, and every bound as well.
    fn is_known(&self, found: &Confirmed) -> bool {
        let narrow = |c: &Comparison| {
            c.interval
                .is_some_and(|(l, h)| h - l <= 2.0 * self.aim.within)
        };
        let goal = found
            .goal
            .is_some_and(|c| narrow(&c) || c.above() || c.below());
        let pairs = found.bounds.iter().zip(&found.bound_values);
        let mut bounds = self.aim.bounds.iter().zip(pairs);
        goal && bounds.all(|(bound, (difference, value))| match bound.limit {
            Limit::Percent(limit) => difference.is_some_and(|c| {
                narrow(&c) || c.interval.is_some_and(|(l, h)| limit < l || h < limit)
            }),
            Limit::Value(limit) => value.is_some_and(|v| {
                let far = |(l, h): (f64, f64)| {
                    limit < l || h < limit || h - l <= 0.02 * self.aim.within * v.mean.abs()
                };
                v.ends.is_some_and(far)
            }),
        })
    }

    /// CPU seconds of the points that will probably follow, by what points took until now.
    fn lacks_seconds(&self) -> f64 {
        let each = self.spent / self.points.max(1) as f64;
        each * self.expected().len() as f64
    }

    /// Points that will probably be simulated: those of the present stage, and of later ones with
    /// candidates in their present order.
    fn expected(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.lacks.iter().copied().collect();
        let mut alive = self.alive.clone();
        let mut confirm = sequential::first_guess(MOST);
        match self.stage {
            Stage::Ended => return Vec::new(),
            Stage::Choose(mut to) => {
                while alive.len() > 2 {
                    alive.truncate(alive.len().div_ceil(2));
                    let with_base = alive.iter().copied().chain([self.base]);
                    all.extend(with_base.flat_map(|c| self.of(c, to, 2 * to)));
                    to *= 2;
                }
            }
            Stage::Confirm { look, .. } => {
                let goal = self.confirmed.as_ref().and_then(|c| c.goal);
                let half = goal.and_then(|c| c.interval).map(|(l, h)| 0.5 * (h - l));
                let n = self.looks[look];
                if let (Some(half), Some(done)) = (half, &self.confirmed) {
                    confirm =
                        sequential::expected_look(half, self.aim.within, done.replications, MOST);
                }
                confirm = confirm.max(n);
            }
        }
        let from = self.choosing;
        let last = [alive[0], self.base];
        let confirming = last.iter().flat_map(|c| self.of(*c, from, from + confirm));
        all.extend(confirming);
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Findings.
    pub fn end(mut self) -> Found {
        if self.stage != Stage::Ended {
            self.end = End::Spent {
                lacks: self.lacks_seconds(),
            };
        }
        let cost = |bound: &Bound, percent: &Option<f64>, value: &Option<f64>| {
            let number = match bound.limit {
                Limit::Percent(_) => *percent,
                Limit::Value(_) => *value,
            };
            number.map(|x| if bound.at_most { x } else { -x })
        };
        let costs: Vec<Vec<Option<f64>>> = self
            .estimates
            .iter()
            .map(|e| {
                let bounds = self
                    .aim
                    .bounds
                    .iter()
                    .zip(e.bounds.iter().zip(&e.bound_values));
                let goal = e.percent.map(|p| self.aim.cost(p));
                let costs = bounds.map(|(b, (p, v))| cost(b, p, v));
                std::iter::once(goal).chain(costs).collect()
            })
            .collect();
        for (estimate, is_on) in self.estimates.iter_mut().zip(front(&costs)) {
            estimate.is_on_front = is_on;
        }
        Found {
            estimates: self.estimates,
            best: (!self.rungs.is_empty()).then(|| self.alive[0]),
            rungs: self.rungs,
            confirmed: self.confirmed,
            end: self.end,
            cpu_seconds: self.spent,
            points: self.points,
        }
    }
}

impl StopRule for Halving<'_> {
    fn todo(&self) -> Vec<usize> {
        self.todo.iter().copied().collect()
    }

    fn begins(&mut self, _: &Plan, results: &mut Results, show: &dyn Show) {
        let mut expected = self.expected();
        expected.retain(|i| results[*i].is_none());
        show.expects(&expected);
    }

    fn next(&mut self) -> Option<usize> {
        match (self.is_over)() {
            true => None,
            false => self.todo.pop_front(),
        }
    }

    fn finished(&mut self, plan: &Plan, results: &mut Results, point: usize, show: &dyn Show) {
        if let Some(done) = &results[point] {
            self.count(done);
        }
        self.lacks.remove(&point);
        if self.lacks.is_empty() {
            self.advance(plan, results);
            self.begins(plan, results, show);
        }
    }

    fn is_done(&self) -> bool {
        self.stage == Stage::Ended
    }
}
