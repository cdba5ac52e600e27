// SPDX-License-Identifier: MIT OR Apache-2.0
//! Goodput and completion times of workloads and queue classes, where there are several.

use std::collections::BTreeMap;

use cemark_scenario::Point;
use cemark_sim::Outcome;
use cemark_sim::outcome::LongRecord;

use super::{Group, Row};
use crate::rundir::Finished;
use crate::{stats, units};

/// A workload or a queue class under one scheme, all seeds together.
#[derive(Clone, Debug, PartialEq)]
pub struct Got {
    /// The workload's name, or `class 2`.
    pub name: String,
    /// The workload's congestion controller, as scenario files write it, where a run has several.
    pub control: Option<&'static str>,
    /// Goodput of its endless flows in bit/s.
    pub goodput: Option<f64>,
    /// Mean completion time of its measured flows in microseconds.
    pub completion: Option<f64>,
}

/// Workloads and queue classes of a run under one scheme.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shares {
    /// By workload: empty where only one has endless flows and all senders are alike.
    pub workloads: Vec<Got>,
    /// By queue class of endless flows: empty where they have only one.
    pub classes: Vec<Got>,
}

/// Shares from the points of one scheme, one for each seed.
pub(super) fn of(points: &[(&Point, &Finished)]) -> Shares {
    let Some((point, finished)) = points.first() else {
        return Shares::default();
    };
    let config = &point.config;
    let mixed = config.transports().len() >= 2;
    let each = |of: &dyn Fn(&Point, &Outcome) -> Option<f64>| {
        let seeds = points.iter().filter_map(|(p, done)| of(p, &done.outcome));
        stats::mean(&seeds.collect::<Vec<_>>())
    };
    let all = (0u16..).zip(&config.workloads).map(|(i, w)| Got {
        name: w.name.clone(),
        control: mixed.then(|| config.transport_of(w).controller().name),
        goodput: each(&|p, o| goodput(p, o, |l| l.workload == i)),
        completion: each(&|_, o| completion(o, i)).filter(|_| mixed),
    });
    let workloads: Vec<Got> = all
        .filter(|got| got.goodput.is_some() || got.completion.is_some())
        .collect();
    let classes = classes(&finished.outcome).into_iter().map(|class| Got {
        name: format!("class {class}"),
        control: None,
        goodput: each(&|p, o| goodput(p, o, |l| l.class == class)),
        completion: None,
    });
    let several = |all: Vec<Got>| if all.len() < 2 { Vec::new() } else { all };
    Shares {
        workloads: if mixed { workloads } else { several(workloads) },
        classes: several(classes.collect()),
    }
}

