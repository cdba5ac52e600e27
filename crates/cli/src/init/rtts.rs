// SPDX-License-Identifier: MIT OR Apache-2.0
//! The base RTTs of the answers as a section of the scenario, and the numbers from which thresholds
//! follow.

use cemark_sim::workload::{RttModel, rtt_quantile};
use minijinja::{Value, context};

use super::answers::Rtts;
use super::quantiles::{ONE, name};
use crate::quantity::time;
use crate::template::quoted;

/// The values of `[rtt]`.
pub(super) fn section(rtt: &Rtts) -> Value {
    match rtt {
        Rtts::Range {
            smallest,
            typical,
            largest,
        } => context! {
            model => match typical {
                _ if smallest == largest => "fixed",
                None => "variation",
                Some(_) => "quantiles",
            },
            smallest => time(*smallest),
            largest => time(*largest),
            table => typical.map(|typical| table(&[
                (0, *smallest),
                (ONE / 2, typical),
                (ONE, *largest),
            ])),
            comment => "Half of the flows below the typical RTT, half above; linear in between.",
        },
        Rtts::Quantiles(rows) => context! {
            model => "quantiles",
            table => table(rows),
            comment => comment(rows),
        },
        Rtts::File(path) => context! { model => "samples", file => quoted(path) },
    }
}

/// The rows of a table of quantiles from 0 to 1. Beyond the percentiles that are known, RTTs equal
/// the nearest of these.
fn table(rows: &[(u32, u64)]) -> String {
    let first = rows.first().filter(|row| row.0 > 0);
    let last = rows.last().filter(|row| row.0 < ONE);
    let below = first.map(|row| (0, row.1));
    let above = last.map(|row| (ONE, row.1));
    let all = below.iter().chain(rows).chain(&above);
    let row = |(share, rtt): &(u32, u64)| {
        let share = f64::from(*share) / f64::from(ONE);
        format!("[{share}, \"{}\"]", time(*rtt))
    };
    format!("[{}]", all.map(row).collect::<Vec<_>>().join(", "))
}

/// Sentences on what a table says between and beyond the percentiles.
fn comment(rows: &[(u32, u64)]) -> String {
    let end = |word: &str, (share, rtt): &(u32, u64)| {
        let (name, rtt) = (name(*share), time(*rtt));
        format!(" No RTT {word} {name} is known: RTTs there equal that of {name}, {rtt}.")
    };
    let below = rows.first().filter(|row| row.0 > 0);
    let above = rows.last().filter(|row| row.0 < ONE);
    let below = below.map(|row| end("below", row)).unwrap_or_default();
    let above = above.map(|row| end("above", row)).unwrap_or_default();
    format!("Percentiles of the base RTTs; linear in between.{below}{above}")
}

/// Base RTTs that thresholds follow from, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    pub smallest: u64,
    pub mean: u64,
    /// 90th percentile.
    pub tail: u64,
    pub largest: u64,
    /// Every tenth percentile, 0 to 100.
    tenths: [u64; 11],
}

impl Numbers {
    /// Numbers of a model that draws, within a nanosecond.
    pub fn of(model: &RttModel) -> Numbers {
        Numbers {
            smallest: quantile(model, 0.0),
            mean: model.mean() as u64,
            tail: quantile(model, 0.9),
            largest: quantile(model, 1.0 - 1e-9),
            tenths: std::array::from_fn(|i| quantile(model, (i as f64 / 10.0).min(1.0 - 1e-9))),
        }
    }

    /// The distribution by tenths, longer by a factor.
    pub(crate) fn scaled(&self, factor: f64) -> Vec<(u32, u64)> {
        let tenths = self.tenths.iter().enumerate();
        let row = |(i, rtt): (usize, &u64)| (i as u32 * ONE / 10, (*rtt as f64 * factor) as u64);
        tenths.map(row).collect()
    }
}

/// A quantile of the draws of a model, in picoseconds.
fn quantile(model: &RttModel, share: f64) -> u64 {
    rtt_quantile(|rtt| model.share_below(rtt), share).0
}

#[cfg(test)]
mod tests {
    use super::{Numbers, ONE, comment, table};
    use cemark_sim::workload::RttModel;
    use cemark_wire::Picos;

    const MICRO: u64 = 1_000_000;

    #[test]
    fn numbers_of_the_paper() {
        let (lo, hi) = (Picos::from_micros(80), Picos::from_micros(240));
        let n = Numbers::of(&RttModel::Variation { lo, hi });
        let micros = |picos: u64| (picos as f64 / 1e6).round() as u64;
        assert_eq!(
            [n.smallest, n.mean, n.tail, n.largest].map(micros),
            [80, 136, 220, 240]
        );
        let n = Numbers::of(&RttModel::Fixed(hi));
        assert_eq!(
            [n.smallest, n.mean, n.tail, n.largest].map(micros),
            [240; 4]
        );
    }

    #[test]
    fn ends_that_are_not_known_are_flat_and_said() {
        let rows = [(500_000, 12 * MICRO), (999_000, 95 * MICRO)];
        assert_eq!(
            table(&rows),
            "[[0, \"12us\"], [0.5, \"12us\"], [0.999, \"95us\"], [1, \"95us\"]]"
        );
        let said = comment(&rows);
        assert!(
            said.contains("below p50 is known: RTTs there equal that of p50, 12us"),
            "{said}"
        );
        assert!(said.contains("above p99.9 is known"), "{said}");
        let whole = [(0, 12 * MICRO), (ONE, 95 * MICRO)];
        assert_eq!(table(&whole), "[[0, \"12us\"], [1, \"95us\"]]");
        assert!(!comment(&whole).contains("known"));
    }
}
