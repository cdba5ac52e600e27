// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a point to the network and the flows in it.

use std::collections::BTreeMap;

use cemark_sim::topology::Fabric;
use cemark_sim::workload::{ClassMap, Kind, Probe};
use cemark_sim::{Config, LinkId, Outcome};
use cemark_wire::{Nanos, Picos};

use crate::lab::{Endless, Key, Lab, LabFlow, LabProbe, Times};
use crate::refusal::{Refusal, algorithm};
use crate::rtt::BANDS;
use crate::{echo, network};

/// Most ports that are sampled.
const SAMPLED: usize = 2;
/// Least nanoseconds between two samples, each of which costs a few system calls.
const SAMPLE: u64 = 100_000;
/// Most flows that are written down; a scenario with more is refused.
const MOST_FLOWS: usize = 200_000;

/// The delays of a network, each with its band.
#[derive(Default)]
struct Delays(BTreeMap<u64, u8>);

impl Delays {
    fn band(&mut self, delay: u64) -> Result<u8, Refusal> {
        let next = self.0.len();
        if let Some(band) = self.0.get(&delay) {
            return Ok(*band);
        }
        if next == BANDS {
            return Err(Refusal {
                key: "rtt".to_owned(),
                value: format!("more than {BANDS} different delays"),
                why: "the kernel's `prio` has 16 bands, each with one delay".to_owned(),
                instead: "write a star, or fewer different RTTs".to_owned(),
            });
        }
        self.0.insert(delay, next as u8);
        Ok(next as u8)
    }

    fn list(&self) -> Vec<u64> {
        let mut all = vec![0; self.0.len()];
        for (delay, band) in &self.0 {
            all[usize::from(*band)] = *delay;
        }
        all
    }
}

impl Lab {
    /// Lab for a point that [`check`](crate::check) lets pass. `simulated` says how long the flows
    /// took in the simulator: unmeasured ones are sent for half as long again.
    ///
    /// # Errors
    /// More delays than bands, or more flows than can be written down.
    pub fn new(config: &Config, simulated: &Outcome) -> Result<Lab, Refusal> {
        crate::check(config)?;
        let fabric = config.topology.fabric();
        let mut delays = Delays::default();
        let (flows, endless) = traffic(config, fabric, simulated, &mut delays)?;
        let probes = probes(config, fabric, &mut delays)?;
        if delays.0.is_empty() {
            delays.band(0)?;
        }
        let ports = fabric.links()[config.topology.hosts() as usize..].iter();
        let ports = ports.filter_map(|l| network::place(config, l.host, &l.name));
        let list = delays.list();
        let asking = echo::asking(config, flows.iter().chain(endless.iter().map(|e| &e.flow)))?;
        let kernels = config.controls().into_iter().filter_map(algorithm);
        Ok(Lab {
            hosts: config.topology.hosts(),
            links: network::links(config, &asking),
            settings: network::settings(config, asking.wanted),
            qdiscs: network::qdiscs(config, &list),
            ports: ports.collect(),
            sampled: sampled(simulated),
            controls: kernels.map(|a| a.name.to_owned()).collect(),
            times: times(config, &list),
            handshake: config.transport.handshake,
            ready: ready(&flows, simulated),
            flows,
            endless,
            probes,
        })
    }
}

fn sampled(simulated: &Outcome) -> Vec<usize> {
    let mut all: Vec<usize> = (0..simulated.ports.len()).collect();
    let mean = |i: &usize| simulated.ports[*i].queue.mean;
    all.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
    all.truncate(SAMPLED);
    all
}

fn times(config: &Config, delays: &[u64]) -> Times {
    let m = &config.measure;
    let end = config.max_time.to_nanos().0;
    let slowest = delays.iter().max().copied().unwrap_or(0);
    Times {
        lead: (20 * slowest).max(20_000_000),
        from: m.from.to_nanos().0.min(end),
        until: m.until.to_nanos().0.min(end),
        end,
        sample: match m.queue_interval.to_nanos().0 {
            0 => 0,
            wanted => wanted.max(SAMPLE),
        },
        goodput: m.goodput_interval.to_nanos().0,
    }
}

/// The bands of a pair's data and acknowledgements: what a packet spends on the links of its path,
/// propagating and being sent, and the flow's own delay. A qdisc releases a packet where the
/// simulator begins to send it.
fn bands(
    config: &Config,
    fabric: &Fabric,
    (src, dst): (u32, u32),
    extra: Picos,
    delays: &mut Delays,
) -> Result<(u8, u8), Refusal> {
    let t = &config.transport;
    let full = u64::from(t.mss) + u64::from(t.header_bytes);
    let mut way = |from: u32, to: u32, bytes: u64, more: u64| {
        let route = fabric.route(from, to, 0);
        let links = route.iter().take_while(|l| **l != LinkId::NONE);
        let sending: u64 = links
            .map(|l| fabric.links()[l.0 as usize].rate.picos_per_byte().0 * bytes)
            .sum();
        let there = config.topology.propagation(from, to).0;
        delays.band(Picos(there + sending + more).to_nanos().0)
    };
    let back = way(dst, src, u64::from(t.ack_bytes), 0)?;
    Ok((way(src, dst, full, extra.0)?, back))
}

