// SPDX-License-Identifier: MIT OR Apache-2.0
//! The comparison table of the terminal: one a value of the axes, in several blocks where it is
//! wider than the terminal.

use std::fmt::Write as _;

use cemark_scenario::{Plan, visible};

use crate::model::{Cell, Comparisons, Group, Metric, Row};
use crate::sentence::sentence;
use crate::stats::SizeClass;
use crate::{RunSummary, drops, units};

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

/// The styles in use, as the numbers of their escape sequences; the last one ends any of them.
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

/// All tables, each with the paper's values, what is unfinished, and one sentence.
pub fn tables(plan: &Plan, comparisons: &Comparisons, look: Look) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}",
        look.paint(BOLD, &wrap(&visible(&plan.title), look.width))
    );
    for group in &comparisons.groups {
        let _ = writeln!(out);
        one(group, look, &mut out);
    }
    out
}

/// What it cost, where the report is, and what to try next.
pub fn footer(plan: &Plan, summary: &RunSummary, report: &str, look: Look) -> String {
    let cost = &summary.cost;
    let resumed = if cost.resumed > 0 {
        format!(" ({} from an earlier session)", cost.resumed)
    } else {
        String::new()
    };
    let speed = cost.packet_hops as f64 / cost.cpu_seconds;
    let speed = if cost.cpu_seconds > 0.0 {
        format!(", {} a CPU second", units::count(speed))
    } else {
        String::new()
    };
    let mut out = String::new();
    let line = format!(
        "{} points{resumed}, {} packet-hops{speed}, {}",
        cost.points,
        units::count(cost.packet_hops as f64),
        units::span(cost.wall_seconds),
    );
    let line = wrap(&line, look.width - "cost    ".len()).replace('\n', "\n        ");
    let _ = writeln!(out, "cost    {line}");
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
    let title = group.title();
    let title = visible(&title);
    let gap = if title.is_empty() { "" } else { "   " };
    let mut head = format!("{seeds} seed{plural}, {flows} flows a scheme");
    if group.rows.len() > 1 {
        head += ", percent against the first row with its paired 95 % interval";
    }
    if len(&title) + len(gap) + len(&head) <= look.width {
        let _ = writeln!(out, "{}{gap}{head}", look.paint(BOLD, &title));
    } else {
        if !title.is_empty() {
            let _ = writeln!(out, "{}", look.paint(BOLD, &wrap(&title, look.width)));
        }
        let _ = writeln!(out, "{}", wrap(&head, look.width));
    }
    let metrics: Vec<Metric> = shown().into_iter().filter(|m| group.has(*m)).collect();
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
    for line in drops::lines(group) {
        let _ = writeln!(out, "{}", wrap(&visible(&line), look.width));
    }
    let _ = writeln!(out, "{}", wrap(&visible(&sentence(group)), look.width));
}

/// The table as parts that fit the terminal: all in one, else completion times and the rest, else
/// as many columns as fit. The counters stand behind the last columns where there is room.
fn blocks(group: &Group, metrics: &[Metric], width: usize) -> Vec<Block> {
    let whole = Block::new(group, metrics, true);
    if whole.width() <= width {
        return vec![whole];
    }
    let (fct, rest): (Vec<_>, Vec<_>) = metrics.iter().partition(|m| matches!(m, Metric::Fct(..)));
    let mut parts = fitting(group, &rest, width);
    let last = parts.pop().unwrap_or_default();
    let mut blocks: Vec<Block> = fitting(group, &fct, width)
        .into_iter()
        .chain(parts)
        .map(|part| Block::new(group, part, false))
        .collect();
    let together = Block::new(group, last, true);
    if last.is_empty() || together.width() <= width {
        blocks.push(together);
    } else {
        blocks.push(Block::new(group, last, false));
        blocks.push(Block::new(group, &[], true));
    }
    blocks
}

/// The metrics in as few parts as fit the terminal each.
fn fitting<'a>(group: &Group, mut metrics: &'a [Metric], width: usize) -> Vec<&'a [Metric]> {
    let mut parts = Vec::new();
    while !metrics.is_empty() {
        let fits = |n: &usize| Block::new(group, &metrics[..*n], false).width() <= width;
        let n = (1..=metrics.len()).rev().find(fits).unwrap_or(1);
        parts.push(&metrics[..n]);
        metrics = &metrics[n..];
    }
    parts
}

/// Why numbers stand without an interval, where some do.
fn without_interval(group: &Group, metrics: &[Metric], look: Look, out: &mut String) {
    let bare = |row: &Row| {
        let mut cells = metrics.iter().map(|m| row.cell(*m));
        cells.any(|c| c.against.is_some_and(|c| c.interval.is_none()))
    };
    if group.seeds.len() < 3 && group.rows.iter().any(bare) {
        let why = "What has no interval is not decided: 99th percentiles, queues and means of few \
                   flows have one from three seeds on (--seeds 3).";
        let _ = writeln!(out, "{}", look.paint(DIM, &wrap(why, look.width)));
    }
}

