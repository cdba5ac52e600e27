// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark plot`: the charts and tables of a finished run as files.

mod directory;
mod flows;
mod lacking;
mod names;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cemark_figures as figure;
use cemark_report::by_size::Buckets;
use cemark_report::chart::{self, Chart, Width};
use cemark_report::rundir::{self, Run};
use cemark_report::table::data;
use cemark_report::table::files::{self, Table};
use cemark_report::{Comparisons, Error};
use clap::ValueEnum;

use self::flows::Flows;
use crate::exit::{Failure, answer, user};
use crate::output::{self, IN_THE_WAY};

pub(crate) use self::directory::directory;

const AFTER: &str = "\
Examples:
  cemark plot runs/rtt-variation-08e84c79 --out plots
  cemark plot rtt-variation --format pdf --only comparison
  cemark plot rtt-variation --metric slowdown-by-size --width 241pt --format pdf,csv
  cemark plot rtt-variation --metric slowdown-by-size.p99 --buckets 10KB,100KB,1MB";

/// Arguments of `cemark plot`.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The directory of a finished run or figure, or the name of a scenario that has been run here.
    #[arg(value_name = "RUN")]
    run: String,
    /// Where the files go [default: RUN/plots].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Kinds of files: charts as SVG, PDF and PNG; tables, and the data behind each chart, as CSV;
    /// tables as Markdown; fct: the flows of every point, in lines of fct.txt as HPCC's simulator
    /// writes them.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "KIND[,KIND…]",
        default_value = "svg,pdf,csv,md"
    )]
    format: Vec<Kind>,
    /// Only charts and tables whose name contains this.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Only charts of this metric: slowdown-by-size, fct, slowdown, queue-cdf, queue, buffer,
    /// utilisation-by-port, pauses-by-port, or one of the metrics in docs/output.md (short.p99).
    #[arg(long, value_name = "NAME")]
    metric: Vec<String>,
    /// Width of the charts in pt, mm, cm, in or px: 241pt for a column of a paper. Letters keep
    /// their size [default: 760px].
    #[arg(long, value_name = "WIDTH")]
    width: Option<Width>,
    /// Largest sizes of the buckets of slowdown-by-size: 10KB,100KB,1MB [default: the deciles of
    /// the sizes].
    #[arg(long, value_name = "SIZE[,SIZE…]")]
    buckets: Option<Buckets>,
    /// Overwrite files of these names that are not such charts or tables.
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Charts that browsers, editors and office programs read.
    Svg,
    /// Charts for papers.
    Pdf,
    /// Charts as pixels, 300 an inch, or as many as a width in px says.
    Png,
    /// Tables with every digit, and the data behind the charts.
    Csv,
    /// Tables for documents.
    Md,
    /// Flows that have ended, as lines of HPCC's fct.txt.
    Fct,
}

impl Kind {
    /// Ending of its files.
    fn ending(self) -> &'static str {
        match self {
            Kind::Svg => "svg",
            Kind::Pdf => "pdf",
            Kind::Png => "png",
            Kind::Csv => "csv",
            Kind::Md => "md",
            Kind::Fct => "txt",
        }
    }
}

pub(crate) fn plot(args: &Args) -> Result<(), Failure> {
    check_metrics(args)?;
    let dir = directory(&args.run)?;
    let found = match figure::stored_rows(&dir)? {
        Some(rows) => of_figure(&dir, &rows, args)?,
        None => of_run(&rundir::read(&dir)?, args),
    };
    let out = args.out.clone().unwrap_or_else(|| dir.join("plots"));
    found.write(args, &out)
}

/// Refuses a metric that no chart shows.
fn check_metrics(args: &Args) -> Result<(), Failure> {
    let known = chart::metrics();
    match args.metric.iter().find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(name) => Err(user(
            format!("no chart shows a metric `{name}`"),
            cemark_scenario::near(name, known.iter().map(String::as_str)),
        )),
    }
}

