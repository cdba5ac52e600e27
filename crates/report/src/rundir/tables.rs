// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Parquet tables of a run: every flow, every traced queue length, goodput over time, every
//! switch port.

use cemark_scenario::{Plan, Point};
use cemark_sim::outcome::{LongRecord, PortReport};

use super::columns::{Column, Table, encode};
use crate::Finished;
use crate::metrics::{self, Sample};
use crate::summary::p99;

/// The leading columns of every table: axes, scheme, seed. An axis is a number where all its values
/// are.
fn leading(plan: &Plan, point: &Point, rows: usize) -> Table {
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
    table.push("seed", Column::U64(vec![point.seed; rows]));
    table
}

/// Every point with its metrics; `None` without any. An axis is a number where all its values are.
fn point_columns(plan: &Plan, finished: &[Finished]) -> Option<Table> {
    if plan.points.is_empty() {
        return None;
    }
    let points = || plan.points.iter();
    let mut t = Table::default();
    for path in &plan.axes {
        let of = |p: &Point| p.axes.get(path).cloned().unwrap_or_default();
        let numbers: Option<Vec<f64>> = points().map(|p| of(p).parse().ok()).collect();
        let column = match numbers {
            Some(numbers) => Column::F64(numbers),
            None => Column::Text(points().map(of).collect()),
        };
        t.push(path, column);
    }
    t.push(
        "scheme",
        Column::Text(points().map(|p| p.scheme.clone()).collect()),
    );
    t.push("seed", Column::U64(points().map(|p| p.seed).collect()));
    for metric in metrics::all().iter().filter(|m| m.column.is_some()) {
        let value = |(point, done): (&Point, &Finished)| {
            let sample = Sample::new(point, &done.outcome);
            metric.reported(&sample)
        };
        let values = points().zip(finished).map(value).collect();
        t.push(&metric.key, Column::MaybeF64(values));
    }
    Some(t)
}

/// One of the tables that a run leaves, as columns in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A row a point, with its metrics.
    Points,
    /// A row for each measured flow.
    Flows,
    /// A row for each sample of each traced port.
    Queues,
    /// A row for each interval of goodput.
    Goodput,
    /// A row for each switch port of each point.
    Links,
}

/// The table of a run: columns of the same names in each part, a part for a point or a trace, none
/// where nothing was measured. docs/output.md describes the columns.
pub fn columns(kind: Kind, plan: &Plan, finished: &[Finished]) -> Vec<Table> {
    match kind {
        Kind::Points => point_columns(plan, finished).into_iter().collect(),
        Kind::Flows => flow_columns(plan, finished).collect(),
        Kind::Queues => queue_columns(plan, finished).collect(),
        Kind::Goodput => goodput_columns(plan, finished).collect(),
        Kind::Links => link_columns(plan, finished).collect(),
    }
}

/// The file of a table; `None` where it is empty.
pub(crate) fn file(kind: Kind, plan: &Plan, finished: &[Finished]) -> Option<Vec<u8>> {
    let bytes = match kind {
        Kind::Points => encode(point_columns(plan, finished), &[]),
        Kind::Flows => encode(flow_columns(plan, finished), &[]),
        Kind::Queues => encode(queue_columns(plan, finished), &[]),
        Kind::Goodput => encode(goodput_columns(plan, finished), &[]),
        Kind::Links => encode(link_columns(plan, finished), &[]),
    };
    bytes.expect("columns that fit their own schema")
}

/// Every measured flow of every point.
fn flow_columns<'a>(plan: &'a Plan, finished: &'a [Finished]) -> impl Iterator<Item = Table> + 'a {
    plan.points
        .iter()
        .zip(finished)
        .filter(|(_, f)| !f.outcome.flows.is_empty())
        .map(|(point, done)| {
            let f = &done.outcome.flows;
            let mut t = leading(plan, point, f.len());
            let name = |i: u16| {
                plan.workloads
                    .get(usize::from(i))
                    .cloned()
                    .unwrap_or_else(|| i.to_string())
            };
            t.push("id", Column::U64(f.iter().map(|f| f.id).collect()));
            t.push(
                "workload",
                Column::Text(f.iter().map(|f| name(f.workload)).collect()),
            );
            t.push(
                "class",
                Column::U32(f.iter().map(|f| u32::from(f.class)).collect()),
            );
            t.push("src", Column::U32(f.iter().map(|f| f.src).collect()));
            t.push("dst", Column::U32(f.iter().map(|f| f.dst).collect()));
            t.push("bytes", Column::U64(f.iter().map(|f| f.bytes).collect()));
            t.push(
                "start_us",
                Column::F64(f.iter().map(|f| f.start.as_micros_f64()).collect()),
            );
            t.push(
                "fct_us",
                Column::MaybeF64(f.iter().map(|f| f.fct.map(|x| x.as_micros_f64())).collect()),
            );
            t.push(
                "ideal_us",
                Column::F64(f.iter().map(|f| f.ideal.as_micros_f64()).collect()),
            );
            let slowdown = |f: &cemark_sim::outcome::FlowRecord| {
                f.fct
                    .filter(|_| f.ideal.0 > 0)
                    .map(|x| x.0 as f64 / f.ideal.0 as f64)
            };
            t.push(
                "slowdown",
                Column::MaybeF64(f.iter().map(slowdown).collect()),
            );
            t.push(
                "extra_us",
                Column::F64(f.iter().map(|f| f.extra.as_micros_f64()).collect()),
            );
            t.push("marks", Column::U32(f.iter().map(|f| f.marks).collect()));
            t.push(
                "retransmits",
                Column::U32(f.iter().map(|f| f.retransmits).collect()),
            );
            t.push(
                "timeouts",
                Column::U32(f.iter().map(|f| f.timeouts).collect()),
            );
            t
        })
}

