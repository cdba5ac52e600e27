// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark plot`: the charts and tables of a finished run as files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cemark_figures as figure;
use cemark_formats::hpcc;
use cemark_report::chart::{self, Chart};
use cemark_report::rundir;
use cemark_report::table::files::{self, Table};
use cemark_report::{Comparisons, Error, Finished, RunDir};
use cemark_scenario::{Overrides, Point};
use clap::ValueEnum;

use crate::exit::{Failure, answer, complain, user};
use crate::output::{self, IN_THE_WAY, Replace};

const AFTER: &str = "\
Examples:
  cemark plot runs/rtt-variation-08e84c79 --out plots
  cemark plot rtt-variation --format pdf --only comparison";

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
    /// Kinds of files: charts as SVG and PDF, tables as CSV and Markdown; fct: the flows of every
    /// point, in lines of fct.txt as HPCC's simulator writes them.
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
    /// Tables with every digit.
    Csv,
    /// Tables for documents.
    Md,
    /// Flows that have ended, as lines of HPCC's fct.txt.
    Fct,
}

pub(crate) fn plot(args: &Args) -> Result<(), Failure> {
    let dir = directory(&args.run)?;
    let found = match figure::stored_rows(&dir)? {
        Some(rows) => Found {
            charts: rows.iter().filter_map(figure::chart::of_row).collect(),
            exact: vec![figure::table::of_rows(&rows, true)],
            rounded: vec![figure::table::of_rows(&rows, false)],
            flows: Vec::new(),
        },
        None => of_run(&rundir::read(&dir)?, args.format.contains(&Kind::Fct)),
    };
    let out = args.out.clone().unwrap_or_else(|| dir.join("plots"));
    found.write(args, &out)
}

/// The files of a run, with the flows of its points where those are asked for.
fn of_run(run: &rundir::Run, with_flows: bool) -> Found {
    let comparisons = Comparisons::new(&run.plan, &run.finished);
    Found {
        charts: chart::of_run(&run.plan, &run.finished, &comparisons),
        exact: files::exact(&run.plan, &run.finished, &comparisons),
        rounded: files::rounded(&run.plan, &comparisons),
        flows: match with_flows {
            true => flows(run),
            false => Vec::new(),
        },
    }
}

/// Charts, tables and flows of a run.
struct Found {
    charts: Vec<Chart>,
    exact: Vec<Table>,
    rounded: Vec<Table>,
    /// By point: name, title and text of its `fct.txt`.
    flows: Vec<(String, String, String)>,
}

/// The flows of every point of a run that have ended.
fn flows(run: &rundir::Run) -> Vec<(String, String, String)> {
    let of_point = |(point, done): (&Point, &Finished)| {
        let ended = done.outcome.flows.iter().filter_map(|flow| {
            Some(hpcc::Done {
                id: flow.id,
                src: flow.src,
                dst: flow.dst,
                bytes: flow.bytes,
                start: flow.start,
                fct: flow.fct?,
                alone: flow.ideal,
            })
        });
        let text = hpcc::fct(&ended.collect::<Vec<_>>());
        // As in the names of charts: the last part of a path, and its value.
        let axes = point.axes.iter().map(|(path, value)| {
            let key = path.rsplit('.').next().unwrap_or(path);
            format!("-{key}-{value}")
        });
        let axes: String = axes.collect();
        let name = format!("fct-{}{axes}-seed-{}", point.scheme, point.seed);
        let safe = |c: char| match c.is_alphanumeric() || "-._#".contains(c) {
            true => c,
            false => '_',
        };
        let title = format!("flows of {}, seed {}", point.scheme, point.seed);
        (name.chars().map(safe).collect(), title, text)
    };
    run.plan
        .points
        .iter()
        .zip(&run.finished)
        .map(of_point)
        .collect()
}

/// Bytes of a name before its number and its ending.
const LONGEST_NAME: usize = 200;

