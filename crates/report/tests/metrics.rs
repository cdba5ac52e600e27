// SPDX-License-Identifier: MIT OR Apache-2.0
//! The registry of metrics: its entries are complete, and what is made from them fits them.

use std::collections::BTreeSet;

use crate::common::{FACTORS, finished, plan};
use cemark_report::metrics::{self, Cells, Metric, Sample, Value};
use cemark_report::{Comparisons, PointSummary};
use cemark_scenario::Overrides;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/output.md");

/// The list in docs/output.md is made from the registry: with `CEMARK_WRITE=1` this writes it.
#[test]
fn the_page_lists_every_metric() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (begin, end) = ("metrics::` -->\n", "<!-- end of metrics -->");
    let (head, rest) = page.split_once(begin).expect("the start of the list");
    let (_, tail) = rest.split_once(end).expect("the end of the list");
    let wanted = format!("{head}{begin}\n{}\n{end}{tail}", metrics::documentation());
    if std::env::var_os("CEMARK_WRITE").is_some() {
        std::fs::write(PAGE, &wanted).unwrap();
    } else {
        assert!(
            page == wanted,
            "docs/output.md is not what the registry says: \
             CEMARK_WRITE=1 cargo test -p cemark-report metrics::"
        );
    }
}

#[test]
fn entries_are_complete_and_names_are_unique() {
    let mut names = BTreeSet::new();
    for metric in metrics::all() {
        for name in metric.alias.into_iter().chain([&*metric.key]) {
            assert!(names.insert(name), "{name} is there twice");
            assert_eq!(metrics::find(name), Some(metric));
        }
        let edge = matches!(metric.value, Value::Edge(_));
        assert!(
            edge || metric.doc.ends_with('.'),
            "{}: {}",
            metric.key,
            metric.doc
        );
        if metric.column.is_some() {
            assert!(
                !metric.heading().1.is_empty(),
                "{} has no heading",
                metric.key
            );
        }
    }
    for wrong in [
        "",
        "short",
        "short.p98",
        "queue.p95",
        "drops.mean",
        "edge.nothing",
    ] {
        assert_eq!(metrics::find(wrong), None, "{wrong}");
    }
}

/// A field of a point's JSON; of a map of counters their sum.
fn field(summary: &PointSummary, path: &str) -> Option<f64> {
    let json = serde_json::to_value(summary).unwrap();
    let found = json.pointer(&format!("/{}", path.replace('.', "/")));
    let found = found.unwrap_or_else(|| panic!("a point has no field {path}"));
    match found.as_object() {
        Some(counters) => Some(counters.values().filter_map(|n| n.as_f64()).sum()),
        None => found.as_f64(),
    }
}

/// The field that an entry names holds the metric's value, and a metric without a field is in
/// `metrics`.
#[test]
fn the_document_holds_every_metric_of_a_point() {
    let plan = plan(&["0.9"], &[1]);
    let done = finished(&plan, FACTORS);
    let mut seen = 0;
    for (point, done) in plan.points.iter().zip(&done) {
        let sample = Sample::new(point, &done.outcome);
        for metric in metrics::all() {
            let Some(column) = &metric.column else {
                continue;
            };
            let here = match column.field {
                Some(path) => field(&done.summary, path),
                None => done.summary.metrics.get(&*metric.key).copied(),
            };
            assert_eq!(here, metric.value(&sample).ok(), "{}", metric.key);
            seen += usize::from(here.is_some());
        }
    }
    assert!(seen >= 3 * 10, "{seen} values");
}

/// Every scheme has a cell for each metric that compares, and a sum for each that is counted.
#[test]
fn rows_follow_the_registry() {
    let plan = plan(&["0.9"], &[1, 2, 3]);
    let all = Comparisons::new(&plan, &finished(&plan, FACTORS));
    let keys = |cells| -> Vec<&Metric> {
        let all = metrics::all().iter();
        all.filter(|m| m.column.as_ref().is_some_and(|c| c.cells == cells))
            .collect()
    };
    for row in &all.groups[0].rows {
        let compared: Vec<&Metric> = row.cells.iter().map(|c| c.metric).collect();
        assert_eq!(compared, keys(Cells::Comparison));
        let counted: Vec<&Metric> = row.counts.iter().map(|c| c.metric).collect();
        assert_eq!(counted, keys(Cells::Sum));
        // Three seeds with ten retransmissions each (common/mod.rs).
        assert_eq!(row.sum(crate::common::metric("retransmissions")), 30.0);
    }
}

/// `[[published]]` is read by cemark-scenario, which cannot see the registry.
#[test]
fn scenarios_may_publish_what_the_registry_says() {
    let scenario = |key: &str| {
        format!(
            "[topology]\nkind = \"star\"\nhosts = 4\nrate = \"10Gbps\"\ndelay = \"2us\"\n\
             [[workload]]\nkind = \"poisson\"\nsizes = \"100KB\"\nload = 0.5\nflows = 10\n\
             [[scheme]]\nmarker = \"tcn\"\n\
             [[published]]\nscheme = \"TCN\"\nmetric = \"{key}\"\npercent = 1\nsource = \"us\"\n"
        )
    };
    for metric in metrics::all() {
        let read = cemark_scenario::parse(&scenario(&metric.key), "x.toml", &Overrides::default());
        let said = read.as_ref().err().map(ToString::to_string);
        assert_eq!(read.is_ok(), metric.published, "{}: {said:?}", metric.key);
    }
}
