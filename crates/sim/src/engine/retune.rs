// SPDX-License-Identifier: MIT OR Apache-2.0
//! Markers of a running simulation change their parameters ([`crate::retune`]).

use std::collections::BTreeMap;

use cemark_marking::{QueueSpec, SchemeSpec, Values};

use super::Shard;
use crate::agenda::kind;
use crate::config::Config;
use crate::events::EventQueue;
use crate::ids::LinkId;
use crate::metrics::record;
use crate::network::{Network, ports};
use crate::retune::{BadRetune, retuned};

/// A port whose marker may change.
struct Tunable {
    specs: Vec<QueueSpec>,
    values: Values,
}

/// The ports of a simulation that may change, and what their parameters are now.
pub(crate) struct Tuning {
    scheme: &'static SchemeSpec,
    ports: BTreeMap<u32, Tunable>,
}

impl Tuning {
    /// Ports that may be retuned: they mark, and they keep their queues since they are watched or
    /// since the configuration retunes them.
    pub fn of_network(cfg: &Config, net: &Network, watched: &[LinkId]) -> Option<Tuning> {
        let kept = ports::kept(cfg, &net.fabric, watched);
        let (scheme, values) = cfg.switch.marker.declared()?;
        if !kept.contains(&true) {
            return None;
        }
        let hosts = cfg.topology.fabric().nics() as usize;
        let links = net.fabric.links().iter().enumerate();
        let tunable = links.filter(|&(l, link)| kept[l] && cfg.marks_on(link, l < hosts));
        let ports = tunable.map(|(l, _)| {
            let specs = net.queue_specs(cfg, LinkId(l as u32));
            let values = *values;
            (l as u32, Tunable { specs, values })
        });
        Some(Tuning {
            scheme,
            ports: ports.collect(),
        })
    }
}

impl<Q: EventQueue> Shard<Q> {
    /// Inserts the events of all retunes. Those of time zero take effect at once.
    pub fn prime_retunes(&mut self) {
        for n in 0..self.cfg.retunes.len() {
            match self.core.agenda.ticks(self.cfg.retunes[n].at) {
                0 => self.retune_planned(n),
                at => {
                    let event = kind::RECORD | (record::RETUNE + n as u32);
                    self.core.agenda.insert(at - 1, event);
                }
            }
        }
    }

    /// The time of a retune of the configuration has come. Panics where it cannot be done.
    #[cold]
    pub fn retune_planned(&mut self, n: usize) {
        let retune = self.cfg.retunes[n].clone();
        let links: Vec<LinkId> = match &retune.links {
            Some(some) => some.iter().copied().map(LinkId).collect(),
            None => self.tunable().collect(),
        };
        if let Err(why) = self.retune(&links, &retune.params) {
            panic!("retune {n} of the configuration: {why}");
        }
    }

    /// The links whose ports may change.
    pub fn tunable(&self) -> impl Iterator<Item = LinkId> + use<'_, Q> {
        let ports = self.tuning.iter().flat_map(|tuning| tuning.ports.keys());
        ports.copied().map(LinkId)
    }

    /// The parameters of a port now, if it may change.
    pub fn values_of(&self, link: LinkId) -> Option<(&'static SchemeSpec, Values)> {
        let tuning = self.tuning.as_ref()?;
        let port = tuning.ports.get(&link.0)?;
        Some((tuning.scheme, port.values))
    }

    /// Changes parameters of some ports now: of all or, on an error, of none. Departures up to now
    /// have been processed.
    pub fn retune<N: AsRef<str>>(
        &mut self,
        links: &[LinkId],
        params: &[(N, u64)],
    ) -> Result<(), BadRetune> {
        let mut tuning = self.tuning.take().ok_or(BadRetune::NoScheme)?;
        let new = |link: &LinkId| {
            let port = tuning.ports.get(&link.0).ok_or(BadRetune::Port(link.0))?;
            retuned(tuning.scheme, &port.values, params)
        };
        let found: Result<Vec<Values>, BadRetune> = links.iter().map(new).collect();
        let result = found.map(|new| {
            for (link, values) in links.iter().zip(new) {
                if let Some(port) = tuning.ports.get_mut(&link.0) {
                    port.values = values;
                    if self.core.net.owns(*link) {
                        let rate = self.core.net.fabric.links()[*link].rate;
                        let values = self.cfg.switch.values_at(tuning.scheme, &values, rate);
                        self.core.retune(*link, &values, &port.specs);
                    }
                }
            }
        });
        self.tuning = Some(tuning);
        result
    }
}
