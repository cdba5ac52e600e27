// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark search`: finds the best values of keys of a scenario.

mod budget;
mod json;
mod over;
mod simulate;
mod text;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use cemark_report::RunDir;
use cemark_runner::Cores;
use cemark_scenario::{Plan, written_at};
use cemark_search::{Aim, Bound, Candidate, Quantity, Refused, replications};

pub(crate) use self::budget::seconds;
pub(crate) use self::json::difference;
use self::over::Over;
pub(crate) use self::simulate::{Means, simulate};
use crate::exit::{Failure, answer, answer_json, user, warn};
use crate::schemes::labelled;
use crate::{Consent, Edits, Format};

/// Most candidates of a search.
const MOST_CANDIDATES: usize = 256;
/// Most keys of a search.
const MOST_KEYS: usize = 4;

const AFTER: &str = "\
Examples:
  cemark search rtt-variation --over 'scheme.ECN#.pst_target=10us..400us' --for short.mean \\
    --bound 'large.mean<=+3%'
  cemark search my.toml --over scheme.RED.kmin=20KB..400KB --over scheme.RED.kmax=100KB..2MB \\
    --for overall.p99 --candidates 36 --budget 20min

docs/search.md says how a search chooses, and what it claims.";

/// Arguments of `cemark search`.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// A scenario file, or the name of a built-in.
    scenario: String,
    /// A key and the values that it may have: two ends, or a list. Several keys: all combinations.
    #[arg(long, value_name = "PATH=A..B|A,B,C", required = true)]
    over: Vec<String>,
    /// The metric to be as good as possible (cemark help metrics); short.mean@storage is that of
    /// one traffic class.
    #[arg(long = "for", value_name = "METRIC")]
    goal: String,
    /// A bound on another metric: +3% against the scenario as it is written, or a value (2ms).
    #[arg(long, value_name = "METRIC<=LIMIT")]
    bound: Vec<String>,
    /// The scheme, by its label [default: the one that a key names, or the only one].
    #[arg(long, value_name = "LABEL")]
    scheme: Option<String>,
    /// Combinations of values to begin with, where keys have two ends.
    #[arg(long, value_name = "N", default_value = "16",
        value_parser = clap::value_parser!(u16).range(2..=256))]
    candidates: u16,
    /// Time after which no further simulation begins. The same search continues where it ended.
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = seconds)]
    budget: f64,
    /// Half the width of an interval that is narrow enough, in percentage points.
    #[arg(long, value_name = "POINTS", default_value = "5", value_parser = points)]
    within: f64,
    /// Directory of the points [default: runs/SCENARIO-DIGEST]. A search that was interrupted there
    /// is continued.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    edits: Edits,
    #[command(flatten)]
    consent: Consent,
    /// Simulate N points at the same time, at most one per core [default: one per core].
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Output format.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Show no progress.
    #[arg(short, long)]
    quiet: bool,
    /// Delete what cemark wrote to the directory, and start over.
    #[arg(long)]
    fresh: bool,
}

fn points(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok();
    number
        .filter(|x| (0.1..=50.0).contains(x))
        .ok_or_else(|| "write percentage points from 0.1 to 50, such as 5".to_owned())
}

/// A search as the command line has it.
struct Search {
    plan: Plan,
    /// Paths of the keys.
    keys: Vec<String>,
    scheme: String,
    candidates: Vec<Candidate>,
    /// The values of each candidate, in the order of the keys.
    values: Vec<Vec<String>>,
    /// The candidate that has the scenario's own values.
    base: usize,
    aim: Aim,
}

pub(crate) fn search(args: &Args) -> Result<(), Failure> {
    let mut search = Search::of(args)?;
    warn(&search.plan);
    let watches = args.consent.load(&mut search.plan)?;
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| RunDir::default_path(&search.plan));
    let means = Means {
        out: &out,
        fresh: args.fresh,
        cores: Cores::of_jobs(args.jobs),
        budget: args.budget,
        quiet: args.quiet,
        watches: &watches,
    };
    let found = simulate(
        &search.plan,
        &search.aim,
        &search.candidates,
        search.base,
        &means,
    )?;
    match args.format {
        Format::Json => answer_json(&json::document(&search, &found, &out)),
        Format::Table => answer(&text::text(&search, &found, args)),
    }
}

