// SPDX-License-Identifier: MIT OR Apache-2.0
//! A part of a table that fits the terminal: columns of fields, aligned at the percent sign.

use std::fmt::Write as _;

use cemark_scenario::visible;

use super::{BOLD, DIM, GREEN, Look, RED, len, pad, pad_left, shorten};
use crate::comparison::{Cell, Group, Row};
use crate::metrics::{self, Metric};
use crate::units;

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

    /// Width behind the percent sign: the interval and its space.
    fn behind(&self) -> usize {
        if self.right() > 0 {
            self.right() + 1
        } else {
            0
        }
    }

    fn width(&self) -> usize {
        let body = self.left() + self.behind();
        body.max(len(self.stat))
    }
}

/// A part of a table that is drawn at once.
pub(super) struct Block {
    labels: Vec<Field>,
    columns: Vec<Column>,
    /// Where the rows of the paper begin.
    measured: usize,
}

impl Block {
    /// The metrics as columns, with the counters behind them if `counts`.
    pub(super) fn new(group: &Group, metrics: &[&'static Metric], counts: bool) -> Self {
        let printed = |r: &Row| metrics.iter().any(|m| r.cell(m).published.is_some());
        let papers: Vec<&Row> = group.rows.iter().filter(|r| printed(r)).collect();
        let label = |r: &Row, style| Field {
            left: shorten(&visible(&r.scheme), 24),
            style,
            ..Field::default()
        };
        let of_rows = group.rows.iter();
        let mut labels: Vec<Field> = of_rows
            .map(|r| label(r, if r.baseline { BOLD } else { "" }))
            .collect();
        labels.extend(papers.iter().map(|r| label(r, DIM)));
        let compared = metrics.iter().map(|m| compared(group, &papers, m));
        let mut columns: Vec<Column> = compared.collect();
        if counts {
            let counters = metrics::shown(metrics::counted(), |column| column.terminal);
            columns.extend(counters.iter().map(|m| counted(group, m, labels.len())));
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
        let mut first = 0;
        for columns in self.columns.chunk_by(|a, b| a.group == b.group) {
            let (group, end) = (columns[0].group, first + columns.len());
            let missing = len(group).saturating_sub(together(&widths[first..end]));
            widths[first] += missing;
            first = end;
        }
        widths
    }

    pub(super) fn width(&self) -> usize {
        self.label_width() + self.widths().iter().map(|w| w + 2).sum::<usize>()
    }

    pub(super) fn draw(&self, look: Look, out: &mut String) {
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
                    look.paint(DIM, "published values of the same cells:")
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
        let mut rest = widths;
        for columns in self.columns.chunk_by(|a, b| a.group == b.group) {
            let (widths, others) = rest.split_at(columns.len());
            rest = others;
            // A counter is on the right, as its numbers are.
            let (head, have) = (columns[0].group, together(widths));
            let counter = columns[0].right() == 0 && head.len() <= columns[0].stat.len() + 1;
            let place = if counter { pad_left } else { pad };
            let _ = write!(first, "  {}", place(head, have));
            for (column, width) in columns.iter().zip(widths) {
                // A header ends where the numbers end; the interval is behind them.
                let stat = pad_left(column.stat, width - column.behind());
                let _ = write!(second, "  {}", pad(&stat, *width));
            }
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
            let behind = column.behind();
            let number = look.paint(f.style, &pad_left(&f.left, width - behind));
            let rest = if behind > 0 {
                format!(" {}", pad(&f.right, column.right()))
            } else {
                String::new()
            };
            let _ = write!(line, "  {number}{}", look.paint(DIM, &rest));
        }
        let _ = writeln!(out, "{}", line.trim_end());
        // The word is under the number that it describes.
        let mut under = " ".repeat(self.label_width());
        for (column, width) in self.columns.iter().zip(widths) {
            let word = if column.fields[row].style == RED {
                "worse"
            } else {
                ""
            };
            let behind = column.behind();
            let _ = write!(under, "  {}", pad(&pad_left(word, width - behind), *width));
        }
        if !under.trim().is_empty() {
            let _ = writeln!(out, "{}", look.paint(RED, under.trim_end()));
        }
    }
}

/// The width of neighbouring columns.
fn together(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + 2 * (widths.len() - 1)
}

/// The column of a metric: what was measured, and below it what papers printed.
fn compared(group: &Group, papers: &[&Row], metric: &'static Metric) -> Column {
    let (group_head, stat) = metric.heading();
    let rows = group.rows.iter();
    let mut fields: Vec<Field> = rows.map(|r| measured(r.cell(metric), r.baseline)).collect();
    fields.extend(papers.iter().map(|r| {
        let published = r.cell(metric).published.as_ref();
        Field {
            left: published
                .map(|p| units::percent(p.percent))
                .unwrap_or_default(),
            right: String::new(),
            style: DIM,
        }
    }));
    Column {
        group: group_head,
        stat,
        fields,
    }
}

/// The column of a counter, filled up with empty fields to this number of rows.
fn counted(group: &Group, metric: &'static Metric, rows: usize) -> Column {
    let (group_head, stat) = metric.heading();
    let field = |r: &Row| Field {
        left: metric.show(r.sum(metric)),
        ..Field::default()
    };
    let mut fields: Vec<Field> = group.rows.iter().map(field).collect();
    fields.resize(rows, Field::default());
    Column {
        group: group_head,
        stat,
        fields,
    }
}

fn measured(cell: &Cell, baseline: bool) -> Field {
    if baseline {
        let left = cell
            .absolute
            .map_or("-".to_owned(), |v| cell.metric.show(v));
        return Field {
            left,
            right: cell.largest(),
            style: BOLD,
        };
    }
    match (&cell.against, cell.absolute) {
        (Some(c), _) => Field {
            left: units::percent(c.percent),
            right: match cell.largest_of {
                None => c.printed_interval(),
                Some(_) => cell.largest(),
            },
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
