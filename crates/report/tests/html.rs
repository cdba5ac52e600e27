// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report needs no other file, shows the whole run, and escapes all text of the scenario.

use crate::common::{FACTORS, finished, metric, plan};
use cemark_report::by_size::Buckets;
use cemark_report::summary::Cost;
use cemark_report::{Comparisons, Provenance, RunSummary, chart, html};
use cemark_scenario::Precision;

fn report(edit: impl FnOnce(&mut cemark_scenario::Plan)) -> String {
    compared(edit, |_| {})
}

fn compared(
    edit: impl FnOnce(&mut cemark_scenario::Plan),
    change: impl FnOnce(&mut Comparisons),
) -> String {
    let mut plan = plan(&["0.5", "0.9"], &[1, 2, 3]);
    edit(&mut plan);
    let done = finished(&plan, FACTORS);
    let mut comparisons = Comparisons::new(&plan, &done);
    change(&mut comparisons);
    let summary = RunSummary::new(&plan, &done, &comparisons, "0.1.0", Cost::default());
    html::render(&plan, &done, &comparisons, &summary, &Provenance::default())
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let page = report(|_| {});
    for outside in [
        "http://", "https://", "src=", "@import", "url(", "<link", "<script ", "fetch(", "import(",
    ] {
        let page = page.replace("src: url(data:font/ttf;base64,", "");
        assert!(!page.contains(outside), "{outside}");
    }
    // A browser would refuse as well.
    assert!(page.contains("Content-Security-Policy\" content=\"default-src 'none';"));
}

#[test]
fn tables_charts_and_provenance_are_there() {
    let page = report(|_| {});
    let forms = page.matches("<svg class=").count();
    let charts = page.matches("<div class=\"chart\">").count();
    assert_eq!(forms, 3 * charts, "each chart in three widths");
    assert!(
        charts > 4,
        "bars and traces for each of two loads, and curves over the load"
    );
    for word in [
        "load 0.9",
        "paper \u{2212}23.4\u{a0}%",
        "ECN# Fig 9c",
        "worse",
        "switch0-&gt;host7",
        "feedbeef01020304",
    ] {
        assert!(page.contains(word), "{word}");
    }
}

/// Charts of flows are in a part that a reader may fold, open where a run has few values of the
/// axes, and take less room than the page's other parts.
#[test]
fn charts_of_flows_are_open() {
    let page = report(|_| {});
    let mut folds = page.split("<details open><summary>Slowdown by flow size");
    let before = folds.next().map_or(0, str::len);
    let folds: Vec<&str> = folds
        .filter_map(|fold| fold.split("</details>").next())
        .collect();
    assert_eq!(folds.len(), 2, "two loads");
    for fold in &folds {
        // Slowdown by size, three distributions, ports.
        assert_eq!(fold.matches("<figure id=").count(), 5);
        assert!(fold.len() < before, "{} bytes", fold.len());
    }
}

/// Words between backticks are code, and markup of a scenario stays text.
#[test]
fn warnings_and_descriptions_show_code() {
    let page = report(|plan| {
        plan.description = "Set `load < 1` and <b>see</b>.".to_owned();
        plan.warnings.push(cemark_scenario::Warning {
            about: "load".to_owned(),
            message: "the load is high".to_owned(),
            help: "write `load = 0.5 & less`".to_owned(),
            points: 18,
        });
    });
    for html in [
        "Set <code>load &lt; 1</code> and &lt;b&gt;see&lt;",
        "write <code>load = 0.5 &amp; less</code>",
    ] {
        assert!(page.contains(html), "{html}");
    }
}

