// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packet-hops of the flows of a point in closed form: bytes over the payload of a packet, with
//! acknowledgements, times the links of the mean path. Losses are not counted.
//!
//! A flow that has not ended when the run ends counts with the bytes that it has sent until then.

use cemark_sim::Config;
use cemark_sim::topology::Topology;
use cemark_sim::workload::load::{flows_per_second, ways};
use cemark_sim::workload::{FlowLine, Kind, Pairs, SizeTable};

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
    let load = |kind: &Kind| arrivals(kind, config).map_or(0.0, |a| a.load);
    let point = Traffic {
        config,
        line: sender::payload(config) * config.topology.host_rate().0 as f64 / 8.0,
        load: config.workloads.iter().map(|w| load(&w.kind)).sum(),
    };
    let limit = seconds(config.max_time);
    let (mut last, mut end) = (0.0, 0.0);
    for workload in &config.workloads {
        if let Some(span) = point.span(&workload.kind, &endless) {
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
    for workload in &config.workloads {
        bytes += point.add(&workload.kind, &mut found);
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
    fn span(&self, kind: &Kind, endless: &Endless) -> Option<Span> {
        match kind {
            Kind::Poisson { sizes, pairs, .. } => {
                let a = arrivals(kind, self.config)?;
                let speed = match pairs {
                    Pairs::ToOne(_) => self.left(),
                    Pairs::All | Pairs::OtherRack => self.left() / CROWDED,
                };
                // Of the largest k measured flows the last starts at k / (k + 1) of their time.
                let ranks = std::iter::successors(Some(1.0), |k| Some(2.0 * k));
                let ranks = ranks.take_while(|k| *k <= a.measured.max(1.0));
                let ends = ranks.map(|k| {
                    let size = sizes.quantile(1.0 - k / (a.measured + 1.0));
                    a.last() - a.measured / a.rate / (k + 1.0) + size / speed
                });
                Some(Span {
                    last: a.last(),
                    end: ends.fold(a.last(), f64::max),
                })
            }
            Kind::Incast {
                senders,
                receiver,
                min_bytes,
                max_bytes,
                at,
                repeat,
                every,
                jitter,
                ..
            } => {
                let last = seconds(*at) + seconds(*every) * f64::from(repeat.saturating_sub(1));
                let last = last + seconds(*jitter);
                let query = f64::from(*senders) * mean(*min_bytes, *max_bytes) / self.line;
                let beside = endless.into(*receiver) / f64::from((*senders).max(1));
                Some(Span {
                    last,
                    end: last + query * (1.0 + beside),
                })
            }
            Kind::List(lines) | Kind::Chain { lines, .. } => {
                let end = |l: &FlowLine| {
                    let flows = 1.0 + endless.into(l.dst);
                    seconds(l.start) + l.bytes as f64 * flows / self.line
                };
                Some(Span {
                    last: lines.iter().map(|l| seconds(l.start)).reduce(f64::max)?,
                    end: lines.iter().map(end).reduce(f64::max)?,
                })
            }
            Kind::Long { .. } | Kind::Probe { .. } => None,
        }
    }

    /// Adds the flows of a workload until the end of the run. Returns their bytes.
    fn add(&self, kind: &Kind, found: &mut Found) -> f64 {
        let topology = &self.config.topology;
        let end = found.end;
        let times = |at, every| {
            let time = (end - seconds(at)).max(0.0);
            (time / seconds(every).max(1e-12) + 1.0).floor()
        };
        match kind {
            Kind::Poisson {
                sizes, pairs, hold, ..
            } => {
                let Some(a) = arrivals(kind, self.config) else {
                    return 0.0;
                };
                let held = (end - a.last()).clamp(0.0, seconds(*hold));
                let held = if a.spanned { 0.0 } else { held };
                let flows = a.flows + a.rate * held;
                // The load rises from nothing: half of it is the mean of a short run.
                let speed = self.line * (1.0 - 0.5 * self.load);
                let bytes = flows * sent(sizes, speed * end);
                let hops = self.hops(flows, bytes, links(topology, pairs));
                let open = a.rate * (sizes.mean() / self.left() + self.round());
                found.hops += hops;
                found.tail += hops * held / (a.last() + held);
                found.flows += open.min(flows);
                found.full += a.load * memory::ports(self.config);
                bytes
            }
            Kind::Incast {
                senders,
                receiver,
                min_bytes,
                max_bytes,
                at,
                repeat,
                every,
                ..
            } => {
                let queries = times(*at, *every).min(f64::from(*repeat));
                let flows = f64::from(*senders) * queries;
                let bytes = flows * mean(*min_bytes, *max_bytes);
                found.hops += self.hops(flows, bytes, links(topology, &Pairs::ToOne(*receiver)));
                found.flows += f64::from(*senders);
                found.full += 1.0;
                bytes
            }
            Kind::List(lines) | Kind::Chain { lines, .. } => self.listed(lines, found),
            Kind::Probe {
                src,
                dst,
                at,
                every,
                count,
            } => {
                let pings = times(*at, *every).min(*count as f64);
                found.hops += 2.0 * pings * f64::from(topology.links(*src, *dst));
                0.0
            }
            Kind::Long { .. } => 0.0,
        }
    }

    fn listed(&self, lines: &[FlowLine], found: &mut Found) -> f64 {
        let end = found.end;
        let (mut open, mut sent, mut first) = (0.0, 0.0, end);
        for l in lines.iter().filter(|l| seconds(l.start) < end) {
            let bytes = (l.bytes as f64).min(self.line * (end - seconds(l.start)));
            let links = f64::from(self.config.topology.links(l.src, l.dst));
            found.hops += self.hops(1.0, bytes, links);
            first = seconds(l.start).min(first);
            sent += bytes;
            // A flow is under way for twice the time that it takes alone.
            open += 2.0 * bytes / self.line + self.round();
        }
        let open = (open / (end - first).max(1e-12)).min(lines.len() as f64);
        found.flows += open;
        found.full += open.min(f64::from(self.config.topology.hosts()));
        sent
    }

    /// Data packets and acknowledgements over the links of the mean path. The last packet of a
    /// flow is half full.
    fn hops(&self, flows: f64, bytes: f64, links: f64) -> f64 {
        let t = &self.config.transport;
        let data = bytes / f64::from(t.mss) + 0.5 * flows;
        let handshakes = if t.handshake { 2.0 * flows } else { 0.0 };
        let acks = sender::acks(self.config, self.left());
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
    load: f64,
    /// No flow arrives after the last measured one.
    spanned: bool,
}

impl Arrivals {
    /// Start of the last flow, in seconds.
    fn last(&self) -> f64 {
        self.flows / self.rate
    }
}

/// Arrivals of a Poisson workload; other workloads have none.
pub(super) fn arrivals(kind: &Kind, config: &Config) -> Option<Arrivals> {
    let Kind::Poisson {
        sizes,
        load,
        pairs,
        flows,
        warmup,
        arrivals,
        ..
    } = kind
    else {
        return None;
    };
    let rate = flows_per_second(&config.topology, pairs, sizes.mean(), *load);
    let room = rate * seconds(config.max_time);
    Some(Arrivals {
        flows: (*flows as f64 + *warmup as f64).min(room),
        measured: (*flows as f64).min(room),
        rate,
        load: *load,
        spanned: arrivals.span.is_some(),
    })
}

/// Mean size of the flows of a query, uniform between the smallest and the largest.
fn mean(smallest: u64, largest: u64) -> f64 {
    0.5 * (smallest as f64 + largest as f64)
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
