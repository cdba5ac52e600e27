// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every chart of `figures/charts.toml` is of a figure that there is, of axes, schemes and metrics
//! that it has.

use cemark_report::metrics;
use cemark_scenario::{Overrides, Plan};

use super::super::evaluate::value;
use super::spec::SCHEME;
use super::*;

fn plan(id: &str) -> Plan {
    let committed = Committed::read().unwrap();
    let (file, _) = committed.figure(id).unwrap();
    let plan = file.plan(
        Mode::Full,
        &committed.calibration,
        None,
        &Overrides::default(),
    );
    plan.unwrap().unwrap()
}

#[test]
fn charts_fit_their_figures() {
    for spec in spec::parse(CHARTS).unwrap() {
        let id = &spec.figure;
        let is_closed = matches!(
            spec.form,
            Form::Rtts | Form::Sizes | Form::Division | Form::Thresholds
        );
        if is_closed {
            let chart = forms::chart(&spec, &[], &[]).unwrap();
            let cemark_report::chart::Body::Curves(curves) = &chart.panels[0].body else {
                panic!("{id}: curves");
            };
            assert_eq!(
                curves.curves.len(),
                spec.schemes.len(),
                "{id}: every name is known"
            );
            continue;
        }
        let plan = plan(id);
        let axes = [&spec.x, &spec.series, &spec.by];
        let axes = axes.into_iter().chain(spec.selection.keys());
        for axis in axes.filter(|a| !a.is_empty() && *a != SCHEME) {
            let has = |p: &cemark_scenario::Point| value(&p.axes, axis).is_some();
            assert!(plan.points.iter().all(has), "{id}: axis {axis}");
        }
        for scheme in spec.schemes.iter().chain([&spec.against]) {
            let known = scheme.is_empty() || plan.schemes.contains(scheme);
            assert!(known, "{id}: scheme {scheme}");
        }
        for (axis, wanted) in &spec.selection {
            let mut points = plan.points.iter();
            let some = points.any(|p| value(&p.axes, axis).is_some_and(|v| wanted.has(v)));
            assert!(some, "{id}: no point with {axis} = {wanted:?}");
        }
        for panel in &spec.panels {
            let known = match spec.form {
                Form::Cdf => ["fct", "delivered", "rtt"].contains(&&panel.metric[..]),
                _ => metrics::find(&panel.metric).is_some(),
            };
            assert!(known, "{id}: {}", panel.metric);
            let known = |s: &String| plan.schemes.contains(s);
            assert!(panel.schemes.iter().all(known), "{id}: {:?}", panel.schemes);
        }
    }
}

#[test]
fn every_figure_of_a_paper_is_on_one_page() {
    let of_papers: Vec<&str> = Paper::ALL.into_iter().flat_map(Paper::figures).collect();
    for paper in Paper::ALL {
        assert!(paper.figures().count() >= 7, "{}", paper.name());
    }
    // What is left are our own questions.
    let own = super::super::names().filter(|n| !of_papers.contains(n));
    let dashed = own.filter(|n| n.split('-').any(|w| w.parse::<u32>().is_ok()));
    assert_eq!(dashed.collect::<Vec<_>>(), Vec::<&str>::new());
}
