// SPDX-License-Identifier: MIT OR Apache-2.0
//! A metric over the two axes of a sweep: a heat map for each scheme but the baseline.

use cemark_scenario::Plan;

use super::of_group::{name, of_cell};
use super::of_sweep::Swept;
use super::{Body, Chart, Heat, Names, Panel, Tile, colour, file_word};
use crate::comparison::{Cell, Comparisons, Group};
use crate::metrics::{Better, Metric};
use crate::text::capital;

/// The chart; `None` where no scheme has a value against the baseline.
pub(super) fn chart(
    plan: &Plan,
    comparisons: &Comparisons,
    axes: [&Swept<'_>; 2],
    metric: &Metric,
) -> Option<Chart> {
    let base = &comparisons.baseline;
    let schemes = plan.schemes.iter().filter(|s| *s != base);
    let maps = schemes.map(|scheme| (scheme, map(comparisons, axes, metric, scheme)));
    let mut maps: Vec<(&String, Heat)> = maps
        .filter(|(_, map)| map.tiles.iter().any(Option::is_some))
        .collect();
    let tiles = maps.iter().flat_map(|(_, map)| map.tiles.iter().flatten());
    let most = tiles.map(|t| t.percent.abs()).fold(0.0, f64::max);
    let is_decided = |map: &Heat| map.tiles.iter().flatten().any(|t| t.is_decided);
    let triangles = match maps.iter().any(|(_, map)| is_decided(map)) {
        true => " A triangle is a decided difference: up is better, down is worse.",
        false => "",
    };
    let is_largest = |map: &Heat| map.tiles.iter().flatten().any(|t| t.is_largest);
    let largest = match maps.iter().any(|(_, map)| is_largest(map)) {
        true => " In parentheses: the largest of too few values for a percentile.",
        false => "",
    };
    for (scheme, map) in &mut maps {
        (map.most, map.colour) = (most, colour(plan, scheme));
    }
    let name = name(metric);
    let panels = maps
        .into_iter()
        .map(|(scheme, map)| Panel::new(scheme, Body::Heat(map)));
    let panels: Vec<Panel> = panels.collect();
    (!panels.is_empty()).then(|| Chart {
        name: format!("{}-map", file_word(&metric.key.replace('.', "-"))),
        title: format!("{}, percent against {base}", capital(&name)),
        caption: format!(
            "Green is better, red is worse, the more so the stronger.{triangles}{largest}"
        ),
        legend: Vec::new(),
        panels,
    })
}

fn map(
    comparisons: &Comparisons,
    [across, down]: [&Swept<'_>; 2],
    metric: &Metric,
    scheme: &str,
) -> Heat {
    let names = |swept: &Swept<'_>| Names {
        label: swept.places.axis.label.clone(),
        names: swept.places.places.iter().map(|p| p.0.to_owned()).collect(),
    };
    let at = |row: &str, column: &str| {
        let here = |g: &&Group| g.axes[across.path] == column && g.axes[down.path] == row;
        let group = comparisons.groups.iter().find(here)?;
        let row = group.rows.iter().find(|r| r.scheme == scheme)?;
        tile(group, scheme, row.cell(metric))
    };
    // The largest value is at the top, as on an axis that goes up.
    let rows: Vec<&str> = down.places.places.iter().rev().map(|p| p.0).collect();
    let columns = || across.places.places.iter().map(|p| p.0);
    let mut down = names(down);
    down.names.reverse();
    Heat {
        across: names(across),
        down,
        tiles: rows
            .iter()
            .flat_map(|r| columns().map(|c| at(r, c)))
            .collect(),
        ..Heat::default()
    }
}

fn tile(group: &Group, scheme: &str, cell: &Cell) -> Option<Tile> {
    let against = cell.against?;
    let less = against.percent < 0.0;
    Some(Tile {
        percent: against.percent,
        better: match cell.metric.better {
            Better::Less => Some(less),
            Better::More => Some(!less),
            Better::Neither => None,
        },
        is_decided: cell.better() || cell.worse(),
        tip: format!("{scheme}, {}: {}", group.title(), of_cell(cell, against)),
        is_largest: cell.largest_of.is_some(),
    })
}
