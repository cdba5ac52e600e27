// SPDX-License-Identifier: MIT OR Apache-2.0
//! Intervals of a run that looks at its replications several times and stops when they are narrow
//! enough.
//!
//! An ordinary 95 % interval that is looked at again and again misses the truth more often than 5 %
//! of the time, because a run ends just when its interval happens to be narrow. Here the looks are
//! fixed beforehand, in replications, and share the 5 %: the interval of a look is Student's t over
//! the replications at the level `1 - alpha` of that look, and all `alpha` together are at most
//! 5 %. With 95 % probability the intervals of *all* looks hold the truth (Bonferroni's
//! inequality), so the one at which the run stops does, whatever the rule by which it stops.
//! `cargo xtask proof coverage-looks` measures it.

use super::difference::{Comparison, Method};
use super::student::t_two_sided;
use super::{mean, standard_error};

/// The looks, (replications, alpha in units of 1e-5). Three and four replications get little, since
/// Student's t of so few is wide at any level; 6 to 16 get most, where runs are to end.
const LOOKS: [(u32, u32); 14] = [
    (3, 100),
    (4, 200),
    (6, 750),
    (8, 900),
    (12, 900),
    (16, 800),
    (24, 500),
    (32, 300),
    (48, 200),
    (64, 150),
    (96, 100),
    (128, 50),
    (192, 30),
    (256, 20),
];

/// The fewest replications that have intervals.
pub const FIRST_INTERVAL: u32 = LOOKS[0].0;

/// The most replications that have a look.
pub const MOST: u32 = LOOKS[LOOKS.len() - 1].0;

/// The numbers of replications at which a run of at most `most` looks, rising: 1 and 2, which have
/// no intervals, those of the table, and `most` itself.
pub fn looks(most: u32) -> Vec<u32> {
    let table = LOOKS.iter().map(|(n, _)| *n);
    let mut all: Vec<u32> = [1, 2].into_iter().chain(table).collect();
    all.retain(|n| *n < most);
    all.push(most);
    all
}

/// The probability with which the interval of a look may miss the truth. A number of replications
/// that is not in the table is the last look of its run, and has the level of the next one there,
/// which that run never reaches. `None` below three replications and above the table.
pub fn alpha(replications: u32) -> Option<f64> {
    let next = LOOKS.iter().find(|(n, _)| *n >= replications);
    next.filter(|_| replications >= FIRST_INTERVAL)
        .map(|(_, a)| f64::from(*a) * 1e-5)
}

/// A comparison from one percent difference a replication, at the look after `replications`. A
/// replication may have no value (no large flow), so there may be fewer values than replications.
/// `None` without a value.
pub fn compare_replications(values: &[f64], replications: u32, pairs: u64) -> Option<Comparison> {
    let percent = mean(values)?;
    let half = alpha(replications).zip(standard_error(values));
    let half = half.map(|(alpha, error)| t_two_sided(alpha, values.len() - 1) * error);
    Some(Comparison {
        percent,
        interval: half.map(|h| (percent - h, percent + h)),
        method: half.map_or(Method::None, |_| Method::Looks),
        seeds: values.len() as u32,
        pairs,
    })
}

/// The look at which a run stops that nothing is known of yet: a guess.
pub fn first_guess(most: u32) -> u32 {
    most.min(8)
}

/// The replications that a run will probably need until its widest half is `within`, from the half
/// that it has after `replications`: halves shrink with the square root of the number, and with
/// the quantile of the look.
pub fn expected_look(half: f64, within: f64, replications: u32, most: u32) -> u32 {
    let quantile = |n: u32| alpha(n).map(|a| t_two_sided(a, n as usize - 1));
    let Some(here) = quantile(replications).filter(|_| half.is_finite()) else {
        return most;
    };
    let narrow = |n: &u32| {
        let shrink = (f64::from(replications) / f64::from(*n)).sqrt();
        quantile(*n).is_some_and(|t| half / here * t * shrink <= within)
    };
    let later = looks(most).into_iter().filter(|n| *n > replications);
    later.into_iter().find(narrow).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_levels_share_five_percent() {
        let all: u32 = LOOKS.iter().map(|(_, a)| a).sum();
        assert!(all <= 5_000, "{all}");
        assert!(LOOKS.windows(2).all(|w| w[0].0 < w[1].0));
        // A run that ends between two looks spends no more than one that continues to the next.
        for most in 1..=256 {
            let spent: f64 = looks(most).into_iter().filter_map(alpha).sum();
            assert!(spent <= 0.05 + 1e-12, "{most}: {spent}");
        }
    }

    #[test]
    fn looks_rise_and_end_with_the_most() {
        assert_eq!(looks(8), [1, 2, 3, 4, 6, 8]);
        assert_eq!(looks(10), [1, 2, 3, 4, 6, 8, 10]);
        assert_eq!(looks(64), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]);
        assert_eq!((looks(1), looks(3)), (vec![1], vec![1, 2, 3]));
        assert_eq!((alpha(2), alpha(257)), (None, None));
        assert_eq!(alpha(10), alpha(12));
        assert_eq!(alpha(256), Some(20.0 * 1e-5));
    }

    #[test]
    fn the_interval_of_a_look_is_students() {
        // Three values of mean 2 and standard error 1/sqrt(3), at 99.9 %.
        let c = compare_replications(&[1.0, 2.0, 3.0], 3, 30).unwrap();
        let (low, high) = c.interval.unwrap();
        assert!((0.5 * (high - low) - 31.599 / 3.0_f64.sqrt()).abs() < 1e-3);
        assert_eq!((c.percent, c.method, c.pairs), (2.0, Method::Looks, 30));
        // Two replications have none, and neither have two values of six.
        for (values, replications) in [(&[1.0, 2.0][..], 2), (&[1.0, 2.0][..], 6)] {
            let c = compare_replications(values, replications, 2).unwrap();
            assert_eq!((c.interval, c.method), (None, Method::None));
        }
        assert_eq!(compare_replications(&[], 6, 0), None);
    }

    #[test]
    fn halves_say_when_a_run_will_end() {
        let t = |n: u32| t_two_sided(alpha(n).unwrap(), n as usize - 1);
        // A deviation of 4 points: 6 replications have 4 / sqrt(6) t.
        let half = |n: u32| 4.0 / f64::from(n).sqrt() * t(n);
        let narrow = [8, 12, 16, 24, 32, 48, 64];
        let narrow = narrow.into_iter().find(|n| half(*n) <= 3.0).unwrap();
        assert_eq!(expected_look(half(6), 3.0, 6, 64), narrow);
        assert_eq!(expected_look(half(6), 0.01, 6, 64), 64);
        assert_eq!(expected_look(1e3, 1e9, 6, 64), 8);
        assert_eq!(expected_look(f64::INFINITY, 5.0, 6, 64), 64);
        assert_eq!(expected_look(1.0, 5.0, 2, 64), 64);
    }
}
