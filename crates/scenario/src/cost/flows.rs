// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packet-hops of the flows of a point in closed form: bytes over the payload of a packet, with
//! acknowledgements, times the links of the mean path. Losses are not counted.
//!
//! A flow that has not ended when the run ends counts with the bytes that it has sent until then.

use std::collections::BTreeSet;

use cemark_sim::Config;
use cemark_sim::topology::Topology;
use cemark_sim::workload::load::ways;
use cemark_sim::workload::{Arriving, Burst, Facts, Pairs, Sending, SizeTable};
use cemark_wire::Picos;

use super::Found;
use super::endless::Endless;
use super::memory;
use super::sender::{self, seconds};

/// Factor by which the largest flows of a fabric are slower than the mean load of its links makes
/// them, by experience (web search at 0.8 and 0.9 of a leaf-spine): one of their links has more.
const CROWDED: f64 = 4.0;
/// Least share of a link that a load leaves to a flow.
const LEAST: f64 = 0.05;
/// Classes of sizes, each with half of the flows of the class before.
const CLASSES: i32 = 12;

/// Traffic of a point.
pub(super) fn found(config: &Config) -> Found {
    let endless = Endless::of(config);
    let all = || {
        let each = config.workloads.iter();
        each.map(|w| (w.kind.facts(&config.topology), config.transport_of(w)))
    };
    let load = all().filter_map(|(facts, _)| facts.load()).sum();
    let of = |transport| Traffic {
        config,
        transport,
        line: sender::payload(transport) * config.topology.host_rate().0 as f64 / 8.0,
        load,
    };
    let limit = seconds(config.max_time);
    let (mut last, mut end) = (0.0, 0.0);
    for (facts, transport) in all() {
        if let Some(span) = of(transport).span(facts, &endless) {
            last = span.last.min(limit).max(last);
            end = span.end.min(limit).max(end);
        }
    }
    if end == 0.0 {
        (last, end) = (limit, limit);
    }
    let mut found = Found {
        end,
        ..Found::default()
    };
    let mut bytes = 0.0;
    for (facts, transport) in all() {
        bytes += of(transport).add(facts, &mut found);
    }
    endless.add(config, bytes, last / end, &mut found);
    found
}

/// Start of the last flow of a workload that a run waits for, and its end, in seconds.
struct Span {
    last: f64,
    end: f64,
}

struct Traffic<'a> {
    config: &'a Config,
    transport: &'a cemark_transport::Config,
    /// Payload bytes a second of a host's link.
    line: f64,
    /// Sum of the loads.
    load: f64,
}

