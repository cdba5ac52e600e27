// SPDX-License-Identifier: MIT OR Apache-2.0
//! The choice of the rules beside the marking of today, on the reduced fabric.

use std::sync::atomic::Ordering;

use cemark_report::metrics;
use cemark_report::stats::Comparison;
use cemark_report::text::{aligned, wrap};
use cemark_report::{Group, Metric, Row, RunDir};
use cemark_runner::Order;
use cemark_runner::marker::Watches;
use cemark_scenario::{Overrides, parse};
use serde_json::{Value, json};

use super::Args;
use super::deadline::Deadline;
use crate::exit::{Failure, Stderr, warn};
use crate::init::{BY_RULE, Parts};
use crate::interrupt::stop_on_ctrl_c;
use crate::program::provenance;
use crate::run::Screen;
use crate::search::difference;
use crate::terminal::look;

/// Half of an interval that decides nothing if it is wider, in percentage points.
const WITHIN: f64 = 5.0;

/// A metric of a class under both markings.
struct Line {
    class: Option<String>,
    metric: &'static Metric,
    /// Whether the sentence depends on it.
    decides: bool,
    today: Option<f64>,
    difference: Option<Comparison>,
    finding: Finding,
    /// Value under the choice of the rules, where a difference in percent says nothing.
    chosen: Option<f64>,
}

/// Both markings side by side.
pub(super) struct Beside {
    /// Label of today's marking.
    today: String,
    lines: Vec<Line>,
    replications: u32,
    /// Whether the time ended before everything was known.
    is_over: bool,
    /// Share of the delivered packets that switches marked: today, by rule.
    marks: [f64; 2],
    budget: f64,
}

/// Result of a metric that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    Better,
    Worse,
    Alike,
    Open,
}

impl Line {
    fn name(&self) -> String {
        match &self.class {
            None => self.metric.name(),
            Some(class) => format!("{class}: {}", self.metric.name()),
        }
    }

    fn row(&self) -> Vec<String> {
        let show = |value: Option<f64>| value.map_or("-".to_owned(), |v| self.metric.show(v));
        let change = match (&self.difference, self.chosen) {
            (_, Some(_)) => show(self.chosen),
            (Some(c), _) => c.in_words(),
            (None, None) => "-".to_owned(),
        };
        let word = match (self.decides, self.finding) {
            (false, _) => "",
            (_, Finding::Better) => "better",
            (_, Finding::Worse) => "worse",
            (_, Finding::Alike) => "no significant difference",
            (_, Finding::Open) => "not decided",
        };
        vec![self.name(), show(self.today), change, word.to_owned()]
    }

    fn json(&self) -> Value {
        json!({
            "class": self.class,
            "metric": self.metric.key,
            "unit": self.metric.unit.name(),
            "today": self.today,
            "by_rule": self.chosen,
            "difference": self.difference.map(difference),
            "decides": self.decides,
            "result": match (self.decides, self.finding) {
                (false, _) => None,
                (_, Finding::Better) => Some("better"),
                (_, Finding::Worse) => Some("worse"),
                (_, Finding::Alike) => Some("no_significant_difference"),
                (_, Finding::Open) => Some("not_decided"),
            },
        })
    }
}

