// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[row]]`: which number is taken from a figure's points. The band it is judged by stands in
//! `figures/targets.tsv`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::full::Full;
use crate::stats::{SizeClass, Statistic as FctStatistic};

/// One number of a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Row {
    /// The line of `targets.tsv`: `ECNSHARP-T18.a`.
    pub id: String,
    /// How it is formed.
    pub statistic: Statistic,
    /// Of what: `short.p99`, `queue.mean`, `drops` … (see [`Metric`]); for `rtt`, `sizes`,
    /// `division`, `dcib` and `cedm` what is taken of the model.
    #[serde(default)]
    pub metric: String,
    /// Label of the scheme in question.
    #[serde(default)]
    pub scheme: String,
    /// Label of the scheme it is compared with.
    #[serde(default)]
    pub against: String,
    /// Labels, in an order that matters to the statistic.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// The second metric of `argmin-differs` and `gain-beyond`.
    #[serde(default)]
    pub other_metric: String,
    /// The points in question: a value or several for an axis, named by the last words of its path
    /// (`load = [0.5, 0.6]`). An axis that is not named is not restricted.
    #[serde(default, rename = "where")]
    pub selection: BTreeMap<String, OneOrMany>,
    /// Subtracts the same statistic at points that differ in these axes.
    pub minus: Option<BTreeMap<String, OneOrMany>>,
    /// One number from several cells. Without it there must be one.
    pub over: Option<Over>,
    /// Only flows of this workload.
    pub workload: Option<String>,
    /// Only the switch port whose name ends like this (`->host16`); otherwise the one with the
    /// longest mean queue.
    pub port: Option<String>,
    /// The axis that `onset` and `growth` walk along.
    pub axis: Option<String>,
    /// Divides the number by this (a threshold, to make shares of it).
    pub unit: Option<f64>,
    /// Only endless flows of this queue class, for `share`, `settling` and `goodput`.
    pub class: Option<u8>,
    /// Is subtracted from the metric in every seed before anything is compared (a base RTT, to
    /// leave the queueing delay).
    pub base: Option<f64>,
    /// The RTT model, size table or quotient of `rtt`, `rtt-ratio`, `sizes` and `division`, or the
    /// numbers of `dcib` and `cedm`.
    pub model: Option<String>,
}

/// How a number is formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// The metric itself.
    Value,
    /// `scheme / against`.
    Ratio,
    /// Percent by which `scheme` lies above `against`.
    Excess,
    /// Percent by which `scheme` lies below `against`.
    Gain,
    /// `scheme - against`, in the metric's unit.
    Difference,
    /// Percent gained on `metric` minus percent gained on `other-metric`: which of two classes
    /// profits more.
    GainBeyond,
    /// Percent by which `scheme` lies above the best of `schemes` (without itself), cell by cell.
    ExcessOverBest,
    /// The smallest percent step from one of `schemes` to the next.
    SmallestStep,
    /// With A the best of `schemes` for `metric` and B that for `other-metric`: the percent lost on
    /// `metric` by B, or on `other-metric` by A, whichever is less. Zero where one scheme is best
    /// for both.
    ArgminDiffers,
    /// Percent by which the largest of `schemes` lies above the smallest.
    Spread,
    /// Percent of the quantiles of what endless flows delivered at which `scheme` lies above
    /// `against`: the flow that got least against the one that got least, and so on. Of
    /// `delivered`.
    QuantilesAbove,
    /// With A, B the two of `schemes`: which part of the way from A to B `scheme` has gone, (A -
    /// scheme) / (A - B), in percent of A. Where A and B are not two standard deviations apart it
    /// says nothing.
    GapClosed,
    /// The first value of `axis` at which the metric is above zero; one step past the last where it
    /// never is. Less that of `against`, where it is given.
    Onset,
    /// How the metric grows along `axis`: the slope of its logarithm over that of the axis (1: in
    /// proportion; 0.5: as the root), the least-squares line through all selected points. The axis
    /// is the first number in what is written (`"20 Gb/s"` is 20).
    Growth,
    /// Of 1e6 draws of an RTT model (`stack`, or `fitted stack`): `mean`, `std`, `p90`, `p99`, in
    /// microseconds.
    Rtt,
    /// Ratio of the means of two RTT models: `model` over `against`.
    RttRatio,
    /// Of a size table, or of several that offer the same load each (`a + b`): `mean` in bytes;
    /// `below 24000`, a probability; `share below 24000`, of the short flows in percent;
    /// `bytes below 24000`, of all bytes in percent.
    Sizes,
    /// One number over another, as the paper computes it: `9000 / 1250`.
    Quotient,
    /// Of ECN#'s table division (`corrected 1000` or `printed 1000`: Algorithm 3 and the interval),
    /// before rounding, over counts of 1 to 100: `worst` and `mean` error against the exact
    /// quotient in percent, or its mean `share` of that.
    Division,
    /// DCIB's arithmetic, of the numbers in `model`: `share` of `2e6 10 10` (B in bytes, tau in ms,
    /// C in Gb/s: B / (tau C)), `buffer` of `0.1 6 10` (r tau C in MB), `bound` of `0.1` (by the
    /// square-root law, the factor that a share r of losses made good can give).
    Dcib,
    /// CEDM's arithmetic, of the numbers in `model`: `smooth` of `10 100` (Gb/s, us: 0.17 C d in
    /// packets), `bursts` of `10 100 2 1/3` (with flows and the part of a window that a cut takes:
    /// the threshold under bursts), `increase` (the second above the first, in percent).
    Cedm,
}

