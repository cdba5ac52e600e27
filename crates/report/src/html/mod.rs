// SPDX-License-Identifier: MIT OR Apache-2.0
//! `report.html`: one file that shows a whole run. It loads nothing from elsewhere.

mod block;
mod glance;
pub mod page;
mod parts;
mod sweep;

use cemark_scenario::Plan;
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use self::page::{Entry, page, typeset};
pub use self::parts::{Parts, Room};
use crate::chart::colour;
use crate::comparison::{Comparisons, sentence};
use crate::summary::hex;
use crate::text::distinct;
use crate::{Finished, Provenance, RunSummary, params, units};

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
    let parts = Parts::new(plan, finished, comparisons, Room::of_run(comparisons));
    let lead: Vec<sentence::Said> = match &comparisons.groups[..] {
        [only] => vec![sentence::beside(only)],
        _ => vec![sentence::beside_all(comparisons)],
    };
    let lead = lead.into_iter().map(Said::from);
    let lead: Vec<Said> = lead.filter(|s| !s.is_empty()).collect();
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
        statistics => statistics(plan, seeds.len()),
        description => paragraphs(&plan.description),
        warnings => plan.warning_lines(),
        baseline => comparisons.baseline.clone(),
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
    let mut contents = vec![Entry::new("top", "Result")];
    contents.extend(parts.contents());
    contents.push(Entry::new("schemes", "Schemes"));
    contents.push(Entry::new("provenance", "Where this comes from"));
    let drawn = context! { parts => parts.values(), ..values };
    page(include_str!("run.html"), &contents, drawn)
}

/// Where the intervals of a run come from.
fn statistics(plan: &Plan, seeds: usize) -> &'static str {
    match (&plan.precision, seeds) {
        (Some(_), _) => {
            "The run looked at its intervals after numbers of replications that were fixed \
             beforehand; each interval is Student’s t over replications, so wide that all looks \
             together are right with 95 %."
        }
        (None, ..=2) => {
            "With one or two seeds only means of 100 flows or more have an interval: the flows are \
             divided into batches, and the interval is that of the batches’ means."
        }
        (None, _) => {
            "The interval of a mean is Student’s t over seeds; that of a percentile is the wider \
             of Student’s t and a paired bootstrap over flows."
        }
    }
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
