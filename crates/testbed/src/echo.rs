// SPDX-License-Identifier: MIT OR Apache-2.0
//! How connections agree on ECN, where some of a host use it and others do not.
//!
//! A kernel has one setting for a host, `net.ipv4.tcp_ecn`: 1 asks for ECN on every connection, 0
//! on none, 2 grants it to those who ask. DCTCP asks by itself. Where controllers differ the
//! setting is 2, and what else asks does so by its route (`ip route ... features ecn`), which is
//! one for each pair of hosts.

use std::collections::{BTreeMap, BTreeSet};

use cemark_sim::Config;

use crate::lab::LabFlow;
use crate::refusal::{Algorithm, Refusal, algorithm};

/// ECN settings of hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asking {
    /// `net.ipv4.tcp_ecn` of every host.
    pub(crate) wanted: u8,
    /// Sender and receiver of connections that ask for it by their route.
    pub(crate) pairs: BTreeSet<(u32, u32)>,
}

/// Most flows that are drawn to see which pairs of hosts a scenario has.
const DRAWN: usize = 20_000;

/// Refuses what [`asking`] would, before anything is built or simulated.
pub(crate) fn check(config: &Config) -> Result<(), Refusal> {
    let kernels: Vec<Algorithm> = kernels(config);
    if alike(&kernels).is_some() {
        return Ok(());
    }
    let controls = config.controls();
    let mut traffic = config.traffic();
    let flows = std::iter::from_fn(|| traffic.pop()).take(DRAWN);
    let pairs = flows.filter_map(|f| {
        let workload = &config.workloads[usize::from(f.workload)];
        let own = &config.transport_of(workload).control;
        let place = controls.iter().position(|c| *c == own)?;
        Some((f.src, f.dst, *kernels.get(place)?))
    });
    by_route(pairs).map(|_| ())
}

/// ECN settings of hosts for these flows.
///
/// # Errors
/// A pair of hosts between which some connections ask by their route and others must not.
pub(crate) fn asking<'a>(
    config: &Config,
    flows: impl Iterator<Item = &'a LabFlow>,
) -> Result<Asking, Refusal> {
    let kernels = kernels(config);
    if let Some(echo) = alike(&kernels) {
        return Ok(Asking {
            wanted: u8::from(echo),
            pairs: BTreeSet::new(),
        });
    }
    let each = flows.filter_map(|f| {
        let own = kernels.get(usize::from(f.control))?;
        Some((f.src, f.dst, *own))
    });
    Ok(Asking {
        wanted: 2,
        pairs: by_route(each)?,
    })
}

fn kernels(config: &Config) -> Vec<Algorithm> {
    let all = config.controls().into_iter();
    all.filter_map(algorithm).collect()
}

/// Whether all connections use ECN, or none; `None` where they differ.
fn alike(kernels: &[Algorithm]) -> Option<bool> {
    let all = |wanted: bool| kernels.iter().all(|a| a.echo == wanted);
    [true, false].into_iter().find(|wanted| all(*wanted))
}

/// The pairs whose connections ask for ECN by their route.
fn by_route(
    flows: impl Iterator<Item = (u32, u32, Algorithm)>,
) -> Result<BTreeSet<(u32, u32)>, Refusal> {
    // Whether connections of a pair ask, where their controller does not decide it.
    let mut asks: BTreeMap<(u32, u32), bool> = BTreeMap::new();
    for (src, dst, own) in flows.filter(|(.., own)| !own.asks) {
        if *asks.entry((src, dst)).or_insert(own.echo) != own.echo {
            return Err(Refusal {
                key: "workload.control".to_owned(),
                value: format!("with and without ECN from host {src} to {dst}"),
                why: "a kernel asks for ECN by its route, which is the same for both".to_owned(),
                instead: "write dctcp, which asks by itself, instead of cubic-ecn or ecn-star, or \
                          other hosts for one of them"
                    .to_owned(),
            });
        }
    }
    let all = asks.into_iter().filter(|(_, asks)| *asks);
    Ok(all.map(|(pair, _)| pair).collect())
}