/// One number from several cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// Their mean.
    Mean,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// The one farthest from zero.
    Farthest,
    /// The median cell (the lower one of an even number): what holds at most of them.
    Median,
    /// The largest but one: what all cells but one stay below.
    NextToMax,
    /// The largest lower end of their intervals, a number without interval of its own: what no cell
    /// clearly exceeds.
    HighestLow,
}

/// A value of an axis, or several.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// Any of these. (First, or else a list would be read as one value.)
    Many(Vec<toml::Value>),
    /// One.
    One(toml::Value),
}

impl OneOrMany {
    /// Whether an axis value as written is meant: `0.5` is `0.50`.
    pub fn has(&self, written: &str) -> bool {
        let one = |v: &toml::Value| {
            let said = v.as_str().map_or_else(|| v.to_string(), str::to_owned);
            said == written
                || matches!((said.parse::<f64>(), written.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
        };
        match self {
            OneOrMany::One(value) => one(value),
            OneOrMany::Many(values) => values.iter().any(one),
        }
    }
}

/// What is measured at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// Completion time of a size class in microseconds: `overall.mean`, `short.p99`, `large.mean`,
    /// `not-short.mean` …
    Fct(Sizes, FctStatistic),
    /// Queue length of a port in packets of 1500 bytes: `queue.mean`, `.p50`, `.p99`, `.min`,
    /// `.max`, `.swing`.
    Queue(Part),
    /// When the queue of the traced port is full, in milliseconds: `full.first`, `full.for`,
    /// `full.longest` (see [`super::full`]).
    Full(Full),
    /// `utilisation` of a port in percent.
    Utilisation,
    /// Packets discarded: `drops`.
    Drops,
    /// Payload that endless flows delivered, in MB: `delivered` of all; `delivered.min`, `.p50`,
    /// `.max` of one flow, `delivered.last` of the last one, `delivered.mean` of the others, and
    /// `delivered.last-of-fair`: the last one's in percent of an equal part of all.
    Delivered(Flow),
    /// A count of the boxes at the edges of two sites: `edge.stalled_peak_bytes` (docs/dcib.md).
    Edge(&'static str),
    /// CE written: `marks`.
    Marks,
    /// Retransmission timeouts: `timeouts`; of one workload's measured flows where the row names
    /// one.
    Timeouts,
    /// Round trips of probes in microseconds: `rtt.mean`, `rtt.p50`, `rtt.p95`, `rtt.p99`.
    Rtt(FctStatistic),
    /// Payload of all endless flows in Mb/s while it is measured, or of those of the row's class:
    /// `goodput`.
    Goodput,
    /// Percent of that payload which flows of the row's class have: `share`.
    Share,
    /// Milliseconds until the share of the row's class has come near half of the whole: `settling`
    /// (see [`super::endless`]).
    Settling,
    /// Segments sent again by the measured flows (of one workload): `lost`. What drops cost the
    /// flows in question, while `drops` counts those of everybody.
    Lost,
}

/// Of which endless flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// All together.
    All,
    /// The one that delivered least.
    Min,
    /// The median.
    P50,
    /// The one that delivered most.
    Max,
    /// The last in order of number.
    Last,
    /// The mean of all but the last.
    Others,
    /// The last in percent of the mean of all.
    LastOfFair,
}

/// Flows of which sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// Those of a class.
    Of(SizeClass),
    /// Those of all classes but the short ones.
    NotShort,
}

impl Sizes {
    /// Whether a flow of so many payload bytes is meant.
    pub fn has(self, bytes: u64) -> bool {
        match self {
            Sizes::Of(class) => class.has(bytes),
            Sizes::NotShort => !SizeClass::Short.has(bytes),
        }
    }
}

/// What is taken of a distribution that is stored in a few numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Mean.
    Mean,
    /// Median.
    P50,
    /// 99th percentile.
    P99,
    /// Smallest.
    Min,
    /// Largest.
    Max,
    /// Largest less smallest.
    Swing,
}

