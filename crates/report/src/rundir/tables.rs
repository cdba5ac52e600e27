// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Parquet tables of a run: every flow, every sample of traced queues and shared buffers,
//! goodput over time, every switch port, every pause.

use std::collections::BTreeMap;

use cemark_scenario::{Plan, Point};
use cemark_sim::Outcome;
use cemark_sim::outcome::{
    BufferTrace, FlowRecord, LongRecord, PauseReport, PortReport, PortTrace,
};

use super::columns::{Column, Table, encode};
use crate::Finished;
use crate::by_size::{Bucket, PERCENTILES, SchemeSlowdown};
use crate::metrics::{self, Sample};
use crate::stats::slowdown;
use crate::summary::measures::Measure;
use crate::summary::p99;

/// The leading columns of every table: axes, scheme, seed. An axis is a number where all its values
/// are. `None` without rows.
fn leading(plan: &Plan, point: &Point, rows: usize) -> Option<Table> {
    let mut table = Table::default();
    for path in &plan.axes {
        let of = |p: &Point| p.axes.get(path).cloned().unwrap_or_default();
        let numeric = plan.points.iter().all(|p| of(p).parse::<f64>().is_ok());
        let column = match of(point).parse() {
            Ok(x) if numeric => Column::F64(vec![x; rows]),
            _ => Column::Constant(of(point), rows),
        };
        table.push(path, column);
    }
    table.push("scheme", Column::Constant(point.scheme.clone(), rows));
    table.push("seed", vec![point.seed; rows].into());
    (rows > 0).then_some(table)
}

/// The columns of the axes for rows with these values. An axis is a number where all its values
/// are.
fn axes<'a>(
    plan: &Plan,
    rows: impl Iterator<Item = &'a BTreeMap<String, String>> + Clone,
) -> Table {
    let mut t = Table::default();
    for path in &plan.axes {
        let of = |axes: &BTreeMap<String, String>| axes.get(path).cloned().unwrap_or_default();
        let numbers: Option<Vec<f64>> = rows.clone().map(|axes| of(axes).parse().ok()).collect();
        match numbers {
            Some(numbers) => t.push(path, numbers.into()),
            None => t.add(path, rows.clone(), of),
        }
    }
    t
}

/// Every point with its metrics; `None` without any.
fn points(plan: &Plan, finished: &[Finished]) -> Option<Table> {
    let mut t = axes(plan, plan.points.iter().map(|p| &p.axes));
    t.add("scheme", &plan.points, |p| p.scheme.clone());
    t.add("seed", &plan.points, |p| p.seed);
    for metric in metrics::all().iter().filter(|m| m.column.is_some()) {
        t.add(
            &metric.key,
            plan.points.iter().zip(finished),
            |(point, done)| metric.reported(&Sample::new(point, &done.outcome)),
        );
    }
    (!plan.points.is_empty()).then_some(t)
}

/// Slowdown by flow size, a row for each scheme, value of the axes and bucket.
pub fn slowdown_by_size(plan: &Plan, all: &[SchemeSlowdown]) -> Table {
    let rows = all
        .iter()
        .flat_map(|s| s.buckets.iter().map(move |b| (s, b)));
    let mut t = axes(plan, rows.clone().map(|(s, _)| &s.axes));
    t.add("scheme", rows.clone(), |(s, _)| s.scheme.clone());
    t.add("above_bytes", rows.clone(), |(_, b)| b.above_bytes);
    t.add("up_to_bytes", rows.clone(), |(_, b)| b.up_to_bytes);
    t.add("median_bytes", rows.clone(), |(_, b)| b.median_bytes);
    t.add("flows", rows.clone(), |(_, b)| b.flows);
    for (i, (name, _)) in PERCENTILES.iter().enumerate() {
        let of = |b: &Bucket| b.percentiles()[i];
        let name = format!("slowdown_{name}");
        t.add(&name, rows.clone(), |(_, b)| of(b).map(|e| e.mean));
        t.add(&format!("{name}_low"), rows.clone(), |(_, b)| of(b)?.low);
        t.add(&format!("{name}_high"), rows.clone(), |(_, b)| of(b)?.high);
    }
    t
}

/// The metrics of a run over all seeds, a row each, as `measures` of `summary.json`; `None` without
/// any.
pub fn measure_columns(plan: &Plan, measures: &[Measure]) -> Option<Table> {
    let mut t = axes(plan, measures.iter().map(|m| &m.axes));
    t.add("class", measures, |m| m.class.clone().unwrap_or_default());
    t.add("scheme", measures, |m| m.scheme.clone());
    t.add("metric", measures, |m| m.metric.clone());
    t.add("unit", measures, |m| m.unit.clone());
    t.add("value", measures, |m| m.value);
    t.add("low", measures, |m| m.low);
    t.add("high", measures, |m| m.high);
    t.add("method", measures, |m| m.method.name().to_owned());
    t.add("count", measures, |m| m.count);
    t.add("counted", measures, |m| m.counted.clone());
    t.add("replications", measures, |m| m.replications);
    t.add("largest_of", measures, |m| m.largest_of);
    (!measures.is_empty()).then_some(t)
}