impl Traffic<'_> {
    /// Bytes a second that the load leaves of a host's link.
    fn left(&self) -> f64 {
        self.line * (1.0 - self.load).max(LEAST)
    }

    /// Span of a workload; no run waits for pings and endless flows.
    fn span(&self, facts: Facts<'_>, endless: &Endless) -> Option<Span> {
        match facts.sending {
            Sending::Arrivals(of) => {
                let a = Arrivals::of(&facts, &of, self.config);
                let speed = match of.pairs {
                    Pairs::ToOne(_) => self.left(),
                    Pairs::All | Pairs::OtherRack => self.left() / CROWDED,
                };
                // Of the largest k measured flows the last starts at k / (k + 1) of their time.
                let ranks = std::iter::successors(Some(1.0), |k| Some(2.0 * k));
                let ranks = ranks.take_while(|k| *k <= a.measured.max(1.0));
                let ends = ranks.map(|k| {
                    let size = of.sizes.quantile(1.0 - k / (a.measured + 1.0));
                    a.last() - a.measured / a.rate / (k + 1.0) + size / speed
                });
                Some(Span {
                    last: a.last(),
                    end: ends.fold(a.last(), f64::max),
                })
            }
            Sending::Bursts(bursts) => {
                let span = |burst: Burst| {
                    let last = seconds(burst.last()) + seconds(burst.jitter);
                    let flows = f64::from(burst.flows) + endless.into(burst.dst);
                    let end = last + flows * burst.bytes / self.line;
                    Span { last, end }
                };
                let latest = |a: Span, b: Span| Span {
                    last: a.last.max(b.last),
                    end: a.end.max(b.end),
                };
                bursts.map(span).reduce(latest)
            }
            Sending::Endless { .. } | Sending::Pings(_) => None,
        }
    }

    /// Adds the flows of a workload until the end of the run. Returns their bytes.
    fn add(&self, facts: Facts<'_>, found: &mut Found) -> f64 {
        match facts.sending {
            Sending::Arrivals(of) => {
                self.arrivals(Arrivals::of(&facts, &of, self.config), &of, found)
            }
            Sending::Bursts(bursts) => self.bursts(bursts, found),
            Sending::Pings(pings) => {
                let sent = times(found.end, pings.at, pings.every).min(f64::from(pings.times));
                let links = |src| self.config.topology.links(src, pings.dst);
                found.hops += 2.0 * sent * f64::from(pings.src.map_or(0, links));
                0.0
            }
            Sending::Endless { .. } => 0.0,
        }
    }

    fn arrivals(&self, a: Arrivals, of: &Arriving<'_>, found: &mut Found) -> f64 {
        let end = found.end;
        let held = match of.span {
            Some(_) => 0.0,
            None => (end - a.last()).clamp(0.0, seconds(of.hold)),
        };
        let flows = a.flows + a.rate * held;
        // The load rises from nothing: half of it is the mean of a short run.
        let speed = self.line * (1.0 - 0.5 * self.load);
        let bytes = flows * sent(of.sizes, speed * end);
        let hops = self.hops(flows, bytes, links(&self.config.topology, of.pairs));
        let open = a.rate * (of.sizes.mean() / self.left() + self.round());
        found.hops += hops;
        found.tail += hops * held / (a.last() + held);
        found.flows += open.min(flows);
        found.full += of.load * memory::ports(self.config);
        bytes
    }

    fn bursts(&self, bursts: impl Iterator<Item = Burst>, found: &mut Found) -> f64 {
        let (topology, end) = (&self.config.topology, found.end);
        let (mut all, mut open, mut together) = (0.0, 0.0, 1.0f64);
        let (mut sent, mut first) = (0.0, end);
        let mut receivers = BTreeSet::new();
        for burst in bursts.filter(|burst| seconds(burst.at) < end) {
            let starts = times(end, burst.at, burst.every).min(f64::from(burst.times));
            let flows = f64::from(burst.flows) * starts;
            let each = burst.bytes.min(self.line * (end - seconds(burst.at)));
            let links = match burst.src {
                Some(src) => f64::from(topology.links(src, burst.dst)),
                None => links(topology, &Pairs::ToOne(burst.dst)),
            };
            found.hops += self.hops(flows, flows * each, links);
            first = seconds(burst.at).min(first);
            sent += flows * each;
            all += flows;
            // A flow is under way for twice the time that it takes alone.
            open += flows * (2.0 * each / self.line + self.round());
            together = together.max(f64::from(burst.flows));
            receivers.insert(burst.dst);
        }
        let open = (open / (end - first).max(1e-12)).max(together).min(all);
        found.flows += open;
        found.full += open.min(receivers.len() as f64);
        sent
    }

    /// Data packets and acknowledgements over the links of the mean path. The last packet of a
    /// flow is half full.
    fn hops(&self, flows: f64, bytes: f64, links: f64) -> f64 {
        let t = self.transport;
        let data = bytes / f64::from(t.mss) + 0.5 * flows;
        let handshakes = if t.handshake { 2.0 * flows } else { 0.0 };
        let acks = sender::acks(self.config, t, self.left());
        (data * (1.0 + acks) + handshakes) * links
    }

    /// Seconds of a round trip between the first host and the last.
    fn round(&self) -> f64 {
        let topology = &self.config.topology;
        2.0 * seconds(topology.propagation(0, topology.hosts() - 1))
    }
}

/// Flows of a Poisson workload: warm-up and measurement, as many as arrive at all.
pub(super) struct Arrivals {
    pub(super) flows: f64,
    measured: f64,
    /// Flows a second.
    rate: f64,
}

impl Arrivals {
    pub(super) fn of(facts: &Facts<'_>, arriving: &Arriving<'_>, config: &Config) -> Arrivals {
        let rate = arriving.rate(&config.topology);
        let room = rate * seconds(config.max_time);
        Arrivals {
            flows: (facts.warmup as f64 + facts.measured as f64).min(room),
            measured: (facts.measured as f64).min(room),
            rate,
        }
    }

    /// Start of the last flow, in seconds.
    fn last(&self) -> f64 {
        self.flows / self.rate
    }
}

/// Starts from `at` to `end`, one at `at` and one each `every`.
fn times(end: f64, at: Picos, every: Picos) -> f64 {
    let time = (end - seconds(at)).max(0.0);
    (time / seconds(every).max(1e-12) + 1.0).floor()
}

/// Mean bytes that a flow has sent when a run ends in which a flow can send `most` bytes, and flows
/// start at any time.
fn sent(sizes: &SizeTable, most: f64) -> f64 {
    let (mut all, mut some) = (0.0, 0.0);
    for class in 0..CLASSES {
        let share = f64::from(-class).exp2();
        let size = sizes.quantile(1.0 - 0.7 * share);
        let part = size.min(most) / most;
        all += share * size;
        some += share * most * part * (1.0 - 0.5 * part);
    }
    sizes.mean() * some / all
}

/// Links crossed by an average packet.
pub(super) fn links(topology: &Topology, pairs: &Pairs) -> f64 {
    let all = ways(topology, pairs).into_iter();
    all.map(|(share, way)| share * f64::from(way.links)).sum()
}
