// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark check`: a scenario read, expanded and priced, without running it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cemark_report::summary::hex;
use cemark_report::{table::wrap, units};
use cemark_scenario::{Plan, Point, visible, visible_lines};
use serde::Serialize;

use crate::exit::{Failure, answer, answer_json, warn};
use crate::run::look;
use crate::{Changes, Format};

/// Arguments of `cemark check`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A scenario file, or the name of a built-in.
    scenario: String,
    #[command(flatten)]
    changes: Changes,
    /// How the answer is written.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

#[derive(Serialize)]
struct Checked<'a> {
    schema: u32,
    scenario: &'a str,
    title: &'a str,
    scenario_digest: String,
    schemes: &'a [String],
    baseline: Option<&'a String>,
    warnings: Vec<String>,
    points: Vec<CheckedPoint<'a>>,
    estimated_packet_hops: f64,
}

#[derive(Serialize)]
struct CheckedPoint<'a> {
    axes: &'a BTreeMap<String, String>,
    scheme: &'a str,
    load: Option<f64>,
    seed: u64,
    estimated_packet_hops: f64,
}

pub(crate) fn check(args: &Args) -> Result<(), Failure> {
    let plan = cemark_scenario::load(&args.scenario, &args.changes.overrides()?)?;
    warn(&plan);
    let hops: f64 = plan.points.iter().map(|p| p.cost).sum();
    match args.format {
        Format::Table => answer(&table(&plan, hops, &args.scenario)),
        Format::Json => answer_json(&Checked {
            schema: cemark_report::summary::SCHEMA,
            scenario: &plan.name,
            title: &plan.title,
            scenario_digest: hex(plan.digest),
            schemes: &plan.schemes,
            baseline: plan.schemes.get(plan.baseline),
            warnings: plan.warning_lines(),
            points: plan
                .points
                .iter()
                .map(|p| CheckedPoint {
                    axes: &p.axes,
                    scheme: &p.scheme,
                    load: p.load,
                    seed: p.seed,
                    estimated_packet_hops: p.cost,
                })
                .collect(),
            estimated_packet_hops: hops,
        }),
    }
}

fn table(plan: &Plan, hops: f64, scenario: &str) -> String {
    let mut out = format!("{}\n", wrap(&visible(&plan.title), look().width));
    if !plan.description.is_empty() {
        let description = visible_lines(&plan.description);
        let _ = writeln!(out, "{}", wrap(&description, look().width));
    }
    let _ = writeln!(out);
    // One line for the seeds of a scheme at a value of the axes.
    let mut lines: Vec<(&Point, Vec<u64>, f64)> = Vec::new();
    for p in &plan.points {
        // Seeds come last in the order of the points.
        let line = lines.last_mut();
        match line.filter(|(q, ..)| q.axes == p.axes && q.scheme == p.scheme) {
            Some((_, seeds, cost)) => {
                seeds.push(p.seed);
                *cost += p.cost;
            }
            None => lines.push((p, vec![p.seed], p.cost)),
        }
    }
    let mut rows: Vec<Vec<String>> = vec![plan.axes.clone()];
    rows[0].extend(["scheme", "seeds", "packet-hops"].map(str::to_owned));
    for (p, seeds, cost) in &lines {
        let mut row: Vec<String> = plan
            .axes
            .iter()
            .map(|a| p.axes.get(a).cloned().unwrap_or_default())
            .collect();
        row.push(p.scheme.clone());
        row.push(
            seeds
                .iter()
                .map(u64::to_string)
                .collect::<Vec<_>>()
                .join(" "),
        );
        row.push(units::count(*cost));
        rows.push(row);
    }
    let names = rows.iter_mut().flatten();
    names.for_each(|cell| *cell = visible(cell).into_owned());
    let width = |i: usize| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    for row in &rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(c, w)| format!("{c:w$}"))
            .collect();
        let _ = writeln!(out, "{}", cells.join("  ").trim_end());
    }
    let seconds: f64 = plan.points.iter().map(Point::cpu_seconds).sum();
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let cost = format!(
        "{} points, about {} packet-hops: {} on {cores} cores at {} packet-hops a core and second",
        plan.points.len(),
        units::count(hops),
        units::span(seconds / cores as f64),
        // As the points have it on average; to two digits, for more it does not mean.
        units::count((hops / seconds / 1e5).round() * 1e5),
    );
    let _ = writeln!(out, "\n{}", wrap(&cost, look().width));
    let _ = writeln!(out, "next    cemark run {scenario}");
    out
}
