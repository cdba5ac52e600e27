// SPDX-License-Identifier: MIT OR Apache-2.0
//! cemark: compares ECN marking schemes on simulated data-centre fabrics.
//!
//! Standard output carries the answer, standard error the progress and what went wrong.
//!
//! A library, so that other programs contain the same command: the executable `cemark` and the
//! Python package call [`main`].

#[cfg(not(feature = "deploy"))]
mod absent;
mod advise;
mod as_configured;
mod bench;
#[cfg(all(target_os = "linux", feature = "deploy"))]
mod bpf;
mod capture;
mod check;
mod compare;
mod completions;
mod doctor;
#[cfg(target_os = "linux")]
mod edge;
mod exit;
mod export;
mod figure;
mod help;
mod import;
mod init;
mod interrupt;
mod man;
mod merge;
mod mistyped;
mod output;
#[cfg(feature = "deploy")]
mod p4;
mod plot;
mod program;
mod progress;
mod quantity;
mod run;
mod scenario_file;
mod schemes;
mod screen;
mod search;
mod shell;
mod template;
mod terminal;
#[cfg(all(target_os = "linux", feature = "deploy"))]
mod testbed;
mod theory;
mod thresholds;
mod vectors;

use cemark_runner::marker;
use cemark_scenario::AddedMarker;
use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

#[cfg(not(feature = "deploy"))]
use crate::absent as bpf;
#[cfg(not(feature = "deploy"))]
use crate::absent as p4;
#[cfg(not(feature = "deploy"))]
use crate::absent as testbed;

pub use crate::exit::Failure;
pub use crate::program::{Cluster, OnCluster, Program};

/// Most columns of the help.
const WIDEST: usize = 100;

/// Compare ECN marking schemes packet by packet, with the published numbers beside the answer.
#[derive(Parser)]
#[command(
    name = "cemark",
    version,
    max_term_width = WIDEST,
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Write a scenario of your fabric from a few answers.
    Init(init::Args),
    /// Make a scenario of the files of another simulator: HPCC's ns-3, htsim.
    Import(import::Args),
    /// Simulate every point of a scenario and compare its schemes.
    Run(run::Args),
    /// Say which thresholds a fabric needs, and simulate them beside those of today.
    Advise(advise::Args),
    /// Find the best values of keys of a scenario, with few simulations.
    Search(search::Args),
    /// Run a scenario with many points, on this machine or on a Ray cluster.
    Sweep(run::SweepArgs),
    /// Write the charts and tables of a finished run as files: SVG, PDF, CSV, Markdown.
    Plot(plot::Args),
    /// Write the packets of chosen links of one point as a pcapng file, for Wireshark.
    Capture(capture::Args),
    /// Put two runs side by side, or completion times of other simulators' files beside a run.
    Compare(compare::Args),
    /// Make one run of the parts of a run.
    Merge(merge::Args),
    /// Reproduce a paper's figures: published value, measured value, verdict.
    Figure(figure::Args),
    /// Run a scenario on real Linux kernels, beside the simulator.
    #[cfg(target_os = "linux")]
    Testbed(testbed::Args),
    /// List the marking schemes, or show one with its parameters.
    Schemes(schemes::Args),
    /// Measure speed and memory, or check the simulator against theory.
    Bench(bench::Args),
    /// Read a switch's configuration and say what makes ECN silent or harmful in it.
    Doctor(doctor::Args),
    /// Validate a scenario; print its points and their estimated cost.
    Check(check::Args),
    /// Replay the golden vectors of every scheme: in Rust, in C, as BPF bytecode or in P4.
    Vectors(vectors::Args),
    /// Mark the packets of a Linux device with an eBPF program: attach, retune, show, detach.
    #[cfg(target_os = "linux")]
    Bpf(bpf::Args),
    /// Run one router of a DCIB pair on real packets: between a tun device and UDP.
    #[cfg(target_os = "linux")]
    Edge(edge::Args),
    /// Evaluate a formula of the papers: thresholds, amplitudes, shares.
    Theory(theory::Args),
    /// Write a scheme for a switch, a kernel or a program.
    Export(export::Args),
    /// Make the constants and table entries of a P4 program, or write it for DPDK's switch.
    P4(p4::Args),
    /// Explain a command, a scheme, a key of scenario files, a topic or a term.
    Help(help::Args),
    /// Print the script by which a shell completes commands and names.
    Completions(completions::Args),
    /// Print or write manual pages.
    Man(man::Args),
}