/// Every sample of every traced port.
fn queue_columns<'a>(plan: &'a Plan, finished: &'a [Finished]) -> impl Iterator<Item = Table> + 'a {
    let traces = plan.points.iter().zip(finished).flat_map(|(point, done)| {
        done.outcome
            .traces
            .iter()
            .filter(|t| !t.samples.is_empty())
            .map(move |t| (point, t))
    });
    traces.map(|(point, trace)| {
        let mut t = leading(plan, point, trace.samples.len());
        t.push(
            "port",
            Column::Constant(trace.name.clone(), trace.samples.len()),
        );
        t.push(
            "time_us",
            Column::F64(trace.samples.iter().map(|s| s.at.as_micros_f64()).collect()),
        );
        t.push(
            "queue_bytes",
            Column::U32(trace.samples.iter().map(|s| s.bytes).collect()),
        );
        t.push(
            "wait_us",
            Column::F64(
                trace
                    .samples
                    .iter()
                    .map(|s| s.wait.0 as f64 / 1e3)
                    .collect(),
            ),
        );
        t
    })
}

/// Goodput in each interval: of all flows together, and of each endless one; none where no
/// interval was asked for.
fn goodput_columns<'a>(
    plan: &'a Plan,
    finished: &'a [Finished],
) -> impl Iterator<Item = Table> + 'a {
    plan.points
        .iter()
        .zip(finished)
        .filter(|(_, done)| !done.outcome.goodput.is_empty())
        .map(|(point, done)| {
            let o = &done.outcome;
            let measure = &point.config.measure;
            let (from, interval) = (measure.from, measure.goodput_interval);
            let start = |i: usize| from.as_micros_f64() + i as f64 * interval.as_micros_f64();
            // (flow or all, place of the interval, bytes)
            let all = o.goodput.iter().enumerate().map(|(i, b)| (None, i, *b));
            let each = o.long_flows.iter().flat_map(|l| {
                let bytes = l.intervals.iter().enumerate();
                bytes.map(move |(i, b)| (Some(l), i, *b))
            });
            let rows: Vec<(Option<&LongRecord>, usize, u64)> = all.chain(each).collect();
            let of = |field: fn(&LongRecord) -> u64| {
                Column::MaybeU64(rows.iter().map(|(flow, ..)| flow.map(field)).collect())
            };
            let rate = |bytes: u64| bytes as f64 * 8.0 / interval.as_secs_f64();
            let mut t = leading(plan, point, rows.len());
            t.push("flow", of(|l| l.id));
            t.push("src", of(|l| l.src.into()));
            t.push("dst", of(|l| l.dst.into()));
            t.push(
                "start_us",
                Column::F64(rows.iter().map(|r| start(r.1)).collect()),
            );
            t.push("bytes", Column::U64(rows.iter().map(|r| r.2).collect()));
            t.push(
                "goodput_bps",
                Column::F64(rows.iter().map(|r| rate(r.2)).collect()),
            );
            t
        })
}

/// A column of ports: its name and where it comes from.
type Field<T> = (&'static str, fn(&PortReport) -> T);

/// Every switch port of every point, with its link.
fn link_columns<'a>(plan: &'a Plan, finished: &'a [Finished]) -> impl Iterator<Item = Table> + 'a {
    plan.points
        .iter()
        .zip(finished)
        .filter(|(_, done)| !done.outcome.ports.is_empty())
        .map(|(point, done)| {
            let p = &done.outcome.ports;
            let mut t = leading(plan, point, p.len());
            t.push(
                "port",
                Column::Text(p.iter().map(|p| p.name.clone()).collect()),
            );
            t.push(
                "rate_bps",
                Column::U64(p.iter().map(|p| p.rate.0).collect()),
            );
            t.push(
                "utilisation",
                Column::F64(p.iter().map(|p| p.utilisation).collect()),
            );
            let sampled: [Field<Option<f64>>; 5] = [
                ("queue_mean_bytes", |p| Some(p.queue.mean)),
                ("queue_p99_bytes", |p| p99(&p.queue)),
                ("queue_max_bytes", |p| Some(p.queue.max)),
                ("sojourn_mean_us", |p| Some(p.sojourn.mean / 1e3)),
                ("sojourn_p99_us", |p| p99(&p.sojourn).map(|ns| ns / 1e3)),
            ];
            for (name, of) in sampled {
                let value = |p: &PortReport| of(p).filter(|_| p.queue.count > 0);
                t.push(name, Column::MaybeF64(p.iter().map(value).collect()));
            }
            let counts: [Field<u64>; 4] = [
                ("packets", |p| p.packets),
                ("bytes", |p| p.bytes),
                ("marks", |p| p.marks),
                ("drops", |p| p.drops),
            ];
            for (name, of) in counts {
                t.push(name, Column::U64(p.iter().map(of).collect()));
            }
            t
        })
}
