// SPDX-License-Identifier: MIT OR Apache-2.0
//! Findings for people.

use std::fmt::Write as _;

use cemark_platform::{Finding, Level, Place};
use cemark_report::text::hang;

use super::{Answer, Judged, counted};

/// Most places and ports that a finding shows.
const MOST: usize = 4;
/// Longest name that is shown.
const LONGEST: usize = 120;

pub(super) fn answer(all: &Answer, width: usize) -> String {
    let mut out = format!("{}: {}\n", all.files.join(", "), all.platform.title());
    for judged in &all.judged {
        let _ = writeln!(out, "{}", hang(&read(judged), width, 0));
        if !judged.switch.whole {
            out += "a fragment: profiles and bindings that it lacks are not judged\n";
        }
        for finding in &judged.findings {
            out.push('\n');
            out += &one(all, &judged.switch.part, finding, width);
        }
    }
    for line in &all.yang {
        let _ = write!(out, "\nerror[yang] {}\n", hang(line, width, 2));
    }
    if all.count(Level::Error) + all.count(Level::Warning) == 0 {
        out += "\nno finding in what was read\n";
    }
    out
}

/// The parts of a switch that were read, and those that were not.
fn read(judged: &Judged) -> String {
    let switch = &judged.switch;
    let part = match switch.part.is_empty() {
        true => String::new(),
        false => format!("{}: ", switch.part),
    };
    let read = [
        counted(switch.profiles.len(), "profile"),
        counted(switch.queues.len(), "queue"),
        counted(switch.ports.len(), "port"),
    ];
    let unread: Vec<&str> = switch.unread.keys().map(String::as_str).collect();
    match unread.is_empty() {
        true => format!("{part}{}", read.join(", ")),
        false => format!("{part}{}; not read: {}", read.join(", "), unread.join(", ")),
    }
}

fn one(all: &Answer, part: &str, finding: &Finding, width: usize) -> String {
    let rule = finding.rule;
    let part = match part.is_empty() {
        true => String::new(),
        false => format!("{part}: "),
    };
    let head = format!(
        "{}[{}] {part}{}",
        finding.level.name(),
        rule.id,
        shown(&finding.message)
    );
    let mut out = format!("{}\n", hang(&head, width, 2));
    let mut row = |name: &str, said: &str| {
        let _ = writeln!(out, "  {name:<8} {}", hang(said, width, 11));
    };
    for place in finding.places.iter().take(MOST) {
        row("at", &at(all, place));
    }
    if let Some(more @ 1..) = finding.places.len().checked_sub(MOST) {
        row("at", &format!("and {}", counted(more, "more place")));
    }
    if !finding.ports.is_empty() {
        row("ports", &ports(finding));
    }
    row("why", rule.why);
    row("packets", rule.packets);
    row("remedy", &finding.remedy);
    row("evidence", rule.evidence[0]);
    out
}

/// A place as `file:line path`.
fn at(all: &Answer, place: &Place) -> String {
    let file = all.files.get(place.file).map_or("", String::as_str);
    match place.line {
        0 => shown(&place.path),
        line => format!("{file}:{line} {}", shown(&place.path)),
    }
}

fn ports(finding: &Finding) -> String {
    let first: Vec<String> = finding.ports.iter().take(MOST).map(|p| shown(p)).collect();
    match finding.ports.len().checked_sub(MOST) {
        Some(more @ 1..) => format!("{} and {more} more", first.join(", ")),
        _ => first.join(", "),
    }
}

/// A name of a configuration, cut where no switch has so long a one.
pub(super) fn shown(text: &str) -> String {
    match text.chars().count() > 4 * LONGEST {
        true => text.chars().take(LONGEST).collect::<String>() + "…",
        false => text.to_owned(),
    }
}