/// Charts and tables of a figure: of its rows, or of a metric of its points.
fn of_figure(dir: &Path, rows: &[figure::RowResult], args: &Args) -> Result<Found, Failure> {
    let points = || {
        figure::stored_points(dir)?.ok_or_else(|| {
            user(
                format!("{} holds a figure that simulates nothing", args.run),
                "leave --metric, --buckets and fct out: the charts of its rows are all it has",
            )
        })
    };
    if !args.metric.is_empty() {
        return Ok(of_run(&points()?, args));
    }
    if args.buckets.is_some() {
        return Err(user(
            "--buckets divides flows by size, and the rows of a figure are no flows",
            "add the chart of flows: --metric slowdown-by-size",
        ));
    }
    let flows = match args.format.contains(&Kind::Fct) {
        true => flows::of_run(&points()?),
        false => Vec::new(),
    };
    Ok(Found {
        charts: rows.iter().filter_map(figure::chart::of_row).collect(),
        exact: vec![figure::table::of_rows(rows, true)],
        rounded: vec![figure::table::of_rows(rows, false)],
        flows,
        series: "series",
    })
}

/// The files of a run, with the flows of its points where those are asked for.
fn of_run(run: &Run, args: &Args) -> Found {
    let (plan, finished) = (&run.plan, &run.finished);
    let is_compared = args.metric.is_empty() || args.metric.iter().any(|m| chart::compares(m));
    let comparisons = match is_compared {
        true => Comparisons::new(plan, finished),
        false => Comparisons::grouped(plan, finished),
    };
    let buckets = args.buckets.clone().unwrap_or_default();
    let of_metric = |name: &String| chart::of_metric(plan, finished, &comparisons, name, &buckets);
    let mut found = Found {
        charts: args.metric.iter().flat_map(of_metric).collect(),
        exact: Vec::new(),
        rounded: Vec::new(),
        flows: Vec::new(),
        series: "scheme",
    };
    if args.metric.is_empty() {
        let slowdowns = comparisons.slowdown_by_size(finished, &buckets);
        found.charts = chart::of_run(plan, finished, &comparisons, &buckets);
        found.exact = files::exact(plan, finished, &comparisons);
        found
            .exact
            .extend(files::slowdown_by_size(plan, &slowdowns));
        found.rounded = files::rounded(plan, &comparisons);
        if args.format.contains(&Kind::Fct) {
            found.flows = flows::of_run(run);
        }
    }
    found
}

/// Charts, tables and flows of a run or a figure.
struct Found {
    charts: Vec<Chart>,
    exact: Vec<Table>,
    rounded: Vec<Table>,
    flows: Vec<Flows>,
    /// Name of the things whose values charts show.
    series: &'static str,
}

/// A file before it is written.
struct File {
    name: String,
    bytes: Vec<u8>,
}

impl Found {
    fn write(mut self, args: &Args, out: &Path) -> Result<(), Failure> {
        let names = self.names();
        self.keep(&args.only);
        if self.names().is_empty() {
            return Err(nothing(args, &names));
        }
        if !args.format.iter().any(|kind| self.has(*kind)) {
            return Err(no_kind(args, &self));
        }
        std::fs::create_dir_all(out).map_err(|e| Error::io("make the directory", out, e))?;
        let mut lines = String::new();
        let (mut many, mut taken) = (0, BTreeSet::new());
        let kinds = Kind::value_variants().iter();
        for kind in kinds.filter(|kind| args.format.contains(kind)) {
            for file in self.files(*kind, args.width.unwrap_or_default()) {
                let path = out.join(names::free(&file.name, kind.ending(), &mut taken));
                lines += &format!("{}\n", path.display());
                many += 1;
                let replaced = names::replaced(args.force, kind.ending());
                output::put(&path, &file.bytes, replaced, IN_THE_WAY)?;
            }
            match kind {
                Kind::Pdf => lacking::warn(&self.charts, "PDF"),
                Kind::Png => lacking::warn(&self.charts, "PNG"),
                _ => {}
            }
        }
        let files = if many == 1 { "file" } else { "files" };
        answer(&format!("{lines}{many} {files} in {}\n", out.display()))
    }

