// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scenario that `cemark import` writes, `imported.toml.jinja`. Its comments say what the files
//! do not, and where the other simulator behaves in another way.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use cemark_formats::exact::time;
use cemark_formats::{Flow, Kind};
use cemark_sim::topology::Topology;
use cemark_sim::workload::Pairs;
use cemark_sim::workload::load::ways;
use minijinja::{Value, context};

use super::{Found, From, Source};
use crate::template::{filled, quoted};

/// The topology in words.
pub(super) fn fabric(topology: &Topology) -> String {
    let links = topology.fabric().links();
    let hosts = topology.hosts();
    let switches = links.iter().filter_map(|l| l.from.switch(hosts)).max();
    let count = |n: usize, one: &str, several: &str| match n {
        1 => format!("1 {one}"),
        n => format!("{n} {several}"),
    };
    format!(
        "{hosts} hosts, {}, {}",
        count(switches.map_or(0, |s| s + 1), "switch", "switches"),
        count(links.len() / 2, "link", "links"),
    )
}

/// The whole scenario. The flows are in it, or in a file beside it with this name.
pub(super) fn scenario(found: &Found, given: &[(Kind, Source)], list: Option<&str>) -> String {
    let names: Vec<&str> = given.iter().map(|(_, source)| &source.name[..]).collect();
    let names = names.join(", ");
    let first = found.flows.iter().map(|flow| flow.start.0).min();
    let priorities = queues(found);
    let mut nodes = found.nodes.iter().zip(0..);
    let is_numbered = nodes.any(|(&node, host)| node != host);
    let values = context! {
        // A name must not end the comment.
        names => cemark_scenario::visible(&names),
        title => quoted(&format!("Imported from {names}")),
        end => found.end.map(|end| time(end.0)),
        nodes => is_numbered.then(|| ranges(&found.nodes)),
        file => quoted(&found.file),
        earlier => first.filter(|start| *start > 0).map(time),
        list => list.map(quoted),
        several => priorities.len() > 1,
        workloads => first.map(|first| workloads(found, &priorities, first, list.is_some())),
        htsim => matches!(found.from, From::Htsim)
            .then(|| context! { k => time(round_trip(&found.topology).max(1_000_000)) }),
        hpcc => match &found.from {
            From::Hpcc(marks) => Some(super::hpcc::values(found, marks)),
            From::Htsim => None,
        },
    };
    filled(include_str!("imported.toml.jinja"), values)
}

/// A workload for each priority that has a queue, with its flows unless a file lists them.
fn workloads(found: &Found, priorities: &[u32], first: u64, is_listed: bool) -> Vec<Value> {
    let workload = |priority: Option<u32>| {
        let own = |flow: &&Flow| !is_listed && (priority.is_none() || flow.priority == priority);
        let flows = found.flows.iter().filter(own);
        let flow = |f: &Flow| (time(f.start.0 - first), f.src, f.dst, f.bytes);
        context! { priority, flows => flows.map(flow).collect::<Vec<_>>() }
    };
    match priorities {
        [] | [_] => vec![workload(None)],
        several => several.iter().map(|p| workload(Some(*p))).collect(),
    }
}

/// Numbers as a text: `1 to 4, 7`.
fn ranges(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &n in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == n => *last = n,
            _ => runs.push((n, n)),
        }
    }
    const SHOWN: usize = 20;
    let mut words: Vec<String> = runs
        .iter()
        .take(SHOWN)
        .map(|&(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first} to {last}"),
        })
        .collect();
    if runs.len() > SHOWN {
        words.push("and so on".to_owned());
    }
    words.join(", ")
}

/// The priorities of the flows, in order. Each gets a queue.
pub(super) fn priorities(flows: &[Flow]) -> Vec<u32> {
    let all: BTreeSet<u32> = flows.iter().filter_map(|flow| flow.priority).collect();
    all.into_iter().collect()
}

/// The priorities that have a queue each. htsim's order the packets of a receiver's own flows, and
/// choose no queue.
fn queues(found: &Found) -> Vec<u32> {
    match found.from {
        From::Hpcc(_) => priorities(&found.flows),
        From::Htsim => Vec::new(),
    }
}

/// The flows as a file of comma-separated values.
pub(super) fn csv(found: &Found) -> String {
    let priorities = queues(found);
    let first = found.flows.iter().map(|flow| flow.start.0).min();
    let classes = priorities.len() > 1;
    let mut out = String::from("# Flows of a scenario of cemark, written by `cemark import`.\n");
    out += match classes {
        true => "at_ps,src,dst,size_bytes,class\n",
        false => "at_ps,src,dst,size_bytes\n",
    };
    for flow in &found.flows {
        let at = flow.start.0 - first.unwrap_or(0);
        let _ = write!(out, "{at},{},{},{}", flow.src, flow.dst, flow.bytes);
        if classes {
            let class = priorities.iter().position(|p| Some(*p) == flow.priority);
            let _ = write!(out, ",{}", class.unwrap_or(0));
        }
        out.push('\n');
    }
    out
}

/// Propagation of the longest path there and back, in picoseconds.
fn round_trip(topology: &Topology) -> u64 {
    let ways = ways(topology, &Pairs::All).into_iter();
    2 * ways.map(|(_, way)| way.delay.0).max().unwrap_or(0)
}
