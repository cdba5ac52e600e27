// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two runs side by side, as a text for the terminal and as a table for programs.

use std::fmt::Write as _;

use cemark_scenario::visible;

use super::files::{Table, number};
use super::{BOLD, DIM, GREEN, Look, RED};
use crate::beside::{Beside, Block, Combination, Line, Side, Verdict};
use crate::comparison::sentence;
use crate::text::{aligned, hang, wrap};
use crate::units;

/// Everything: the runs, the settings that differ, a table for each scheme at each value of the
/// axes, and what only one of the runs has.
pub fn text(beside: &Beside, look: Look) -> String {
    let mut out = String::new();
    for (letter, side) in [("A", &beside.a), ("B", &beside.b)] {
        run(letter, side, look, &mut out);
    }
    settings(beside, look, &mut out);
    if beside.equal_results {
        let _ = writeln!(
            out,
            "\n{}",
            wrap(
                &format!(
                    "The runs have equal results: the digest of both is {}.",
                    beside.a.digest
                ),
                look.width
            )
        );
    }
    for block in &beside.blocks {
        let _ = writeln!(out);
        draw(block, look, &mut out);
    }
    let only = [("A", &beside.only_a), ("B", &beside.only_b)];
    for (letter, all) in only.into_iter().filter(|(_, all)| !all.is_empty()) {
        let all: Vec<String> = all.iter().map(Combination::words).collect();
        let line = format!("only in {letter}: {}", all.join(", "));
        let _ = writeln!(out, "\n{}", hang(&visible(&line), look.width, 2));
    }
    out
}

/// A run in a few lines.
fn run(letter: &str, side: &Side, look: Look, out: &mut String) {
    let head = visible(&side.directory).into_owned();
    let _ = writeln!(out, "{letter}  {}", look.paint(BOLD, &head));
    let about = format!(
        "{}, cemark {}, digest {}: {}",
        side.scenario, side.version, side.digest, side.command
    );
    let _ = writeln!(out, "   {}", hang(&visible(&about), look.width, 3));
}

/// The settings that differ, the two values under each other.
fn settings(beside: &Beside, look: Look, out: &mut String) {
    let _ = writeln!(out);
    if beside.settings.is_empty() {
        let alike = beside.a.scenario_digest == beside.b.scenario_digest;
        let line = match alike {
            true => "No setting differs.",
            false => {
                "No setting differs that the scenarios write, but their digests do: files that \
                 they read, or defaults."
            }
        };
        let _ = writeln!(out, "{}", wrap(line, look.width));
        return;
    }
    let _ = writeln!(out, "{}", look.paint(DIM, "settings that differ"));
    for difference in &beside.settings {
        let value = |value: &Option<String>| match (value, &difference.default) {
            (Some(value), _) => value.clone(),
            (None, Some(default)) => format!("{default} (default)"),
            (None, None) => "not set".to_owned(),
        };
        let line = format!(
            "{}: A {}, B {}",
            difference.key,
            value(&difference.a),
            value(&difference.b)
        );
        let _ = writeln!(out, "  {}", hang(&visible(&line), look.width, 4));
    }
}

/// The heads of a block's table. The difference and its word stay together where the table folds.
const HEADS: [&str; 6] = ["metric", "A", "B", "B against A", "", ""];
/// Columns of numbers, on the right.
const RIGHT: [bool; 6] = [false, true, true, true, false, false];

/// The metrics of a scheme, and a sentence on what is decided.
fn draw(block: &Block, look: Look, out: &mut String) {
    let seeds = |n: u32| format!("{n} seed{}", if n == 1 { "" } else { "s" });
    let how = match block.paired {
        true => format!("paired, {}", seeds(block.seeds_a)),
        false => format!(
            "unpaired (Welch), as the flows differ: {} in A, {} in B",
            seeds(block.seeds_a),
            seeds(block.seeds_b)
        ),
    };
    let how = match is_equal(block) {
        true => format!("{how}; {EQUAL}"),
        false => how,
    };
    let name = visible(&block.combination.words()).into_owned();
    match name.chars().count() + 3 + how.chars().count() <= look.width {
        true => {
            let _ = writeln!(out, "{}   {how}", look.paint(BOLD, &name));
        }
        false => {
            let _ = writeln!(out, "{}", look.paint(BOLD, &wrap(&name, look.width)));
            let _ = writeln!(out, "{}", wrap(&how, look.width));
        }
    }
    if is_equal(block) {
        return;
    }
    let head = HEADS.map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head)
        .chain(block.metrics.iter().map(cells))
        .collect();
    for part in folded(&rows, look.width) {
        let _ = write!(out, "{}", coloured(&part, block, look));
    }
    let _ = writeln!(out, "{}", hang(&visible(&said(block)), look.width, 2));
}

