// SPDX-License-Identifier: MIT OR Apache-2.0
//! A topology laid out as links (one port each) and routes.
//!
//! Links 0..n are the hosts' NICs, host by host, the next n links lead to the NICs, and the inner
//! links follow. A host with one NIC has the number of its NIC. A route is the list of links from a
//! sender's NIC to a receiver's; the flow's hash chooses the NICs of hosts that have several, and
//! among equal paths, once for its life.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use cemark_wire::{Picos, Rate};

use super::fib::Fib;
use super::link::{Link, NodeId};
use super::wiring::{Line, Wiring};
use crate::ids::LinkId;

/// Most links of a route.
pub const MAX_LINKS: usize = 8;

/// The links from a sender's NIC to the receiver; [`LinkId::NONE`] behind the last.
pub type Route = [LinkId; MAX_LINKS];

/// A path between two NICs as the sum of its links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// Number of links.
    pub links: u32,
    /// Propagation delay, one way.
    pub delay: Picos,
    /// Rate of the slowest link.
    pub slowest: Rate,
}

/// NICs of a rack whose links are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub rack: u32,
    pub line: Line,
    /// Number of NICs.
    pub nics: u32,
    /// Hosts, each counted as [`Fabric::whole`], divided equally among its NICs.
    pub weight: u64,
    /// A NIC of the group.
    pub first: u32,
    /// Another NIC, if there are several.
    pub second: Option<u32>,
}

/// All links of a topology.
#[derive(Clone, Debug)]
pub struct Fabric {
    nics: u32,
    /// By host: its first NIC; then the number of all.
    first_of: Vec<u32>,
    /// By NIC: its host.
    host_of: Vec<u32>,
    /// A number that every host's number of NICs divides.
    whole: u64,
    racks: u32,
    groups: Vec<Group>,
    group_of: Vec<u32>,
    links: Vec<Link>,
    /// By inner link: its tier, or [`UNROUTED`].
    tiers: Vec<u8>,
    names: Vec<&'static str>,
    alike: bool,
    /// By link: share of the packets of all pairs of hosts that crosses it.
    over_of_all: OnceLock<Vec<f64>>,
    pub(super) fib: Fib,
}

/// The tier of a link that no packet takes.
const UNROUTED: u8 = u8::MAX;

impl Fabric {
    /// Lays out hosts, switches and cables.
    pub(super) fn new(wiring: &Wiring) -> Fabric {
        let nics = wiring.nics.len() as u32;
        let links = links(wiring);
        let tiers: Vec<u8> = wiring
            .cables
            .iter()
            .map(|cable| match cable.routed {
                true => cable.tier,
                false => UNROUTED,
            })
            .collect();
        let inner = (2 * nics..).map(LinkId).zip(&links[2 * nics as usize..]);
        let routed = inner.zip(&wiring.cables).filter(|(_, cable)| cable.routed);
        let routed = routed.map(|(link, _)| link);
        let fib = Fib::new(nics, wiring.switches.len(), routed);
        let host_of: Vec<u32> = wiring.nics.iter().map(|nic| nic.host).collect();
        let starts = 0..=wiring.hosts.len() as u32;
        let first_of: Vec<u32> = starts
            .map(|h| host_of.partition_point(|&host| host < h) as u32)
            .collect();
        let ports = first_of.windows(2).map(|of| u64::from(of[1] - of[0]));
        let whole = ports.fold(1, multiple);
        let (groups, group_of) = groups(wiring, &first_of, whole);
        Fabric {
            nics,
            first_of,
            host_of,
            whole,
            racks: wiring.nics.iter().map(|n| n.switch + 1).max().unwrap_or(0),
            groups,
            group_of,
            links,
            tiers,
            names: wiring.tiers.clone(),
            alike: wiring.alike,
            over_of_all: OnceLock::new(),
            fib,
        }
    }

    /// All links; the first [`nics`](Fabric::nics) are those of NICs.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The links whose name is `pattern`, in which each `*` is any text: `leaf*->host3`.
    pub fn matching(&self, pattern: &str) -> Vec<LinkId> {
        let links = self.links.iter().zip(0..);
        let fits = links.filter(|(link, _)| fits(&link.name, pattern));
        fits.map(|(_, l)| LinkId(l)).collect()
    }

