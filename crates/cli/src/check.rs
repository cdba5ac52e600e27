// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark check`: reads and expands a scenario and estimates its cost, without running it.

mod meters;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cemark_foreign::Form;
use cemark_report::stats::sequential;
use cemark_report::summary::hex;
use cemark_report::text::{aligned, hang, wrap};
use cemark_report::units;
use cemark_runner::memory;
use cemark_scenario::{OwnMarker, Plan, Point, Precision, visible, visible_lines};
use cemark_sim::workload::{Kind, RttModel, RttSpread, Workload};
use serde::Serialize;

use self::meters::FlowControl;
use crate::exit::{Failure, answer, answer_json, warn};
use crate::terminal::look;
use crate::{Changes, Extent, Format};

/// Arguments of `cemark check`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A scenario file, or the name of a built-in.
    #[arg(required_unless_present = "schema")]
    scenario: Option<String>,
    /// Print a JSON schema of scenario files for editors.
    #[arg(long, conflicts_with_all = ["scenario", "set", "seed", "seeds", "precision", "full",
        "anyway", "format"])]
    schema: bool,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    extent: Extent,
    /// Succeed even if the machine seems to have too little memory for the run.
    #[arg(long)]
    anyway: bool,
    /// Output format.
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
    /// The parameters in force of each scheme.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    parameters: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    presets: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    retunes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    precision: Option<CheckedPrecision<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    base_rtts: Vec<BaseRtts>,
    /// Headroom and XOFF under flow control.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flow_control: Vec<FlowControl>,
    points: Vec<CheckedPoint<'a>>,
    estimated_packet_hops: f64,
    estimated_cpu_seconds: f64,
    estimated_peak_memory_bytes: f64,
}

/// A stated precision. The points are those of the most replications.
#[derive(Serialize)]
struct CheckedPrecision<'a> {
    within: f64,
    metrics: &'a [String],
    most: u32,
    looks: Vec<u32>,
    estimated_packet_hops_of_one_replication: f64,
    estimated_cpu_seconds_of_one_replication: f64,
}

impl<'a> CheckedPrecision<'a> {
    fn of(plan: &Plan, precision: &'a Precision) -> Self {
        let one = first_replication(plan);
        CheckedPrecision {
            within: precision.within,
            metrics: &precision.metrics,
            most: precision.most,
            looks: sequential::looks(precision.most),
            estimated_packet_hops_of_one_replication: one.distinct().iter().map(|p| p.cost).sum(),
            estimated_cpu_seconds_of_one_replication: seconds(&one),
        }
    }
}

/// The plan with the first replication of each block.
fn first_replication(plan: &Plan) -> Plan {
    let blocks = plan.blocks().into_iter();
    let mut points: Vec<usize> = blocks
        .filter_map(|block| block.replications.into_iter().next())
        .flatten()
        .collect();
    points.sort_unstable();
    plan.only(&points)
}

fn seconds(plan: &Plan) -> f64 {
    plan.distinct().iter().map(|p| p.cpu_seconds()).sum()
}

/// Base RTTs of a file or a table, in microseconds.
#[derive(Serialize)]
struct BaseRtts {
    samples: Option<usize>,
    min_us: f64,
    mean_us: f64,
    p50_us: f64,
    p90_us: f64,
    max_us: f64,
}

impl BaseRtts {
    fn line(&self) -> String {
        let us = units::micros;
        let from = match self.samples {
            Some(n) => format!("{n} samples"),
            None => "a table of quantiles".to_owned(),
        };
        format!(
            "base RTTs from {from}: min {}, mean {}, p50 {}, p90 {}, max {}",
            us(self.min_us),
            us(self.mean_us),
            us(self.p50_us),
            us(self.p90_us),
            us(self.max_us)
        )
    }
}

