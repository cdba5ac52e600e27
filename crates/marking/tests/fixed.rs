// SPDX-License-Identifier: MIT OR Apache-2.0
//! The integer rules against the laws they stand for.

use cemark_marking::fixed::{
    AVG_BITS, ONE, chance, decay, draw, ewma, hash, isqrt, over_sqrt, ramp,
};
use proptest::prelude::*;

proptest! {
    #[test]
    fn isqrt_is_exact(n: u64) {
        let r = u128::from(isqrt(n));
        prop_assert!(r * r <= u128::from(n) && u128::from(n) < (r + 1) * (r + 1));
    }

    #[test]
    fn the_control_law_is_the_floor_of_the_real_one(interval: u32, count in 1u32..) {
        let step = u128::from(over_sqrt(interval, count));
        let (square, count) = (u128::from(interval) * u128::from(interval), u128::from(count));
        prop_assert!(step * step * count <= square && square < (step + 1) * (step + 1) * count);
    }

    #[test]
    fn the_ramp_rises_from_zero_to_pmax(min in 0u32..1_000_000, span in 1u32..1_000_000,
        pmax in 0..=ONE, x: u32, y: u32) {
        let max = min + span;
        let (x, y) = (min + x % (span + 1), min + y % (span + 1));
        prop_assert_eq!(ramp(min, min, max, pmax), 0);
        prop_assert_eq!(ramp(max, min, max, pmax), pmax);
        prop_assert!(ramp(x.min(y), min, max, pmax) <= ramp(x.max(y), min, max, pmax));
    }

    #[test]
    fn an_average_stays_between_itself_and_its_sample(avg: u32, sample: u32, weight in 1..=ONE) {
        let before = u64::from(avg) << AVG_BITS;
        let target = u64::from(sample) << AVG_BITS;
        let after = ewma(before, sample, weight);
        prop_assert!(before.min(target) <= after && after <= before.max(target));
        let ideal = before as f64
            + (target as f64 - before as f64) * f64::from(weight) / f64::from(ONE);
        prop_assert!(after as f64 <= ideal + 1e-2 && ideal - 1.01 <= after as f64,
            "{after} for {ideal}");
    }

    #[test]
    fn idle_time_ages_as_the_power_law_says(avg in 0u64..1 << 44, weight in 1..=ONE,
        steps in 0u64..5_000) {
        let ideal = avg as f64 * (1.0 - f64::from(weight) / f64::from(ONE)).powi(steps as i32);
        let aged = decay(avg, weight, steps) as f64;
        let bound = 1.0 + avg as f64 * 2.0 * steps as f64 / 2f64.powi(32);
        prop_assert!(aged <= ideal * (1.0 + 1e-9) + 1e-6, "{aged} is above {ideal}");
        prop_assert!(ideal - aged <= bound, "{aged} is more than {bound} below {ideal}");
    }

    #[test]
    fn chance_is_never_at_zero_and_always_at_one(packet_hash: u64, n: u32) {
        prop_assert!(!chance(packet_hash, n, 0));
        prop_assert!(chance(packet_hash, n, ONE));
    }
}

#[test]
fn isqrt_at_the_edges() {
    for (n, r) in [
        (0, 0),
        (1, 1),
        (3, 1),
        (4, 2),
        (u64::MAX, 4_294_967_295),
        (4_294_967_295 * 4_294_967_295, 4_294_967_295),
    ] {
        assert_eq!(isqrt(n), r, "{n}");
    }
}

#[test]
fn a_constant_length_is_reached_from_above_exactly_and_from_below_to_an_eighth_of_a_byte() {
    for start in [0u64, 200_000 << AVG_BITS] {
        let mut avg = start;
        for _ in 0..20_000 {
            avg = ewma(avg, 97_500, 128);
        }
        let target = 97_500u64 << AVG_BITS;
        let short = target.abs_diff(avg);
        assert!(
            if start == 0 {
                short > 0 && short < 512
            } else {
                short == 0
            },
            "{short}"
        );
    }
}

