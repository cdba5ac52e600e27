// SPDX-License-Identifier: MIT OR Apache-2.0
//! Texts at the pointer for curves whose spots bring none of their own: name and both values.

use super::{Axis, Body, Chart, Curves, Unit};
use crate::units;

/// Most places of a curve at which the pointer reads values.
pub(super) const STOPS: usize = 40;

impl Chart {
    /// The chart with texts at the pointer on every curve.
    pub(super) fn told(&self) -> Chart {
        let mut chart = self.clone();
        for panel in &mut chart.panels {
            if let Body::Curves(curves) | Body::Times(curves) = &mut panel.body {
                let name = |colour| {
                    let key = self.legend.iter().find(|key| key.colour == colour);
                    key.map_or(&panel.title[..], |key| &key.label)
                };
                tell(curves, name);
            }
        }
        chart
    }
}

fn tell<'a>(curves: &mut Curves, name: impl Fn(usize) -> &'a str) {
    let (x, y) = (&curves.x, &curves.y);
    for curve in &mut curves.curves {
        if curve.spots.iter().any(|s| !s.tip.is_empty()) {
            continue;
        }
        let name = name(curve.colour);
        let stride = curve.spots.len().div_ceil(STOPS).max(1);
        for spot in curve.spots.iter_mut().step_by(stride) {
            spot.tip = format!("{name}: {} at {}", shown(y, spot.y), shown(x, spot.x));
        }
    }
}

/// `share 0.95`, `flow size 1.2 MB`.
fn shown(axis: &Axis, value: f64) -> String {
    let place = (value.round().max(0.0)) as usize;
    let value = match (&axis.unit, axis.names.get(place)) {
        (_, Some(name)) => name.clone(),
        (Unit::Percent, _) => units::percent(value).replace('-', "−"),
        (Unit::Micros, _) => units::micros(value),
        (Unit::Bytes, _) => units::bytes(value),
        (Unit::BitsPerSecond, _) => units::bits_per_second(value),
        (Unit::Other(unit), _) => format!("{} {unit}", units::number(value)),
    };
    format!("{} {value}", axis.label).trim().to_owned()
}
