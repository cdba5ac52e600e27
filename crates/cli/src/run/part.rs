// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark run --part 2/4`: one of several parts of a run, in a directory of its own.

use cemark_report::rundir::{Part, Share};
use cemark_report::{RunDir, units};
use cemark_runner::Ran;
use cemark_scenario::{builtin, visible};
use serde::Serialize;

use crate::exit::{Failure, answer, answer_json};
use crate::{Format, shell};

/// The part as its manifest names it; `scenario` is the argument of the command.
pub(super) fn named(share: Share, scenario: &str) -> Part {
    share.of(match builtin(scenario) {
        Some(_) => format!("{scenario}.toml"),
        None => scenario.to_owned(),
    })
}

/// JSON document of `cemark run --part --format json`.
#[derive(Serialize)]
struct Answer {
    schema: u32,
    scenario: String,
    scenario_digest: String,
    part: u32,
    parts: u32,
    /// Points of this part, and of all parts.
    points: u64,
    points_of_all: u64,
    resumed: u64,
    packet_hops: u64,
    cpu_seconds: f64,
    wall_seconds: f64,
    directory: String,
    merge: String,
}

/// The refusal of a run whose points are not known beforehand.
pub(super) fn needs_fixed_seeds(scenario: &str) -> Failure {
    Failure::User(miette::miette!(
        help =
            "give it fixed seeds with --seeds N, or run what its section [full] says with --full",
        "--part: `{}` states a precision and adds replications until that is reached, so its \
         points are not known beforehand",
        visible(scenario)
    ))
}

/// Says which points are there, and what to type next. A part has no table: comparing its points
/// would show some of the seeds or schemes.
pub(super) fn conclude(share: Share, ran: &Ran, format: Format) -> Result<(), Failure> {
    let (plan, dir, finished) = (&ran.plan, ran.dir.path(), &ran.finished);
    let all = RunDir::default_path(plan);
    let merge = if dir == share.beside(&all) {
        // The shell expands the star, so only the rest may be quoted.
        let stem = shell::quoted(&format!("{}-part", all.display()));
        format!("cemark merge {stem}*of{}", share.parts)
    } else {
        let dir = shell::quoted(&dir.display().to_string());
        format!("cemark merge {dir} and the directories of the other parts")
    };
    let answer_of = Answer {
        schema: cemark_report::summary::SCHEMA,
        scenario: plan.name.clone(),
        scenario_digest: cemark_report::summary::hex(plan.digest),
        part: share.part,
        parts: share.parts,
        points: finished.len() as u64,
        points_of_all: plan.distinct().len() as u64,
        resumed: ran.resumed as u64,
        packet_hops: finished.iter().map(|f| f.summary.packet_hops).sum(),
        cpu_seconds: finished.iter().map(|f| f.summary.cpu_seconds).sum(),
        wall_seconds: ran.seconds,
        directory: dir.display().to_string(),
        merge,
    };
    match format {
        Format::Json => answer_json(&answer_of),
        Format::Table => answer(&text(&answer_of)),
    }
}

fn text(a: &Answer) -> String {
    let resumed = match a.resumed {
        0 => String::new(),
        n => format!(" ({n} from an earlier session)"),
    };
    let points = match a.points {
        0 => "none, there are fewer points than parts".to_owned(),
        n => format!("{n} of {} points{resumed}", a.points_of_all),
    };
    format!(
        "part    {} of {} of {}: {points}\ncost    {} packet-hops, {}\nkept    {}\nnext    {}   \
         (once every part is finished)\n",
        a.part,
        a.parts,
        visible(&a.scenario),
        units::count(a.packet_hops as f64),
        units::span(a.wall_seconds),
        visible(&a.directory),
        visible(&a.merge),
    )
}