impl Beside {
    /// Simulates both until everything that decides is known, or the time is over.
    pub fn simulate(args: &Args, parts: &Parts<'_>, text: &str) -> Result<Beside, Failure> {
        let plan = parse(text, parts.file(), &Overrides::default())?;
        warn(&plan);
        let stop = stop_on_ctrl_c();
        let out = args
            .out
            .clone()
            .unwrap_or_else(|| RunDir::default_path(&plan));
        let deadline = Deadline::after(args.budget(), &stop);
        let labels = plan.schemes.clone();
        let order = Order {
            plan,
            watches: Watches::default(),
            part: None,
            out,
            cores: args.cores(),
            anyway: false,
            fresh: false,
            who: provenance(),
            stop: stop.clone(),
        };
        let mut found = Beside {
            today: labels[0].clone(),
            lines: Vec::new(),
            replications: 0,
            is_over: false,
            marks: [0.0; 2],
            budget: args.budget(),
        };
        let ran = cemark_runner::run(order, &Stderr, &Screen::new(args.quiet));
        let ran = match ran {
            Err(Failure::Interrupted(_)) if deadline.has_passed() => {
                stop.store(false, Ordering::Relaxed);
                found.is_over = true;
                return Ok(found);
            }
            ran => ran?,
        };
        match ran.interrupted {
            Some(_) if deadline.has_passed() => found.is_over = true,
            Some(why) => return Err(why),
            None => {}
        }
        stop.store(false, Ordering::Relaxed);
        let comparisons = cemark_report::Comparisons::new(&ran.plan, &ran.finished);
        let group = &comparisons.groups[0];
        found.replications = group.seeds.len() as u32;
        found.lines = lines(group);
        let share = |label: &String| {
            let own = ran.finished.iter().zip(&ran.plan.points);
            let own = own.filter(|(_, point)| point.scheme == *label);
            let sums = own.fold((0, 0), |(marks, all), (done, _)| {
                let totals = &done.outcome.totals;
                (marks + totals.all_marks(), all + totals.delivered)
            });
            sums.0 as f64 / (sums.1 as f64).max(1.0)
        };
        found.marks = [share(&labels[0]), share(&BY_RULE.to_owned())];
        Ok(found)
    }

    /// Whether the mean queue is shorter by rule, beyond doubt.
    fn has_shorter_queues(&self) -> bool {
        let mut lines = self.lines.iter();
        let queue = lines.find(|line| line.metric.key == "queue.mean");
        queue.is_some_and(|line| line.finding == Finding::Better)
    }

    /// Whether the flows have a value of a metric that decides.
    pub fn has(&self, key: &str) -> bool {
        self.lines.iter().any(|line| line.metric.key == key)
    }

    /// A table and the sentence that says what to do.
    pub fn text(&self) -> String {
        let mut out = String::from("\n");
        if !self.lines.is_empty() {
            let head = ["", &self.today, BY_RULE, ""].map(str::to_owned);
            let rows = std::iter::once(Vec::from(head)).chain(self.lines.iter().map(Line::row));
            out += &aligned(&rows.collect::<Vec<_>>(), |column| {
                column == 1 || column == 2
            });
            out += &format!(
                "{} replications; of the packets that hosts received, switches marked {} today and \
                 {} by rule\n\n",
                self.replications,
                percent(self.marks[0]),
                percent(self.marks[1])
            );
        }
        out + &wrap(&self.sentence(), look().width) + "\n"
    }

    fn sentence(&self) -> String {
        let of = |result| -> Vec<String> {
            let own = self
                .lines
                .iter()
                .filter(|l| l.decides && l.finding == result);
            own.map(Line::name).collect()
        };
        let (better, worse, open) = (of(Finding::Better), of(Finding::Worse), of(Finding::Open));
        let more = match (self.is_over, open.is_empty()) {
            (true, false) => format!(
                " {} not decided to ±{WITHIN} points in this time; the same command with --budget \
                 {}min continues.",
                list(&open),
                (2.0 * self.budget / 60.0).ceil()
            ),
            (_, false) => format!(
                " {} stays undecided after the most replications.",
                list(&open)
            ),
            (_, true) => String::new(),
        };
        if self.lines.is_empty() {
            return format!(
                "Not decided: the time ended before the first replication; write --budget {}min.",
                (5.0 * self.budget / 60.0).ceil()
            );
        }
        match (better.is_empty(), worse.is_empty()) {
            (false, true) => format!(
                "Use the thresholds by rule: {} better, and no deciding metric is significantly \
                 worse (95 % confidence).{more}",
                list(&better)
            ),
            (true, false) => format!(
                "Keep {}: {} worse by rule, and nothing better, with 95 % confidence.{more}",
                self.today,
                list(&worse)
            ),
            (false, false) => format!(
                "A trade, with 95 % confidence: by rule {} better and {} worse.{more}",
                list(&better),
                list(&worse)
            ),
            (true, true) if open.is_empty() && self.has_shorter_queues() => format!(
                "Use the thresholds by rule: completion times do not differ significantly \
                 (±{WITHIN} percentage points), and queues are shorter, with 95 % confidence."
            ),
            (true, true) if open.is_empty() => format!(
                "Keep {}: no deciding metric differs significantly (±{WITHIN} percentage \
                 points).",
                self.today
            ),
            (true, true) => format!("Not decided.{more}"),
        }
    }

