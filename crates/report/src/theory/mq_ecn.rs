// SPDX-License-Identifier: MIT OR Apache-2.0
//! Round time and rate of backlogged queues of equal quanta under DWRR or WRR (MQ-ECN).

/// The round time of `n` queues: `n quantum / C`.
pub fn round(rate: f64, n: f64, quantum: f64) -> f64 {
    n * quantum * 8.0 / rate
}

/// The rate of one queue: `quantum / T`, at most that of the link.
pub fn share(rate: f64, quantum: f64, round: f64) -> f64 {
    (quantum * 8.0 / round).min(rate)
}
