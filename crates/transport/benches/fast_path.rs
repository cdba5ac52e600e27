// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cost of one segment and its ACK without loss: what a host adds to a packet that crosses a
//! simulated fabric.

use std::hint::black_box;
use std::time::Duration;

use cemark_transport::cc::dctcp::DctcpConfig;
use cemark_transport::{Acks, Config, Control, Receiver, Sender};
use cemark_wire::{Ecn, Nanos};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

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

fn fast_path(c: &mut Criterion) {
    let mut group = c.benchmark_group("segment_and_ack");
    group
        .throughput(Throughput::Elements(SEGMENTS))
        .measurement_time(Duration::from_secs(2))
        .sample_size(20);
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
        group.bench_function(name, |b| b.iter(|| exchange(black_box(&cfg), 50)));
    }
    group.finish();
}

criterion_group!(benches, fast_path);
criterion_main!(benches);
