// SPDX-License-Identifier: MIT OR Apache-2.0
//! The round time of a port, in Rust (`crates/switch/src/round.rs`) and in C (`cemark/round.h`):
//! both give the answers of `vectors/round.toml`, and on random ports they are equal after every
//! event.

use std::path::Path;

use cemark_foreign::c_round;
use cemark_marking::QueueSpec;
use cemark_switch::{Clock, Round, RoundSpec, sched::Rounds};
use cemark_wire::{
    Nanos, Rate,
    hash::{Fnv1a, GOLDEN},
};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Case>,
    trace: Vec<Trace>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    counts: Counts,
    #[serde(default = "ten_gigabits")]
    rate_bps: u64,
    #[serde(default = "three_quarters")]
    beta: u32,
    idle: Option<u64>,
    quanta: Vec<u32>,
    #[serde(default)]
    outside: Vec<usize>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Trace {
    name: String,
    counts: Counts,
    #[serde(default = "ten_gigabits")]
    rate_bps: u64,
    #[serde(default = "three_quarters")]
    beta: u32,
    idle: Option<u64>,
    quanta: Vec<u32>,
    #[serde(default)]
    outside: Vec<usize>,
    seed: u64,
    events: u64,
    round: u64,
    digest: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Counts {
    Turns = 1,
    Weights = 2,
}

/// Exactly one of `woke`, `activated`, `served` and `discarded`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    woke: Option<u64>,
    since: Option<u64>,
    activated: Option<usize>,
    served: Option<usize>,
    discarded: Option<usize>,
    now: Option<u64>,
    #[serde(default)]
    ends: bool,
    #[serde(default)]
    emptied: bool,
    round: Option<u64>,
}

fn ten_gigabits() -> u64 {
    10_000_000_000
}

fn three_quarters() -> u32 {
    49_152
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Woke { now: u64, since: u64 },
    Activated(usize, u64),
    Served(usize, u64, bool, bool),
    Discarded(usize, u64, bool, bool),
}

/// A port in both implementations.
struct Port {
    rust: Round,
    c: [u64; 32],
}

impl Port {
    fn new(
        counts: Counts,
        (rate_bps, beta): (u64, u32),
        idle: Option<u64>,
        quanta: &[u32],
        outside: &[usize],
    ) -> Self {
        let rate = Rate(rate_bps);
        let inside = |i: usize| !outside.contains(&i);
        let mask = (0..quanta.len()).filter(|&i| inside(i)).map(|i| 1 << i);
        let (mask, word) = (mask.sum(), counts as u64);
        let queues: Vec<_> = quanta
            .iter()
            .map(|&quantum| QueueSpec {
                quantum,
                ..QueueSpec::fifo(rate)
            })
            .collect();
        let spec = RoundSpec {
            beta,
            idle: idle.map(Nanos),
        };
        let rounds = match counts {
            Counts::Turns => Rounds::Visits(mask),
            Counts::Weights => Rounds::Weights(mask),
        };
        let mut c = [0; 32];
        // The time of one MTU, which is the default in Rust.
        let idle = idle.unwrap_or(rate.nanos_for(1_500).0);
        c_round(&mut c, 0, [word, rate_bps, u64::from(beta), idle]);
        for (i, &quantum) in quanta.iter().enumerate() {
            let counts = if inside(i) { word } else { 0 };
            c_round(&mut c, 1, [i as u64, u64::from(quantum), counts, 0]);
        }
        Port {
            rust: Round::new(spec, rounds, &queues, Clock::new(1_000)),
            c,
        }
    }

    /// The round time after an event, which must be the same in both.
    fn happens(&mut self, event: Event) -> u64 {
        let r = &mut self.rust;
        let (what, args) = match event {
            Event::Woke { now, since } => {
                r.woke(now, since);
                (2, [0, now, since, 0])
            }
            Event::Activated(i, now) => {
                r.activated(i, now);
                (3, [i as u64, now, 0, 0])
            }
            Event::Served(i, end, ends, emptied) => {
                r.served(i, end, ends, emptied);
                (4, [i as u64, end, u64::from(ends), u64::from(emptied)])
            }
            Event::Discarded(i, now, ends, emptied) => {
                r.discarded(i, now, ends, emptied);
                (5, [i as u64, now, u64::from(ends), u64::from(emptied)])
            }
        };
        let (rust, c) = (r.get().0, c_round(&mut self.c, what, args));
        assert_eq!(rust, c, "{event:?}");
        rust
    }
}

/// The random numbers of `vectors/README.md`.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(GOLDEN) | 1)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) % n
    }
}

