// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several Poisson workloads on one fabric: each has its load on the tier that it fills first, but
//! they share links, and what they offer to a link together must fit.

use cemark_sim::topology::{Level, Topology};
use cemark_sim::workload::load::loads;
use cemark_sim::workload::{Kind, Pairs, Workload};

use crate::error::{Fallible, Fault};
use crate::tree::Node;

/// Rounding of a sum of decimal fractions is no overload.
const SLACK: f64 = 1e-9;

/// What one workload offers to a tier.
struct Part<'a> {
    /// Which workload.
    index: usize,
    name: &'a str,
    load: f64,
}

/// Fails where the links of a tier are offered more than they carry. `nodes` are the `load`s as
/// written, one a workload (`None` where it is no Poisson workload); the error points at the one
/// that is too much.
pub(crate) fn check(
    workloads: &[Workload],
    nodes: &[Option<&Node>],
    topology: &Topology,
) -> Fallible<()> {
    // Everybody's links first, then those of each single receiver.
    let mut places: Vec<Option<u32>> = vec![None];
    for workload in workloads {
        if let Some(to) = receiver(workload)
            && !places.contains(&Some(to))
        {
            places.push(Some(to));
        }
    }
    for place in places {
        for level in [Level::Hosts, Level::Racks, Level::Pods] {
            let (name, parts) = parts(workloads, topology, place, level);
            let sum: f64 = parts.iter().map(|part| part.load).sum();
            if sum <= 1.0 + SLACK || parts.len() < 2 {
                continue;
            }
            let listed: Vec<String> = parts
                .iter()
                .map(|part| format!("{} by `{}`", rounded(part.load), part.name))
                .collect();
            let links = match (place, level) {
                (Some(host), Level::Hosts) => format!("link of host {host}"),
                _ => name.to_owned(),
            };
            let message = format!(
                "the Poisson workloads together load the {links} to {}: {}",
                (sum * 1e6).round() / 1e6,
                listed.join(" and ")
            );
            let last = parts.last().and_then(|part| nodes[part.index]);
            let fault = match last {
                Some(node) => Fault::new(node.at, message).label("too much with the others"),
                None => Fault::nowhere(message),
            };
            return Err(fault.help("lower the loads so that their sum on every tier is at most 1"));
        }
    }
    Ok(())
}

fn rounded(load: f64) -> f64 {
    (load * 1000.0).round() / 1000.0
}

fn receiver(workload: &Workload) -> Option<u32> {
    match workload.kind {
        Kind::Poisson {
            pairs: Pairs::ToOne(to),
            ..
        } => Some(to),
        _ => None,
    }
}

/// What the links of this level are called, and what each workload offers to those that lead to
/// `place`, or to all of them.
fn parts<'a>(
    workloads: &'a [Workload],
    topology: &Topology,
    place: Option<u32>,
    level: Level,
) -> (&'static str, Vec<Part<'a>>) {
    let shared = |to: u32| {
        place.is_some_and(|here| match level {
            Level::Hosts => here == to,
            _ => !level.crossed(topology, here, to),
        })
    };
    let (mut name, mut parts) = ("", Vec::new());
    for (index, workload) in workloads.iter().enumerate() {
        let Kind::Poisson {
            load,
            pairs,
            arrivals,
            ..
        } = &workload.kind
        else {
            continue;
        };
        // Flows in a span are given by their number, not by a load.
        if arrivals.span.is_some() {
            continue;
        }
        if let Pairs::ToOne(to) = pairs
            && !shared(*to)
        {
            continue;
        }
        let here = loads(topology, pairs, *load)
            .into_iter()
            .find(|(tier, _)| tier.level == level);
        if let Some((tier, load)) = here.filter(|(_, load)| *load > 0.0) {
            name = tier.name;
            parts.push(Part {
                index,
                name: &workload.name,
                load,
            });
        }
    }
    (name, parts)
}
