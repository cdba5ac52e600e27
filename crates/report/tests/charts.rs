// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contents of a run's charts.

use crate::common::{FACTORS, finished, plan};
use cemark_report::chart::{Body, Chart, Curves, Values, of_goodput, of_queues, of_run, of_sweep};
use cemark_report::{Comparisons, Finished};
use cemark_scenario::Plan;
use cemark_wire::Picos;

fn run(loads: &[&str], edit: impl Fn(&mut Plan)) -> (Plan, Vec<Finished>, Comparisons) {
    let mut plan = plan(loads, &[1, 2, 3]);
    edit(&mut plan);
    let done = finished(&plan, FACTORS);
    let comparisons = Comparisons::new(&plan, &done);
    (plan, done, comparisons)
}

fn curves(chart: &Chart) -> &Curves {
    match &chart.panels[0].body {
        Body::Curves(curves) | Body::Times(curves) => curves,
        _ => panic!("{} has no curves", chart.name),
    }
}

fn called<'a>(charts: &'a [Chart], name: &str) -> &'a Chart {
    let names: Vec<&str> = charts.iter().map(|c| &c.name[..]).collect();
    let found = charts.iter().find(|c| c.name == name);
    found.unwrap_or_else(|| panic!("no {name} among {names:?}"))
}

#[test]
fn a_sweep_has_a_chart_for_each_metric_over_its_axis() {
    let (plan, done, comparisons) = run(&["0.3", "0.9", "0.6"], |_| {});
    let charts = of_run(&plan, &done, &comparisons);
    let chart = called(&charts, "short-mean-over-workload.load");
    let drawn = curves(chart);
    assert_eq!(drawn.curves.len(), 2, "the baseline is the line at zero");
    let places: Vec<f64> = drawn.curves[0].spots.iter().map(|s| s.x).collect();
    assert_eq!(places, [0.3, 0.6, 0.9], "in the order of the axis");
    // The second scheme takes 20 % off short flows, and the band is its interval.
    let group = comparisons
        .groups
        .iter()
        .find(|g| g.axes["workload.load"] == "0.6");
    let row = &group.expect("a group").rows[1];
    let cell = row
        .cell(crate::common::metric("short.mean"))
        .against
        .expect("a difference");
    let spot = &drawn.curves[0].spots[1];
    assert_eq!((spot.y, spot.band), (cell.percent, cell.interval));
    assert!((-21.0..-19.0).contains(&spot.y) && spot.band.is_some());
    let absolute = called(&charts, "short-mean-over-workload.load-absolute");
    assert_eq!(curves(absolute).curves.len(), 3, "every scheme");
    // One value of the axis has no curve.
    let (plan, done, comparisons) = run(&["0.3"], |_| {});
    assert!(of_sweep(&plan, &comparisons, Values::Differences).is_empty());
    let charts = of_run(&plan, &done, &comparisons);
    called(&charts, "comparison-load-0.3");
}

#[test]
fn an_axis_of_words_has_places_and_no_lines() {
    let words = |plan: &mut Plan| {
        for point in &mut plan.points {
            let value = if point.axes["workload.load"] == "0.3" {
                "web-search"
            } else {
                "data-mining"
            };
            point.axes = [("workload.sizes".to_owned(), value.to_owned())].into();
        }
        plan.axes = vec!["workload.sizes".to_owned()];
    };
    let (plan, _, comparisons) = run(&["0.3", "0.9"], words);
    let charts = of_sweep(&plan, &comparisons, Values::Differences);
    let drawn = curves(called(&charts, "short-mean-over-workload.sizes"));
    assert_eq!(drawn.x.names, ["web-search", "data-mining"]);
    assert!(drawn.curves.iter().all(|c| c.spots.len() == 1));
    // Two schemes beside each other, within half a place.
    let mut places: Vec<f64> = drawn.curves.iter().map(|c| c.spots[0].x).collect();
    places.sort_by(f64::total_cmp);
    assert!(places.windows(2).all(|p| p[1] - p[0] > 0.1), "{places:?}");
    assert!(places[0] > -0.5 && places[3] < 1.5, "{places:?}");
}

#[test]
fn two_axes_give_a_panel_for_each_value_of_the_other() {
    let two = |plan: &mut Plan| {
        let (half, all) = (plan.points.len() / 2, plan.points.len());
        for (i, point) in plan.points.iter_mut().enumerate() {
            let delay = if i < half { "10us" } else { "20us" };
            let load = if i % half < all / 4 { "0.3" } else { "0.9" };
            point.axes = [("workload.load", load), ("topology.delay", delay)]
                .map(|(path, value)| (path.to_owned(), value.to_owned()))
                .into();
        }
        plan.axes = vec!["topology.delay".to_owned(), "workload.load".to_owned()];
    };
    let (plan, _, comparisons) = run(&["0.1", "0.2", "0.3", "0.4"], two);
    let charts = of_sweep(&plan, &comparisons, Values::Differences);
    let over_load = called(&charts, "short-mean-over-workload.load");
    let titles: Vec<&str> = over_load.panels.iter().map(|p| &p.title[..]).collect();
    assert_eq!(titles, ["delay = 10us", "delay = 20us"]);
    let over_delay = called(&charts, "short-mean-over-topology.delay");
    assert_eq!(over_delay.panels.len(), 2);
    let spots = &curves(over_delay).curves[0].spots;
    assert_eq!(spots.iter().map(|s| s.x).collect::<Vec<_>>(), [10.0, 20.0]);
    // All panels of a metric have one scale, over either axis.
    let all = over_load.panels.iter().chain(&over_delay.panels);
    let ranges = all.map(|p| match &p.body {
        Body::Curves(curves) => curves.y.range,
        _ => None,
    });
    let ranges: Vec<_> = ranges.collect();
    assert!(
        ranges[0].is_some() && ranges.iter().all(|r| *r == ranges[0]),
        "{ranges:?}"
    );
    // A map for each scheme but the baseline, with the value of each combination.
    let maps = called(&charts, "short-mean-map");
    let titles: Vec<&str> = maps.panels.iter().map(|p| &p.title[..]).collect();
    assert_eq!(titles, ["ECN#", "CoDel"]);
    let Body::Heat(map) = &maps.panels[0].body else {
        panic!("a map");
    };
    assert_eq!(map.tiles.len(), 4);
    for (row, load) in map.down.names.iter().enumerate() {
        for (column, delay) in map.across.names.iter().enumerate() {
            let mut groups = comparisons.groups.iter();
            let group = groups
                .find(|g| g.axes["workload.load"] == *load && g.axes["topology.delay"] == *delay)
                .expect("a group");
            let cell = group.rows[1].cell(crate::common::metric("short.mean"));
            let tile = map.tiles[2 * row + column].as_ref().expect("a value");
            assert_eq!(Some(tile.percent), cell.against.map(|c| c.percent));
            assert!(tile.better == Some(true) && tile.is_decided);
        }
    }
}

