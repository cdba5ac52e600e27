// SPDX-License-Identifier: MIT OR Apache-2.0
//! `flows.parquet` and `queues.parquet`: every flow and every traced queue length of a run in one table each.

use cemark_scenario::{Plan, Point};

use crate::Finished;
use crate::columns::{Column, Table, encode};

/// The leading columns of every table: axes, scheme, seed. An axis is a number where all its values are.
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

/// Every measured flow of every point; `None` without any.
pub(crate) fn flows(plan: &Plan, finished: &[Finished]) -> Option<Vec<u8>> {
    let tables = plan
        .points
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
        });
    encode(tables, &[]).expect("columns that fit their own schema")
}

/// Every sample of every traced port; `None` without traces.
pub(crate) fn queues(plan: &Plan, finished: &[Finished]) -> Option<Vec<u8>> {
    let traces = plan.points.iter().zip(finished).flat_map(|(point, done)| {
        done.outcome
            .traces
            .iter()
            .filter(|t| !t.samples.is_empty())
            .map(move |t| (point, t))
    });
    let tables = traces.map(|(point, trace)| {
        let mut t = leading(plan, point, trace.samples.len());
        t.push(
            "port",
            Column::Constant(trace.name.clone(), trace.samples.len()),
        );
        t.push(
            "time_us",
            Column::F64(
                trace
                    .samples
                    .iter()
                    .map(|(at, _)| at.as_micros_f64())
                    .collect(),
            ),
        );
        t.push(
            "queue_bytes",
            Column::U32(trace.samples.iter().map(|(_, q)| *q).collect()),
        );
        t
    });
    encode(tables, &[]).expect("columns that fit their own schema")
}
