// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flows of a point as fluids: the very flows that will be simulated share the links of their
//! ways, step by step, until the point would end.
//!
//! A few hundred steps, whatever the flows are; within a step links are shared out as evenly as
//! three rounds make it. So the held load lasts as long as the last measured flow takes beside what
//! else there is, and endless flows get what others leave of their links.

use cemark_sim::Config;
use cemark_sim::workload::{Flow, Kind, Traffic};

use super::paths::{Paths, Way};
use super::sender::{Pace, Sender, seconds};

/// Steps of a point that few flows share, and fewest of any.
const STEPS: f64 = 300.0;
const FEWEST: f64 = 24.0;
/// Shares of flows times steps that a point may take before it is cut short.
const EFFORT: u64 = 3_000_000;
/// Rounds in which a step's capacity is shared out.
const ROUNDS: usize = 3;

/// What was found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    /// Packet-hops until the last measured flow has started, and from there on.
    pub(super) before: f64,
    pub(super) after: f64,
    /// Simulated seconds.
    pub(super) end: f64,
    /// Most flows under way at once.
    pub(super) flows: f64,
    /// Most links that were full at once.
    pub(super) full: f64,
    /// Links of the fabric, both directions counted, and those that leave switches.
    pub(super) links: f64,
    pub(super) ports: f64,
    /// What it took to find out.
    pub(super) effort: u64,
}

struct Active {
    way: Way,
    /// Payload that is left and that was sent.
    left: f64,
    sent: f64,
    start: f64,
    rate: f64,
    /// Rate that its controller has come down to, where it is slow to climb again.
    pace: Pace,
    round: f64,
    /// Packet-hops for a byte, acknowledgements not counted.
    data: f64,
    measured: bool,
    want: f64,
    got: f64,
    give: f64,
    /// It wants more than it got.
    hungry: bool,
}

struct Fluid<'a> {
    config: &'a Config,
    sender: Sender,
    paths: Paths<'a>,
    budget: Vec<f64>,
    wanting: Vec<u32>,
    active: Vec<Active>,
    handshake: f64,
}

/// Lets the flows of `config` flow. `last` is when its measured flows have started, about.
pub(super) fn flow(config: &Config, last: f64) -> Found {
    let paths = Paths::new(config);
    let links = paths.rates.len();
    let mut fluid = Fluid {
        config,
        sender: Sender::new(config),
        paths,
        budget: vec![0.0; links],
        wanting: vec![0; links],
        active: Vec::new(),
        handshake: if config.transport.handshake { 2.0 } else { 0.0 },
    };
    let mut found = Found::default();
    let mut traffic = Traffic::new(config);
    let mut awaited = traffic.measured_total();
    let mut to_start = awaited;
    let waits = awaited > 0;
    let end = seconds(config.max_time);
    let mut next = traffic.pop();
    let mut now = 0.0;
    while now < end && !(waits && awaited == 0) {
        let mut until = (now + fluid.step(now, last)).min(end);
        if fluid.active.is_empty() {
            match &next {
                None => break,
                Some(f) => {
                    now = seconds(f.start).max(now);
                    until = (now + fluid.step(now, last)).min(end);
                }
            }
        }
        let mut hops = 0.0;
        while let Some(f) = next.filter(|f| seconds(f.start) < until) {
            to_start -= u64::from(f.measured);
            hops += fluid.starts(&f);
            found.effort += 4;
            next = traffic.pop();
        }
        found.flows = found.flows.max(fluid.active.len() as f64);
        found.effort += fluid.active.len() as u64;
        let (sent, ended, full) = fluid.advance(now, until);
        awaited -= ended.min(awaited);
        found.full = found.full.max(full);
        hops += sent;
        if to_start > 0 {
            found.before += hops
        } else {
            found.after += hops
        }
        if found.effort > EFFORT && until < end {
            let rest = fluid
                .rest(until - now)
                .unwrap_or(end - until)
                .min(end - until);
            found.after += hops / (until - now) * rest;
            now = until + rest;
            break;
        }
        now = until;
    }
    if !waits
        && !config
            .workloads
            .iter()
            .all(|w| matches!(w.kind, Kind::Probe { .. }))
    {
        now = end;
    }
    found.end = now.min(end);
    found
}

