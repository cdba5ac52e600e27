// SPDX-License-Identifier: MIT OR Apache-2.0
//! The surroundings of a workload: the fabric and its hosts, queues and files.

use cemark_sim::topology::Topology;

use crate::classes::Classes;
use crate::error::{Fallible, Fault};
use crate::section::{count, list};
use crate::sizes::Tables;
use crate::tree::{Node, Table, Value};

/// JSON schema of the number of a host.
pub(crate) const HOST: &str = r#"{"type":"integer","minimum":0}"#;

/// JSON schema of a list of hosts.
pub(crate) const SOME_HOSTS: &str = r#"{"type":"array","minItems":1,"items":{"anyOf":
    [{"type":"integer","minimum":0},{"type":"string"}]}}"#;

/// Surroundings that the keys of a workload refer to.
pub(crate) struct Around<'a> {
    pub(crate) root: &'a Table,
    /// Transport of flows whose workload has none of its own.
    pub(crate) transport: &'a cemark_transport::Config,
    pub(crate) topology: &'a Topology,
    pub(crate) tables: &'a mut Tables,
    pub(crate) classes: &'a Classes,
}

/// The number of a host that exists.
pub(crate) fn host(node: &Node, topology: &Topology) -> Fallible<u32> {
    let hosts = topology.hosts();
    match node.value {
        Value::Integer(n) if n < 0 || n >= i128::from(hosts) => {
            Err(
                Fault::new(node.at, format!("there is no host {n}")).help(format!(
                    "this fabric has {hosts} hosts: write 0 to {}",
                    hosts - 1
                )),
            )
        }
        _ => Ok(count(node, (0, u64::from(hosts) - 1))? as u32),
    }
}

pub(crate) fn two_hosts(src: &Node, dst: &Node, topology: &Topology) -> Fallible<(u32, u32)> {
    let pair = (host(src, topology)?, host(dst, topology)?);
    if pair.0 == pair.1 {
        let message = format!("host {} cannot send to itself", pair.0);
        return Err(Fault::new(dst.at, message).help("write two different hosts"));
    }
    Ok(pair)
}

/// A list of hosts, as numbers and ranges, in rising order.
pub(crate) fn hosts(node: &Node, topology: &Topology) -> Fallible<Vec<u32>> {
    let mut all = Vec::new();
    for item in list(node)? {
        match &item.value {
            Value::Text(text) => all.extend(range(item, text, topology)?),
            _ => all.push(host(item, topology)?),
        }
    }
    all.sort_unstable();
    if let Some(twice) = all.windows(2).find(|pair| pair[0] == pair[1]) {
        let message = format!("host {} is among the senders twice", twice[0]);
        return Err(Fault::new(node.at, message).help("name each host once"));
    }
    match all.is_empty() {
        true => Err(Fault::new(node.at, "no host sends").help("write senders = [0, \"8..15\"]")),
        false => Ok(all),
    }
}

/// `8..15` or `1 mod 8`.
fn range(node: &Node, text: &str, topology: &Topology) -> Fallible<Vec<u32>> {
    let hosts = topology.hosts();
    let two = |a: &str, b: &str| Some((a.trim().parse::<u32>().ok()?, b.trim().parse().ok()?));
    if let Some((from, to)) = text.split_once("..").and_then(|(a, b)| two(a, b)) {
        if from <= to && to < hosts {
            return Ok((from..=to).collect());
        }
        let message = format!("`{text}` is not a range of this fabric's {hosts} hosts");
        return Err(Fault::new(node.at, message)
            .help(format!("write \"0..{}\" for all of them", hosts - 1)));
    }
    if let Some((rest, every)) = text.split_once("mod").and_then(|(a, b)| two(a, b)) {
        if rest < every && rest < hosts {
            return Ok((rest..hosts).step_by(every as usize).collect());
        }
        return Err(
            Fault::new(node.at, format!("no host has the number `{text}`"))
                .help("write \"0 mod 8\" to \"7 mod 8\" for every eighth host"),
        );
    }
    let message = format!("`{text}` names no hosts");
    Err(Fault::new(node.at, message)
        .help("write the number of a host, a range \"8..15\", or \"1 mod 8\""))
}
