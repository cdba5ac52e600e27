// SPDX-License-Identifier: MIT OR Apache-2.0
//! Goodput of all flows together over time, where a scenario asks for intervals: one panel for each
//! scheme, all to the same scale.

use cemark_scenario::Plan;

use super::of_group::{at, place_of};
use super::{Axis, Body, Chart, Curve, Curves, Form, Panel, Spot, Unit, colour};
use crate::comparison::Group;
use crate::{Finished, units};

/// Intervals are gathered into at most this many points.
const POINTS: usize = 240;

/// The chart of the first seed; `None` without intervals.
pub fn of_goodput(plan: &Plan, finished: &[Finished], group: &Group) -> Option<Chart> {
    let first = *group.baseline().points.first()?;
    let measure = &plan.points[first].config.measure;
    let interval = measure.goodput_interval.as_secs_f64();
    let from = measure.from.as_micros_f64();
    let goodput = |i: usize| &finished[i].outcome.goodput[..];
    let rows = || {
        let rows = group.rows.iter();
        rows.filter_map(|r| Some((&r.scheme, goodput(*r.points.first()?))))
    };
    let longest = rows().map(|(_, bytes)| bytes.len()).max()?;
    if longest < 2 || interval <= 0.0 {
        return None;
    }
    let stride = longest.div_ceil(POINTS);
    let curve = |scheme: &str, bytes: &[u64]| -> Vec<Spot> {
        let spot = |(i, some): (usize, &[u64])| {
            let (begin, many) = ((i * stride) as f64, some.len() as f64);
            let x = from + (begin + many / 2.0) * interval * 1e6;
            let y = some.iter().sum::<u64>() as f64 * 8.0 / (many * interval);
            let when = units::micros(x);
            Spot {
                x,
                y,
                band: None,
                tip: format!("{scheme} at {when}: {}", units::bits_per_second(y)),
            }
        };
        bytes.chunks(stride).enumerate().map(spot).collect()
    };
    let curves: Vec<(&String, Vec<Spot>)> = rows().map(|(s, b)| (s, curve(s, b))).collect();
    let all = curves.iter().flat_map(|(_, spots)| spots);
    let most = all.map(|s| s.y).fold(0.0, f64::max).max(1.0);
    let until = from + longest as f64 * interval * 1e6;
    let panels = curves.into_iter().map(|(scheme, spots)| Panel {
        title: scheme.clone(),
        note: String::new(),
        body: Body::Times(Curves {
            x: Axis {
                range: Some((from, until)),
                ..Axis::new("time", Unit::Micros)
            },
            y: Axis {
                range: Some((0.0, 1.08 * most)),
                ..Axis::new("", Unit::BitsPerSecond)
            },
            origin: None,
            form: Form::Dotted,
            marks: Vec::new(),
            curves: vec![Curve {
                colour: colour(plan, scheme),
                spots,
            }],
        }),
    });
    let seed = plan.points[first].seed;
    let shown = units::micros(stride as f64 * interval * 1e6);
    Some(Chart {
        name: format!("goodput{}", place_of(group)),
        title: format!("Goodput of all flows over time{}", at(group)),
        caption: format!("Payload delivered in order, mean of each {shown}, seed {seed}."),
        legend: Vec::new(),
        panels: panels.collect(),
    })
}
