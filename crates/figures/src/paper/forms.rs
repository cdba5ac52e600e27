// SPDX-License-Identifier: MIT OR Apache-2.0
//! Charts of what is not simulated: RTT models, size tables, the table division of a switch, and
//! CEDM's closed forms, from the same code as the rows.

use cemark_report::chart::{self, Axis, Body, Chart, Curve, Curves, Key, Mark, Panel, Spot, Unit};
use cemark_report::theory::{bdp, cedm};
use cemark_sim::workload::{RttModel, SizeTable};
use cemark_wire::Picos;

use super::super::models::division_shares;
use super::super::row::{Formula, Row};
use super::super::targets::Target;
use super::published::tip;
use super::spec::{Form, Spec};

/// A chart; `None` where the form is one of points.
pub(super) fn chart(spec: &Spec, rows: &[Row], targets: &[Target]) -> Option<Chart> {
    let plain = |label: &str| Axis::new(label, Unit::default());
    let (x, y) = match spec.form {
        Form::Rtts => (Axis::new("base RTT", Unit::Micros), plain("share")),
        Form::Sizes => (
            Axis {
                log: true,
                ..Axis::new("flow size", Unit::Bytes)
            },
            plain("share"),
        ),
        Form::Division => (plain("marking count"), plain("result over quotient")),
        Form::Thresholds => (
            plain("flows"),
            Axis::new("threshold", Unit::Other("packets".to_owned())),
        ),
        _ => return None,
    };
    let named = || spec.schemes.iter().enumerate();
    let curve = |(i, name): (usize, &String)| {
        let spots = curve(spec.form, name);
        (!spots.is_empty()).then_some(Curve {
            label: name.clone(),
            colour: i + 1,
            spots,
        })
    };
    let curves: Vec<Curve> = named().filter_map(curve).collect();
    let marks = rows.iter().filter_map(|row| mark(spec, row, targets));
    let marks: Vec<Mark> = marks.collect();
    let said = match marks.is_empty() {
        true => "",
        false => "Diamonds are published values.",
    };
    let curves = Curves {
        x,
        y,
        form: chart::Form::Plain,
        curves,
        marks,
        ..Curves::default()
    };
    Some(Chart {
        name: String::new(),
        title: spec.title.clone(),
        caption: format!("{said} {}", spec.note).trim().to_owned(),
        legend: named()
            .map(|(i, label)| Key {
                label: label.clone(),
                colour: i + 1,
            })
            .collect(),
        panels: vec![Panel::new("", Body::Curves(curves))],
    })
}

/// Name of a threshold in CEDM's slides. Both thresholds are at 10 Gb/s and 100 us.
const SMOOTH: &str = "senders that do not burst";
const CEDM_PIPE: (f64, f64) = (10e9, 100e-6);
/// Packets of the closed forms, in bytes; and the part of a window that a cut takes.
const PACKET: f64 = 1500.0;
const BETA: f64 = 1.0 / 3.0;

fn curve(form: Form, name: &str) -> Vec<Spot> {
    let places: Vec<(f64, f64)> = match form {
        Form::Rtts => match RttModel::measured(name) {
            None => Vec::new(),
            Some(model) => (0..=100)
                .map(|i| f64::from(i) * 2.5)
                .map(|us| (us, model.share_below(Picos((us * 1e6) as u64))))
                .filter(|(_, share)| *share > 0.0)
                .collect(),
        },
        Form::Sizes => match SizeTable::builtin(name) {
            None => Vec::new(),
            Some(table) => (0..=100)
                .map(|i| f64::from(i) / 100.0)
                .map(|share| (table.quantile(share).max(500.0), share))
                .collect(),
        },
        Form::Division => {
            let shares = division_shares(name).unwrap_or_default();
            (1..).map(f64::from).zip(shares).collect()
        }
        Form::Thresholds => {
            let pipe = bdp(CEDM_PIPE.0, CEDM_PIPE.1) / PACKET;
            let of = |n: f64| match name == SMOOTH {
                true => cedm::smooth_threshold(pipe),
                false => cedm::burst_threshold(pipe, n, BETA),
            };
            (2..=32).map(f64::from).map(|n| (n, of(n))).collect()
        }
        _ => Vec::new(),
    };
    let spot = |(x, y)| Spot {
        x,
        y,
        ..Spot::default()
    };
    places.into_iter().map(spot).collect()
}

/// Where the published number of a row is, if it has a place.
fn mark(spec: &Spec, row: &Row, targets: &[Target]) -> Option<Mark> {
    let target = targets.iter().find(|t| t.id == row.id)?;
    let published = target.published?;
    let model = row.model.as_deref()?;
    let i = spec.schemes.iter().position(|s| s == model);
    let metric = &row.metric[..];
    let place = match (spec.form, row.formula) {
        (Form::Rtts, Formula::Rtt) => match metric {
            "p90" => (published, 0.9),
            "p99" => (published, 0.99),
            _ => return None,
        },
        (Form::Sizes, Formula::Sizes) => {
            let bytes = metric.strip_prefix("below ")?;
            (bytes.parse().ok()?, published)
        }
        (Form::Thresholds, Formula::Cedm) => match (metric, model) {
            ("bursts", "10 100 2 1/3") | ("smooth", "10 100") => (2.0, published),
            _ => return None,
        },
        _ => return None,
    };
    if i.is_none() && spec.form != Form::Thresholds {
        return None;
    }
    Some(Mark {
        colour: i.map(|i| i + 1),
        places: vec![place],
        tip: tip(target, published),
    })
}