impl Fluid<'_> {
    /// Seconds until shares are looked at again.
    fn step(&self, now: f64, last: f64) -> f64 {
        let steps = (EFFORT as f64 / 4.0 / self.active.len().max(1) as f64).clamp(FEWEST, STEPS);
        (last / steps).max(6.0 * now / steps).max(1e-5)
    }

    /// A flow starts; the packet-hops of its handshake.
    fn starts(&mut self, flow: &Flow) -> f64 {
        let topology = &self.config.topology;
        let mss = f64::from(self.config.transport.mss);
        let links = f64::from(topology.links(flow.src, flow.dst));
        let round = 2.0 * seconds(topology.propagation(flow.src, flow.dst)) + seconds(flow.extra);
        let endless = flow.bytes == u64::MAX;
        let bytes = flow.bytes as f64;
        // The last packet of a flow is seldom full.
        let packets = if endless {
            1.0 / mss
        } else {
            (bytes / mss).ceil() / bytes
        };
        let leaves = topology.rack(flow.src) != topology.rack(flow.dst);
        // On links that it has for itself.
        let alone = self.paths.rates[flow.src as usize]
            .min(topology.bottleneck(flow.src, flow.dst).0 as f64 / 8.0);
        self.active.push(Active {
            way: self
                .paths
                .way(flow.src, flow.dst, flow.path(self.config.seed)),
            left: if endless { f64::INFINITY } else { bytes },
            sent: 0.0,
            start: seconds(flow.start),
            rate: self.sender.rate(round, leaves).min(alone),
            pace: Pace::FREE,
            round: round.max(1e-6),
            data: packets * links,
            measured: flow.measured,
            want: 0.0,
            got: 0.0,
            give: 0.0,
            hungry: false,
        });
        self.handshake * links
    }

    /// From one instant to another: packet-hops, measured flows that ended, links that were full.
    fn advance(&mut self, now: f64, until: f64) -> (f64, u64, f64) {
        self.ask(now, until);
        for _ in 0..ROUNDS {
            self.share();
        }
        let span = until - now;
        let (mut hops, mut ended, mut full) = (0.0, 0, 0.0);
        for a in &mut self.active {
            a.sent += a.got;
            a.left -= a.got;
            let time = until - now.max(a.start);
            let (rate, limited) = (a.got / time, a.got < 0.98 * a.want);
            self.sender
                .paced(&mut a.pace, rate, limited, until - a.start, time);
            let acks = self.sender.acks(rate);
            hops += a.got * a.data * (1.0 + acks);
            for &l in a.way.links() {
                // Each link once: its budget then says that it was looked at.
                let l = l as usize;
                if self.budget[l] >= 0.0 {
                    let rate = self.paths.rates[l] * span;
                    full += f64::from(u8::from(self.budget[l] < 0.1 * rate));
                    self.budget[l] = -1.0;
                }
            }
            ended += u64::from(a.measured && a.left < 0.5);
        }
        self.active.retain(|a| a.left >= 0.5);
        (hops, ended, full)
    }

    /// What every flow could send by `until`, and what its links can carry.
    fn ask(&mut self, now: f64, until: f64) {
        for a in &self.active {
            for &l in a.way.links() {
                let l = l as usize;
                self.budget[l] = self.paths.rates[l] * (until - now);
                self.wanting[l] = 0;
            }
        }
        for a in &mut self.active {
            let span = until - now.max(a.start);
            let window = self.sender.let_out((until - a.start) / a.round) - a.sent;
            let rate = a.rate.min(self.sender.mean(&a.pace, span));
            a.want = (rate * span).min(window).min(a.left).max(0.0);
            a.got = 0.0;
            a.hungry = a.want > 0.0;
            for &l in a.way.links() {
                self.wanting[l as usize] += u32::from(a.hungry);
            }
        }
    }

    /// One round: each flow that wants more gets the smallest of its links' even shares.
    fn share(&mut self) {
        for a in &mut self.active {
            if !a.hungry {
                continue;
            }
            let links = a.way.links().iter().map(|&l| l as usize);
            let even = links.map(|l| self.budget[l] / f64::from(self.wanting[l].max(1)));
            a.give = even.fold(a.want - a.got, f64::min).max(0.0);
        }
        for a in self.active.iter_mut().filter(|a| a.hungry) {
            a.hungry = a.give < a.want - a.got;
            a.got += a.give;
            for &l in a.way.links() {
                let l = l as usize;
                self.budget[l] = (self.budget[l] - a.give).max(0.0);
                self.wanting[l] -= u32::from(!a.hungry);
            }
        }
    }

    /// Seconds until the last measured flow under way has ended at its rate of the last step;
    /// `None`: there is none, or it has none.
    fn rest(&self, span: f64) -> Option<f64> {
        let measured = self.active.iter().filter(|a| a.measured);
        let left = measured.map(|a| a.left / (a.got / span));
        left.reduce(f64::max).filter(|s| s.is_finite())
    }
}
