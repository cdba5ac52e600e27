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

use super::{Comparison, Method, mean, standard_error};

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

/// The value that Student's t with these degrees of freedom exceeds, in either direction, with
/// probability `alpha` (0 < alpha < 1). Only additions, multiplications, divisions and square roots
/// are used, which are the same on every machine.
pub fn t_two_sided(alpha: f64, freedom: usize) -> f64 {
    if freedom == 0 {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while outside(high, freedom) > alpha {
        low = high;
        high *= 2.0;
    }
    // Bisection until the two are neighbours.
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return high;
        }
        match outside(middle, freedom) > alpha {
            true => low = middle,
            false => high = middle,
        }
    }
}

/// The probability that Student's t is outside of -t to t: the finite sums of Abramowitz and Stegun
/// 26.7.3 and 26.7.4, with the angle of which `t / sqrt(freedom)` is the tangent.
fn outside(t: f64, freedom: usize) -> f64 {
    let n = freedom as f64;
    let (sine, cosine) = (t / (n + t * t).sqrt(), (n / (n + t * t)).sqrt());
    let odd = freedom % 2 == 1;
    // Of even degrees 1 + 1/2 c^2 + (1 3)/(2 4) c^4 + ..., of odd ones c + 2/3 c^3 + (2 4)/(3 5)
    // c^5 + ...
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    let mut k = usize::from(odd);
    while k + 2 <= freedom {
        sum += term;
        k += 1;
        term *= k as f64 / (k + 1) as f64 * cosine * cosine;
        k += 1;
    }
    let inside = match odd {
        false => sine * sum,
        true => (arctan(t / n.sqrt()) + sine * sum) * std::f64::consts::FRAC_2_PI,
    };
    1.0 - inside
}

/// The arctangent of a number that is not negative: the argument is halved four times, and Taylor's
/// series then has an error below 1e-16.
fn arctan(x: f64) -> f64 {
    let mut small = x;
    for _ in 0..4 {
        small /= 1.0 + (1.0 + small * small).sqrt();
    }
    let square = small * small;
    let (mut power, mut sum) = (small, 0.0);
    for k in 0..9 {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        sum += sign * power / f64::from(2 * k + 1);
        power *= square;
    }
    16.0 * sum
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

    /// Two-sided quantiles as tables of Student's t print them (Abramowitz and Stegun, table
    /// 26.10).
    #[test]
    fn students_t_is_that_of_the_tables() {
        for (alpha, freedom, t) in [
            (0.05, 1, 12.706),
            (0.05, 2, 4.303),
            (0.05, 3, 3.182),
            (0.05, 5, 2.571),
            (0.05, 30, 2.042),
            (0.05, 120, 1.980),
            (0.01, 1, 63.657),
            (0.01, 2, 9.925),
            (0.01, 7, 3.499),
            (0.01, 15, 2.947),
            (0.01, 40, 2.704),
            (0.002, 2, 22.327),
            (0.002, 5, 5.893),
            (0.001, 2, 31.599),
            (0.001, 3, 12.924),
            (0.001, 11, 4.437),
            (0.001, 60, 3.460),
            (0.5, 4, 0.741),
        ] {
            let found = t_two_sided(alpha, freedom);
            assert!((found - t).abs() < 5.1e-4, "{alpha} {freedom}: {found}");
        }
        for freedom in 1..=60 {
            let (ours, table) = (t_two_sided(0.05, freedom), super::super::t_975(freedom));
            assert!((ours - table).abs() < 2e-4, "{freedom}: {ours} {table}");
        }
        assert_eq!(t_two_sided(0.05, 0), f64::INFINITY);
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