    /// Number of hosts.
    pub(crate) fn hosts(&self) -> u32 {
        self.first_of.len() as u32 - 1
    }

    /// Number of NICs.
    pub fn nics(&self) -> u32 {
        self.nics
    }

    /// The host of a NIC.
    pub fn host_of(&self, nic: u32) -> u32 {
        self.host_of[nic as usize]
    }

    /// The NICs of a host.
    pub fn nics_of(&self, host: u32) -> std::ops::Range<u32> {
        self.first_of[host as usize]..self.first_of[host as usize + 1]
    }

    /// The NICs that a connection with this hash uses at its two hosts.
    pub fn ends(&self, src: u32, dst: u32, hash: u64) -> [u32; 2] {
        // The low bits choose among paths.
        let bits = hash.rotate_left(32);
        let (of_src, of_dst) = (self.nics_of(src), self.nics_of(dst));
        let (a, b) = (of_src.len() as u64, of_dst.len() as u64);
        [
            of_src.start + (bits % a) as u32,
            of_dst.start + (bits / a % b) as u32,
        ]
    }

    /// The port that faces a NIC.
    pub fn to_nic(&self, nic: u32) -> LinkId {
        LinkId(self.nics + nic)
    }

    /// The link that is number `i` of the topology's inner links.
    pub fn inner(&self, i: u32) -> LinkId {
        LinkId(2 * self.nics + i)
    }

    /// The switch of a NIC, counted among the switches.
    pub fn rack(&self, nic: u32) -> u32 {
        self.links[nic as usize].to.0 - self.nics
    }

    /// Number of switches that have hosts.
    pub fn racks(&self) -> u32 {
        self.racks
    }

    /// The path from the NIC `src` to the NIC `dst` for a flow with this hash. Panics where a path
    /// has more than [`MAX_LINKS`] links.
    pub fn route(&self, src: u32, dst: u32, hash: u64) -> Route {
        let mut route = [LinkId::NONE; MAX_LINKS];
        for (n, link) in self.path(src, dst, hash).enumerate() {
            route[n] = link;
        }
        route
    }

    /// The links from the NIC `src` to the NIC `dst` for a flow with this hash.
    pub fn path(&self, src: u32, dst: u32, hash: u64) -> impl Iterator<Item = LinkId> {
        let inner = self.between(self.rack(src), self.rack(dst), hash);
        let ends = [LinkId(src), self.to_nic(dst)];
        std::iter::once(ends[0]).chain(inner).chain([ends[1]])
    }

    /// The inner links from rack to rack for a flow with this hash.
    pub(crate) fn between(&self, from: u32, to: u32, hash: u64) -> impl Iterator<Item = LinkId> {
        self.fib.path(from as usize, to as usize, hash)
    }

