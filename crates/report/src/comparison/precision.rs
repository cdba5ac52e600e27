// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rule by which a run with a stated precision ends: a block of it (all schemes at one value of
//! the axes) stops at the first look at which every cell that decides is known as narrowly as
//! asked.

use cemark_scenario::Precision;

use super::Group;
use super::sentence;
use crate::metrics::{self, Metric};
use crate::stats::Statistic;
use crate::stats::sequential::{FIRST_INTERVAL, expected_look, first_guess};
use crate::units;

/// A metric without a value in this many replications is taken as absent: a scenario without flows
/// above 10 MB must not run on for their mean.
const ABSENT_AFTER: u32 = 6;

/// How far the precision is reached in one block.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Replications so far.
    pub replications: u32,
    /// Most replications.
    pub most: u32,
    /// Half of the interval that was asked for, in percentage points.
    pub within: f64,
    /// The metrics that decide.
    pub metrics: Vec<Known>,
}

/// How well one metric is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// Which one.
    pub metric: &'static Metric,
    /// Whether any scheme can be compared by it.
    pub present: bool,
    /// Half of the widest interval among the schemes, in percentage points; `None` where a scheme
    /// has none.
    pub half: Option<f64>,
}

impl Standing {
    /// Standing of a block whose comparisons have the intervals of its look.
    pub fn of(group: &Group, precision: &Precision) -> Self {
        let decide = deciding(group, precision).into_iter();
        Standing {
            replications: group.seeds.len() as u32,
            most: precision.most,
            within: precision.within,
            metrics: decide.map(|metric| known(group, metric)).collect(),
        }
    }

    /// Whether everything that decides is known as narrowly as asked. Where nothing can be
    /// compared, nothing is reached.
    pub fn reached(&self) -> bool {
        let narrow = |k: &Known| k.half.is_some_and(|half| half <= self.within);
        let absent = |k: &Known| !k.present && self.replications >= ABSENT_AFTER;
        self.metrics.iter().any(narrow) && self.metrics.iter().all(|k| narrow(k) || absent(k))
    }

    /// Whether the block stops here: the precision is reached, there are no more replications, or
    /// there is nothing that more of them could decide.
    pub fn stops(&self) -> bool {
        let nothing = self.replications >= ABSENT_AFTER && self.metrics.iter().all(|k| !k.present);
        self.reached() || nothing || self.replications >= self.most
    }

    /// The replications after which the block will probably stop.
    pub fn expected(&self) -> u32 {
        if self.stops() {
            return self.replications;
        }
        if self.metrics.iter().all(|k| k.half.is_none()) {
            // The number of a block that has no intervals, though it should, is its largest.
            return match self.replications < FIRST_INTERVAL {
                true => first_guess(self.most),
                false => self.most,
            };
        }
        let present = self.metrics.iter().filter(|k| k.present);
        let each = present.map(|k| {
            let half = k.half.unwrap_or(f64::INFINITY);
            expected_look(half, self.within, self.replications, self.most)
        });
        each.max().unwrap_or(self.most)
    }

    /// `6 replications: short mean ±1.7, large mean ±4.9 points (asked ±5)`.
    pub fn brief(&self) -> String {
        let plural = if self.replications == 1 { "" } else { "s" };
        let mut text = format!("{} replication{plural}", self.replications);
        let halves: Vec<String> = self.metrics.iter().filter_map(Known::brief).collect();
        if !halves.is_empty() {
            text += &format!(": {} points", halves.join(", "));
        }
        text + &format!(" (asked ±{})", self.within)
    }

    /// The sentence under a table.
    pub(crate) fn sentence(&self) -> String {
        let known: Vec<String> = self.metrics.iter().filter_map(Known::brief).collect();
        let names: Vec<String> = self.metrics.iter().map(Known::name).collect();
        let (names, within) = (sentence::list(&names), self.within);
        let missing: Vec<String> = self
            .metrics
            .iter()
            .filter(|k| !k.present)
            .map(Known::name)
            .collect();
        let mut text = match (self.reached(), self.replications >= self.most) {
            (true, _) => format!(
                "Precision: all differences of {names} are known to ±{within} percentage points \
                 (at widest {})",
                sentence::list(&known)
            ),
            (false, true) => format!(
                "Precision: not reached after the most replications, {}: asked ±{within} \
                 percentage points for {names}{}",
                self.most,
                widest(&known)
            ),
            (false, false) => format!(
                "Precision: asked ±{within} percentage points for {names}{}",
                widest(&known)
            ),
        };
        if self.replications >= ABSENT_AFTER && !missing.is_empty() {
            text += &format!(
                "; no flow or sample gives {} here",
                sentence::list(&missing)
            );
        }
        text + ". No other column decides when the run ends."
    }
}

fn widest(known: &[String]) -> String {
    match known.is_empty() {
        true => String::new(),
        false => format!(", at widest {}", sentence::list(known)),
    }
}

impl Known {
    /// `short mean`.
    fn name(&self) -> String {
        self.metric.key.replace('.', " ")
    }

