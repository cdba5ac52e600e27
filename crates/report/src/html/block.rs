// SPDX-License-Identifier: MIT OR Apache-2.0
//! The part of a report about one value of the axes: table, charts, ports.

use cemark_scenario::Plan;
use cemark_sim::outcome::PortReport;
use serde::Serialize;

use super::Said;
use super::page::{Picture, typeset};
use crate::chart::colour;
use crate::comparison::{Cell, Group, OfClass, Row, sentence};
use crate::metrics::{self, Metric};
use crate::text::distinct;
use crate::{Finished, units};

/// Ports shown for each scheme.
const HOTTEST: usize = 3;

#[derive(Serialize)]
pub(super) struct Block {
    pub title: String,
    pub anchor: String,
    pub said: Said,
    /// "ECN#: 3 better, 1 worse", for the line that is left when the block is folded.
    counts: String,
    groups: Vec<Heading>,
    stats: Vec<&'static str>,
    rows: Vec<Line>,
    sources: Vec<String>,
    unfinished: Vec<String>,
    /// The tables of the traffic classes.
    classes: Vec<ClassTable>,
    notes: Vec<String>,
    #[serde(flatten)]
    pub charts: Charts,
    seed: u64,
    ports: Vec<Port>,
}

/// The table of a traffic class.
#[derive(Serialize)]
struct ClassTable {
    title: String,
    said: Said,
    groups: Vec<Heading>,
    stats: Vec<&'static str>,
    rows: Vec<Line>,
}

/// Charts of a block.
#[derive(Default, Serialize)]
pub(super) struct Charts {
    /// Schemes beside each other, and queues over time.
    #[serde(rename = "charts")]
    pub compared: Vec<Picture>,
    /// Slowdown by flow size, distributions, and ports.
    pub flows: Vec<Picture>,
}

/// A heading over several columns.
#[derive(Serialize)]
pub(super) struct Heading {
    name: &'static str,
    span: usize,
}

#[derive(Serialize)]
struct Line {
    scheme: String,
    colour: usize,
    baseline: bool,
    cells: Vec<Field>,
    counts: Vec<String>,
}

#[derive(Default, Serialize)]
struct Field {
    main: String,
    interval: String,
    class: &'static str,
    word: &'static str,
    paper: Option<String>,
}

#[derive(Serialize)]
struct Port {
    scheme: String,
    colour: usize,
    name: String,
    fields: Vec<String>,
}

/// The part about `group`, which is the `place`-th.
pub(super) fn block(
    plan: &Plan,
    finished: &[Finished],
    group: &Group,
    place: usize,
    charts: Charts,
) -> Block {
    let metrics = group.judged();
    let counters = metrics::shown(metrics::counted(), |column| column.report);
    let rows = group.rows.iter();
    let title = match group.title() {
        t if t.is_empty() => "Comparison".to_owned(),
        t => t,
    };
    let unfinished = rows.clone().filter(|r| r.unfinished > 0);
    let unfinished =
        unfinished.map(|r| format!("{} of {} under {}", r.unfinished, r.flows, r.scheme));
    Block {
        title,
        anchor: format!("g{place}"),
        said: sentence::beside(group).into(),
        counts: counts(group, &metrics),
        groups: headings(&metrics, counters.len()),
        stats: metrics
            .iter()
            .chain(&counters)
            .map(|m| m.heading().1)
            .collect(),
        rows: rows
            .map(|row| line(plan, row, &metrics, &counters))
            .collect(),
        sources: sources(group, &metrics),
        unfinished: unfinished.collect(),
        classes: group.classes.iter().map(|c| of_class(plan, c)).collect(),
        notes: group.notes(),
        charts,
        seed: group.seeds.first().copied().unwrap_or_default(),
        ports: ports(plan, finished, group),
    }
}

fn of_class(plan: &Plan, class: &OfClass) -> ClassTable {
    let group = &class.group;
    let metrics = group.judged();
    let rows = group.rows.iter();
    ClassTable {
        title: format!("Class {} (queue {})", class.name, class.queue),
        said: sentence::of_class(class).into(),
        groups: headings(&metrics, 0),
        stats: metrics.iter().map(|m| m.heading().1).collect(),
        rows: rows.map(|row| line(plan, row, &metrics, &[])).collect(),
    }
}

