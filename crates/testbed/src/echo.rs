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

/// What hosts are told about ECN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asking {
    /// `net.ipv4.tcp_ecn` of every host.
    pub(crate) wanted: u8,
    /// Sender and receiver of connections that ask for it by their route.
    pub(crate) pairs: BTreeSet<(u32, u32)>,
}

/// Of these flows.
///
/// # Errors
/// A pair of hosts between which some connections ask by their route and others must not.
pub(crate) fn asking<'a>(
    config: &Config,
    flows: impl Iterator<Item = &'a LabFlow>,
) -> Result<Asking, Refusal> {
    let kernels: Vec<Algorithm> = config
        .controls()
        .into_iter()
        .filter_map(algorithm)
        .collect();
    let alike = |wanted: bool| kernels.iter().all(|a| a.echo == wanted);
    let pairs = BTreeSet::new();
    if alike(true) || alike(false) {
        let wanted = u8::from(alike(true));
        return Ok(Asking { wanted, pairs });
    }
    // Whether connections of a pair ask, where their controller does not decide it.
    let mut asks: BTreeMap<(u32, u32), bool> = BTreeMap::new();
    for f in flows {
        let Some(a) = kernels.get(usize::from(f.control)).filter(|a| !a.asks) else {
            continue;
        };
        if *asks.entry((f.src, f.dst)).or_insert(a.echo) != a.echo {
            return Err(Refusal {
                key: "workload.control".to_owned(),
                value: format!("with and without ECN from host {} to {}", f.src, f.dst),
                why: "a kernel asks for ECN by its route, which is the same for both".to_owned(),
                instead: "write dctcp, which asks by itself, instead of cubic-ecn or ecn-star, or \
                          other hosts for one of them"
                    .to_owned(),
            });
        }
    }
    let all = asks.into_iter().filter(|(_, asks)| *asks);
    Ok(Asking {
        wanted: 2,
        pairs: all.map(|(pair, _)| pair).collect(),
    })
}
