// SPDX-License-Identifier: MIT OR Apache-2.0
//! `.topo`: `Nodes`, `Tiers`, `Podsize`, and for each tier of switches from the hosts on its radix
//! and the links below it.
//!
//! A bundle is several links between two switches. Radices count links, so that a tier has its
//! radix over its bundle as neighbours (csg-htsim, `fat_tree_topology.cpp`: `_bundlesize`).

use cemark_wire::{Picos, Rate};

use crate::fault::{Fallible, Fault};
use crate::graph::{Graph, Wire};
use crate::lines::{Line as Text, lines, shown};

/// A topology, and what its reader should say of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topo {
    /// Hosts, counted rack by rack, and two or three tiers of switches.
    pub graph: Graph,
    /// Number of hosts.
    pub nodes: u32,
    /// Some switch has a latency of its own. It is counted half into the links on each side of the
    /// switch, which leaves the delay of every path the same.
    pub latencies: bool,
    /// Lines with sizes of queues, which are not read.
    pub queues: Vec<usize>,
}

/// A tier of switches: the line of its beginning, and its keys with their lines.
#[derive(Clone, Copy, Debug)]
struct Tier {
    line: usize,
    speed: Option<u64>,
    down: Option<u32>,
    up: Option<u32>,
    delay: Option<u64>,
    latency: u64,
    /// Parallel links to each node below.
    bundle: u32,
}

/// Most switches of a tier.
const MOST_SWITCHES: u32 = 1 << 17;

/// Most links.
const MOST_WIRES: usize = 1 << 20;

/// Reads a topology. The case of keys does not count. A host has one link.
pub fn topo(text: &str) -> Fallible<Topo> {
    let (mut nodes, mut tiers, mut podsize) = (None, None, None);
    let mut all: Vec<Tier> = Vec::new();
    let mut queues = Vec::new();
    for line in lines(text) {
        let key = line.words[0].to_ascii_lowercase();
        if key == "tier" {
            let number: usize = line.count(1, "number of a tier")?;
            if number != all.len() {
                return Err(line.fault(
                    format!("tier {number} follows {} tiers", all.len()),
                    format!(
                        "write Tier {}: tiers are numbered from 0, from the hosts",
                        all.len()
                    ),
                ));
            }
            all.push(Tier {
                line: line.number,
                speed: None,
                down: None,
                up: None,
                delay: None,
                latency: 0,
                bundle: 1,
            });
            continue;
        }
        match (&key[..], all.last_mut()) {
            ("nodes", None) => nodes = Some(line.count::<u32>(1, "number of nodes")?),
            ("tiers", None) => tiers = Some((line.number, line.count::<usize>(1, "number")?)),
            ("podsize", None) => podsize = Some(line.count::<u32>(1, "number of hosts")?),
            ("queue_up" | "queue_down", Some(_)) => queues.push(line.number),
            (_, Some(tier)) => tier.read(&key, &line)?,
            (_, None) => return Err(unknown(&line)),
        }
    }
    let missing = |key: &str| Fault::whole(format!("{key} is missing"), format!("write `{key} N`"));
    let nodes = nodes.ok_or_else(|| missing("Nodes"))?;
    let (line, count) = tiers.ok_or_else(|| missing("Tiers"))?;
    if count != all.len() || !(2..=3).contains(&count) {
        return Err(Fault::at(
            line,
            format!("Tiers {count}, and the file describes {}", all.len()),
            "describe two or three tiers, each beginning with `Tier N`",
        ));
    }
    Ok(Topo {
        graph: graph(nodes, podsize.unwrap_or(nodes), &all)?,
        nodes,
        latencies: all.iter().any(|tier| tier.latency > 0),
        queues,
    })
}

