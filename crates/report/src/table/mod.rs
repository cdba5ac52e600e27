// SPDX-License-Identifier: MIT OR Apache-2.0
//! The comparison tables of the terminal, one for each value of the axes. A table that is wider
//! than the terminal is drawn in several blocks.

pub mod beside;
mod block;
pub mod data;
pub mod files;

use std::fmt::Write as _;

use cemark_scenario::{Plan, visible};

use self::block::Block;
use crate::comparison::sentence::{self, Said};
use crate::comparison::{Comparisons, Group, OfClass, Row};
use crate::metrics::{self, Metric, Subject};
use crate::text::{distinct, hang, wrap};
use crate::{RunSummary, units};

/// How to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether to colour.
    pub color: bool,
}

impl Default for Look {
    /// For a pipe or a file: 120 columns, no colour.
    fn default() -> Self {
        Look {
            width: 120,
            color: false,
        }
    }
}

/// The styles in use, as the numbers of their escape sequences; the last one resets.
pub const STYLES: [&str; 5] = [BOLD, DIM, RED, GREEN, "0"];

const BOLD: &str = "1";
const DIM: &str = "2";
const RED: &str = "31";
const GREEN: &str = "32";

impl Look {
    fn paint(self, style: &str, text: &str) -> String {
        if self.color && !style.is_empty() && !text.trim().is_empty() {
            format!("\x1b[{style}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// All tables, each with the papers' values, the unfinished flows, and one sentence.
pub fn tables(plan: &Plan, comparisons: &Comparisons, look: Look) -> String {
    let mut out = String::new();
    if let Some(why) = comparisons.cannot_tell() {
        let _ = writeln!(out, "{}", look.paint(RED, &wrap(&why, look.width)));
    }
    let _ = writeln!(
        out,
        "{}",
        look.paint(BOLD, &wrap(&visible(&plan.title), look.width))
    );
    for group in &comparisons.groups {
        let _ = writeln!(out);
        one(group, look, &mut out);
    }
    let several = comparisons.groups.len() > sentence::FEW;
    if several && comparisons.groups[0].rows.len() > 1 && !comparisons.all_alike() {
        let _ = writeln!(out);
        say(&sentence::of_all(comparisons), look, &mut out);
    }
    out
}

/// Most schemes whose parameters stand below the tables.
const MOST_SCHEMES: usize = 12;

/// The parameters in force, what the run cost, where the report is, and what to try next.
pub fn footer(plan: &Plan, summary: &RunSummary, report: &str, look: Look) -> String {
    let cost = &summary.cost;
    let resumed = if cost.resumed > 0 {
        format!(" ({} from an earlier session)", cost.resumed)
    } else {
        String::new()
    };
    let speed = cost.packet_hops as f64 / cost.cpu_seconds;
    let speed = if cost.cpu_seconds > 0.0 {
        format!(", {} per CPU second", units::count(speed))
    } else {
        String::new()
    };
    let mut out = String::new();
    let simulated = if cost.simulated < cost.points {
        format!(", {} simulated", cost.simulated)
    } else {
        String::new()
    };
    let line = format!(
        "{} point{}{simulated}{resumed}, {} packet-hops{speed}, {}",
        cost.points,
        if cost.points == 1 { "" } else { "s" },
        units::count(cost.packet_hops as f64),
        units::span(cost.wall_seconds),
    );
    let indented = |line: &str| hang(line, look.width, "cost    ".len());
    for (i, line) in plan.parameters.iter().take(MOST_SCHEMES).enumerate() {
        let word = if i == 0 { "schemes" } else { "" };
        let _ = writeln!(out, "{word:<7} {}", indented(&visible(line)));
    }
    if plan.parameters.len() > MOST_SCHEMES {
        let _ = writeln!(
            out,
            "        cemark check prints all {}",
            plan.parameters.len()
        );
    }
    let _ = writeln!(out, "cost    {}", indented(&line));
    let _ = writeln!(out, "report  {}", look.paint(BOLD, &visible(report)));
    if let Some(next) = &plan.next {
        let _ = writeln!(out, "next    {}", look.paint(BOLD, &visible(next)));
    }
    out
}

fn one(group: &Group, look: Look, out: &mut String) {
    let seeds = group.seeds.len();
    let flows = group.baseline().flows;
    let plural = if seeds == 1 { "" } else { "s" };
    let seed = match group.standing {
        None => "seed",
        Some(_) => "replication",
    };
    let title = group.title();
    let title = visible(&title);
    let gap = if title.is_empty() { "" } else { "   " };
    let mut head = format!("{seeds} {seed}{plural}, {flows} flows per scheme");
    if group.rows.len() > 1 {
        head += ", percent against the first row with paired 95 % intervals";
    }
    if len(&title) + len(gap) + len(&head) <= look.width {
        let _ = writeln!(out, "{}{gap}{head}", look.paint(BOLD, &title));
    } else {
        if !title.is_empty() {
            let _ = writeln!(out, "{}", look.paint(BOLD, &wrap(&title, look.width)));
        }
        let _ = writeln!(out, "{}", wrap(&head, look.width));
    }
    let metrics: Vec<_> = shown().into_iter().filter(|m| group.has(m)).collect();
    for block in blocks(group, &metrics, look.width) {
        block.draw(look, out);
    }
    without_interval(group, &metrics, look, out);
    papers(group, look, out);
    for row in group.rows.iter().filter(|r| r.unfinished > 0) {
        let _ = writeln!(
            out,
            "unfinished: {} of {} flows under {} (in no mean and no percentile)",
            row.unfinished,
            row.flows,
            visible(&row.scheme)
        );
    }
    for line in group.notes() {
        let _ = writeln!(out, "{}", wrap(&visible(&line), look.width));
    }
    for class in &group.classes {
        of_class(class, look, out);
    }
    say(&sentence::of_group(group), look, out);
}

/// The table of a traffic class, and its sentences.
fn of_class(class: &OfClass, look: Look, out: &mut String) {
    let group = &class.group;
    let flows = group.baseline().flows;
    let name = format!("class {} (queue {})", class.name, class.queue);
    let _ = writeln!(
        out,
        "\n{}   {flows} flows per scheme",
        look.paint(BOLD, &visible(&name))
    );
    let metrics: Vec<_> = shown().into_iter().filter(|m| group.has(m)).collect();
    for part in fitting(group, &metrics, look.width) {
        Block::new(group, part, false).draw(look, out);
    }
    for row in group.rows.iter().filter(|r| r.unfinished > 0) {
        let (left, flows) = (row.unfinished, row.flows);
        let _ = writeln!(
            out,
            "unfinished: {left} of {flows} under {}",
            visible(&row.scheme)
        );
    }
    if group.alike.is_none() {
        say(&sentence::of_class(class), look, out);
    }
}

/// Sentences, each on a line of its own; what does not fit a line is indented.
fn say(said: &Said, look: Look, out: &mut String) {
    let _ = writeln!(out, "{}", wrap(&visible(&said.intro), look.width));
    for part in &said.parts {
        let _ = writeln!(out, "  {}", hang(&visible(part), look.width, 4));
    }
}

/// The table as parts that fit the terminal: everything in one, or else completion times and the
/// rest, or else as many columns as fit. The counters follow the last columns if there is room.
fn blocks(group: &Group, metrics: &[&'static Metric], width: usize) -> Vec<Block> {
    let whole = Block::new(group, metrics, true);
    if whole.width() <= width {
        return vec![whole];
    }
    let times = [Subject::Flows, Subject::Queries];
    let (fct, rest): (Vec<_>, Vec<_>) = metrics.iter().partition(|m| times.contains(&m.subject));
    let mut parts = match &fitting(group, &fct, width)[..] {
        [] | [_] => {
            let first = std::iter::once(&fct[..]).filter(|fct| !fct.is_empty());
            first.chain(fitting(group, &rest, width)).collect()
        }
        _ => fitting(group, metrics, width),
    };
    let last = parts.pop().unwrap_or_default();
    let alone = |part| Block::new(group, part, false);
    let mut blocks: Vec<Block> = parts.into_iter().map(alone).collect();
    let together = Block::new(group, last, true);
    match last.is_empty() || together.width() <= width {
        true => blocks.push(together),
        false => blocks.extend([alone(last), Block::new(group, &[], true)]),
    }
    blocks
}

/// The metrics in as few parts as fit the terminal each.
fn fitting<'a>(
    group: &Group,
    mut metrics: &'a [&'static Metric],
    width: usize,
) -> Vec<&'a [&'static Metric]> {
    let mut parts = Vec::new();
    while !metrics.is_empty() {
        let fits = |n: &usize| Block::new(group, &metrics[..*n], false).width() <= width;
        let n = (1..=metrics.len()).rev().find(fits).unwrap_or(1);
        parts.push(&metrics[..n]);
        metrics = &metrics[n..];
    }
    parts
}

/// Says why some numbers have no interval, if some have none.
fn without_interval(group: &Group, metrics: &[&Metric], look: Look, out: &mut String) {
    let bare = |row: &Row| {
        let mut cells = metrics.iter().map(|m| row.cell(m));
        cells.any(|c| c.against.is_some_and(|c| c.interval.is_none()))
    };
    if group.seeds.len() < 3 && group.rows.iter().any(bare) && group.standing.is_none() {
        let why = "A number without an interval is not decided: 99th percentiles, queues and means \
                   of few flows have an interval from three seeds on (--seeds 3).";
        let _ = writeln!(out, "{}", look.paint(DIM, &wrap(why, look.width)));
    }
}

/// Published values that have no column here, and the places of all of them in the papers.
fn papers(group: &Group, look: Look, out: &mut String) {
    let cells = || {
        group
            .rows
            .iter()
            .flat_map(|r| r.cells.iter().map(move |c| (r, c)))
    };
    let printed = || cells().filter_map(|(row, cell)| Some((row, cell, cell.published.as_ref()?)));
    for (row, cell, paper) in printed().filter(|(_, cell, _)| !shown().contains(&cell.metric)) {
        let here = cell.against.map_or("not measured".to_owned(), |c| {
            format!("{} {}", units::percent(c.percent), c.printed_interval())
        });
        let worse = if cell.worse() { ", worse" } else { "" };
        let line = format!(
            "{} {}: paper {}, here {}{worse}",
            row.scheme,
            cell.metric.key.replace('.', " "),
            units::percent(paper.percent),
            here.trim_end()
        );
        let _ = writeln!(out, "{}", wrap(&visible(&line), look.width));
    }
    let sources = distinct(printed().map(|(.., paper)| &paper.source[..])).join("; ");
    if !sources.is_empty() {
        let line = wrap(&visible(&format!("paper: {sources}")), look.width);
        let _ = writeln!(out, "{}", look.paint(DIM, &line));
    }
}

/// The metrics of the terminal table, in order.
fn shown() -> Vec<&'static Metric> {
    metrics::shown(metrics::compared(), |column| column.terminal)
}

fn len(s: &str) -> usize {
    s.chars().count()
}

fn pad(s: &str, width: usize) -> String {
    format!("{s}{}", " ".repeat(width.saturating_sub(len(s))))
}

fn pad_left(s: &str, width: usize) -> String {
    format!("{}{s}", " ".repeat(width.saturating_sub(len(s))))
}

fn shorten(s: &str, most: usize) -> String {
    if len(s) <= most {
        s.to_owned()
    } else {
        s.chars().take(most - 1).chain(['…']).collect()
    }
}