impl Metric {
    /// The metric of that name.
    pub fn parse(key: &str) -> Option<Self> {
        let plain = match key {
            "utilisation" => Some(Metric::Utilisation),
            "drops" => Some(Metric::Drops),
            "delivered" => Some(Metric::Delivered(Flow::All)),
            "marks" => Some(Metric::Marks),
            "timeouts" => Some(Metric::Timeouts),
            "lost" => Some(Metric::Lost),
            "goodput" => Some(Metric::Goodput),
            "share" => Some(Metric::Share),
            "settling" => Some(Metric::Settling),
            _ => None,
        };
        if plain.is_some() {
            return plain;
        }
        let (what, part) = key.split_once('.')?;
        let class = match what {
            "rtt" => return statistic(part).map(Metric::Rtt),
            "queue" => {
                return Some(Metric::Queue(match part {
                    "mean" => Part::Mean,
                    "p50" => Part::P50,
                    "p99" => Part::P99,
                    "min" => Part::Min,
                    "max" => Part::Max,
                    "swing" => Part::Swing,
                    _ => return None,
                }));
            }
            "full" => {
                return Some(Metric::Full(match part {
                    "first" => Full::First,
                    "for" => Full::For,
                    "longest" => Full::Longest,
                    _ => return None,
                }));
            }
            "delivered" => {
                return Some(Metric::Delivered(match part {
                    "min" => Flow::Min,
                    "p50" => Flow::P50,
                    "max" => Flow::Max,
                    "last" => Flow::Last,
                    "mean" => Flow::Others,
                    "last-of-fair" => Flow::LastOfFair,
                    _ => return None,
                }));
            }
            "edge" => {
                let known = cemark_sim::outcome::EDGE_COUNTS;
                return known.iter().find(|k| **k == part).map(|k| Metric::Edge(k));
            }
            "overall" => Sizes::Of(SizeClass::All),
            "short" => Sizes::Of(SizeClass::Short),
            "medium" => Sizes::Of(SizeClass::Medium),
            "large" => Sizes::Of(SizeClass::Large),
            "not-short" => Sizes::NotShort,
            _ => return None,
        };
        statistic(part).map(|part| Metric::Fct(class, part))
    }
}

fn statistic(key: &str) -> Option<FctStatistic> {
    match key {
        "mean" => Some(FctStatistic::Mean),
        "p50" => Some(FctStatistic::Percentile(0.5)),
        "p95" => Some(FctStatistic::Percentile(0.95)),
        "p99" => Some(FctStatistic::Percentile(0.99)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_metrics() {
        assert_eq!(
            Metric::parse("short.p99"),
            Some(Metric::Fct(
                Sizes::Of(SizeClass::Short),
                FctStatistic::Percentile(0.99)
            ))
        );
        assert_eq!(
            Metric::parse("not-short.mean"),
            Some(Metric::Fct(Sizes::NotShort, FctStatistic::Mean))
        );
        assert_eq!(
            Metric::parse("rtt.p99"),
            Some(Metric::Rtt(FctStatistic::Percentile(0.99)))
        );
        assert!(!Sizes::NotShort.has(99_999) && Sizes::NotShort.has(100_000));
        assert_eq!(Metric::parse("share"), Some(Metric::Share));
        assert_eq!(Metric::parse("queue.min"), Some(Metric::Queue(Part::Min)));
        assert_eq!(Metric::parse("full.for"), Some(Metric::Full(Full::For)));
        assert_eq!(
            Metric::parse("queue.swing"),
            Some(Metric::Queue(Part::Swing))
        );
        assert_eq!(Metric::parse("drops"), Some(Metric::Drops));
        assert_eq!(
            Metric::parse("delivered.last"),
            Some(Metric::Delivered(Flow::Last))
        );
        assert_eq!(Metric::parse("edge.resent"), Some(Metric::Edge("resent")));
        for wrong in [
            "",
            "short",
            "short.p98",
            "queue.p95",
            "small.mean",
            "drops.mean",
            "delivered.p99",
            "edge.nothing",
            "rtt.min",
            "full.mean",
            "goodput.mean",
        ] {
            assert_eq!(Metric::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn axis_values_compare_as_numbers() {
        let load = OneOrMany::Many(vec![
            toml::Value::Float(0.5),
            toml::Value::String("350us".into()),
        ]);
        assert!(load.has("0.50") && load.has("350us") && !load.has("0.6"));
        assert!(OneOrMany::One(toml::Value::Integer(100)).has("100"));
        let row: Row = toml::from_str(
            "id = \"X\"\nstatistic = \"gain\"\nwhere = { load = [0.5, 0.9], fan-in = 25 }",
        )
        .unwrap();
        assert!(
            row.selection["load"].has("0.9")
                && !row.selection["load"].has("0.7")
                && row.selection["fan-in"].has("25")
        );
    }
}
