// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recording while a point runs, and the outcome at its end.

use cemark_switch::{Counters, DropReason, Port};

use super::Shard;
use crate::agenda::kind;
use crate::events::EventQueue;
use crate::ids::{ConnId, LinkId};
use crate::metrics::{Done, Goodput, Received, record};
use crate::network::Shares;
use crate::outcome::{ARTIFICIAL, LongRecord, Outcome, PortReport, Totals, hottest};
use crate::scramble::hash;
use crate::workload::{Kind, path};

impl<Q: EventQueue> Shard<Q> {
    /// Something is to be recorded now.
    pub fn record(&mut self, what: u32) {
        self.core.catch_up();
        let again = match what {
            record::FROM => {
                self.metrics.at_from = self.links_so_far();
                self.goodput_snapshot(|g, received| {
                    g.at_from = received;
                    g.last = received.arrived;
                });
                if self.cfg.measure.goodput_interval.0 > 0 {
                    self.metrics.all_arrived = self.ends.all_arrived();
                }
                return;
            }
            record::UNTIL => {
                self.metrics.at_until = self.links_so_far();
                self.goodput_snapshot(|g, received| g.at_until = Some(received));
                return;
            }
            record::SAMPLE => {
                if self.core.agenda.picos() <= self.cfg.measure.until {
                    let (now, clock) = (self.core.agenda.now, self.core.agenda.clock);
                    let ports = self.core.net.ports_mut();
                    self.metrics.sampler.sample(now, clock, ports);
                    let pools = self.core.net.pools();
                    self.metrics.buffers.sample(clock.picos(now), pools);
                }
                self.metrics.sampler.interval
            }
            record::WATCH => return self.watch(),
            record::RETUNE.. => return self.retune_planned((what - record::RETUNE) as usize),
            _ => {
                // An interval that ends with the measurement is whole, and nothing counts after it.
                let until = self.cfg.measure.until.min(self.cfg.max_time);
                if self.core.agenda.now > self.core.agenda.ticks(until) {
                    return;
                }
                let all = self.ends.all_arrived();
                let before = std::mem::replace(&mut self.metrics.all_arrived, all);
                self.metrics.all_goodput.push(all - before);
                self.goodput_snapshot(|g, received| {
                    g.intervals.push(received.arrived - g.last);
                    g.last = received.arrived;
                });
                self.core.agenda.ticks(self.cfg.measure.goodput_interval)
            }
        };
        let agenda = &mut self.core.agenda;
        agenda.insert(agenda.now + again, kind::RECORD | what);
    }

    /// Endless flows so far, each with what has arrived of it.
    fn goodput_snapshot(&mut self, mut each: impl FnMut(&mut Goodput, Received)) {
        for g in &mut self.metrics.goodput {
            each(g, Received::of(&self.ends.conns.list[g.conn].rx().sink));
        }
    }

    /// The busy and paused ticks of every link so far.
    fn links_so_far(&self) -> Vec<Done> {
        let (now, queues) = (self.core.agenda.now, self.core.net.pausable());
        let done = |p: &Port| Done {
            busy: p.busy_ticks(now),
            paused: p.pauses(now).ticks,
            queues: (0..queues).map(|q| p.pauses_of(q, now).ticks).collect(),
        };
        self.core.net.ports().iter().map(done).collect()
    }

    /// The shares of the measured time in which each link was sending and was paused; zero where
    /// measuring never began.
    pub fn shares(&self) -> Vec<Shares> {
        let m = &self.metrics;
        let begin = self.core.agenda.ticks(self.cfg.measure.from);
        // A run may end before its measurement does.
        let (end, last) = match m.at_until.is_empty() {
            true => (self.core.agenda.now, &self.links_so_far()),
            false => {
                let until = self.cfg.measure.until.min(self.cfg.max_time);
                (self.core.agenda.ticks(until), &m.at_until)
            }
        };
        if m.at_from.is_empty() {
            return vec![Shares::default(); last.len()];
        }
        let span = end.saturating_sub(begin).max(1) as f64;
        let share = |before: u64, after: u64| after.saturating_sub(before) as f64 / span;
        let pairs = m.at_from.iter().zip(last);
        let shares = |(a, b): (&Done, &Done)| Shares {
            busy: share(a.busy, b.busy),
            paused: share(a.paused, b.paused),
            queues: (a.queues.iter().zip(&b.queues))
                .map(|(a, b)| share(*a, *b))
                .collect(),
        };
        pairs.map(shares).collect()
    }