/// A port whose queues fill and empty at random, as `vectors/README.md` defines it. `each` gets
/// every event, `step` returns the time to the next one.
fn walk(
    dice: &mut Dice,
    events: u64,
    queues: usize,
    mut step: impl FnMut(&mut Dice, u64) -> u64,
    mut each: impl FnMut(Event, bool),
) {
    let (mut now, mut empty, mut held) = (0, 0, vec![false; queues]);
    for n in 0..events {
        now += step(dice, n);
        let i = dice.below(queues as u64) as usize;
        if held[i] {
            let discarded = dice.below(8) == 0;
            let emptied = dice.below(3) == 0;
            let ends = dice.below(2) == 0 || emptied;
            if discarded {
                each(Event::Discarded(i, now, ends, emptied), true);
            } else {
                now += dice.below(1_500);
                each(Event::Served(i, now, ends, emptied), true);
            }
            held[i] = !emptied;
            empty = now;
        } else {
            if !held.contains(&true) {
                each(Event::Woke { now, since: empty }, false);
            }
            each(Event::Activated(i, now), true);
            held[i] = true;
        }
    }
}

fn file() -> File {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/round.toml");
    toml::from_str(&std::fs::read_to_string(path).expect("the file")).expect("its form")
}

#[test]
fn both_give_the_golden_answers() {
    let mut asked = 0;
    for case in file().case {
        let name = &case.name;
        let setting = (case.rate_bps, case.beta);
        let mut port = Port::new(case.counts, setting, case.idle, &case.quanta, &case.outside);
        for (step, number) in case.steps.iter().zip(1..) {
            let now = step.now.or(step.woke).expect("a time");
            let event = match (step.woke, step.activated, step.served, step.discarded) {
                (Some(now), None, None, None) => Event::Woke {
                    now,
                    since: step.since.expect("since when"),
                },
                (None, Some(i), None, None) => Event::Activated(i, now),
                (None, None, Some(i), None) => Event::Served(i, now, step.ends, step.emptied),
                (None, None, None, Some(i)) => Event::Discarded(i, now, step.ends, step.emptied),
                _ => panic!("{name}: step {number} is not one event"),
            };
            let round = port.happens(event);
            if let Some(want) = step.round {
                assert_eq!(round, want, "{name}: step {number}");
                asked += 1;
            }
        }
    }
    assert!(asked >= 30, "{asked} answers only");
}

#[test]
fn both_give_the_traces_of_the_oracle() {
    for trace in file().trace {
        let setting = (trace.rate_bps, trace.beta);
        let mut port = Port::new(
            trace.counts,
            setting,
            trace.idle,
            &trace.quanta,
            &trace.outside,
        );
        let (mut digest, mut mean) = (Fnv1a::new(), 0);
        let step = |dice: &mut Dice, n: u64| {
            if n.is_multiple_of(64) {
                mean = [300, 1_100, 4_000, 60_000][dice.below(4) as usize];
            }
            1 + dice.below(2 * mean)
        };
        let mut last = 0;
        let mut dice = Dice::new(trace.seed);
        walk(
            &mut dice,
            trace.events,
            trace.quanta.len(),
            step,
            |event, noted| {
                last = port.happens(event);
                if noted {
                    digest.write(&last.to_le_bytes());
                }
            },
        );
        let came = (last, format!("{:016x}", digest.finish()));
        assert_eq!(came, (trace.round, trace.digest), "{}", trace.name);
    }
}

#[test]
fn they_are_equal_on_random_ports() {
    let rates = [1, 1_500, 3_000_000_000, 25_000_000_000, u64::MAX];
    let mut moved = 0;
    for seed in 1..=300 {
        let mut dice = Dice::new(seed);
        let counts = [Counts::Turns, Counts::Weights][dice.below(2) as usize];
        let setting = (rates[dice.below(5) as usize], dice.below(65_537) as u32);
        let idle = [None, Some(0), Some(1), Some(7_777), Some(u64::MAX)][dice.below(5) as usize];
        let quanta: Vec<u32> = (0..1 + dice.below(8))
            .map(|_| [1, 1_537, 9_000, u32::MAX][dice.below(4) as usize])
            .collect();
        let outside: Vec<usize> = (0..quanta.len()).filter(|_| dice.below(4) == 0).collect();
        let mut port = Port::new(counts, setting, idle, &quanta, &outside);
        let mut before = 0;
        let step = |dice: &mut Dice, _| {
            let bits = dice.below(40);
            dice.below(1 << 32) >> 32_u64.saturating_sub(bits) << bits.saturating_sub(32)
        };
        walk(&mut dice, 2_000, quanta.len(), step, |event, _| {
            let round = port.happens(event);
            moved += u64::from(round != before);
            before = round;
        });
    }
    assert!(moved > 100_000, "{moved} changes of a round only");
}
