// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows of a run in lines of fct.txt.

use cemark_formats::hpcc;
use cemark_report::{Finished, rundir};
use cemark_scenario::Point;

/// Flows of a point as a file.
pub(super) struct Flows {
    pub name: String,
    /// The text of its `fct.txt`.
    pub text: String,
}

/// The flows of every point of a run that have ended.
pub(super) fn of_run(run: &rundir::Run) -> Vec<Flows> {
    let of_point = |(point, done): (&Point, &Finished)| {
        let ended = done.outcome.flows.iter().filter_map(|flow| {
            Some(hpcc::Done {
                id: flow.id,
                src: flow.src,
                dst: flow.dst,
                bytes: flow.bytes,
                start: flow.start,
                fct: flow.fct?,
                alone: flow.ideal,
            })
        });
        let text = hpcc::fct(&ended.collect::<Vec<_>>());
        // As in the names of charts: the last part of a path, and its value.
        let axes = point.axes.iter().map(|(path, value)| {
            let key = path.rsplit('.').next().unwrap_or(path);
            format!("-{key}-{value}")
        });
        let axes: String = axes.collect();
        let name = format!("fct-{}{axes}-seed-{}", point.scheme, point.seed);
        let safe = |c: char| match c.is_alphanumeric() || "-._#".contains(c) {
            true => c,
            false => '_',
        };
        Flows {
            name: name.chars().map(safe).collect(),
            text,
        }
    };
    run.plan
        .points
        .iter()
        .zip(&run.finished)
        .map(of_point)
        .collect()
}
