// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completion times of a run beside those of other simulators' files.

use std::path::{Path, PathBuf};

use cemark_formats::{flowmonitor, hpcc};
use cemark_report::rundir::{self, Run};
use cemark_report::stats::{SizeClass, Statistic};
use cemark_report::table::files::Table;
use cemark_report::text::aligned;

use super::Form;
use crate::exit::{Failure, answer, note, user};
use crate::import::Source;

/// Flows of one source: bytes, and completion time in microseconds.
struct Flows {
    name: String,
    flows: Vec<(u64, f64)>,
}

/// Completion times of a run beside those of files.
pub(super) fn compare(dir: &Path, files: &[PathBuf], format: Form) -> Result<(), Failure> {
    let run = rundir::read(dir)?;
    let mut all = of_run(&run);
    for path in files {
        all.push(of_file(path)?);
    }
    match format {
        Form::Table => answer(&shown(table(&all, |x| format!("{x:.1}")))),
        Form::Csv => answer(&table(&all, |x| x.to_string()).csv()),
        Form::Json => Err(user(
            "completion times of files have no JSON",
            "write --format csv",
        )),
    }
}

/// The flows of a run by scheme and values of the axes, those of all seeds together.
fn of_run(run: &Run) -> Vec<Flows> {
    let mut all: Vec<Flows> = Vec::new();
    for (point, done) in run.plan.points.iter().zip(&run.finished) {
        let axes = point
            .axes
            .iter()
            .map(|(path, value)| format!(" {path}={value}"));
        let name = format!("{}{}", point.scheme, axes.collect::<String>());
        let ended = done.outcome.flows.iter();
        let flows = ended.filter_map(|flow| Some((flow.bytes, flow.fct?.as_micros_f64())));
        match all.iter_mut().find(|known| known.name == name) {
            Some(known) => known.flows.extend(flows),
            None => all.push(Flows {
                name,
                flows: flows.collect(),
            }),
        }
    }
    all
}

fn of_file(path: &Path) -> Result<Flows, Failure> {
    let source = Source::open(path)?;
    let flows = if source.text.contains("<FlowMonitor") {
        let read = flowmonitor::read(&source.text).map_err(|fault| source.fault(&fault))?;
        note(&format!(
            "note: {}: times are from a flow's first packet sent to its last one received, and \
             sizes count headers and what was sent again; {} flows of acknowledgements and {} of \
             which nothing arrived are left out",
            source.name, read.acks, read.lost
        ));
        if read.rounded {
            note(&format!(
                "note: {}: times have six digits, as ns-3 writes them: those of a flow at 2 s are \
                 known to 10 us, and so is what is computed of them",
                source.name
            ));
        }
        let flow = |flow: &flowmonitor::Seen| (flow.bytes, flow.time.as_micros_f64());
        read.flows.iter().map(flow).collect()
    } else {
        let read = hpcc::read_fct(&source.text).map_err(|fault| source.fault(&fault))?;
        let flow = |flow: &hpcc::Ended| (flow.bytes, flow.fct.as_micros_f64());
        read.iter().map(flow).collect()
    };
    Ok(Flows {
        name: source.name,
        flows,
    })
}

/// A row for each source and class of sizes that has flows.
fn table(all: &[Flows], number: impl Fn(f64) -> String) -> Table {
    let head = [
        "flows of",
        "sizes",
        "flows",
        "mean [us]",
        "median [us]",
        "p99 [us]",
    ];
    let mut rows = Vec::new();
    for class in SizeClass::EACH {
        for source in all {
            let fits = source.flows.iter().filter(|(bytes, _)| class.has(*bytes));
            let times: Vec<f64> = fits.map(|(_, time)| *time).collect();
            let of = |statistic: Statistic| statistic.of(&times).map_or("-".to_owned(), &number);
            rows.push(vec![
                source.name.clone(),
                class.key().to_owned(),
                times.len().to_string(),
                of(Statistic::Mean),
                of(Statistic::Percentile(0.5)),
                of(Statistic::Percentile(0.99)),
            ]);
        }
    }
    Table {
        name: "compare".to_owned(),
        title: "Completion times".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows,
    }
}

/// In columns: words to the left, numbers to the right.
fn shown(table: Table) -> String {
    let rows: Vec<Vec<String>> = std::iter::once(table.head).chain(table.rows).collect();
    aligned(&rows, |column| column >= 2)
        + "\nshort: below 100 KB; medium: to 10 MB; large: above. A run's times are those of its \
           seeds together.\n"
}
