// SPDX-License-Identifier: MIT OR Apache-2.0
//! A topology laid out as links (one port each) and routes.
//!
//! Links 0..hosts are the hosts' NICs, the next `hosts` links lead to the hosts, and the inner
//! links follow. A route is the list of links from a host's NIC to the receiver; equal-cost choices
//! are made by the flow's hash, once for its life.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use cemark_wire::{Picos, Rate};

use super::fib::Fib;
use super::wiring::{Line, Wiring};
use crate::ids::LinkId;

/// Most links of a route.
pub const MAX_LINKS: usize = 8;

/// The links from a sender's NIC to the receiver; [`LinkId::NONE`] behind the last.
pub type Route = [LinkId; MAX_LINKS];

/// One direction of a cable, with the port that feeds it.
#[derive(Clone, Debug)]
pub struct Link {
    /// For people: `leaf0->spine3`, and `leaf0->spine3#2` for the second of parallel cables.
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

/// A host or a switch: the hosts in their order, then the switches, those with hosts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The place of a switch among the switches; `None` for one of the `hosts`.
    pub fn switch(self, hosts: u32) -> Option<usize> {
        self.0.checked_sub(hosts).map(|s| s as usize)
    }
}

/// A path between two hosts as the sum of its links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// Number of links.
    pub links: u32,
    /// Propagation delay, one way.
    pub delay: Picos,
    /// Rate of the slowest link.
    pub slowest: Rate,
}

/// Hosts of a rack whose links are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub rack: u32,
    pub line: Line,
    pub hosts: u32,
    /// One of the hosts.
    pub first: u32,
    /// Another, if there are several.
    pub second: Option<u32>,
}

/// All links of a topology.
#[derive(Clone, Debug)]
pub struct Fabric {
    hosts: u32,
    racks: u32,
    groups: Vec<Group>,
    group_of: Vec<u32>,
    links: Vec<Link>,
    /// By inner link: its tier, or [`UNROUTED`].
    tiers: Vec<u8>,
    names: Vec<&'static str>,
    alike: bool,
    all_to_all: OnceLock<Vec<f64>>,
    pub(super) fib: Fib,
}

/// The tier of a link that no packet takes.
const UNROUTED: u8 = u8::MAX;

impl Fabric {
    /// Lays out hosts, switches and cables.
    pub(super) fn new(wiring: &Wiring) -> Fabric {
        let hosts = wiring.hosts.len() as u32;
        let links = links(wiring);
        let tiers: Vec<u8> = wiring
            .cables
            .iter()
            .map(|cable| match cable.routed {
                true => cable.tier,
                false => UNROUTED,
            })
            .collect();
        let inner = (2 * hosts..).map(LinkId).zip(&links[2 * hosts as usize..]);
        let routed = inner.zip(&wiring.cables).filter(|(_, cable)| cable.routed);
        let routed = routed.map(|(link, _)| link);
        let fib = Fib::new(hosts, wiring.switches.len(), routed);
        let (groups, group_of) = groups(wiring);
        Fabric {
            hosts,
            racks: wiring.hosts.iter().map(|h| h.switch + 1).max().unwrap_or(0),
            groups,
            group_of,
            links,
            tiers,
            names: wiring.tiers.clone(),
            alike: wiring.alike,
            all_to_all: OnceLock::new(),
            fib,
        }
    }

    /// All links; the first [`Topology::hosts`](super::Topology::hosts) are NICs.
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

    /// The first switch of a host, counted among the switches.
    pub fn rack(&self, host: u32) -> u32 {
        self.links[host as usize].to.0 - self.hosts
    }

    /// Number of switches that have hosts.
    pub fn racks(&self) -> u32 {
        self.racks
    }

    /// The path from `src` to `dst` for a flow with this hash. Panics where a path has more than
    /// [`MAX_LINKS`] links.
    pub fn route(&self, src: u32, dst: u32, hash: u64) -> Route {
        let mut route = [LinkId::NONE; MAX_LINKS];
        for (n, link) in self.path(src, dst, hash).enumerate() {
            route[n] = link;
        }
        route
    }

    /// The links from `src` to `dst` for a flow with this hash.
    pub fn path(&self, src: u32, dst: u32, hash: u64) -> impl Iterator<Item = LinkId> {
        let inner = self.between(self.rack(src), self.rack(dst), hash);
        let ends = [LinkId(src), self.to_host(dst)];
        std::iter::once(ends[0]).chain(inner).chain([ends[1]])
    }

    /// The inner links from rack to rack for a flow with this hash.
    pub(crate) fn between(&self, from: u32, to: u32, hash: u64) -> impl Iterator<Item = LinkId> {
        self.fib.path(from as usize, to as usize, hash)
    }

    /// The path from `src` to `dst` for a flow with this hash, as a sum.
    pub fn way(&self, src: u32, dst: u32, hash: u64) -> Way {
        let none = Way {
            links: 0,
            delay: Picos::ZERO,
            slowest: Rate(u64::MAX),
        };
        self.path(src, dst, hash).fold(none, |way, l| {
            let link = &self.links[l.place()];
            Way {
                links: way.links + 1,
                delay: way.delay.saturating_add(link.delay),
                slowest: way.slowest.min(link.rate),
            }
        })
    }

    /// The links of hosts, then the inner links that packets take.
    pub(super) fn routed(&self) -> impl Iterator<Item = &Link> {
        let outer = self.links[..2 * self.hosts as usize].iter();
        outer.chain(self.inner_routed().map(|(_, link)| link))
    }

