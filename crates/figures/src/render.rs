// SPDX-License-Identifier: MIT OR Apache-2.0
//! Output of `cemark figure`: the table, the JSON document and `report.html`.

use std::path::Path;

use cemark_report::html::Parts;
use cemark_report::html::page::{Entry, Picture, page, typeset};
use cemark_report::text::{distinct, hang, wrap};
use cemark_report::units::{self, number};
use cemark_scenario::Overrides;
use minijinja::value::Serde;
use minijinja::{Value, context};

use super::answer::answers;
use super::committed::Committed;
use super::error::FileError;
use super::file::FigureFile;
use super::result::{FigureRun, PartResult, RowResult};
use super::targets::{Expected, Target};
use super::verdict::RowVerdict;
use super::why::{Grade, Parameter};
use super::{FIGURES, Mode, chart};

/// JSON document of a run; `docs/output.md` lists its fields.
pub fn json(run: &FigureRun) -> String {
    let mut text = serde_json::to_string_pretty(run).expect("numbers and strings");
    text.push('\n');
    text
}

/// The table on the terminal: one line for each row, and one for each condition of a row that has
/// several. Long names take several lines if the terminal is narrower than the table.
pub fn table(run: &FigureRun, columns: usize) -> String {
    if run.rows.is_empty() {
        return count(run, columns);
    }
    let mut out = String::new();
    let head = [
        "row",
        "published",
        "measured",
        "95 % interval",
        "verdict",
        "value",
    ];
    let mut lines: Vec<[String; 6]> = vec![head.map(str::to_owned)];
    for row in &run.rows {
        let differs = if row.differs() {
            format!(
                " (expected: {})",
                row.expected.map_or(String::new(), |e| e.to_string())
            )
        } else {
            String::new()
        };
        match &row.parts[..] {
            [part] => {
                let looked = by_look(row.look, row.seeds_needed, row.verdict);
                let mut line = line(part, format!("{}{looked}{differs}", row.verdict));
                line[0].clone_from(&row.id);
                lines.push(line);
            }
            parts => {
                let mut whole = <[String; 6]>::default();
                whole[0].clone_from(&row.id);
                let looked = by_look(row.look, row.seeds_needed, row.verdict);
                whole[4] = format!("{}{looked}{differs}", row.verdict);
                lines.push(whole);
                lines.extend(parts.iter().map(|p| {
                    let mut line = line(p, verdict(row, p));
                    line[0] = format!(
                        "  {} {}",
                        p.id.rsplit('.').next().unwrap_or_default(),
                        p.statistic
                    );
                    line
                }));
            }
        }
    }
    out.push_str(&drawn(&lines, columns));
    let answers = answers(run);
    if !answers.is_empty() {
        out.push_str(&format!("{}\n", wrap(&answers, columns)));
    }
    out.push_str(&count(run, columns));
    out
}

/// Least columns of the names of rows.
const NAMES: usize = 24;

