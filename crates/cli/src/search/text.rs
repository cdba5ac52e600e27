// SPDX-License-Identifier: MIT OR Apache-2.0
//! The answer of a search for people.

use std::fmt::Write as _;

use cemark_report::metrics::Better;
use cemark_report::stats::Comparison;
use cemark_report::text::{aligned, wrap};
use cemark_report::units;
use cemark_search::{Aim, Bound, Confirmed, End, Found, Limit};

use super::{Args, Search, short};
use crate::shell;
use crate::terminal::look;

/// Most candidates in the table; of more, those on the front are shown.
const MOST_ROWS: usize = 40;

/// Rounds, table, sentence, and the next command.
pub(super) fn text(search: &Search, found: &Found, args: &Args) -> String {
    let (aim, width) = (&search.aim, look().width);
    let mut out = wrap(&title(search), width) + "\n\n";
    out += &rounds(search, found);
    out += &table(search, found);
    out += "\n";
    out += &wrap(&verdict(search, found, &budget(found, args.budget)), width);
    out += "\n";
    if let Some(best) = found.best.filter(|_| is_better(aim, found)) {
        let sets = search.keys.iter().zip(&search.values[best]);
        let sets = sets
            .map(|(path, value)| format!(" --set {}", shell::quoted(&format!("{path}={value}"))));
        let scenario = shell::quoted(&args.scenario);
        let _ = write!(
            out,
            "\nnext    cemark run {scenario}{}\n",
            sets.collect::<String>()
        );
    }
    out
}

fn title(search: &Search) -> String {
    let goal = &search.aim.goal;
    let wish = match goal.metric.better {
        Better::More => "as high",
        Better::Less | Better::Neither => "as low",
    };
    let bounds = search.aim.bounds.iter().map(Bound::text);
    let bounds: Vec<String> = bounds.collect();
    let bounds = match bounds.is_empty() {
        true => String::new(),
        false => format!(", {}", bounds.join(", ")),
    };
    format!(
        "{} of {}: {} {wish} as possible{bounds}",
        search.scheme,
        search.plan.name,
        goal.key()
    )
}

fn plural(n: impl Into<u64>, word: &str) -> String {
    match n.into() {
        1 => format!("1 {word}"),
        n => format!("{n} {word}s"),
    }
}

fn rounds(search: &Search, found: &Found) -> String {
    let mut out = String::new();
    for rung in &found.rungs {
        let _ = writeln!(
            out,
            "{} with {} each: {} kept",
            plural(rung.tried as u64, "candidate"),
            plural(rung.replications, "replication"),
            rung.kept
        );
    }
    if let (Some(best), Some(confirmed)) = (found.best, &found.confirmed) {
        let _ = writeln!(
            out,
            "{} against {} on {}",
            search.candidates[best].name,
            search.candidates[search.base].name,
            plural(confirmed.replications, "held-out replication")
        );
    }
    let _ = writeln!(
        out,
        "{}, {} of CPU\n",
        plural(found.points as u64, "simulation"),
        units::span(found.cpu_seconds)
    );
    out
}

fn table(search: &Search, found: &Found) -> String {
    let aim = &search.aim;
    let mut head: Vec<String> = search
        .keys
        .iter()
        .map(|path| short(path).to_owned())
        .collect();
    head.push(aim.goal.key());
    head.extend(aim.bounds.iter().map(|bound| bound.of.key()));
    head.extend(["replications".to_owned(), String::new()]);
    let mut rows = vec![head];
    let few = found.estimates.len() <= MOST_ROWS;
    let mut order: Vec<usize> = (0..found.estimates.len()).collect();
    order.sort_by(|a, b| numbers(&search.values[*a]).total_cmp(&numbers(&search.values[*b])));
    for i in order {
        let e = &found.estimates[i];
        let is_base = i == search.base;
        let is_best = found.best == Some(i);
        if e.replications == 0 || !(few || e.is_on_front || is_base || is_best) {
            continue;
        }
        let mut row = search.values[i].clone();
        row.push(match (is_base, e.value, e.percent) {
            (true, Some(value), _) => aim.goal.metric.show(value),
            (false, _, Some(percent)) => units::percent(percent),
            _ => "-".to_owned(),
        });
        let bounds = aim.bounds.iter().zip(e.bounds.iter().zip(&e.bound_values));
        row.extend(
            bounds.map(|(bound, (percent, value))| match (bound.limit, is_base) {
                (Limit::Percent(_), false) => percent.map_or("-".to_owned(), units::percent),
                _ => value.map_or("-".to_owned(), |v| bound.of.metric.show(v)),
            }),
        );
        row.push(e.replications.to_string());
        let words = [
            (is_base, "as written"),
            (is_best, "best"),
            (e.is_on_front && !aim.bounds.is_empty(), "front"),
            (!e.holds(), "out of bounds"),
        ];
        let words = words.iter().filter(|(is, _)| *is).map(|(_, word)| *word);
        row.push(words.collect::<Vec<_>>().join(", "));
        rows.push(row);
    }
    let last = rows[0].len() - 1;
    aligned(&rows, |column| column < last)
}

