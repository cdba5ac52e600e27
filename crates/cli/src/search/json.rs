// SPDX-License-Identifier: MIT OR Apache-2.0
//! The answer of a search as a JSON document.

use std::path::Path;

use cemark_report::stats::Comparison;
use cemark_search::{End, Found};
use serde_json::{Value, json};

use super::Search;

/// Version of the document.
const SCHEMA: u32 = 1;

/// The document of `cemark search --format json` (docs/search.md).
pub(super) fn document(search: &Search, found: &Found, dir: &Path) -> Value {
    let (aim, base) = (&search.aim, search.base);
    let keyed = |values: &[String]| -> serde_json::Map<String, Value> {
        let pairs = search.keys.iter().cloned().zip(values.iter().cloned());
        pairs.map(|(path, value)| (path, value.into())).collect()
    };
    let candidates: Vec<Value> = found
        .estimates
        .iter()
        .enumerate()
        .map(|(i, e)| {
            json!({
                "values": keyed(&search.values[i]),
                "baseline": i == base,
                "replications": e.replications,
                "value": e.value,
                "percent": e.percent,
                "bounds": e.bounds,
                "bound_values": e.bound_values,
                "holds": e.holds(),
                "front": e.is_on_front,
            })
        })
        .collect();
    let confirmed = found.confirmed.as_ref().map(|c| {
        let bounds = c.bounds.iter().map(|b| b.map(difference));
        json!({
            "replications": c.replications,
            "goal": c.goal.map(difference),
            "bounds": bounds.collect::<Vec<_>>(),
        })
    });
    let (end, lacks) = match found.end {
        End::Known => ("known", None),
        End::NoMore => ("no_more_replications", None),
        End::Spent { lacks } => ("budget", Some(lacks)),
    };
    json!({
        "schema": SCHEMA,
        "scenario": search.plan.name,
        "scheme": search.scheme,
        "for": aim.goal.key(),
        "unit": aim.goal.metric.unit.name(),
        "bounds": aim.bounds.iter().map(|b| b.text()).collect::<Vec<_>>(),
        "candidates": candidates,
        "best": found.best.map(|best| keyed(&search.values[best])),
        "confirmed": confirmed,
        "end": end,
        "lacks_cpu_seconds": lacks,
        "points": found.points,
        "cpu_seconds": found.cpu_seconds,
        "directory": dir.display().to_string(),
    })
}

/// A difference in percent with its interval.
pub(crate) fn difference(c: Comparison) -> Value {
    json!({
        "percent": c.percent,
        "low": c.interval.map(|i| i.0),
        "high": c.interval.map(|i| i.1),
    })
}