    pub fn json(&self) -> Value {
        json!({
            "today": self.today,
            "replications": self.replications,
            "metrics": self.lines.iter().map(Line::json).collect::<Vec<_>>(),
            "marked_share": { "today": self.marks[0], "by_rule": self.marks[1] },
            "budget_ended": self.is_over,
            "sentence": self.sentence(),
        })
    }
}

/// `a`, `a and b`, with the verb.
fn list(names: &[String]) -> String {
    match names {
        [] => "nothing is".to_owned(),
        [one] => format!("{one} is"),
        [all @ .., last] => format!("{} and {last} are", all.join(", ")),
    }
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// Metrics of each class that decide: short and large flows, or all where there are none.
const OF_CLASS: [&str; 2] = ["short.mean", "large.mean"];
/// Metrics of ports.
const OF_PORTS: [&str; 3] = ["queue.mean", "queue.p99", "pause.share"];

fn lines(group: &Group) -> Vec<Line> {
    let mut all = Vec::new();
    let single = [(None, group)];
    let classes = group
        .classes
        .iter()
        .map(|class| (Some(&class.name), &class.group));
    let classes: Vec<_> = match group.classes.len() {
        0 | 1 => single.to_vec(),
        _ => classes.collect(),
    };
    for (class, group) in classes {
        let found = OF_CLASS
            .iter()
            .filter_map(|key| line(group, key, class, true));
        let mut found: Vec<Line> = found.collect();
        if found.len() < OF_CLASS.len() {
            found.extend(line(group, "overall.mean", class, true));
        }
        found.extend(line(group, "short.p99", class, false));
        all.extend(found);
    }
    all.extend(
        OF_PORTS
            .iter()
            .filter_map(|key| line(group, key, None, false)),
    );
    let drops = metrics::find("drops");
    all.extend(drops.and_then(|metric| {
        let [today, chosen] = rows(group)?;
        Some(Line {
            class: None,
            metric,
            decides: false,
            today: Some(today.sum(metric)),
            difference: None,
            finding: Finding::Open,
            chosen: Some(chosen.sum(metric)),
        })
    }));
    all
}

fn rows(group: &Group) -> Option<[&Row; 2]> {
    let chosen = group.rows.iter().find(|row| row.scheme == BY_RULE)?;
    Some([group.baseline(), chosen])
}

fn line(group: &Group, key: &str, class: Option<&String>, decides: bool) -> Option<Line> {
    let metric = metrics::find(key)?;
    let [today, chosen] = rows(group)?;
    let (today, chosen) = (today.cell(metric), chosen.cell(metric));
    let value = today.absolute?;
    let interval = chosen.against.and_then(|c| c.interval);
    let narrow = interval.is_some_and(|(low, high)| high - low <= 2.0 * WITHIN);
    Some(Line {
        finding: match (chosen.better(), chosen.worse()) {
            (true, _) => Finding::Better,
            (_, true) => Finding::Worse,
            _ if narrow => Finding::Alike,
            _ => Finding::Open,
        },
        class: class.cloned(),
        metric,
        decides,
        today: Some(value),
        difference: chosen.against,
        // Pauses are shares, and are often zero.
        chosen: chosen
            .absolute
            .filter(|_| key == "pause.share" || value == 0.0),
    })
}
