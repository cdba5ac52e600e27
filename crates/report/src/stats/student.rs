// SPDX-License-Identifier: MIT OR Apache-2.0
//! Quantiles of Student's t.

/// The probability with which an ordinary 95 % interval may miss.
pub const ALPHA: f64 = 0.05;

/// The value that Student's t with these degrees of freedom exceeds, in either direction, with
/// probability `alpha` (0 < alpha < 1). Only additions, multiplications, divisions and square roots
/// are used, which are the same on every machine. The value of [`ALPHA`] has four decimals, as
/// tables print it.
pub fn t_two_sided(alpha: f64, freedom: usize) -> f64 {
    match freedom {
        0 => f64::INFINITY,
        _ if alpha == ALPHA => tabulated(freedom),
        _ => bisected(alpha, freedom),
    }
}

/// The value of [`ALPHA`]: tabulated to 30 degrees of freedom, by the Cornish-Fisher expansion
/// above (error below 1e-4).
fn tabulated(freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010,
        2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739,
        2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
    ];
    match TABLE.get(freedom - 1) {
        Some(t) => *t,
        None => {
            let (z, n) = (1.959_963_985_f64, freedom as f64);
            z + (z.powi(3) + z) / (4.0 * n)
                + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
        }
    }
}

/// The value of any `alpha`.
fn bisected(alpha: f64, freedom: usize) -> f64 {
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
        for freedom in 1..=200 {
            let (exact, table) = (bisected(ALPHA, freedom), t_two_sided(ALPHA, freedom));
            assert!((exact - table).abs() < 2e-4, "{freedom}: {exact} {table}");
        }
        assert_eq!(t_two_sided(0.05, 0), f64::INFINITY);
    }
}