    /// Ends the run and collects its outcome.
    pub fn finish(mut self) -> Outcome {
        self.core.catch_up();
        let mut out = Outcome {
            packet_hops: self.core.net.hops,
            events: self.handled(),
            end: self.core.agenda.picos(),
            ..Outcome::default()
        };
        out.totals = self.totals();
        let mut flows = std::mem::take(&mut self.metrics.flows);
        for (conn, c) in (0..).map(ConnId).zip(&self.ends.conns.list) {
            let flow = c.rx.as_ref().and_then(|rx| rx.unfinished());
            if let Some(flow) = flow.filter(|flow| flow.measured) {
                flows.push(self.ends.record(&self.core, conn, flow, false));
            }
        }
        flows.sort_unstable_by_key(|f| f.id);
        out.flows = flows;
        out.long_flows = self.long_flows();
        out.goodput = std::mem::take(&mut self.metrics.all_goodput);
        out.probes = std::mem::take(&mut self.metrics.probe_answers);
        out.edges = self.boxes.counts();
        let shares = self.shares();
        out.pauses = self.core.net.pause_reports(self.core.agenda.now, &shares);
        out.deadlock = self.core.net.deadlock();
        let busiest = self.busiest(&out);
        // With the reports of all ports a large fabric would take more memory at its end than while
        // it ran: frees the connections before them, and each port with its packets as it reports.
        drop(std::mem::take(&mut self.ends.conns));
        out.ports = self.port_reports(&shares);
        let links = self.core.net.fabric.links();
        let first = self.cfg.topology.fabric().nics();
        let hottest = hottest(&out.ports);
        let name = |i| links[LinkId(first + i)].name.clone();
        out.traces = self.metrics.sampler.traces(hottest, busiest, name);
        let switch = |i| {
            let name = &links[LinkId(first + i)].name;
            name.split_once("->")
                .map_or(&name[..], |ends| ends.0)
                .to_owned()
        };
        let (pools, busiest) = (self.core.net.pools(), busiest.map(|i| i as u32));
        out.buffers = self.metrics.buffers.traces(busiest, pools, switch);
        out.digest = digest(&out);
        out
    }

    /// Index of the switch port to which the measured flows and the endless ones send most payload.
    /// It follows from the flows and their paths only, so it is the same port under every scheme;
    /// the hottest one is not. A connection that carries several flows counts with the paths that
    /// fresh connections would take.
    fn busiest(&self, out: &Outcome) -> Option<usize> {
        let first = self.cfg.topology.fabric().nics() as usize;
        let mut sent = vec![0_u128; self.core.net.ports().len() - first];
        let flows = out.flows.iter().map(|f| (f.src, f.dst, f.id, f.bytes));
        // An endless flow counts more than any that ends.
        let endless = |f: &LongRecord| (f.src, f.dst, f.id, 1 << 50);
        for (src, dst, id, bytes) in flows.chain(out.long_flows.iter().map(endless)) {
            let fabric = &self.core.net.fabric;
            let [src, dst] = fabric.ends(src, dst, path(self.cfg.seed, src, dst, id));
            for link in fabric.route(src, dst, path(self.cfg.seed, src, dst, id)) {
                let port = (link.0 as usize).checked_sub(first);
                if let Some(port) = port.and_then(|port| sent.get_mut(port)) {
                    *port += u128::from(bytes);
                }
            }
        }
        // Of equals the first.
        let most = sent.iter().copied().max().filter(|most| *most > 0)?;
        sent.iter().position(|bytes| *bytes == most)
    }

    fn totals(&self) -> Totals {
        let (kept, made, gone) = self.boxes.kept_made_gone();
        let mut t = Totals {
            sent: self.core.net.sent,
            delivered: self.ends.delivered,
            // In the network, kept at an edge, or held for an interrupt.
            in_flight: self.core.net.in_flight() + kept + self.ends.held(),
            made,
            gone,
            ..Totals::default()
        };
        for p in self.core.net.ports() {
            let c = p.counters();
            for why in Counters::WHYS {
                *t.marks.entry(Counters::why_name(why)).or_default() += c.marks[why as usize];
            }
            for why in DropReason::ALL {
                *t.drops.entry(why.name()).or_default() += u64::from(c.drops[why as usize]);
            }
        }
        if !self.cfg.faults.is_empty() {
            let links = 0..self.core.net.ports().len() as u32;
            let lost = links.map(|l| self.core.net.lost_on(LinkId(l))).sum();
            t.drops.insert(ARTIFICIAL, lost);
        }
        (t.retransmits, t.timeouts) = self.ends.counted();
        t.goodput_bytes = self.ends.all_arrived();
        // Every packet is delivered, dropped with a reason, ended in a middlebox, or still in
        // flight.
        debug_assert_eq!(
            t.sent + t.made,
            t.delivered + t.all_drops() + t.gone + t.in_flight
        );
        t
    }