/// Base RTTs of a plan, each once, in the order of its points.
fn base_rtts(plan: &Plan) -> Vec<BaseRtts> {
    let mut models: Vec<&RttModel> = Vec::new();
    for point in &plan.points {
        if !models.contains(&&point.config.rtt) {
            models.push(&point.config.rtt);
        }
    }
    let of = |s: RttSpread| BaseRtts {
        samples: s.samples,
        min_us: s.min.as_micros_f64(),
        mean_us: s.mean.as_micros_f64(),
        p50_us: s.p50.as_micros_f64(),
        p90_us: s.p90.as_micros_f64(),
        max_us: s.max.as_micros_f64(),
    };
    let tables = models.into_iter().filter_map(RttModel::spread);
    tables.map(of).collect()
}

#[derive(Serialize)]
struct CheckedPoint<'a> {
    axes: &'a BTreeMap<String, String>,
    scheme: &'a str,
    load: Option<f64>,
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    same_as: Option<usize>,
    estimated_packet_hops: f64,
    estimated_cpu_seconds: f64,
    estimated_peak_memory_bytes: f64,
}

pub(crate) fn check(args: &Args) -> Result<(), Failure> {
    let Some(scenario) = &args.scenario else {
        return answer_json(&cemark_scenario::json_schema());
    };
    let overrides = args.extent.add_to(args.changes.overrides(scenario)?);
    let plan = cemark_scenario::load(scenario, &overrides)?;
    warn(&plan);
    let distinct = plan.distinct();
    let hops: f64 = distinct.iter().map(|p| p.cost).sum();
    match args.format {
        Format::Table => answer(&table(&plan, hops, scenario))?,
        Format::Json => answer_json(&Checked {
            schema: cemark_report::summary::SCHEMA,
            scenario: &plan.name,
            title: &plan.title,
            scenario_digest: hex(plan.digest),
            schemes: &plan.schemes,
            baseline: plan.schemes.get(plan.baseline),
            warnings: plan.warning_lines(),
            parameters: &plan.parameters,
            presets: &plan.presets,
            retunes: &plan.retunes,
            precision: plan
                .precision
                .as_ref()
                .map(|p| CheckedPrecision::of(&plan, p)),
            base_rtts: base_rtts(&plan),
            flow_control: flow_control(&plan),
            points: plan
                .points
                .iter()
                .zip(plan.simulated_as())
                .enumerate()
                .map(|(i, (p, first))| CheckedPoint {
                    axes: &p.axes,
                    scheme: &p.scheme,
                    load: p.load,
                    seed: p.seed,
                    same_as: (first != i).then_some(first),
                    estimated_packet_hops: p.cost,
                    estimated_cpu_seconds: p.cpu_seconds(),
                    estimated_peak_memory_bytes: p.peak_bytes,
                })
                .collect(),
            estimated_packet_hops: hops,
            estimated_cpu_seconds: seconds(&plan),
            estimated_peak_memory_bytes: plan.peak_bytes(memory::jobs(None)),
        })?,
    }
    // After the answer, which shows which points need the memory.
    memory::refuse(&plan, None, args.anyway)
}

/// Line of the table: all seeds of a scheme at one value of the axes.
struct Line<'a> {
    point: &'a Point,
    seeds: Vec<String>,
    hops: f64,
    seconds: f64,
    peak: f64,
    /// Seeds that are simulated here; the result of the others is that of a line above.
    simulated: usize,
}

fn lines(plan: &Plan) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for ((i, p), first) in plan.points.iter().enumerate().zip(plan.simulated_as()) {
        // Seeds come last in the order of the points.
        let last = lines.last();
        if last.is_none_or(|l| l.point.axes != p.axes || l.point.scheme != p.scheme) {
            lines.push(Line {
                point: p,
                seeds: Vec::new(),
                hops: 0.0,
                seconds: 0.0,
                peak: 0.0,
                simulated: 0,
            });
        }
        let place = lines.last_mut().expect("there is one by now");
        place.seeds.push(p.seed.to_string());
        if first != i {
            continue;
        }
        place.simulated += 1;
        place.hops += p.cost;
        place.seconds += p.cpu_seconds();
        place.peak = place.peak.max(p.peak_bytes);
    }
    lines
}

