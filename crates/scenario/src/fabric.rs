// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[topology]` and `[rtt]`.

use cemark_sim::topology::Topology;
use cemark_sim::workload::{RTT_CASES, RttModel};
use cemark_wire::{Picos, Rate};

use crate::error::{Fallible, Fault, near};
use crate::section::{Section, choice, list, number, time};
use crate::tree::{Node, Table};

/// Most hosts of a fabric.
pub(crate) const MOST_HOSTS: u64 = 65_536;

const KINDS: &[&str] = &[
    "star",
    "dumbbell",
    "leaf-spine",
    "fat-tree",
    "two-sites",
    "ring",
];

pub(crate) fn topology(root: &Table) -> Fallible<Topology> {
    let mut s = Section::of(root, "topology")?;
    let kind = choice(s.need("kind", "\"leaf-spine\"")?, KINDS)?;
    let rate = s.rate("rate", Rate::gbps(10))?;
    let delay = s.time("delay", Picos::from_micros(10))?;
    let most = MOST_HOSTS as u32;
    let topology = match kind {
        0 => Topology::Star {
            hosts: whole(&mut s, "hosts", (2, most))?,
            rate,
            delay,
        },
        1 => Topology::Dumbbell {
            left: whole(&mut s, "left", (1, most))?,
            right: whole(&mut s, "right", (1, most))?,
            host_rate: rate,
            middle_rate: s.rate("middle-rate", rate)?,
            host_delay: delay,
            middle_delay: s.time("middle-delay", delay)?,
        },
        2 => Topology::LeafSpine {
            leaves: whole(&mut s, "leaves", (1, 4_096))?,
            spines: whole(&mut s, "spines", (1, 4_096))?,
            hosts_per_leaf: whole(&mut s, "hosts-per-leaf", (1, most))?,
            host_rate: rate,
            uplink_rate: s.rate("uplink-rate", rate)?,
            host_delay: delay,
            uplink_delay: s.time("uplink-delay", delay)?,
        },
        4 => Topology::TwoSites {
            left: whole(&mut s, "left", (1, most))?,
            right: whole(&mut s, "right", (1, most))?,
            paths: s.count32("paths", 1, (1, 64))?,
            host_rate: rate,
            edge_rate: s.rate("edge-rate", rate)?,
            wan_rate: s.rate("wan-rate", rate)?,
            host_delay: delay,
            edge_delay: s.time("edge-delay", delay)?,
            wan_delay: crate::section::time(s.need("wan-delay", "\"3ms\"")?)?,
        },
        5 => Topology::Ring {
            switches: whole(&mut s, "switches", (3, 5))?,
            hosts_per_switch: s.count32("hosts-per-switch", 1, (1, most))?,
            rate,
            delay,
        },
        _ => {
            let node = s.need("k", "4")?;
            let k = crate::section::count(node, (2, 64))? as u32;
            if !k.is_multiple_of(2) {
                return Err(Fault::new(
                    node.at,
                    "a fat tree needs switches with an even number of ports",
                )
                .help("write k = 4, 8, 12, ..."));
            }
            Topology::FatTree {
                k,
                hosts_per_edge: s.count32("hosts-per-edge", k / 2, (1, most))?,
                host_rate: rate,
                pod_rate: s.rate("pod-rate", rate)?,
                core_rate: s.rate("core-rate", rate)?,
                host_delay: delay,
                fabric_delay: s.time("fabric-delay", delay)?,
            }
        }
    };
    let hosts = hosts(&topology);
    if !(2..=MOST_HOSTS).contains(&hosts) {
        return Err(Fault::new(s.at(), format!("this fabric has {hosts} hosts"))
            .help(format!("a fabric has 2 to {MOST_HOSTS} hosts")));
    }
    s.finish()?;
    Ok(topology)
}

fn whole(s: &mut Section<'_>, key: &'static str, range: (u32, u32)) -> Fallible<u32> {
    let node = s.need(key, "8")?;
    Ok(crate::section::count(node, (range.0.into(), range.1.into()))? as u32)
}

/// The number of hosts where it may be too large for `Topology::hosts`.
fn hosts(topology: &Topology) -> u64 {
    let product = |a: u32, b: u32| u64::from(a) * u64::from(b);
    match *topology {
        Topology::Star { hosts, .. } => hosts.into(),
        Topology::Dumbbell { left, right, .. } | Topology::TwoSites { left, right, .. } => {
            u64::from(left) + u64::from(right)
        }
        Topology::LeafSpine {
            leaves,
            hosts_per_leaf,
            ..
        } => product(leaves, hosts_per_leaf),
        Topology::FatTree {
            k, hosts_per_edge, ..
        } => product(k * (k / 2), hosts_per_edge),
        Topology::Ring {
            switches,
            hosts_per_switch,
            ..
        } => product(switches, hosts_per_switch),
    }
}

