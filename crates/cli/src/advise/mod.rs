// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark advise`: thresholds for measured RTTs, simulated beside those of today.

mod asked;
mod beside;
mod candidates;
mod deadline;
mod rules;
mod searched;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use cemark_runner::Cores;
use serde_json::{Value, json};

use self::asked::Asked;
use self::beside::Beside;
use crate::Format;
use crate::exit::{Failure, answer, answer_json, note, user};
use crate::init::Described;
use crate::scenario_file::{writable, write};
use crate::search::seconds;

/// Version of the JSON document.
const SCHEMA: u32 = 1;
/// Seconds that the comparison may take.
const USUAL: f64 = 120.0;
/// Seconds that a search may take.
const USUAL_SEARCH: f64 = 900.0;

const AFTER: &str = "\
Examples:
  cemark advise --rate 25G --uplink 100G --rtt p50=12us,p99=95us \\
    --class storage:dcqcn:26 --class rest:dctcp --today config_db.json --write fabric.toml
  cemark advise --rate 100G --rtt rtts.csv --rules

docs/operators.md goes from measured RTTs to the lines of a switch.";

/// Arguments of `cemark advise`.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    #[command(flatten)]
    fabric: Described,
    /// Published set that is compared with where there is no --today (cemark help thresholds).
    #[arg(long, value_name = "SET", default_value = "sonic", value_parser = asked::set)]
    against: &'static str,
    /// Print the thresholds and simulate nothing.
    #[arg(long, conflicts_with_all = ["search", "budget"])]
    rules: bool,
    /// Search for better thresholds: other rules, published sets and multiples, also with RTTs that
    /// are 20 % off.
    #[arg(long)]
    search: bool,
    /// Time after which no further simulation begins [default: 2min; with --search 15min more].
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    budget: Option<f64>,
    /// Write the scenario that is simulated, for cemark export, run and search.
    #[arg(long, value_name = "FILE.toml")]
    write: Option<PathBuf>,
    /// Overwrite the file if it exists.
    #[arg(long, requires = "write")]
    force: bool,
    /// Directory of the run [default: runs/SCENARIO-DIGEST]. Advice that was interrupted there is
    /// continued.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Simulate N points at the same time, at most one per core [default: one per core].
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Output format.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Show no progress.
    #[arg(short, long)]
    quiet: bool,
}

impl Args {
    fn budget(&self) -> f64 {
        self.budget.unwrap_or(USUAL)
    }

    fn cores(&self) -> Cores {
        Cores::of_jobs(self.jobs)
    }
}

pub(crate) fn advise(args: &Args) -> Result<(), Failure> {
    if args.fabric.rtt.is_none() || args.fabric.rate.is_none() {
        return Err(user(
            "thresholds follow from the base RTTs and the rate of the links",
            "write --rtt p50=12us,p99=95us (or a file of RTTs) and --rate 25G; cemark help rtt \
             lists the forms of files",
        ));
    }
    if args.fabric.queues.is_some() {
        return Err(user(
            "advice is by traffic class, and --queues spreads flows at random",
            "write a --class for each queue: --class web:dctcp:0 --class bulk:dctcp:8",
        ));
    }
    let file = match &args.write {
        Some(path) => writable(path, args.force)?,
        None => "advice.toml".to_owned(),
    };
    let asked = Asked::of(args, file)?;
    asked.with(|parts, rtt| {
        let text = parts.compared(rtt, args.against, &[parts.by_rule(rtt)], &args.fabric.today)?;
        if let Some(path) = &args.write {
            write(path, &text, args.force)?;
        }
        let thresholds = rules::Thresholds::of(parts, rtt);
        if args.format == Format::Table {
            answer(&thresholds.text())?;
            asked
                .notes
                .iter()
                .for_each(|text| note(&format!("note: {text}")));
        }
        let beside = match args.rules {
            true => None,
            false => Some(Beside::simulate(args, parts, &text)?),
        };
        if let (Some(beside), Format::Table) = (&beside, args.format) {
            answer(&beside.text())?;
        }
        let search = match (&beside, args.search) {
            (Some(beside), true) => Some(searched::search(args, &asked, (parts, rtt), beside)?),
            _ => None,
        };
        let better = search.as_ref().and_then(searched::Searched::better);
        if let (Some(path), Some(better)) = (&args.write, better) {
            let schemes = [parts.by_rule(rtt), better];
            let text = parts.compared(rtt, args.against, &schemes, &args.fabric.today)?;
            write(path, &text, true)?;
        }
        match args.format {
            Format::Table => match &search {
                Some(search) => answer(&search.text()),
                None => Ok(()),
            },
            Format::Json => {
                let document: Value = json!({
                    "schema": SCHEMA,
                    "assumed": asked.notes,
                    "thresholds": thresholds.json(),
                    "beside": beside.as_ref().map(Beside::json),
                    "search": search.as_ref().map(searched::Searched::json),
                });
                answer_json(&document)
            }
        }
    })
}