impl Search {
    fn of(args: &Args) -> Result<Search, Failure> {
        let keys: Result<Vec<Over>, Failure> = args.over.iter().map(|o| Over::read(o)).collect();
        let keys = keys?;
        if keys.len() > MOST_KEYS {
            return Err(user(
                format!("{} keys are too many", keys.len()),
                format!("search over at most {MOST_KEYS}"),
            ));
        }
        let mut overrides = args.edits.overrides(&args.scenario)?;
        let written = cemark_scenario::load(&args.scenario, &overrides)?;
        let first = written.points.first().map(|point| &point.axes);
        if written
            .points
            .iter()
            .any(|point| Some(&point.axes) != first)
        {
            return Err(user(
                format!("{} sweeps {}", args.scenario, written.axes.join(" and ")),
                format!("choose a value: --set {}=…", written.axes[0]),
            ));
        }
        let scheme = scheme(&written, &keys, args.scheme.as_deref())?;
        let own: Result<Vec<String>, Failure> =
            keys.iter().map(|key| own_value(&written, key)).collect();
        let own = own?;
        let tried = tried(&keys, &own, usize::from(args.candidates));
        let number: usize = tried.iter().map(Vec::len).product();
        if !(2..=2 * MOST_CANDIDATES).contains(&number) {
            return Err(user(
                format!("{number} combinations of values cannot be searched"),
                format!("write 2 to {MOST_CANDIDATES}: fewer keys, or shorter lists"),
            ));
        }
        // The scenario's own value may come from a --set of its own.
        overrides
            .set
            .retain(|(path, _)| keys.iter().all(|key| key.path != *path));
        for (key, values) in keys.iter().zip(&tried) {
            overrides.set.push((key.path.clone(), values.clone()));
        }
        overrides.seeds = Some(u64::from(replications(number - 1)));
        let plan = cemark_scenario::load(&args.scenario, &overrides)?;
        let aim = aim(args, &plan)?;
        let mut search = Search {
            keys: keys.into_iter().map(|key| key.path).collect(),
            scheme,
            candidates: Vec::new(),
            values: Vec::new(),
            base: 0,
            aim,
            plan,
        };
        search.candidates();
        let found = search.values.iter().position(|values| *values == own);
        search.base = found.expect("the scenario's own values are among them");
        Ok(search)
    }

    /// The points by the values of the keys.
    fn candidates(&mut self) {
        for (i, point) in self.plan.points.iter().enumerate() {
            if point.scheme != self.scheme {
                continue;
            }
            let value = |path: &String| point.axes.get(path).cloned().unwrap_or_default();
            let values: Vec<String> = self.keys.iter().map(value).collect();
            let at = self.values.iter().position(|known| *known == values);
            let at = at.unwrap_or_else(|| {
                let named = self.keys.iter().zip(&values);
                let named = named.map(|(path, value)| format!("{} {value}", short(path)));
                self.candidates.push(Candidate {
                    name: named.collect::<Vec<_>>().join(", "),
                    points: Vec::new(),
                });
                self.values.push(values);
                self.values.len() - 1
            });
            self.candidates[at].points.push(i);
        }
    }
}

/// The last word of a path.
fn short(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// The scheme whose points are compared.
fn scheme(plan: &Plan, keys: &[Over], asked: Option<&str>) -> Result<String, Failure> {
    if let Some(label) = asked {
        return labelled(plan, label).cloned();
    }
    let of_key = |key: &Over| {
        let rest = key.path.strip_prefix("scheme.")?;
        let labels = plan.schemes.iter();
        let named = labels.filter(|label| rest.starts_with(&format!("{label}.")));
        named.max_by_key(|label| label.len()).cloned()
    };
    let mut named: Vec<String> = keys.iter().filter_map(of_key).collect();
    named.dedup();
    match (&named[..], &plan.schemes[..]) {
        ([one], _) | ([], [one]) => Ok(one.clone()),
        ([], all) => Err(user(
            format!(
                "{} has {} schemes, and the keys name none",
                plan.name,
                all.len()
            ),
            format!("write --scheme with one of: {}", all.join(", ")),
        )),
        (several, _) => Err(user(
            format!("the keys are of {} schemes", several.len()),
            "search over keys of one scheme",
        )),
    }
}

/// The value that the scenario itself has.
fn own_value(plan: &Plan, key: &Over) -> Result<String, Failure> {
    written_at(&plan.source, &key.path).ok_or_else(|| {
        user(
            format!("{} writes no value of {}", plan.name, key.path),
            format!(
                "write the value to compare with: --set '{}=…', or in the scenario",
                key.path
            ),
        )
    })
}

/// The values of each key, with the scenario's own among them.
fn tried(keys: &[Over], own: &[String], candidates: usize) -> Vec<Vec<String>> {
    let listed: usize = keys.iter().map(Over::listed).product();
    let free = keys.iter().filter(|key| key.is_free()).count();
    let each = (candidates as f64 / listed.max(1) as f64).powf(1.0 / free.max(1) as f64);
    let of = |(key, own): (&Over, &String)| {
        let mut values = key.values(each.round() as usize);
        if !values.contains(own) {
            values.push(own.clone());
        }
        values
    };
    keys.iter().zip(own).map(of).collect()
}

fn aim(args: &Args, plan: &Plan) -> Result<Aim, Failure> {
    let classes = plan
        .points
        .first()
        .map(|point| &point.config.switch.classes);
    let classes: Vec<(String, u8)> = classes
        .into_iter()
        .flatten()
        .map(|class| (class.name.clone(), class.queue))
        .collect();
    let no =
        |option: &'static str| move |no: Refused| user(format!("{option}: {}", no.why), no.instead);
    let bounds = args.bound.iter().map(|text| Bound::read(text, &classes));
    Ok(Aim {
        goal: Quantity::read(&args.goal, &classes).map_err(no("--for"))?,
        bounds: bounds.collect::<Result<_, _>>().map_err(no("--bound"))?,
        within: args.within,
    })
}
