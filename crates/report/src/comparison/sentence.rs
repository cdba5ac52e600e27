// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sentences composed from the numbers of tables: every decided gain and loss of each scheme (a
//! difference whose interval excludes zero), and which differences are not decided.

use super::{Cell, Comparisons, Group, OfClass, Row};
use crate::metrics::{self, Better, Metric};
use crate::text::capital;
use crate::units;

/// More tables than this are summarised: a page begins with no more than a screen of sentences.
pub(crate) const FEW: usize = 3;

/// Some sentences: what they speak about, and one for each scheme.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// "At load 0.9, against DCTCP-RED-Tail:", or the only sentence.
    pub intro: String,
    /// Sentences by scheme, in the order of the table.
    pub parts: Vec<String>,
}

/// Sentences on the schemes of a group, and on how far a stated precision is reached.
/// Terminal and report print these sentences, and judge by every metric of [`metrics::judged`],
/// whether a table has room for its column or not.
pub(crate) fn of_group(group: &Group) -> Said {
    if let Some(alike) = group.alike {
        let words = format!("{}{}: nothing is compared.", place(group), alike.words());
        return Said {
            intro: capital(&words),
            parts: Vec::new(),
        };
    }
    let mut said = compared(group);
    let standing = group.standing.as_ref();
    said.parts
        .extend(standing.map(|standing| standing.sentence()));
    said
}

/// Sentences on the flows of a traffic class.
pub(crate) fn of_class(class: &OfClass) -> Said {
    let mut said = compared(&class.group);
    said.intro = format!("Class {}. {}", class.name, said.intro);
    said
}

/// Sentences on a group for a page that has a grid of better and worse: only those that the grid
/// does not say.
pub(crate) fn beside(group: &Group) -> Said {
    if group.alike.is_some() {
        return of_group(group);
    }
    let standing = group.standing.as_ref().map(|s| s.sentence());
    let mut said = alone(group).unwrap_or_default();
    said.parts.extend(standing);
    said
}

/// The words before the sentences on a group: "At load 0.9, ".
fn place(group: &Group) -> String {
    match group.title() {
        t if t.is_empty() => String::new(),
        t => format!("At {t}, "),
    }
}

/// The only sentence on a group in which no two schemes can be compared.
fn alone(group: &Group) -> Option<Said> {
    let metrics = group.judged();
    let base = group.baseline();
    let text = if metrics.is_empty() {
        "no measured flow has finished, so there is nothing to compare.".to_owned()
    } else if group.rows.iter().all(|r| r.baseline) {
        let values = metrics.iter();
        let values = values
            .filter_map(|m| Some((m, base.cell(m).absolute?)))
            .map(|(m, v)| format!("{} is {}", m.name(), m.show(v)));
        let values: Vec<String> = values.collect();
        format!("under {} {}.", base.scheme, list(&values))
    } else {
        return None;
    };
    Some(Said {
        intro: capital(&format!("{}{text}", place(group))),
        parts: Vec::new(),
    })
}

fn compared(group: &Group) -> Said {
    if let Some(said) = alone(group) {
        return said;
    }
    let metrics = group.judged();
    let others: Vec<&Row> = group.rows.iter().filter(|r| !r.baseline).collect();
    let (silent, spoken): (Vec<&Row>, Vec<&Row>) = others.into_iter().partition(|r| {
        metrics
            .iter()
            .all(|m| !r.cell(m).worse() && !r.cell(m).better())
    });
    let mut parts: Vec<String> = spoken.iter().map(|r| of_row(r, &metrics)).collect();
    if !silent.is_empty() {
        let names: Vec<String> = silent.iter().map(|r| r.scheme.clone()).collect();
        parts.push(format!("Nothing is decided for {}.", list(&names)));
    }
    Said {
        intro: capital(&format!(
            "{}against {}:",
            place(group),
            group.baseline().scheme
        )),
        parts,
    }
}