#[test]
fn names_of_axes_say_whose_they_are() {
    for (path, name) in [
        ("workload.load", "load"),
        ("switch.buffer", "buffer"),
        ("scheme.ECN#.pst_target", "ECN#: pst_target"),
        ("scheme.k", "schemes: k"),
        ("scheme.4.k", "scheme 4: k"),
        ("scheme.BBR.transport.lost-repairs", "BBR: lost-repairs"),
        ("workload.0.load", "workload 0: load"),
        ("workload.*.load", "load"),
    ] {
        assert_eq!(cemark_report::comparison::axis_name(path), name);
    }
}

#[test]
fn a_missing_value_breaks_the_line() {
    let (plan, mut done, _) = run(&["0.3", "0.6", "0.9"], |_| {});
    for (point, done) in plan.points.iter().zip(&mut done) {
        if point.axes["workload.load"] == "0.6" && point.scheme == "ECN#" {
            done.outcome.flows.iter_mut().for_each(|f| f.fct = None);
        }
    }
    let comparisons = Comparisons::new(&plan, &done);
    let charts = of_sweep(&plan, &comparisons, Values::Differences);
    let drawn = curves(called(&charts, "short-mean-over-workload.load"));
    let lengths: Vec<usize> = drawn.curves.iter().map(|c| c.spots.len()).collect();
    assert_eq!(lengths, [1, 1, 3], "ECN# on either side, CoDel whole");
}

#[test]
fn queues_are_curves_of_one_port_on_one_axis() {
    let (plan, mut done, comparisons) = run(&["0.5"], |_| {});
    let group = &comparisons.groups[0];
    let labels = |chart: &Chart| -> Vec<String> {
        assert_eq!(chart.panels.len(), 1);
        assert_eq!(curves(chart).curves.len(), 3);
        let colours: Vec<usize> = curves(chart).curves.iter().map(|c| c.colour).collect();
        let keys = chart.legend.iter();
        assert_eq!(keys.map(|k| k.colour).collect::<Vec<_>>(), colours);
        chart.legend.iter().map(|k| k.label.clone()).collect()
    };
    let same = of_queues(&plan, &done, group).expect("traces");
    assert!(same.title.contains("port switch0->host7"), "{}", same.title);
    assert!(
        same.caption.contains("the hottest under DCTCP-RED-Tail"),
        "{}",
        same.caption
    );
    // Under one scheme another port is the hottest; both were traced.
    let mut other = done[3].outcome.traces[0].clone();
    other.name = "switch0->host6".to_owned();
    other.samples.iter_mut().for_each(|s| s.bytes *= 3);
    done[3].outcome.traces.insert(0, other);
    let same = of_queues(&plan, &done, group).expect("traces");
    assert!(same.title.contains("port switch0->host7"), "{}", same.title);
    assert_eq!(labels(&same), ["DCTCP-RED-Tail", "ECN#", "CoDel"]);
    // Without a common port the legend says which one each curve shows.
    done[3].outcome.traces.truncate(1);
    let own = of_queues(&plan, &done, group).expect("traces");
    assert!(
        own.caption
            .contains("No port was traced under every scheme")
    );
    assert_eq!(labels(&own)[1], "ECN# (switch0->host6)");
}

#[test]
fn goodput_over_time_where_intervals_were_asked_for() {
    let ms = Picos::from_micros(1000);
    let (plan, mut done, comparisons) = run(&["0.5"], |plan| {
        for p in &mut plan.points {
            p.config.measure.goodput_interval = Picos::from_micros(1000);
        }
    });
    let group = &comparisons.groups[0];
    assert!(of_goodput(&plan, &done, group).is_none());
    for point in &mut done {
        point.outcome.goodput = vec![1_250_000; 1000];
    }
    let chart = of_goodput(&plan, &done, group).expect("intervals");
    assert_eq!(chart.panels.len(), 3);
    let spots = &curves(&chart).curves[0].spots;
    assert_eq!(spots.len(), 200);
    assert!(spots.iter().all(|s| (s.y - 1e10).abs() < 1.0), "10 Gb/s");
    assert!(spots[0].x > 0.0 && spots[199].x < 1000.0 * ms.as_micros_f64());
}
