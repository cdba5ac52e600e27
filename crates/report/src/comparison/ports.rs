// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ports of compared schemes.

use super::{Group, Row};
use crate::by_port::{OfPort, PortUse, Share, of_replications};
use crate::rundir::Finished;
use crate::text::distinct;

/// Most ports of a scheme by each share.
const BUSIEST: usize = 16;

impl Row {
    /// Ports of the scheme, the largest share first.
    pub fn ports(&self, finished: &[Finished], share: Share) -> Vec<OfPort> {
        let outcomes = self.points.iter().map(|i| &finished[*i].outcome);
        of_replications(&outcomes.collect::<Vec<_>>(), share)
    }
}

impl Group {
    /// The 16 ports that each scheme uses most, and the 16 that are paused longest.
    pub fn busiest_ports(&self, finished: &[Finished]) -> Vec<PortUse> {
        let mut all = Vec::new();
        for row in &self.rows {
            let [used, paused] = Share::EACH.map(|share| row.ports(finished, share));
            let of = |ports: &[OfPort], name: &str| {
                let port = ports.iter().find(|port| port.port == name);
                port.map(|port| port.mean)
            };
            let longest = paused.iter().filter(|port| port.mean > 0.0);
            let busiest = used.iter().take(BUSIEST).chain(longest.take(BUSIEST));
            let names = distinct(busiest.map(|port| port.port.clone()));
            all.extend(names.into_iter().map(|port| PortUse {
                axes: self.axes.clone(),
                scheme: row.scheme.clone(),
                utilisation: of(&used, &port),
                paused: of(&paused, &port),
                port,
            }));
        }
        all
    }
}
