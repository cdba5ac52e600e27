// SPDX-License-Identifier: MIT OR Apache-2.0
//! A topology laid out as links (one port each) and routes.
//!
//! Links 0..hosts are the hosts' NICs, the next `hosts` links lead to the hosts, and the inner
//! links follow. A route is the list of links from a host's NIC to the receiver; equal-cost choices
//! are made by the flow's hash, once for its life.

use std::collections::BTreeMap;

use cemark_wire::{Picos, Rate};

use super::fib::Fib;
use super::{Line, Topology};
use crate::ids::LinkId;

/// More links than any route has.
pub const MAX_LINKS: usize = 6;

/// The links from a sender's NIC to the receiver; [`LinkId::NONE`] behind the last.
pub type Route = [LinkId; MAX_LINKS];

/// One direction of a cable, with the port that feeds it.
#[derive(Clone, Debug)]
pub struct Link {
    /// For people: `leaf0->spine3`.
    pub name: String,
    /// Rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Picos,
    /// The host at its far end, if it is a host.
    pub host: Option<u32>,
    /// The host or switch whose port feeds it.
    pub from: NodeId,
    /// The host or switch at its far end.
    pub to: NodeId,
    /// The other direction of its cable.
    pub reverse: LinkId,
}

/// A host or a switch: the hosts in their order, then the switches in the order of their first
/// ports among the links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The place of a switch among the switches; `None` for one of the `hosts`.
    pub fn switch(self, hosts: u32) -> Option<usize> {
        self.0.checked_sub(hosts).map(|s| s as usize)
    }
}

/// All links of a topology.
#[derive(Clone, Debug)]
pub struct Fabric {
    hosts: u32,
    links: Vec<Link>,
    fib: Fib,
}

impl Fabric {
    /// Lays the topology out.
    pub fn new(topology: &Topology) -> Fabric {
        let shape = topology.shape();
        let (hosts, line, edge) = (topology.hosts(), shape.host_line(), shape.edge_name());
        let rack = |h| format!("{edge}{}", shape.rack(h));
        let draft = |from, to, host| Draft {
            from,
            to,
            line,
            host,
            routed: true,
        };
        let up = (0..hosts).map(|h| draft(format!("host{h}"), rack(h), None));
        let down = (0..hosts).map(|h| draft(rack(h), format!("host{h}"), Some(h)));
        let inner = shape.cables().into_iter().map(|cable| Draft {
            from: cable.from.to_string(),
            to: cable.to.to_string(),
            line: cable.line,
            host: None,
            routed: cable.routed,
        });
        let drafts: Vec<Draft> = up.chain(down).chain(inner).collect();
        let links = joined(&drafts);
        let numbered = (0..).map(LinkId).zip(&links).zip(&drafts);
        let fib = Fib::new(
            hosts,
            numbered.filter(|(_, d)| d.routed).map(|(link, _)| link),
        );
        Fabric { hosts, links, fib }
    }

    /// All links; the first [`Topology::hosts`] are NICs.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The links whose name is `pattern`, in which each `*` is any text: `leaf*->host3`.
    pub fn matching(&self, pattern: &str) -> Vec<LinkId> {
        let links = self.links.iter().zip(0..);
        let fits = links.filter(|(link, _)| fits(&link.name, pattern));
        fits.map(|(_, l)| LinkId(l)).collect()
    }

    /// The port that faces a host.
    pub fn to_host(&self, host: u32) -> LinkId {
        LinkId(self.hosts + host)
    }

    /// The link that is number `i` of the topology's inner links.
    pub fn inner(&self, i: u32) -> LinkId {
        LinkId(2 * self.hosts + i)
    }

    /// The path from `src` to `dst` for a flow with this hash. Panics where a path has more than
    /// [`MAX_LINKS`] links.
    pub fn route(&self, src: u32, dst: u32, hash: u64) -> Route {
        let last = self.to_host(dst);
        let mut route = [LinkId::NONE; MAX_LINKS];
        route[0] = LinkId(src);
        let mut n = 1;
        let switch = |node: NodeId| node.switch(self.hosts).unwrap_or_default();
        let (from, to) = (self.links[src as usize].to, self.links[last.place()].from);
        for link in self.fib.path(switch(from), switch(to), hash) {
            route[n] = link;
            n += 1;
        }
        route[n] = last;
        route
    }
}

/// A link before its ends have numbers.
struct Draft {
    from: String,
    to: String,
    line: Line,
    host: Option<u32>,
    routed: bool,
}

/// The links with numbers for their ends. Every end feeds a link, and every link has a reverse:
/// the k-th of parallel links belongs to the k-th in the other direction.
fn joined(drafts: &[Draft]) -> Vec<Link> {
    let mut nodes = BTreeMap::new();
    for draft in drafts {
        let next = NodeId(nodes.len() as u32);
        nodes.entry(draft.from.as_str()).or_insert(next);
    }
    let ends: Vec<[NodeId; 2]> = drafts
        .iter()
        .map(|draft| [draft.from.as_str(), draft.to.as_str()].map(|name| nodes[name]))
        .collect();
    let mut parallel: BTreeMap<[NodeId; 2], Vec<LinkId>> = BTreeMap::new();
    for (i, &pair) in (0..).zip(&ends) {
        parallel.entry(pair).or_default().push(LinkId(i));
    }
    let mut used = BTreeMap::new();
    let mut links = Vec::with_capacity(drafts.len());
    for (draft, [from, to]) in drafts.iter().zip(ends) {
        let k: &mut usize = used.entry([from, to]).or_default();
        let reverse = parallel[&[to, from]][*k];
        *k += 1;
        links.push(Link {
            name: format!("{}->{}", draft.from, draft.to),
            rate: draft.line.rate,
            delay: draft.line.delay,
            host: draft.host,
            from,
            to,
            reverse,
        });
    }
    links
}

/// Whether `name` is `pattern`, in which each `*` is any text.
fn fits(name: &str, pattern: &str) -> bool {
    let Some((begin, rest)) = pattern.split_once('*') else {
        return name == pattern;
    };
    let Some(tail) = name.strip_prefix(begin) else {
        return false;
    };
    let mut ends = (0..=tail.len()).filter(|&i| tail.is_char_boundary(i));
    ends.any(|i| fits(&tail[i..], rest))
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_is_any_text() {
        for (pattern, wanted) in [
            ("leaf0->host1", true),
            ("leaf0->host", false),
            ("leaf0->host11", false),
            ("*", true),
            ("leaf*", true),
            ("*host1", true),
            ("leaf*->host*", true),
            ("*->*", true),
            ("spine*->leaf*", false),
            ("*host2*", false),
            ("", false),
        ] {
            assert_eq!(fits("leaf0->host1", pattern), wanted, "{pattern}");
        }
    }
}
