// SPDX-License-Identifier: MIT OR Apache-2.0
//! `.topo`: `Nodes`, `Tiers`, `Podsize`, and for each tier of switches from the hosts on its radix
//! and the links below it.

use cemark_wire::{Picos, Rate};

use crate::fault::{Fallible, Fault};
use crate::lines::{Line as Text, lines, shown};
use crate::tiers::{Clos, Fabric, Line};

/// A topology, and what its reader should say of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topo {
    /// Two or three tiers.
    pub fabric: Fabric,
    /// Number of hosts, counted rack by rack.
    pub nodes: u32,
    /// Some switch has a latency of its own. It is counted half into the links on each side of the
    /// switch, which leaves the delay of every path the same.
    pub latencies: bool,
    /// Lines with sizes of queues, which are not read.
    pub queues: Vec<usize>,
}

/// One tier of switches: the line of its beginning, and its keys with their lines.
#[derive(Clone, Copy, Debug, Default)]
struct Tier {
    line: usize,
    speed: Option<u64>,
    down: Option<u32>,
    up: Option<u32>,
    delay: Option<u64>,
    latency: u64,
}

/// Reads a topology. The case of keys does not count. Bundles of parallel links are refused.
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
                ..Tier::default()
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
        fabric: fabric(nodes, podsize.unwrap_or(nodes), &all)?,
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
                if line.count::<u32>(1, "number of links")? != 1 {
                    return Err(line.fault(
                        "bundles of parallel links are not imported",
                        "write Bundle 1, and a rate that is the sum of the links",
                    ));
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
    fn links(&self, below: u64) -> Fallible<Line> {
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
        Ok(Line {
            rate: Rate(rate.ok_or_else(|| large("Downlink_speed_Gbps"))?),
            delay: Picos(delay),
        })
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

/// Two numbers that must agree.
fn agree(tier: &Tier, radix: u32, others: u32, what: &str) -> Fallible<()> {
    if radix == others {
        return Ok(());
    }
    Err(Fault::at(
        tier.line,
        format!("Radix_Down {radix}, and there are {others} {what}"),
        format!("write Radix_Down {others}: each switch has one link to each of them"),
    ))
}

fn fabric(nodes: u32, podsize: u32, tiers: &[Tier]) -> Fallible<Fabric> {
    let (low, mid) = (&tiers[0], &tiers[1]);
    let hosts = low.radix_down()?;
    let racks = parts(nodes, hosts, low, "nodes")?;
    let host = low.links(0)?;
    let pod = mid.links(low.latency)?;
    let Some(top) = tiers.get(2) else {
        agree(mid, mid.radix_down()?, racks, "switches below")?;
        return Ok(Fabric::LeafSpine {
            leaves: racks,
            spines: low.radix_up()?,
            hosts,
            host,
            up: pod,
        });
    };
    let edges = parts(podsize, hosts, low, "hosts of a pod")?;
    let pods = parts(racks, edges, mid, "switches of the first tier")?;
    agree(mid, mid.radix_down()?, edges, "switches of a pod below")?;
    agree(top, top.radix_down()?, pods, "pods")?;
    Ok(Fabric::Clos(Clos {
        pods,
        edges,
        aggs: low.radix_up()?,
        cores: mid.radix_up()?,
        hosts,
        host,
        pod,
        core: top.links(mid.latency)?,
    }))
}
