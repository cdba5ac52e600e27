// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several Poisson workloads on one fabric: each has its load on the tier that it fills first, but
//! they share links, and what they offer to a link together must fit.

use cemark_sim::topology::Topology;
use cemark_sim::workload::load::loads;
use cemark_sim::workload::{Pairs, Sending, Workload};

use crate::error::{Fallible, Fault};
use crate::tree::Node;

/// Rounding of a sum of decimal fractions is no overload.
const SLACK: f64 = 1e-9;

/// Payload that one workload offers to each link, over the rate of the link.
struct Part<'a> {
    /// Which workload.
    index: usize,
    name: &'a str,
    receiver: Option<u32>,
    loads: Vec<f64>,
}

/// Fails where links are offered more than they carry. `nodes` are the `load`s as written, one a
/// workload (`None` where it is no Poisson workload); the error points at the one that is too much.
pub(crate) fn check(
    workloads: &[Workload],
    nodes: &[Option<&Node>],
    topology: &Topology,
) -> Fallible<()> {
    let parts: Vec<Part<'_>> = (0..)
        .zip(workloads)
        .filter_map(|(index, workload)| part(index, workload, topology))
        .collect();
    // Workloads that all hosts receive first, then those of single receivers with them.
    let spread: Vec<&Part<'_>> = parts.iter().filter(|p| p.receiver.is_none()).collect();
    for parts in [spread, parts.iter().collect()] {
        let links = topology.fabric().links();
        let sum = |link: usize| parts.iter().map(|part| part.loads[link]).sum::<f64>();
        let most = (0..links.len()).max_by(|&a, &b| sum(a).total_cmp(&sum(b)).then(b.cmp(&a)));
        let Some(most) = most.filter(|&link| sum(link) > 1.0 + SLACK) else {
            continue;
        };
        let parts: Vec<&Part<'_>> = parts
            .iter()
            .copied()
            .filter(|p| p.loads[most] > 0.0)
            .collect();
        if parts.len() > 1 {
            let sum = parts.iter().map(|part| part.loads[most]).sum();
            return Err(fault(&parts, most, sum, nodes, topology));
        }
    }
    Ok(())
}

fn fault(
    parts: &[&Part<'_>],
    link: usize,
    sum: f64,
    nodes: &[Option<&Node>],
    topology: &Topology,
) -> Box<Fault> {
    let listed: Vec<String> = parts
        .iter()
        .map(|part| format!("{} by `{}`", rounded(part.loads[link]), part.name))
        .collect();
    let receiver = parts.iter().find_map(|part| part.receiver);
    let name = match (receiver, topology.fabric().tier_name(link)) {
        (Some(host), Some("host links")) => format!("link of host {host}"),
        (_, Some(tier)) => tier.to_owned(),
        (_, None) => format!("link {}", topology.fabric().links()[link].name),
    };
    let message = format!(
        "the Poisson workloads together load the {name} to {}: {}",
        (sum * 1e6).round() / 1e6,
        listed.join(" and ")
    );
    let last = parts.last().and_then(|part| nodes[part.index]);
    let fault = match last {
        Some(node) => Fault::new(node.at, message).label("too much with the others"),
        None => Fault::nowhere(message),
    };
    fault.help("lower the loads so that their sum on every tier is at most 1")
}

fn rounded(load: f64) -> f64 {
    (load * 1000.0).round() / 1000.0
}

/// The loads of a Poisson workload. Flows in a span are given by their number, not by a load.
fn part<'a>(index: usize, workload: &'a Workload, topology: &Topology) -> Option<Part<'a>> {
    match workload.kind.facts(topology).sending {
        Sending::Arrivals(of) if of.span.is_none() => Some(Part {
            index,
            name: &workload.name,
            receiver: match of.pairs {
                Pairs::ToOne(to) => Some(*to),
                _ => None,
            },
            loads: loads(topology, of.pairs, of.load),
        }),
        _ => None,
    }
}
