// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report stands alone, shows what the run had, and trusts no text of the scenario.

mod common;

use cemark_report::summary::Cost;
use cemark_report::{Comparisons, Provenance, RunSummary, html};
use common::{FACTORS, finished, plan};

fn report(edit: impl FnOnce(&mut cemark_scenario::Plan)) -> String {
    let mut plan = plan(&["0.5", "0.9"], &[1, 2, 3]);
    edit(&mut plan);
    let done = finished(&plan, FACTORS);
    let comparisons = Comparisons::new(&plan, &done);
    let points = done.iter().map(|d| d.summary.clone()).collect();
    let summary = RunSummary::new(&plan, points, &comparisons, "0.1.0", Cost::default());
    html::render(&plan, &done, &comparisons, &summary, &Provenance::default())
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let page = report(|_| {});
    for outside in [
        "http://", "https://", "src=", "@import", "url(", "<link", "<script",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn tables_charts_and_provenance_are_there() {
    let page = report(|_| {});
    assert_eq!(
        page.matches("<svg").count(),
        4,
        "bars and traces for each of two loads"
    );
    for word in [
        "load 0.9",
        "paper \u{2212}23.4 %",
        "ECN# Fig 9c",
        "worse",
        "switch0-&gt;host7",
        "feedbeef01020304",
    ] {
        assert!(page.contains(word), "{word}");
    }
}

#[test]
fn a_scenarios_text_is_text() {
    let page = report(|p| {
        p.title = "<b>bold</b>".to_owned();
        p.source = "</pre><i>".to_owned();
    });
    assert!(!page.contains("<b>bold") && !page.contains("</pre><i>"));
    assert!(page.contains("&lt;b&gt;bold"));
}

#[test]
fn two_renderings_are_the_same() {
    assert_eq!(report(|_| {}), report(|_| {}));
}