/// Points that are only grouped have the charts of flows, queues and buffers of compared points.
#[test]
fn grouped_points_have_the_charts_of_compared_ones() {
    let plan = plan(&["0.5", "0.9"], &[1, 2, 3]);
    let done = finished(&plan, FACTORS);
    let compared = Comparisons::new(&plan, &done);
    let grouped = Comparisons::grouped(&plan, &done);
    assert_eq!(grouped.groups.len(), 2);
    for (bare, full) in grouped.groups.iter().zip(&compared.groups) {
        assert_eq!((&bare.axes, &bare.seeds), (&full.axes, &full.seeds));
        let charts = |group| {
            let mut all = chart::of_flows(&plan, &done, group, &Buckets::Deciles);
            all.extend(chart::of_queues(&plan, &done, group));
            all
        };
        let found = charts(bare);
        assert_eq!(found.len(), 5);
        assert_eq!(found, charts(full));
        // No metric was evaluated.
        assert!(
            bare.rows
                .iter()
                .flat_map(|r| &r.cells)
                .all(|c| c.against.is_none())
        );
        assert!(
            full.rows
                .iter()
                .flat_map(|r| &r.cells)
                .any(|c| c.against.is_some())
        );
    }
    assert!(chart::compares("short.mean") && chart::compares("goodput"));
    for name in [
        "slowdown-by-size.p99",
        "fct",
        "queue-cdf",
        "queue",
        "buffer",
    ] {
        assert!(!chart::compares(name), "{name}");
        let of = |all| chart::of_metric(&plan, &done, all, name, &Buckets::Deciles);
        assert_eq!(of(&grouped), of(&compared), "{name}");
    }
}

/// The part of a page between the beginning of one word and the next one.
fn part<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let part = &page[page.find(from).expect(from)..];
    &part[..part.find(to).expect(to)]
}

/// The page begins with a grid of scheme and metric, and each cell leads to a chart of the page.
#[test]
fn the_grid_counts_gains_and_losses_and_leads_to_charts() {
    let page = report(|_| {});
    let grid = part(&page, "<table class=\"glance\"", "</table>");
    // On a phone each cell has the name of its metric.
    assert!(
        grid.contains("data-label=\"short &lt; 100 KB p99\""),
        "{grid}"
    );
    // Short flows, medium flows and all flows end earlier under ECN#, at both loads.
    let better = "<span class=\"w better\"><span aria-hidden=\"true\">▲</span> 2 better</span>";
    let worse = "<span class=\"w worse\"><span aria-hidden=\"true\">▼</span> 2 worse</span>";
    let row = part(grid, "></i>ECN#<", "</tr>");
    assert!(
        row.matches(better).count() >= 4 && !row.contains(worse),
        "{row}"
    );
    let row = part(grid, "></i>CoDel<", "</tr>");
    assert!(
        row.matches(worse).count() >= 4 && !row.contains(better),
        "{row}"
    );
    let links: Vec<&str> = grid.split("href=\"#").skip(1).collect();
    assert!(links.len() >= 10, "{}", links.len());
    for link in links {
        let anchor = link.split('"').next().expect("the end of the address");
        assert!(
            page.contains(&format!("<figure id=\"{anchor}\">")),
            "{anchor}"
        );
    }
    // Prose has only what the grid has not.
    let lead = part(&page, "<div class=\"says\">", "</div>");
    assert!(
        lead.contains("Over 2 combinations of load, against DCTCP-RED-Tail:"),
        "{lead}"
    );
    assert!(
        lead.contains("ECN# gains most in short p99 (")
            || lead.contains("ECN# gains most in short mean ("),
        "{lead}"
    );
    assert!(lead.contains("CoDel loses most in "), "{lead}");
    assert!(!lead.contains("medium mean"), "{lead}");
}

/// The grid of one table has the differences, and leads to the chart of the comparison.
#[test]
fn the_grid_of_one_table_has_percents() {
    let plan = plan(&["0.5"], &[1, 2, 3]);
    let done = finished(&plan, FACTORS);
    let comparisons = Comparisons::new(&plan, &done);
    let summary = RunSummary::new(&plan, &done, &comparisons, "0.1.0", Cost::default());
    let page = html::render(&plan, &done, &comparisons, &summary, &Provenance::default());
    let grid = part(&page, "<table class=\"glance\"", "</table>");
    let cell = "<a href=\"#chart-comparison-load-0.5\" data-panel=\"short mean FCT\"><span \
                class=\"w better\"><span aria-hidden=\"true\">▲</span> better</span><span \
                class=\"under v\">\u{2212}20.1";
    assert!(grid.contains(cell), "{grid}");
    assert!(grid.contains("</span> open</span>"), "{grid}");
    assert!(page.contains("<figure id=\"chart-comparison-load-0.5\">"));
    assert!(
        !page.contains("<div class=\"says\">"),
        "the grid says it all"
    );
}

