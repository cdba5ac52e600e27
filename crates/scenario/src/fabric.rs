// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[topology]`.

use cemark_sim::topology::Topology;
use cemark_wire::{Picos, Rate};

use crate::error::{Fallible, Fault};
use crate::section::{Section, word};
use crate::sections::{Form, SectionSpec};
use crate::tree::Table;

/// Most hosts of a fabric.
pub(crate) const MOST_HOSTS: u64 = 65_536;

pub(crate) static TOPOLOGY: SectionSpec =
    SectionSpec::new("topology", Form::Table, &[], "The fabric.").chosen_by("kind");

const KINDS: &[&str] = &[
    "star",
    "dumbbell",
    "leaf-spine",
    "fat-tree",
    "two-sites",
    "ring",
];

pub(crate) fn topology(root: &Table) -> Fallible<Topology> {
    let mut s = Section::of(root, &TOPOLOGY)?;
    let kind = word(s.need_old("kind", "\"leaf-spine\"")?, KINDS)?;
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
            wan_delay: crate::section::time(s.need_old("wan-delay", "\"3ms\"")?)?,
        },
        5 => Topology::Ring {
            switches: whole(&mut s, "switches", (3, 5))?,
            hosts_per_switch: s.count32("hosts-per-switch", 1, (1, most))?,
            rate,
            delay,
        },
        _ => {
            let node = s.need_old("k", "4")?;
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
    let node = s.need_old(key, "8")?;
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