fn unknown(line: &Text<'_>) -> Fault {
    line.fault(
        format!("`{}` is not known here", shown(line.words[0])),
        "known are Nodes, Tiers and Podsize, and below `Tier N` Downlink_speed_Gbps, Radix_Down, \
         Radix_Up, Downlink_Latency_ns, Switch_Latency_ns, Oversubscribed and Bundle",
    )
}

impl Tier {
    fn read(&mut self, key: &str, line: &Text<'_>) -> Fallible<()> {
        match key {
            "downlink_speed_gbps" => self.speed = Some(line.count(1, "rate in Gb/s")?),
            "radix_down" => self.down = Some(line.count(1, "number of links")?),
            "radix_up" => self.up = Some(line.count(1, "number of links")?),
            "downlink_latency_ns" => self.delay = Some(line.count(1, "number of ns")?),
            "switch_latency_ns" => self.latency = line.count(1, "number of ns")?,
            // It follows from the radices.
            "oversubscribed" => drop(line.count::<u32>(1, "ratio")?),
            "bundle" => {
                self.bundle = line.count(1, "number of links")?;
                if self.bundle == 0 {
                    return Err(line.fault("a bundle of no links", "write Bundle 1, 2, 4, ..."));
                }
            }
            _ => return Err(unknown(line)),
        }
        Ok(())
    }

    fn need<T>(&self, value: Option<T>, key: &str) -> Fallible<T> {
        value.ok_or_else(|| {
            let message = format!("{key} is missing in this tier");
            Fault::at(self.line, message, format!("write `{key} N` below `Tier`"))
        })
    }

    fn radix_down(&self) -> Fallible<u32> {
        self.need(self.down.filter(|&n| n > 0), "Radix_Down")
    }

    fn radix_up(&self) -> Fallible<u32> {
        self.need(self.up.filter(|&n| n > 0), "Radix_Up")
    }

    /// The links below this tier; `below`: the latency of the switches at their lower ends.
    fn links(&self, below: u64) -> Fallible<(Rate, Picos)> {
        let speed = self.need(self.speed.filter(|&n| n > 0), "Downlink_speed_Gbps")?;
        let delay = self.need(self.delay, "Downlink_Latency_ns")?;
        let large = |key: &str| Fault::at(self.line, format!("{key} is too large"), "at most 1 s");
        // Half of each switch's latency, in picoseconds.
        let switches = below
            .checked_add(self.latency)
            .and_then(|ns| ns.checked_mul(500));
        let delay = delay
            .checked_mul(1000)
            .and_then(|ps| ps.checked_add(switches?))
            .ok_or_else(|| large("a latency"))?;
        let rate = speed.checked_mul(1_000_000_000);
        let rate = rate.ok_or_else(|| large("Downlink_speed_Gbps"))?;
        Ok((Rate(rate), Picos(delay)))
    }

    /// Neighbours in this tier of a switch of the tier `below` with this many links up.
    fn bundles(&self, links: u32, below: &Tier) -> Fallible<u32> {
        match links.checked_rem(self.bundle) {
            Some(0) => Ok(links / self.bundle),
            _ => Err(Fault::at(
                below.line,
                format!(
                    "Radix_Up {links} does not divide by the bundles of {}",
                    self.bundle
                ),
                "correct Radix_Up here, or Bundle in the tier above",
            )),
        }
    }

    /// Fails unless the switches have a bundle to each of the `others`.
    fn joins(&self, others: u32, what: &str) -> Fallible<()> {
        let radix = self.radix_down()?;
        if u64::from(radix) == u64::from(others) * u64::from(self.bundle) {
            return Ok(());
        }
        let (bundle, needed) = match self.bundle {
            1 => (String::new(), format!("write Radix_Down {others}")),
            n => (
                format!(" with bundles of {n}"),
                format!("write Radix_Down {}", u64::from(others) * u64::from(n)),
            ),
        };
        Err(Fault::at(
            self.line,
            format!("Radix_Down {radix}, and there are {others} {what}{bundle}"),
            format!("{needed}: each switch is joined to each of them"),
        ))
    }
}