/// The file of the metrics over all seeds.
pub(crate) fn measures_file(plan: &Plan, measures: &[Measure]) -> Option<Vec<u8>> {
    encode(measure_columns(plan, measures), &[]).expect("columns that fit their own schema")
}

/// Kind of a table that a run leaves, as columns in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A row a point, with its metrics.
    Points,
    /// A row for each measured flow.
    Flows,
    /// A row for each sample of each traced port.
    Queues,
    /// A row for each sample of each traced shared buffer.
    Buffers,
    /// A row for each interval of goodput.
    Goodput,
    /// A row for each switch port of each point.
    Links,
    /// A row for each port and NIC that was paused, and for each of its queues.
    Pauses,
}

impl Kind {
    /// Every kind, in the order of documents.
    pub const ALL: [Kind; 7] = [
        Kind::Points,
        Kind::Flows,
        Kind::Queues,
        Kind::Buffers,
        Kind::Goodput,
        Kind::Links,
        Kind::Pauses,
    ];

    /// Name of the table; its file is `NAME.parquet`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Points => "points",
            Kind::Flows => "flows",
            Kind::Queues => "queues",
            Kind::Buffers => "buffers",
            Kind::Goodput => "goodput",
            Kind::Links => "links",
            Kind::Pauses => "pauses",
        }
    }
}

/// The table of a run: columns of the same names in each part, a part for a point or a trace, none
/// where nothing was measured. docs/output.md describes the columns.
pub fn columns<'a>(
    kind: Kind,
    plan: &'a Plan,
    finished: &'a [Finished],
) -> Box<dyn Iterator<Item = Table> + 'a> {
    let each = plan.points.iter().zip(finished);
    let each = each.map(|(point, done)| (point, &done.outcome));
    match kind {
        Kind::Points => Box::new(points(plan, finished).into_iter()),
        Kind::Flows => Box::new(each.filter_map(|(point, o)| flows(plan, point, &o.flows))),
        Kind::Queues => Box::new(each.flat_map(move |(point, o)| {
            let traces = o.traces.iter();
            traces.filter_map(move |trace| queue(plan, point, trace))
        })),
        Kind::Buffers => Box::new(each.flat_map(move |(point, o)| {
            let traces = o.buffers.iter();
            traces.filter_map(move |trace| buffer(plan, point, trace))
        })),
        Kind::Goodput => Box::new(each.filter_map(|(point, o)| goodput(plan, point, o))),
        Kind::Links => Box::new(each.filter_map(|(point, o)| links(plan, point, o))),
        Kind::Pauses => Box::new(each.filter_map(|(point, o)| pauses(plan, point, &o.pauses))),
    }
}

/// The file of a table; `None` where it is empty.
pub(crate) fn file(kind: Kind, plan: &Plan, finished: &[Finished]) -> Option<Vec<u8>> {
    encode(columns(kind, plan, finished), &[]).expect("columns that fit their own schema")
}

/// Every measured flow of a point.
fn flows(plan: &Plan, point: &Point, f: &[FlowRecord]) -> Option<Table> {
    let mut t = leading(plan, point, f.len())?;
    t.add("id", f, |f| f.id);
    t.add("workload", f, |f| {
        let name = plan.workloads.get(usize::from(f.workload)).cloned();
        name.unwrap_or_else(|| f.workload.to_string())
    });
    t.add("query", f, |f| f.query.map(|q| u64::from(q.get())));
    t.add("class", f, |f| u32::from(f.class));
    t.add("src", f, |f| f.src);
    t.add("dst", f, |f| f.dst);
    t.add("bytes", f, |f| f.bytes);
    t.add("start_us", f, |f| f.start.as_micros_f64());
    t.add("fct_us", f, |f| f.fct.map(|x| x.as_micros_f64()));
    t.add("ideal_us", f, |f| f.ideal.as_micros_f64());
    t.add("slowdown", f, slowdown);
    t.add("extra_us", f, |f| f.extra.as_micros_f64());
    t.add("marks", f, |f| f.marks);
    t.add("retransmits", f, |f| f.retransmits);
    t.add("timeouts", f, |f| f.timeouts);
    Some(t)
}

/// Every sample of a traced port.
fn queue(plan: &Plan, point: &Point, trace: &PortTrace) -> Option<Table> {
    let samples = &trace.samples;
    let mut t = leading(plan, point, samples.len())?;
    t.push("port", Column::Constant(trace.name.clone(), samples.len()));
    t.add("time_us", samples, |s| s.at.as_micros_f64());
    t.add("queue_bytes", samples, |s| s.bytes);
    t.add("wait_us", samples, |s| s.wait.0 as f64 / 1e3);
    Some(t)
}