/// How much sooner than a full segment a SYN crosses the path, and the last segment of a flow: on
/// every link where it is the only one, else on the slowest, behind a full one on the others.
fn shorter(config: &Config, fabric: &Fabric, (src, dst): (u32, u32), bytes: u64) -> (u64, u64) {
    let t = &config.transport;
    let (mss, header) = (u64::from(t.mss), u64::from(t.header_bytes));
    let route = fabric.route(src, dst, 0);
    let links = route.iter().take_while(|l| **l != LinkId::NONE);
    let byte: Vec<u64> = links
        .map(|l| fabric.links()[l.0 as usize].rate.picos_per_byte().0)
        .collect();
    let (sum, slowest) = (byte.iter().sum::<u64>(), byte.iter().max().copied());
    let syn = (mss + header).saturating_sub(u64::from(t.ack_bytes));
    let last = mss - bytes.saturating_sub(1) % mss - 1;
    let links = match bytes > mss {
        true => slowest.unwrap_or(0),
        false => sum,
    };
    (syn * sum / 1000, last * links / 1000)
}

fn traffic(
    config: &Config,
    fabric: &Fabric,
    simulated: &Outcome,
    delays: &mut Delays,
) -> Result<(Vec<LabFlow>, Vec<Endless>), Refusal> {
    let mut traffic = config.traffic();
    let controls = config.controls();
    let (mut flows, mut endless) = (Vec::new(), Vec::new());
    let measured = simulated.end.0.saturating_add(simulated.end.0 / 2);
    let horizon = Picos(measured.max(1)).0.min(config.max_time.0);
    while let Some(at) = traffic.peek() {
        if at >= config.max_time || traffic.ahead() == 0 && at.0 > horizon {
            break;
        }
        let Some(f) = traffic.pop() else { break };
        let (band, back) = bands(config, fabric, (f.src, f.dst), f.extra, delays)?;
        let (early, spare) = shorter(config, fabric, (f.src, f.dst), f.bytes);
        let workload = &config.workloads[usize::from(f.workload)];
        let own = &config.transport_of(workload).control;
        let control = controls.iter().position(|c| *c == own).unwrap_or(0);
        let flow = LabFlow {
            control: control as u8,
            early,
            spare,
            id: f.id,
            start: f.start.to_nanos().0,
            src: f.src,
            dst: f.dst,
            bytes: f.bytes,
            class: f.class,
            band,
            back,
            measured: f.measured,
            persistent: workload.persistent,
            workload: f.workload,
        };
        match f.bytes == u64::MAX {
            true => endless.push(Endless { flow }),
            false => flows.push(flow),
        }
        if flows.len() > MOST_FLOWS {
            return Err(Refusal {
                key: "workload.flows".to_owned(),
                value: format!("more than {MOST_FLOWS}"),
                why: "a kernel needs 0.1 ms of processor time for a packet".to_owned(),
                instead: "write fewer flows, or --set workload.flows=2000".to_owned(),
            });
        }
    }
    Ok((flows, endless))
}

fn probes(config: &Config, fabric: &Fabric, delays: &mut Delays) -> Result<Vec<LabProbe>, Refusal> {
    let mut all = Vec::new();
    for (workload, w) in (0u16..).zip(&config.workloads) {
        let Kind::Probe(Probe {
            src,
            dst,
            at,
            every,
            count,
        }) = w.kind
        else {
            continue;
        };
        let class = match w.class {
            ClassMap::Fixed(class) => class,
            _ => 0,
        };
        // A ping is as small as an acknowledgement.
        let (_, back) = bands(config, fabric, (src, dst), Picos::ZERO, delays)?;
        let (_, there) = bands(config, fabric, (dst, src), Picos::ZERO, delays)?;
        let ns = |t: Picos| t.to_nanos().0;
        all.push(LabProbe {
            workload,
            src,
            dst,
            at: ns(at),
            every: ns(every).max(1),
            count,
            class,
            bands: (there, back),
        });
    }
    Ok(all)
}

/// How many connections of each pair and bands were in use together in the simulator, where they
/// are persistent: as many are opened before the traffic.
fn ready(flows: &[LabFlow], simulated: &Outcome) -> Vec<(Key, u32)> {
    let took: BTreeMap<u64, Nanos> = simulated
        .flows
        .iter()
        .filter_map(|f| Some((f.id, f.fct?.to_nanos())))
        .collect();
    let mut ends: BTreeMap<Key, Vec<u64>> = BTreeMap::new();
    let mut most: BTreeMap<Key, u32> = BTreeMap::new();
    for f in flows.iter().filter(|f| f.persistent) {
        let running = ends.entry(f.key()).or_default();
        running.retain(|end| *end > f.start);
        running.push(f.start + took.get(&f.id).map_or(0, |t| t.0));
        let most = most.entry(f.key()).or_default();
        *most = (*most).max(running.len() as u32);
    }
    most.into_iter().collect()
}
