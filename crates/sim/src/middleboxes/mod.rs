// SPDX-License-Identifier: MIT OR Apache-2.0
//! Middleboxes, which read or change traffic on its way between two sites: DCIB's routers, a filter
//! of duplicate ACKs, a proxy.
//!
//! Middleboxes are passed the network, on which they send, and the ends of connections, which a
//! proxy has too; nothing here uses the shard.

pub(crate) mod dupacks;
pub(crate) mod edges;
pub(crate) mod pep;

use std::collections::BTreeMap;
use std::sync::Arc;

use cemark_edge::{Actions, Step};

use crate::config::Config;
use crate::ids::LinkId;
use crate::topology::Fabric;
use dupacks::DupAcks;
use edges::{Place, RouterPair};
use pep::Pep;

/// See the module's text.
pub(crate) struct Middleboxes {
    cfg: Arc<Config>,
    /// By number: what is at the far end of a link.
    places: Vec<Place>,
    /// The DCIB routers, a pair for each path between two sites.
    edges: Vec<RouterPair>,
    /// Requests of the routers, and their counters.
    actions: Actions,
    steps: Vec<Step>,
    filter: Option<DupAcks>,
    /// The proxies at the edges.
    pep: Option<Box<Pep>>,
}

impl Middleboxes {
    /// The middleboxes of a configuration, without their connections, and the links behind which
    /// they have their places, in order of these.
    pub fn new(cfg: &Arc<Config>, fabric: &Fabric) -> (Middleboxes, Vec<LinkId>) {
        let edges = edges::places(cfg, fabric);
        let proxies = pep::places(cfg, fabric);
        let all = edges
            .into_iter()
            .chain(proxies.into_iter().map(|link| (link, Place::Proxy)));
        let (links, places) = all.unzip();
        let boxes = Middleboxes {
            cfg: Arc::clone(cfg),
            places,
            edges: Vec::new(),
            actions: Actions::default(),
            steps: Vec::new(),
            filter: None,
            pep: Pep::new(&cfg.edge).map(Box::new),
        };
        (boxes, links)
    }

    /// The middlebox at a place.
    pub fn place(&self, n: u32) -> Place {
        self.places[n as usize]
    }

    /// Packets that they keep, have made, and have ended.
    pub fn kept_made_gone(&self) -> (u64, u64, u64) {
        let tally = &self.actions.tally;
        (tally.kept, tally.made, tally.gone)
    }

    /// Counters of the middleboxes, by name.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        match &self.pep {
            Some(pep) => pep.counts(),
            None => self.edge_counts(),
        }
    }
}
