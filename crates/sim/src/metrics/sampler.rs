// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lengths of all switch queues at a fixed interval, and traces of chosen ports.

use cemark_switch::{Clock, Port};

use super::Histogram;
use crate::config::TracePorts;
use crate::outcome::{PortTrace, QueueSample};

/// Samples that a thinned trace keeps; when it is full every second one is dropped and the stride
/// doubles.
const THIN: usize = 2048;

struct Thinned {
    samples: Vec<QueueSample>,
    stride: u32,
    skip: u32,
}

/// See the module's text. Ports are counted from the first switch port.
pub(crate) struct Sampler {
    first: u32,
    pub interval: u64,
    pub lengths: Vec<Histogram>,
    pub waits: Vec<Histogram>,
    trace: TracePorts,
    traced: Vec<(u32, Vec<QueueSample>)>,
    thinned: Vec<Thinned>,
}

fn look(port: &mut Port, now: u64, clock: Clock) -> QueueSample {
    QueueSample {
        at: clock.picos(now),
        bytes: port.queued_bytes(now),
        wait: clock.nanos(port.backlog_ticks(now)),
    }
}

impl Sampler {
    pub fn new(
        first: u32,
        ports: usize,
        interval: u64,
        bound_bytes: u32,
        bound_nanos: u64,
        trace: TracePorts,
    ) -> Self {
        let n = if interval == 0 { 0 } else { ports };
        let hottest = n > 0 && trace == TracePorts::Hottest;
        let traced = match &trace {
            TracePorts::ToHosts(hosts) => hosts.iter().map(|&h| (h, Vec::new())).collect(),
            _ => Vec::new(),
        };
        Sampler {
            first,
            interval,
            lengths: vec![Histogram::new(u64::from(bound_bytes)); n],
            waits: vec![Histogram::new(bound_nanos); n],
            trace,
            traced,
            thinned: (0..if hottest { n } else { 0 })
                .map(|_| Thinned {
                    samples: Vec::new(),
                    stride: 1,
                    skip: 0,
                })
                .collect(),
        }
    }

    pub fn sample(&mut self, now: u64, clock: Clock, ports: &mut [Port]) {
        let first = self.first as usize;
        for (i, port) in ports[first..].iter_mut().enumerate() {
            self.lengths[i].add(u64::from(port.queued_bytes(now)));
            self.waits[i].add(clock.nanos(port.backlog_ticks(now)).0);
        }
        // The port that faces host h is the h-th switch port.
        for (host, samples) in &mut self.traced {
            samples.push(look(&mut ports[first + *host as usize], now, clock));
        }
        for (t, port) in self.thinned.iter_mut().zip(&mut ports[first..]) {
            t.skip += 1;
            if t.skip < t.stride {
                continue;
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

    /// Takes what another shard has recorded of its ports.
    pub fn absorb(&mut self, other: &mut Sampler, owns: impl Fn(usize) -> bool) {
        for i in (0..self.lengths.len()).filter(|&i| owns(i)) {
            std::mem::swap(&mut self.lengths[i], &mut other.lengths[i]);
            std::mem::swap(&mut self.waits[i], &mut other.waits[i]);
        }
        for i in (0..self.thinned.len()).filter(|&i| owns(i)) {
            std::mem::swap(&mut self.thinned[i], &mut other.thinned[i]);
        }
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
                        samples: std::mem::take(&mut self.thinned[i].samples),
                    })
                    .collect()
            }
        }
    }
}
