// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue lengths over time: one band a scheme, all to the same scale, smallest to largest length of
//! each pixel and the mean in between.

use std::fmt::Write as _;

use cemark_scenario::Plan;
use cemark_sim::outcome::PortTrace;

use super::bars::escape;
use super::colour;
use crate::model::Group;
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

/// The chart of the first seed; `None` without traces.
pub(super) fn draw(plan: &Plan, finished: &[Finished], group: &Group) -> Option<String> {
    let mut strips = Vec::new();
    for row in &group.rows {
        let Some(point) = row.points.first() else {
            continue;
        };
        let longest = finished[*point]
            .outcome
            .traces
            .iter()
            .filter(|t| t.samples.len() > 1);
        // One port a scheme keeps the page readable; all traces are in queues.parquet.
        let mean = |t: &PortTrace| {
            t.samples.iter().map(|s| f64::from(s.bytes)).sum::<f64>() / t.samples.len() as f64
        };
        if let Some(trace) = longest.max_by(|a, b| mean(a).total_cmp(&mean(b))) {
            strips.push(Strip {
                scheme: &row.scheme,
                trace,
            });
        }
    }
    let all = || strips.iter().flat_map(|s| &s.trace.samples);
    let from = all().map(|s| s.at).min()?.as_micros_f64();
    let until = all().map(|s| s.at).max()?.as_micros_f64();
    let most = f64::from(all().map(|s| s.bytes).max()?).max(1.0);
    let most = 2.0 * rounded_up(most / 2.0, &[1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0]);
    let span = (until - from).max(1e-6);
    let x = |us: f64| LEFT + (WIDTH - LEFT) * (us - from) / span;
    let height = strips.len() as f64 * (BAND + TITLE) + AXIS;
    let mut s = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"Queue length over time\">\n"
    );
    for (i, strip) in strips.iter().enumerate() {
        let base = (i + 1) as f64 * (BAND + TITLE);
        let y = |bytes: f64| base - BAND * bytes / most;
        let _ = writeln!(
            s,
            "<text class=\"name\" x=\"{LEFT}\" y=\"{:.1}\">{}<tspan class=\"tick\" dx=\"8\">{}</tspan></text>",
            base - BAND - 7.0,
            escape(strip.scheme),
            escape(&strip.trace.name)
        );
        for share in [0.0, 0.5, 1.0] {
            let at = y(most * share);
            let _ = writeln!(
                s,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                at + 4.0,
                units::bytes(most * share)
            );
        }
        let bins = bins(strip.trace, from, span);
        let mut line = String::new();
        let mut below = Vec::new();
        let mut band = String::new();
        for (us, low, mean, high) in bins {
            let _ = write!(
                line,
                "{}{:.1} {:.1}",
                if line.is_empty() { "M" } else { "L" },
                x(us),
                y(mean)
            );
            let _ = write!(
                band,
                "{}{:.1} {:.1}",
                if band.is_empty() { "M" } else { "L" },
                x(us),
                y(high)
            );
            below.push(format!("L{:.1} {:.1}", x(us), y(low)));
        }
        band.extend(below.iter().rev().map(String::as_str));
        let c = colour(plan, strip.scheme);
        let _ = writeln!(
            s,
            "<path class=\"f{c} band\" d=\"{band}Z\"/><path class=\"l{c}\" d=\"{line}\"/>"
        );
    }
    let step = rounded_up(span / 6.0, &[1.0, 2.0, 2.5, 5.0]);
    let first = (from / step).ceil() as u64;
    let last = (until / step).floor() as u64;
    for i in first..=last {
        let us = i as f64 * step;
        // A label at an end of the axis stays inside of the picture.
        let anchor = match (x(us) - LEFT, WIDTH - x(us)) {
            (_, right) if right < 24.0 => "end",
            (left, _) if left < 24.0 => "start",
            _ => "middle",
        };
        let _ = writeln!(
            s,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            x(us),
            height - 8.0,
            units::micros(us)
        );
    }
    s += "</svg>";
    Some(s)
}

/// The smallest of these leading `digits` (rising, or 10) times a power of ten that is no smaller
/// than `least`: what people read on an axis.
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
