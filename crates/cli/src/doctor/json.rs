// SPDX-License-Identifier: MIT OR Apache-2.0
//! Findings as a JSON document.

use cemark_platform::{Finding, Level, Rule};
use serde_json::{Value, json};

use super::Answer;
use super::text::shown;

pub(super) fn answer(all: &Answer) -> Value {
    let switches = all.judged.iter().map(|judged| {
        let switch = &judged.switch;
        json!({
            "part": switch.part,
            "profiles": switch.profiles.keys().map(|name| shown(name)).collect::<Vec<_>>(),
            "queues": switch.queues.len(),
            "ports": switch.ports.len(),
            "not_read": switch.unread,
            "findings": judged.findings.iter().map(|f| finding(all, f)).collect::<Vec<_>>(),
        })
    });
    json!({
        "cemark": env!("CARGO_PKG_VERSION"),
        "platform": all.platform.name(),
        "files": all.files,
        "switches": switches.collect::<Vec<_>>(),
        "yang": all.yang,
        "errors": all.count(Level::Error),
        "warnings": all.count(Level::Warning),
    })
}

fn finding(all: &Answer, finding: &Finding) -> Value {
    let places = finding.places.iter().map(|place| {
        json!({
            "file": all.files.get(place.file),
            "line": place.line,
            "path": shown(&place.path),
        })
    });
    json!({
        "rule": finding.rule.id,
        "name": finding.rule.name,
        "level": finding.level.name(),
        "subject": shown(&finding.subject),
        "message": shown(&finding.message),
        "why": finding.rule.why,
        "packets": finding.rule.packets,
        "remedy": shown(&finding.remedy),
        "evidence": finding.rule.evidence,
        "places": places.collect::<Vec<_>>(),
        "ports": finding.ports.iter().map(|port| shown(port)).collect::<Vec<_>>(),
    })
}

/// A rule.
pub(super) fn rule(rule: &Rule) -> Value {
    json!({
        "rule": rule.id,
        "name": rule.name,
        "level": rule.level.name(),
        "why": rule.why,
        "packets": rule.packets,
        "evidence": rule.evidence,
    })
}