/// Pearson's statistic of 16-bit draws in 256 bins: 255 expected, its deviation sqrt(510) = 22.6.
fn chi_square(draws: impl Iterator<Item = u32>) -> f64 {
    let mut bins = [0u32; 256];
    let mut total = 0.0;
    for d in draws {
        bins[(d >> 8) as usize] += 1;
        total += 1.0;
    }
    let expected = total / 256.0;
    bins.iter()
        .map(|&n| (f64::from(n) - expected).powi(2) / expected)
        .sum()
}

#[test]
fn luck_is_spread_over_flows_segments_hops_and_seeds() {
    let samples = 0..65_536u64;
    for (what, statistic) in [
        (
            "flows",
            chi_square(samples.clone().map(|i| draw(hash(1, i, 0, 0), 0))),
        ),
        (
            "segments",
            chi_square(samples.clone().map(|i| draw(hash(1, 7, i * 1460, 2), 0))),
        ),
        (
            "seeds",
            chi_square(samples.clone().map(|i| draw(hash(i, 7, 1460, 2), 0))),
        ),
        (
            "hops",
            chi_square(
                samples
                    .clone()
                    .map(|i| draw(hash(1, i >> 8, 0, i as u8), 0)),
            ),
        ),
        (
            "draws",
            chi_square(samples.clone().map(|i| draw(hash(1, 7, 0, 0), i as u32))),
        ),
        ("hashes", chi_square(samples.clone().map(|i| draw(i, 0)))),
    ] {
        assert!(
            (130.0..390.0).contains(&statistic),
            "{what}: chi-square {statistic}"
        );
    }
}

#[test]
fn neighbours_in_luck_are_strangers() {
    // 65,536 pairs of fair halves agree 32,768 times, give or take 128.
    let agree = |f: &dyn Fn(u64) -> (u32, u32)| {
        (0..65_536u64)
            .map(f)
            .filter(|&(a, b)| a < ONE / 2 && b < ONE / 2 || a >= ONE / 2 && b >= ONE / 2)
            .count()
    };
    for (what, n) in [
        (
            "hop and next hop",
            agree(&|i| {
                (
                    draw(hash(1, 3, i * 1460, 1), 0),
                    draw(hash(1, 3, i * 1460, 2), 0),
                )
            }),
        ),
        (
            "segment and next",
            agree(&|i| (draw(hash(1, i, 0, 1), 0), draw(hash(1, i, 1460, 1), 0))),
        ),
        (
            "flow and next",
            agree(&|i| (draw(hash(1, i, 0, 1), 0), draw(hash(1, i + 1, 0, 1), 0))),
        ),
        (
            "seed and next",
            agree(&|i| (draw(hash(1, i, 0, 1), 0), draw(hash(2, i, 0, 1), 0))),
        ),
        (
            "draw and next",
            agree(&|i| (draw(hash(1, i, 0, 1), 0), draw(hash(1, i, 0, 1), 1))),
        ),
    ] {
        assert!(n.abs_diff(32_768) < 640, "{what}: agree {n} times");
    }
}

#[test]
fn hash_and_draw_give_the_numbers_that_other_languages_must_give() {
    // Computed with an implementation of the documented rule in Python.
    assert_eq!(hash(0, 0, 0, 0), HASHES[0]);
    assert_eq!(hash(1, 2, 3, 4), HASHES[1]);
    assert_eq!(hash(u64::MAX, 4_294_967_295, 1 << 40, 255), HASHES[2]);
    assert_eq!([draw(0, 0), draw(0, 1), draw(u64::MAX, u32::MAX)], DRAWS);
}

const HASHES: [u64; 3] = [
    0x8ffd_3f94_3fae_5847,
    0x0ded_0b75_954a_a440,
    0x82b0_a0a9_9e77_f101,
];
const DRAWS: [u32; 3] = [57888, 28280, 54211];
