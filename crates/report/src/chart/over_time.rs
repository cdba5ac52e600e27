// SPDX-License-Identifier: MIT OR Apache-2.0
//! Samples of bytes over time as a curve: the mean of each of many short intervals, with the lowest
//! and the highest sample in it.

use super::{Curve, Panel, Spot, Unit};
use crate::units;

/// Samples are gathered into this many bins.
const BINS: usize = 240;
/// Bins that share one text under the pointer.
const HOVERED: usize = 6;

/// A sample.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    /// When, in microseconds.
    pub at: f64,
    pub bytes: f64,
}

/// Samples of a scheme.
pub(super) struct Samples {
    pub scheme: String,
    /// Place in the list of colours.
    pub colour: usize,
    pub seen: Vec<Seen>,
}

/// Most bytes of any sample, and a panel with a curve for each scheme; `None` without samples.
/// Bands span the lowest and the highest sample of a bin.
pub(super) fn panel(all: &[Samples], has_bands: bool) -> Option<(f64, Panel)> {
    let seen = || all.iter().flat_map(|of| &of.seen);
    let from = seen().map(|s| s.at).min_by(f64::total_cmp)?;
    let until = seen().map(|s| s.at).max_by(f64::total_cmp)?;
    let most = seen().map(|s| s.bytes).fold(1.0, f64::max);
    let curves = all.iter().map(|of| {
        let mut spots = bins(&of.seen, (from, until), &of.scheme);
        if !has_bands {
            spots.iter_mut().for_each(|spot| spot.band = None);
        }
        Curve {
            label: of.scheme.clone(),
            colour: of.colour,
            spots,
        }
    });
    let panel = Panel::over_time("", (from, until), Unit::Bytes, most, curves.collect());
    Some((most, panel))
}

/// The samples in bins of the time from `from` to `until`.
fn bins(samples: &[Seen], (from, until): (f64, f64), name: &str) -> Vec<Spot> {
    struct Bin {
        place: usize,
        low: f64,
        sum: f64,
        high: f64,
        many: f64,
    }
    let span = (until - from).max(1e-6);
    let mut all: Vec<Bin> = Vec::new();
    for &Seen { at, bytes } in samples {
        let share = (at - from) / span;
        let place = ((share * BINS as f64) as usize).min(BINS - 1);
        match all.last_mut().filter(|b| b.place == place) {
            Some(b) => {
                (b.low, b.high) = (b.low.min(bytes), b.high.max(bytes));
                b.sum += bytes;
                b.many += 1.0;
            }
            None => all.push(Bin {
                place,
                low: bytes,
                sum: bytes,
                high: bytes,
                many: 1.0,
            }),
        }
    }
    let time = |place: usize| from + (place as f64 + 0.5) / BINS as f64 * span;
    let tips = all.chunks(HOVERED).map(|some| {
        let (sum, many) = some
            .iter()
            .fold((0.0, 0.0), |t, b| (t.0 + b.sum, t.1 + b.many));
        let low = some.iter().map(|b| b.low).fold(f64::INFINITY, f64::min);
        let high = some.iter().map(|b| b.high).fold(0.0, f64::max);
        format!(
            "{name} at {}: mean {}, from {} to {}",
            units::micros(time(some[some.len() / 2].place)),
            units::bytes(sum / many),
            units::bytes(low),
            units::bytes(high)
        )
    });
    let tips: Vec<String> = tips.collect();
    let spots = all.iter().enumerate().map(|(i, b)| Spot {
        x: time(b.place),
        y: b.sum / b.many,
        band: Some((b.low, b.high)),
        tip: match i % HOVERED {
            0 => tips[i / HOVERED].clone(),
            _ => String::new(),
        },
    });
    spots.collect()
}