/// How the answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// JSON document (docs/output.md).
    Json,
}

/// Options that say how much of a scenario is run.
#[derive(clap::Args)]
struct Extent {
    /// Add replications until every difference from the baseline is known to ±POINTS percentage
    /// points, and show the table as it becomes narrower. Works on any scenario; --seed and --seeds
    /// run exactly those instead.
    #[arg(long, value_name = "POINTS", conflicts_with_all = ["seed", "seeds", "full"])]
    precision: Option<String>,
    /// Run what the scenario's section `full` says, as a paper did; no precision ends it earlier.
    #[arg(long)]
    full: bool,
}

impl Extent {
    fn add_to(&self, overrides: cemark_scenario::Overrides) -> cemark_scenario::Overrides {
        cemark_scenario::Overrides {
            precision: self.precision.clone(),
            full: self.full,
            ..overrides
        }
    }
}

/// Options that change a scenario.
#[derive(clap::Args)]
struct Changes {
    /// Run only this seed, without a precision.
    #[arg(long, value_name = "N", conflicts_with = "seeds")]
    seed: Option<u64>,
    /// Run exactly the seeds 1 to N, without a precision.
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    #[command(flatten)]
    edits: Edits,
}

/// Options that change a scenario without its seeds.
#[derive(clap::Args)]
struct Edits {
    /// Set a value of the scenario. Several values, separated by commas, are swept.
    #[arg(long, value_name = "PATH=VALUE[,VALUE…]")]
    set: Vec<String>,
    /// Add a marker of your own to the schemes: BPF bytecode from clang, or a shared object. Its
    /// label is the name in its code, unless you write one: mine=c:mine.so.
    #[arg(long, value_name = "[LABEL=]bpf:FILE|c:FILE")]
    marker: Vec<String>,
    /// Add the marking of a switch as a scheme, `as configured`: a configuration that `cemark
    /// doctor` reads.
    #[arg(long, value_name = "FILE")]
    switch: Vec<std::path::PathBuf>,
}

/// Consent to run code that the scenario of somebody else may name.
#[derive(clap::Args)]
struct Consent {
    /// Run the machine code of shared objects that the scenario names (marker = "c:mine.so").
    /// Files of --marker and bytecode need no consent.
    #[arg(long)]
    allow_native: bool,
}

impl Consent {
    /// Loads the code of the plan's own markers.
    fn load(&self, plan: &mut cemark_scenario::Plan) -> Result<marker::Watches, Failure> {
        marker::load(plan, &marker::Consent::of_files(self.allow_native))
    }
}

impl Changes {
    /// Changes of a scenario, which a switch is fitted to.
    fn overrides(&self, scenario: &str) -> Result<cemark_scenario::Overrides, Failure> {
        Ok(cemark_scenario::Overrides {
            seed: self.seed,
            seeds: self.seeds,
            ..self.edits.overrides(scenario)?
        })
    }
}

impl Edits {
    /// Changes of a scenario, which a switch is fitted to.
    fn overrides(&self, scenario: &str) -> Result<cemark_scenario::Overrides, Failure> {
        let mut overrides = cemark_scenario::Overrides {
            added: self.marker.iter().map(|m| AddedMarker::new(m)).collect(),
            ..Default::default()
        };
        for option in &self.set {
            overrides.add(option)?;
        }
        if !self.switch.is_empty() {
            let scheme = as_configured::scheme(&self.switch, scenario, &overrides)?;
            overrides.schemes.push(scheme);
        }
        Ok(overrides)
    }
}