/// The flow control of the points, one of each line of the table.
fn flow_control(plan: &Plan) -> Vec<FlowControl> {
    let lines = lines(plan);
    let settings = lines.iter().map(|l| (&l.point.config, l.seeds.len()));
    meters::of(settings)
}

fn table(plan: &Plan, hops: f64, scenario: &str) -> String {
    let mut out = format!("{}\n", wrap(&visible(&plan.title), look().width));
    if !plan.description.is_empty() {
        let description = visible_lines(&plan.description);
        let _ = writeln!(out, "{}", wrap(&description, look().width));
    }
    let _ = writeln!(out);
    // Of a stated precision the rows are one replication: how many there will be is not known.
    let shown = plan.precision.as_ref().map(|_| first_replication(plan));
    let shown = shown.as_ref().unwrap_or(plan);
    let (seeds, most) = match plan.precision {
        Some(_) => ("first seed", "At most "),
        None => ("seeds", ""),
    };
    let mut rows: Vec<Vec<String>> = vec![plan.axes.clone()];
    rows[0].extend(["scheme", seeds, "packet-hops", "CPU", "memory"].map(str::to_owned));
    for line in lines(shown) {
        let axes = plan.axes.iter();
        let mut row: Vec<String> = axes
            .map(|a| line.point.axes.get(a).cloned().unwrap_or_default())
            .collect();
        row.extend([line.point.scheme.clone(), line.seeds.join(" ")]);
        if line.simulated == 0 {
            row.extend(["as above", "", ""].map(str::to_owned));
        } else {
            row.extend([
                units::count(line.hops),
                units::span(line.seconds),
                units::bytes(line.peak),
            ]);
        }
        rows.push(row);
    }
    let names = rows.iter_mut().flatten();
    names.for_each(|cell| *cell = visible(cell).into_owned());
    out += &of_lines(&rows, plan.axes.len());
    if !plan.parameters.is_empty() {
        let _ = writeln!(out, "\nParameters in force:");
    }
    for line in &plan.parameters {
        let _ = writeln!(out, "  {}", hang(&visible(line), look().width, 4));
    }
    out += &meters::text(&flow_control(shown), shown);
    let seconds = seconds(plan);
    let distinct = plan.distinct();
    let points = match (plan.points.len(), distinct.len()) {
        (all, simulated) if simulated < all => format!("{all} points, {simulated} to simulate"),
        (1, _) => "1 point".to_owned(),
        (all, _) => format!("{all} points"),
    };
    let jobs = memory::jobs(None);
    let cores = if jobs == 1 { "core" } else { "cores" };
    if let Some(precision) = &plan.precision {
        let _ = writeln!(
            out,
            "\n{}",
            wrap(&replications(precision, shown, jobs), look().width)
        );
    }
    let cost = format!(
        "{most}{points}, about {} packet-hops: {} of CPU, {} on {jobs} {cores}, {} of memory",
        units::count(hops),
        units::span(seconds),
        units::span(seconds / jobs.min(distinct.len().max(1)) as f64),
        units::bytes(plan.peak_bytes(jobs)),
    );
    if plan.precision.is_none() {
        let _ = writeln!(out);
    }
    let said = plan
        .presets
        .iter()
        .chain(&plan.retunes)
        .map(|line| visible(line).into_owned());
    let rtts = base_rtts(plan).into_iter().map(|rtts| rtts.line());
    for line in said.chain(rtts).chain([cost]).chain(tail(shown)) {
        let _ = writeln!(out, "{}", wrap(&line, look().width));
    }
    // Machine code of a file that only the scenario names.
    let native = |m: &OwnMarker| m.form() == Some(Form::C) && !m.named;
    let consent = match plan.markers.iter().any(native) {
        true => " --allow-native",
        false => "",
    };
    let _ = writeln!(out, "next    cemark run {scenario}{consent}");
    out
}

