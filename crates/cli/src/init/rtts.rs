// SPDX-License-Identifier: MIT OR Apache-2.0
//! The base RTTs of the answers as a section of the scenario, and the numbers from which thresholds
//! follow.

use cemark_sim::workload::{RttModel, rtt_quantile};

use super::answers::Rtts;
use super::text::{quoted, time};

/// The lines of `[rtt]`.
pub(super) fn section(rtt: &Rtts) -> String {
    match rtt {
        Rtts::Range {
            smallest, largest, ..
        } if smallest == largest => {
            format!("model = \"fixed\"\nrtt = \"{}\"\n", time(*smallest))
        }
        Rtts::Range {
            smallest,
            typical: None,
            largest,
        } => format!(
            "# Most flows are near the smallest RTT, few near the largest: the shape that ECN# \
             (section 5.3)\n# found. cemark help rtt lists other shapes, also measured ones.\n\
             model = \"variation\"\nmin = \"{}\"\nmax = \"{}\"\n",
            time(*smallest),
            time(*largest)
        ),
        Rtts::Range {
            smallest,
            typical: Some(typical),
            largest,
        } => format!(
            "# Half of the flows below the typical RTT, half above; linear in between.\n\
             model = \"quantiles\"\n\
             table = [[0, \"{}\"], [0.5, \"{}\"], [1, \"{}\"]]\n",
            time(*smallest),
            time(*typical),
            time(*largest)
        ),
        Rtts::File(path) => format!(
            "# Each flow draws its base RTT from the file.\n\
             model = \"samples\"\nfile = {}\n",
            quoted(path)
        ),
    }
}

/// What thresholds follow from, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub smallest: u64,
    pub mean: u64,
    /// 90th percentile.
    pub tail: u64,
    pub largest: u64,
}

impl Numbers {
    /// Of a model that draws. Within a nanosecond.
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
