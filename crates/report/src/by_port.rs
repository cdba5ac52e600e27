// SPDX-License-Identifier: MIT OR Apache-2.0
//! Use of the links of a fabric, port by port: utilisation and pauses, means over replications.

use std::collections::BTreeMap;

use cemark_sim::Outcome;
use serde::{Deserialize, Serialize};

/// A share of the measured time, of each port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// The link was in use.
    Utilisation,
    /// Some queue was paused by the switch at the far end.
    Paused,
}

impl Share {
    /// Both.
    pub const EACH: [Share; 2] = [Share::Utilisation, Share::Paused];

    /// Name of the share among the metrics of charts.
    pub fn name(self) -> &'static str {
        match self {
            Share::Utilisation => "utilisation-by-port",
            Share::Paused => "pauses-by-port",
        }
    }

    /// Label of its axis.
    pub fn label(self) -> &'static str {
        match self {
            Share::Utilisation => "utilisation",
            Share::Paused => "share of time paused",
        }
    }

    /// Names of ports with their shares in a replication. Ports that sent nothing and were never
    /// paused are left out.
    fn of(self, outcome: &Outcome) -> Vec<(&str, f64)> {
        match self {
            Share::Utilisation => {
                let used = outcome.ports.iter().filter(|port| port.packets > 0);
                used.map(|port| (&port.name[..], port.utilisation))
                    .collect()
            }
            Share::Paused => {
                let pauses = outcome.pauses.iter();
                pauses.map(|port| (&port.name[..], port.share)).collect()
            }
        }
    }
}

/// Share of a port under a scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct OfPort {
    /// Name of the port: `leaf3->host52`; of a NIC: `host3->leaf0`.
    pub port: String,
    /// Mean over the replications, from 0 to 1.
    pub mean: f64,
    /// The least and the largest share of a replication; `None` with one replication.
    pub span: Option<(f64, f64)>,
}

/// Ports in these replications of a scheme, the largest share first. A replication in which a port
/// did nothing counts as 0.
pub fn of_replications(outcomes: &[&Outcome], share: Share) -> Vec<OfPort> {
    let mut shares: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for outcome in outcomes {
        for (port, share) in share.of(outcome) {
            shares.entry(port).or_default().push(share);
        }
    }
    let replications = outcomes.len();
    let of_port = |(port, mut shares): (&str, Vec<f64>)| {
        shares.resize(replications, 0.0);
        let ends = |(low, high): (f64, f64), x: &f64| (low.min(*x), high.max(*x));
        OfPort {
            port: port.to_owned(),
            mean: shares.iter().sum::<f64>() / replications as f64,
            span: (replications > 1).then(|| shares.iter().fold((1.0, 0.0), ends)),
        }
    };
    let mut ports: Vec<OfPort> = shares.into_iter().map(of_port).collect();
    // Equal shares are in the order of the names.
    ports.sort_by(|a, b| b.mean.total_cmp(&a.mean));
    ports
}

/// Use of a port under a scheme at one value of the axes, as `summary.json` has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortUse {
    /// Value of each swept axis.
    pub axes: BTreeMap<String, String>,
    /// Label of the scheme.
    pub scheme: String,
    /// Name of the port.
    pub port: String,
    /// Share of the measured time in which its link was in use, mean over replications; `null` for
    /// a NIC, whose link is not measured.
    pub utilisation: Option<f64>,
    /// Share of the measured time in which some queue was paused, mean over replications; `null`
    /// where nothing was ever paused.
    pub paused: Option<f64>,
}