    /// Whether there is a file of this kind.
    fn has(&self, kind: Kind) -> bool {
        match kind {
            Kind::Svg | Kind::Pdf | Kind::Png => !self.charts.is_empty(),
            Kind::Csv => !self.charts.is_empty() || !self.exact.is_empty(),
            Kind::Md => !self.rounded.is_empty(),
            Kind::Fct => !self.flows.is_empty(),
        }
    }

    /// Leaves out all whose name contains none of these words.
    fn keep(&mut self, only: &[String]) {
        let wanted = |name: &str| only.is_empty() || only.iter().any(|word| name.contains(word));
        self.charts.retain(|chart| wanted(&chart.name));
        self.exact.retain(|table| wanted(&table.name));
        self.rounded.retain(|table| wanted(&table.name));
        self.flows.retain(|flows| wanted(&flows.name));
    }

    /// Names of charts, tables and flows.
    fn names(&self) -> Vec<String> {
        let charts = self.charts.iter().map(|c| &c.name);
        let tables = self.exact.iter().chain(&self.rounded).map(|t| &t.name);
        let flows = self.flows.iter().map(|f| &f.name);
        let names: BTreeSet<&String> = charts.chain(tables).chain(flows).collect();
        names.into_iter().cloned().collect()
    }

    /// The files of a kind, each made when it is asked for.
    fn files(&self, kind: Kind, width: Width) -> Box<dyn Iterator<Item = File> + '_> {
        let drawn = move |draw: fn(&Chart, Width) -> Vec<u8>| {
            let charts = self.charts.iter();
            charts.map(move |chart| File {
                name: chart.name.clone(),
                bytes: draw(chart, width),
            })
        };
        let table = |t: &Table, text: String| File {
            name: t.name.clone(),
            bytes: text.into_bytes(),
        };
        match kind {
            Kind::Svg => Box::new(drawn(|chart, width| chart.svg(width).into_bytes())),
            Kind::Pdf => Box::new(drawn(Chart::pdf)),
            Kind::Png => Box::new(drawn(Chart::png)),
            Kind::Csv => {
                let data = self.charts.iter().map(|c| data::of_chart(c, self.series));
                let tables = self.exact.iter().cloned().chain(data);
                Box::new(tables.map(move |t| table(&t, t.csv())))
            }
            Kind::Md => Box::new(self.rounded.iter().map(move |t| table(t, t.markdown()))),
            Kind::Fct => Box::new(self.flows.iter().map(|flows| File {
                name: flows.name.clone(),
                bytes: flows.text.clone().into_bytes(),
            })),
        }
    }
}

/// No file is of the kinds that are asked for: the kinds that there are.
fn no_kind(args: &Args, found: &Found) -> Failure {
    let word = |kind: &Kind| kind.to_possible_value().map(|v| v.get_name().to_owned());
    let words = |kinds: &[Kind]| {
        let words: Vec<String> = kinds.iter().filter_map(word).collect();
        words.join(",")
    };
    let known = Kind::value_variants().iter().copied();
    let there: Vec<Kind> = known.filter(|kind| found.has(*kind)).collect();
    let what = match args.metric.is_empty() {
        true => "the chosen charts and tables have",
        false => "--metric draws charts, and these have",
    };
    user(
        format!("{what} no files of --format {}", words(&args.format)),
        format!("write --format {}", words(&there)),
    )
}

/// No chart and no table fits: names that there are.
fn nothing(args: &Args, names: &[String]) -> Failure {
    match (args.only.first(), args.metric.first()) {
        (Some(only), _) if !names.is_empty() => user(
            format!("no chart or table of this run has `{only}` in its name"),
            cemark_scenario::near(only, names.iter().map(String::as_str)),
        ),
        (_, Some(metric)) => user(
            format!("this run has no values of `{metric}` to draw"),
            match &metric[..] {
                "queue" | "queue-cdf" => {
                    "trace queues: --set measure.queue-interval=10us --set measure.trace=hottest"
                }
                _ => "look into its report.html for the metrics that it measures",
            },
        ),
        _ => user(
            "this run has nothing to draw",
            "look into its report.html: perhaps no flow has finished",
        ),
    }
}