fn cells(line: &Line) -> Vec<String> {
    let interval = match (line.largest_of, line.against) {
        (Some(n), _) => format!("max of {n}"),
        (None, Some(c)) => c.printed_interval(),
        (None, None) => String::new(),
    };
    vec![
        line.metric.name(),
        line.metric.show(line.a),
        line.metric.show(line.b),
        line.percent.map_or_else(|| "-".to_owned(), units::percent),
        interval,
        line.verdict.word().to_owned(),
    ]
}

/// The table, or its two parts where it is too wide: the values, and the differences.
fn folded(rows: &[Vec<String>], width: usize) -> Vec<String> {
    let of = |columns: &[usize]| {
        let take = |row: &Vec<String>| columns.iter().map(|i| row[*i].clone()).collect();
        let rows: Vec<Vec<String>> = rows.iter().map(take).collect();
        aligned(&rows, |i| RIGHT[columns[i]])
    };
    let whole = of(&[0, 1, 2, 3, 4, 5]);
    match whole.lines().all(|line| line.chars().count() <= width) {
        true => vec![whole],
        false => vec![of(&[0, 1, 2]), of(&[0, 3, 4, 5])],
    }
}

/// A part of a table with its head dim, and the words better and worse in their colours.
fn coloured(part: &str, block: &Block, look: Look) -> String {
    let mut lines = part.lines();
    let head = lines.next().unwrap_or_default();
    let mut out = format!("{}\n", look.paint(DIM, head));
    for (line, metric) in lines.zip(&block.metrics) {
        let word = metric.verdict.word();
        let style = match metric.verdict {
            Verdict::Better => GREEN,
            Verdict::Worse => RED,
            Verdict::NotDecided | Verdict::Equal | Verdict::NotJudged => "",
        };
        let _ = match line.strip_suffix(word) {
            Some(before) => writeln!(out, "{before}{}", look.paint(style, word)),
            None => writeln!(out, "{line}"),
        };
    }
    out
}

/// `B is better in short mean (-3.1 %) and worse in large mean (+2.0 %).`
fn said(block: &Block) -> String {
    let of = |verdict: Verdict| -> Vec<String> {
        let lines = block.metrics.iter().filter(|l| l.verdict == verdict);
        lines
            .map(|l| {
                let percent = units::percent(l.percent.unwrap_or_default());
                format!("{} ({percent})", l.metric.name())
            })
            .collect()
    };
    let (better, worse) = (of(Verdict::Better), of(Verdict::Worse));
    match better.is_empty() && worse.is_empty() {
        false => format!("{}.", sentence::judged("B", &better, &worse)),
        true => "Nothing is decided between A and B.".to_owned(),
    }
}

/// The sentence in the place of a table without a difference.
const EQUAL: &str = "A and B have equal results here.";

/// Whether every metric of a scheme has equal values for equal flows.
fn is_equal(block: &Block) -> bool {
    block.paired && block.metrics.iter().all(|l| l.verdict == Verdict::Equal)
}

/// Every number with every digit: a row for each scheme, value of the axes and metric.
pub fn table(beside: &Beside) -> Table {
    let axes: Vec<String> = match beside.blocks.first() {
        Some(block) => block.combination.axes.keys().cloned().collect(),
        None => Vec::new(),
    };
    let columns = [
        "scheme",
        "metric",
        "unit",
        "A",
        "B",
        "count A",
        "count B",
        "counted",
        "difference [%]",
        "low [%]",
        "high [%]",
        "pairing",
        "seeds A",
        "seeds B",
        "largest of",
        "verdict",
    ];
    let head = axes.iter().cloned().chain(columns.map(str::to_owned));
    let row = |block: &Block, line: &Line| {
        let values = axes.iter().map(|path| block.combination.axes[path].clone());
        let mut cells: Vec<String> = values.collect();
        let pairing = if block.paired { "paired" } else { "unpaired" };
        cells.extend([
            block.combination.scheme.clone(),
            line.metric.key.to_string(),
        ]);
        cells.push(line.unit.to_owned());
        cells.extend([line.a, line.b].map(|x| number(Some(x))));
        cells.extend([line.count_a, line.count_b].map(|n| n.to_string()));
        cells.push(line.counted.to_owned());
        cells.extend([line.percent, line.low, line.high].map(number));
        cells.push(pairing.to_owned());
        cells.extend([block.seeds_a, block.seeds_b].map(|n| n.to_string()));
        cells.push(line.largest_of.map_or(String::new(), |n| n.to_string()));
        cells.push(line.verdict.word().to_owned());
        cells
    };
    let each = beside.blocks.iter();
    let each = each.flat_map(|block| block.metrics.iter().map(move |line| row(block, line)));
    Table {
        name: "compare".to_owned(),
        title: "Two runs: B against A".to_owned(),
        head: head.collect(),
        rows: each.collect(),
    }
}