/// A name that no file of this command has yet, on a file system that does not tell `A` from `a`
/// either: labels that differ in other characters only would share a file.
fn free(name: &str, ending: &str, taken: &mut BTreeSet<String>) -> String {
    // A file system has names of 255 bytes.
    let name = &name[..name.floor_char_boundary(LONGEST_NAME)];
    let numbered = |n: u32| match n {
        1 => format!("{name}.{ending}"),
        n => format!("{name}-{n}.{ending}"),
    };
    let mut names = (1..).map(numbered);
    let free = names.find(|name| taken.insert(name.to_lowercase()));
    free.expect("there are more numbers than files")
}

/// Files that a chart or a table of this kind may replace.
fn replaced(force: bool, ending: &str) -> Replace {
    let known: fn(&[u8]) -> bool = match ending {
        "svg" => |head| head.starts_with(b"<svg "),
        "pdf" => |head| head.starts_with(b"%PDF"),
        "csv" => is_table,
        "md" => |head| output::has(head, "\n\n| "),
        // fct.txt: the first words are addresses of hosts, of eight digits.
        _ => |head| {
            head.get(..8)
                .is_some_and(|address| address.iter().all(u8::is_ascii_hexdigit))
                && head.get(8) == Some(&b' ')
        },
    };
    Replace::ours(force, known)
}

/// Whether a CSV file begins as a table of a run or of a figure.
fn is_table(head: &[u8]) -> bool {
    let line = head.split(|b| *b == b'\n').next().unwrap_or_default();
    let mut cells = line.split(|b| *b == b',');
    cells.any(|cell| cell == b"scheme" || cell == b"statistic")
}

/// Most characters and charts that a warning names.
const MOST_NAMED: usize = 5;

/// Warns of characters that PDF files of these charts show as boxes.
fn lacking(charts: &[&Chart]) {
    let listed = |all: &[String]| {
        let some = all.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>();
        match all.len().saturating_sub(MOST_NAMED) {
            0 => some.join(", "),
            more => format!("{} and {more} more", some.join(", ")),
        }
    };
    let (mut characters, mut names) = (BTreeSet::new(), Vec::new());
    for chart in charts {
        let lacking = chart.lacking();
        if !lacking.is_empty() {
            characters.extend(lacking);
            names.push(chart.name.clone());
        }
    }
    if characters.is_empty() {
        return;
    }
    let code = |c: &char| format!("`{c}` (U+{:04X})", u32::from(*c));
    let characters: Vec<String> = characters.iter().map(code).collect();
    complain(
        &format!(
            "the font of PDF files lacks {}; boxes stand for them in {}",
            listed(&characters),
            listed(&names)
        ),
        "write labels and titles in Latin or Greek letters, or take the SVG files, which leave \
         such characters to the program that shows them",
    );
}

