// SPDX-License-Identifier: MIT OR Apache-2.0
//! `report.html`: one file that shows a whole run. It loads nothing from elsewhere.

mod bars;
mod block;
pub(crate) mod page;
mod traces;

use cemark_scenario::Plan;
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use self::block::Block;
use self::page::{COLOURS, Entry, page, typeset};
use crate::comparison::{Comparisons, sentence};
use crate::metrics::{self, Metric};
use crate::summary::hex;
use crate::{Finished, Provenance, RunSummary, params, units};

/// Parts of a sweep that are drawn in full. Further ones have their table; the size of a page has
/// an end.
const DRAWN: usize = 24;

/// Sentences as the page shows them.
#[derive(Serialize)]
struct Said {
    intro: String,
    parts: Vec<String>,
}

impl From<sentence::Said> for Said {
    fn from(said: sentence::Said) -> Self {
        Said {
            intro: typeset(&said.intro),
            parts: said.parts.iter().map(|p| typeset(p)).collect(),
        }
    }
}

#[derive(Serialize)]
struct Scheme {
    label: String,
    colour: usize,
    marker: String,
    parameters: Vec<(&'static str, String)>,
}

/// The whole document.
pub fn render(
    plan: &Plan,
    finished: &[Finished],
    comparisons: &Comparisons,
    summary: &RunSummary,
    who: &Provenance,
) -> String {
    let groups = comparisons.groups.iter().enumerate();
    let blocks: Vec<Block> = groups
        .map(|(i, g)| block::block(plan, finished, g, i, i < DRAWN))
        .collect();
    let lead: Vec<Said> = if blocks.len() > sentence::FEW {
        vec![sentence::of_all(comparisons, &in_report()).into()]
    } else {
        let groups = comparisons.groups.iter();
        groups
            .map(|g| sentence::of_group(g, &in_report()).into())
            .collect()
    };
    let schemes: Vec<Scheme> = plan
        .schemes
        .iter()
        .map(|label| scheme(plan, label))
        .collect();
    let mut seeds: Vec<u64> = Vec::new();
    for p in &plan.points {
        if !seeds.contains(&p.seed) {
            seeds.push(p.seed);
        }
    }
    let flows: u64 = summary.points.iter().map(|p| p.flows).sum();
    let values = context! {
        title => plan.title.clone(),
        name => plan.name.clone(),
        lead => Value::from(Serde(lead)),
        description => paragraphs(&plan.description),
        warnings => plan.warning_lines(),
        baseline => comparisons.baseline.clone(),
        folded => blocks.len() > sentence::FEW,
        drawn => DRAWN,
        schemes => Value::from(Serde(schemes)),
        points => summary.cost.points,
        flows => units::count(flows as f64),
        hops => units::count(summary.cost.packet_hops as f64),
        cpu => units::span(summary.cost.cpu_seconds),
        seeds => seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
        version => who.version.clone(),
        build => who.build.clone(),
        digest => summary.digest.clone(),
        scenario_digest => hex(plan.digest),
        command => who.command.iter().map(|w| quoted(w)).collect::<Vec<_>>().join(" "),
        source => plan.source.clone(),
    };
    let contents = contents(&blocks);
    let blocks = context! { blocks => Value::from(Serde(blocks)), ..values };
    page("run.html", &contents, blocks)
}

/// The contents: what there always is, and the blocks, under one entry if they are many.
fn contents(blocks: &[Block]) -> Vec<Entry> {
    let of_blocks = blocks.iter().map(|b| Entry::new(&b.anchor, &b.title));
    let mut out = vec![Entry::new("top", "Result")];
    if blocks.len() > sentence::FEW {
        out.push(Entry {
            parts: of_blocks.collect(),
            ..Entry::new("blocks", "Every combination")
        });
    } else {
        out.extend(of_blocks);
    }
    out.push(Entry::new("schemes", "Schemes"));
    out.push(Entry::new("provenance", "Where this comes from"));
    out
}

/// The columns of the report that compare schemes.
fn in_report() -> Vec<&'static Metric> {
    metrics::shown(metrics::compared(), |column| column.report)
}

/// The paragraphs of a text.
fn paragraphs(text: &str) -> Vec<String> {
    let all = text.split("\n\n").map(|p| p.trim().to_owned());
    all.filter(|p| !p.is_empty()).collect()
}

/// A word of the command line as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:+#@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) && !word.starts_with('#') {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The colour of a scheme: the baseline is always the first.
pub(crate) fn colour(plan: &Plan, scheme: &str) -> usize {
    let place = plan.schemes.iter().position(|s| s == scheme).unwrap_or(0);
    if place == plan.baseline {
        return 0;
    }
    let behind = place + usize::from(place < plan.baseline);
    (behind - 1) % (COLOURS - 1) + 1
}

fn scheme(plan: &Plan, label: &str) -> Scheme {
    let point = plan.points.iter().find(|p| p.scheme == label);
    let (marker, parameters) = point
        .map(|p| params::of_marker(&p.config.switch.marker))
        .unwrap_or_default();
    Scheme {
        label: label.to_owned(),
        colour: colour(plan, label),
        marker,
        parameters,
    }
}
