// SPDX-License-Identifier: MIT OR Apache-2.0
//! Utilisation and pauses of the ports of each scheme, the largest share first.

use cemark_scenario::Plan;

use super::of_flows::legend;
use super::of_group::{at, place_of};
use super::{Axis, Body, Chart, Curve, Curves, Panel, Spot, Unit, colour};
use crate::Finished;
use crate::by_port::{OfPort, Share};
use crate::comparison::{Group, Row};
use crate::text::capital;

/// A panel for each of these shares that some port has; `None` without any.
pub fn of_ports(
    plan: &Plan,
    finished: &[Finished],
    group: &Group,
    shares: &[Share],
) -> Option<Chart> {
    let panels = shares
        .iter()
        .filter_map(|share| panel(plan, finished, group, *share));
    let panels: Vec<(Share, Panel)> = panels.collect();
    let drawn = panels.iter().map(|(share, _)| share.label());
    let title = drawn.collect::<Vec<_>>().join(" and ");
    let seeds = match group.seeds.len() {
        1 => String::new(),
        many => format!(
            " Means over {many} seeds; a band spans the least and the largest share of a seed."
        ),
    };
    let name = match &panels[..] {
        [] => return None,
        [(share, _)] if shares.len() == 1 => share.name(),
        _ => "ports",
    };
    Some(Chart {
        name: format!("{name}{}", place_of(group)),
        title: format!("{} of each port{}", capital(&title), at(group)),
        caption: format!(
            "Ports that sent packets or were paused, under each scheme in falling order.{seeds}"
        ),
        legend: legend(plan, group.rows.iter().map(|row| &row.scheme)),
        panels: panels.into_iter().map(|(_, panel)| panel).collect(),
    })
}

fn panel(
    plan: &Plan,
    finished: &[Finished],
    group: &Group,
    share: Share,
) -> Option<(Share, Panel)> {
    let percent = |x: f64| 100.0 * x;
    let curve = |row: &Row| {
        let spot = |(place, port): (usize, &OfPort)| Spot {
            x: (place + 1) as f64,
            y: percent(port.mean),
            band: port.span.map(|(low, high)| (percent(low), percent(high))),
            tip: format!("{}, {}: {:.1} %", row.scheme, port.port, percent(port.mean)),
        };
        let ports = row.ports(finished, share);
        Curve {
            label: row.scheme.clone(),
            colour: colour(plan, &row.scheme),
            spots: ports.iter().enumerate().map(spot).collect(),
        }
    };
    let curves: Vec<Curve> = group.rows.iter().map(curve).collect();
    let has_share = curves.iter().flat_map(|c| &c.spots).any(|s| s.y > 0.0);
    let curves = Curves {
        x: Axis::new("port, by rank", Unit::default()),
        y: Axis::new("", Unit::Other("%".to_owned())),
        curves,
        ..Curves::default()
    };
    has_share.then(|| (share, Panel::new(share.label(), Body::Curves(curves))))
}