/// Every sample of a traced shared buffer.
fn buffer(plan: &Plan, point: &Point, trace: &BufferTrace) -> Option<Table> {
    let samples = &trace.samples;
    let mut t = leading(plan, point, samples.len())?;
    t.push(
        "switch",
        Column::Constant(trace.name.clone(), samples.len()),
    );
    t.add("time_us", samples, |s| s.at.as_micros_f64());
    t.add("used_bytes", samples, |s| s.bytes);
    t.push("buffer_bytes", vec![trace.capacity; samples.len()].into());
    Some(t)
}

/// Goodput in each interval: of all flows together, and of each endless one; none where no
/// interval was asked for.
fn goodput(plan: &Plan, point: &Point, o: &Outcome) -> Option<Table> {
    if o.goodput.is_empty() {
        return None;
    }
    let measure = &point.config.measure;
    let (from, interval) = (measure.from, measure.goodput_interval);
    // (flow or all, place of the interval, bytes)
    let all = o.goodput.iter().enumerate().map(|(i, b)| (None, i, *b));
    let each = o.long_flows.iter().flat_map(|l| {
        let bytes = l.intervals.iter().enumerate();
        bytes.map(move |(i, b)| (Some(l), i, *b))
    });
    let rows: Vec<(Option<&LongRecord>, usize, u64)> = all.chain(each).collect();
    let mut t = leading(plan, point, rows.len())?;
    t.add("flow", &rows, |r| r.0.map(|l| l.id));
    t.add("src", &rows, |r| r.0.map(|l| u64::from(l.src)));
    t.add("dst", &rows, |r| r.0.map(|l| u64::from(l.dst)));
    t.add("start_us", &rows, |r| {
        from.as_micros_f64() + r.1 as f64 * interval.as_micros_f64()
    });
    t.add("bytes", &rows, |r| r.2);
    t.add("goodput_bps", &rows, |r| {
        r.2 as f64 * 8.0 / interval.as_secs_f64()
    });
    Some(t)
}

/// Every switch port of a point, with its link.
fn links(plan: &Plan, point: &Point, outcome: &Outcome) -> Option<Table> {
    let ports = &outcome.ports;
    let mut t = leading(plan, point, ports.len())?;
    t.add("port", ports, |p| p.name.clone());
    t.add("rate_bps", ports, |p| p.rate.0);
    t.add("utilisation", ports, |p| p.utilisation);
    let mut sampled = |name: &str, of: fn(&PortReport) -> Option<f64>| {
        t.add(name, ports, |p| of(p).filter(|_| p.queue.count > 0));
    };
    sampled("queue_mean_bytes", |p| Some(p.queue.mean));
    sampled("queue_p99_bytes", |p| p99(&p.queue));
    sampled("queue_max_bytes", |p| Some(p.queue.max));
    sampled("sojourn_mean_us", |p| Some(p.sojourn.mean / 1e3));
    sampled("sojourn_p99_us", |p| p99(&p.sojourn).map(|ns| ns / 1e3));
    t.add("packets", ports, |p| p.packets);
    t.add("bytes", ports, |p| p.bytes);
    t.add("marks", ports, |p| p.marks);
    t.add("drops", ports, |p| p.drops);
    let lossless = point.config.switch.pfc.is_some();
    let pauses = outcome.pauses.iter().map(|p| (&p.name[..], p));
    let pauses: BTreeMap<&str, &PauseReport> = pauses.collect();
    let paused = |p: &PortReport| pauses.get(&p.name[..]).copied();
    t.add("pauses", ports, |p| {
        lossless.then(|| paused(p).map_or(0, |p| p.frames))
    });
    t.add("pause_share", ports, |p| {
        lossless.then(|| paused(p).map_or(0.0, |p| p.share))
    });
    Some(t)
}

/// Every port and NIC of a point that was paused, without a class, and each of its queues that was.
fn pauses(plan: &Plan, point: &Point, pauses: &[PauseReport]) -> Option<Table> {
    struct Row<'a> {
        port: &'a str,
        class: Option<u64>,
        frames: u64,
        share: f64,
    }
    fn of_port(p: &PauseReport) -> Vec<Row<'_>> {
        let whole = Row {
            port: &p.name,
            class: None,
            frames: p.frames,
            share: p.share,
        };
        let queues = p.queues.iter().map(|q| Row {
            port: &p.name,
            class: Some(q.class.into()),
            frames: q.frames,
            share: q.share,
        });
        std::iter::once(whole).chain(queues).collect()
    }
    let rows: Vec<Row<'_>> = pauses.iter().flat_map(of_port).collect();
    let mut t = leading(plan, point, rows.len())?;
    t.add("port", &rows, |r| r.port.to_owned());
    t.add("class", &rows, |r| r.class);
    t.add("pauses", &rows, |r| r.frames);
    t.add("pause_share", &rows, |r| r.share);
    Some(t)
}
