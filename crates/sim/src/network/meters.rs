// SPDX-License-Identifier: MIT OR Apache-2.0
//! The meters of flow control as a run lays them out, for people.

use std::collections::BTreeMap;

use cemark_switch::Clock;
use cemark_wire::{Picos, Rate};

use super::pfc::Lossless;
use super::ports::{Buffers, tick_ps};
use crate::config::Config;
use crate::ids::LinkId;

/// Links into switches whose meters are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meters {
    /// Name of the first of these links.
    pub first: String,
    /// Number of these links.
    pub links: usize,
    /// Rate of a link.
    pub rate: Rate,
    /// Propagation delay of a link.
    pub delay: Picos,
    /// Headroom of a link for each lossless queue, in bytes.
    pub headroom: u32,
    /// Bytes of a meter above which its sender is paused while the shared room is empty.
    pub xoff: u32,
    /// Shared room of the switch at the far end, in bytes.
    pub shared: u32,
    /// Headroom of all links into that switch, in bytes.
    pub reserved: u32,
}

/// The meters of a configuration, by kind of link, in order of the links; none without flow
/// control.
pub fn meters(cfg: &Config) -> Vec<Meters> {
    let Some(pfc) = &cfg.switch.pfc else {
        return Vec::new();
    };
    let fabric = cfg.topology.fabric();
    let clock = Clock::new(tick_ps(fabric));
    let mut buffers = Buffers::new(cfg, fabric);
    let lossless = Lossless::new(cfg, pfc, clock, fabric, &mut buffers.pools, &buffers.of);
    let mut kinds: Vec<Meters> = Vec::new();
    // By everything but the name: the place in the list.
    let mut places = BTreeMap::new();
    for (link, l) in fabric.links().iter().zip(0_u32..) {
        let id = LinkId(l);
        let Some(pool) = lossless.pool_behind(id) else {
            continue;
        };
        let pool = &buffers.pools[pool.place()];
        let Some(ingress) = pool.ingress() else {
            continue;
        };
        let shared = pool.room();
        let meters = Meters {
            first: link.name.clone(),
            links: 0,
            rate: link.rate,
            delay: link.delay,
            headroom: ingress.headroom(lossless.place_of(id)),
            xoff: ingress.pauses_at(shared),
            shared,
            reserved: pool.capacity() - shared,
        };
        let key = (
            (meters.rate, meters.delay, meters.headroom),
            (meters.xoff, meters.shared, meters.reserved),
        );
        let place = *places.entry(key).or_insert(kinds.len());
        if place == kinds.len() {
            kinds.push(meters);
        }
        kinds[place].links += 1;
    }
    kinds
}
