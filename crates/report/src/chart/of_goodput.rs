// SPDX-License-Identifier: MIT OR Apache-2.0
//! Goodput of all flows together over time, where a scenario asks for intervals: one panel for each
//! scheme, all to the same scale.

use cemark_scenario::{Plan, Point};

use super::of_group::{at, place_of};
use super::{Chart, Curve, Panel, Spot, Unit, colour};
use crate::comparison::Group;
use crate::{Finished, units};

/// Intervals are gathered into at most this many points.
const POINTS: usize = 240;

/// Bytes that were counted in intervals one after the other.
#[derive(Clone, Copy)]
pub struct Intervals {
    /// Where the first begins, in microseconds.
    pub from: f64,
    /// The length of each, in seconds.
    pub length: f64,
}

impl Intervals {
    /// Goodput intervals of a point.
    pub fn of(point: &Point) -> Intervals {
        let measure = &point.config.measure;
        Intervals {
            from: measure.from.as_micros_f64(),
            length: measure.goodput_interval.as_secs_f64(),
        }
    }

    /// How many intervals are gathered into a point, of `count` in all.
    pub fn stride(count: usize) -> usize {
        count.div_ceil(POINTS).max(1)
    }

    /// The curve of `bytes`, a point for each `stride` intervals, in bits per second.
    pub fn curve(self, bytes: &[u64], stride: usize, name: &str) -> Vec<Spot> {
        let spot = |(i, some): (usize, &[u64])| {
            let (begin, many) = ((i * stride) as f64, some.len() as f64);
            let x = self.from + (begin + many / 2.0) * self.length * 1e6;
            let y = some.iter().sum::<u64>() as f64 * 8.0 / (many * self.length);
            let (when, what) = (units::micros(x), units::bits_per_second(y));
            Spot {
                x,
                y,
                tip: format!("{name} at {when}: {what}"),
                ..Spot::default()
            }
        };
        bytes.chunks(stride).enumerate().map(spot).collect()
    }
}

/// The chart of the first seed; `None` without intervals.
pub fn of_goodput(plan: &Plan, finished: &[Finished], group: &Group) -> Option<Chart> {
    let first = *group.baseline().points.first()?;
    let intervals = Intervals::of(&plan.points[first]);
    let goodput = |i: usize| &finished[i].outcome.goodput[..];
    let rows = || {
        let rows = group.rows.iter();
        rows.filter_map(|r| Some((&r.scheme, goodput(*r.points.first()?))))
    };
    let longest = rows().map(|(_, bytes)| bytes.len()).max()?;
    if longest < 2 || intervals.length <= 0.0 {
        return None;
    }
    let stride = Intervals::stride(longest);
    let curves: Vec<(&String, Vec<Spot>)> = rows()
        .map(|(scheme, bytes)| (scheme, intervals.curve(bytes, stride, scheme)))
        .collect();
    let all = curves.iter().flat_map(|(_, spots)| spots);
    let most = all.map(|s| s.y).fold(0.0, f64::max).max(1.0);
    let until = intervals.from + longest as f64 * intervals.length * 1e6;
    let panels = curves.into_iter().map(|(scheme, spots)| {
        let curve = Curve {
            label: scheme.clone(),
            colour: colour(plan, scheme),
            spots,
        };
        let time = (intervals.from, until);
        Panel::over_time(scheme, time, Unit::BitsPerSecond, most, vec![curve])
    });
    let seed = plan.points[first].seed;
    let shown = units::micros(stride as f64 * intervals.length * 1e6);
    Some(Chart {
        name: format!("goodput{}", place_of(group)),
        title: format!("Goodput of all flows over time{}", at(group)),
        caption: format!("Payload that arrived, mean of each {shown}, seed {seed}."),
        legend: Vec::new(),
        panels: panels.collect(),
    })
}
