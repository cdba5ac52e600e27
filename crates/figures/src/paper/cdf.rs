// SPDX-License-Identifier: MIT OR Apache-2.0
//! Distributions: of what flows took or delivered, and of probes' round trips, all seeds together.

use cemark_report::chart::{self, Axis, Body, Chart, Curve, Curves, Key, Panel, Spot, Unit};
use cemark_report::metrics::{Restriction, Sample};
use cemark_report::text::{capital, distinct};
use cemark_scenario::Plan;

use super::draw::{Axes, Source, caption, cells, groups, with_points};
use super::spec::{PanelSpec, Spec};

/// Most points of a curve.
const POINTS: usize = 120;

/// A chart of distributions; `None` where nothing was measured.
pub(super) fn chart(source: &Source<'_>, spec: &Spec) -> Option<Chart> {
    let cells = cells(source, spec);
    let mut panels = Vec::new();
    for (group, here) in groups(spec, &cells) {
        for panel in &spec.panels {
            panels.extend(distributions(source, panel, spec, &here).map(|mut drawn| {
                if let Some(group) = group {
                    drawn.title = format!("{}: {}", spec.group(group), drawn.title);
                }
                drawn
            }));
        }
    }
    let said = caption(spec, false);
    (!panels.is_empty()).then(|| Chart {
        name: String::new(),
        title: spec.title.clone(),
        caption: format!("All seeds together. {said}").trim().to_owned(),
        legend: legend(source.plan, spec),
        panels,
    })
}

fn shown<'a>(plan: &'a Plan, spec: &'a Spec, panel: Option<&'a PanelSpec>) -> Vec<&'a str> {
    let of_panel = panel.map(|p| &p.schemes).filter(|s| !s.is_empty());
    with_points(plan, of_panel.unwrap_or(&spec.schemes))
}

fn legend(plan: &Plan, spec: &Spec) -> Vec<Key> {
    let schemes = spec.panels.iter().flat_map(|p| shown(plan, spec, Some(p)));
    let key = |label: &str| Key {
        label: label.to_owned(),
        colour: chart::colour(plan, label),
    };
    distinct(schemes).into_iter().map(key).collect()
}

fn distributions(
    source: &Source<'_>,
    panel: &PanelSpec,
    spec: &Spec,
    cells: &[&Axes],
) -> Option<Panel> {
    let (unit, label) = match &panel.metric[..] {
        "delivered" => (Unit::Bytes, "delivered"),
        "rtt" => (Unit::Micros, "round trip"),
        _ => (Unit::Micros, "completion time"),
    };
    let mut curves = Vec::new();
    for scheme in shown(source.plan, spec, Some(panel)) {
        let here = source.data.cells.iter().filter(|c| c.scheme == scheme);
        let here = here.filter(|c| cells.contains(&c.axes));
        let only = Restriction {
            workload: panel.workload.as_deref(),
            port: None,
            class: panel.class,
        };
        let of = |c: &super::super::evaluate::Cell<'_>| {
            values(&panel.metric, &Sample { only, ..c.sample })
        };
        let mut all: Vec<f64> = here.flat_map(of).collect();
        all.sort_by(f64::total_cmp);
        if all.len() > 1 {
            curves.push(Curve {
                label: scheme.to_owned(),
                colour: chart::colour(source.plan, scheme),
                spots: steps(&all),
            });
        }
    }
    let ends = || curves.iter().flat_map(|c| &c.spots).map(|s| s.x);
    let (low, high) = (ends().reduce(f64::min)?, ends().reduce(f64::max)?);
    let title = match &panel.title[..] {
        "" => capital(label),
        title => title.to_owned(),
    };
    let curves = Curves {
        x: Axis {
            log: low > 0.0 && high / low > 30.0,
            ..Axis::new(label, unit)
        },
        y: Axis::new("share", Unit::default()),
        form: chart::Form::Plain,
        curves,
        ..Curves::default()
    };
    Some(Panel::new(title, Body::Curves(curves)))
}

/// Values of a distribution, at one point.
fn values(metric: &str, sample: &Sample<'_>) -> Vec<f64> {
    match metric {
        "delivered" => {
            let of_class = |class| sample.only.class.is_none_or(|c| c == class);
            let flows = sample
                .outcome
                .long_flows
                .iter()
                .filter(|f| of_class(f.class));
            flows.map(|f| f.delivered as f64).collect()
        }
        "rtt" => sample.round_trips(),
        _ => sample
            .of_flows(|_| true, cemark_report::stats::fct)
            .unwrap_or_default(),
    }
}

/// The share of values at or below each of some of them.
pub(super) fn steps(sorted: &[f64]) -> Vec<Spot> {
    let many = sorted.len();
    let points = many.min(POINTS);
    let place = |k: usize| (k * (many - 1)) / (points - 1).max(1);
    let spot = |k: usize| {
        let i = place(k);
        Spot {
            x: sorted[i],
            y: (i + 1) as f64 / many as f64,
            ..Spot::default()
        }
    };
    (0..points).map(spot).collect()
}
