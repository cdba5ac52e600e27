// SPDX-License-Identifier: MIT OR Apache-2.0
//! One flow over a long path that loses packets: NewReno, CUBIC and BBR against round trip and loss.

use cemark_sim::config::MarkerChoice;
use cemark_sim::faults::{ALWAYS, LinkFault, Loss, Victims};
use cemark_sim::topology::{Fabric, Topology};
use cemark_sim::transport::{Control, CubicSpec};
use cemark_wire::{Nanos, Picos, Rate};

use super::Row;
use super::fabrics::many_to_one;

/// Goodput in segments of 1460 bytes a round trip, and the share of the 1 Gb/s that they take with their headers.
fn goodput(control: Control, rtt_ms: u64, loss: f64) -> (f64, f64) {
    let mut cfg = many_to_one(1, 25_000, MarkerChoice::None);
    cfg.topology = Topology::Dumbbell {
        left: 1,
        right: 1,
        host_rate: Rate::gbps(10),
        middle_rate: Rate::gbps(1),
        host_delay: Picos::from_micros(5),
        middle_delay: Picos::from_micros(rtt_ms * 500 - 10),
    };
    let fabric = Fabric::new(&cfg.topology);
    let middle = fabric.links().iter().position(|l| l.host.is_none());
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
    t.lost_repairs = control == Control::Bbr;
    t.receive_window = 64 << 20;
    t.rto_init = Nanos::from_millis(1_000);
    t.rto_min = Nanos::from_millis(200);
    cfg.measure.queue_interval = Picos::ZERO;
    let out = cemark_sim::run(&cfg);
    let seconds = (cfg.measure.until - cfg.measure.from).as_secs_f64();
    let segments = out.long_flows[0].delivered as f64 / 1460.0 / seconds;
    (segments * rtt_ms as f64 * 1e-3, segments * 1500.0 * 8.0 / 1e9)
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for rtt_ms in [1, 10, 30] {
        for loss in [0.0, 0.001, 0.01, 0.03] {
            for (name, control) in [
                ("NewReno", Control::Reno),
                ("CUBIC", Control::Cubic(CubicSpec::rfc(false))),
                ("BBR", Control::Bbr),
            ] {
                let (segments, used) = goodput(control, rtt_ms, loss);
                println!("{name} {rtt_ms} {loss} {segments} {used}");
            }
        }
    }
    rows.clear();
    rows
}
