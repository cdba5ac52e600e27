// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each workload gets, where the senders of a run have different congestion controllers.

use cemark_scenario::Point;
use cemark_sim::Outcome;

use super::{Group, Row};
use crate::rundir::Finished;
use crate::{stats, units};

/// One workload under one scheme, all seeds together.
#[derive(Clone, Debug, PartialEq)]
pub struct Got {
    /// Its name.
    pub workload: String,
    /// Its congestion controller, as scenario files write it.
    pub control: &'static str,
    /// Goodput of its endless flows in bit/s.
    pub goodput: Option<f64>,
    /// Mean completion time of its measured flows in microseconds.
    pub completion: Option<f64>,
}

/// Of the points of one scheme, one for each seed. Empty where all senders are alike.
pub(super) fn of(points: &[(&Point, &Finished)]) -> Vec<Got> {
    let Some((point, _)) = points.first() else {
        return Vec::new();
    };
    let config = &point.config;
    if config.transport.rdma.is_some() || config.controls().len() < 2 {
        return Vec::new();
    }
    let each = |of: &dyn Fn(&Point, &Outcome) -> Option<f64>| {
        let seeds = points.iter().filter_map(|(p, done)| of(p, &done.outcome));
        stats::mean(&seeds.collect::<Vec<_>>())
    };
    let all = (0u16..).zip(&config.workloads).map(|(i, w)| Got {
        workload: w.name.clone(),
        control: config.control_of(w).spec().name,
        goodput: each(&|p, o| goodput(p, o, i)),
        completion: each(&|_, o| completion(o, i)),
    });
    all.filter(|got| got.goodput.is_some() || got.completion.is_some())
        .collect()
}

fn goodput(point: &Point, outcome: &Outcome, workload: u16) -> Option<f64> {
    let measure = &point.config.measure;
    let span = measure.until.min(outcome.end).saturating_sub(measure.from);
    let own = outcome.long_flows.iter().filter(|l| l.workload == workload);
    let bytes: Vec<u64> = own.map(|l| l.delivered).collect();
    let known = span.0 > 0 && !bytes.is_empty();
    known.then(|| bytes.iter().sum::<u64>() as f64 * 8.0 / span.as_secs_f64())
}

fn completion(outcome: &Outcome, workload: u16) -> Option<f64> {
    let own = outcome.flows.iter().filter(|f| f.workload == workload);
    let times: Vec<f64> = own.filter_map(|f| Some(f.fct?.as_micros_f64())).collect();
    stats::mean(&times)
}

/// One line for the goodput of endless flows and one for completion times, each where there are
/// such flows and controllers differ.
pub(crate) fn lines(group: &Group) -> Vec<String> {
    let line = |what: &str, of: fn(&Got) -> Option<String>| {
        let each = |row: &Row| {
            let shown = row.got.iter().filter_map(|got| {
                let value = of(got)?;
                Some(match got.workload == got.control {
                    true => format!("{} {value}", got.control),
                    false => format!("{} ({}) {value}", got.workload, got.control),
                })
            });
            let shown: Vec<String> = shown.collect();
            (!shown.is_empty()).then(|| format!("{}: {}", row.scheme, shown.join(", ")))
        };
        let all: Vec<String> = group.rows.iter().filter_map(each).collect();
        (!all.is_empty()).then(|| format!("{what} by workload: {}", all.join("; ")))
    };
    let goodput = line("goodput", |g| Some(units::bits_per_second(g.goodput?)));
    let completion = line("mean completion time", |g| {
        Some(units::micros(g.completion?))
    });
    goodput.into_iter().chain(completion).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn each_workload_is_named_with_its_controller() {
        let got = |workload: &str, control, goodput, completion| Got {
            workload: workload.to_owned(),
            control,
            goodput,
            completion,
        };
        let row = |scheme: &str, got: Vec<Got>| Row {
            scheme: scheme.to_owned(),
            baseline: false,
            cells: Vec::new(),
            counts: Vec::new(),
            flows: 0,
            unfinished: 0,
            drops_by: BTreeMap::new(),
            non_ect: None,
            got,
            points: Vec::new(),
        };
        let group = |rows| Group {
            axes: BTreeMap::new(),
            rows,
            seeds: vec![1],
            standing: None,
        };
        let mixed = vec![
            got("long", "dctcp", Some(20e6), None),
            got("old", "cubic", Some(170e6), None),
            got("cubic", "cubic", None, Some(3200.0)),
        ];
        assert_eq!(
            lines(&group(vec![row("TCN", mixed), row("RED", Vec::new())])),
            [
                "goodput by workload: TCN: long (dctcp) 20.0 Mb/s, old (cubic) 170 Mb/s",
                "mean completion time by workload: TCN: cubic 3.20 ms",
            ]
        );
        assert!(lines(&group(vec![row("TCN", Vec::new())])).is_empty());
    }
}
