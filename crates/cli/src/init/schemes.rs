// SPDX-License-Identifier: MIT OR Apache-2.0
//! The schemes that the scenario compares, with thresholds by the rules of their papers
//! (docs/schemes; `cemark theory threshold` and `cemark theory ecn_sharp` print the same numbers).

use minijinja::{Value, context};

use super::answers::Per;
use super::parts::Parts;
use super::rtts::Numbers;
use crate::quantity::{length, time};

/// Bytes of two packets: below this a threshold marks nearly every packet.
const FEWEST_BYTES: u64 = 3_000;

/// The thresholds of one fabric, in picoseconds.
struct Thresholds {
    /// lambda x 90th percentile of the base RTTs.
    tail: u64,
    /// lambda x mean.
    mean: u64,
    /// The largest base RTT.
    largest: u64,
    /// The most that the buffer leaves for a threshold, where that decided.
    most: Option<u64>,
}

impl Thresholds {
    fn of(parts: &Parts<'_>, rtt: &Numbers) -> Thresholds {
        let rate = parts.answers.rate;
        let spent = |bytes: u64| (bytes as f64 * 8e12 / rate as f64) as u64;
        let most = spent(match parts.answers.buffer.per {
            Per::Port => parts.buffer / 2,
            Per::Switch => parts.buffer / 4,
        });
        let least = spent(FEWEST_BYTES);
        Thresholds {
            tail: rtt.tail.max(least).min(most),
            mean: rtt.mean.max(least).min(most),
            largest: rtt.largest.max(least),
            most: (rtt.tail > most).then_some(most),
        }
    }
}

/// Whether the buffer is too small for the threshold that the RTTs ask for: a note for the user.
pub(super) fn note(parts: &Parts<'_>, rtt: &Numbers) -> Option<String> {
    let capped = Thresholds::of(parts, rtt).most?;
    let need = bytes(parts, rtt.tail);
    Some(format!(
        "the buffer ({}) is small for these RTTs: a threshold of {} ({}) would leave no room above \
         it, so {} is written",
        length(parts.buffer),
        time(rtt.tail),
        length(need / 1000 * 1000),
        time(capped)
    ))
}

/// Bytes that a host link sends in `picos` picoseconds.
fn bytes(parts: &Parts<'_>, picos: u64) -> u64 {
    (picos as f64 * parts.answers.rate as f64 / 8e12) as u64
}

/// The thresholds of all schemes as the scenario writes them.
pub(super) fn thresholds(parts: &Parts<'_>, rtt: &Numbers) -> Value {
    let t = Thresholds::of(parts, rtt);
    let (low, high, wait) = ramp(parts, &t);
    context! {
        rtt_mean => time(rtt.mean),
        rtt_tail => time(rtt.tail),
        rtt_largest => time(rtt.largest),
        on_the_way => length(bytes(parts, rtt.tail).max(1000) / 100 * 100),
        varies => rtt.tail > rtt.mean + rtt.mean / 50,
        capped => t.most.map(time),
        tail => time(t.tail),
        mean => time(t.mean),
        largest => time(t.largest),
        low => time(low),
        high => time(high),
        wait => time(wait),
        interval => time(t.largest.max(100_000_000)),
    }
}

/// Kmin and Kmax of DCQCN and a threshold on the wait. 150 and 1500 KB at 100 Gb/s are 12 and
/// 120 us.
fn ramp(parts: &Parts<'_>, t: &Thresholds) -> (u64, u64, u64) {
    let limit = t.most.unwrap_or(u64::MAX);
    let spent = |bytes: u64| (bytes as f64 * 8e12 / parts.answers.rate as f64) as u64;
    let least = spent(FEWEST_BYTES);
    let most = match parts.answers.buffer.per {
        Per::Port => spent(parts.buffer / 2),
        Per::Switch => spent(parts.buffer / 8),
    };
    let high = 120_000_000_u64.max(10 * least).min(most).min(limit);
    (high / 10, high, t.mean.max(least).min(high))
}
