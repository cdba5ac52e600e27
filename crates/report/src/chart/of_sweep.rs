// SPDX-License-Identifier: MIT OR Apache-2.0
//! Metrics over the axes of a sweep: a chart for each metric and axis, a line for each scheme, the
//! intervals as bands. Where several axes are swept, each combination of the others has a panel.

use std::collections::BTreeMap;

use cemark_scenario::Plan;

use super::of_group::{name, of_cell};
use super::{Axis, Body, Chart, Curve, Curves, Key, Panel, Spot, Unit};
use super::{colour, file_word, unit_of};
use crate::Finished;
use crate::comparison::{Comparisons, Group, axis_name};
use crate::metrics::Metric;
use crate::summary::measures;
use crate::text::{capital, distinct};

/// Most panels of a chart.
pub(super) const PANELS: usize = 12;

/// How the charts of a sweep are drawn.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Percent against the baseline, with paired intervals.
    Differences,
    /// Every scheme in the metric's unit with its own interval, from these points of the plan.
    Absolute(&'a [Finished]),
}

/// An axis of a sweep.
pub(super) struct Swept<'a> {
    pub path: &'a str,
    pub places: Places<'a>,
}

impl<'a> Swept<'a> {
    pub fn new(path: &'a str, comparisons: &'a Comparisons) -> Option<Self> {
        let groups = comparisons.groups.iter();
        let words: Option<Vec<&str>> = groups.map(|g| Some(&g.axes.get(path)?[..])).collect();
        let words = distinct(words?);
        (words.len() > 1).then(|| Swept {
            path,
            // From a range of 1 to 20 on, small values would be on top of each other.
            places: Places::new(&axis_name(path), &words, numbers(&words), 20.0),
        })
    }
}

/// A horizontal axis with the place of each word on it.
pub struct Places<'a> {
    /// The axis.
    pub axis: Axis,
    /// Words in order of their place.
    pub places: Vec<(&'a str, f64)>,
}

