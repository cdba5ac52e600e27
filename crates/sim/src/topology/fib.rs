// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forwarding: the links over which each switch sends packets towards a destination.

use std::sync::OnceLock;

use super::Link;
use crate::ids::LinkId;

/// Distance of a switch without a path to the destination.
const NONE: u8 = u8::MAX;

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
    /// Switches count from `hosts` on; `routed` are the links that packets take.
    pub(super) fn new<'a>(hosts: u32, links: impl Iterator<Item = (LinkId, &'a Link)>) -> Fib {
        let mut fib = Fib {
            out: Vec::new(),
            into: Vec::new(),
            distances: Vec::new(),
        };
        for (id, link) in links {
            let ends = [link.from, link.to].map(|node| node.switch(hosts));
            let most = ends.iter().flatten().max().map_or(0, |&s| s + 1);
            if most > fib.out.len() {
                fib.out.resize_with(most, Vec::new);
                fib.into.resize_with(most, Vec::new);
                fib.distances.resize_with(most, OnceLock::new);
            }
            if let [Some(from), Some(to)] = ends {
                fib.out[from].push((id, to as u32));
                fib.into[to].push(from as u32);
            }
        }
        fib
    }

    /// The links between switches from the switch `from` to the switch `to` for a flow with this
    /// hash. Panics without a path.
    pub(super) fn path(&self, from: usize, to: usize, hash: u64) -> impl Iterator<Item = LinkId> {
        let distances = self.distances(to);
        let (mut at, mut rest) = (from, hash);
        std::iter::from_fn(move || {
            let left = distances[at];
            if left == 0 {
                return None;
            }
            let nearer = |&&(_, far): &&(LinkId, u32)| distances[far as usize] + 1 == left;
            let choices = self.out[at].iter().filter(nearer).count() as u64;
            assert!(choices > 0, "no path between two switches of the fabric");
            let chosen = self.out[at]
                .iter()
                .filter(nearer)
                .nth((rest % choices) as usize);
            let &(link, far) = chosen?;
            (at, rest) = (far as usize, rest / choices);
            Some(link)
        })
    }

    /// The number of links from each switch to the switch `to`, breadth first.
    fn distances(&self, to: usize) -> &[u8] {
        self.distances[to].get_or_init(|| {
            let mut distances = vec![NONE; self.out.len()];
            distances[to] = 0;
            let mut level = vec![to as u32];
            for distance in 1..NONE {
                let mut next = Vec::new();
                for &near in level.iter().flat_map(|&s| &self.into[s as usize]) {
                    if distances[near as usize] == NONE {
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