/// The slowest link: the rate by which a threshold written as a time becomes a length.
pub(crate) fn slowest(topology: &Topology) -> Rate {
    match *topology {
        Topology::Star { rate, .. } | Topology::Ring { rate, .. } => rate,
        Topology::Dumbbell {
            host_rate,
            middle_rate,
            ..
        } => host_rate.min(middle_rate),
        Topology::TwoSites {
            host_rate,
            edge_rate,
            wan_rate,
            ..
        } => host_rate.min(edge_rate).min(wan_rate),
        Topology::LeafSpine {
            host_rate,
            uplink_rate,
            ..
        } => host_rate.min(uplink_rate),
        Topology::FatTree {
            host_rate,
            pod_rate,
            core_rate,
            ..
        } => host_rate.min(pod_rate).min(core_rate),
    }
}

const MODELS: &[&str] = &[
    "path",
    "fixed",
    "variation",
    "measured",
    "fitted",
    "quantiles",
    "lognormal",
    "classes",
];

pub(crate) fn rtt(root: &Table) -> Fallible<RttModel> {
    let mut s = Section::of(root, "rtt")?;
    let model = match s.choice("model", 0, MODELS)? {
        0 => RttModel::Path,
        1 => RttModel::Fixed(time(s.need("rtt", "\"100us\"")?)?),
        2 => {
            let lo = time(s.need("min", "\"80us\"")?)?;
            let node = s.need("max", "\"240us\"")?;
            let hi = time(node)?;
            if hi < lo {
                return Err(Fault::new(node.at, "the largest RTT is below the smallest")
                    .help("swap min and max"));
            }
            RttModel::Variation { lo, hi }
        }
        model @ (3 | 4) => {
            let node = s.need("case", "\"slb\"")?;
            let case = crate::section::text(node)?;
            let found = if model == 3 {
                RttModel::measured(case)
            } else {
                RttModel::fitted(case)
            };
            found.ok_or_else(|| {
                Fault::new(node.at, format!("`{case}` is not a row of ECN# Table 1"))
                    .help(near(case, RTT_CASES.iter().copied()))
            })?
        }
        5 => RttModel::Quantiles(quantiles(
            s.need("table", "[[0, \"17us\"], [0.9, \"59us\"], [1, \"106us\"]]")?,
        )?),
        6 => RttModel::Lognormal {
            loc: number(s.need("loc", "15.39  # microseconds")?, (-1e6, 1e6))?,
            mu: number(s.need("mu", "3.8088")?, (-20.0, 20.0))?,
            sigma: number(s.need("sigma", "0.3662")?, (0.0, 10.0))?,
            floor: s.time("floor", Picos::ZERO)?,
        },
        _ => {
            let node = s.need("values", "[\"82us\", \"140us\"]")?;
            let values = list(node)?.iter().map(time).collect::<Fallible<Vec<_>>>()?;
            if values.is_empty() {
                return Err(Fault::new(node.at, "no RTT to choose from")
                    .help("write values = [\"82us\", \"140us\"]"));
            }
            RttModel::Classes(values)
        }
    };
    s.allow(&[
        "rtt", "min", "max", "case", "table", "loc", "mu", "sigma", "floor", "values",
    ]);
    s.finish()?;
    Ok(model)
}

fn quantiles(node: &Node) -> Fallible<Vec<(f64, Picos)>> {
    let mut rows: Vec<(f64, Picos)> = Vec::new();
    for row in list(node)? {
        let [p, rtt] = list(row)? else {
            return Err(Fault::new(row.at, "a row has two columns")
                .help("write [0.9, \"59us\"]: probability and RTT"));
        };
        let (at, p, rtt) = (row.at, crate::section::fraction(p)?, time(rtt)?);
        if rows
            .last()
            .is_some_and(|before| p < before.0 || rtt < before.1)
        {
            return Err(Fault::new(at, "this row is below the one before")
                .help("sort the rows; neither column may fall"));
        }
        rows.push((p, rtt));
    }
    if rows.len() < 2 || rows.last().is_some_and(|last| last.0 != 1.0) {
        return Err(Fault::new(
            node.at,
            "the table must have two rows or more and end at probability 1",
        ));
    }
    Ok(rows)
}