/// Published values that have no column here, and where all of them stand in the papers.
fn papers(group: &Group, look: Look, out: &mut String) {
    let mut sources: Vec<&str> = Vec::new();
    for row in &group.rows {
        for cell in &row.cells {
            let Some(paper) = &cell.published else {
                continue;
            };
            if !sources.contains(&paper.source.as_str()) {
                sources.push(&paper.source);
            }
            if shown().contains(&cell.metric) {
                continue;
            }
            let here = cell.against.map_or("not measured".to_owned(), |c| {
                format!("{} {}", units::percent(c.percent), c.printed_interval())
            });
            let worse = if cell.worse() { ", worse" } else { "" };
            let line = format!(
                "{} {}: paper {}, here {}{worse}",
                row.scheme,
                cell.metric.key().replace('.', " "),
                units::percent(paper.percent),
                here.trim_end()
            );
            let _ = writeln!(out, "{}", wrap(&visible(&line), look.width));
        }
    }
    if !sources.is_empty() {
        let _ = writeln!(
            out,
            "{}",
            look.paint(
                DIM,
                &wrap(
                    &visible(&format!("paper: {}", sources.join("; "))),
                    look.width
                )
            )
        );
    }
}

/// The columns of the terminal, as far as there is something in them.
fn shown() -> [Metric; 8] {
    use crate::stats::Statistic::{Mean, Percentile};
    [
        Metric::SHORT_MEAN,
        Metric::SHORT_P99,
        Metric::LARGE_MEAN,
        Metric::Goodput,
        Metric::Probe(Mean),
        Metric::Probe(Percentile(0.99)),
        Metric::QUEUE_MEAN,
        Metric::QUEUE_P99,
    ]
}

/// A metric's two header lines.
fn names(metric: Metric) -> (&'static str, &'static str) {
    let stat = if metric.key().ends_with("p99") {
        "p99"
    } else {
        "mean"
    };
    match metric {
        Metric::Fct(SizeClass::Short, _) => ("short < 100 KB", stat),
        Metric::Fct(SizeClass::Large, _) => ("large > 10 MB", stat),
        Metric::Fct(SizeClass::Medium, _) => ("medium", stat),
        Metric::Fct(SizeClass::All, _) => ("overall", stat),
        Metric::Queue(_) => ("queue, hottest port", stat),
        Metric::Goodput => ("goodput", "sum"),
        Metric::Probe(_) => ("probe round trip", stat),
    }
}

/// A field: text that is right-aligned at the percent sign, text behind it, and a style.
#[derive(Clone, Default)]
struct Field {
    left: String,
    right: String,
    style: &'static str,
}

struct Column {
    group: &'static str,
    stat: &'static str,
    fields: Vec<Field>,
}

impl Column {
    fn left(&self) -> usize {
        self.fields.iter().map(|f| len(&f.left)).max().unwrap_or(0)
    }

    fn right(&self) -> usize {
        self.fields.iter().map(|f| len(&f.right)).max().unwrap_or(0)
    }

    /// What hangs behind the percent sign: the interval and its space.
    fn hang(&self) -> usize {
        if self.right() > 0 {
            self.right() + 1
        } else {
            0
        }
    }

    fn width(&self) -> usize {
        let body = self.left() + self.hang();
        body.max(len(self.stat))
    }
}

/// A number of a row that is shown as it is.
type Counter = fn(&Row) -> u64;

/// A part of a table that is drawn at once.
struct Block {
    labels: Vec<Field>,
    columns: Vec<Column>,
    /// Where the rows of the paper begin.
    measured: usize,
}

impl Block {
    fn new(group: &Group, metrics: &[Metric], counts: bool) -> Self {
        let papers: Vec<&Row> = group
            .rows
            .iter()
            .filter(|r| metrics.iter().any(|m| r.cell(*m).published.is_some()))
            .collect();
        let label = |r: &&Row| Field {
            left: shorten(&visible(&r.scheme), 24),
            style: if r.baseline { BOLD } else { "" },
            ..Field::default()
        };
        let mut labels: Vec<Field> = group
            .rows
            .iter()
            .collect::<Vec<_>>()
            .iter()
            .map(label)
            .collect();
        labels.extend(papers.iter().map(|r| Field {
            style: DIM,
            ..label(r)
        }));
        let mut columns = Vec::new();
        for metric in metrics {
            let (head, stat) = names(*metric);
            let mut fields: Vec<Field> = group
                .rows
                .iter()
                .map(|r| measured(r.cell(*metric), r.baseline))
                .collect();
            fields.extend(papers.iter().map(|r| {
                Field {
                    left: r
                        .cell(*metric)
                        .published
                        .as_ref()
                        .map(|p| units::percent(p.percent))
                        .unwrap_or_default(),
                    right: String::new(),
                    style: DIM,
                }
            }));
            columns.push(Column {
                group: head,
                stat,
                fields,
            });
        }
        if counts {
            let counters: [(&'static str, Counter); 3] = [
                ("marks", |r| r.marks),
                ("drops", |r| r.drops),
                ("timeouts", |r| r.timeouts),
            ];
            for (stat, of) in counters {
                let mut fields: Vec<Field> = group
                    .rows
                    .iter()
                    .map(|r| Field {
                        left: units::count(of(r) as f64),
                        ..Field::default()
                    })
                    .collect();
                fields.resize(labels.len(), Field::default());
                columns.push(Column {
                    group: "",
                    stat,
                    fields,
                });
            }
        }
        Block {
            labels,
            columns,
            measured: group.rows.len(),
        }
    }

    fn label_width(&self) -> usize {
        self.labels
            .iter()
            .map(|f| len(&f.left))
            .max()
            .unwrap_or(0)
            .max(6)
    }

    /// Widths of the columns, stretched where a header of several is longer than they are.
    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(Column::width).collect();
        let mut i = 0;
        while i < widths.len() {
            let n = self.columns[i..]
                .iter()
                .take_while(|c| c.group == self.columns[i].group)
                .count();
            let have = widths[i..i + n].iter().sum::<usize>() + 2 * (n - 1);
            if !self.columns[i].group.is_empty() && len(self.columns[i].group) > have {
                widths[i] += len(self.columns[i].group) - have;
            }
            i += n;
        }
        widths
    }

