// SPDX-License-Identifier: MIT OR Apache-2.0
//! Base RTTs in few values: a `netem` has one delay, and each needs a band of its own.

use cemark_sim::workload::RttModel;
use cemark_sim::workload::random::Stream;
use cemark_wire::Picos;

/// Most delays of a network: bands of the kernel's `prio`.
pub const BANDS: usize = 16;
/// Draws from which the values are computed.
const DRAWS: usize = 1 << 14;

/// A distribution of RTTs in at most 15 values, each as likely as the others: the means of the
/// fifteenths of a large sample. The mean stays, the variance inside a fifteenth is lost. One band
/// remains for acknowledgements. Models of few values stay as they are.
pub fn discrete(model: &RttModel) -> RttModel {
    match model {
        RttModel::Path | RttModel::Fixed(_) => return model.clone(),
        RttModel::Classes(classes) if classes.len() < BANDS => return model.clone(),
        _ => {}
    }
    let mut stream = Stream::new(0, "discrete", 0);
    let mut drawn: Vec<u64> = (0..DRAWS)
        .filter_map(|_| model.draw(&mut stream))
        .map(|rtt| rtt.0)
        .collect();
    drawn.sort_unstable();
    let parts = BANDS - 1;
    let mean = |i: usize| {
        let part = &drawn[i * drawn.len() / parts..(i + 1) * drawn.len() / parts];
        let sum: u64 = part.iter().sum();
        Picos::from_nanos(sum / part.len().max(1) as u64 / 1000)
    };
    RttModel::Classes((0..parts).map(mean).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_and_the_range_of_a_distribution_stay() {
        let (lo, hi) = (Picos::from_micros(80), Picos::from_micros(240));
        let RttModel::Classes(values) = discrete(&RttModel::Variation { lo, hi }) else {
            panic!("a list of values");
        };
        assert_eq!(values.len(), 15);
        assert!(values.windows(2).all(|w| w[0] <= w[1]));
        assert!(values[0] >= lo && values[14] <= hi, "{values:?}");
        let mean = values.iter().map(|v| v.0).sum::<u64>() as f64 / 15.0 / 1e6;
        // 80 + 160 * 0.38 * (1 - exp(-1 / 0.38)).
        assert!((mean - 136.4).abs() < 1.0, "{mean}");
    }

    #[test]
    fn one_value_stays_one_value() {
        let fixed = RttModel::Fixed(Picos::from_micros(100));
        assert_eq!(discrete(&fixed), fixed);
        assert_eq!(discrete(&RttModel::Path), RttModel::Path);
    }
}
