// SPDX-License-Identifier: MIT OR Apache-2.0
//! Findings as SARIF 2.1.0 (OASIS), which code review and continuous integration show beside the
//! lines of a file.

use cemark_platform::{Finding, RULES, Rule};
use serde_json::{Value, json};

use super::Answer;
use super::text::shown;

pub(super) fn answer(all: &Answer) -> Value {
    let rules: Vec<Value> = RULES.iter().map(|one| rule(one)).collect();
    let results: Vec<Value> = all.findings().map(|f| result(all, f)).collect();
    let validated = all
        .yang
        .iter()
        .map(|line| json!({ "ruleId": "yang", "level": "error", "message": { "text": line } }));
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "cemark doctor",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "results": results.into_iter().chain(validated).collect::<Vec<_>>(),
        }],
    })
}

fn rule(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "name": rule.name,
        "shortDescription": { "text": rule.why },
        "fullDescription": { "text": format!("{} {}", rule.why, rule.packets) },
        "help": { "text": rule.evidence.join("\n") },
        "defaultConfiguration": { "level": rule.level.name() },
    })
}

fn result(all: &Answer, finding: &Finding) -> Value {
    let index = RULES.iter().position(|rule| rule.id == finding.rule.id);
    let places = finding.places.iter().map(|place| {
        let file = all.files.get(place.file).map_or("", String::as_str);
        json!({ "physicalLocation": {
            "artifactLocation": { "uri": uri(file) },
            "region": { "startLine": place.line.max(1) },
        } })
    });
    json!({
        "ruleId": finding.rule.id,
        "ruleIndex": index,
        "level": finding.level.name(),
        "message": { "text": format!("{}. {}", shown(&finding.message), finding.remedy) },
        "locations": places.collect::<Vec<_>>(),
    })
}

/// A path as a reference of RFC 3986.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'~' => out.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => out.push(byte.into()),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