/// A number by which values of the first key are ordered: as texts of equal units they are.
fn numbers(values: &[String]) -> f64 {
    use cemark_scenario::{Measure, read_quantity};
    let text = &values[0];
    let measures = [Measure::Time, Measure::Length, Measure::Rate];
    let quantity = measures.iter().find_map(|m| read_quantity(text, *m).ok());
    let number = || {
        let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.'));
        text[..end.unwrap_or(text.len())].parse().unwrap_or(0.0)
    };
    quantity.map_or_else(number, |q| q as f64)
}

/// Whether the best candidate is better than the baseline, beyond doubt, and no bound is broken.
fn is_better(aim: &Aim, found: &Found) -> bool {
    let Some(confirmed) = &found.confirmed else {
        return false;
    };
    let better = confirmed
        .goal
        .is_some_and(|c| match aim.goal.metric.better {
            Better::More => c.above(),
            Better::Less | Better::Neither => c.below(),
        });
    better
        && standings(aim, confirmed)
            .iter()
            .all(|s| *s != Standing::Broken)
}

/// Whether a bound holds on the held-out replications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Holds,
    /// The interval contains the limit.
    Open,
    Broken,
}

fn standings(aim: &Aim, confirmed: &Confirmed) -> Vec<Standing> {
    let each = confirmed.bounds.iter().zip(&confirmed.bound_values);
    let of = |(bound, (difference, value)): (&Bound, (&Option<Comparison>, &Option<_>))| {
        let value: &Option<cemark_search::Interval> = value;
        let (limit, ends) = match bound.limit {
            Limit::Percent(limit) => (limit, difference.and_then(|c| c.interval)),
            Limit::Value(limit) => (limit, value.and_then(|v| v.ends)),
        };
        match (ends, bound.at_most) {
            (Some((_, high)), true) if high <= limit => Standing::Holds,
            (Some((low, _)), false) if low >= limit => Standing::Holds,
            (Some((low, _)), true) if low > limit => Standing::Broken,
            (Some((_, high)), false) if high < limit => Standing::Broken,
            _ => Standing::Open,
        }
    };
    aim.bounds.iter().zip(each).map(of).collect()
}

/// `--budget 12min`, enough to continue to the end.
fn budget(found: &Found, budget: f64) -> Option<String> {
    let End::Spent { lacks } = found.end else {
        return None;
    };
    let minutes = (1.2 * budget * lacks / found.cpu_seconds.max(1e-3) / 60.0).ceil();
    Some(format!(
        "the same command with --budget {minutes}min continues"
    ))
}

/// The sentence that says what to do, and how sure it is.
fn verdict(search: &Search, found: &Found, budget: &Option<String>) -> String {
    let aim = &search.aim;
    let own = format!("{} as written", search.scheme);
    let Some(best) = found.best.map(|best| &search.candidates[best].name) else {
        let budget = budget.clone().unwrap_or_default();
        return format!("Not decided: the budget ended in the first round; {budget}.");
    };
    let Some((confirmed, goal)) = found.confirmed.as_ref().and_then(|c| Some((c, c.goal?))) else {
        let budget = budget.clone().unwrap_or_default();
        return format!(
            "Not decided: {best} is the best so far, and the budget ended before held-out \
             replications compared it with the scenario's own values; {budget}."
        );
    };
    let name = aim.goal.name();
    let standings = standings(aim, confirmed);
    let bounds: Vec<String> = aim
        .bounds
        .iter()
        .zip(
            standings
                .iter()
                .zip(confirmed.bounds.iter().zip(&confirmed.bound_values)),
        )
        .map(|(bound, (standing, (difference, value)))| {
            let number = match (bound.limit, difference, value) {
                (Limit::Percent(_), Some(c), _) => c.in_words(),
                (Limit::Value(_), _, Some(v)) => bound.of.metric.show(v.mean),
                _ => "no value".to_owned(),
            };
            let word = match standing {
                Standing::Holds => "holds",
                Standing::Open => "is not decided",
                Standing::Broken => "is broken",
            };
            format!("the bound {} {word}: {number}", bound.text())
        })
        .collect();
    let bounds = match bounds.is_empty() {
        true => String::new(),
        false => format!("; {}", bounds.join("; ")),
    };
    let more = match budget {
        Some(budget) => format!(" More replications may decide: {budget}."),
        None => String::new(),
    };
    let n = plural(confirmed.replications, "held-out replication");
    let difference = goal.in_words();
    let narrow = goal
        .interval
        .is_some_and(|(l, h)| h - l <= 2.0 * aim.within);
    if is_better(aim, found) {
        return format!("Use {best}: {name} {difference} against {own}, {n}{bounds}.{more}");
    }
    let keeps = narrow || goal.above() || goal.below() || standings.contains(&Standing::Broken);
    let verdict = match keeps {
        true => format!("Keep the values of the scenario: the best of the others, {best},"),
        false => format!("Not decided: {best}"),
    };
    format!("{verdict} has {name} {difference} against {own}, {n}{bounds}.{more}")
}