/// A page of one seed does not speak of intervals that it does not have.
#[test]
fn captions_name_intervals_only_where_there_are_some() {
    let mut bare = plan(&["0.2", "0.3", "0.4", "0.5"], &[1]);
    bare.published.clear();
    let done = finished(&bare, FACTORS);
    let mut comparisons = Comparisons::new(&bare, &done);
    let rows = comparisons.groups.iter_mut().flat_map(|g| &mut g.rows);
    for cell in rows.flat_map(|r| &mut r.cells) {
        cell.against = cell.against.map(|c| c.without_interval());
    }
    let summary = RunSummary::new(&bare, &done, &comparisons, "0.1.0", Cost::default());
    let page = html::render(&bare, &done, &comparisons, &summary, &Provenance::default());
    assert!(!page.contains("are paired 95"));
    assert!(!page.contains("with paired 95"));
    assert!(page.contains("without an interval nothing is decided"));
    assert!(report(|_| {}).contains("the bands are paired 95 % intervals"));
}

/// Blocks of a sweep are folded under a summary.
#[test]
fn many_blocks_are_folded() {
    let plan = plan(&["0.2", "0.3", "0.4", "0.5"], &[1, 2, 3]);
    let done = finished(&plan, FACTORS);
    let comparisons = Comparisons::new(&plan, &done);
    let summary = RunSummary::new(&plan, &done, &comparisons, "0.1.0", Cost::default());
    let page = html::render(&plan, &done, &comparisons, &summary, &Provenance::default());
    assert_eq!(page.matches("<details class=\"block\"").count(), 4);
    assert!(page.contains("Over 4 combinations of load, against DCTCP-RED-Tail:"));
    assert!(page.contains("href=\"#g3\"") && page.contains("id=\"g3\""));
    assert!(!report(|_| {}).contains("<details class=\"block\""));
    // Flows have a panel for each load, before the blocks.
    let flows = part(&page, "<h2 id=\"flows\">", "<h2 id=\"blocks\">");
    for chart in ["slowdown-by-size", "fct", "slowdown"] {
        assert!(
            flows.contains(&format!("<figure id=\"chart-{chart}")),
            "{chart}"
        );
    }
    for load in ["0.2", "0.3", "0.4", "0.5"] {
        assert!(flows.contains(&format!(">load {load}<")), "{load}");
    }
    assert!(
        !report(|_| {}).contains("id=\"flows\""),
        "each block has its own"
    );
}

/// A page says where its own intervals come from.
#[test]
fn the_source_of_intervals_is_that_of_the_run() {
    let page = report(|_| {});
    assert!(page.contains("paired bootstrap over flows") && !page.contains("batches"));
    let looked = report(|plan| {
        plan.precision = Some(Precision {
            within: 5.0,
            metrics: Vec::new(),
            most: 64,
        });
    });
    assert!(looked.contains("Student’s t over replications"));
    assert!(!looked.contains("bootstrap"));
}

/// Cells and the bars' tips print an interval as it is, and the word follows it.
#[test]
fn lopsided_intervals_are_printed_by_their_ends() {
    let with = |interval| {
        compared(
            |_| {},
            |all| {
                let row = &mut all.groups[1].rows[2];
                let cell = row
                    .cells
                    .iter_mut()
                    .find(|c| c.metric == metric("short.p99"));
                let against = cell.unwrap().against.as_mut().unwrap();
                (against.percent, against.interval) = (40.8, Some(interval));
            },
        )
    };
    let cell = |under: &str, class: &str| {
        format!(
            "<td class=\"{class}\"><span class=\"v\">+40.8\u{a0}%</span><span \
                 class=\"under i\">{under}</span>"
        )
    };
    let word = "</span><span class=\"under w\">worse";
    let page = with((19.0, 84.0));
    assert!(page.contains(&cell(&format!("[19, 84]{word}"), "worse")));
    assert!(page.contains("CoDel, short p99 FCT: +40.8 % [19, 84]"));
    let page = with((-0.3, 84.0));
    assert!(page.contains(&cell("[\u{2212}0.3, 84]", "")));
    let page = with((30.8, 50.8));
    assert!(page.contains(&cell(&format!("±10{word}"), "worse")));
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
