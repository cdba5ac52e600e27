// SPDX-License-Identifier: MIT OR Apache-2.0
//! The chart of queue lengths over time: one strip for each scheme, all to the same scale. The band
//! reaches from the smallest to the largest length of each pixel, the line is the mean.

use std::fmt::Write as _;

use cemark_scenario::Plan;
use cemark_sim::outcome::PortTrace;

use super::bars::escape;
use super::colour;
use crate::comparison::Group;
use crate::{Finished, units};

const WIDTH: f64 = 960.0;
const LEFT: f64 = 64.0;
const BAND: f64 = 84.0;
const TITLE: f64 = 32.0;
const AXIS: f64 = 26.0;
const BINS: usize = 440;

struct Strip<'a> {
    scheme: &'a str,
    trace: &'a PortTrace,
}

/// The scales that all strips share.
struct Scale {
    /// First and last sample, in microseconds.
    from: f64,
    until: f64,
    /// The queue length at the top of a strip, in bytes.
    most: f64,
}

impl Scale {
    fn new(strips: &[Strip<'_>]) -> Option<Self> {
        let all = || strips.iter().flat_map(|s| &s.trace.samples);
        let most = f64::from(all().map(|s| s.bytes).max()?).max(1.0);
        let digits = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0];
        Some(Scale {
            from: all().map(|s| s.at).min()?.as_micros_f64(),
            until: all().map(|s| s.at).max()?.as_micros_f64(),
            most: 2.0 * rounded_up(most / 2.0, &digits),
        })
    }

    fn span(&self) -> f64 {
        (self.until - self.from).max(1e-6)
    }

    fn x(&self, us: f64) -> f64 {
        LEFT + (WIDTH - LEFT) * (us - self.from) / self.span()
    }
}

/// The chart of the first seed; `None` without traces.
pub(super) fn draw(plan: &Plan, finished: &[Finished], group: &Group) -> Option<String> {
    let strips = strips(finished, group);
    let scale = Scale::new(&strips)?;
    let height = strips.len() as f64 * (BAND + TITLE) + AXIS;
    let mut s = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"Queue length over \
             time\">\n"
    );
    for (i, strip) in strips.iter().enumerate() {
        let base = (i + 1) as f64 * (BAND + TITLE);
        band(colour(plan, strip.scheme), strip, &scale, base, &mut s);
    }
    time_axis(&scale, height, &mut s);
    s += "</svg>";
    Some(s)
}

/// One port for each scheme keeps the page readable; all traces are in queues.parquet.
fn strips<'a>(finished: &'a [Finished], group: &'a Group) -> Vec<Strip<'a>> {
    let mean = |t: &PortTrace| {
        t.samples.iter().map(|s| f64::from(s.bytes)).sum::<f64>() / t.samples.len() as f64
    };
    let mut strips = Vec::new();
    for row in &group.rows {
        let Some(point) = row.points.first() else {
            continue;
        };
        let traces = finished[*point].outcome.traces.iter();
        let drawn = traces.filter(|t| t.samples.len() > 1);
        if let Some(trace) = drawn.max_by(|a, b| mean(a).total_cmp(&mean(b))) {
            strips.push(Strip {
                scheme: &row.scheme,
                trace,
            });
        }
    }
    strips
}

/// A strip with its lower edge at `base`: name, grid, band and line.
fn band(colour: usize, strip: &Strip<'_>, scale: &Scale, base: f64, s: &mut String) {
    let y = |bytes: f64| base - BAND * bytes / scale.most;
    let _ = writeln!(
        s,
        "<text class=\"name\" x=\"{LEFT}\" y=\"{:.1}\">{}\
         <tspan class=\"tick\" dx=\"8\">{}</tspan></text>",
        base - BAND - 7.0,
        escape(strip.scheme),
        escape(&strip.trace.name)
    );
    for share in [0.0, 0.5, 1.0] {
        let at = y(scale.most * share);
        let _ = writeln!(
            s,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            at + 4.0,
            units::bytes(scale.most * share)
        );
    }
    let (mut line, mut band, mut below) = (String::new(), String::new(), Vec::new());
    for (us, low, mean, high) in bins(strip.trace, scale.from, scale.span()) {
        let x = scale.x(us);
        let step = if line.is_empty() { "M" } else { "L" };
        let _ = write!(line, "{step}{x:.1} {:.1}", y(mean));
        let _ = write!(band, "{step}{x:.1} {:.1}", y(high));
        below.push(format!("L{x:.1} {:.1}", y(low)));
    }
    band.extend(below.iter().rev().map(String::as_str));
    let _ = writeln!(
        s,
        "<path class=\"f{colour} band\" d=\"{band}Z\"/><path class=\"l{colour}\" d=\"{line}\"/>"
    );
}

fn time_axis(scale: &Scale, height: f64, s: &mut String) {
    let step = rounded_up(scale.span() / 6.0, &[1.0, 2.0, 2.5, 5.0]);
    let first = (scale.from / step).ceil() as u64;
    let last = (scale.until / step).floor() as u64;
    for i in first..=last {
        let us = i as f64 * step;
        let x = scale.x(us);
        // A label at an end of the axis stays inside the picture.
        let anchor = match (x - LEFT, WIDTH - x) {
            (_, right) if right < 24.0 => "end",
            (left, _) if left < 24.0 => "start",
            _ => "middle",
        };
        let _ = writeln!(
            s,
            "<text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            height - 8.0,
            units::micros(us)
        );
    }
}

/// The smallest number that is at least `least` and has one of these leading `digits` (in rising
/// order; 10 is always one) times a power of ten, so that axes have round labels.
fn rounded_up(least: f64, digits: &[f64]) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let factor = digits.iter().find(|digit| *digit * power >= least);
    factor.unwrap_or(&10.0) * power
}

/// (time in microseconds, smallest, mean, largest) of each bin that has samples.
fn bins(trace: &PortTrace, from: f64, span: f64) -> Vec<(f64, f64, f64, f64)> {
    let mut out: Vec<(usize, f64, f64, f64, f64)> = Vec::new();
    for s in &trace.samples {
        let bin = (((s.at.as_micros_f64() - from) / span * BINS as f64) as usize).min(BINS - 1);
        let q = f64::from(s.bytes);
        match out.last_mut().filter(|b| b.0 == bin) {
            Some(b) => *b = (bin, b.1.min(q), b.2 + q, b.3.max(q), b.4 + 1.0),
            None => out.push((bin, q, q, q, 1.0)),
        }
    }
    out.into_iter()
        .map(|(bin, low, sum, high, n)| {
            (
                from + (bin as f64 + 0.5) / BINS as f64 * span,
                low,
                sum / n,
                high,
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::rounded_up;

    #[test]
    fn steps_are_round_and_large_enough() {
        for (least, step) in [
            (285.0, 500.0),
            (1.0, 1.0),
            (0.21, 0.25),
            (5.1, 10.0),
            (9_000.0, 10_000.0),
        ] {
            let up = rounded_up(least, &[1.0, 2.0, 2.5, 5.0]);
            assert!((up - step).abs() < 1e-9, "{least}: {up}");
        }
        assert!((rounded_up(285.0, &[1.0, 3.0]) - 300.0).abs() < 1e-9);
    }
}
