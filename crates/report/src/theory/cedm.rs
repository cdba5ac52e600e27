// SPDX-License-Identifier: MIT OR Apache-2.0
//! The closed forms of CEDM's slides: how far the queue of synchronised flows swings, and which
//! threshold keeps it from running empty.
//!
//! Lengths are packets; `pipe` is C d, the bandwidth times the base round trip; `n` flows
//! reduce their windows by the part `beta` at a cut.

/// Swing of the queue under DCTCP's threshold `k` where senders do not send bursts: that of DCTCP,
/// `sqrt(2 n (C d + K)) / 2`.
pub fn smooth_swing(pipe: f64, k: f64, n: f64) -> f64 {
    super::dctcp::amplitude(pipe, k, n)
}

/// Least swing where windows leave as bursts: `beta (n - 1) / (n - beta) (C d + K)`.
pub fn least_swing(pipe: f64, k: f64, n: f64, beta: f64) -> f64 {
    beta * (n - 1.0) / (n - beta) * (pipe + k)
}

/// Largest swing where windows leave as bursts: `beta (n - 1) / (n (1 - beta)) (C d + K) + n
/// sqrt((1 - beta) (C d + K) / 2)`.
pub fn largest_swing(pipe: f64, k: f64, n: f64, beta: f64) -> f64 {
    let level = pipe + k;
    beta * (n - 1.0) / (n * (1.0 - beta)) * level + n * ((1.0 - beta) * level / 2.0).sqrt()
}

/// The threshold that smooth DCTCP senders need: `0.17 C d`.
pub fn smooth_threshold(pipe: f64) -> f64 {
    0.17 * pipe
}

/// The threshold that keeps a queue from running empty under bursts: where the bursts of a cut are
/// small against the pipe the first form holds, else the fixed point of the second.
pub fn burst_threshold(pipe: f64, n: f64, beta: f64) -> f64 {
    let first = beta * (n - 1.0) / (n * (1.0 - beta)) * pipe
        + n * (n - beta) * (n - beta) / (8.0 * (n - 1.0) * beta);
    let burst = n * (n - beta) / (beta * (n - 1.0));
    if burst * burst * (1.0 - beta) / 8.0 <= pipe + first {
        return first;
    }
    let square = n * n * (1.0 - beta);
    (square + n * (n * n * (1.0 - beta) * (1.0 - beta) + 8.0 * pipe * (1.0 - beta)).sqrt()) / 4.0
}

/// CEDM's upper threshold by the rule of its authors' switch: `K1 + (K1 + C d) / 4`.
pub fn upper_threshold(pipe: f64, k1: f64) -> f64 {
    k1 + (k1 + pipe) / 4.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, within: f64) {
        assert!((a - b).abs() <= within, "{a} is not {b}");
    }

    /// 10 Gb/s and 100 us: the slides' 22.9 packets for two flows, and by hand for other numbers.
    #[test]
    fn thresholds() {
        let pipe = 1e10 * 100e-6 / 8.0 / 1500.0;
        near(smooth_threshold(pipe), 14.17, 0.005);
        for (n, k) in [
            (2.0, 22.9),
            (3.0, 31.8),
            (4.0, 38.0),
            (8.0, 61.7),
            (16.0, 137.0),
            (32.0, 411.0),
        ] {
            near(burst_threshold(pipe, n, 1.0 / 3.0), k, 0.5);
        }
        near(upper_threshold(pipe, 14.0), 38.33, 0.01);
    }

    /// The first form is the K that the least swing just reaches, and a burst beside it; the second
    /// is the fixed point of the burst alone.
    #[test]
    fn what_the_thresholds_solve() {
        let (pipe, beta) = (1000.0, 0.25);
        let k = burst_threshold(1.0, 40.0, beta);
        near(k, 40.0 * ((1.0 - beta) * (1.0 + k) / 2.0).sqrt(), 1e-6);
        let k = least_swing(pipe, 0.0, 2.0, beta) / (1.0 - beta / (2.0 - beta));
        near(least_swing(pipe, k, 2.0, beta), k, 1e-9);
        assert!(burst_threshold(pipe, 2.0, beta) > k);
    }

    #[test]
    fn swings() {
        near(smooth_swing(83.0, 17.0, 2.0), 10.0, 1e-12);
        near(least_swing(80.0, 20.0, 2.0, 0.5), 100.0 / 3.0, 1e-9);
        near(largest_swing(80.0, 20.0, 2.0, 0.5), 50.0 + 2.0 * 5.0, 1e-9);
    }
}
