// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages of papers, one each: every figure in the form in which the paper draws it, the published
//! values over the measured ones, with rows, grades, scenario and command below.
//!
//! A page is drawn from run directories; nothing is simulated here.

mod cdf;
mod draw;
mod flows;
mod forms;
mod page;
mod published;
mod spec;
mod stored;
#[cfg(test)]
mod tests;
mod times;

use std::path::{Path, PathBuf};

use cemark_report::Error;
use cemark_report::chart::{Chart, Width};
use cemark_report::rundir::write_whole;

use super::committed::{Committed, ours};
use super::run::united;
use super::targets::Target;
use super::{CHARTS, FigureFile, Mode, RowResult};
use draw::Source;
use flows::Flows;
use spec::{Form, Spec};
use stored::Stored;
use times::Run;

/// A paper whose figures have a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Paper {
    /// ECN#, CoNEXT 2019.
    EcnSharp,
    /// MQ-ECN, NSDI 2016.
    MqEcn,
    /// CEDM.
    Cedm,
    /// DCIB.
    Dcib,
}

impl Paper {
    /// All of them, in the order of the figures.
    pub const ALL: [Paper; 4] = [Paper::EcnSharp, Paper::MqEcn, Paper::Cedm, Paper::Dcib];

    /// With what the names of its figures begin, and what its page is called.
    pub const fn key(self) -> &'static str {
        match self {
            Paper::EcnSharp => "ecnsharp",
            Paper::MqEcn => "mqecn",
            Paper::Cedm => "cedm",
            Paper::Dcib => "dcib",
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Paper::EcnSharp => "ECN#",
            Paper::MqEcn => "MQ-ECN",
            Paper::Cedm => "CEDM",
            Paper::Dcib => "DCIB",
        }
    }

    /// The names of its figures, in order.
    pub fn figures(self) -> impl Iterator<Item = &'static str> {
        let ours = move |id: &&str| {
            let rest = id.strip_prefix(self.key());
            rest.is_some_and(|rest| rest.starts_with('-'))
        };
        super::names().filter(ours)
    }
}

/// Sources and destination of a page.
#[derive(Clone, Copy, Debug)]
pub struct Draw<'a> {
    /// Which runs are read.
    pub mode: Mode,
    /// Where their directories are.
    pub from: &'a Path,
    /// Where `<paper>.html` and `svg/` go.
    pub out: &'a Path,
    /// Fingerprint of this program; a run of another build is drawn with a note.
    pub build: &'a str,
}

/// A figure of the page.
struct Drawn {
    file: FigureFile,
    text: &'static str,
    stored: Option<Stored>,
    charts: Vec<Chart>,
    flows: Option<Flows>,
}

/// Writes the page of a paper and its charts as files. Returns the path of the page.
///
/// # Errors
/// [`Fault::User`](cemark_report::Fault::User) where none of its figures has been run there, or a
/// file of a run is damaged; [`Fault::Machine`](cemark_report::Fault::Machine) where the disk
/// fails.
pub fn write(paper: Paper, draw: Draw<'_>) -> Result<PathBuf, Error> {
    let committed = Committed::read()?;
    let targets = &committed.targets;
    let specs = spec::parse(CHARTS).map_err(ours)?;
    let mut figures = Vec::new();
    let mut room = flows::Room::of(paper.figures().count());
    for id in paper.figures() {
        let (file, text) = committed.figure(id)?;
        let mut stored = stored::read(&file, draw.mode, draw.from, &committed)?;
        let charts = charts(&file, stored.as_ref(), &specs, targets);
        let flows = room.next(stored.as_ref());
        // The points are large, and are drawn now.
        if let Some(stored) = &mut stored {
            stored.finished = Vec::new();
        }
        figures.push(Drawn {
            file,
            text,
            stored,
            charts,
            flows,
        });
    }
    if figures.iter().all(|f| f.stored.is_none()) {
        let help = format!(
            "run them first: cemark figure --paper {} {} --out {}",
            paper.key(),
            draw.mode.flag(),
            draw.from.display()
        );
        let what = format!("no figure of {} has been run in", paper.name());
        return Err(Error::user(what, draw.from, help));
    }
    let svg = draw.out.join("svg");
    std::fs::create_dir_all(&svg).map_err(|e| Error::io("make the directory", &svg, e))?;
    for chart in figures.iter().flat_map(|f| &f.charts) {
        write_whole(
            &svg.join(format!("{}.svg", chart.name)),
            chart.svg(Width::default()).as_bytes(),
        )?;
    }
    let rows = figures
        .iter()
        .flat_map(|f| f.stored.iter().flat_map(|s| &s.rows));
    let rows: Vec<RowResult> = united(rows.cloned().collect(), targets);
    let html = page::html(paper, &draw, &figures, rows);
    let path = draw.out.join(format!("{}.html", paper.key()));
    write_whole(&path, html.as_bytes())?;
    Ok(path)
}

/// The charts of a figure: in the paper's form where `figures/charts.toml` has one and the points
/// are there, else its rows.
fn charts(
    file: &FigureFile,
    stored: Option<&Stored>,
    specs: &[Spec],
    targets: &[Target],
) -> Vec<Chart> {
    let Some(stored) = stored else {
        return Vec::new();
    };
    let data = stored.data();
    let mut charts = Vec::new();
    for spec in specs.iter().filter(|s| s.figure == file.id) {
        let rows = &file.rows[..];
        let Some(plan) = &stored.plan else {
            charts.extend(forms::chart(spec, rows, targets));
            continue;
        };
        let source = Source {
            plan,
            data: &data,
            rows,
            targets,
        };
        let run = Run {
            plan,
            finished: &stored.finished,
            rows,
            targets,
        };
        match spec.form {
            Form::Bars | Form::Lines => charts.extend(draw::chart(&source, spec)),
            Form::Cdf => charts.extend(cdf::chart(&source, spec)),
            Form::Queue => charts.extend(times::queues(&run, spec)),
            Form::Goodput => charts.extend(times::goodput(&run, spec)),
            Form::Rtts | Form::Sizes | Form::Division | Form::Thresholds => {
                charts.extend(forms::chart(spec, rows, targets));
            }
        }
    }
    if charts.is_empty() {
        charts.extend(stored.rows.iter().filter_map(super::chart::of_row));
    }
    // The first chart of a figure is called like it.
    for (i, chart) in charts.iter_mut().enumerate() {
        chart.name = match i {
            0 => file.id.clone(),
            i => format!("{}-{}", file.id, i + 1),
        };
    }
    charts
}
