// SPDX-License-Identifier: MIT OR Apache-2.0
//! Divides the points of a plan among several processes, perhaps on several machines, which do not
//! talk to each other.

use crate::plan::Plan;

/// Estimates are compared in steps of an eighth of a power of two, so that the last bits of a
/// floating-point number, in which machines may differ, decide nothing.
const STEPS: f64 = 8.0;

impl Plan {
    /// The points of part `part` of `parts` (the first is 1), in the order of the plan. Every point
    /// that is simulated ([`Plan::simulated_as`]) is in exactly one part, and the parts have about
    /// the same estimated cost. A part beyond the number of points is empty.
    pub fn part(&self, part: u32, parts: u32) -> Vec<usize> {
        let step = |cost: f64| (cost.max(1.0).log2() * STEPS).round() as u32;
        let first = self.simulated_as();
        let all = self.points.iter().enumerate();
        let mut order: Vec<(u32, usize)> = all
            .filter(|(i, _)| first[*i] == *i)
            .map(|(i, p)| (step(p.cost), i))
            .collect();
        // The longest first, each to the part that has least; of equals the first.
        order.sort_by_key(|(step, i)| (std::cmp::Reverse(*step), *i));
        let mut loads = vec![(0_u128, 0_usize); parts as usize];
        let mut ours = Vec::new();
        for (step, i) in order {
            let least = (0..loads.len()).min_by_key(|k| loads[*k]);
            let Some(least) = least else { break };
            loads[least].0 += weight(step);
            loads[least].1 += 1;
            if least as u32 + 1 == part {
                ours.push(i);
            }
        }
        ours.sort_unstable();
        ours
    }
}

/// The cost of a step, in integers: 2^(step / 8) to within a tenth, in sixteenths.
fn weight(step: u32) -> u128 {
    let eighths = [16, 17, 19, 21, 23, 25, 27, 29];
    eighths[step as usize % eighths.len()] << (step / 8).min(100)
}

#[cfg(test)]
mod tests {
    use crate::{Overrides, Plan, parse};

    /// Forty points, of which the ones at high load take much longer.
    fn plan() -> Plan {
        let text = "
seeds = 5
[topology]
kind = \"star\"
hosts = 8
[[workload]]
kind = \"poisson\"
sizes = \"web-search\"
load = 0.5
flows = 50
[[scheme]]
marker = \"threshold\"
[[scheme]]
marker = \"ecn_sharp\"
[sweep]
\"workload.load\" = [0.1, 0.3]
\"workload.flows\" = [20, 400]
";
        parse(text, "f.toml", &Overrides::default()).expect("a scenario")
    }

    #[test]
    fn every_point_is_in_one_part() {
        let plan = plan();
        for parts in [1, 2, 3, 4, 7, 40, 41, 100] {
            let mut all: Vec<usize> = (1..=parts).flat_map(|i| plan.part(i, parts)).collect();
            all.sort_unstable();
            assert_eq!(all, (0..plan.points.len()).collect::<Vec<_>>(), "{parts}");
        }
        assert_eq!(plan.part(1, 1).len(), 40);
        assert!(plan.part(41, 41).is_empty());
    }

    #[test]
    fn parts_cost_about_the_same() {
        let plan = plan();
        let all: f64 = plan.points.iter().map(|p| p.cost).sum();
        let longest = plan.points.iter().map(|p| p.cost).fold(0.0, f64::max);
        for parts in [2, 4, 5] {
            for i in 1..=parts {
                let cost: f64 = plan
                    .part(i, parts)
                    .iter()
                    .map(|p| plan.points[*p].cost)
                    .sum();
                let fair = all / f64::from(parts);
                assert!(
                    (cost - fair).abs() <= longest,
                    "{i}/{parts}: {cost} of {fair}"
                );
            }
        }
    }

    #[test]
    fn the_last_bits_of_a_cost_do_not_matter() {
        let mut plan = plan();
        let before: Vec<_> = (1..=4).map(|i| plan.part(i, 4)).collect();
        for p in &mut plan.points {
            p.cost *= 1.0 + 1e-12;
        }
        let after: Vec<_> = (1..=4).map(|i| plan.part(i, 4)).collect();
        assert_eq!(before, after);
    }

    #[test]
    fn weights_rise_and_double() {
        use super::weight;
        for step in 0..800 {
            assert!(weight(step + 1) > weight(step), "{step}");
            assert_eq!(weight(step + 8), 2 * weight(step), "{step}");
        }
    }
}
