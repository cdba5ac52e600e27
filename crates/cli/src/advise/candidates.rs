// SPDX-License-Identifier: MIT OR Apache-2.0
//! Thresholds that a search tries: other rules, published sets, multiples.

use crate::init::Bound;
use crate::thresholds::Curve;

/// Multiples of the thresholds: of the only class, and of each of several.
const OF_ONE: [f64; 8] = [0.125, 0.25, 0.5, 0.7, 1.4, 2.0, 4.0, 8.0];
const OF_EACH: [f64; 4] = [0.25, 0.5, 2.0, 4.0];
/// Multiples of the best thresholds, at RTTs that are off.
const NEAR: [f64; 4] = [0.5, 0.7, 1.4, 2.0];
/// Shortest threshold that is tried, in bytes: a packet.
const SHORTEST: u64 = 1_500;

/// The thresholds of the rule first; then each class by every other rule and published set, and
/// multiples of the thresholds of each class, and of all. Uplinks have them in proportion where
/// those of the rule are.
pub(super) fn candidates(rule: &Bound, classes: &[(&str, Vec<Curve>)], cell: u64) -> Vec<Bound> {
    let shape = |bound: &Bound| -> Vec<(u64, u64, u64)> {
        let curves = bound.curves.iter();
        curves.map(|c| (c.low, c.high, c.height)).collect()
    };
    let factors: &[f64] = match classes.len() {
        1 => &OF_ONE,
        _ => &OF_EACH,
    };
    let mut all = vec![rule.clone()];
    let mut add = |label: String, curves: Vec<Curve>| {
        let comment = String::new();
        let bound = Bound {
            label,
            comment,
            curves,
        };
        if !all.iter().any(|other| shape(other) == shape(&bound)) {
            all.push(bound);
        }
    };
    for (i, (class, curves)) in classes.iter().enumerate() {
        let with = |curve: Curve| {
            let mut curves = rule.curves.clone();
            let by_rate = curves[i].by_rate;
            curves[i] = Curve { by_rate, ..curve };
            curves
        };
        let label = |word: String| match classes.len() {
            1 => word,
            _ => format!("{class}: {word}"),
        };
        for curve in &curves[1..] {
            add(label(curve.name.clone()), with(curve.clone()));
        }
        for factor in factors {
            add(
                label(format!("x{factor}")),
                with(times(&rule.curves[i], *factor, cell)),
            );
        }
    }
    if classes.len() > 1 {
        for factor in OF_EACH {
            let curves = rule.curves.iter().map(|curve| times(curve, factor, cell));
            add(format!("all x{factor}"), curves.collect());
        }
    }
    all
}

/// The thresholds of the rule, the best at the measured RTTs, and multiples of the best.
pub(super) fn around(rule: &Bound, best: &Bound, cell: u64) -> Vec<Bound> {
    let mut all = vec![rule.clone()];
    if best.label != rule.label {
        all.push(best.clone());
    }
    all.extend(NEAR.iter().map(|factor| {
        Bound {
            label: format!("{} x{factor}", best.label),
            curves: best
                .curves
                .iter()
                .map(|curve| times(curve, *factor, cell))
                .collect(),
            ..best.clone()
        }
    }));
    all
}

/// A multiple of both thresholds, in whole cells.
fn times(curve: &Curve, factor: f64, cell: u64) -> Curve {
    let cells = |bytes: u64| {
        let bytes = ((bytes as f64 * factor).round() as u64).max(SHORTEST);
        (bytes / cell).max(1) * cell
    };
    Curve {
        low: cells(curve.low),
        high: cells(curve.high),
        ..curve.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::{around, candidates};
    use crate::init::Bound;
    use crate::thresholds::{Base, Curve, Ports, curves};

    fn of(control: &str) -> Vec<Curve> {
        let base = Base {
            mean: 40_000_000,
            tail: 80_000_000,
        };
        let ports = Ports {
            rate: 25_000_000_000,
            most: u64::MAX,
            cell: 1,
        };
        curves(control, base, ports)
    }

    #[test]
    fn every_candidate_differs_and_the_rule_is_first() {
        let classes = [("storage", of("dcqcn")), ("rest", of("dctcp"))];
        let rule = Bound {
            label: "by rule".to_owned(),
            comment: String::new(),
            curves: classes
                .iter()
                .map(|(_, curves)| curves[0].clone())
                .collect(),
        };
        let all = candidates(&rule, &classes, 1);
        assert_eq!(all[0].label, "by rule");
        let shapes: std::collections::BTreeSet<Vec<(u64, u64, u64)>> = all
            .iter()
            .map(|b| b.curves.iter().map(|c| (c.low, c.high, c.height)).collect())
            .collect();
        assert_eq!(shapes.len(), all.len());
        let named = |label: &str| all.iter().find(|b| b.label == label).expect("a candidate");
        assert_eq!(named("storage: nvue").curves[0].high, 1_500_000);
        assert_eq!(named("storage: nvue").curves[1], rule.curves[1]);
        assert_eq!(named("rest: 0.17 C RTT, p90").curves[1].low, 42_500);
        assert_eq!(named("all x2").curves[0].low, 2 * rule.curves[0].low);
        // SimAI's set is HPCC's at this rate.
        assert!(all.iter().all(|b| b.label != "storage: simai"));
        // Uplinks have thresholds in proportion in all of them, or in none.
        assert!(all.iter().all(|b| b.curves.iter().all(|c| c.by_rate)));
        let near = around(&rule, named("all x2"), 1);
        assert_eq!(near.len(), 6);
        assert_eq!(near[2].curves[0].low, rule.curves[0].low);
        let cells = candidates(&rule, &classes, 256);
        let own = cells.iter().filter(|b| b.label.contains(": x"));
        assert!(own.clone().count() > 4);
        assert!(
            own.flat_map(|b| &b.curves)
                .all(|c| { rule.curves.contains(c) || c.low % 256 == 0 && c.high % 256 == 0 })
        );
    }
}
