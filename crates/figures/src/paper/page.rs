// SPDX-License-Identifier: MIT OR Apache-2.0
//! The page of a paper.

use cemark_report::html::page::{Entry, Picture, page};
use minijinja::value::Serde;
use minijinja::{Value, context};

use super::super::Mode;
use super::super::render;
use super::super::result::{FigureRun, RowResult};
use super::{Draw, Drawn, Paper, Stored};

/// More conditions than this are folded.
const FEW: usize = 12;

/// The document.
pub(super) fn html(
    paper: Paper,
    draw: &Draw<'_>,
    figures: &[Drawn],
    rows: Vec<RowResult>,
) -> String {
    let has_run = |f: &&Drawn| f.stored.is_some();
    let (there, missing): (Vec<_>, Vec<_>) = figures.iter().partition(has_run);
    let mut contents = vec![Entry::new("top", paper.name())];
    contents.extend(there.iter().map(|f| Entry::new(&f.file.id, &f.file.id)));
    if !missing.is_empty() {
        contents.push(Entry::new("not-run", "Not run yet"));
    }
    let whole = FigureRun {
        rows,
        mode: draw.mode,
        ..FigureRun::default()
    };
    let missing = missing.into_iter().map(|f| {
        context! {
            id => &f.file.id,
            title => &f.file.title,
            command => format!("cemark figure {} {}", f.file.id, draw.mode.flag()),
        }
    });
    let values = context! {
        paper => paper.name(),
        lead => format!("{}.", render::kinds(&whole)),
        missing => missing.collect::<Vec<_>>(),
        mode => draw.mode.flag(),
        quick => draw.mode == Mode::Quick,
        command => format!("cemark figure --paper {} {}", paper.key(), draw.mode.flag()),
        figures => there.iter().map(|f| figure(f, draw)).collect::<Vec<_>>(),
    };
    page(include_str!("paper.html"), &contents, values)
}

/// Part of the page on a figure.
fn figure(drawn: &Drawn, draw: &Draw<'_>) -> Value {
    let file = &drawn.file;
    let rows = drawn.stored.iter().flat_map(|s| &s.rows);
    let run = FigureRun {
        rows: rows.clone().cloned().collect(),
        ..FigureRun::default()
    };
    let conditions: usize = rows.clone().map(|r| r.parts.len()).sum();
    let parameters = file.parameters.iter().map(|p| {
        let instead = p
            .instead
            .as_ref()
            .map(|i| format!("{}: {}", i.grade.key(), i.text));
        context! {
            path => &p.path, value => &p.value, grade => p.grade.key(), why => &p.why, instead,
        }
    });
    let picture = |chart: &cemark_report::chart::Chart| {
        let file = format!("svg/{}.svg", chart.name);
        Value::from(Serde(Picture::linked(chart.clone(), file)))
    };
    context! {
        id => &file.id,
        title => &file.title,
        state => drawn.stored.iter().map(|s| state(&file.id, s, draw)).collect::<String>(),
        charts => drawn.charts.iter().map(picture).collect::<Vec<_>>(),
        flows => drawn.flows.iter().flat_map(|f| &f.pictures).map(Serde).map(Value::from)
            .collect::<Vec<_>>(),
        is_cut => drawn.flows.as_ref().is_some_and(|f| f.is_cut),
        report => drawn.stored.as_ref().and_then(|s| report(s, draw)),
        place => drawn.stored.as_ref().map(|s| s.place.display().to_string()),
        counts => render::kinds(&run),
        few => conditions <= FEW,
        rows => rows.map(|r| render::row(r, false)).collect::<Vec<_>>(),
        grades => render::grades(&file.parameters),
        parameters => parameters.collect::<Vec<_>>(),
        source => scenario(drawn.text),
        simulated => file.is_simulated(),
        command => format!("cemark figure {} {}", file.id, draw.mode.flag()),
    }
}

/// The figure's own report as seen from the page; `None` where the page is in another folder.
fn report(stored: &Stored, draw: &Draw<'_>) -> Option<String> {
    let name = stored.place.file_name()?.to_str()?;
    let is_there = draw.from == draw.out && stored.place.join("report.html").is_file();
    is_there.then(|| format!("{name}/report.html"))
}

/// The experiment in a figure's file: what is above the grades and the rows.
fn scenario(text: &str) -> &str {
    let ends = ["\n[why", "\n[[row]]"];
    let end = ends.iter().filter_map(|e| text.find(e)).min();
    text[..end.unwrap_or(text.len())].trim()
}

/// Sentences about what the figure is drawn from, where that is not a whole run of this build.
fn state(id: &str, stored: &Stored, draw: &Draw<'_>) -> String {
    let mut said = Vec::new();
    if stored.is_other {
        said.push(
            "The run is of another version of this figure, so its rows are here, and not its \
             charts."
                .to_owned(),
        );
    }
    if stored.finished_points < stored.wanted {
        let (there, all) = (stored.finished_points, stored.wanted);
        said.push(match draw.mode {
            Mode::Full => format!(
                "{there} of the {all} points of the first look are there; the charts show those."
            ),
            Mode::Quick => format!(
                "{there} of the {all} points are there; the charts show those. A quick run of all \
                 figures has only what decides; cemark figure {id} runs the rest."
            ),
        });
    }
    if !stored.build.is_empty() && stored.build != draw.build {
        said.push(format!(
            "Simulated by another build of cemark ({}, this is {}).",
            stored.build, draw.build
        ));
    }
    said.join(" ")
}
