// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a resolved configuration to a simulation ready to run.

use std::sync::Arc;

use cemark_switch::Clock;
use cemark_wire::Picos;

use super::Shard;
use super::part::Part;
use super::retune::Tuning;
use crate::agenda::{Agenda, kind};
use crate::config::{Config, Edge};
use crate::endpoints::Endpoints;
use crate::events::EventQueue;
use crate::ids::{ConnId, LinkId};
use crate::lookahead::Lookahead;
use crate::metrics::{Buffers, Metrics, ProbeState, Sampler};
use crate::middleboxes::Middleboxes;
use crate::network::ports::{Extras, tick_ps};
use crate::network::tap::Tap;
use crate::network::{Border, Core, Network};
use crate::topology::Fabric;
use crate::workload::{ClassMap, Flow, Kind, Probe, path};

/// State that all shards of a simulation share and only read.
#[derive(Clone)]
pub(crate) struct Layout {
    pub cfg: Arc<Config>,
    pub fabric: Arc<Fabric>,
    pub clock: Clock,
}

impl Layout {
    pub fn new(cfg: &Config) -> Layout {
        let fabric = Arc::clone(cfg.topology.fabric());
        Layout {
            clock: Clock::new(tick_ps(&fabric)),
            fabric,
            cfg: Arc::new(cfg.clone()),
        }
    }
}

impl<Q: EventQueue> Shard<Q> {
    /// A whole simulation at tick zero. `taps` are of different links; the ports of `watched` keep
    /// real queues and may be retuned.
    pub fn whole(cfg: &Config, taps: &[Tap], watched: &[LinkId]) -> Self {
        Self::laid_out(&Layout::new(cfg), taps, watched, None)
    }

    /// A shard of a divided simulation, with its border.
    pub fn of(layout: &Layout, border: Border) -> Self {
        Self::laid_out(layout, &[], &[], Some(border))
    }

    fn laid_out(layout: &Layout, taps: &[Tap], watched: &[LinkId], border: Option<Border>) -> Self {
        let (cfg, fabric, clock) = (&layout.cfg, &layout.fabric, layout.clock);
        let part = border.as_ref().map(|border| Box::new(Part::new(border)));
        let (boxes, places) = Middleboxes::new(cfg, fabric);
        let extras = Extras {
            taps,
            kept: watched,
            places: &places,
        };
        let (net, largest) = Network::new(cfg, clock, fabric, extras, border.map(Box::new));
        let mut ends = Endpoints::new(cfg);
        ends.conns.keeps_ends = part.is_some();
        if matches!(cfg.edge, Edge::Pep { .. }) {
            ends.reach(net.ports().len());
        }
        let traffic = cfg.traffic();
        let awaited = traffic.measured_total();
        let links = net.ports().len() as u32;
        let own = (fabric.nics()..links).filter(|&l| net.owns(LinkId(l)));
        let buffers = buffers(cfg, &net, own.clone());
        let sampler = sampler(cfg, clock, own, largest);
        let mut shard = Shard {
            cfg: Arc::clone(cfg),
            tuning: Tuning::of_network(cfg, &net, watched).map(Box::new),
            lookahead: Lookahead::new(net.ports().len()),
            core: Core {
                agenda: Agenda::new(clock, links),
                net,
            },
            ends,
            boxes,
            traffic,
            metrics: Metrics::new(cfg, sampler, buffers, awaited),
            others: 0,
            next_report: 1 << 17,
            awaited,
            stop: false,
            watched: None,
            part,
        };
        shard.prime();
        shard.boxes.prime(&mut shard.core, &mut shard.ends);
        shard.ends.conns.first = shard.core.net.rows.len();
        shard.prime_retunes();
        shard.core.arm_wakes();
        shard
    }

    /// Opens the connection of probe workload `w` and inserts its first event.
    pub fn prime_probe(&mut self, w: usize) {
        let workload = &self.cfg.workloads[w];
        let Kind::Probe(Probe {
            src,
            dst,
            at,
            every,
            count,
        }) = workload.kind
        else {
            return;
        };
        let class = match workload.class {
            ClassMap::Fixed(c) => c,
            _ => 0,
        };
        let id = u64::MAX - w as u64;
        let hash = path(self.cfg.seed, src, dst, id);
        let [src, dst] = self.core.net.fabric.ends(src, dst, hash);
        let flow = Flow {
            id,
            start: at,
            src,
            dst,
            bytes: 0,
            workload: w as u16,
            class,
            measured: false,
            query: None,
            extra: Picos::ZERO,
        };
        // It never ends.
        let conn = ConnId(self.core.net.rows.len());
        self.ends.open(&mut self.core, conn, flow, flow.id);
        let clock = self.core.agenda.clock;
        self.metrics.probes[w] = ProbeState {
            conn,
            class,
            every: clock.ticks(every).max(1),
            left: count,
        };
        if count > 0 && self.core.net.owns(LinkId(src)) {
            let first = clock.ticks(at);
            self.core.agenda.insert(first, kind::PROBE | w as u32);
        }
    }
}

/// Sampler of the queues that feed `links`. `largest`: the largest buffer of all, in bytes.
fn sampler(cfg: &Config, clock: Clock, links: impl Iterator<Item = u32>, largest: u32) -> Sampler {
    let nics = cfg.topology.fabric().nics();
    let longest_wait = cfg.topology.slowest().nanos_for(u64::from(largest));
    Sampler::new(
        nics,
        links.map(|l| l - nics),
        clock.ticks(cfg.measure.queue_interval),
        (largest, longest_wait.0),
        cfg.measure.trace.clone(),
    )
}

/// Recorder of the shared buffers that the ports of `links` use.
fn buffers(cfg: &Config, net: &Network, links: impl Iterator<Item = u32>) -> Buffers {
    let nics = cfg.topology.fabric().nics();
    let shared = links.filter_map(|l| {
        let pool = net.port(LinkId(l)).pool()?;
        net.pools()[pool.place()]
            .is_shared()
            .then_some((l - nics, pool))
    });
    Buffers::new(shared, &cfg.measure.trace)
}
