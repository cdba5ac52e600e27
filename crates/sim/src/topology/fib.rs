// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forwarding: the links over which each switch sends packets towards a destination.

use std::sync::OnceLock;

use super::link::Link;
use crate::ids::LinkId;

/// Distance of a switch without a path to the destination.
pub(super) const UNREACHED: u8 = u8::MAX;

/// Shortest paths between the switches of a fabric.
///
/// A flow's hash chooses among a switch's links that lie on shortest paths (ECMP): the hash modulo
/// their number is the place of the link in their order, and the quotient chooses at the next
/// switch.
#[derive(Clone, Debug)]
pub(super) struct Fib {
    /// By switch: the links to other switches that packets take, and their far ends.
    out: Vec<Vec<(LinkId, u32)>>,
    /// By switch: the switches whose links lead to it.
    into: Vec<Vec<u32>>,
    /// By destination: the number of links from each switch, computed for the first flow.
    distances: Vec<OnceLock<Box<[u8]>>>,
}

impl Fib {
    /// Switches count from `hosts` on; packets take the `links` between them.
    pub(super) fn new<'a>(
        hosts: u32,
        switches: usize,
        links: impl Iterator<Item = (LinkId, &'a Link)>,
    ) -> Fib {
        let mut fib = Fib {
            out: vec![Vec::new(); switches],
            into: vec![Vec::new(); switches],
            distances: vec![OnceLock::new(); switches],
        };
        for (id, link) in links {
            let [from, to] = [link.from, link.to].map(|node| node.0 - hosts);
            fib.out[from as usize].push((id, to));
            fib.into[to as usize].push(from);
        }
        fib
    }

    /// The links between switches from the switch `from` to the switch `to` for a flow with this
    /// hash. Panics without a path.
    pub(super) fn path(&self, from: usize, to: usize, hash: u64) -> impl Iterator<Item = LinkId> {
        let distances = self.distances(to);
        let (mut at, mut rest) = (from, hash);
        std::iter::from_fn(move || {
            if distances[at] == 0 {
                return None;
            }
            let choices = self.nearer(distances, at).count() as u64;
            assert!(choices > 0, "no path between two switches of the fabric");
            let (link, far) = self.nearer(distances, at).nth((rest % choices) as usize)?;
            (at, rest) = (far as usize, rest / choices);
            Some(link)
        })
    }

    /// The links of the switch `at`, which is not the destination, on shortest paths, and their
    /// far ends.
    fn nearer<'a>(
        &'a self,
        distances: &'a [u8],
        at: usize,
    ) -> impl Iterator<Item = (LinkId, u32)> + 'a {
        let nearer = move |&(_, far): &(LinkId, u32)| distances[far as usize] == distances[at] - 1;
        self.out[at].iter().copied().filter(nearer)
    }

    /// Divides packets to the switch `to` equally among the choices of each switch, and calls `add`
    /// with every link and the packets over it. `sent` has the packets of the first switches.
    pub(super) fn spread(&self, to: usize, sent: Vec<f64>, mut add: impl FnMut(LinkId, f64)) {
        let distances = self.distances(to);
        let mut packets = sent;
        packets.resize(self.out.len(), 0.0);
        let mut order: Vec<usize> = (0..self.out.len())
            .filter(|&s| !matches!(distances[s], 0 | UNREACHED))
            .collect();
        order.sort_by_key(|&s| std::cmp::Reverse(distances[s]));
        for at in order {
            let choices = self.nearer(distances, at).count() as f64;
            let each = packets[at] / choices;
            if each > 0.0 {
                for (link, far) in self.nearer(distances, at) {
                    packets[far as usize] += each;
                    add(link, each);
                }
            }
        }
    }

    /// The number of links from each switch to the switch `to`, breadth first; [`UNREACHED`]
    /// without a path.
    pub(super) fn distances(&self, to: usize) -> &[u8] {
        self.distances[to].get_or_init(|| {
            let mut distances = vec![UNREACHED; self.out.len()];
            distances[to] = 0;
            let mut level = vec![to as u32];
            for distance in 1..UNREACHED {
                let mut next = Vec::new();
                for &near in level.iter().flat_map(|&s| &self.into[s as usize]) {
                    if distances[near as usize] == UNREACHED {
                        distances[near as usize] = distance;
                        next.push(near);
                    }
                }
                level = next;
            }
            distances.into()
        })
    }
}
