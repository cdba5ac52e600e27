// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark figure --paper`: one page a paper, drawn from the runs of its figures.

use std::fs;
use std::path::Path;

use crate::common::{cemark, folder, line};

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn a_page_is_drawn_from_the_runs_that_are_there() {
    let dir = folder("pages", &[]);
    let run = [
        "figure",
        "mqecn-zero",
        "mqecn-numbers",
        "--out",
        "runs",
        "--quiet",
    ];
    let ran = cemark(&dir, &run);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    let draw = [
        "figure", "--paper", "mqecn", "--from", "runs", "--out", "pages",
    ];
    let drawn = cemark(&dir, &draw);
    assert_eq!(drawn.status.code(), Some(0), "{drawn:?}");
    let page = text(&dir.join("pages/mqecn.html"));
    // A figure in its form, one of closed forms by its rows, and one that has not been run.
    assert!(page.contains("svg/mqecn-zero.svg"), "the chart's file");
    let chart = text(&dir.join("pages/svg/mqecn-zero.svg"));
    for published in [
        "published (MQECN-T40.a): 94 %",
        "published (MQECN-T40.b): 75 %",
    ] {
        assert!(page.contains(published), "{published}");
        assert!(chart.contains(published), "{published}");
    }
    assert!(page.contains("svg/mqecn-numbers.svg"), "a chart of rows");
    // Those that have not been run are one list.
    let list = &page[page.find("<h2 id=\"not-run\">").expect("a list")..];
    assert!(list.contains("<li id=\"mqecn-9\">") && list.contains("cemark figure mqecn-9"));
    assert!(!list.contains("mqecn-zero"));
    assert!(page.contains("Where its parameters come from: "), "grades");
    assert!(!page.contains("come from: parameters"));
    assert!(page.contains("cemark figure mqecn-zero --quick"));
    assert!(page.contains("topology.rate"), "the grades");
    assert!(!page.contains("another build"), "the build is this one");
}

/// A figure of flows has their charts on the page of its paper and in its own report, folded.
#[test]
fn pages_have_the_charts_of_flows() {
    let dir = folder("pages-flows", &[]);
    let ran = cemark(&dir, &["figure", "cedm-parts", "--out", "runs", "--quiet"]);
    assert!(ran.status.code().is_some_and(|c| c < 2), "{ran:?}");
    let draw = [
        "figure", "--paper", "cedm", "--from", "runs", "--out", "runs",
    ];
    let drawn = cemark(&dir, &draw);
    assert_eq!(drawn.status.code(), Some(0), "{drawn:?}");
    let page = text(&dir.join("runs/cedm.html"));
    let fold = "<details><summary>Slowdown by flow size, distributions, queues and buffers";
    let folded = &page[page.find(fold).expect("a fold")..];
    let folded = &folded[..folded.find("</details>").expect("its end")];
    for chart in ["slowdown-by-size", "fct", "slowdown"] {
        let id = format!("<figure id=\"cedm-parts-chart-{chart}\">");
        assert!(folded.contains(&id), "{chart}");
    }
    // The page is beside the figure's own report, which has these charts too.
    let link = page.split("<a href=\"cedm-parts-").nth(1).expect("a link");
    let link = format!(
        "runs/cedm-parts-{}",
        link.split('"').next().expect("its end")
    );
    let report = text(&dir.join(link));
    let points = &report[report.find("<h2 id=\"measured\">").expect("all points")..];
    for chart in ["comparison", "slowdown-by-size", "fct", "slowdown"] {
        assert!(
            points.contains(&format!("<figure id=\"chart-{chart}\">")),
            "{chart}"
        );
    }
}

#[test]
fn mistakes_are_explained() {
    let dir = folder("pages-mistaken", &[]);
    let cases: [(&[&str], &str); 4] = [
        (&["figure", "--paper", "ecn"], "ecnsharp"),
        (
            &["figure", "--paper", "dcib", "--from", "none"],
            "no figure of DCIB has been run in none",
        ),
        (&["figure", "--from", "none"], "--paper ecnsharp, or --all"),
        (
            &["figure", "dcib-2", "--paper", "dcib"],
            "cannot be used with",
        ),
    ];
    for (args, part) in cases {
        let out = cemark(&dir, args);
        let said = line(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(part), "{args:?}: {said}");
    }
}