/// The rows of the table, of which the first `axes` columns are values of axes. Where a line would
/// be wider than the terminal, the values of the axes are lines above their schemes.
fn of_lines(rows: &[Vec<String>], axes: usize) -> String {
    let width = look().width;
    let whole = aligned(rows, |_| false);
    if whole.lines().all(|line| line.chars().count() <= width) {
        return whole;
    }
    let mut schemes: Vec<Vec<String>> = rows.iter().map(|row| row[axes..].to_vec()).collect();
    for row in schemes.iter_mut().skip(1) {
        row[0].insert_str(0, "  ");
    }
    let table = aligned(&folded_seeds(schemes, width), |_| false);
    let (heads, rows) = rows.split_first().expect("the heads");
    let mut lines = table.lines();
    let mut out = format!("{}\n", lines.next().unwrap_or_default());
    let mut above: Option<&[String]> = None;
    for (line, row) in lines.zip(rows) {
        let values = &row[..axes];
        if axes > 0 && above != Some(values) {
            let pairs = heads.iter().zip(values);
            let pairs: Vec<String> = pairs.map(|(path, v)| format!("{path} = {v}")).collect();
            out += &format!("{}\n", hang(&pairs.join(", "), width, 2));
            above = Some(values);
        }
        out += &format!("{line}\n");
    }
    out
}

/// Rows whose seeds, the second column, are counted where their numbers make the table too wide.
fn folded_seeds(mut rows: Vec<Vec<String>>, width: usize) -> Vec<Vec<String>> {
    let table = aligned(&rows, |_| false);
    if table.lines().all(|line| line.chars().count() <= width) {
        return rows;
    }
    for row in rows.iter_mut().skip(1) {
        let all: Vec<&str> = row[1].split(' ').collect();
        if let [first, .., last] = all[..] {
            row[1] = format!("{} from {first} to {last}", all.len());
        }
    }
    rows
}

/// Least share of the packet-hops after the last measured flow has started that is worth a line.
const LONG_TAIL: f64 = 0.6;

/// A sentence on the packet-hops after the last measured flow has started, where they are most of a
/// run.
fn tail(plan: &Plan) -> Option<String> {
    let points = plan.distinct();
    let after: f64 = points.iter().map(|p| p.tail).sum();
    let all: f64 = points.iter().map(|p| p.cost).sum();
    let workloads = &points.first()?.config.workloads;
    let holds = |w: &Workload| matches!(&w.kind, Kind::Poisson(poisson) if poisson.hold.0 > 0);
    let place = workloads.iter().position(holds)?;
    let key = match workloads.len() {
        1 => "workload.hold".to_owned(),
        _ => format!("workload.{place}.hold"),
    };
    (after > LONG_TAIL * all).then(|| {
        format!(
            "{:.0} % of these packet-hops come after the last measured flow has started: flows \
             continue to arrive until all measured flows have ended, or for the time `hold` of \
             [[workload]]. A short time, for example `--set {key}=5ms`, makes a quick look cheap.",
            100.0 * after / all
        )
    })
}

/// Text on a stated precision, and on the cost of one replication.
fn replications(precision: &Precision, one: &Plan, jobs: usize) -> String {
    let metrics = match precision.metrics.is_empty() {
        true => "the means that are compared".to_owned(),
        false => precision.metrics.join(", "),
    };
    let distinct = one.distinct();
    let looks = sequential::looks(precision.most);
    let looks: Vec<String> = looks.iter().map(u32::to_string).collect();
    format!(
        "Replications are added until {metrics} are known to ±{} percentage points, {} at most. \
         One of everything, as above: {} points, about {} packet-hops, {} of CPU, {} on {jobs} \
         cores. The run looks after {} replications.",
        precision.within,
        precision.most,
        distinct.len(),
        units::count(distinct.iter().map(|p| p.cost).sum()),
        units::span(seconds(one)),
        units::span(seconds(one) / jobs.min(distinct.len().max(1)) as f64),
        looks.join(", "),
    )
}
