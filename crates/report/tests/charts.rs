// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contents of a run's charts.

use crate::common::{FACTORS, finished, metric, plan};
use cemark_report::by_port::Share;
use cemark_report::by_size::Buckets;
use cemark_report::chart::{
    self, Body, Chart, Curves, Values, of_buffers, of_goodput, of_metric, of_ports, of_queues,
    of_run, of_sweep,
};
use cemark_report::summary::Cost;
use cemark_report::summary::measures::{Measure, measures};
use cemark_report::table::data::of_chart;
use cemark_report::table::files;
use cemark_report::{Comparisons, Finished, RunSummary};
use cemark_scenario::Plan;
use cemark_sim::outcome::{BufferSample, BufferTrace, PauseReport};
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
    let charts = of_run(&plan, &done, &comparisons, &Buckets::Deciles);
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
    let charts = of_run(&plan, &done, &comparisons, &Buckets::Deciles);
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
fn schemes_share_the_axis_of_a_buffer() {
    let (plan, mut done, comparisons) = run(&["0.5"], |_| {});
    let group = &comparisons.groups[0];
    assert!(of_buffers(&plan, &done, group).is_none());
    let trace = |name: &str, bytes: u32| BufferTrace {
        name: name.to_owned(),
        capacity: 2_000_000,
        samples: (0..2_000)
            .map(|i| BufferSample {
                at: Picos::from_micros(10 * i),
                bytes: bytes + (i % 2) as u32,
            })
            .collect(),
    };
    for (i, point) in (1..).zip(&mut done) {
        point.outcome.buffers = vec![trace("leaf0", 10_000 * i), trace("leaf1", 20_000 * i)];
    }
    let chart = of_buffers(&plan, &done, group).expect("traces");
    assert_eq!(chart.name, "buffer-load-0.5");
    assert!(chart.title.contains("switch leaf1"), "{}", chart.title);
    assert!(chart.caption.contains("of 2.00 MB"), "{}", chart.caption);
    let drawn = curves(&chart);
    assert_eq!(
        (chart.panels.len(), drawn.curves.len(), chart.legend.len()),
        (1, 3, 3)
    );
    // The first seeds of the schemes are points 1, 4 and 7.
    for (curve, bytes) in drawn.curves.iter().zip([20_000.0, 80_000.0, 140_000.0]) {
        let near = |y: f64| (y - bytes - 0.5).abs() < 0.1;
        assert!(curve.spots.iter().all(|s| near(s.y) && s.band.is_none()));
    }
    // Without a common buffer the fullest of each scheme, which the caption names.
    done[3].outcome.buffers = vec![trace("leaf2", 5_000)];
    let chart = of_buffers(&plan, &done, group).expect("traces");
    assert!(chart.caption.contains("ECN#: leaf2"), "{}", chart.caption);
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

fn of_body(panel: &cemark_report::chart::Panel) -> &Curves {
    match &panel.body {
        Body::Curves(curves) => curves,
        _ => panic!("{} has no curves", panel.title),
    }
}

#[test]
fn slowdown_by_size_has_a_panel_for_each_percentile_and_a_band_over_seeds() {
    let (plan, done, comparisons) = run(&["0.5"], |_| {});
    let buckets = Buckets::UpTo(vec![100_000, 10_000_000]);
    let charts = of_metric(&plan, &done, &comparisons, "slowdown-by-size", &buckets);
    let [chart] = &charts[..] else {
        panic!("{} charts", charts.len());
    };
    assert!(
        chart
            .caption
            .contains("Means over 3 seeds, with their 95 %")
    );
    let numbers = comparisons.slowdown_by_size(&done, &buckets);
    let median = of_body(&chart.panels[0]);
    assert_eq!(chart.panels[0].title, "p50");
    assert_eq!(median.curves.len(), 3, "every scheme");
    for (curve, numbers) in median.curves.iter().zip(&numbers) {
        assert_eq!(curve.label, numbers.scheme);
        let known = numbers.buckets.iter().filter_map(|b| Some((b, b.p50?)));
        let known: Vec<_> = known
            .map(|(b, p50)| (b.median_bytes as f64, p50.mean, p50.interval()))
            .collect();
        let drawn: Vec<_> = curve.spots.iter().map(|s| (s.x, s.y, s.band)).collect();
        assert_eq!(drawn, known);
        assert!(known.len() > 1 && known.iter().all(|k| k.2.is_some()));
    }
    // ECN# takes 20 % off short flows.
    let short = |scheme: usize| numbers[scheme].buckets[0].p50.expect("flows").mean;
    assert!((short(1) / short(0) - 0.8).abs() < 0.02);
    // One percentile has one panel, whose axis names it.
    let name = "slowdown-by-size.p50";
    let one = of_metric(&plan, &done, &comparisons, name, &buckets);
    assert_eq!((one.len(), one[0].panels.len()), (1, 1));
    assert_eq!(of_body(&one[0].panels[0]).y.label, "p50 slowdown");
    assert!(one[0].name.starts_with(name), "{}", one[0].name);
}

#[test]
fn one_seed_has_neither_band_nor_word_of_it() {
    let mut plan = plan(&["0.5"], &[1]);
    plan.axes.clear();
    plan.points.iter_mut().for_each(|p| p.axes.clear());
    let done = finished(&plan, FACTORS);
    let comparisons = Comparisons::new(&plan, &done);
    let charts = of_run(&plan, &done, &comparisons, &Buckets::Deciles);
    let chart = called(&charts, "slowdown-by-size");
    assert!(!chart.caption.contains("interval") && !chart.caption.contains("seeds"));
    let spots = chart
        .panels
        .iter()
        .flat_map(|p| &of_body(p).curves)
        .flat_map(|c| &c.spots);
    assert!(spots.clone().count() > 0 && spots.clone().all(|s| s.band.is_none()));
    for name in ["fct", "slowdown", "queue-cdf"] {
        let chart = called(&charts, name);
        assert!(!chart.caption.contains("seed"), "{}", chart.caption);
        for curve in &of_body(&chart.panels[0]).curves {
            assert!(curve.spots.len() <= 100);
            assert_eq!(curve.spots.last().map(|s| s.y), Some(1.0));
        }
    }
}

#[test]
fn a_sweep_of_many_values_has_charts_of_flows_on_request_only() {
    let (plan, done, comparisons) = run(&["0.3", "0.5", "0.7", "0.9"], |_| {});
    let charts = of_run(&plan, &done, &comparisons, &Buckets::Deciles);
    let of_flows = |c: &&Chart| c.name.starts_with("slowdown") || c.name.starts_with("fct");
    assert_eq!(charts.iter().filter(of_flows).count(), 0);
    let of = |name: &str| of_metric(&plan, &done, &comparisons, name, &Buckets::Deciles);
    assert_eq!(of("fct").len(), 4, "a chart for each load");
    let names: Vec<String> = of("short.p99").into_iter().map(|c| c.name).collect();
    let over = "short-p99-over-workload.load";
    assert_eq!(names, [over.to_owned(), format!("{over}-absolute")]);
    assert!(of("no-such-metric").is_empty());
    let known = chart::metrics();
    for name in [
        "slowdown-by-size.p95",
        "queue-cdf",
        "queue",
        "goodput",
        "short.mean",
    ] {
        assert!(known.iter().any(|k| k == name), "{name}: {known:?}");
    }
}

#[test]
fn data_of_a_chart_have_every_value_with_its_unit() {
    let (plan, done, comparisons) = run(&["0.5"], |_| {});
    let of = |name: &str| {
        let charts = of_metric(&plan, &done, &comparisons, name, &Buckets::Deciles);
        of_chart(&charts[0], "scheme")
    };
    let sizes = of("slowdown-by-size.p50");
    assert_eq!(
        sizes.head,
        ["scheme", "flow size [bytes]", "p50 slowdown", "low", "high"]
    );
    assert!(sizes.name.ends_with("-data") && sizes.rows.len() > 3);
    let times = of("fct");
    assert_eq!(
        times.head,
        ["scheme", "completion time [µs]", "share of flows"]
    );
    assert!(times.rows.iter().all(|row| row.len() == 3));
    let queue = of("queue");
    assert_eq!(
        queue.head,
        [
            "scheme",
            "time [µs]",
            "value [bytes]",
            "low [bytes]",
            "high [bytes]"
        ]
    );
    let bars = of("short.mean");
    let head = ["panel", "scheme", "value [%]", "low [%]", "high [%]"];
    assert_eq!(bars.head[..5], head);
    let cell = |row: usize| comparisons.groups[0].rows[row].cell(metric("short.mean"));
    let percent = cell(1).against.expect("a difference").percent;
    assert_eq!(bars.rows[1][1..3], ["ECN#".to_owned(), percent.to_string()]);
}

/// Ports of a scheme are in falling order, means over the seeds, with the least and the largest
/// share of a seed; the summary has the numbers of the chart.
#[test]
fn ports_are_drawn_by_rank() {
    let (plan, mut done, _) = run(&["0.9"], |_| {});
    for (place, point) in done.iter_mut().enumerate() {
        let ports = &mut point.outcome.ports;
        (ports[0].packets, ports[1].packets) = (1, 1);
        (ports[0].utilisation, ports[1].utilisation) = (0.2 + 0.1 * (place % 3) as f64, 0.9);
        // A NIC without a report of its own was paused in the first seed only.
        let paused = PauseReport {
            name: "host3->leaf0".to_owned(),
            frames: 1,
            share: 0.3,
            queues: Vec::new(),
        };
        point.outcome.pauses = (place % 3 == 0).then_some(paused).into_iter().collect();
    }
    let comparisons = Comparisons::new(&plan, &done);
    let group = &comparisons.groups[0];
    let chart = of_ports(&plan, &done, group, &Share::EACH).expect("a chart");
    assert_eq!((&chart.name[..], chart.panels.len()), ("ports-load-0.9", 2));
    let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
    let spots = &curves(&chart).curves[0].spots;
    assert!(
        close(spots[0].y, 90.0) && close(spots[1].y, 30.0),
        "{spots:?}"
    );
    let (low, high) = spots[1].band.expect("three seeds");
    assert!(close(low, 20.0) && close(high, 40.0), "{low} {high}");
    let of = |name: &str| of_metric(&plan, &done, &comparisons, name, &Buckets::Deciles);
    let alone = of("pauses-by-port").pop().expect("a chart");
    assert_eq!(
        (&alone.name[..], alone.panels.len()),
        ("pauses-by-port-load-0.9", 1)
    );
    assert!(
        close(curves(&alone).curves[0].spots[0].y, 10.0),
        "a mean over three seeds"
    );
    let summary = RunSummary::new(&plan, &done, &comparisons, "0.1.0", Cost::default());
    let nic = summary
        .ports
        .iter()
        .find(|p| p.port == "host3->leaf0")
        .expect("the NIC");
    assert_eq!(nic.utilisation, None);
    assert!(close(nic.paused.expect("a share"), 0.1));
    let busy = &summary.ports[0];
    assert!(close(busy.utilisation.expect("a share"), 0.9) && busy.paused.is_none());
}

/// A metric without axes has the differences and the values, with their intervals.
#[test]
fn a_metric_without_axes_has_its_values() {
    let (plan, done, comparisons) = run(&["0.9"], |_| {});
    let charts = of_metric(&plan, &done, &comparisons, "short.mean", &Buckets::Deciles);
    let names: Vec<&str> = charts.iter().map(|c| &c.name[..]).collect();
    assert_eq!(
        names,
        ["comparison-load-0.9", "short-mean-absolute-load-0.9"]
    );
    let Body::Rows(rows) = &charts[1].panels[0].body else {
        panic!("rows");
    };
    let measures = measures(&plan, &done, &comparisons);
    for row in &rows.rows {
        let is_row = |m: &&Measure| m.scheme == row.label && m.metric == "short.mean";
        let measure = measures.iter().find(is_row).expect("a measure");
        assert_eq!(row.value, Some(measure.value));
        assert_eq!(row.interval, measure.low.zip(measure.high));
        assert!(row.interval.is_some(), "three seeds");
    }
}

/// A percentile that is the largest of its values says so wherever a chart shows the difference.
#[test]
fn largest_values_are_called_so() {
    let (plan, done, mut comparisons) = run(&["0.3", "0.9"], |_| {});
    let cells = comparisons.groups.iter_mut().flat_map(|g| &mut g.rows);
    for cell in cells.flat_map(|row| &mut row.cells) {
        if cell.metric == metric("short.p99") {
            cell.largest_of = Some(43);
        }
    }
    let of = |name: &str| of_metric(&plan, &done, &comparisons, name, &Buckets::Deciles);
    for chart in of("short.p99") {
        let spots = curves(&chart).curves.iter().flat_map(|c| &c.spots);
        assert!(spots.clone().count() > 0);
        assert!(
            spots.clone().all(|s| s.tip.contains("max of 43")),
            "{}",
            chart.name
        );
    }
    let bars = chart::of_group(&plan, &comparisons.groups[0]).expect("bars");
    let panel = bars
        .panels
        .iter()
        .find(|p| p.title.contains("p99"))
        .expect("a p99");
    let Body::Rows(rows) = &panel.body else {
        panic!("rows");
    };
    assert!(
        rows.rows[1].text.ends_with("max of 43"),
        "{}",
        rows.rows[1].text
    );
    let exact = files::exact(&plan, &done, &comparisons);
    let table = exact
        .iter()
        .find(|t| t.name == "comparison")
        .expect("a table");
    let place = table
        .head
        .iter()
        .position(|h| h == "short.p99 largest of [flows]");
    let place = place.unwrap_or_else(|| panic!("{:?}", table.head));
    assert!(table.rows.iter().all(|row| row[place] == "43"));
}
