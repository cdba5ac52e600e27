// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lengths of all switch queues at a fixed interval, and traces of chosen ports.

use cemark_switch::{Clock, Port};

use super::Histogram;
use super::thinned::Thinned;
use crate::config::TracePorts;
use crate::outcome::{PortTrace, QueueSample, Spread};

/// Samples of one port.
struct Row {
    /// Counted from the first switch port.
    port: u32,
    lengths: Histogram,
    waits: Histogram,
    thinned: Option<Thinned<QueueSample>>,
}

/// See the module's text. Ports are counted from the first switch port.
pub(crate) struct Sampler {
    first: u32,
    pub interval: u64,
    /// In order of ports: those of this shard, or all.
    rows: Vec<Row>,
    trace: TracePorts,
    /// Ports with all their samples. The port that faces host h is the h-th switch port.
    traced: Vec<(u32, Vec<QueueSample>)>,
}

fn look(port: &mut Port, now: u64, clock: Clock) -> QueueSample {
    QueueSample {
        at: clock.picos(now),
        bytes: port.queued_bytes(now),
        wait: clock.nanos(port.backlog_ticks(now)),
    }
}

impl Row {
    fn sample(&mut self, now: u64, clock: Clock, port: &mut Port) {
        self.lengths.add(u64::from(port.queued_bytes(now)));
        self.waits.add(clock.nanos(port.backlog_ticks(now)).0);
        if let Some(thinned) = &mut self.thinned {
            thinned.offer(|| look(port, now, clock));
        }
    }
}

impl Sampler {
    /// `first`: the first switch port, `ports`: those that are sampled, counted from it. `bounds`:
    /// the longest queue in bytes, and the longest wait in nanoseconds.
    pub fn new(
        first: u32,
        ports: impl Iterator<Item = u32>,
        interval: u64,
        bounds: (u32, u64),
        trace: TracePorts,
    ) -> Self {
        let hottest = trace == TracePorts::Hottest;
        let row = |port| Row {
            port,
            lengths: Histogram::new(u64::from(bounds.0)),
            waits: Histogram::new(bounds.1),
            thinned: hottest.then(Thinned::new),
        };
        let rows: Vec<Row> = ports.filter(|_| interval > 0).map(row).collect();
        let traced = match &trace {
            TracePorts::ToHosts(ports) | TracePorts::Ports(ports) => {
                ports.iter().map(|&p| (p, Vec::new())).collect()
            }
            TracePorts::None | TracePorts::Hottest => Vec::new(),
        };
        Sampler {
            first,
            interval,
            rows,
            trace,
            traced,
        }
    }

    pub fn sample(&mut self, now: u64, clock: Clock, ports: &mut [Port]) {
        let ports = &mut ports[self.first as usize..];
        for row in &mut self.rows {
            row.sample(now, clock, &mut ports[row.port as usize]);
        }
        for (port, samples) in &mut self.traced {
            samples.push(look(&mut ports[*port as usize], now, clock));
        }
    }

    /// Lengths and waits of a port over the samples, which are forgotten.
    pub fn take_spreads(&mut self, port: usize) -> (Spread, Spread) {
        let Some(row) = self.rows.get_mut(port) else {
            return Default::default();
        };
        (row.lengths.take_spread(), row.waits.take_spread())
    }

    /// Takes what another shard has recorded of its ports.
    pub fn absorb(&mut self, other: &mut Sampler, owns: impl Fn(usize) -> bool) {
        self.rows.append(&mut other.rows);
        self.rows.sort_by_key(|row| row.port);
        let traced = self.traced.iter_mut().zip(&mut other.traced);
        for (mine, theirs) in traced.filter(|(mine, _)| owns(mine.0 as usize)) {
            std::mem::swap(mine, theirs);
        }
    }

    /// Traces of the chosen ports; `hottest` and `busiest` are the ports to use for
    /// [`TracePorts::Hottest`].
    pub fn traces(
        &mut self,
        hottest: Option<usize>,
        busiest: Option<usize>,
        names: impl Fn(u32) -> String,
    ) -> Vec<PortTrace> {
        match self.trace {
            TracePorts::None => Vec::new(),
            TracePorts::ToHosts(_) | TracePorts::Ports(_) => std::mem::take(&mut self.traced)
                .into_iter()
                .map(|(port, samples)| PortTrace {
                    name: names(port),
                    port,
                    samples,
                })
                .collect(),
            TracePorts::Hottest => {
                let other = busiest.filter(|i| hottest.is_some_and(|h| h != *i));
                hottest
                    .into_iter()
                    .chain(other)
                    .map(|i| PortTrace {
                        name: names(i as u32),
                        port: i as u32,
                        samples: self.thinned(i),
                    })
                    .collect()
            }
        }
    }

    fn thinned(&mut self, port: usize) -> Vec<QueueSample> {
        let thinned = self.rows[port].thinned.as_mut();
        thinned.map_or_else(Vec::new, Thinned::take)
    }
}
