// SPDX-License-Identifier: MIT OR Apache-2.0
//! A topology laid out as links (one port each) and routes.
//!
//! Links 0..hosts are the hosts' NICs, the next `hosts` links lead to the hosts, and the inner
//! links follow. A route is the list of links from a host's NIC to the receiver; equal-cost choices
//! are made by the flow's hash, once for its life.

use cemark_wire::{Picos, Rate};

use super::Topology;
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
}

impl Link {
    /// The host or switch whose port this is, by its name.
    pub fn switch(&self) -> &str {
        self.name.split_once("->").map_or("", |(from, _)| from)
    }

    /// The host or switch at its far end, by its name.
    pub fn far(&self) -> &str {
        self.name.split_once("->").map_or("", |(_, to)| to)
    }
}

/// All links of a topology.
#[derive(Clone, Debug)]
pub struct Fabric {
    topology: Topology,
    links: Vec<Link>,
}

impl Fabric {
    /// Lays the topology out.
    pub fn new(topology: &Topology) -> Fabric {
        let shape = topology.shape();
        let (hosts, line, edge) = (topology.hosts(), shape.host_line(), shape.edge_name());
        let link = |name, host| Link {
            name,
            rate: line.rate,
            delay: line.delay,
            host,
        };
        let up = (0..hosts).map(|h| link(format!("host{h}->{edge}{}", shape.rack(h)), None));
        let down = (0..hosts).map(|h| link(format!("{edge}{}->host{h}", shape.rack(h)), Some(h)));
        let inner = shape.cables().into_iter().map(|cable| Link {
            name: format!("{}->{}", cable.from, cable.to),
            rate: cable.line.rate,
            delay: cable.line.delay,
            host: None,
        });
        Fabric {
            links: up.chain(down).chain(inner).collect(),
            topology: topology.clone(),
        }
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
        LinkId(self.topology.hosts() + host)
    }

    /// The link that is number `i` of the topology's inner links.
    pub fn inner(&self, i: u32) -> LinkId {
        LinkId(2 * self.topology.hosts() + i)
    }

    /// The path from `src` to `dst` for a flow with this hash.
    pub fn route(&self, src: u32, dst: u32, hash: u64) -> Route {
        let shape = self.topology.shape();
        let mut route = [LinkId::NONE; MAX_LINKS];
        route[0] = LinkId(src);
        let mut n = 1;
        if shape.rack(src) != shape.rack(dst) {
            for &link in shape.path(src, dst, hash).links() {
                route[n] = self.inner(link);
                n += 1;
            }
        }
        route[n] = self.to_host(dst);
        route
    }
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
