// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[row]]`: which number is taken from a figure's points. `figures/targets.tsv` has the
//! band by which it is judged.

use std::collections::BTreeMap;

use serde::Deserialize;

use cemark_report::metrics::Restriction;

/// Row of a figure: a number and how it is formed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Row {
    /// The line of `targets.tsv`: `ECNSHARP-T18.a`.
    pub id: String,
    /// How the number is formed.
    #[serde(rename = "statistic")]
    pub formula: Formula,
    /// Metric of docs/output.md (`short.p99`, `queue.mean`, `drops`). For `rtt`, `sizes`,
    /// `division`, `dcib` and `cedm` the quantity that is taken of the model.
    #[serde(default)]
    pub metric: String,
    /// Label of the scheme in question.
    #[serde(default)]
    pub scheme: String,
    /// Label of the scheme it is compared with.
    #[serde(default)]
    pub against: String,
    /// Labels; some statistics depend on their order.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// The second metric of `argmin-differs` and `gain-beyond`.
    #[serde(default)]
    pub other_metric: String,
    /// Which points: one or several values for an axis, which is named by the last words of its
    /// path (`load = [0.5, 0.6]`). An axis that is not named is not restricted.
    #[serde(default, rename = "where")]
    pub selection: BTreeMap<String, OneOrMany>,
    /// Subtracts the same statistic at points that differ in these axes.
    pub minus: Option<BTreeMap<String, OneOrMany>>,
    /// How several cells become one number. Without it exactly one cell must be selected.
    pub over: Option<Over>,
    /// Only flows of this workload.
    pub workload: Option<String>,
    /// Only the switch port whose name ends like this (`->host16`); otherwise the one with the
    /// longest mean queue.
    pub port: Option<String>,
    /// The axis that `onset` and `growth` walk along.
    pub axis: Option<String>,
    /// The number is divided by this (for example by a threshold).
    pub unit: Option<f64>,
    /// Only endless flows of this queue class, for `share`, `settling` and `goodput`.
    pub class: Option<u8>,
    /// Subtracted from the metric in every seed before anything is compared (a base RTT, so that
    /// the queueing delay remains).
    pub base: Option<f64>,
    /// The RTT model, size table or quotient of `rtt`, `rtt-ratio`, `sizes` and `division`, or the
    /// numbers of `dcib` and `cedm`.
    pub model: Option<String>,
}

/// How a number is formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Formula {
    /// The metric itself.
    Value,
    /// `scheme / against`.
    Ratio,
    /// Percent by which `scheme` is above `against`.
    Excess,
    /// Percent by which `scheme` is below `against`.
    Gain,
    /// `scheme - against`, in the metric's unit.
    Difference,
    /// Percent gained on `metric` minus percent gained on `other-metric`: which of two classes
    /// profits more.
    GainBeyond,
    /// Percent by which `scheme` is above the best other one of `schemes`, cell by cell.
    ExcessOverBest,
    /// The smallest percent step from one of `schemes` to the next.
    SmallestStep,
    /// With A the best of `schemes` for `metric` and B that for `other-metric`: the percent lost on
    /// `metric` by B, or on `other-metric` by A, whichever is less. Zero where one scheme is best
    /// for both.
    ArgminDiffers,
    /// Percent by which the largest of `schemes` is above the smallest.
    Spread,
    /// Percent of the quantiles of what endless flows delivered at which `scheme` is above
    /// `against`: the flow that got least is compared with the flow that got least, and so on. Only
    /// for `delivered`.
    QuantilesAbove,
    /// With A and B the two of `schemes`: how much of the gap between them `scheme` closes, (A -
    /// scheme) / (A - B), both in percent of A. Where A and B are less than two standard deviations
    /// apart, the interval is unbounded. A row whose unit in `targets.tsv` is `% of the gain` is
    /// also said in a sentence (`answer.rs`).
    GapClosed,
    /// The first value of `axis` at which the metric is above zero; one step past the last value if
    /// it never is. If `against` is given, its onset is subtracted.
    Onset,
    /// How the metric grows along `axis`: the slope of the least-squares line through the
    /// logarithms of both at all selected points (1: in proportion; 0.5: as the square root). The
    /// value of the axis is the first number in its text (`"20 Gb/s"` is 20).
    Growth,
    /// Statistic of 1e6 draws of an RTT model (`stack`, or `fitted stack`): `mean`, `std`, `p90`,
    /// `p99`, in microseconds.
    Rtt,
    /// Ratio of the means of two RTT models: `model` over `against`.
    RttRatio,
    /// Statistic of a size table, or of several that offer the same load each (`a + b`): `mean` in
    /// bytes; `below 24000`, a probability; `share below 24000`, of the short flows in percent;
    /// `bytes below 24000`, of all bytes in percent.
    Sizes,
    /// Quotient of two numbers, as the paper computes it: `9000 / 1250`.
    Quotient,
    /// Table division of ECN# (`corrected 1000` or `printed 1000`: Algorithm 3 and the interval),
    /// before rounding, over counts of 1 to 100: `worst` and `mean` error against the exact
    /// quotient in percent, or the mean `share` of the exact quotient.
    Division,
    /// DCIB's arithmetic, of the numbers in `model`: `share` of `2e6 10 10` (B in bytes, tau in ms,
    /// C in Gb/s: B / (tau C)), `buffer` of `0.1 6 10` (r tau C in MB), `bound` of `0.1` (by the
    /// square-root formula, the factor that a share r of losses made good can give).
    Dcib,
    /// CEDM's arithmetic, of the numbers in `model`: `smooth` of `10 100` (Gb/s, us: 0.17 C d in
    /// packets), `bursts` of `10 100 2 1/3` (with flows and the part of a window that a cut takes:
    /// the threshold under bursts), `increase` (the second above the first, in percent).
    Cedm,
}

/// Rule that makes one number of several cells.
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
    /// The median cell (the lower one of an even number).
    Median,
    /// The second largest: all cells but one are at or below it.
    NextToMax,
    /// The largest lower end of their intervals: no cell is clearly above it. It has no interval of
    /// its own.
    HighestLow,
}

/// A value of an axis, or several.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// Any of these. (This variant comes first, since a list would also be read as one value.)
    Many(Vec<toml::Value>),
    /// One.
    One(toml::Value),
}

impl OneOrMany {
    /// Whether this value of an axis is among them. Numbers are compared as numbers (`0.5` is
    /// `0.50`).
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

impl Row {
    /// The row of a statistic of a metric, of no scheme yet.
    pub(super) fn of(formula: Formula, metric: &str) -> Self {
        Row {
            id: String::new(),
            formula,
            metric: metric.to_owned(),
            scheme: String::new(),
            against: String::new(),
            schemes: Vec::new(),
            other_metric: String::new(),
            selection: BTreeMap::new(),
            minus: None,
            over: None,
            workload: None,
            port: None,
            axis: None,
            unit: None,
            class: None,
            base: None,
            model: None,
        }
    }

    /// The part of each point that the row asks for.
    pub fn restriction(&self) -> Restriction<'_> {
        Restriction {
            workload: self.workload.as_deref(),
            port: self.port.as_deref(),
            class: self.class,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
