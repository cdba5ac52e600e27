// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scenario that `cemark import` writes. Its comments say what the files do not, and where the
//! other simulator behaves in another way.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use cemark_formats::exact::time;
use cemark_formats::{Flow, Kind};
use cemark_sim::topology::Topology;
use cemark_sim::workload::Pairs;
use cemark_sim::workload::load::ways;

use super::{Found, From, Source};
use crate::init::{comment, quoted};

/// Flows of a scenario whose files list none.
const USUAL_FLOWS: u32 = 2000;

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
    let mut out = comment(&format!(
        "A scenario of cemark, written by `cemark import` from {}. Change what you like.",
        // A name must not end the comment.
        cemark_scenario::visible(&names)
    ));
    let _ = writeln!(
        out,
        "\ntitle = {}\n",
        quoted(&format!("Imported from {names}"))
    );
    if let Some(end) = found.end {
        let _ = writeln!(
            out,
            "max-time = \"{}\" # SIMULATOR_STOP_TIME\n",
            time(end.0)
        );
    }
    topology(&mut out, found);
    workloads(&mut out, found, list);
    match &found.from {
        From::Hpcc(marks) => super::hpcc::write(&mut out, found, marks),
        From::Htsim => htsim(&mut out, found),
    }
    out
}

fn topology(out: &mut String, found: &Found) {
    if found
        .nodes
        .iter()
        .zip(0..)
        .any(|(&node, host)| node != host)
    {
        let ranges = ranges(&found.nodes);
        *out += &comment(&format!(
            "Hosts are numbered from 0. In the files they are the nodes {ranges}, in this order."
        ));
    }
    *out += &comment(
        "Among equal paths a hash of the flow chooses, another one than the other simulator's.",
    );
    let file = quoted(&found.file);
    let _ = writeln!(out, "[topology]\nkind = \"graph\"\nfile = {file}\n");
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

fn workloads(out: &mut String, found: &Found, list: Option<&str>) {
    let Some(first) = found.flows.iter().map(|flow| flow.start.0).min() else {
        let _ = write!(
            out,
            "# The files list no flows. Our choice:\n[[workload]]\nkind = \"poisson\"\n\
             sizes = \"web-search\"\nload = 0.5\nflows = {USUAL_FLOWS}\n\n"
        );
        return;
    };
    if first > 0 {
        *out += &comment(&format!(
            "Starts are {} earlier than in the file, where nothing happens until then.",
            time(first)
        ));
    }
    let priorities = queues(found);
    if let Some(list) = list {
        if priorities.len() > 1 {
            let words: Vec<String> = (0..)
                .zip(&priorities)
                .map(|(class, priority)| format!("class {class} is priority {priority}"))
                .collect();
            *out += &comment(&format!("In the list, {}.", words.join(", ")));
        }
        let _ = writeln!(
            out,
            "[[workload]]\nkind = \"list\"\nfile = {}\n",
            quoted(list)
        );
        return;
    }
    for class in 0..priorities.len().max(1) {
        let _ = writeln!(out, "[[workload]]\nkind = \"list\"");
        if let (2.., Some(priority)) = (priorities.len(), priorities.get(class)) {
            let _ = writeln!(out, "name = \"priority-{priority}\"\nclass = {class}");
        }
        *out += "flow = [\n";
        let of_class =
            |flow: &&Flow| priorities.len() < 2 || flow.priority == Some(priorities[class]);
        for flow in found.flows.iter().filter(of_class) {
            let _ = writeln!(
                out,
                "  {{ at = \"{}\", src = {}, dst = {}, size = \"{}B\" }},",
                time(flow.start.0 - first),
                flow.src,
                flow.dst,
                flow.bytes
            );
        }
        *out += "]\n\n";
    }
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

fn htsim(out: &mut String, found: &Found) {
    *out += "# Our choice: the files do not say how hosts react.\n[transport]\n\
             control = \"dctcp\"\n\n";
    let picos = round_trip(&found.topology).max(1_000_000);
    *out += &comment(
        "Our choice: a threshold of one base RTT, since the files have none. As htsim's ECN queue \
         it judges a packet as it leaves, with the packet itself counted, and marks above K (`>`).",
    );
    let _ = write!(
        out,
        "[[scheme]]\nlabel = \"htsim's queue\"\nmarker = \"threshold\"\nk = \"{}\"\n\
         hook = \"dequeue\"\ncmp = \"strict\"\ncount-self = true\n",
        time(picos)
    );
}

/// Propagation of the longest path there and back, in picoseconds.
fn round_trip(topology: &Topology) -> u64 {
    let ways = ways(topology, &Pairs::All).into_iter();
    2 * ways.map(|(_, way)| way.delay.0).max().unwrap_or(0)
}