/// The command line of cemark, laid out for this terminal.
fn command() -> clap::Command {
    let mut command = Cli::command();
    if let Some(columns) = terminal::columns() {
        command = command.term_width(columns.min(WIDEST));
    }
    if terminal::plain() {
        command = command.color(ColorChoice::Never);
    }
    command
}

/// The command line that was typed, or the exit code if it cannot be read.
fn typed() -> Result<Cli, u8> {
    let words = program::words();
    if let [_, word] = words.as_slice()
        && ["-h", "--help"].iter().any(|help| word == help)
    {
        return Err(exit::code(exit::answer(&screen::first(
            terminal::look().width,
        ))));
    }
    let matches = command().try_get_matches_from_mut(words);
    matches
        .and_then(|mut m| Cli::from_arg_matches_mut(&mut m))
        .map_err(|e| mistyped::answer(&e, &Cli::command()))
}

/// JSON document of `cemark schemes --format json`.
pub fn schemes_json() -> serde_json::Value {
    schemes::list()
}

/// Every theory of `cemark theory`, with its inputs and outputs.
pub fn theories_json() -> serde_json::Value {
    theory::list()
}

/// JSON document of `cemark theory NAME INPUT=VALUE… --format json`.
///
/// # Errors
/// [`Failure::User`] where there is no such theory or input, or a value cannot be read.
pub fn theory_json(name: &str, inputs: &[String]) -> Result<serde_json::Value, Failure> {
    theory::evaluated(name, inputs)
}

/// Two finished runs side by side, as `cemark compare` has them; each is named by its directory or
/// by a scenario that has been run here.
///
/// # Errors
/// [`Failure::User`] where one is no finished run, or they have nothing in common.
pub fn compare_runs(a: &str, b: &str) -> Result<cemark_report::Beside, Failure> {
    compare::two(a, b)
}

/// Runs the command that was typed, and returns its exit code (docs/output.md). A process may call
/// it once for its own command line; Ctrl-C is handled by it from then on.
pub fn main(program: Program) -> u8 {
    program.begins();
    // Setting the hook fails only if there is one already.
    let _ = miette::set_hook(Box::new(|_| terminal::error_handler()));
    completions::answer_shell(Cli::command);
    let cli = match typed() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let done = match &cli.command {
        None => exit::answer(&screen::first(terminal::look().width)),
        Some(Command::Init(args)) => init::init(args),
        Some(Command::Import(args)) => import::import(args),
        Some(Command::Run(args)) => run::run(args),
        Some(Command::Sweep(args)) => run::sweep(args),
        Some(Command::Advise(args)) => advise::advise(args),
        Some(Command::Search(args)) => search::search(args),
        Some(Command::Plot(args)) => plot::plot(args),
        Some(Command::Capture(args)) => capture::capture(args),
        Some(Command::Compare(args)) => compare::compare(args),
        Some(Command::Merge(args)) => merge::merge(args),
        Some(Command::Figure(args)) => figure::figure(args),
        #[cfg(target_os = "linux")]
        Some(Command::Testbed(args)) => testbed::testbed(args),
        Some(Command::Schemes(args)) => schemes::schemes(args),
        Some(Command::Doctor(args)) => doctor::doctor(args),
        Some(Command::Check(args)) => check::check(args),
        Some(Command::Bench(args)) => bench::bench(args),
        Some(Command::Vectors(args)) => vectors::vectors(args),
        #[cfg(target_os = "linux")]
        Some(Command::Bpf(args)) => bpf::bpf(args),
        #[cfg(target_os = "linux")]
        Some(Command::Edge(args)) => edge::edge(args),
        Some(Command::Theory(args)) => theory::theory(args),
        Some(Command::Export(args)) => export::export(args),
        Some(Command::P4(args)) => p4::p4(args),
        Some(Command::Help(args)) => help::help(args),
        Some(Command::Completions(args)) => completions::completions(args),
        Some(Command::Man(args)) => man::man(args, Cli::command()),
    };
    exit::code(done)
}