/// `whole` in parts of `part`.
fn parts(whole: u32, part: u32, tier: &Tier, what: &str) -> Fallible<u32> {
    match whole.checked_rem(part) {
        Some(0) if whole > 0 => Ok(whole / part),
        _ => Err(Fault::at(
            tier.line,
            format!("{whole} {what} do not divide by {part}"),
            "correct Nodes, Podsize or the radix of this tier",
        )),
    }
}

/// The fabric of the tiers. Hosts are the first nodes, then come the switches, tier by tier.
fn graph(nodes: u32, podsize: u32, tiers: &[Tier]) -> Fallible<Graph> {
    let (low, mid) = (&tiers[0], &tiers[1]);
    if low.bundle != 1 {
        return Err(Fault::at(
            low.line,
            format!("bundles of {} links to hosts", low.bundle),
            "write Bundle 1 in tier 0: a host has one link",
        ));
    }
    let hosts = low.radix_down()?;
    let racks = parts(nodes, hosts, low, "nodes")?;
    // Two tiers are one pod, whatever Podsize says.
    let (edges, pods) = match tiers.get(2) {
        None => (racks, 1),
        Some(_) => {
            let edges = parts(podsize, hosts, low, "hosts of a pod")?;
            (
                edges,
                parts(racks, edges, mid, "switches of the first tier")?,
            )
        }
    };
    let what = match tiers.len() {
        2 => "switches below",
        _ => "switches of a pod below",
    };
    mid.joins(edges, what)?;
    let aggs = mid.bundles(low.radix_up()?, low)?;
    let count = |a: u32, b: u32, tier: &Tier| {
        let switches = a.checked_mul(b).filter(|&n| n <= MOST_SWITCHES);
        switches.ok_or_else(|| {
            let message = format!("more than {MOST_SWITCHES} switches in a tier");
            Fault::at(tier.line, message, "correct the radices of the tiers")
        })
    };
    let (first_rack, first_agg) = (nodes, nodes + racks);
    let first_core = first_agg + count(pods, aggs, mid)?;
    let mut fabric = Builder {
        wires: Vec::new(),
        last: first_core,
    };
    for host in 0..nodes {
        fabric.join(host, first_rack + host / hosts, low, low.links(0)?)?;
    }
    let pod = mid.links(low.latency)?;
    for rack in 0..racks {
        for a in 0..aggs {
            let agg = first_agg + rack / edges * aggs + a;
            fabric.join(first_rack + rack, agg, mid, pod)?;
        }
    }
    if let Some(top) = tiers.get(2) {
        top.joins(pods, "pods")?;
        let cores = top.bundles(mid.radix_up()?, mid)?;
        fabric.last += count(aggs, cores, top)?;
        let line = top.links(mid.latency)?;
        for agg in 0..pods * aggs {
            for c in 0..cores {
                let core = first_core + agg % aggs + aggs * c;
                fabric.join(first_agg + agg, core, top, line)?;
            }
        }
    }
    Ok(Graph {
        nodes: fabric.last,
        switches: (nodes..fabric.last).collect(),
        wires: fabric.wires,
    })
}

/// Wires so far, and the number of nodes.
struct Builder {
    wires: Vec<Wire>,
    last: u32,
}

impl Builder {
    /// Joins a node to one of the tier above it.
    fn join(&mut self, a: u32, b: u32, above: &Tier, (rate, delay): (Rate, Picos)) -> Fallible<()> {
        for _ in 0..above.bundle {
            if self.wires.len() == MOST_WIRES {
                let message = format!("more than {MOST_WIRES} links");
                return Err(Fault::at(
                    above.line,
                    message,
                    "correct the radices of the tiers",
                ));
            }
            self.wires.push(Wire {
                line: above.line,
                a,
                b,
                rate,
                delay,
            });
        }
        Ok(())
    }
}