impl<'a> Places<'a> {
    /// The words as numbers, or as names beside each other. Numbers are on a logarithmic axis from
    /// a ratio of largest to smallest of `wide` on.
    pub fn new(
        label: &str,
        words: &[&'a str],
        numbers: Option<(Unit, Vec<(&'a str, f64)>)>,
        wide: f64,
    ) -> Self {
        let Some((unit, mut places)) = numbers else {
            return Places {
                axis: Axis {
                    names: words.iter().map(|w| (*w).to_owned()).collect(),
                    ..Axis::new(label, Unit::default())
                },
                places: words.iter().copied().zip((0..).map(f64::from)).collect(),
            };
        };
        places.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (low, high) = (places[0].1, places[places.len() - 1].1);
        Places {
            axis: Axis {
                log: low > 0.0 && high / low >= wide && places.len() > 2,
                at: places.iter().map(|p| p.1).collect(),
                ..Axis::new(label, unit)
            },
            places,
        }
    }

    /// The place of a word.
    pub fn of(&self, word: &str) -> Option<f64> {
        self.places.iter().find(|p| p.0 == word).map(|p| p.1)
    }
}

/// The values as numbers in one unit; `None` if they are words.
pub fn numbers<'a>(words: &[&'a str]) -> Option<(Unit, Vec<(&'a str, f64)>)> {
    const FACTORS: [(&str, f64, Unit); 16] = [
        ("ps", 1e-6, Unit::Micros),
        ("ns", 1e-3, Unit::Micros),
        ("us", 1.0, Unit::Micros),
        ("µs", 1.0, Unit::Micros),
        ("ms", 1e3, Unit::Micros),
        ("s", 1e6, Unit::Micros),
        ("B", 1.0, Unit::Bytes),
        ("KB", 1e3, Unit::Bytes),
        ("MB", 1e6, Unit::Bytes),
        ("GB", 1e9, Unit::Bytes),
        ("KiB", 1024.0, Unit::Bytes),
        ("MiB", 1_048_576.0, Unit::Bytes),
        ("bps", 1.0, Unit::BitsPerSecond),
        ("kbps", 1e3, Unit::BitsPerSecond),
        ("Mbps", 1e6, Unit::BitsPerSecond),
        ("Gbps", 1e9, Unit::BitsPerSecond),
    ];
    let mut unit: Option<Unit> = None;
    let mut places = Vec::new();
    for word in words {
        let end = word.find(|c: char| c.is_alphabetic() || c == '%');
        let (number, suffix) = word.split_at(end.unwrap_or(word.len()));
        let number: f64 = number.trim().replace('_', "").parse().ok()?;
        let known = FACTORS.iter().find(|f| f.0 == suffix.trim());
        let (factor, here) = match known {
            Some((_, factor, unit)) => (*factor, unit.clone()),
            None => (1.0, Unit::Other(suffix.trim().to_owned())),
        };
        // Zero needs no unit.
        if number != 0.0 || !suffix.is_empty() {
            match &unit {
                Some(unit) if *unit != here => return None,
                _ => unit = Some(here),
            }
        }
        places.push((*word, number * factor));
    }
    Some((unit.unwrap_or_default(), places))
}

/// The chart of a metric over an axis; `None` where nothing was measured.
pub(super) fn chart(
    plan: &Plan,
    comparisons: &Comparisons,
    swept: &Swept<'_>,
    metric: &Metric,
    values: Values<'_>,
) -> Option<Chart> {
    // Groups that differ in this axis only are a panel.
    let mut panels: Vec<(BTreeMap<String, String>, Vec<&Group>)> = Vec::new();
    for group in comparisons.groups.iter().filter(|g| g.has(metric)) {
        let mut others = group.axes.clone();
        others.remove(swept.path);
        match panels.iter_mut().find(|p| p.0 == others) {
            Some(panel) => panel.1.push(group),
            None => panels.push((others, vec![group])),
        }
    }
    let left_out = panels.len().saturating_sub(PANELS);
    let drawn: Vec<Panel> = panels
        .iter()
        .take(PANELS)
        .filter_map(|(others, groups)| panel(plan, swept, metric, others, groups, values))
        .collect();
    if drawn.is_empty() {
        return None;
    }
    let base = &comparisons.baseline;
    let (name, label) = (name(metric), &swept.places.axis.label);
    let word = file_word(&metric.key.replace('.', "-"));
    let axis = file_word(swept.path);
    let mut caption = match values {
        Values::Differences => {
            let words = match bands(&drawn) {
                true => "; the bands are paired 95 % intervals",
                false => "",
            };
            format!("Percent against {base}, which is the line at zero{words}.")
        }
        Values::Absolute(_) => match bands(&drawn) {
            true => "Means over the seeds; the bands are 95 % intervals.".to_owned(),
            false => "Means over the seeds.".to_owned(),
        },
    };
    if left_out > 0 {
        caption += &format!(
            " {left_out} more combinations of the other axes are in the tables, not here."
        );
    }
    // Under percents the baseline is no curve.
    let named = plan.schemes.iter();
    let named = named.filter(|s| matches!(values, Values::Absolute(_)) || *s != base);
    let legend = named.map(|scheme| Key {
        label: scheme.clone(),
        colour: colour(plan, scheme),
    });
    let mut legend: Vec<Key> = legend.collect();
    legend.sort_by_key(|key| key.label != *base);
    Some(Chart {
        name: match values {
            Values::Differences => format!("{word}-over-{axis}"),
            Values::Absolute(_) => format!("{word}-over-{axis}-absolute"),
        },
        title: match values {
            Values::Differences => format!("{} over {label}, against {base}", capital(&name)),
            Values::Absolute(_) => format!("{} over {label}", capital(&name)),
        },
        caption,
        legend,
        panels: drawn,
    })
}

/// Whether any point of the curves has a band.
fn bands(panels: &[Panel]) -> bool {
    let bodies = panels.iter().filter_map(|p| match &p.body {
        Body::Curves(curves) => Some(curves),
        _ => None,
    });
    let mut spots = bodies.flat_map(|c| &c.curves).flat_map(|c| &c.spots);
    spots.any(|s| s.band.is_some())
}

fn panel(
    plan: &Plan,
    swept: &Swept<'_>,
    metric: &Metric,
    others: &BTreeMap<String, String>,
    groups: &[&Group],
    values: Values<'_>,
) -> Option<Panel> {
    let mut curves = Vec::new();
    for (i, scheme) in plan.schemes.iter().enumerate() {
        let mut spots: Vec<Spot> = groups
            .iter()
            .filter_map(|group| spot(plan, group, swept, metric, scheme, values))
            .collect();
        spots.sort_by(|a, b| a.x.total_cmp(&b.x));
        let colour = colour(plan, scheme);
        let mut whole = unbroken(swept, spots);
        if !swept.places.axis.names.is_empty() {
            // Beside each other within the place that they share.
            let many = plan.schemes.len() as f64;
            let aside = 0.7 * ((i as f64 + 0.5) / many - 0.5);
            whole.iter_mut().flatten().for_each(|spot| spot.x += aside);
        }
        curves.extend(whole.into_iter().map(|spots| Curve {
            label: scheme.clone(),
            colour,
            spots,
        }));
    }
    if curves.is_empty() {
        return None;
    }
    let base = &groups[0].baseline().scheme;
    let (y, origin) = match values {
        Values::Differences => (
            Axis::new(format!("difference from {base}"), Unit::Percent),
            Some(0.0),
        ),
        Values::Absolute(_) => (Axis::new("", unit_of(metric.unit)), None),
    };
    let title = others
        .iter()
        .map(|(path, value)| format!("{} = {value}", axis_name(path)));
    let curves = Curves {
        x: swept.places.axis.clone(),
        y,
        origin,
        curves,
        ..Curves::default()
    };
    let title = title.collect::<Vec<_>>().join(", ");
    Some(Panel::new(title, Body::Curves(curves)))
}

/// The points in lines that do not cross a place where the scheme has no value, since a line there
/// would claim one. Places without number have no line between them.
fn unbroken(swept: &Swept<'_>, spots: Vec<Spot>) -> Vec<Vec<Spot>> {
    let place = |spot: &Spot| swept.places.places.iter().position(|p| p.1 == spot.x);
    let mut lines: Vec<Vec<Spot>> = Vec::new();
    for spot in spots {
        let last = lines.last_mut().filter(|line| {
            let before = line.last().and_then(place);
            swept.places.axis.names.is_empty() && before.map(|i| i + 1) == place(&spot)
        });
        match last {
            Some(line) => line.push(spot),
            None => lines.push(vec![spot]),
        }
    }
    lines
}

fn spot(
    plan: &Plan,
    group: &Group,
    swept: &Swept<'_>,
    metric: &Metric,
    scheme: &str,
    values: Values<'_>,
) -> Option<Spot> {
    let word = group.axes.get(swept.path)?;
    let x = swept.places.of(word)?;
    let row = group.rows.iter().find(|r| r.scheme == scheme)?;
    let cell = row.cell(metric);
    let (y, band, text) = match values {
        Values::Differences => {
            let c = cell.against?;
            (c.percent, c.interval, of_cell(cell, c))
        }
        Values::Absolute(finished) => {
            let measure = measures::of_row(plan, finished, group, row, metric)?;
            let mut text = metric.show(measure.value);
            if cell.largest_of.is_some() {
                text += &format!(", {}", cell.largest());
            }
            (measure.value, measure.low.zip(measure.high), text)
        }
    };
    let label = &swept.places.axis.label;
    Some(Spot {
        x,
        y,
        band,
        tip: format!("{scheme}, {label} {word}: {text}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_an_axis_are_numbers_in_one_unit() {
        let of = |words: &[&str]| {
            numbers(words).map(|(unit, places)| (unit, places.iter().map(|p| p.1).collect()))
        };
        let plain = Unit::Other(String::new());
        assert_eq!(of(&["0.3", "0.90"]), Some((plain, vec![0.3, 0.9])));
        assert_eq!(
            of(&["900ns", "1ms"]),
            Some((Unit::Micros, vec![0.9, 1000.0]))
        );
        assert_eq!(of(&["0", "64KB"]), Some((Unit::Bytes, vec![0.0, 64_000.0])));
        assert_eq!(of(&["10us", "64KB"]), None);
        assert_eq!(of(&["web-search", "data-mining"]), None);
        assert_eq!(of(&["fresh", "1"]), None);
    }
}