    /// `short mean ±1.7`; `None` without an interval.
    fn brief(&self) -> Option<String> {
        self.half
            .map(|half| format!("{} ±{}", self.name(), units::points(half)))
    }
}

/// The metrics that decide: those that the scenario names, or the means among those of the first
/// topic that was measured: short and large flows, or all flows, or queues and goodput.
fn deciding(group: &Group, precision: &Precision) -> Vec<&'static Metric> {
    if precision.metrics.is_empty() {
        return headline(group).into_iter().filter(|m| decides(m)).collect();
    }
    let named = precision.metrics.iter();
    named.filter_map(|key| metrics::find(key)).collect()
}

/// The metrics of the first topic that was measured.
fn headline(group: &Group) -> Vec<&'static Metric> {
    let topic = |m: &Metric| Some(m.column.as_ref()?.sentence?.0);
    let named: Vec<_> = metrics::compared()
        .filter(|m| topic(m).is_some() && group.has(m))
        .collect();
    let first = named.iter().filter_map(|m| topic(m)).min();
    named.into_iter().filter(|m| topic(m) == first).collect()
}

/// Whether a metric may decide: not a percentile.
fn decides(metric: &Metric) -> bool {
    let percentile = matches!(metric.of_pairs(), Some(Statistic::Percentile(_)));
    !percentile && !metric.key.ends_with(".p99")
}

fn known(group: &Group, metric: &'static Metric) -> Known {
    let others = || group.rows.iter().filter(|row| !row.baseline);
    let mut half = Some(0.0_f64);
    let mut present = false;
    for row in others() {
        let against = row.cell(metric).against;
        present |= against.is_some();
        let own = against
            .and_then(|c| c.interval)
            .map(|(low, high)| 0.5 * (high - low));
        half = half.zip(own).map(|(widest, own)| widest.max(own));
    }
    Known {
        metric,
        present,
        half: half.filter(|_| present),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After this many replications, with these halves of short and large flows; `None` for a
    /// metric that no scheme has a value for, and infinity for one without an interval.
    fn standing(replications: u32, halves: [Option<f64>; 2]) -> Standing {
        let keys = ["short.mean", "large.mean"];
        let known = keys.iter().zip(halves).map(|(key, half)| Known {
            metric: metrics::find(key).expect("a metric"),
            present: half.is_some(),
            half: half.filter(|h| h.is_finite()),
        });
        Standing {
            replications,
            most: 64,
            within: 5.0,
            metrics: known.collect(),
        }
    }

    #[test]
    fn a_block_stops_where_everything_is_narrow() {
        let infinite = f64::INFINITY;
        for (replications, halves, reached, stops) in [
            (3, [Some(4.9), Some(5.0)], true, true),
            (3, [Some(4.9), Some(5.1)], false, false),
            (48, [Some(4.9), Some(5.1)], false, false),
            (64, [Some(4.9), Some(5.1)], false, true),
            // Too few values for an interval: it continues.
            (24, [Some(1.0), Some(infinite)], false, false),
            // No large flows: waited for until there are six replications.
            (4, [Some(1.0), None], false, false),
            (6, [Some(1.0), None], true, true),
            (6, [Some(9.0), None], false, false),
            // Nothing to compare: more replications would not help.
            (4, [None, None], false, false),
            (6, [None, None], false, true),
        ] {
            let s = standing(replications, halves);
            assert_eq!((s.reached(), s.stops()), (reached, stops), "{s:?}");
        }
    }

    #[test]
    fn what_is_expected_follows_the_widest_interval() {
        assert_eq!(standing(2, [Some(f64::INFINITY); 2]).expected(), 8);
        assert_eq!(standing(6, [Some(f64::INFINITY); 2]).expected(), 64);
        assert_eq!(standing(6, [Some(1.0), Some(4.0)]).expected(), 6);
        let (narrow, wide) = (
            standing(6, [Some(1.0), Some(6.0)]).expected(),
            standing(6, [Some(1.0), Some(15.0)]).expected(),
        );
        assert!(6 < narrow && narrow < wide && wide < 64, "{narrow} {wide}");
        assert_eq!(standing(6, [Some(15.0), None]).expected(), wide);
    }

    #[test]
    fn what_is_said() {
        assert_eq!(
            standing(6, [Some(1.71), Some(12.3)]).brief(),
            "6 replications: short mean ±1.7, large mean ±12 points (asked ±5)"
        );
        assert_eq!(
            standing(1, [Some(f64::INFINITY); 2]).brief(),
            "1 replication (asked ±5)"
        );
        let said = |n: u32, halves| standing(n, halves).sentence();
        assert!(said(8, [Some(1.0), Some(2.0)]).starts_with(
            "Precision: all differences of short mean and large mean are known to ±5 percentage \
             points (at widest short mean ±1.0 and large mean ±2.0)."
        ));
        assert!(said(64, [Some(1.0), Some(9.0)]).contains("not reached after the most"));
        assert!(said(6, [Some(1.0), None]).contains("no flow or sample gives large mean here"));
    }
}
