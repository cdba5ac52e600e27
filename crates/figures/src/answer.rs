// SPDX-License-Identifier: MIT OR Apache-2.0
//! The answer of a figure that asks what part of a gain other schemes get: one sentence.

use super::result::{FigureRun, PartResult, RowResult};

/// The unit, in `figures/targets.tsv`, of the rows that are the answer.
const UNIT: &str = "% of the gain";

/// A sentence for each row whose numbers are parts of a gain.
pub(super) fn answers(run: &FigureRun) -> String {
    let is_answer = |row: &&RowResult| row.parts.iter().all(|p| p.unit == UNIT);
    run.rows
        .iter()
        .filter(is_answer)
        .map(|row| {
            let parts: Vec<String> = row.parts.iter().map(said).collect();
            format!("{}: {}.", row.experiment, parts.join("; "))
        })
        .collect::<Vec<_>>()
        .join(" ")
}

fn said(part: &PartResult) -> String {
    let name = &part.statistic;
    match (part.measured, part.low, part.high) {
        (Some(measured), Some(low), Some(high)) => {
            format!("{name} {measured:.0} % ({low:.0} to {high:.0})")
        }
        (Some(measured), ..) => format!("{name} {measured:.0} %, without an interval"),
        _ => format!("{name} was not measured"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(json: &str) -> PartResult {
        serde_json::from_str(json).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn a_part_of_a_gain_is_said_with_its_interval() {
        let whole = r#"{"id": "X.a", "statistic": "ramp", "unit": "% of the gain",
            "published": null, "measured": 56.4, "low": 43.4, "high": 69.5, "method": "METHOD",
            "lo": null, "hi": null, "verdict": null, "matches_value": null, "note": ""}"#;
        let whole = whole.replace("METHOD", "seeds");
        assert_eq!(said(&part(&whole)), "ramp 56 % (43 to 70)");
        let none = whole.replace("43.4", "null");
        assert_eq!(said(&part(&none)), "ramp 56 %, without an interval");
        let none = whole.replace("56.4", "null");
        assert_eq!(said(&part(&none)), "ramp was not measured");
    }
}