/// How many metrics of each scheme are decided.
fn counts(group: &Group, metrics: &[&Metric]) -> String {
    let of = |row: &Row| {
        let count = |has: fn(&Cell) -> bool| metrics.iter().filter(|m| has(row.cell(m))).count();
        let (better, worse) = (count(Cell::better), count(Cell::worse));
        let words = [(better, "better"), (worse, "worse")];
        let words = words.iter().filter(|(n, _)| *n > 0);
        let words: Vec<String> = words.map(|(n, word)| format!("{n} {word}")).collect();
        (!words.is_empty()).then(|| format!("{}: {}", row.scheme, words.join(", ")))
    };
    let rows = group.rows.iter().filter(|r| !r.baseline);
    rows.filter_map(of).collect::<Vec<_>>().join("; ")
}

/// The upper line of the head: neighbours with the same name share it.
pub(super) fn headings(metrics: &[&Metric], counters: usize) -> Vec<Heading> {
    let mut out: Vec<Heading> = Vec::new();
    for name in metrics.iter().map(|m| m.heading().0) {
        match out.last_mut().filter(|h| h.name == name) {
            Some(heading) => heading.span += 1,
            None => out.push(Heading { name, span: 1 }),
        }
    }
    if counters > 0 {
        out.push(Heading {
            name: "sum over seeds",
            span: counters,
        });
    }
    out
}

/// Where the papers printed the values beside ours.
fn sources(group: &Group, metrics: &[&Metric]) -> Vec<String> {
    let rows = group.rows.iter();
    let cells = rows.flat_map(|r| metrics.iter().map(|m| r.cell(m)));
    distinct(cells.filter_map(|c| Some(c.published.as_ref()?.source.clone())))
}

fn line(plan: &Plan, row: &Row, metrics: &[&Metric], counters: &[&Metric]) -> Line {
    let cells = metrics.iter().map(|m| field(row.cell(m), row.baseline));
    Line {
        scheme: row.scheme.clone(),
        colour: colour(plan, &row.scheme),
        baseline: row.baseline,
        cells: cells.collect(),
        counts: counters.iter().map(|m| m.show(row.sum(m))).collect(),
    }
}

fn field(cell: &Cell, baseline: bool) -> Field {
    let paper = cell.published.as_ref();
    let paper = paper.map(|p| typeset(&units::percent(p.percent)));
    let Some(against) = cell.against.filter(|_| !baseline) else {
        let value = cell.absolute.map(|v| cell.metric.show(v));
        return Field {
            main: value.unwrap_or_else(|| "–".to_owned()),
            interval: cell.largest(),
            paper,
            ..Field::default()
        };
    };
    let (class, word) = match (cell.worse(), cell.better()) {
        (true, _) => ("worse", "worse"),
        (_, true) => ("better", "better"),
        _ => ("", ""),
    };
    Field {
        main: typeset(&units::percent(against.percent)),
        interval: match cell.largest_of {
            None => typeset(&against.printed_interval()),
            Some(_) => cell.largest(),
        },
        class,
        word,
        paper,
    }
}

fn ports(plan: &Plan, finished: &[Finished], group: &Group) -> Vec<Port> {
    let mut out = Vec::new();
    for row in &group.rows {
        let Some(done) = row.points.first().map(|i| &finished[*i]) else {
            continue;
        };
        let pauses = &done.outcome.pauses;
        let paused = |port: &PortReport| {
            let paused = pauses.iter().find(|p| p.name == port.name);
            paused.map_or_else(|| "–".to_owned(), |p| format!("{:.1} %", p.share * 100.0))
        };
        let used = done.outcome.ports.iter().filter(|p| p.queue.count > 0);
        let mut hottest: Vec<&PortReport> = used.collect();
        hottest.sort_by(|a, b| b.queue.mean.total_cmp(&a.queue.mean));
        out.extend(hottest.into_iter().take(HOTTEST).map(|p| Port {
            scheme: row.scheme.clone(),
            colour: colour(plan, &row.scheme),
            name: p.name.clone(),
            fields: vec![
                format!("{:.1} %", p.utilisation * 100.0),
                paused(p),
                units::bytes(p.queue.mean),
                units::bytes(p.queue.p99),
                units::bytes(p.queue.max),
                units::micros(p.sojourn.mean / 1e3),
                units::micros(p.sojourn.p99 / 1e3),
                units::count(p.packets as f64),
                units::count(p.marks as f64),
                units::count(p.drops as f64),
            ],
        }));
    }
    out
}
