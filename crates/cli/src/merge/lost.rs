// SPDX-License-Identifier: MIT OR Apache-2.0
//! Message of `cemark merge` on points that no directory holds: which they are, and which command
//! runs them.

use std::path::Path;

use cemark_report::rundir::{Part, Source};
use cemark_scenario::{Plan, Point};

use crate::exit::Failure;
use crate::shell;

/// Points that are named before "and N more".
const NAMED: usize = 3;
/// Parts of which that is said.
const LISTED: usize = 10;

/// Points that no directory holds.
#[derive(Default)]
pub(super) struct Lost {
    /// Indices into the plan's points, in order.
    pub(super) points: Vec<usize>,
    /// Files that are damaged.
    pub(super) damaged: usize,
    /// Points of another build of cemark.
    pub(super) other_build: usize,
}

impl Lost {
    /// The message.
    pub(super) fn failure(&self, plan: &Plan, sources: &[Source]) -> Failure {
        let all = plan.part(1, 1).len();
        let mut lines = vec![format!(
            "{} of {all} points are in none of the directories",
            self.points.len()
        )];
        let mut commands = Vec::new();
        match sources.iter().find_map(|s| s.manifest().part.clone()) {
            Some(part) => self.by_part(plan, sources, part.parts, &mut lines, &mut commands),
            None => {
                lines.push(names(plan, &self.points));
                commands.push(shell::line(&sources[0].manifest().provenance.command));
            }
        }
        if self.other_build > 0 {
            lines.push(format!(
                "{} points were simulated by another build of cemark, whose results are not mixed \
                 in: merge with the program that ran them, or run them again with this one",
                self.other_build
            ));
        }
        if self.damaged > 0 {
            lines.push("points whose files are damaged are run again by the same command".into());
        }
        commands.truncate(LISTED);
        let help = format!(
            "these commands run what is missing, and keep what is there:\n{}",
            commands.join("\n")
        );
        Failure::User(miette::miette!(help = help, "{}", lines.join("\n")))
    }

    /// Adds a line and a command for each part that lacks points.
    fn by_part(
        &self,
        plan: &Plan,
        sources: &[Source],
        parts: u32,
        lines: &mut Vec<String>,
        commands: &mut Vec<String>,
    ) {
        let lacks = (1..=parts).filter_map(|i| {
            let points = plan.part(i, parts);
            let lost: Vec<usize> = points
                .iter()
                .copied()
                .filter(|p| self.points.binary_search(p).is_ok())
                .collect();
            (!lost.is_empty()).then_some((i, points.len(), lost))
        });
        let lacks: Vec<(u32, usize, Vec<usize>)> = lacks.collect();
        for (i, all, lost) in lacks.iter().take(LISTED) {
            let is_it = |s: &&Source| is_part(s.manifest().part.as_ref(), *i, parts);
            let named = names(plan, lost);
            if let Some(source) = sources.iter().find(is_it) {
                let dir = source.path().display();
                lines.push(format!(
                    "part {i} of {parts} lacks {} of its {all} points in {dir}: {named}",
                    lost.len()
                ));
                commands.push(shell::line(&source.manifest().provenance.command));
            } else {
                lines.push(format!(
                    "part {i} of {parts} is not there, {} points: {named}",
                    lost.len()
                ));
                let one = sources.iter().find(|s| s.manifest().part.is_some());
                let command = one.map_or(&[][..], |s| &s.manifest().provenance.command);
                commands.push(shell::line(&of_part(command, *i, parts)));
            }
        }
        if let Some(more @ 1..) = lacks.len().checked_sub(LISTED) {
            lines.push(format!("{more} more parts lack points"));
        }
    }
}

fn is_part(part: Option<&Part>, number: u32, parts: u32) -> bool {
    part.is_some_and(|p| p.part == number && p.parts == parts)
}

/// The command of one part, as another part was started. Its directory is left out, since two parts
/// in one directory would wait for each other.
fn of_part(command: &[String], part: u32, parts: u32) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = command.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--part" | "--out" => drop(rest.next()),
            w if w.starts_with("--part=") || w.starts_with("--out=") => {}
            // What is finished must stay.
            "--fresh" => {}
            _ => words.push(word.clone()),
        }
    }
    words.extend(["--part".to_owned(), format!("{part}/{parts}")]);
    words
}

/// Some points by their names.
fn names(plan: &Plan, points: &[usize]) -> String {
    let some = points.iter().take(NAMED).map(|i| name(&plan.points[*i]));
    let mut text = some.collect::<Vec<_>>().join("; ");
    if let Some(more @ 1..) = points.len().checked_sub(NAMED) {
        text += &format!("; and {more} more");
    }
    text
}

fn name(point: &Point) -> String {
    let mut words: Vec<String> = point
        .axes
        .iter()
        .map(|(path, value)| {
            let key = Path::new(path)
                .extension()
                .map_or(path.as_str(), |key| key.to_str().unwrap_or(path));
            format!("{key} {value}")
        })
        .collect();
    words.push(point.scheme.clone());
    words.push(format!("seed {}", point.seed));
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::of_part;

    #[test]
    fn a_command_is_changed_to_another_part() {
        let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        for given in [
            "cemark run x.toml --part 1/4 --seeds 3",
            "cemark run x.toml --part=1/4 --seeds 3",
            "cemark run x.toml --out somewhere --part 1/4 --seeds 3 --fresh",
        ] {
            assert_eq!(
                of_part(&words(given), 3, 4).join(" "),
                "cemark run x.toml --seeds 3 --part 3/4"
            );
        }
    }
}
