// SPDX-License-Identifier: MIT OR Apache-2.0
//! The papers' closed forms as functions. `cemark theory` and the computed rows of figures both use
//! them.
//!
//! Arguments and results are in base units: bits per second, seconds, bytes, or packets where a
//! name says so.

pub mod cedm;
pub mod dcib;
pub mod dctcp;
pub mod ecn_sharp;
pub mod mq_ecn;

/// Bytes in flight that fill a link: the product of bandwidth and delay.
pub fn bdp(rate: f64, rtt: f64) -> f64 {
    rate * rtt / 8.0
}

/// The smallest threshold in bytes that keeps a link busy, `lambda C d`; `lambda` is 1 for ECN*
/// and 0.17 for DCTCP in theory.
pub fn threshold(rate: f64, rtt: f64, lambda: f64) -> f64 {
    lambda * bdp(rate, rtt)
}

/// The window in packets of one NewReno or ECN* flow whose packets are lost or marked with
/// probability `loss`, `sqrt(3 / (2 b p))`, where an ACK covers `b` packets (Mathis, Semke, Mahdavi
/// and Ott, 1997).
pub fn newreno_window(loss: f64, ack_every: f64) -> f64 {
    (1.5 / (ack_every * loss)).sqrt()
}