/// The queue classes of endless flows, in order.
pub(crate) fn classes(outcome: &Outcome) -> Vec<u8> {
    let mut all: Vec<u8> = outcome.long_flows.iter().map(|l| l.class).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Goodput in bit/s of the endless flows of a point by queue class and by workload, for the JSON
/// document.
pub(crate) fn goodputs(
    point: &Point,
    outcome: &Outcome,
) -> (BTreeMap<String, f64>, BTreeMap<String, f64>) {
    let by_class = classes(outcome).into_iter().filter_map(|class| {
        let bps = goodput(point, outcome, |l| l.class == class)?;
        Some((class.to_string(), bps))
    });
    let by_workload = (0u16..).zip(&point.config.workloads).filter_map(|(i, w)| {
        let bps = goodput(point, outcome, |l| l.workload == i)?;
        Some((w.name.clone(), bps))
    });
    (by_class.collect(), by_workload.collect())
}

fn goodput(point: &Point, outcome: &Outcome, has: impl Fn(&LongRecord) -> bool) -> Option<f64> {
    let measure = &point.config.measure;
    let span = measure.until.min(outcome.end).saturating_sub(measure.from);
    let own = outcome.long_flows.iter().filter(|l| has(l));
    let bytes: Vec<u64> = own.map(|l| l.arrived).collect();
    let known = span.0 > 0 && !bytes.is_empty();
    known.then(|| bytes.iter().sum::<u64>() as f64 * 8.0 / span.as_secs_f64())
}

fn completion(outcome: &Outcome, workload: u16) -> Option<f64> {
    let own = outcome.flows.iter().filter(|f| f.workload == workload);
    let times: Vec<f64> = own.filter_map(|f| Some(f.fct?.as_micros_f64())).collect();
    stats::mean(&times)
}

/// Lines for the goodput of endless flows by workload and by class, with the share of each, and for
/// completion times by workload, each where there are several.
pub(crate) fn lines(group: &Group) -> Vec<String> {
    let line = |what: &str, of: fn(&Row) -> Vec<String>| {
        let each = |row: &Row| {
            let shown = of(row);
            (!shown.is_empty()).then(|| format!("{}: {}", row.scheme, shown.join(", ")))
        };
        let all: Vec<String> = group.rows.iter().filter_map(each).collect();
        (!all.is_empty()).then(|| format!("{what}: {}", all.join("; ")))
    };
    let goodput = line("goodput by workload", |r| goodput_of(&r.shares.workloads));
    let classes = line("goodput by queue class", |r| goodput_of(&r.shares.classes));
    let completion = line("mean completion time by workload", |r| {
        let each = r.shares.workloads.iter();
        each.filter_map(|g| Some(format!("{} {}", named(g), units::micros(g.completion?))))
            .collect()
    });
    [goodput, classes, completion]
        .into_iter()
        .flatten()
        .collect()
}

fn named(got: &Got) -> String {
    match got.control {
        Some(control) if got.name != control => format!("{} ({control})", got.name),
        _ => got.name.clone(),
    }
}

/// "class 0 12.2 Gb/s (12.5 %)" for each that has endless flows.
fn goodput_of(all: &[Got]) -> Vec<String> {
    let sum: f64 = all.iter().filter_map(|g| g.goodput).sum();
    let several = all.iter().filter(|g| g.goodput.is_some()).count() > 1;
    let shown = all.iter().filter_map(|g| {
        let bps = g.goodput?;
        let share = match several && sum > 0.0 {
            true => format!(" ({:.1} %)", 100.0 * bps / sum),
            false => String::new(),
        };
        Some(format!(
            "{} {}{share}",
            named(g),
            units::bits_per_second(bps)
        ))
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn each_workload_is_named_with_its_controller() {
        let got = |name: &str, control, goodput, completion| Got {
            name: name.to_owned(),
            control,
            goodput,
            completion,
        };
        let row = |scheme: &str, workloads: Vec<Got>, classes: Vec<Got>| Row {
            scheme: scheme.to_owned(),
            baseline: false,
            cells: Vec::new(),
            counts: Vec::new(),
            flows: 0,
            unfinished: 0,
            drops_by: BTreeMap::new(),
            non_ect: None,
            shares: Shares { workloads, classes },
            points: Vec::new(),
        };
        let group = |rows| Group {
            axes: BTreeMap::new(),
            classes: Vec::new(),
            rows,
            seeds: vec![1],
            standing: None,
            alike: None,
            device_packets: 0,
        };
        let mixed = vec![
            got("long", Some("dctcp"), Some(20e6), None),
            got("old", Some("cubic"), Some(180e6), None),
            got("cubic", Some("cubic"), None, Some(3200.0)),
        ];
        let classes = vec![
            got("class 0", None, Some(12.16e9), None),
            got("class 1", None, Some(36.49e9), None),
            got("class 2", None, Some(48.69e9), None),
        ];
        assert_eq!(
            lines(&group(vec![
                row("TCN", mixed, classes),
                row("RED", Vec::new(), Vec::new())
            ])),
            [
                "goodput by workload: TCN: long (dctcp) 20.0 Mb/s (10.0 %), old (cubic) 180 Mb/s \
                 (90.0 %)",
                "goodput by queue class: TCN: class 0 12.2 Gb/s (12.5 %), class 1 36.5 Gb/s \
                 (37.5 %), class 2 48.7 Gb/s (50.0 %)",
                "mean completion time by workload: TCN: cubic 3.20 ms",
            ]
        );
        assert!(lines(&group(vec![row("TCN", Vec::new(), Vec::new())])).is_empty());
    }
}
