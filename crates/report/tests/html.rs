// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report needs no other file, shows the whole run, and escapes all text of the scenario.

use crate::common::{FACTORS, finished, metric, plan};
use cemark_report::summary::Cost;
use cemark_report::{Comparisons, Provenance, RunSummary, html};

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
    assert_eq!(
        page.matches("<svg").count(),
        24,
        "bars, traces, slowdown and three distributions for each of two loads, wide and narrow"
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

/// Charts of flows are behind a line that opens them, and take less room than the page's other
/// parts.
#[test]
fn charts_of_flows_are_folded() {
    let page = report(|_| {});
    let mut folds = page.split("<details><summary>Slowdown by flow size");
    let before = folds.next().map_or(0, str::len);
    let folds: Vec<&str> = folds
        .filter_map(|fold| fold.split("</details>").next())
        .collect();
    assert_eq!(folds.len(), 2, "two loads");
    for fold in &folds {
        assert_eq!(fold.matches("<figure>").count(), 4);
        assert!(fold.len() < before, "{} bytes", fold.len());
    }
}

/// The page begins with every decided gain and loss of each scheme.
#[test]
fn the_lead_names_gains_and_losses() {
    let page = report(|_| {});
    let lead = &page[page.find("<div class=\"says\">").expect("a lead")..];
    let lead = &lead[..lead.find("</div>").expect("its end")];
    for words in [
        "At load 0.5, against DCTCP-RED-Tail:",
        "At load 0.9, against DCTCP-RED-Tail:",
        "ECN# is better in overall mean (",
        "short mean (\u{2212}20.1\u{a0}%)",
        "CoDel is worse in overall mean (",
    ] {
        assert!(lead.contains(words), "{words}: {lead}");
    }
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
                 class=\"under\">{under}</span>"
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
