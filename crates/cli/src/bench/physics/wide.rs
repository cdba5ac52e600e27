// SPDX-License-Identifier: MIT OR Apache-2.0
//! Single flow over a long path that loses packets: throughput of NewReno, CUBIC and BBR by
//! round-trip time and loss.

use cemark_sim::config::MarkerChoice;
use cemark_sim::faults::{ALWAYS, LinkFault, Loss, Victims};
use cemark_sim::topology::{Dumbbell, Topology};
use cemark_transport::Control;
use cemark_wire::{Nanos, Picos, Rate};

use super::Row;
use super::fabrics::many_to_one;

/// Goodput in segments of 1460 bytes per round trip, and the share of the 1 Gb/s that they use
/// including headers.
fn goodput(control: Control, rtt_ms: u64, loss: f64) -> (f64, f64) {
    // If losses keep windows small there are few packets per second, so the run is longer. A full
    // link gives a stable average soon.
    let full = control == Control::BBR || loss == 0.0;
    let millis = match (full, rtt_ms) {
        (true, _) => 8_000,
        (false, ..=30) => 50_000,
        _ => 500_000,
    };
    let mut cfg = many_to_one(1, millis, MarkerChoice::None);
    cfg.topology = Topology::from(Dumbbell {
        left: 1,
        right: 1,
        host_rate: Rate::gbps(10),
        middle_rate: Rate::gbps(1),
        host_delay: Picos::from_micros(5),
        middle_delay: Picos::from_micros(rtt_ms * 500 - 10),
    });
    let fabric = cfg.topology.fabric();
    // Host 1 sends to host 0.
    let middle = fabric
        .links()
        .iter()
        .position(|l| l.name == "switch1->switch0");
    cfg.faults = vec![LinkFault {
        link: middle.unwrap_or_default() as u32,
        loss: Loss::Uniform {
            chance: (loss * ALWAYS as f64) as u64,
        },
        victims: Victims::Any,
        bleach: false,
    }];
    cfg.switch.buffer_bytes = 2_000_000;
    let t = &mut cfg.transport;
    t.control = control;
    t.lost_retransmissions = control == Control::BBR;
    t.receive_window = 64 << 20;
    t.rto_init = Nanos::from_millis(1_000);
    t.rto_min = Nanos::from_millis(200);
    cfg.measure.queue_interval = Picos::ZERO;
    let out = cemark_sim::run(&cfg);
    let seconds = (cfg.measure.until - cfg.measure.from).as_secs_f64();
    let segments = out.long_flows[0].delivered as f64 / 1460.0 / seconds;
    (
        segments * rtt_ms as f64 * 1e-3,
        segments * 1500.0 * 8.0 / 1e9,
    )
}

/// Throughput against round trip (1 to 30 ms) and loss (0 to 3 %).
///
/// NewReno and CUBIC stay near the square-root law: over such paths CUBIC's other curve is the
/// lower one, and its Reno-friendly window has the same mean. At 3 % timeouts cost them up to
/// half, because a window of seven rarely produces three duplicate ACKs. BBR gets the rate that
/// losses leave.
pub(super) fn rows() -> Vec<Row> {
    let senders = [
        ("NewReno", Control::RENO),
        ("CUBIC", Control::CUBIC),
        ("BBR", Control::BBR),
    ];
    let mut rows = Vec::new();
    for rtt_ms in [1, 10, 30] {
        for loss in [0.0, 0.001, 0.01, 0.03] {
            for (sender, control) in senders {
                rows.push(row(sender, control, rtt_ms, loss));
            }
        }
    }
    // RFC 9438 section 5.1: 1.054 (RTT / p)^(3/4) segments under its deterministic losses; here
    // they are random.
    let (segments, _) = goodput(senders[1].1, 100, 1e-4);
    let curve = 1.054 * (0.1f64 / 1e-4).powf(0.75);
    rows.push(Row {
        name: "CUBIC, 100 ms, loss 0.01 %".into(),
        what: "segments a round trip over 1.054 (RTT/p)^0.75",
        measured: segments / curve,
        low: 0.75,
        high: 1.25,
        theory: Some(1.0),
    });
    rows
}

fn row(sender: &str, control: Control, rtt_ms: u64, loss: f64) -> Row {
    let (segments, used) = goodput(control, rtt_ms, loss);
    let name = format!("{sender}, {rtt_ms} ms, loss {} %", loss * 100.0);
    if control == Control::BBR || loss == 0.0 {
        // After the overrun of slow start NewReno needs minutes to fill 2,500 segments.
        let low = match (sender, rtt_ms) {
            ("NewReno", 30) => 0.75,
            _ => 0.95 - loss,
        };
        return Row {
            name,
            what: "share of 1 Gb/s used, by random loss",
            measured: used,
            low,
            high: 1.001,
            theory: Some(1.0 - loss),
        };
    }
    let (low, high) = if loss > 0.02 {
        (0.45, 1.1)
    } else {
        (0.75, 1.25)
    };
    Row {
        name,
        what: "segments a round trip over sqrt(3/2p)",
        measured: segments / (1.5 / loss).sqrt(),
        low,
        high,
        theory: Some(1.0),
    }
}
