// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cost of one segment and its ACK without loss: what a host adds to a packet that crosses a
//! simulated fabric.

use std::hint::black_box;
use std::time::Instant;

use cemark_transport::cc::dctcp::DctcpConfig;
use cemark_transport::{Acks, Config, Control, Receiver, Sender};
use cemark_wire::{Ecn, Nanos};

const SEGMENTS: u64 = 10_000;

/// Keeps a window of segments in flight and acknowledges one after the other, every `mark`th with
/// CE.
fn exchange(cfg: &Config, mark: u64) -> u64 {
    let (mut s, mut r) = (Sender::new(cfg), Receiver::new(cfg));
    s.write(u64::MAX);
    let mut flight = [None; 256];
    let (mut head, mut tail) = (0usize, 0usize);
    for n in 0..SEGMENTS {
        let now = Nanos(n * 1_200);
        while head - tail < 256
            && let Some(segment) = s.poll_transmit(cfg, now)
        {
            flight[head % 256] = Some(segment);
            head += 1;
        }
        let mut segment = flight[tail % 256].take().expect("a window is never empty");
        tail += 1;
        if n % mark == 0 {
            segment.ecn = Ecn::Ce;
        }
        if let Acks::One(ack) = r.on_data(cfg, now, black_box(&segment)) {
            s.on_ack(cfg, now, black_box(&ack), &[]);
        }
    }
    s.acked()
}

/// Calls of a batch, and batches of a row.
const CALLS: usize = 20;
const BATCHES: usize = 100;

/// Nanoseconds of a segment and its ACK: those of the fastest batch, and of the median one.
#[allow(clippy::disallowed_methods)] // a benchmark measures real time
fn time(name: &str, cfg: &Config) {
    let batch = |_| {
        let start = Instant::now();
        for _ in 0..CALLS {
            black_box(exchange(black_box(cfg), 50));
        }
        start.elapsed().as_nanos() as f64 / (CALLS as u64 * SEGMENTS) as f64
    };
    let mut each: Vec<f64> = (0..BATCHES).map(batch).collect();
    each.sort_unstable_by(f64::total_cmp);
    let (least, median) = (each[0], each[BATCHES / 2]);
    println!("segment_and_ack/{name:8} {median:6.1} ns, at least {least:.1} ns");
}

fn main() {
    for (name, control) in [
        ("reno", Control::RENO),
        ("ecn_star", Control::ECN_STAR),
        (
            "dctcp",
            DctcpConfig {
                alpha_init: 0,
                ..DctcpConfig::default()
            }
            .control(),
        ),
    ] {
        let cfg = Config {
            control,
            receive_window: 250 * 1460,
            ..Config::default()
        };
        time(name, &cfg);
    }
}
