// SPDX-License-Identifier: MIT OR Apache-2.0
//! The base RTTs of the answers as a section of the scenario, and the numbers from which thresholds
//! follow.

use cemark_sim::workload::{RttModel, rtt_quantile};
use minijinja::{Value, context};

use super::answers::Rtts;
use super::quantiles;
use super::text::time;
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
            table => typical.map(|typical| quantiles::table(&[
                (0, *smallest),
                (500_000, typical),
                (1_000_000, *largest),
            ])),
            comment => "Half of the flows below the typical RTT, half above; linear in between.",
        },
        Rtts::Quantiles(rows) => context! {
            model => "quantiles",
            table => quantiles::table(rows),
            comment => quantiles::comment(rows),
        },
        Rtts::File(path) => context! { model => "samples", file => quoted(path) },
    }
}

/// Base RTTs that thresholds follow from, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub smallest: u64,
    pub mean: u64,
    /// 90th percentile.
    pub tail: u64,
    pub largest: u64,
}

impl Numbers {
    /// Numbers of a model that draws, within a nanosecond.
    pub fn of(model: &RttModel) -> Numbers {
        Numbers {
            smallest: quantile(model, 0.0),
            mean: model.mean() as u64,
            tail: quantile(model, 0.9),
            largest: quantile(model, 1.0 - 1e-9),
        }
    }
}

/// A quantile of the draws of a model, in picoseconds.
fn quantile(model: &RttModel, share: f64) -> u64 {
    rtt_quantile(|rtt| model.share_below(rtt), share).0
}

#[cfg(test)]
mod tests {
    use super::Numbers;
    use cemark_sim::workload::RttModel;
    use cemark_wire::Picos;

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
}