    /// The inner links that packets take, with their numbers.
    pub(crate) fn inner_routed(&self) -> impl Iterator<Item = (LinkId, &Link)> {
        let outer = 2 * self.hosts;
        let all = (outer..).map(LinkId).zip(&self.links[outer as usize..]);
        let routed = all.zip(&self.tiers).filter(|(_, tier)| **tier != UNROUTED);
        routed.map(|(link, _)| link)
    }

    /// Hosts by rack and link.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Two hosts for each rack and kind of link, or one where there is one: their paths stand for
    /// those of the others.
    pub fn representatives(&self) -> Vec<u32> {
        let two = |g: &Group| [g.first].into_iter().chain(g.second);
        self.groups.iter().flat_map(two).collect()
    }

    /// The group of a host, as a place in [`groups`](Fabric::groups).
    pub(crate) fn group(&self, host: u32) -> usize {
        self.group_of[host as usize] as usize
    }

    /// Names of the tiers; none where each inner link has a load of its own.
    pub(crate) fn tiers(&self) -> &[&'static str] {
        &self.names
    }

    /// The tier of an inner link that packets take.
    pub(crate) fn tier(&self, link: LinkId) -> u8 {
        self.tiers[link.place() - 2 * self.hosts as usize]
    }

    /// The name of the tier of a link by its place; `None` in a fabric without tiers.
    pub fn tier_name(&self, link: usize) -> Option<&'static str> {
        match link.checked_sub(2 * self.hosts as usize) {
            None => Some("host links"),
            Some(inner) => self.names.get(usize::from(self.tiers[inner])).copied(),
        }
    }

    /// Whether all racks see the same fabric.
    pub(crate) fn alike(&self) -> bool {
        self.alike
    }

    /// Adds the packets over each inner link if each host of another rack sends one packet to each
    /// of `receivers` hosts of the rack `to`, divided equally among the choices of each switch.
    fn spread(&self, to: u32, receivers: u32, over: &mut [f64]) {
        let mut sent = vec![0.0; self.racks as usize];
        for group in &self.groups {
            sent[group.rack as usize] += f64::from(group.hosts) * f64::from(receivers);
        }
        let first = 2 * self.hosts as usize;
        let add = |link: LinkId, packets| over[link.place() - first] += packets;
        self.fib.spread(to as usize, sent, add);
    }

    /// Packets over each inner link if each host of another rack sends one packet to a host of the
    /// rack `to`, divided equally among the choices of each switch.
    pub(crate) fn spread_to(&self, to: u32) -> Vec<f64> {
        let mut over = vec![0.0; self.tiers.len()];
        self.spread(to, 1, &mut over);
        over
    }

    /// Packets over each inner link if each host sends one packet to each host of other racks,
    /// divided equally among the choices of each switch.
    pub(crate) fn spread_of_all(&self) -> &[f64] {
        self.all_to_all.get_or_init(|| {
            let mut over = vec![0.0; self.tiers.len()];
            for to in &self.groups {
                self.spread(to.rack, to.hosts, &mut over);
            }
            over
        })
    }
}

/// The hosts by rack and link, and the group of each host.
fn groups(wiring: &Wiring) -> (Vec<Group>, Vec<u32>) {
    let mut places = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut group_of = Vec::with_capacity(wiring.hosts.len());
    for (first, host) in (0..).zip(&wiring.hosts) {
        let key = (host.switch, host.line.rate, host.line.delay);
        let place = *places.entry(key).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Group {
                rack: host.switch,
                line: host.line,
                hosts: 0,
                first,
                second: None,
            });
        }
        let group = &mut groups[place];
        group.hosts += 1;
        if first != group.first {
            group.second.get_or_insert(first);
        }
        group_of.push(place as u32);
    }
    (groups, group_of)
}

/// The links with their names, ends and counterparts.
fn links(wiring: &Wiring) -> Vec<Link> {
    let hosts = wiring.hosts.len() as u32;
    let switch = |s: u32| (&wiring.switches[s as usize][..], NodeId(hosts + s));
    let mut links = Vec::with_capacity(2 * wiring.hosts.len() + wiring.cables.len());
    let mut push =
        |(from, a): (&str, NodeId), (to, b): (&str, NodeId), line: Line, host, reverse| {
            links.push(Link {
                name: format!("{from}->{to}"),
                rate: line.rate,
                delay: line.delay,
                host,
                from: a,
                to: b,
                reverse: LinkId(reverse),
            });
        };
    for (h, host) in (0..).zip(&wiring.hosts) {
        push(
            (&host.name, NodeId(h)),
            switch(host.switch),
            host.line,
            None,
            hosts + h,
        );
    }
    for (h, host) in (0..).zip(&wiring.hosts) {
        push(
            switch(host.switch),
            (&host.name, NodeId(h)),
            host.line,
            Some(h),
            h,
        );
    }
    // The k-th of parallel cables belongs to the k-th in the other direction.
    let mut parallel: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
    for (l, cable) in (2 * hosts..).zip(&wiring.cables) {
        parallel.entry([cable.from, cable.to]).or_default().push(l);
    }
    for (l, cable) in (2 * hosts..).zip(&wiring.cables) {
        let place = parallel[&[cable.from, cable.to]].binary_search(&l);
        let k = place.expect("each cable is in its list");
        let reverse = parallel[&[cable.to, cable.from]][k];
        push(
            switch(cable.from),
            switch(cable.to),
            cable.line,
            None,
            reverse,
        );
    }
    for list in parallel.values().filter(|list| list.len() > 1) {
        for (k, &l) in (2..).zip(&list[1..]) {
            links[l as usize].name += &format!("#{k}");
        }
    }
    links
}

/// Whether `name` is `pattern`, in which each `*` is any text.
pub fn fits(name: &str, pattern: &str) -> bool {
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
