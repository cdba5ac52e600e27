// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sawtooth of synchronised DCTCP flows at one threshold (DCTCP section 3.3).
//!
//! Lengths are packets; `pipe` is C d, the bandwidth times the base round trip.

/// The window of each of `n` flows when the queue is at the threshold `k`: `(C d + K) / n`.
pub fn window(pipe: f64, k: f64, n: f64) -> f64 {
    (pipe + k) / n
}

/// The estimate alpha at that window, `sqrt(2 / W)`, at most 1.
pub fn alpha(window: f64) -> f64 {
    (2.0 / window).sqrt().min(1.0)
}

/// How far the queue swings: `sqrt(2 n (C d + K)) / 2`.
pub fn amplitude(pipe: f64, k: f64, n: f64) -> f64 {
    (2.0 * n * (pipe + k)).sqrt() / 2.0
}

/// The largest queue: `K + n`.
pub fn longest_queue(k: f64, n: f64) -> f64 {
    k + n
}

/// The smallest queue: `K + n - A`, at least 0.
pub fn shortest_queue(pipe: f64, k: f64, n: f64) -> f64 {
    (k + n - amplitude(pipe, k, n)).max(0.0)
}

/// The period of the sawtooth in seconds: `d sqrt(2 (C d + K) / n) / 2`.
pub fn period(rtt: f64, pipe: f64, k: f64, n: f64) -> f64 {
    rtt * (2.0 * (pipe + k) / n).sqrt() / 2.0
}

/// The smallest threshold that keeps the link busy: `C d / 7`.
pub fn smallest_threshold(pipe: f64) -> f64 {
    pipe / 7.0
}
