// SPDX-License-Identifier: MIT OR Apache-2.0
//! Markers of a running simulation change their parameters ([`crate::retune`]).

use std::collections::BTreeMap;

use cemark_marking::{QueueId, QueueSpec, SchemeSpec, Values};

use super::Shard;
use crate::agenda::kind;
use crate::config::Config;
use crate::events::EventQueue;
use crate::ids::LinkId;
use crate::metrics::record;
use crate::network::{Network, ports};
use crate::retune::{BadRetune, retuned};

/// A queue whose marker may change.
struct Tunable {
    spec: QueueSpec,
    scheme: &'static SchemeSpec,
    values: Values,
}

impl Tunable {
    fn has_all<N: AsRef<str>>(&self, params: &[(N, u64)]) -> bool {
        let mut names = params.iter().map(|(name, _)| name.as_ref());
        names.all(|name| self.scheme.index_of(name).is_some())
    }
}

/// The queues of a port that may change, by number.
type Tunables = BTreeMap<u8, Tunable>;

/// The ports of a simulation that may change, and the parameters of their markers.
pub(crate) struct Tuning {
    ports: BTreeMap<u32, Tunables>,
}

impl Tuning {
    /// Ports that may be retuned: they mark, and they keep their queues since they are watched or
    /// since the configuration retunes them.
    pub fn of_network(cfg: &Config, net: &Network, watched: &[LinkId]) -> Option<Tuning> {
        let kept = ports::kept(cfg, &net.fabric, watched);
        let hosts = cfg.topology.fabric().nics() as usize;
        let links = net.fabric.links().iter().enumerate();
        let tunable = links.filter(|&(l, link)| kept[l] && cfg.marks_on(link, l < hosts));
        let ports = tunable.map(|(l, _)| {
            let specs = net.queue_specs(cfg, LinkId(l as u32));
            let queues = (0u8..).zip(specs).filter_map(|(queue, spec)| {
                let (scheme, values) = cfg.switch.marker_of(queue.into()).declared()?;
                let values = *values;
                Some((
                    queue,
                    Tunable {
                        spec,
                        scheme,
                        values,
                    },
                ))
            });
            (l as u32, queues.collect())
        });
        let ports: BTreeMap<u32, Tunables> = ports.collect();
        let any = ports.values().any(|queues| !queues.is_empty());
        any.then_some(Tuning { ports })
    }

    /// The queues of a port that `params` change, with their new values.
    fn changed<N: AsRef<str>>(
        &self,
        link: LinkId,
        queue: Option<u8>,
        params: &[(N, u64)],
    ) -> Result<Vec<(u8, Values)>, BadRetune> {
        let queues = self.ports.get(&link.0).ok_or(BadRetune::Port(link.0))?;
        let all = || {
            queues
                .iter()
                .filter(|(n, _)| queue.is_none_or(|q| q == **n))
        };
        let mut meant: Vec<(&u8, &Tunable)> = all().filter(|(_, q)| q.has_all(params)).collect();
        if meant.is_empty() {
            // Its refusal names the parameter that is unknown.
            meant.extend(all().next());
        }
        if meant.is_empty() {
            return Err(BadRetune::NoScheme);
        }
        let new = |(&n, q): (&u8, &Tunable)| Ok((n, retuned(q.scheme, &q.values, params)?));
        meant.into_iter().map(new).collect()
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
        if let Err(why) = self.retune(&links, retune.queue, &retune.params) {
            panic!("retune {n} of the configuration: {why}");
        }
    }

    /// The links whose ports may change.
    pub fn tunable(&self) -> impl Iterator<Item = LinkId> + use<'_, Q> {
        let ports = self.tuning.iter().flat_map(|tuning| tuning.ports.keys());
        ports.copied().map(LinkId)
    }

    /// The parameters of the first queue of a port that may change.
    pub fn values_of(&self, link: LinkId) -> Option<(&'static SchemeSpec, Values)> {
        let port = self.tuning.as_ref()?.ports.get(&link.0)?;
        let first = port.values().next()?;
        Some((first.scheme, first.values))
    }

    /// Changes parameters of some ports now, of one queue or of every queue whose scheme has them:
    /// of all ports or, on an error, of none. Departures up to now have been processed.
    pub fn retune<N: AsRef<str>>(
        &mut self,
        links: &[LinkId],
        queue: Option<u8>,
        params: &[(N, u64)],
    ) -> Result<(), BadRetune> {
        let tuning = self.tuning.as_mut().ok_or(BadRetune::NoScheme)?;
        let new = |link: &LinkId| tuning.changed(*link, queue, params);
        let found = links.iter().map(new).collect::<Result<Vec<_>, _>>()?;
        for (link, queues) in links.iter().zip(found) {
            for (n, values) in queues {
                let port = tuning.ports.get_mut(&link.0);
                let Some(own) = port.and_then(|port| port.get_mut(&n)) else {
                    continue;
                };
                own.values = values;
                if self.core.net.owns(*link) {
                    let rate = self.core.net.fabric.links()[*link].rate;
                    let values = self.cfg.switch.values_at(own.scheme, &values, rate);
                    self.core.retune(*link, QueueId(n), &values, &own.spec);
                }
            }
        }
        Ok(())
    }
}
