// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows of a group: slowdown by size, and distributions of completion time, slowdown and queue
//! length.

use cemark_scenario::Plan;

use super::of_group::{at, place_of};
use super::of_sweep::PANELS;
use super::{Axis, Body, Chart, Curve, Curves, Form, Key, Panel, Spot, Unit, colour, curves};
use crate::by_size::{self, Bucket, Buckets, Estimate, PERCENTILES, SchemeSlowdown};
use crate::comparison::Group;
use crate::cumulative::{self, Cumulative, Quantity};
use crate::text::capital;
use crate::{Finished, units};

/// Slowdown over flow size, a panel for each percentile; `None` where all flows are in one bucket.
pub fn of_sizes(
    plan: &Plan,
    finished: &[Finished],
    group: &Group,
    buckets: &Buckets,
) -> Option<Chart> {
    let schemes = group.slowdown_by_size(finished, buckets);
    if schemes.iter().all(|s| s.buckets.len() < 2) {
        return None;
    }
    let panels: Vec<Panel> = (0..PERCENTILES.len())
        .filter_map(|place| percentile(plan, &schemes, place))
        .collect();
    let has_band = panels.iter().any(|panel| match &panel.body {
        Body::Curves(curves) => curves
            .curves
            .iter()
            .flat_map(|c| &c.spots)
            .any(|s| s.band.is_some()),
        _ => false,
    });
    let all = || schemes.iter().flat_map(|s| &s.buckets);
    let is_partial = all().any(|b| b.flows > 0 && b.percentiles().contains(&None));
    let cuts = match buckets {
        Buckets::Deciles => "Flows are divided at the deciles of their sizes",
        Buckets::UpTo(_) => "Flows are divided at the chosen sizes",
    };
    let mut caption = format!(
        "Slowdown is completion time over completion time in an empty network. {cuts}; each point \
         is at the median size of its bucket."
    );
    let seeds = group.seeds.len();
    if seeds > 1 {
        caption += &format!(" Means over {seeds} seeds");
        caption += if has_band {
            ", with their 95 % intervals as bands."
        } else {
            "."
        };
    }
    if is_partial {
        caption += " A p95 needs 20 flows of a bucket and seed, a p99 needs 100.";
    }
    (!panels.is_empty()).then(|| Chart {
        name: format!("{}{}", by_size::NAME, place_of(group)),
        title: format!("Slowdown by flow size{}", at(group)),
        caption,
        legend: legend(plan, schemes.iter().map(|s| &s.scheme)),
        panels,
    })
}

/// Flows over the axes of a sweep, a panel for each of the first groups: the highest percentile of
/// the slowdown by size that each of them has, and the distributions. All panels of a chart have
/// one scale.
pub fn of_flows_over(plan: &Plan, finished: &[Finished], groups: &[Group]) -> Vec<Chart> {
    let shown = &groups[..groups.len().min(PANELS)];
    let distribution = |quantity| of_distribution(plan, finished, shown, quantity);
    let distributions = Quantity::EACH.into_iter().filter_map(distribution);
    let by_size = sizes_over(plan, finished, shown);
    let mut charts: Vec<Chart> = by_size.into_iter().chain(distributions).collect();
    for chart in &mut charts {
        curves::align(chart);
        if groups.len() > PANELS {
            let more = groups.len() - PANELS;
            chart.caption += &format!(" {more} more combinations of the axes are not drawn here.");
        }
    }
    charts
}

/// The highest percentile of the slowdown by size that all groups have, a panel for each group.
fn sizes_over(plan: &Plan, finished: &[Finished], groups: &[Group]) -> Option<Chart> {
    let schemes: Vec<(&Group, Vec<SchemeSlowdown>)> = groups
        .iter()
        .map(|group| (group, group.slowdown_by_size(finished, &Buckets::Deciles)))
        .collect();
    let panels_of = |place: usize| -> Option<(usize, Vec<Panel>)> {
        let panel = |(group, schemes): &(&Group, Vec<SchemeSlowdown>)| {
            Some(Panel {
                title: group.title(),
                ..percentile(plan, schemes, place)?
            })
        };
        Some((place, schemes.iter().map(panel).collect::<Option<_>>()?))
    };
    let (place, panels) = (0..PERCENTILES.len()).rev().find_map(panels_of)?;
    let (name, _) = PERCENTILES[place];
    Some(Chart {
        name: format!("{}.{name}", by_size::NAME),
        title: format!("Slowdown by flow size, {name}"),
        caption: "Slowdown is completion time over completion time in an empty network. Flows are \
                  divided at the deciles of their sizes; each point is at the median size of its \
                  bucket."
            .to_owned(),
        legend: legend(plan, schemes.iter().flat_map(|(_, s)| s).map(|s| &s.scheme)),
        panels,
    })
}

