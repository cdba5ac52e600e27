// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why packets were dropped, where a full buffer is not the only reason, and whether all schemes of
//! a table treat packets that are not ECN-capable in the same way.

use cemark_sim::config::NonEct;

use super::{Group, Row};
use crate::units;

/// The reasons that mean "there was no room", not a decision of a scheme, a policy or a fault.
const OVERFLOW: [&str; 4] = ["tail", "queue", "pool", "headroom"];

/// Line on the drops of all schemes, and a line where their policies differ. Empty if every drop is
/// an overflow and all policies are equal.
pub(crate) fn lines(group: &Group) -> Vec<String> {
    let decided = |row: &Row| {
        let reasons = row.drops_by.iter().filter(|(_, n)| **n > 0);
        reasons
            .map(|(why, _)| why)
            .any(|why| !OVERFLOW.contains(&why.as_str()))
    };
    let mut out = Vec::new();
    if group.rows.iter().any(decided) {
        let all: Vec<String> = group.rows.iter().map(reasons).collect();
        out.push(format!("drops: {}", all.join("; ")));
    }
    out.extend(unlike(group));
    out
}

/// `RED 4066 due a mark but not ECN-capable, 12 buffer full`.
fn reasons(row: &Row) -> String {
    let mut counted: Vec<(&String, u64)> = row.drops_by.iter().map(|(w, n)| (w, *n)).collect();
    counted.retain(|(_, n)| *n > 0);
    counted.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let each = counted
        .iter()
        .map(|(why, n)| format!("{} {}", units::count(*n as f64), words(why)));
    match counted.is_empty() {
        true => format!("{} none", row.scheme),
        false => format!("{} {}", row.scheme, each.collect::<Vec<_>>().join(", ")),
    }
}

/// A reason of the JSON in words.
fn words(why: &str) -> &str {
    match why {
        "tail" => "buffer full",
        "queue" => "queue at its limit",
        "pool" => "shared buffer full",
        "headroom" => "headroom full",
        "marker" => "dropped by the scheme",
        "not_ect" => "due a mark but not ECN-capable",
        "artificial" => "lost by a fault",
        other => other,
    }
}

/// Says which schemes drop and which forward the packets that they cannot mark, if the schemes
/// differ.
fn unlike(group: &Group) -> Option<String> {
    let of = |policy: NonEct| -> Vec<&str> {
        let rows = group.rows.iter().filter(|r| r.non_ect == Some(policy));
        rows.map(|r| r.scheme.as_str()).collect()
    };
    let (drop, forward) = (of(NonEct::Drop), of(NonEct::Forward));
    (!drop.is_empty() && !forward.is_empty()).then(|| {
        format!(
            "policies differ: packets due a mark but not ECN-capable are dropped under {}, \
             forwarded under {} (non-ect in [switch])",
            drop.join(", "),
            forward.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn row(scheme: &str, drops: &[(&str, u64)], non_ect: Option<NonEct>) -> Row {
        Row {
            scheme: scheme.to_owned(),
            baseline: false,
            cells: Vec::new(),
            counts: Vec::new(),
            flows: 0,
            unfinished: 0,
            drops_by: drops.iter().map(|(w, n)| ((*w).to_owned(), *n)).collect(),
            non_ect,
            shares: Default::default(),
            points: Vec::new(),
        }
    }

    fn said(rows: Vec<Row>) -> Vec<String> {
        lines(&Group {
            axes: BTreeMap::new(),
            classes: Vec::new(),
            rows,
            seeds: vec![1],
            standing: None,
            alike: None,
            device_packets: 0,
        })
    }

    #[test]
    fn overflow_alone_is_not_worth_a_line() {
        let forward = Some(NonEct::Forward);
        let rows = vec![
            row("a", &[("tail", 5), ("pool", 7), ("not_ect", 0)], forward),
            row("b", &[("queue", 1), ("headroom", 2)], forward),
            row("drop-tail", &[("tail", 9)], None),
        ];
        assert_eq!(said(rows), Vec::<String>::new());
    }

    #[test]
    fn other_reasons_are_named_for_every_scheme() {
        let forward = Some(NonEct::Forward);
        let rows = vec![
            row("RED", &[("tail", 12), ("not_ect", 4_066)], forward),
            row("CoDel", &[("marker", 3), ("artificial", 1)], forward),
            row("ECN#", &[("tail", 0)], forward),
        ];
        assert_eq!(
            said(rows),
            [
                "drops: RED 4066 due a mark but not ECN-capable, 12 buffer full; CoDel 3 dropped \
                     by the scheme, \
                 1 lost by a fault; ECN# none"
            ]
        );
    }

    #[test]
    fn policies_that_differ_are_said() {
        let rows = vec![
            row("RED", &[("not_ect", 1)], Some(NonEct::Drop)),
            row("ECN#", &[], Some(NonEct::Forward)),
            row("drop-tail", &[], None),
        ];
        let lines = said(rows);
        assert_eq!(lines.len(), 2);
        assert_eq!(
            lines[1],
            "policies differ: packets due a mark but not ECN-capable are dropped under RED, \
             forwarded under ECN# (non-ect in [switch])"
        );
    }
}
