// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark run --part 2/4`: one of several parts of a run, in a directory of its own.

use std::path::PathBuf;
use std::str::FromStr;

use cemark_report::rundir::Part;
use cemark_report::{RunDir, units};
use cemark_runner::Ran;
use cemark_scenario::{Plan, builtin, visible};
use serde::Serialize;

use crate::exit::{Failure, answer, answer_json};
use crate::{Format, shell};

/// More parts than anyone has machines.
const MOST: u32 = 10_000;

/// Which part of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    part: u32,
    parts: u32,
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |n: &str| n.trim().parse::<u32>().ok();
        let pair = text.split_once('/');
        let Some((part, parts)) = pair.and_then(|(i, n)| Some((number(i)?, number(n)?))) else {
            return Err(
                "write the number of the part and of all parts, for example 2/4".to_owned(),
            );
        };
        if parts == 0 || parts > MOST {
            return Err(format!("there can be 1 to {MOST} parts"));
        }
        if part == 0 || part > parts {
            return Err(format!(
                "the first number is 1 to {parts}, for example 1/{parts}"
            ));
        }
        Ok(Share { part, parts })
    }
}

impl Share {
    /// The same of a figure's points.
    pub(crate) fn of_figure(self) -> cemark_figures::Share {
        cemark_figures::Share {
            part: self.part,
            parts: self.parts,
        }
    }

    /// Where it goes by default.
    pub(super) fn default_path(self, plan: &Plan) -> PathBuf {
        RunDir::default_part_path(plan, self.part, self.parts)
    }

    /// As the manifest names it; `scenario` is the argument of the command.
    pub(super) fn named(self, scenario: &str) -> Part {
        Part {
            part: self.part,
            parts: self.parts,
            file: match builtin(scenario) {
                Some(_) => format!("{scenario}.toml"),
                None => scenario.to_owned(),
            },
        }
    }
}

/// What `cemark run --part --format json` prints.
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
    let merge = if dir == share.default_path(plan) {
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

#[cfg(test)]
mod tests {
    use super::Share;

    #[test]
    fn parts_are_read() {
        let read = |text: &str| text.parse::<Share>();
        assert_eq!(read("2/4"), Ok(Share { part: 2, parts: 4 }));
        assert_eq!(read("1/1"), Ok(Share { part: 1, parts: 1 }));
        for (text, says) in [
            ("2", "2/4"),
            ("2 of 4", "2/4"),
            ("a/b", "2/4"),
            ("-1/4", "2/4"),
            ("0/4", "1 to 4, for example 1/4"),
            ("5/4", "1 to 4, for example 1/4"),
            ("1/0", "1 to 10000 parts"),
            ("1/99999", "1 to 10000 parts"),
        ] {
            let e = read(text).expect_err(text);
            assert!(e.contains(says), "{text}: {e}");
        }
    }
}
