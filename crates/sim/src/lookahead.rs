// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prefetches of the data that the next deliveries will read, before they are handled.
//!
//! In a large fabric ports, packets and routes do not fit into the caches, and a delivery waits for
//! memory several times in a row: for the port that it leaves, for its packet, for the route of its
//! connection, and for the port that it joins. Each of these tells where the next one is.
//! Deliveries of nearby ticks therefore form a group, and each time a group begins, the five groups
//! after it are prefetched one step further: a prefetch does not wait, and many overlap.
//!
//! Prefetches change nothing but the time that a run takes (docs/speed.md has how much).

use crate::endpoints::Endpoints;
use crate::events::{EventQueue, LARGE};
use crate::network::Core;

/// Links from which on there is anything to gain. With debug assertions every fabric has enough, so
/// that the digests which tests compare are those of this code too.
const LINKS: usize = if cfg!(debug_assertions) { 1 } else { LARGE };
/// Steps of a delivery: its port, its packet, its route, the next port, its place there.
const STEPS: usize = 5;
/// Deliveries of a group, at least. Where ticks hold many a group is one tick; larger groups were
/// slower, since what is prefetched has to stay in the first-level cache.
const ENOUGH: usize = 8;

/// Deliveries of consecutive ticks, by link.
#[derive(Debug, Default)]
struct Group {
    /// The tick of the first is this one or later.
    begin: u64,
    links: Vec<u32>,
}

/// See the module's text.
#[derive(Debug)]
pub(crate) struct Lookahead {
    /// The tick at which the next group begins; never where the fabric is small.
    next: u64,
    /// The tick behind those of the last group.
    end: u64,
    /// The groups to come, the last one first.
    groups: [Group; STEPS],
}

impl Lookahead {
    pub fn new(links: usize) -> Lookahead {
        Lookahead {
            next: match links < LINKS {
                true => u64::MAX,
                false => 0,
            },
            end: 0,
            groups: Default::default(),
        }
    }

    /// Whether a new group has begun.
    #[inline(always)]
    pub fn is_due(&self, now: u64) -> bool {
        now >= self.next
    }

    /// Prefetches what the deliveries of the groups after this one will read.
    #[inline(never)]
    pub fn step<Q: EventQueue>(&mut self, core: &Core<Q>, ends: &Endpoints) {
        let (now, net) = (core.agenda.now, &core.net);
        self.groups.rotate_right(1);
        let [ports, packets, routes, nexts, slots] = &mut self.groups;
        ports.begin = self.end.max(now + 1);
        ports.links.clear();
        self.end = core
            .agenda
            .events
            .deliveries(ports.begin, ENOUGH, &mut ports.links);
        for &l in &ports.links {
            net.prefetch_port::<Q>(l);
        }
        for &l in &packets.links {
            net.prefetch_packet::<Q>(l);
        }
        for &l in &routes.links {
            if let Some(conn) = net.prefetch_row::<Q>(l) {
                ends.conns.prefetch(conn);
            }
        }
        for &l in &nexts.links {
            if let Some(packet) = net.prefetch_next::<Q>(l) {
                ends.conns.prefetch_end(&packet);
            }
        }
        for &l in &slots.links {
            net.prefetch_slot::<Q>(l);
        }
        self.next = slots.begin.max(now + 1);
    }
}
