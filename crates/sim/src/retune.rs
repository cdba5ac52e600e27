// SPDX-License-Identifier: MIT OR Apache-2.0
//! Markers whose parameters change in mid-run, as a switch's configuration does at run time. State
//! that a parameter does not concern is kept ([`Marker::retune`]).
//!
//! A change at a time takes effect between two ticks: behind every event of the tick before, and
//! ahead of every event of that tick. Ports that change keep real queues, since a fused port has
//! judged packets that have yet to leave; both forms give the same results.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use cemark_marking::{Kind, Marker, QueueSpec, SchemeSpec, Values, catalogue};
use cemark_wire::{Picos, Rate};

use crate::agenda::kind;
use crate::config::{Config, MarkerChoice};
use crate::engine::Shard;
use crate::events::EventQueue;
use crate::ids::LinkId;
use crate::metrics::record;
use crate::network::{Network, ports};

/// New parameters for the markers of some ports, from a time on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Retune {
    /// When.
    pub at: Picos,
    /// The links whose ports change, by their places in
    /// [`Fabric::links`](crate::topology::Fabric::links). `None`: every port that marks.
    pub links: Option<Vec<u32>>,
    /// Names of parameters of the scheme, each with its value in the unit in which the catalogue
    /// stores it. The others stay as they are at that port.
    pub params: Vec<(&'static str, u64)>,
}

/// Why parameters cannot be changed in mid-run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadRetune {
    /// The marker is no scheme of the catalogue.
    NoScheme,
    /// The scheme has no parameter of this name.
    Unknown {
        /// The scheme's stem.
        scheme: &'static str,
        /// The name.
        param: String,
    },
    /// The value is out of range, or does not go with another one.
    Value(String),
    /// The new values change where the scheme judges packets, or whether it has a timer: ports are
    /// built for that.
    Form {
        /// The scheme's stem.
        scheme: &'static str,
    },
    /// The port is not among those that can change, or has no marker.
    Port(u32),
}

impl fmt::Display for BadRetune {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadRetune::NoScheme => {
                write!(
                    f,
                    "only schemes of the catalogue change parameters in mid-run"
                )
            }
            BadRetune::Unknown { scheme, param } => {
                write!(f, "{scheme} has no parameter `{param}`")
            }
            BadRetune::Value(why) => f.write_str(why),
            BadRetune::Form { scheme } => write!(
                f,
                "these values change the hook of {scheme} or its timer, which only a new run can"
            ),
            BadRetune::Port(link) => {
                write!(
                    f,
                    "the port of link {link} has no marker that could be retuned"
                )
            }
        }
    }
}

impl Error for BadRetune {}

/// The values of a scheme after changes, each checked.
pub fn retuned<N: AsRef<str>>(
    scheme: &'static SchemeSpec,
    values: &Values,
    changes: &[(N, u64)],
) -> Result<Values, BadRetune> {
    let mut new = *values;
    for (name, value) in changes {
        let unknown = || BadRetune::Unknown {
            scheme: scheme.name,
            param: name.as_ref().to_owned(),
        };
        let place = scheme.index_of(name.as_ref()).ok_or_else(unknown)?;
        new.0[place] = *value;
    }
    new.check(scheme.params)
        .map_err(|bad| BadRetune::Value(bad.to_string()))?;
    for (place, param) in scheme.params.iter().enumerate() {
        if let Kind::Choice(words) = param.kind
            && new.get(place) >= words.len() as u64
        {
            let what = format!("`{}` has {} choices", param.name, words.len());
            return Err(BadRetune::Value(what));
        }
    }
    for pair in scheme.ordered {
        let (low, high) = (new.get(pair.low), new.get(pair.high));
        if high < low && !(pair.zero_follows && high == 0) {
            let name = |place: usize| scheme.params[place].name;
            let (low, high) = (name(pair.low), name(pair.high));
            return Err(BadRetune::Value(format!("`{high}` is below `{low}`")));
        }
    }
    let form = |values: &Values| {
        let marker = catalogue::build(scheme, values, &QueueSpec::fifo(Rate::gbps(10)));
        (marker.hook(), marker.keeps_time())
    };
    if form(values) != form(&new) {
        return Err(BadRetune::Form {
            scheme: scheme.name,
        });
    }
    Ok(new)
}

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
    /// What may be retuned: ports that keep their queues, since they are watched or since the
    /// configuration retunes them, and mark.
    pub fn of_network(cfg: &Config, net: &Network, watched: &[LinkId]) -> Option<Tuning> {
        let kept = ports::kept(cfg, &net.fabric, watched);
        let MarkerChoice::Builtin { scheme, values } = &cfg.switch.marker else {
            return None;
        };
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
            match self.agenda.clock.ticks(self.cfg.retunes[n].at) {
                0 => self.retune_planned(n),
                at => {
                    let event = kind::RECORD | (record::RETUNE + n as u32);
                    self.agenda.events.insert(at - 1, event);
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
                    if self.net.owns(*link) {
                        let rate = self.net.fabric.links()[*link].rate;
                        let values = self.cfg.switch.values_at(tuning.scheme, &values, rate);
                        self.net
                            .retune(&mut self.agenda, *link, &values, &port.specs);
                    }
                }
            }
        });
        self.tuning = Some(tuning);
        result
    }
}
