// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark figure`: reproduces figures of the papers, published value beside measured value.

mod bar;

use std::path::{Path, PathBuf};

use cemark_figures::paper::{Draw, Paper};
use cemark_figures::{self as figure, Limits, Means, Mode, Request, render};
use cemark_report::rundir::Share;
use cemark_runner::{Cores, memory};
use cemark_scenario::{AddedMarker, Overrides};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use self::bar::Beside;
use crate::exit::{Failure, answer, answer_json, answer_json_text, machine, user};
use crate::interrupt::stop_on_ctrl_c;
use crate::output::{Replace, put};
use crate::program::provenance;
use crate::terminal::look;
use crate::{Consent, Format};

/// Arguments of `cemark figure`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Figures (`ecnsharp-9`) or rows (`ECNSHARP-T18`, which runs its figure).
    #[arg(required_unless_present_any = ["all", "list", "paper", "from"])]
    ids: Vec<String>,
    /// Every figure. Writes the pages of all papers too. With --quick, only the numbers that decide
    /// a row: those that are printed beside are left out, with the points that only they read.
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    /// Every figure of a paper, and its page: each figure in the form in which the paper draws it,
    /// the published values over the measured ones.
    #[arg(
        long,
        value_parser = paper(),
        value_delimiter = ',',
        value_name = "PAPER[,PAPER…]",
        conflicts_with_all = ["ids", "all", "list", "why", "record", "set", "seeds"]
    )]
    paper: Vec<Paper>,
    /// Only draw the pages, from the runs in DIR, whichever build made them; simulate nothing.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["ids", "list", "why", "record", "set",
        "seeds", "look", "budget", "part"])]
    from: Option<PathBuf>,
    /// List the figures, their rows and their cost, and run nothing.
    #[arg(long, conflicts_with_all = ["ids", "all"])]
    list: bool,
    /// Say where each parameter of the figures comes from (the paper, the authors' code, the
    /// defaults of their tool, our choice), and run nothing.
    #[arg(long, conflicts_with_all = ["list", "record", "set", "seeds"])]
    why: bool,
    /// Simulate few flows: minutes for all figures, "not decided" where that is not enough [the
    /// default].
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Simulate the full number of flows, and add seeds at looks fixed beforehand until every row
    /// is decided: about five hours on two cores for the first look at all figures, and as much for
    /// later ones.
    #[arg(long)]
    full: bool,
    /// Where the run directories of the figures are. An interrupted figure continues there.
    #[arg(long, value_name = "DIR", default_value = "runs/figures")]
    out: PathBuf,
    /// Simulate N points at the same time, at most one per core [default: one per core].
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// Simulate each point on N threads, at most one per core [default: one, or two where most
    /// cores would be idle and the points gain]. Fewer points then run at the same time. The
    /// result does not depend on N.
    #[arg(long, value_name = "N", conflicts_with = "list")]
    threads: Option<std::num::NonZeroUsize>,
    /// Change the experiment: set a key of its scenario (`host.tso=64KB`). The result is compared
    /// with the same published bands.
    #[arg(long, value_name = "PATH=VALUE", conflicts_with_all = ["list", "record"])]
    set: Vec<String>,
    /// Add a marker of your own to the schemes of the figures: BPF bytecode from clang, or a shared
    /// object. Report and charts of all points show the scheme; no row reads it, and no verdict is
    /// compared with a committed one.
    #[arg(long, value_name = "[LABEL=]bpf:FILE|c:FILE", conflicts_with_all = ["list", "why",
        "record", "from", "paper"])]
    marker: Vec<String>,
    /// Run with the seeds 1 to N, and look once.
    #[arg(long, value_name = "N", conflicts_with_all = ["list", "record"])]
    seeds: Option<u64>,
    /// Stop after look N of a full run, though some rows may not be decided [default: every look of
    /// the figure]. Look 1 has the fewest seeds; later ones run only what an undecided row needs.
    #[arg(long, value_name = "N", requires = "full", conflicts_with_all = ["seeds", "list", "why"])]
    look: Option<std::num::NonZeroU32>,
    /// Begin no further point once the points of this command have taken this much CPU time
    /// (`90s`, `30min`, `4h`). The same command continues from there.
    #[arg(long, value_name = "TIME", requires = "full", conflicts_with_all = ["list", "why"])]
    budget: Option<Budget>,
    /// Simulate part I of N of the points, into a directory beside that of the figure. Where the
    /// directories of all parts are in --out, the same command without --part merges them.
    #[arg(long, value_name = "I/N", conflicts_with_all = ["list", "why", "record"])]
    part: Option<Share>,
    /// Write the verdicts into this file (in a checkout: figures/expected.tsv) instead of comparing
    /// with them.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Run even if the machine seems to have too little memory.
    #[arg(long, conflicts_with = "list")]
    anyway: bool,
    #[command(flatten)]
    consent: Consent,
    /// Output format.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Show no progress: neither the bar nor, without a terminal, a line every 10 seconds.
    #[arg(short, long)]
    quiet: bool,
}

/// A paper by its name on the command line.
fn paper() -> impl TypedValueParser<Value = Paper> {
    let named = Paper::ALL.map(|p| PossibleValue::new(p.key()).help(p.name()));
    let of = |key: String| Paper::ALL.into_iter().find(|p| p.key() == key);
    PossibleValuesParser::new(named).map(move |key| of(key).expect("a possible value"))
}