    /// The path from the NIC `src` to the NIC `dst` for a flow with this hash, as a sum.
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
        let outer = self.links[..2 * self.nics as usize].iter();
        outer.chain(self.inner_routed().map(|(_, link)| link))
    }

    /// The inner links that packets take, with their numbers.
    pub(crate) fn inner_routed(&self) -> impl Iterator<Item = (LinkId, &Link)> {
        let outer = 2 * self.nics;
        let all = (outer..).map(LinkId).zip(&self.links[outer as usize..]);
        let routed = all.zip(&self.tiers).filter(|(_, tier)| **tier != UNROUTED);
        routed.map(|(link, _)| link)
    }

    /// NICs by rack and link.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Two NICs for each rack and kind of link, or one where there is one: their paths stand for
    /// those of the others.
    pub fn representatives(&self) -> Vec<u32> {
        let two = |g: &Group| [g.first].into_iter().chain(g.second);
        self.groups.iter().flat_map(two).collect()
    }

    /// The group of a NIC, as a place in [`groups`](Fabric::groups).
    pub(crate) fn group(&self, nic: u32) -> usize {
        self.group_of[nic as usize] as usize
    }

    /// The weight of a host in groups, a multiple of its number of NICs.
    pub(crate) fn whole(&self) -> u64 {
        self.whole
    }

    /// The weight in its group of a NIC of this host.
    pub(crate) fn weight(&self, host: u32) -> u64 {
        self.whole / self.nics_of(host).len() as u64
    }

    /// Names of the tiers; none where each inner link has a load of its own.
    pub(crate) fn tiers(&self) -> &[&'static str] {
        &self.names
    }

    /// The tier of an inner link that packets take.
    pub(crate) fn tier(&self, link: LinkId) -> u8 {
        self.tiers[link.place() - 2 * self.nics as usize]
    }

    /// The name of the tier of a link by its place; `None` in a fabric without tiers.
    pub fn tier_name(&self, link: usize) -> Option<&'static str> {
        match link.checked_sub(2 * self.nics as usize) {
            None => Some("host links"),
            Some(inner) => self.names.get(usize::from(self.tiers[inner])).copied(),
        }
    }

    /// Shares of the packets of all pairs of hosts that cross each link, computed once.
    pub(crate) fn over_of_all(&self, compute: impl FnOnce() -> Vec<f64>) -> &[f64] {
        self.over_of_all.get_or_init(compute)
    }

    /// Whether all racks see the same fabric.
    pub(crate) fn alike(&self) -> bool {
        self.alike
    }

    /// Adds the packets over each inner link if `sent` packets leave each rack for the rack `to`,
    /// divided equally among the choices of each switch.
    pub(crate) fn spread(&self, to: u32, sent: Vec<f64>, over: &mut [f64]) {
        let first = 2 * self.nics as usize;
        let add = |link: LinkId, packets| over[link.place() - first] += packets;
        self.fib.spread(to as usize, sent, add);
    }
}

/// The least common multiple.
fn multiple(a: u64, b: u64) -> u64 {
    let mut rest = (a, b);
    while rest.1 > 0 {
        rest = (rest.1, rest.0 % rest.1);
    }
    a / rest.0 * b
}

/// The NICs by rack and link, and the group of each NIC.
fn groups(wiring: &Wiring, first_of: &[u32], whole: u64) -> (Vec<Group>, Vec<u32>) {
    let mut places = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut group_of = Vec::with_capacity(wiring.nics.len());
    for (first, nic) in (0..).zip(&wiring.nics) {
        let key = (nic.switch, nic.line.rate, nic.line.delay);
        let place = *places.entry(key).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Group {
                rack: nic.switch,
                line: nic.line,
                nics: 0,
                weight: 0,
                first,
                second: None,
            });
        }
        let host = nic.host as usize;
        let group = &mut groups[place];
        group.nics += 1;
        group.weight += whole / u64::from(first_of[host + 1] - first_of[host]);
        if first != group.first {
            group.second.get_or_insert(first);
        }
        group_of.push(place as u32);
    }
    (groups, group_of)
}

/// The links with their names, ends and counterparts.
fn links(wiring: &Wiring) -> Vec<Link> {
    let nics = wiring.nics.len() as u32;
    let switch = |s: u32| (&wiring.switches[s as usize][..], NodeId(nics + s));
    let host = |n: u32| {
        let host = wiring.nics[n as usize].host;
        (&wiring.hosts[host as usize][..], NodeId(n))
    };
    let mut links = Vec::with_capacity(2 * wiring.nics.len() + wiring.cables.len());
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
    for (n, nic) in (0..).zip(&wiring.nics) {
        push(host(n), switch(nic.switch), nic.line, None, nics + n);
    }
    for (n, nic) in (0..).zip(&wiring.nics) {
        push(switch(nic.switch), host(n), nic.line, Some(n), n);
    }
    // The k-th of parallel cables belongs to the k-th in the other direction.
    let mut parallel: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
    for (l, cable) in (2 * nics..).zip(&wiring.cables) {
        parallel.entry([cable.from, cable.to]).or_default().push(l);
    }
    for (l, cable) in (2 * nics..).zip(&wiring.cables) {
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
    // The second of several cables between two nodes is called so.
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for link in &mut links {
        let n = seen.entry(link.name.clone()).or_default();
        *n += 1;
        if *n > 1 {
            link.name += &format!("#{n}");
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
