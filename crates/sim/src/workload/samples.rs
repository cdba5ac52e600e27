// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measured base RTTs, drawn as they were measured.

use std::fmt;
use std::sync::Arc;

use cemark_wire::Picos;
use cemark_wire::hash::Fnv1a;

use super::random::Stream;

/// RTTs of a measurement, each as likely as the others. A copy is cheap: all points of a run share
/// one list.
#[derive(Clone, PartialEq, Eq)]
pub struct Samples(Arc<Measured>);

/// The values, and what is computed of all of them once.
#[derive(PartialEq, Eq)]
struct Measured {
    rising: Vec<Picos>,
    /// In picoseconds.
    sum: u128,
    /// Hash of the values, in place of which it enters the fingerprint of a configuration.
    fingerprint: u64,
}

impl Samples {
    /// From the measured values, in any order, each rounded to whole nanoseconds; `None` without
    /// any.
    pub fn new(values: impl IntoIterator<Item = Picos>) -> Option<Samples> {
        let whole = |rtt: Picos| Picos::from_nanos((rtt.0 / 1000) + u64::from(rtt.0 % 1000 >= 500));
        let mut rising: Vec<Picos> = values.into_iter().map(whole).collect();
        // Their order in the file is no part of a distribution.
        rising.sort_unstable();
        let (mut sum, mut hash) = (0, Fnv1a::new());
        for rtt in &rising {
            sum += u128::from(rtt.0);
            hash.write(&rtt.0.to_le_bytes());
        }
        let fingerprint = hash.finish();
        let measured = Measured {
            rising,
            sum,
            fingerprint,
        };
        (!measured.rising.is_empty()).then(|| Samples(Arc::new(measured)))
    }

    /// How many there are, one or more.
    pub fn count(&self) -> usize {
        self.0.rising.len()
    }

    /// How many are below `rtt`.
    pub fn count_below(&self, rtt: Picos) -> usize {
        self.0.rising.partition_point(|sample| *sample < rtt)
    }

    /// The smallest sample that a share of `p` (0 to 1) of all samples does not exceed.
    pub fn quantile(&self, p: f64) -> Picos {
        let rank = (p * self.count() as f64).ceil() as usize;
        self.0.rising[rank.clamp(1, self.count()) - 1]
    }

    /// Their mean in picoseconds.
    pub fn mean(&self) -> f64 {
        self.0.sum as f64 / self.count() as f64
    }

    pub(super) fn draw(&self, stream: &mut Stream) -> Picos {
        self.0.rising[stream.below(self.count() as u64) as usize]
    }
}

impl fmt::Debug for Samples {
    /// Their number and fingerprint: there may be millions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Samples")
            .field("count", &self.count())
            .field("fingerprint", &format_args!("{:016x}", self.0.fingerprint))
            .finish()
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Samples {
    /// Their number and fingerprint, whatever file they came from.
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;

        let mut form = to.serialize_struct("Samples", 2)?;
        form.serialize_field("count", &self.count())?;
        form.serialize_field("fingerprint", &format!("{:016x}", self.0.fingerprint))?;
        form.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(values: &[u64]) -> Samples {
        Samples::new(values.iter().map(|&n| Picos::from_micros(n))).expect("samples")
    }

    #[test]
    fn the_order_of_a_file_does_not_count() {
        assert_eq!(micros(&[3, 1, 2, 2]), micros(&[2, 2, 1, 3]));
        assert_ne!(micros(&[3, 1, 2]), micros(&[3, 1, 2, 2]));
        assert_ne!(
            format!("{:?}", micros(&[1, 2])),
            format!("{:?}", micros(&[1, 3]))
        );
        assert_eq!(Samples::new([]), None);
    }

    #[test]
    fn statistics_by_hand() {
        let s = micros(&[40, 10, 30, 20]);
        assert_eq!((s.count(), s.mean()), (4, 25e6));
        for (p, us) in [
            (0.0, 10),
            (0.25, 10),
            (0.26, 20),
            (0.5, 20),
            (0.9, 40),
            (1.0, 40),
        ] {
            assert_eq!(s.quantile(p), Picos::from_micros(us), "{p}");
        }
        let below = |us| s.count_below(Picos::from_micros(us));
        assert_eq!([below(10), below(11), below(40), below(41)], [0, 1, 3, 4]);
        // Halves of a nanosecond go up.
        let s = Samples::new([Picos(1_499), Picos(1_500)]).expect("samples");
        assert_eq!(
            (s.quantile(0.0), s.quantile(1.0)),
            (Picos(1_000), Picos(2_000))
        );
    }

    #[test]
    fn every_sample_is_as_likely_as_the_others() {
        let s = micros(&[5, 7, 7, 9]);
        let mut stream = Stream::new(1, "rtt", 0);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..40_000 {
            *seen.entry(s.draw(&mut stream)).or_insert(0_i32) += 1;
        }
        let found: Vec<(Picos, i32)> = seen.into_iter().collect();
        for ((rtt, n), (us, wanted)) in found.iter().zip([(5, 10_000), (7, 20_000), (9, 10_000)]) {
            assert_eq!(*rtt, Picos::from_micros(us));
            assert!((n - wanted).abs() < 500, "{rtt:?}: {n}");
        }
        assert_eq!(found.len(), 3);
    }
}
