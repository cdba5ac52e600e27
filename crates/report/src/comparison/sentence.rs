// SPDX-License-Identifier: MIT OR Apache-2.0
//! One sentence that says what a table shows, composed from its numbers. It claims only what is
//! decided (a difference whose interval excludes zero) and names what is not decided.

use super::{Group, Row};
use crate::metrics::{self, Better, Metric};
use crate::units;

/// A metric and what the sentence calls it.
type Subject = (&'static Metric, &'static str);

/// What the sentence speaks about: the metrics of the first topic that was measured.
fn subjects(group: &Group) -> Vec<Subject> {
    let named = metrics::shown(metrics::compared(), |c| c.sentence.is_some());
    let topics = named.into_iter().filter(|m| group.has(m)).filter_map(|m| {
        let (topic, name) = m.column.as_ref()?.sentence?;
        Some((topic, (m, name)))
    });
    let topics: Vec<_> = topics.collect();
    let first = topics.iter().map(|(topic, _)| *topic).min();
    topics
        .into_iter()
        .filter(|(topic, _)| Some(*topic) == first)
        .map(|(_, subject)| subject)
        .collect()
}

/// The metrics that the sentence speaks about.
pub(super) fn metrics(group: &Group) -> Vec<&'static Metric> {
    subjects(group).into_iter().map(|(m, _)| m).collect()
}

/// The sentence, and the one that says how far a stated precision is reached.
pub(crate) fn with_precision(group: &Group) -> String {
    match &group.standing {
        None => sentence(group),
        Some(standing) => format!("{} {}", sentence(group), standing.sentence()),
    }
}

/// The sentence.
pub(crate) fn sentence(group: &Group) -> String {
    let subjects = subjects(group);
    let base = &group.baseline().scheme;
    let place = match group.title() {
        t if t.is_empty() => String::new(),
        t => format!("At {t}, "),
    };
    let others: Vec<&Row> = group.rows.iter().filter(|r| !r.baseline).collect();
    let text = if subjects.is_empty() {
        "no measured flow has finished, so there is nothing to compare.".to_owned()
    } else if others.is_empty() {
        let parts: Vec<String> = subjects
            .iter()
            .filter_map(|(m, name)| {
                group
                    .baseline()
                    .cell(m)
                    .absolute
                    .map(|v| format!("{name} is {}", m.show(v)))
            })
            .collect();
        format!("under {base} {}.", list(&parts))
    } else {
        let best = others
            .iter()
            .copied()
            .filter(|r| subjects.iter().any(|(m, _)| r.cell(m).better()))
            .max_by(|a, b| score(a, &subjects).total_cmp(&score(b, &subjects)));
        let mut text = match best {
            Some(row) => praise(row, base, &subjects),
            None => format!("no scheme is shown to beat {base}"),
        };
        let rest: Vec<&Row> = others
            .into_iter()
            .filter(|r| best.is_none_or(|b| b.scheme != r.scheme))
            .collect();
        let blamed: Vec<String> = rest.iter().filter_map(|r| blame(r, &subjects)).collect();
        if !blamed.is_empty() {
            text += &format!("; {}", blamed.join("; "));
        }
        text += &not_decided(best, &rest, &subjects);
        text + "."
    };
    let text = format!("{place}{text}");
    let mut chars = text.chars();
    chars
        .next()
        .map(|c| c.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

/// Gains minus losses in percentage points, only where an interval excludes zero. Losses count
/// double.
fn score(row: &Row, subjects: &[Subject]) -> f64 {
    subjects
        .iter()
        .map(|(m, _)| {
            let cell = row.cell(m);
            let size = cell.against.map_or(0.0, |c| c.percent.abs());
            if cell.better() {
                size
            } else if cell.worse() {
                -2.0 * size
            } else {
                0.0
            }
        })
        .sum()
}

fn praise(row: &Row, base: &str, subjects: &[Subject]) -> String {
    // What went up or down, as an improvement or not: "lowers A by 3 % and B by 5 %".
    let moves = |good: bool| -> Vec<String> {
        let moved = |up: bool| -> Vec<String> {
            subjects
                .iter()
                .filter(|(m, _)| {
                    if good {
                        row.cell(m).better()
                    } else {
                        row.cell(m).worse()
                    }
                })
                .filter(|(m, _)| up == ((m.better == Better::Less) != good))
                .map(|(m, name)| {
                    let percent = row.cell(m).against.map_or(0.0, |c| c.percent.abs());
                    format!(
                        "{name} by {}",
                        units::percent(percent).trim_start_matches('+')
                    )
                })
                .collect()
        };
        [("lowers", moved(false)), ("raises", moved(true))]
            .into_iter()
            .filter(|(_, parts)| !parts.is_empty())
            .map(|(verb, parts)| format!("{verb} {}", list(&parts)))
            .collect()
    };
    let mut text = format!("{} {} against {base}", row.scheme, list(&moves(true)));
    let worse = moves(false);
    if !worse.is_empty() {
        text += &format!(" but {}", list(&worse));
    }
    text
}

/// Whether a cell compares, but its interval (or the lack of one) does not say which is better.
fn open(row: &Row, metric: &Metric) -> bool {
    let cell = row.cell(metric);
    cell.against.is_some() && !cell.worse() && !cell.better()
}

/// What is not decided: the open subjects of the best scheme, and the schemes of which every
/// subject is open.
fn not_decided(best: Option<&Row>, rest: &[&Row], subjects: &[Subject]) -> String {
    let mut text = String::new();
    if let Some(row) = best {
        let names: Vec<String> = subjects
            .iter()
            .filter(|(m, _)| open(row, m))
            .map(|(_, name)| (*name).to_owned())
            .collect();
        if !names.is_empty() {
            text += &format!("; not decided: {} for {}", list(&names), row.scheme);
        }
    }
    let silent: Vec<String> = rest
        .iter()
        .filter(|r| {
            let compared = || subjects.iter().filter(|(m, _)| r.cell(m).against.is_some());
            compared().count() > 0 && compared().all(|(m, _)| open(r, m))
        })
        .map(|r| r.scheme.clone())
        .collect();
    if !silent.is_empty() {
        text += &format!("; no metric decided for {}", list(&silent));
    }
    text
}

fn blame(row: &Row, subjects: &[Subject]) -> Option<String> {
    let worse: Vec<String> = subjects
        .iter()
        .filter(|(m, _)| row.cell(m).worse())
        .map(|(m, name)| {
            format!(
                "{name} ({})",
                units::percent(row.cell(m).against.map_or(0.0, |c| c.percent))
            )
        })
        .collect();
    (!worse.is_empty()).then(|| format!("{} is worse in {}", row.scheme, list(&worse)))
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