    fn long_flows(&self) -> Vec<LongRecord> {
        let mut all: Vec<LongRecord> = self
            .metrics
            .goodput
            .iter()
            .map(|g| {
                let c = &self.ends.conns.list[g.conn];
                let (tx, rx) = (c.tx(), c.rx());
                let end = g.at_until.unwrap_or_else(|| Received::of(&rx.sink));
                let flow = rx.unfinished().unwrap_or(&rx.flow);
                LongRecord {
                    id: flow.id,
                    src: self.core.net.fabric.host_of(flow.src),
                    dst: self.core.net.fabric.host_of(flow.dst),
                    class: flow.class,
                    delivered: end.in_order - g.at_from.in_order,
                    arrived: end.arrived - g.at_from.arrived,
                    intervals: g.intervals.clone(),
                    timeouts: tx.source.counts().timeouts,
                    workload: flow.workload,
                }
            })
            .collect();
        all.sort_by_key(|l| l.id);
        all
    }

    /// Takes the ports and what was sampled of them.
    fn port_reports(&mut self, shares: &[Shares]) -> Vec<PortReport> {
        let first = self.cfg.topology.fabric().nics() as usize;
        let (net, samples) = (&mut self.core.net, &mut self.metrics.sampler);
        let ports = net.take_ports();
        (ports.into_iter().enumerate().skip(first))
            .map(|(l, port)| {
                let link = &net.fabric.links()[l];
                let c = port.counters();
                let (queue, sojourn) = samples.take_spreads(l - first);
                PortReport {
                    name: link.name.clone(),
                    rate: link.rate,
                    packets: c.sent,
                    bytes: c.sent_bytes,
                    marks: c.all_marks(),
                    drops: c.all_drops() + net.lost_on(LinkId(l as u32)),
                    utilisation: shares[l].busy,
                    queue,
                    sojourn,
                }
            })
            .collect()
    }

    /// The first events: the first flow, probes, and what is recorded when.
    pub fn prime(&mut self) {
        self.arm_flow();
        for w in 0..self.cfg.workloads.len() {
            if matches!(self.cfg.workloads[w].kind, Kind::Probe(_)) {
                self.prime_probe(w);
            }
        }
        let (m, agenda) = (&self.cfg.measure, &mut self.core.agenda);
        let from = agenda.ticks(m.from);
        let until = agenda.ticks(m.until.min(self.cfg.max_time)).max(from);
        agenda.insert(from, kind::RECORD | record::FROM);
        agenda.insert(until, kind::RECORD | record::UNTIL);
        if self.metrics.sampler.interval > 0 {
            agenda.insert(from, kind::RECORD | record::SAMPLE);
        }
        if m.goodput_interval.0 > 0 {
            let first = from + agenda.ticks(m.goodput_interval);
            agenda.insert(first, kind::RECORD | record::GOODPUT);
        }
        // One shard checks for all.
        if self.core.net.pauses() && self.part.as_ref().is_none_or(|part| part.is_first()) {
            agenda.insert(0, kind::CHECK);
        }
    }
}

/// A fingerprint of contents: flows, endless flows, probes and counters, never of files or of
/// timing.
fn digest(o: &Outcome) -> u64 {
    let mut h = hash(0xce_3a4c, o.flows.len() as u64, o.packet_hops, o.end.0);
    let mut mix = |a: u64, b: u64, c: u64| h = hash(h, a, b, c);
    for f in &o.flows {
        mix(f.id, f.fct.map_or(u64::MAX, |t| t.0), f.bytes);
        mix(
            u64::from(f.marks),
            u64::from(f.retransmits),
            u64::from(f.timeouts),
        );
    }
    for l in &o.long_flows {
        mix(l.id, l.delivered, u64::from(l.timeouts));
    }
    for p in &o.probes {
        mix(p.sent.0, p.rtt.0, u64::from(p.workload));
    }
    for p in &o.ports {
        mix(p.packets, p.bytes, p.marks);
        mix(p.drops, p.queue.count, p.queue.max as u64);
    }
    for p in &o.pauses {
        mix(p.frames, p.share.to_bits(), 0);
    }
    mix(o.totals.sent, o.totals.delivered, o.totals.in_flight);
    h
}
