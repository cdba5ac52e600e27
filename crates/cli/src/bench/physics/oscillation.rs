// SPDX-License-Identifier: MIT OR Apache-2.0
//! Long flows through one marked queue: utilisation, and the queue against DCTCP's sawtooth.

use cemark_transport::Control;
use cemark_transport::cc::dctcp::DctcpConfig;
use cemark_wire::Picos;

use super::Row;
use super::fabrics::{PACKET, many_to_one, step};

/// Bandwidth times base RTT of these checks, in packets: 10 Gb/s x 100 us.
const BDP: f64 = 83.33;

/// N DCTCP flows: the link stays busy, and the queue's mean lies between the trough and the crest
/// of the sawtooth in the DCTCP analysis: K + N - A and K + N packets, amplitude A = 0.5
/// sqrt(2N(BDP + K)).
///
/// The analysis lets windows be fractions of a segment. If a flow's share of BDP + K is below four
/// segments (N = 32, K = 20: 3.2), whole segments and the minimum of two matter: the link is used
/// for 98.6 % of the time, and the bound of that row is 98 % (docs/findings.md).
pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for k in [20, 65, 100] {
        for n in [2u32, 4, 8, 16, 32] {
            let out = cemark_sim::run(&many_to_one(n, 100, step(k)));
            let port = &out.ports[0];
            let (nf, kf) = (f64::from(n), k as f64);
            let amplitude = 0.5 * (2.0 * nf * (BDP + kf)).sqrt();
            rows.push(Row {
                name: format!("utilisation, N={n} K={k}"),
                what: "share of the link's time in use",
                measured: port.utilisation,
                low: if (BDP + kf) / nf < 4.0 { 0.98 } else { 0.99 },
                high: 1.0,
                theory: Some(1.0),
            });
            rows.push(Row {
                name: format!("queue, N={n} K={k}"),
                what: "mean queue in packets",
                measured: port.queue.mean / PACKET as f64,
                low: kf + nf - amplitude,
                high: kf + nf,
                theory: Some(kf + nf - amplitude / 2.0),
            });
        }
    }
    rows
}

/// A threshold of one packet: DCTCP keeps about 94 % of the link and ECN* about 75 % (MQ-ECN
/// section 5.3.2), within ten points. Senders are smooth: one packet at a time in the NIC, one ACK
/// per packet.
pub(super) fn tiny_threshold() -> Vec<Row> {
    [
        (
            "DCTCP",
            DctcpConfig {
                g_shift: 4,
                alpha_init: 0,
            }
            .control(),
            94.0,
        ),
        ("ECN*", Control::ECN_STAR, 75.0),
    ]
    .into_iter()
    .map(|(name, control, theory)| {
        let mut cfg = many_to_one(1, 400, step(1));
        cfg.transport.control = control;
        cfg.nic = cemark_sim::config::Nic::BackPressure { packets: 1 };
        cfg.measure.from = Picos::from_micros(200_000);
        cfg.topology = cemark_sim::topology::Topology::from(cemark_sim::topology::Dumbbell {
            left: 1,
            right: 1,
            host_rate: cemark_wire::Rate::gbps(40),
            middle_rate: cemark_wire::Rate::gbps(10),
            host_delay: Picos::from_micros(5),
            middle_delay: Picos::from_micros(90),
        });
        let out = cemark_sim::run(&cfg);
        let middle = out
            .ports
            .iter()
            .find(|p| p.name == "switch1->switch0")
            .expect("the middle link");
        Row {
            name: format!("{name}, threshold of one packet"),
            what: "percent of the link",
            measured: middle.utilisation * 100.0,
            low: theory - 10.0,
            high: (theory + 10.0f64).min(100.0),
            theory: Some(theory),
        }
    })
    .collect()
}
