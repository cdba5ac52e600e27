// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nanoseconds per packet, for every scheme of the catalogue and its most expensive variants: each
//! hook that the scheme judges at, and its timer.
//!
//! `cargo bench -p cemark-marking`. The packets are drawn beforehand: lengths and sojourn times
//! move around the thresholds, so that branches are as hard to predict as on a busy port. Every
//! number includes the loop itself (the row `nothing`).

use std::hint::black_box;
use std::time::{Duration, Instant};

use cemark_marking::{At, Hook, Marker, QueueSpec, Values, Verdict, catalogue, fixed};
use cemark_wire::{Nanos, Rate};

/// Schemes with parameters other than the defaults, in stored units.
const VARIANTS: &[(&str, &[(&str, u64)])] = &[
    ("ecn_sharp_lab", &[("law", 1), ("base", 1), ("cmp", 1)]),
    ("ecn_sharp", &[("instant", 1), ("pmax", 65_536)]),
    ("ecn_sharp_lab", &[("signal", 1), ("by_round", 1)]),
    ("mq_ecn", &[("shape", 1), ("pmax", 65_536)]),
    ("mq_ecn", &[("period", 7_200)]),
    (
        "red",
        &[
            ("weight", 65_536),
            ("kmin", 5_000),
            ("kmax", 200_000),
            ("spacing", 1),
        ],
    ),
    ("dynamic", &[("mode", 1)]),
    ("dynamic", &[("off_offset", 200_000)]),
    ("pie", &[("delay", 1)]),
];

/// Few enough to stay in the L1 cache, too many for a branch predictor to memorise.
const PACKETS: usize = 1024;

/// A busy port at 10 Gb/s: a queue length that walks between 0 and 300,000 bytes, and each packet's
/// random hash.
fn packets() -> Vec<(u32, u64)> {
    let mut length = 100_000i64;
    (0..PACKETS as u64)
        .map(|n| {
            let hash = fixed::hash(1, 2, n, 3);
            length = (length + (hash % 20_001) as i64 - 10_000).clamp(0, 300_000);
            (length as u32, hash)
        })
        .collect()
}

/// The view as a port fills it.
#[inline(always)]
fn view((length, hash): (u32, u64), now: u64) -> At {
    At {
        packet_hash: hash,
        round: Nanos(hash >> 50),
        limit_bytes: 200_000 + (hash >> 48) as u32,
        ..At::departure(Nanos(now), Nanos(u64::from(length) * 8 / 10), length, 1_500)
    }
}

/// Batches of a row. Each takes [`BATCH`]; the first warms up caches and predictors.
const BATCHES: usize = 51;
const BATCH: Duration = Duration::from_millis(40);

/// Prints the median time of a call over all batches, and by how much the middle half of them
/// differs.
#[allow(clippy::disallowed_methods)] // a benchmark measures real time
fn time<T>(name: &str, mut call: impl FnMut() -> T) {
    let mut batch = |calls: u64| {
        let start = Instant::now();
        for _ in 0..calls {
            black_box(call());
        }
        start.elapsed()
    };
    let mut calls = 1_000;
    let mut took = batch(calls);
    while took < BATCH {
        calls *= 2;
        took = batch(calls);
    }
    let mut each: Vec<f64> = (0..BATCHES)
        .map(|_| batch(calls).as_nanos() as f64 / calls as f64)
        .skip(1)
        .collect();
    each.sort_unstable_by(f64::total_cmp);
    let [low, median, high] = [1, 2, 3].map(|quarter| each[each.len() * quarter / 4]);
    println!(
        "test {name} ... bench: {median:>8.2} ns/iter (+/- {:.2})",
        high - low
    );
}

fn bench(name: &str, marker: Option<impl Marker>) {
    let (packets, mut n, mut now) = (packets(), 0, 0);
    let mut marker = marker;
    let hook = marker.as_ref().map(Marker::hook);
    time(name, || {
        n = (n + 1) % PACKETS;
        now += 1_200;
        let mut at = view(black_box(packets[n]), now);
        let Some(marker) = &mut marker else {
            black_box(&at);
            return Verdict::Pass;
        };
        if marker.next_wake().is_some_and(|due| due.0 <= now) {
            marker.wake(&at);
        }
        let mut verdict = Verdict::Pass;
        if hook != Some(Hook::Dequeue) {
            verdict = marker.enqueue(&at);
        }
        if hook != Some(Hook::Enqueue) {
            at.intent = match verdict {
                Verdict::Mark(why) => Some(why),
                _ => None,
            };
            verdict = marker.dequeue(&at);
        }
        verdict
    });
}

fn main() {
    bench("nothing", None::<catalogue::Builtin>);
    let queue = QueueSpec::fifo(Rate::gbps(10));
    let defaults = catalogue::ALL.iter().map(|spec| (spec.name, &[][..]));
    for (name, changes) in defaults.chain(VARIANTS.iter().copied()) {
        let spec = catalogue::find(name).expect("a scheme");
        let (values, label) = changes.iter().fold(
            (Values::defaults(spec), name.to_owned()),
            |(values, label), &(p, v)| {
                (
                    values.with(spec, p, v).expect("a parameter"),
                    format!("{label} {p}={v}"),
                )
            },
        );
        bench(&label, Some(catalogue::build(spec, &values, &queue)));
    }
}