/// "ECN# is better in short mean (-33.7 %) and worse in large mean (+9.9 %); queue p99 is not
/// decided."
fn of_row(row: &Row, metrics: &[&'static Metric]) -> String {
    let named = |has: fn(&Cell) -> bool| -> Vec<String> {
        let cells = metrics.iter().map(|m| row.cell(m)).filter(|c| has(c));
        cells
            .map(|c| {
                let percent = c.against.map_or(0.0, |c| c.percent);
                format!("{} ({})", c.metric.name(), units::percent(percent))
            })
            .collect()
    };
    let open: Vec<String> = metrics
        .iter()
        .filter(|m| open(row.cell(m)))
        .map(|m| m.name())
        .collect();
    let mut text = judged(&row.scheme, &named(Cell::better), &named(Cell::worse));
    if !open.is_empty() {
        let verb = if open.len() == 1 { "is" } else { "are" };
        text += &format!("; {} {verb} not decided", list(&open));
    }
    text + "."
}

/// Whether a cell compares, but its interval (or the lack of one) does not say which is better.
fn open(cell: &Cell) -> bool {
    let judged = cell.metric.better != Better::Neither;
    judged && cell.against.is_some() && !cell.worse() && !cell.better()
}

/// "ECN# is better in A and worse in B".
pub(crate) fn judged(scheme: &str, better: &[String], worse: &[String]) -> String {
    let sides = [("better in", better), ("worse in", worse)];
    let sides: Vec<String> = sides
        .into_iter()
        .filter(|(_, what)| !what.is_empty())
        .map(|(word, what)| format!("{word} {}", list(what)))
        .collect();
    // Lists of several are easier to tell apart with a comma between them.
    let link = if better.len() > 1 { ", and " } else { " and " };
    format!("{scheme} is {}", sides.join(link))
}

/// Sentences on all tables together: in how many of them each scheme gains or loses in which
/// metric, and from how much to how much.
pub(crate) fn of_all(all: &Comparisons) -> Said {
    let (groups, metrics) = (&all.groups, metrics::judged());
    if all.all_alike() {
        let intro = all.cannot_tell().unwrap_or_default();
        return Said {
            intro,
            parts: Vec::new(),
        };
    }
    let Some(first) = groups.first() else {
        return Said::default();
    };
    let mut silent = Vec::new();
    let mut parts = Vec::new();
    for (i, row) in first.rows.iter().enumerate().filter(|(_, r)| !r.baseline) {
        let spans = |has: fn(&Cell) -> bool| -> Vec<String> {
            let of = |m: &&'static Metric| span(groups, i, m, has);
            metrics.iter().filter_map(of).collect()
        };
        let (better, worse) = (spans(Cell::better), spans(Cell::worse));
        if better.is_empty() && worse.is_empty() {
            silent.push(row.scheme.clone());
        } else {
            parts.push(judged(&row.scheme, &better, &worse) + ".");
        }
    }
    parts.push(match (&silent[..], &parts[..]) {
        ([], _) => "Every other difference is open.".to_owned(),
        (_, []) => "Nothing is decided.".to_owned(),
        _ => format!(
            "Every other difference is open, and all of {}.",
            list(&silent)
        ),
    });
    parts.extend(precision(groups));
    Said {
        intro: over(all, first),
        parts,
    }
}

/// The words before the sentences on all groups, of which this is the first.
fn over(all: &Comparisons, first: &Group) -> String {
    let axes: Vec<String> = first.short_axes().into_values().collect();
    let (many, base) = (all.groups.len(), &all.baseline);
    format!(
        "Over {many} combinations of {}, against {base}:",
        list(&axes)
    )
}

/// Sentences on all groups for a page whose grid counts better and worse: how much each scheme
/// gains and loses at most, and where.
pub(crate) fn beside_all(all: &Comparisons) -> Said {
    let Some(first) = all.groups.first().filter(|_| !all.all_alike()) else {
        return of_all(all);
    };
    let rows = first.rows.iter().enumerate().filter(|(_, r)| !r.baseline);
    let parts = rows.filter_map(|(i, row)| {
        let side = |verb: &str, has: fn(&Cell) -> bool| {
            Some(format!("{verb} most in {}", farthest(&all.groups, i, has)?))
        };
        let sides = [side("gains", Cell::better), side("loses", Cell::worse)];
        let sides: Vec<String> = sides.into_iter().flatten().collect();
        (!sides.is_empty()).then(|| format!("{} {}.", row.scheme, sides.join(", and ")))
    });
    let mut parts: Vec<String> = parts.collect();
    if parts.is_empty() {
        parts.push("Nothing is decided.".to_owned());
    }
    parts.extend(precision(&all.groups));
    Said {
        intro: over(all, first),
        parts,
    }
}

/// "short mean (-33.7 %) at load 0.9": the largest difference of a row of the groups that is
/// decided in one direction.
fn farthest(groups: &[Group], row: usize, has: fn(&Cell) -> bool) -> Option<String> {
    let metrics = metrics::judged();
    let all = groups.iter().filter_map(|g| Some((g, g.rows.get(row)?)));
    let all = all.flat_map(|(g, row)| metrics.iter().map(move |m| (g, row.cell(m))));
    let decided = all.filter(|(_, cell)| has(cell));
    let (group, cell, percent) = decided
        .filter_map(|(g, cell)| Some((g, cell, cell.against?.percent)))
        .max_by(|a, b| a.2.abs().total_cmp(&b.2.abs()))?;
    let (name, percent) = (cell.metric.name(), units::percent(percent));
    Some(format!("{name} ({percent}) at {}", group.title()))
}

/// At how many groups a stated precision is reached, and after how many replications.
fn precision(groups: &[Group]) -> Option<String> {
    let all: Vec<_> = groups.iter().filter_map(|g| g.standing.as_ref()).collect();
    let reached = all.iter().filter(|s| s.reached()).count();
    let least = all.iter().map(|s| s.replications).min()?;
    let most = all.iter().map(|s| s.replications).max()?;
    Some(format!(
        "The precision, ±{} percentage points, is reached at {reached} of {}, after {least} to \
         {most} replications.",
        all.first()?.within,
        all.len()
    ))
}

/// "short mean at 4 of 9 (-12.0 to -33.7 %)": where a row of the groups is decided in one
/// direction, and by how much.
fn span(
    groups: &[Group],
    row: usize,
    metric: &'static Metric,
    has: fn(&Cell) -> bool,
) -> Option<String> {
    let cells = groups
        .iter()
        .filter_map(|g| Some(g.rows.get(row)?.cell(metric)));
    let mut found: Vec<f64> = cells
        .filter(|c| has(c))
        .filter_map(|c| Some(c.against?.percent))
        .collect();
    found.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let (least, most) = (*found.first()?, *found.last()?);
    let (least, most) = (units::percent(least), units::percent(most));
    let number = least.trim_end_matches(" %");
    let sizes = if least == most {
        most.clone()
    } else {
        format!("{number} to {most}")
    };
    let at = match found.len() {
        n if n == groups.len() => "everywhere".to_owned(),
        n => format!("at {n} of {}", groups.len()),
    };
    Some(format!("{} {at} ({sizes})", metric.name()))
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
