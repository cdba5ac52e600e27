// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rust against C and against the bytecode, on random traces. `CEMARK_DECISIONS` sets the number of
//! decisions per scheme, `CEMARK_SEED` the seed (`cargo xtask proof diff`: a billion each).

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use cemark_conformance::differential::{Agreed, Unequal, rust_and, rust_and_with};
use cemark_foreign::{Object, Twin};
use cemark_marking::{Kind, ParamSpec, SchemeSpec, catalogue, ecn_sharp};

fn number(name: &str, usual: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .replace('_', "")
            .parse()
            .unwrap_or_else(|e| panic!("{name} = {text}: {e}")),
        Err(_) => usual,
    }
}

type Compare = fn(&'static SchemeSpec, u64, u64) -> Result<Agreed, Unequal>;

/// Compares schemes in parallel, one per processor.
fn every_scheme(form: &str, decisions: u64, compare: Compare) {
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(spec) = catalogue::deployed().nth(next.fetch_add(1, Relaxed)) {
                    one_scheme(spec, form, decisions, compare);
                }
            });
        }
    });
}

#[allow(clippy::disallowed_methods)] // says how long it took; nothing depends on it
fn one_scheme(spec: &'static SchemeSpec, form: &str, decisions: u64, compare: Compare) {
    let began = Instant::now();
    let agreed = compare(spec, number("CEMARK_SEED", 1), decisions)
        .unwrap_or_else(|e| panic!("rust and {form}: {e}"));
    println!(
        "{:10} rust = {form}: {} decisions, {} marks, {} drops, {} wake-ups, \
         {} settings, none differing; {:016x}, {:.1} s",
        spec.name,
        agreed.decisions,
        agreed.marks,
        agreed.drops,
        agreed.wakes,
        agreed.settings,
        agreed.digest,
        began.elapsed().as_secs_f64()
    );
    assert!(agreed.decisions >= decisions);
    // A trace on which every verdict is the same would show nothing.
    let share = (agreed.marks + agreed.drops) as f64 / agreed.decisions as f64;
    assert!(
        (0.02..0.98).contains(&share),
        "{}: {share} of the decisions are marks or drops; wanted: 0.02 to 0.98",
        spec.name
    );
}

#[test]
fn rust_and_c_decide_alike() {
    let compare: Compare = |spec, seed, n| rust_and(&Twin::of(spec)?, spec, seed, n);
    every_scheme("C", number("CEMARK_DECISIONS", 2_000_000), compare);
}

#[test]
fn rust_and_bytecode_decide_alike() {
    let compare: Compare = |spec, seed, n| rust_and(&Object::of(spec)?, spec, seed, n);
    every_scheme("BPF", number("CEMARK_BPF_DECISIONS", 150_000), compare);
}

/// ECN#'s step on waits takes another path in C than its other forms, and a random choice of all
/// of them leaves that path to a few episodes.
#[test]
fn the_published_ecn_sharp_decides_alike() {
    let compare: Compare = |spec, seed, decisions| {
        let kept = |p: &ParamSpec| matches!(p.kind, Kind::Choice(_));
        rust_and_with(&Twin::of(spec)?, spec, seed, decisions, kept)
    };
    one_scheme(
        &ecn_sharp::SPEC,
        "C, published",
        number("CEMARK_DECISIONS", 2_000_000),
        compare,
    );
}