fn percentile(plan: &Plan, schemes: &[SchemeSlowdown], place: usize) -> Option<Panel> {
    let (name, _) = PERCENTILES[place];
    let spot = |scheme: &str, bucket: &Bucket, estimate: Estimate| {
        let (above, up_to) = (bucket.above_bytes as f64, bucket.up_to_bytes as f64);
        let range = match estimate.interval() {
            Some((low, high)) => format!(" [{}, {}]", units::number(low), units::number(high)),
            None => String::new(),
        };
        Spot {
            x: bucket.median_bytes as f64,
            y: estimate.mean,
            band: estimate.interval(),
            tip: format!(
                "{scheme}, {} to {}: {name} {}{range}",
                units::bytes(above),
                units::bytes(up_to),
                units::number(estimate.mean)
            ),
        }
    };
    let curve = |of: &SchemeSlowdown| {
        let buckets = of.buckets.iter();
        let spots = buckets.filter_map(|b| Some(spot(&of.scheme, b, b.percentiles()[place]?)));
        Curve {
            label: of.scheme.clone(),
            colour: colour(plan, &of.scheme),
            spots: spots.collect(),
        }
    };
    let curves = schemes.iter().map(curve).filter(|c| !c.spots.is_empty());
    let curves = Curves {
        x: Axis {
            log: true,
            ..Axis::new("flow size", Unit::Bytes)
        },
        y: Axis::new("slowdown", Unit::default()),
        curves: curves.collect(),
        ..Curves::default()
    };
    // A bucket alone is no curve.
    let is_curve = curves.curves.iter().any(|curve| curve.spots.len() > 1);
    is_curve.then(|| Panel::new(name, Body::Curves(curves)))
}

/// Distribution of a quantity, a panel for each of these groups and a curve for each scheme; `None`
/// where no scheme has values.
pub fn of_distribution(
    plan: &Plan,
    finished: &[Finished],
    groups: &[Group],
    quantity: Quantity,
) -> Option<Chart> {
    let found = groups.iter().map(|group| {
        let of_group = cumulative::of_group(finished, group, quantity);
        (group, of_group)
    });
    let found: Vec<(&Group, Vec<Cumulative>)> = found.filter(|(_, c)| !c.is_empty()).collect();
    let (label, subject) = (capital(quantity.label()), quantity.subject());
    let title = format!("{label}: share of {subject} up to each value");
    let (name, title) = match groups {
        [group] => (
            format!("{}{}", quantity.name(), place_of(group)),
            title + &at(group),
        ),
        _ => (quantity.name().to_owned(), title),
    };
    let panels = found.iter().map(|(group, curves)| {
        let heading = if groups.len() == 1 {
            String::new()
        } else {
            group.title()
        };
        shares(plan, heading, quantity, curves)
    });
    (!found.is_empty()).then(|| Chart {
        name,
        title,
        caption: caption(quantity, groups),
        legend: legend(plan, found.iter().flat_map(|(_, c)| c).map(|c| &c.scheme)),
        panels: panels.collect(),
    })
}

fn caption(quantity: Quantity, groups: &[Group]) -> String {
    let of = match groups.iter().any(|g| g.seeds.len() > 1) {
        true => " of all seeds",
        false => "",
    };
    let mut said = match quantity {
        Quantity::CompletionTime => format!("All finished flows{of}."),
        Quantity::Slowdown => format!(
            "All finished flows{of}. Slowdown is completion time over completion time in an empty \
             network."
        ),
        Quantity::QueueLength => return format!("All samples of the traced ports{of}."),
    };
    let rows = groups.iter().flat_map(|g| &g.rows);
    let unfinished: u64 = rows.map(|row| row.unfinished).sum();
    if unfinished > 0 {
        said += &format!(" {unfinished} flows did not finish and have no value.");
    }
    said
}

fn shares(plan: &Plan, title: String, quantity: Quantity, found: &[Cumulative]) -> Panel {
    let unit = match quantity {
        Quantity::CompletionTime => Unit::Micros,
        Quantity::Slowdown => Unit::default(),
        Quantity::QueueLength => Unit::Bytes,
    };
    let curve = |of: &Cumulative| {
        let spots = of.values.iter().zip(&of.shares).map(|(x, y)| Spot {
            x: *x,
            y: *y,
            ..Spot::default()
        });
        Curve {
            label: of.scheme.clone(),
            colour: colour(plan, &of.scheme),
            spots: spots.collect(),
        }
    };
    let curves = Curves {
        x: Axis {
            log: quantity.is_wide(),
            ..Axis::new(quantity.label(), unit)
        },
        y: Axis::new(format!("share of {}", quantity.subject()), Unit::default()),
        form: Form::Plain,
        curves: found.iter().map(curve).collect(),
        ..Curves::default()
    };
    Panel::new(title, Body::Curves(curves))
}

/// Each scheme once.
pub(super) fn legend<'a>(plan: &Plan, schemes: impl Iterator<Item = &'a String>) -> Vec<Key> {
    let key = |label: &String| Key {
        label: label.clone(),
        colour: colour(plan, label),
    };
    crate::text::distinct(schemes)
        .into_iter()
        .map(key)
        .collect()
}
