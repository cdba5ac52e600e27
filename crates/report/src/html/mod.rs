// SPDX-License-Identifier: MIT OR Apache-2.0
//! `report.html`: one file that shows a whole run. It loads nothing from elsewhere.

mod bars;
mod traces;

use cemark_scenario::{Plan, visible_lines};
use cemark_sim::outcome::PortReport;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Value, context};
use serde::Serialize;

use crate::comparison::sentence::sentence;
use crate::comparison::{Cell, Comparisons, Group, Row, drops};
use crate::metrics::{self, Metric};
use crate::summary::hex;
use crate::{Finished, Provenance, RunSummary, params, units};

/// Colours of the style sheet; with more schemes the colours repeat.
pub(crate) const COLOURS: usize = 8;

/// Ports shown for each scheme.
const HOTTEST: usize = 3;

#[derive(Serialize)]
struct Section {
    title: String,
    anchor: String,
    sentence: String,
    heads: Vec<Head>,
    counters: Vec<&'static str>,
    rows: Vec<Line>,
    sources: Vec<String>,
    unfinished: Vec<String>,
    drops: Vec<String>,
    bars: Option<String>,
    traces: Option<String>,
    trace_seed: u64,
    ports: Vec<Port>,
}

#[derive(Serialize)]
struct Head {
    group: &'static str,
    stat: &'static str,
}

impl Head {
    fn new(metric: &Metric) -> Self {
        let (group, stat) = metric.heading();
        Head { group, stat }
    }
}

#[derive(Serialize)]
struct Line {
    scheme: String,
    colour: usize,
    baseline: bool,
    cells: Vec<Field>,
    counts: Vec<String>,
}

#[derive(Serialize)]
struct Field {
    main: String,
    interval: String,
    class: &'static str,
    word: &'static str,
    paper: Option<String>,
}

#[derive(Serialize)]
struct Port {
    scheme: String,
    colour: usize,
    name: String,
    fields: Vec<String>,
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
    let sections: Vec<Section> = comparisons
        .groups
        .iter()
        .enumerate()
        .map(|(i, g)| section(plan, finished, g, i))
        .collect();
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
    let simulated = summary.points.iter().filter(|p| p.same_as.is_none());
    let flows: u64 = simulated.map(|p| p.flows).sum();
    let mut env = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build();
    env.set_syntax(syntax.expect("the usual delimiters"));
    env.add_template("report.html", include_str!("report.html"))
        .expect("a fixed template");
    let template = env.get_template("report.html").expect("just added");
    let html = template
        .render(context! {
            title => plan.title.clone(),
            name => plan.name.clone(),
            description => paragraphs(&plan.description),
            warnings => plan.warning_lines(),
            baseline => comparisons.baseline.clone(),
            sections => Value::from(Serde(sections)),
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
        })
        .expect("a fixed template over these values");
    // The template escapes HTML; marks that turn the direction of writing are no HTML.
    visible_lines(&html).into_owned()
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

fn section(plan: &Plan, finished: &[Finished], group: &Group, place: usize) -> Section {
    let in_report = metrics::shown(metrics::compared(), |column| column.report);
    let metrics: Vec<_> = in_report.into_iter().filter(|m| group.has(m)).collect();
    let counters = metrics::shown(metrics::counted(), |column| column.report);
    let rows = group
        .rows
        .iter()
        .map(|row| line(plan, row, &metrics, &counters))
        .collect();
    let mut sources: Vec<String> = Vec::new();
    for p in group
        .rows
        .iter()
        .flat_map(|r| metrics.iter().filter_map(|m| r.cell(m).published.as_ref()))
    {
        if !sources.contains(&p.source) {
            sources.push(p.source.clone());
        }
    }
    let unfinished = group
        .rows
        .iter()
        .filter(|r| r.unfinished > 0)
        .map(|r| format!("{} of {} under {}", r.unfinished, r.flows, r.scheme))
        .collect();
    Section {
        title: if group.axes.is_empty() {
            "Comparison".to_owned()
        } else {
            group.title()
        },
        anchor: format!("g{place}"),
        // A number and its percent sign stay on one line.
        sentence: sentence(group).replace(" %", "\u{a0}%"),
        heads: metrics.iter().map(|m| Head::new(m)).collect(),
        counters: counters.iter().map(|m| m.heading().1).collect(),
        rows,
        sources,
        unfinished,
        drops: drops::lines(group),
        bars: bars::draw(plan, group),
        traces: traces::draw(plan, finished, group),
        trace_seed: group.seeds.first().copied().unwrap_or_default(),
        ports: ports(plan, finished, group),
    }
}

fn line(plan: &Plan, row: &Row, metrics: &[&Metric], counters: &[&Metric]) -> Line {
    Line {
        scheme: row.scheme.clone(),
        colour: colour(plan, &row.scheme),
        baseline: row.baseline,
        cells: metrics
            .iter()
            .map(|m| field(row.cell(m), row.baseline))
            .collect(),
        counts: counters.iter().map(|m| m.show(row.sum(m))).collect(),
    }
}

fn field(cell: &Cell, baseline: bool) -> Field {
    let paper = cell
        .published
        .as_ref()
        .map(|p| minus(&units::percent(p.percent)));
    let absolute = || {
        cell.absolute
            .map_or("–".to_owned(), |v| cell.metric.show(v))
    };
    match cell.against.filter(|_| !baseline) {
        None => Field {
            main: absolute(),
            interval: String::new(),
            class: "",
            word: "",
            paper,
        },
        Some(c) => {
            let (class, word) = if cell.worse() {
                ("worse", "worse")
            } else if cell.better() {
                ("better", "")
            } else {
                ("", "")
            };
            let main = minus(&units::percent(c.percent));
            Field {
                main,
                interval: minus(&c.printed_interval()),
                class,
                word,
                paper,
            }
        }
    }
}

/// A typographic minus.
fn minus(s: &str) -> String {
    s.replace('-', "−")
}

fn ports(plan: &Plan, finished: &[Finished], group: &Group) -> Vec<Port> {
    let mut out = Vec::new();
    for row in &group.rows {
        let Some(done) = row.points.first().map(|i| &finished[*i]) else {
            continue;
        };
        let mut hottest: Vec<&PortReport> = done
            .outcome
            .ports
            .iter()
            .filter(|p| p.queue.count > 0)
            .collect();
        hottest.sort_by(|a, b| b.queue.mean.total_cmp(&a.queue.mean));
        for p in hottest.into_iter().take(HOTTEST) {
            out.push(Port {
                scheme: row.scheme.clone(),
                colour: colour(plan, &row.scheme),
                name: p.name.clone(),
                fields: vec![
                    format!("{:.1} %", p.utilisation * 100.0),
                    units::bytes(p.queue.mean),
                    units::bytes(p.queue.p99),
                    units::bytes(p.queue.max),
                    units::micros(p.sojourn.mean / 1e3),
                    units::micros(p.sojourn.p99 / 1e3),
                    units::count(p.packets as f64),
                    units::count(p.marks as f64),
                    units::count(p.drops as f64),
                ],
            });
        }
    }
    out
}