    fn width(&self) -> usize {
        self.label_width() + self.widths().iter().map(|w| w + 2).sum::<usize>()
    }

    fn draw(&self, look: Look, out: &mut String) {
        if self.columns.is_empty() {
            return;
        }
        let widths = self.widths();
        self.header(&widths, look, out);
        for row in 0..self.labels.len() {
            if row == self.measured {
                let _ = writeln!(
                    out,
                    "{}",
                    look.paint(DIM, "the paper's values for the same cells:")
                );
            }
            self.row(row, &widths, look, out);
        }
    }

    fn header(&self, widths: &[usize], look: Look, out: &mut String) {
        let (mut first, mut second) = (
            pad("", self.label_width()),
            pad("scheme", self.label_width()),
        );
        let mut i = 0;
        while i < widths.len() {
            let n = self.columns[i..]
                .iter()
                .take_while(|c| c.group == self.columns[i].group)
                .count();
            let have = widths[i..i + n].iter().sum::<usize>() + 2 * (n - 1);
            let counter = self.columns[i].right() == 0
                && self.columns[i].group.len() <= self.columns[i].stat.len() + 1;
            let head = self.columns[i].group;
            let _ = write!(
                first,
                "  {}",
                if counter {
                    pad_left(head, have)
                } else {
                    pad(head, have)
                }
            );
            for (column, width) in self.columns[i..i + n].iter().zip(&widths[i..]) {
                // A header ends where the numbers end, so that the eye finds them; the interval
                // hangs behind.
                let hang = column.hang();
                let _ = write!(
                    second,
                    "  {}",
                    pad(&pad_left(column.stat, width - hang), *width)
                );
            }
            i += n;
        }
        for line in [first, second] {
            if !line.trim().is_empty() {
                let _ = writeln!(out, "{}", look.paint(DIM, line.trim_end()));
            }
        }
    }

    fn row(&self, row: usize, widths: &[usize], look: Look, out: &mut String) {
        let label = &self.labels[row];
        let mut line = look.paint(label.style, &pad(&label.left, self.label_width()));
        for (column, width) in self.columns.iter().zip(widths) {
            let f = &column.fields[row];
            let hang = column.hang();
            let number = look.paint(f.style, &pad_left(&f.left, width - hang));
            let rest = if hang > 0 {
                format!(" {}", pad(&f.right, column.right()))
            } else {
                String::new()
            };
            let _ = write!(line, "  {number}{}", look.paint(DIM, &rest));
        }
        let _ = writeln!(out, "{}", line.trim_end());
        // The word stands under the number that it speaks of.
        let mut under = " ".repeat(self.label_width());
        for (column, width) in self.columns.iter().zip(widths) {
            let word = if column.fields[row].style == RED {
                "worse"
            } else {
                ""
            };
            let hang = column.hang();
            let _ = write!(under, "  {}", pad(&pad_left(word, width - hang), *width));
        }
        if !under.trim().is_empty() {
            let _ = writeln!(out, "{}", look.paint(RED, under.trim_end()));
        }
    }
}

fn measured(cell: &Cell, baseline: bool) -> Field {
    if baseline {
        let left = cell
            .absolute
            .map_or("-".to_owned(), |v| cell.metric.show(v));
        return Field {
            left,
            right: String::new(),
            style: BOLD,
        };
    }
    match (&cell.against, cell.absolute) {
        (Some(c), _) => Field {
            left: units::percent(c.percent),
            right: c.printed_interval(),
            style: if cell.worse() {
                RED
            } else if cell.better() {
                GREEN
            } else {
                ""
            },
        },
        // Nothing to divide by: the baseline measured zero here.
        (None, Some(v)) => Field {
            left: cell.metric.show(v),
            ..Field::default()
        },
        (None, None) => Field {
            left: "-".to_owned(),
            ..Field::default()
        },
    }
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

/// Breaks lines at spaces.
pub fn wrap(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        if column > 0 && column + 1 + len(word) > width {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += len(word);
    }
    out
}