impl Found {
    fn write(&self, args: &Args, out: &Path) -> Result<(), Failure> {
        let wanted =
            |name: &str| args.only.is_empty() || args.only.iter().any(|only| name.contains(only));
        let charts: Vec<&Chart> = self.charts.iter().filter(|c| wanted(&c.name)).collect();
        let kept = |tables: &'_ [Table]| -> Vec<Table> {
            tables.iter().filter(|t| wanted(&t.name)).cloned().collect()
        };
        let (exact, rounded) = (kept(&self.exact), kept(&self.rounded));
        let flows = || self.flows.iter().filter(|(name, ..)| wanted(name));
        if charts.is_empty() && exact.is_empty() && rounded.is_empty() && flows().count() == 0 {
            return Err(self.nothing(args));
        }
        std::fs::create_dir_all(out).map_err(|e| Error::io("make the directory", out, e))?;
        let mut lines = Vec::new();
        let mut taken = BTreeSet::new();
        let mut put = |name: &str, ending: &str, title: &str, bytes: &[u8]| {
            let path = out.join(free(name, ending, &mut taken));
            lines.push((path.display().to_string(), title.to_owned()));
            output::put(&path, bytes, replaced(args.force, ending), IN_THE_WAY)
        };
        for kind in [Kind::Svg, Kind::Pdf, Kind::Csv, Kind::Md, Kind::Fct] {
            if !args.format.contains(&kind) {
                continue;
            }
            match kind {
                Kind::Svg => {
                    for c in &charts {
                        put(&c.name, "svg", &c.title, c.svg().as_bytes())?;
                    }
                }
                Kind::Pdf => {
                    for c in &charts {
                        put(&c.name, "pdf", &c.title, &c.pdf())?;
                    }
                    lacking(&charts);
                }
                Kind::Csv => {
                    for t in &exact {
                        put(&t.name, "csv", &t.title, t.csv().as_bytes())?;
                    }
                }
                Kind::Fct => {
                    for (name, title, text) in flows() {
                        put(name, "txt", title, text.as_bytes())?;
                    }
                }
                Kind::Md => {
                    for t in &rounded {
                        put(&t.name, "md", &t.title, t.markdown().as_bytes())?;
                    }
                }
            }
        }
        let text: String = lines.iter().map(|(path, _)| format!("{path}\n")).collect();
        let many = lines.len();
        let files = if many == 1 { "file" } else { "files" };
        answer(&format!("{text}{many} {files} in {}\n", out.display()))
    }

    /// `--only` fits nothing.
    fn nothing(&self, args: &Args) -> Failure {
        let charts = self.charts.iter().map(|c| &c.name[..]);
        let tables = self.exact.iter().chain(&self.rounded);
        let mut names: Vec<&str> = charts.chain(tables.map(|t| &t.name[..])).collect();
        names.sort_unstable();
        names.dedup();
        Failure::User(match args.only.first() {
            Some(only) => miette::miette!(
                help = cemark_scenario::near(only, names),
                "no chart or table of this run has `{only}` in its name"
            ),
            None => miette::miette!(
                help = "look into its report.html: perhaps no flow has finished",
                "this run has nothing to draw"
            ),
        })
    }
}

/// The directory that is meant: a path, or that of a scenario's run.
pub(crate) fn directory(run: &str) -> Result<PathBuf, Failure> {
    let path = PathBuf::from(run);
    if path.is_dir() {
        return Ok(path);
    }
    if path.is_file() && !run.ends_with(".toml") {
        return Err(user(
            format!("{run} is a file, not the directory of a run"),
            "name the directory that contains it",
        ));
    }
    let name = Path::new(run).file_stem().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let plan = cemark_scenario::load(run, &Overrides::default()).ok();
    if let Some(path) = plan
        .as_ref()
        .map(RunDir::default_path)
        .filter(|p| p.is_dir())
    {
        return Ok(path);
    }
    let mut runs: Vec<PathBuf> = std::fs::read_dir("runs")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|p| p.is_dir() && is_of(p, &name))
        .collect();
    runs.sort();
    match (&runs[..], plan) {
        ([one], _) => Ok(one.clone()),
        ([], None) => Err(user(
            format!("there is no directory {run}, and no scenario of this name"),
            "name a directory that `cemark run` made (runs/SCENARIO-DIGEST), or a scenario \
                    that has been run here",
        )),
        ([], Some(_)) => Err(user(
            format!("{run} has not been run here: there is no runs/{name}-…"),
            format!("first run it: cemark run {run}"),
        )),
        (several, _) => {
            let names: Vec<String> = several.iter().map(|p| p.display().to_string()).collect();
            Err(user(
                format!("{run} has been run in several forms"),
                format!("name one of them: {}", names.join(", ")),
            ))
        }
    }
}

/// Whether a directory of `runs` is of the scenario with this name.
fn is_of(path: &Path, name: &str) -> bool {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let digest = file.strip_prefix(name).and_then(|r| r.strip_prefix('-'));
    digest.is_some_and(|d| d.len() == 8 && d.bytes().all(|b| b.is_ascii_hexdigit()))
}
