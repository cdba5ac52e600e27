// SPDX-License-Identifier: MIT OR Apache-2.0
//! Equal flows get equal shares.

use cemark_transport::Control;
use cemark_transport::cc::dctcp::DctcpConfig;

use super::Row;
use super::fabrics::{many_to_one, scheme, step};

/// Jain's index over the goodput of eight flows: 1 when all are equal.
pub(super) fn rows() -> Vec<Row> {
    let dctcp = DctcpConfig {
        g_shift: 4,
        alpha_init: 0,
    }
    .control();
    let sharp = || {
        scheme(
            "ecn_sharp",
            &[
                ("ins_target", 200_000),
                ("pst_target", 85_000),
                ("pst_interval", 200_000),
            ],
        )
    };
    [
        ("DCTCP, K=65", dctcp, step(65)),
        ("ECN*, K=84", Control::ECN_STAR, step(84)),
        ("DCTCP, ECN#", dctcp, sharp()),
    ]
    .into_iter()
    .map(|(name, control, marker)| {
        let mut cfg = many_to_one(8, 500, marker);
        cfg.transport.control = control;
        let out = cemark_sim::run(&cfg);
        let shares: Vec<f64> = out.long_flows.iter().map(|l| l.delivered as f64).collect();
        let (sum, squares) = (
            shares.iter().sum::<f64>(),
            shares.iter().map(|s| s * s).sum::<f64>(),
        );
        Row {
            name: format!("fair shares, {name}"),
            what: "Jain's index of eight flows",
            measured: sum * sum / (shares.len() as f64 * squares),
            low: 0.98,
            high: 1.0,
            theory: Some(1.0),
        }
    })
    .collect()
}
