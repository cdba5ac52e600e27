// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lengths of all switch queues at a fixed interval, and traces of chosen ports.

use cemark_switch::{Clock, Port};

use super::Histogram;
use crate::config::TracePorts;
use crate::outcome::{PortTrace, QueueSample, Spread};

/// Samples that a thinned trace keeps; when it is full every second one is dropped and the stride
/// doubles.
const THIN: usize = 2048;

struct Thinned {
    samples: Vec<QueueSample>,
    stride: u32,
    skip: u32,
}

/// Samples of one port.
struct Row {
    /// Counted from the first switch port.
    port: u32,
    lengths: Histogram,
    waits: Histogram,
    thinned: Option<Thinned>,
}

/// See the module's text. Ports are counted from the first switch port.
pub(crate) struct Sampler {
    first: u32,
    pub interval: u64,
    /// In order of ports: those of this shard, or all.
    rows: Vec<Row>,
    trace: TracePorts,
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
        let Some(t) = &mut self.thinned else { return };
        t.skip += 1;
        if t.skip < t.stride {
            return;
        }
        t.skip = 0;
        if t.samples.len() == THIN {
            let mut odd = false;
            t.samples.retain(|_| {
                odd = !odd;
                odd
            });
            t.stride *= 2;
        }
        t.samples.push(look(port, now, clock));
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
            thinned: hottest.then_some(Thinned {
                samples: Vec::new(),
                stride: 1,
                skip: 0,
            }),
        };
        let rows: Vec<Row> = ports.filter(|_| interval > 0).map(row).collect();
        let traced = match &trace {
            TracePorts::ToHosts(hosts) => hosts.iter().map(|&h| (h, Vec::new())).collect(),
            _ => Vec::new(),
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
        // The port that faces host h is the h-th switch port.
        for (host, samples) in &mut self.traced {
            samples.push(look(&mut ports[*host as usize], now, clock));
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
            TracePorts::ToHosts(_) => std::mem::take(&mut self.traced)
                .into_iter()
                .map(|(host, samples)| PortTrace {
                    name: names(host),
                    port: host,
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
        thinned.map_or_else(Vec::new, |t| std::mem::take(&mut t.samples))
    }
}