/// Writes the pages of the papers that are asked for, from the runs in `from`.
fn pages(args: &Args, mode: Mode, from: &Path) -> Result<(), Failure> {
    let papers: Vec<Paper> = match args.all {
        true => Paper::ALL.to_vec(),
        false => args.paper.clone(),
    };
    if args.from.is_some() && papers.is_empty() {
        return Err(user(
            "--from draws the pages of papers",
            "say whose: --paper ecnsharp, or --all",
        ));
    }
    let draw = Draw {
        mode,
        from,
        out: &args.out,
        build: &provenance().build,
    };
    let mut text = String::new();
    for paper in papers {
        let page = figure::paper::write(paper, draw)?;
        text.push_str(&format!("page: {}\n", page.display()));
    }
    match args.format {
        Format::Table => answer(&text),
        Format::Json => Ok(()),
    }
}

pub(crate) fn figure(args: &Args) -> Result<(), Failure> {
    let ours = |what: String| machine(what);
    let broken = |e: figure::FileError| ours(e.to_string());
    if args.list {
        let expected = figure::Expected::parse(figure::EXPECTED).map_err(broken)?;
        let text = render::list(&figure::Committed::read()?, &expected, look().width);
        return answer(&text.map_err(broken)?);
    }
    if args.why {
        let files = figure::files(&args.ids)?;
        if args.format == Format::Json {
            let by_figure: std::collections::BTreeMap<_, _> =
                files.iter().map(|f| (&f.id, &f.parameters)).collect();
            return answer_json(&by_figure);
        }
        let texts: Vec<String> = files.iter().map(|f| render::why(f, look().width)).collect();
        return answer(&texts.join("\n"));
    }
    let mode = if args.full { Mode::Full } else { Mode::Quick };
    if let Some(from) = &args.from {
        return pages(args, mode, from);
    }
    let of_papers = args.paper.iter().flat_map(|p| p.figures());
    let request = Request {
        ids: args
            .ids
            .iter()
            .cloned()
            .chain(of_papers.map(str::to_owned))
            .collect(),
        mode,
        out: args.out.clone(),
        changes: changes(args)?,
        limits: limits(args),
        only_what_decides: args.all,
    };
    let cores = Cores {
        jobs: args.jobs,
        threads: args.threads,
    };
    let plans = figure::plans(&request)?;
    for (first, _) in &plans {
        memory::refuse(first, args.jobs, args.anyway)?;
    }
    let stop = stop_on_ctrl_c();
    let points = cores.split(usize::MAX).points;
    let progress = bar::progress(&plans, points, args.quiet);
    let console = Beside {
        progress: &progress,
        stop: &stop,
    };
    let means = Means {
        who: &provenance(),
        cores,
        anyway: args.anyway,
        native: args.consent.allow_native,
        stop: &stop,
        console: &console,
        show: &progress,
    };
    let run = figure::run(&request, means);
    drop(progress);
    let run = run?;
    match args.format {
        Format::Table => answer(&render::table(&run, look().width))?,
        Format::Json => answer_json_text(&render::json(&run))?,
    }
    let is_changed = !args.set.is_empty() || !args.marker.is_empty();
    let is_whole = args.part.is_none() && !is_changed && args.seeds.is_none();
    if is_whole {
        pages(args, mode, &args.out)?;
    }
    if let Some(file) = &args.record {
        let text = run.recorded().map_err(broken)?;
        let verdicts = Replace::Ours(|head| head.starts_with(b"id\tquick"));
        return put(
            file,
            text.as_bytes(),
            verdicts,
            "name a file of verdicts, or a new one",
        );
    }
    let differing: Vec<String> = run
        .differing()
        .map(|r| format!("{} is {}", r.id, r.verdict.key()))
        .collect();
    if differing.is_empty() {
        return Ok(());
    }
    Err(ours(format!(
        "{} verdicts differ from figures/expected.tsv: {}",
        differing.len(),
        differing.join(", ")
    )))
}

fn limits(args: &Args) -> Limits {
    Limits {
        look: args.look.map(std::num::NonZeroU32::get),
        cpu_seconds: args.budget.map(|budget| budget.0),
        share: args.part,
    }
}

/// CPU seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Budget(f64);

impl std::str::FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let split = text.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, unit) = text.split_at(split.unwrap_or(text.len()));
        let seconds = match unit.trim() {
            "s" => Some(1.0),
            "min" => Some(60.0),
            "h" => Some(3600.0),
            _ => None,
        };
        let number = number.parse::<f64>().ok().filter(|n| *n > 0.0);
        match number.zip(seconds) {
            Some((number, seconds)) => Ok(Budget(number * seconds)),
            None => Err("write a time with its unit, for example 90s, 30min or 4h".to_owned()),
        }
    }
}

/// Changes of the user. A row is one number, so several values of a key would be averaged: only one
/// is accepted.
fn changes(args: &Args) -> Result<Overrides, Failure> {
    let mut changes = Overrides {
        seeds: args.seeds,
        added: args.marker.iter().map(|m| AddedMarker::new(m)).collect(),
        ..Overrides::default()
    };
    for option in &args.set {
        changes.add(option)?;
    }
    if let Some((path, _)) = changes.set.iter().find(|(_, values)| values.len() > 1) {
        return Err(user(
            format!(
                "--set {path}: a figure takes only one value of a key, because a row is one number"
            ),
            "run the command once for each value",
        ));
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::Budget;

    #[test]
    fn budgets_have_a_unit() {
        let read = |text: &str| text.parse::<Budget>();
        assert_eq!(read("90s"), Ok(Budget(90.0)));
        assert_eq!(read("1.5 h"), Ok(Budget(5400.0)));
        assert_eq!(read("30min"), Ok(Budget(1800.0)));
        for text in ["", "4", "h", "-4h", "0h", "4d", "4 hours", "1.2.3h"] {
            let said = read(text).expect_err(text);
            assert!(
                said.contains("for example 90s, 30min or 4h"),
                "{text}: {said}"
            );
        }
    }
}
