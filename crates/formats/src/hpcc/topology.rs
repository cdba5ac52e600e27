// SPDX-License-Identifier: MIT OR Apache-2.0
//! `topology.txt`: a line with the numbers of nodes, switches and links, a line with the switches,
//! and a line for each link: `src dst 100Gbps 0.001ms 0`. The last column is an error rate. The
//! first line of PowerTCP's files counts top-of-rack switches as well, before the links.

use crate::fault::{Fallible, Fault};
use crate::graph::{Graph, Wire};
use crate::lines::{Line, lines, shown};
use crate::number;

/// Largest number of nodes that is read. Fabrics of a scenario have fewer hosts.
const MOST_NODES: u32 = 1_000_000;

/// A topology, and what its reader should say of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Hosts, switches and links.
    pub graph: Graph,
    /// Lines after the last link that the first line counts; the simulator does not read them.
    pub ignored: usize,
}

/// Reads `topology.txt`.
pub fn topology(text: &str) -> Fallible<Topology> {
    let mut rest = lines(text);
    let first = rest.next().ok_or_else(|| {
        Fault::whole(
            "the file is empty",
            "the first line counts nodes, switches and links: `66 1 65`",
        )
    })?;
    // Which switches have hosts follows from the links.
    let (tors, last) = match first.words.len() {
        3 => (None, 2),
        4 => (
            Some(first.count::<u32>(2, "number of top-of-rack switches")?),
            3,
        ),
        n => {
            return Err(first.fault(
                format!("{n} numbers instead of three or four"),
                "the first line counts nodes, switches and links: `66 1 65`, or nodes, switches, \
                 top-of-rack switches and links: `6 2 1 5`",
            ));
        }
    };
    let nodes: u32 = first.count(0, "number of nodes")?;
    let switches: u32 = first.count(1, "number of switches")?;
    let links: usize = first.count(last, "number of links")?;
    if let Some(tors) = tors.filter(|tors| *tors > switches) {
        return Err(first.fault(
            format!("{tors} top-of-rack switches of {switches} switches"),
            "four numbers count nodes, switches, top-of-rack switches and links: `6 2 1 5`",
        ));
    }
    if nodes > MOST_NODES || switches > nodes {
        return Err(first.fault(
            format!("{nodes} nodes with {switches} switches"),
            format!("at most {MOST_NODES} nodes, of which some are switches"),
        ));
    }
    let mut graph = Graph {
        nodes,
        ..Graph::default()
    };
    // The simulator reads words, so that the list may be broken over lines.
    while graph.switches.len() < switches as usize {
        let line = rest.next().ok_or_else(|| missing(text, "switches"))?;
        for i in 0..line.words.len() {
            switch(&mut graph, &line, i, switches)?;
        }
    }
    for _ in 0..links {
        let line = rest.next().ok_or_else(|| missing(text, "links"))?;
        let wire = wire(&line)?;
        let last = wire.a.max(wire.b);
        if last >= nodes {
            return Err(line.fault(
                format!("there is no node {last}: the first line counts {nodes}"),
                format!("nodes are numbered from 0 to {}", nodes.max(1) - 1),
            ));
        }
        graph.wires.push(wire);
    }
    Ok(Topology {
        graph,
        ignored: rest.count(),
    })
}

fn switch(graph: &mut Graph, line: &Line<'_>, i: usize, switches: u32) -> Fallible<()> {
    let id: u32 = line.count(i, "switch")?;
    if id >= graph.nodes {
        return Err(line.fault(
            format!(
                "there is no node {id}: the first line counts {}",
                graph.nodes
            ),
            "the second line lists the nodes that are switches",
        ));
    }
    if !graph.switches.insert(id) {
        return Err(line.fault(
            format!("switch {id} is listed twice"),
            "list every switch once",
        ));
    }
    if graph.switches.len() > switches as usize {
        return Err(line.fault(
            format!("more switches than the {switches} that the first line counts"),
            "correct the second number of the first line",
        ));
    }
    Ok(())
}

fn missing(text: &str, what: &str) -> Fault {
    Fault::at(
        text.lines().count().max(1),
        format!("the file ends before all {what} that the first line counts"),
        format!("add the {what}, or correct the first line"),
    )
}

fn wire(line: &Line<'_>) -> Fallible<Wire> {
    let form = "a link is `src dst rate delay error_rate`: `0 320 100Gbps 1000ns 0`";
    if line.words.len() != 5 {
        return Err(line.fault(format!("{} words instead of five", line.words.len()), form));
    }
    let help = "write a rate above zero as ns-3 does: 100Gbps, 25Gb/s";
    let rate = line.read(2, "rate", help, number::rate)?;
    let help = "write a time as ns-3 does, down to picoseconds: 0.001ms, 1000ns";
    let delay = line.read(3, "delay", help, number::time)?;
    let word = || shown(line.words[4]);
    let lossless = number::scaled(line.words[4], 0) == Some(0);
    if !lossless {
        return Err(match line.words[4].parse::<f64>() {
            Ok(rate) if (0.0..=1.0).contains(&rate) => line.fault(
                format!("the error rate {} of a link is not imported", word()),
                "write 0 here, and into the scenario a section [[fault]] with the links and \
                 `rate` (docs/scenarios.md)",
            ),
            _ => line.fault(format!("`{}` is no error rate", word()), form),
        });
    }
    Ok(Wire {
        line: line.number,
        a: line.count(0, "node")?,
        b: line.count(1, "node")?,
        rate,
        delay,
    })
}
