// SPDX-License-Identifier: MIT OR Apache-2.0
//! `report.html`: one file that shows a whole run. It loads nothing from elsewhere.

mod block;
mod glance;
pub mod page;
mod sweep;

use cemark_scenario::Plan;
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use self::block::Block;
use self::page::{Entry, Picture, page, typeset};
use self::sweep::{Section, fitting};
use crate::by_size::Buckets;
use crate::chart::{self, colour};
use crate::comparison::{Comparisons, sentence};
use crate::metrics::Metric;
use crate::summary::hex;
use crate::text::distinct;
use crate::{Finished, Provenance, RunSummary, params, units};

/// Bytes of the charts of a page over the axes, and of those of its blocks. What does not fit is
/// left out, with a note: a page must stay small enough for a browser and for mail.
const CURVES: usize = 2_200_000;
const BLOCKS: usize = 2_200_000;

/// Sentences as the page shows them.
#[derive(Serialize)]
struct Said {
    intro: String,
    parts: Vec<String>,
}

impl Said {
    fn is_empty(&self) -> bool {
        self.intro.is_empty() && self.parts.is_empty()
    }
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
    parameters: Vec<(String, String)>,
}

/// Promise of the digest of a simulated run.
const REPEATS: &str = "the same scenario and seeds give the same digest on any machine, with any \
    number of jobs";

/// The whole document.
pub fn render(
    plan: &Plan,
    finished: &[Finished],
    comparisons: &Comparisons,
    summary: &RunSummary,
    who: &Provenance,
) -> String {
    render_as(plan, finished, comparisons, summary, who, REPEATS)
}

/// Renders a run that was not only simulated: `repeats` is the promise of its digest, the end of a
/// sentence.
pub fn render_as(
    plan: &Plan,
    finished: &[Finished],
    comparisons: &Comparisons,
    summary: &RunSummary,
    who: &Provenance,
    repeats: &str,
) -> String {
    let folded = comparisons.groups.len() > sentence::FEW;
    let (mut curves, mut not_drawn) = (Vec::new(), 0);
    if comparisons.groups.len() > 1 && !comparisons.all_alike() {
        let mut room = CURVES;
        (curves, not_drawn) = sweep::sections(plan, comparisons, &mut room);
    }
    let mut room = BLOCKS;
    let groups = comparisons.groups.iter().enumerate();
    let blocks: Vec<Block> = groups
        .map(|(i, group)| {
            // Charts of schemes that nothing tells apart are flat lines.
            let charts = match group.alike {
                Some(_) => Vec::new(),
                None => vec![
                    chart::of_group(plan, group),
                    chart::of_queues(plan, finished, group),
                    chart::of_buffers(plan, finished, group),
                ],
            };
            let charts = fitting(charts.into_iter().flatten(), &mut room);
            let flows = match group.alike.is_some() || folded {
                true => Vec::new(),
                false => chart::of_flows(plan, finished, group, &Buckets::Deciles),
            };
            let charts = block::Charts {
                compared: charts,
                flows: fitting(flows, &mut room),
            };
            block::block(plan, finished, group, i, charts)
        })
        .collect();
    let lead: Vec<sentence::Said> = match &comparisons.groups[..] {
        [only] => vec![sentence::beside(only)],
        _ => vec![sentence::beside_all(comparisons)],
    };
    let lead = lead.into_iter().map(Said::from);
    let lead: Vec<Said> = lead.filter(|s| !s.is_empty()).collect();
    let glance = glance::glance(plan, comparisons, |m| anchor(m, &curves, &blocks));
    let schemes: Vec<Scheme> = plan
        .schemes
        .iter()
        .map(|label| scheme(plan, label))
        .collect();
    let seeds = distinct(plan.points.iter().map(|p| p.seed));
    let own = summary.points.iter().filter(|p| p.same_as.is_none());
    let flows: u64 = own.map(|p| p.flows).sum();
    let values = context! {
        title => plan.title.clone(),
        name => plan.name.clone(),
        cannot_tell => comparisons.cannot_tell(),
        lead => Value::from(Serde(lead)),
        glance => Value::from(Serde(glance)),
        has_intervals => has_intervals(comparisons),
        description => paragraphs(&plan.description),
        warnings => plan.warning_lines(),
        baseline => comparisons.baseline.clone(),
        folded,
        axes => plan.axes.len(),
        not_drawn,
        full => room == 0,
        schemes => Value::from(Serde(schemes)),
        points => summary.cost.points,
        simulated => summary.cost.simulated,
        flows => units::count(flows as f64),
        hops => units::count(summary.cost.packet_hops as f64),
        cpu => units::span(summary.cost.cpu_seconds),
        seeds => seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
        version => who.version.clone(),
        build => who.build.clone(),
        digest => summary.digest.clone(),
        repeats,
        scenario_digest => hex(plan.digest),
        command => who.command.iter().map(|w| quoted(w)).collect::<Vec<_>>().join(" "),
        source => plan.source.clone(),
    };
    let contents = contents(&blocks, !curves.is_empty());
    let drawn = context! {
        curves => Value::from(Serde(curves)), blocks => Value::from(Serde(blocks)), ..values
    };
    page(include_str!("run.html"), &contents, drawn)
}

/// Where a page shows a metric: its chart over the axes, the chart of the only table, or a table.
fn anchor(metric: &Metric, curves: &[Section], blocks: &[Block]) -> String {
    let section = curves.iter().find(|s| s.metric == metric);
    let chart = section.and_then(Section::anchor);
    let only = blocks.first().filter(|_| blocks.len() == 1);
    let chart = chart.or(only
        .and_then(|b| b.charts.compared.first())
        .map(Picture::id));
    chart.map_or_else(|| "g0".to_owned(), str::to_owned)
}

/// Whether any difference has an interval.
fn has_intervals(comparisons: &Comparisons) -> bool {
    let rows = comparisons.groups.iter().flat_map(|g| &g.rows);
    let mut differences = rows.flat_map(|r| &r.cells).filter_map(|c| c.against);
    differences.any(|c| c.interval.is_some())
}

/// The contents: what there always is, and the blocks, under one entry if they are many.
fn contents(blocks: &[Block], curves: bool) -> Vec<Entry> {
    let of_blocks = blocks.iter().map(|b| Entry::new(&b.anchor, &b.title));
    let mut out = vec![Entry::new("top", "Result")];
    if curves {
        out.push(Entry::new("curves", "Over the axes"));
    }
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

fn scheme(plan: &Plan, label: &str) -> Scheme {
    let point = plan.points.iter().find(|p| p.scheme == label);
    let (marker, parameters) = point
        .map(|p| params::of_switch(&p.config.switch))
        .unwrap_or_default();
    Scheme {
        label: label.to_owned(),
        colour: colour(plan, label),
        marker,
        parameters,
    }
}