/// The lines of the table. Names take several lines where the terminal is narrow; where that is not
/// enough, the verdicts follow in a part of their own, and what is still too long is wrapped.
fn drawn(lines: &[[String; 6]], columns: usize) -> String {
    let len = |text: &str| text.chars().count();
    let width = |i: usize| lines.iter().map(|l| len(&l[i])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    let values = |of: &[usize]| of.iter().map(|i| widths[*i] + 2).sum::<usize>();
    let least = widths[0].min(NAMES);
    let parts: &[&[usize]] = match values(&[1, 2, 3, 4, 5]) + least <= columns {
        true => &[&[1, 2, 3, 4, 5]],
        false => &[&[1, 2, 3], &[5, 4]],
    };
    let mut out = String::new();
    for of in parts {
        let room = columns.saturating_sub(values(of));
        let names = widths[0].min(room.max(least));
        for line in lines {
            let name = folded(&line[0], names);
            let (first, below) = name.split_once('\n').unwrap_or((&name, ""));
            let cell = |i: &usize| match (1..=3).contains(i) {
                true => format!("{:>w$}", line[*i], w = widths[*i]),
                false => format!("{:<w$}", line[*i], w = widths[*i]),
            };
            let cells: Vec<String> = of.iter().map(cell).collect();
            let row = format!("{first:<names$}  {}", cells.join("  "));
            let row = row.trim_end();
            if len(row) <= columns {
                out.push_str(&format!("{row}\n"));
            } else {
                // Only the last cell, the verdict, has words to break at.
                let (last, others) = cells.split_last().expect("a column");
                let before = format!("{first:<names$}  {}  ", others.join("  "));
                let last = hang(last, columns, len(&before));
                out.push_str(&format!("{before}{}\n", last.trim_end()));
            }
            if !below.is_empty() {
                out.push_str(&format!("{below}\n"));
            }
        }
    }
    out
}

/// A name in lines of at most `room` columns; all but the first are indented.
fn folded(name: &str, room: usize) -> String {
    let text = name.trim_start();
    let indent = name.len() - text.len();
    let below = format!("\n{:1$}", "", indent + 2);
    let text = wrap(text, room.saturating_sub(indent + 2));
    format!("{:indent$}{}", "", text.replace('\n', &below))
}

fn line(part: &PartResult, verdict: String) -> [String; 6] {
    let interval = match (part.low, part.high) {
        (Some(low), Some(high)) => format!("{} .. {}", number(low), number(high)),
        _ => "-".to_owned(),
    };
    let unit = |x: Option<f64>| {
        x.map_or("-".to_owned(), |x| {
            format!("{} {}", number(x), part.unit).trim_end().to_owned()
        })
    };
    let value = match (part.matches_value, part.near) {
        (Some(true), _) => "within 10 %",
        (_, Some(true)) => "near",
        (Some(false), _) => "differs",
        (None, _) => "",
    };
    [
        part.id.clone(),
        unit(part.published),
        unit(part.measured),
        interval,
        verdict,
        value.to_owned(),
    ]
}

/// Words beside a verdict: its look (`, look 2`), and for an open verdict about how many seeds it
/// would take.
fn by_look(look: Option<u32>, seeds: Option<u64>, verdict: RowVerdict) -> String {
    match (look, seeds) {
        (None, _) => String::new(),
        (Some(look), Some(seeds)) if verdict == RowVerdict::NotDecided => {
            format!(", look {look}; about {seeds} seeds would")
        }
        (Some(look), _) => format!(", look {look}"),
    }
}

fn verdict(row: &RowResult, part: &PartResult) -> String {
    match part.verdict {
        Some(verdict) => {
            let looked = by_look(part.look, part.seeds_needed, verdict);
            format!("{verdict}{looked}")
        }
        // No condition of such a row decides, and its own verdict says so.
        None if row.verdict == RowVerdict::Measured => String::new(),
        None => "(does not decide)".to_owned(),
    }
}

/// How many rows have each verdict.
pub(super) fn kinds(run: &FigureRun) -> String {
    let verdicts = || run.rows.iter().map(|row| row.verdict);
    let count = |kind: &RowVerdict| verdicts().filter(|v| v == kind).count();
    let kinds = distinct(verdicts());
    let kinds: Vec<String> = kinds.iter().map(|k| format!("{} {k}", count(k))).collect();
    let plural = if run.rows.len() == 1 { "" } else { "s" };
    let near = run.rows.iter().filter_map(|r| r.near);
    let (near, of) = near.fold((0, 0), |(near, of), is| (near + usize::from(is), of + 1));
    let near = match of {
        0 => String::new(),
        of => format!("; {near} of {of} near the published number"),
    };
    format!("{} row{plural}: {}{near}", run.rows.len(), kinds.join(", "))
}

/// How many rows have each verdict, and what the run cost.
fn count(run: &FigureRun, columns: usize) -> String {
    let kinds = if run.rows.is_empty() {
        "0 rows".to_owned()
    } else {
        kinds(run)
    };
    let cost = format!(
        "{kinds}. {} point{}, {:.2} G packet-hops, {:.0} CPU seconds.",
        run.points,
        if run.points == 1 { "" } else { "s" },
        run.packet_hops as f64 / 1e9,
        run.cpu_seconds
    );
    let mut text = format!("{}\n", wrap(&cost, columns));
    if run.mode == Mode::Quick && run.rows.iter().any(|r| r.verdict == RowVerdict::NotDecided) {
        let said = "Not decided: a quick run has too few flows for it; use --full.";
        text.push_str(&format!("{}\n", wrap(said, columns)));
    }
    if run.left_out > 0 {
        let said = format!(
            "{} numbers that are printed beside and decide nothing were left out; `cemark figure \
             NAME` has those of a figure.",
            run.left_out
        );
        text.push_str(&format!("{}\n", wrap(&said, columns)));
    }
    for row in run.differing() {
        let said = format!(
            "{}: {}, but figures/expected.tsv says {}.",
            row.id,
            row.verdict,
            row.expected.map_or("-".to_owned(), |e| e.to_string())
        );
        text.push_str(&format!("{}\n", wrap(&said, columns)));
    }
    if run.mode == Mode::Full {
        let looks = run
            .rows
            .iter()
            .flat_map(|r| &r.parts)
            .any(|p| p.look.is_some());
        if looks {
            let said = "Each interval misses with 5 % divided by the number of looks, so that all \
                        looks together are right with 95 % (cemark help figures). \"About N \
                        seeds\" is an estimate.";
            text.push_str(&format!("{}\n", wrap(said, columns)));
        }
        text.push_str(&format!("build: {}\n", run.build));
    }
    for line in &run.unfinished {
        let said = wrap(&format!("not finished: {line}"), columns);
        text.push_str(&format!("{said}\n"));
    }
    for report in &run.reports {
        text.push_str(&format!("report: {}\n", report.display()));
    }
    text
}

/// `cemark figure --list`: every figure with its title, its rows, its cost in either mode and the
/// grades of its parameters; below, how many rows have each verdict.
pub fn list(
    committed: &Committed,
    expected: &Expected,
    columns: usize,
) -> Result<String, FileError> {
    let Committed {
        calibration,
        targets,
    } = committed;
    let mut out = String::new();
    let beside = |text: &str| hang(text, columns, 22);
    for (id, text) in FIGURES {
        let file = FigureFile::parse(id, text, calibration)?;
        let mut rows: Vec<&str> = targets
            .iter()
            .filter(|t| t.figure == *id)
            .map(Target::row)
            .collect();
        rows.dedup();
        out.push_str(&format!(
            "{id:<22}{}\n{:22}{}\n",
            beside(&file.title),
            "",
            beside(&rows.join(" "))
        ));
        let mut cost = Vec::new();
        for mode in [Mode::Quick, Mode::Full] {
            if let Some(plan) = file.plan(mode, calibration, None, &Overrides::default())? {
                let hops = plan.points.iter().map(|p| p.cost).sum::<f64>() / 1e9;
                let (flag, points) = (mode.flag(), plan.points.len());
                cost.push(format!(
                    "{flag} {points} points, about {hops:.1} G packet-hops"
                ));
            }
        }
        if !cost.is_empty() {
            out.push_str(&format!("{:22}{}\n", "", beside(&cost.join("; "))));
            out.push_str(&format!("{:22}{}\n", "", beside(&parameters(&file))));
        }
    }
    out.push_str(&format!("\n{}\n", wrap(&expected.summary(), columns)));
    Ok(out)
}

/// The grades of a figure's parameters as a line of their own.
fn parameters(file: &FigureFile) -> String {
    format!("parameters: {}", grades(&file.parameters))
}

/// `3 paper, 2 code, 4 ours`, and how many of them differ from a better source.
pub(super) fn grades(parameters: &[Parameter]) -> String {
    let counts = Grade::ALL.map(|grade| {
        (
            parameters.iter().filter(|p| p.grade == grade).count(),
            grade,
        )
    });
    let counts = counts.iter().filter(|(n, _)| *n > 0);
    let counts: Vec<String> = counts
        .map(|(n, grade)| format!("{n} {}", grade.key()))
        .collect();
    let differ = parameters.iter().filter(|p| p.instead.is_some()).count();
    let differ = match differ {
        0 => String::new(),
        1 => "; 1 differs from a better source".to_owned(),
        n => format!("; {n} differ from a better source"),
    };
    format!("{}{differ}", counts.join(", "))
}

/// `cemark figure NAME --why`: each parameter with its value, its grade and the source, and what a
/// better source has where we do not follow it.
pub fn why(file: &FigureFile, columns: usize) -> String {
    let title = format!("{}: {}", file.id, file.title);
    let mut out = format!("{}\n", wrap(&title, columns));
    if file.parameters.is_empty() {
        let said = "computed from closed forms or printed tables; nothing is simulated";
        out.push_str(&format!("{}\n", wrap(said, columns)));
        return out;
    }
    let width = |cell: fn(&Parameter) -> &str, most: usize| {
        let widths = file.parameters.iter().map(|p| cell(p).chars().count());
        widths.max().unwrap_or(0).min(most)
    };
    let (paths, values) = (width(|p| &p.path, 36), width(|p| &p.value, 20));
    let left = paths + values + 4;
    // Beside both columns a reason needs some room.
    let (left, is_beside) = match columns.saturating_sub(left + 7) >= 24 {
        true => (left, true),
        false => (4, false),
    };
    let room = columns.saturating_sub(left + 7);
    let below = format!("\n{:w$}", "", w = left + 7);
    for p in &file.parameters {
        let text = wrap(&p.why, room).replace('\n', &below);
        let head = format!("{:<paths$}  {:<values$}", p.path, p.value);
        // A long path or value takes a line of its own.
        let (head, gap) = match is_beside && head.chars().count() + 2 <= left {
            true => (head, "  ".to_owned()),
            false => {
                let head = format!("{} = {}", p.path, p.value);
                (hang(&head, columns, 2), format!("\n{:left$}", ""))
            }
        };
        out.push_str(&format!("{head}{gap}{:<5}  {text}\n", p.grade.key()));
        if let Some(instead) = &p.instead {
            let text = wrap(&instead.text, room).replace('\n', &below);
            let key = format!("({})", instead.grade.key());
            out.push_str(&format!("{:w$}{key:<6} {text}\n", "", w = left));
        }
    }
    out.push_str(&format!("{}\n", wrap(&parameters(file), columns)));
    out
}

/// The figure's self-contained report; `measured`: charts and tables of its points, and the
/// directory where these are.
pub(crate) fn html(
    file: &FigureFile,
    run: &FigureRun,
    (open, flows): (u64, u64),
    measured: Option<(&Parts, &Path)>,
) -> String {
    let rows: Vec<_> = run.rows.iter().map(|r| row(r, true)).collect();
    let mut contents = vec![Entry::new("top", &file.id)];
    contents.extend(run.rows.iter().map(|r| Entry::new(&r.id, &r.id)));
    if measured.is_some() {
        contents.push(Entry::new("measured", "All points"));
    }
    let lead = format!("{} {}.", answers(run), kinds(run))
        .trim()
        .to_owned();
    let plot = |dir: &Path| format!("cemark plot {} --metric NAME", dir.display());
    let values = context! {
        id => &file.id, title => &file.title, rows, open, lead, points => run.points,
        flows => units::count(flows as f64),
        hops => units::count(run.packet_hops as f64), mode => run.mode.flag(),
        looks => run.rows.iter().flat_map(|r| &r.parts).any(|p| p.look.is_some()),
        parts => measured.map(|(parts, _)| parts.values()),
        plot => measured.map(|(_, dir)| plot(dir)),
    };
    page(include_str!("figure.html"), &contents, values)
}

/// Values of a row for the report; `drawn`: with its chart.
pub(super) fn row(row: &RowResult, drawn: bool) -> Value {
    let parts = row.parts.iter().map(|p| {
        let cells = line(p, verdict(row, p));
        let [id, published, measured, interval, verdict, value] = cells.map(|c| typeset(&c));
        context! {
            id, published, measured, interval, verdict, value, band => typeset(&band(p)),
            statistic => &p.statistic, note => &p.note,
            kind => p.verdict.map_or("", RowVerdict::key),
        }
    });
    let parts: Vec<_> = parts.collect();
    context! {
        id => &row.id, experiment => &row.experiment, parts,
        chart => chart::of_row(row)
            .filter(|_| drawn)
            .map(|c| Value::from(Serde(Picture::from(c)))),
        verdict => format!("{}{}", row.verdict, by_look(row.look, row.seeds_needed, row.verdict)),
        kind => row.verdict.key(),
    }
}

/// The accepted values: `80 .. 120`, `80 or more`.
fn band(part: &PartResult) -> String {
    match (part.lo, part.hi) {
        (Some(lo), Some(hi)) => format!("{} .. {}", number(lo), number(hi)),
        (Some(lo), None) => format!("{} or more", number(lo)),
        (None, Some(hi)) => format!("{} or less", number(hi)),
        (None, None) => "none".to_owned(),
    }
}
