// SPDX-License-Identifier: MIT OR Apache-2.0
//! STAND-IN, dropped at merge: the engine's signature.
use crate::{Config, Outcome};
/// Progress.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// 0..1
    pub done: f64,
    /// hops
    pub hops: u64,
}
/// An outcome of made-up flows.
pub fn run_with_progress(cfg: &Config, report: &mut dyn FnMut(Progress) -> bool) -> Option<Outcome> {
    use crate::outcome::*;
    use cemark_wire::{Picos, Rate};
    let salt = match &cfg.switch.marker { crate::config::MarkerChoice::Builtin { scheme, .. } => scheme.name.len() as u64, _ => 3 };
    for i in 0..20 { std::thread::sleep(std::time::Duration::from_millis(cfg.max_time.0)); if !report(Progress { done: i as f64 / 20.0, hops: i * 1000 }) { return None; } }
    let luck = |seed: u64, id: u64| { let mut z = (seed << 32 | id).wrapping_mul(0x9e37_79b9_7f4a_7c15); z = (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9); ((z ^ (z >> 32)) >> 11) as f64 / (1_u64 << 53) as f64 };
    let f = 0.7 + 0.1 * (salt % 7) as f64;
    let flows: Vec<FlowRecord> = (0..3000).map(|id| { let class = (id % 30) as usize; let bytes = [20_000, 1_000_000, 20_000_000][if class < 18 { 0 } else if class < 28 { 1 } else { 2 }] + id; let ideal = bytes * 800 + 80_000_000;
        let fct = ideal as f64 * (1.0 + luck(cfg.seed, id).powi(6) * 20.0 * (if class < 18 { f } else { 1.6 - f / 2.0 }) * (1.0 + 0.2 * luck(cfg.seed * 31 + salt, id)));
        FlowRecord { id, workload: 0, class: 0, src: 1, dst: 7, bytes, start: Picos(id * 1_000_003), fct: Some(Picos(fct as u64)), ideal: Picos(ideal), extra: Picos::ZERO, marks: 2, retransmits: 0, timeouts: 0 } }).collect();
    let q = 60_000.0 * f;
    let spread = |x: f64| Spread { count: 1000, mean: x, p50: x * 0.8, p99: x * 3.0, max: x * 5.0, min: 0.0 };
    let ports = (0..6).map(|i| PortReport { name: format!("leaf{}->host{}", i % 3, 50 + i), rate: Rate::gbps(10), packets: 812_345, bytes: 1_150_000_000, marks: 8120, drops: i, utilisation: 0.9 - 0.1 * i as f64, queue: spread(q * (1.0 - 0.1 * i as f64 + 0.01 * luck(cfg.seed, salt))), sojourn: spread(q) }).collect();
    let traces = vec![PortTrace { name: "leaf0->host50".into(), port: 0, samples: (0..20000).map(|i| (Picos::from_micros(i * 5), (q * (1.0 + ((i as f64) / 900.0).sin() * 0.5) * (0.4 + luck(cfg.seed, i / 3))) as u32)).collect() }];
    let mut o = Outcome { flows, ports, traces, packet_hops: 123_456_789, events: 5, end: Picos(1_000_000_000_000), digest: 77 + salt + cfg.seed, ..Outcome::default() };
    o.totals.marks.insert("instant", 91_234 * salt);
    o.totals.drops.insert("tail", salt * 3);
    o.totals.timeouts = salt;
    Some(o)
}
