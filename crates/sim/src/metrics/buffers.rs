// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes in use in the buffers that ports of a switch share, at the instants at which queues are
//! sampled: of the buffers that traced ports use, or of the fullest.

use std::collections::BTreeMap;

use cemark_switch::{Pool, PoolId};
use cemark_wire::Picos;

use super::thinned::Thinned;
use crate::config::TracePorts;
use crate::outcome::{BufferSample, BufferTrace};

/// Samples of one buffer.
struct Row {
    pool: PoolId,
    /// The ports that use it, counted from the first switch port, in order.
    ports: Vec<u32>,
    samples: Samples,
}

enum Samples {
    All(Vec<BufferSample>),
    /// Evenly spaced ones, with the sum over all: the fullest buffer is known at the end.
    Thinned(Thinned<BufferSample>, u64),
}

impl Samples {
    fn add(&mut self, at: Picos, pool: &Pool) {
        let sample = BufferSample {
            at,
            bytes: pool.held(),
        };
        match self {
            Samples::All(all) => all.push(sample),
            Samples::Thinned(some, sum) => {
                *sum += u64::from(sample.bytes);
                some.offer(|| sample);
            }
        }
    }

    /// The sum over all samples; every buffer has as many.
    fn sum(&self) -> u64 {
        match self {
            Samples::All(all) => all.iter().map(|s| u64::from(s.bytes)).sum(),
            Samples::Thinned(_, sum) => *sum,
        }
    }

    fn take(&mut self) -> Vec<BufferSample> {
        match self {
            Samples::All(all) => std::mem::take(all),
            Samples::Thinned(some, _) => some.take(),
        }
    }
}

/// See the module's text.
pub(crate) struct Buffers {
    /// In order of pools: those of this shard, or all. Empty where nothing is traced.
    rows: Vec<Row>,
}

impl Buffers {
    /// `ports`: the ports with shared buffers and these buffers, counted from the first switch
    /// port.
    pub fn new(ports: impl Iterator<Item = (u32, PoolId)>, trace: &TracePorts) -> Self {
        let mut of: BTreeMap<PoolId, Vec<u32>> = BTreeMap::new();
        for (port, pool) in ports {
            of.entry(pool).or_default().push(port);
        }
        of.retain(|_, ports| match trace {
            TracePorts::None => false,
            TracePorts::Hottest => true,
            TracePorts::ToHosts(named) | TracePorts::Ports(named) => {
                named.iter().any(|port| ports.contains(port))
            }
        });
        let row = |(pool, ports)| Row {
            pool,
            ports,
            samples: match trace {
                TracePorts::Hottest => Samples::Thinned(Thinned::new(), 0),
                _ => Samples::All(Vec::new()),
            },
        };
        Buffers {
            rows: of.into_iter().map(row).collect(),
        }
    }

    pub fn sample(&mut self, at: Picos, pools: &[Pool]) {
        for row in &mut self.rows {
            row.samples.add(at, &pools[row.pool.place()]);
        }
    }

    /// Takes what another shard has recorded of its buffers.
    pub fn absorb(&mut self, other: &mut Buffers) {
        self.rows.append(&mut other.rows);
        self.rows.sort_by_key(|row| row.pool);
    }

    /// Traces of the chosen buffers: where the ports were named, of theirs; otherwise of the
    /// fullest, and of the one of the port `busiest`, which is the same under every scheme.
    pub fn traces(
        &mut self,
        busiest: Option<u32>,
        pools: &[Pool],
        name: impl Fn(u32) -> String,
    ) -> Vec<BufferTrace> {
        let of_port = |row: &Row| busiest.is_some_and(|port| row.ports.contains(&port));
        let fullest = self.rows.iter().map(|row| row.samples.sum()).max();
        // Of equals the first.
        let fullest = self
            .rows
            .iter()
            .position(|row| Some(row.samples.sum()) == fullest);
        let chosen = |(i, row): (usize, &mut Row)| {
            let named = matches!(row.samples, Samples::All(_));
            (named || Some(i) == fullest || of_port(row)).then(|| BufferTrace {
                name: name(row.ports[0]),
                capacity: pools[row.pool.place()].capacity(),
                samples: row.samples.take(),
            })
        };
        self.rows
            .iter_mut()
            .enumerate()
            .filter_map(chosen)
            .collect()
    }
}
