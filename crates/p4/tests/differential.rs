// SPDX-License-Identifier: MIT OR Apache-2.0
//! A million random packets through the ECN# program and through the Rust model, over several
//! queues, with idle gaps and wraps of both clocks; and single faults in the program, each of which
//! must be seen.

use cemark_marking::ecn_sharp::{EcnSharp, SPEC};
use cemark_marking::{At, Marker, QueueSpec, Values, Verdict, Why};
use cemark_p4::testbed::{Passage, Testbed};
use cemark_p4::{Defines, Rounding, control::Interval, sources};
use cemark_wire::{Nanos, Rate, hash::SplitMix64};

const QUEUES: [(u16, u8); 4] = [(0, 0), (0, 7), (127, 3), (64, 0)];

fn model(interval: u64) -> EcnSharp {
    let values = Values::defaults(&SPEC)
        .with(&SPEC, "arithmetic", 1)
        .and_then(|v| v.with(&SPEC, "pst_interval", interval))
        .expect("parameters");
    EcnSharp::from_config((&values).into(), &QueueSpec::fifo(Rate::gbps(10)))
}

fn why(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Pass => 0,
        Verdict::Mark(Why::Instant) => 1,
        Verdict::Mark(Why::Persistent) => 2,
        other => panic!("{other:?}"),
    }
}

/// What a run has seen.
#[derive(Debug, Default)]
struct Seen {
    differ: Option<String>,
    instant: u64,
    persistent: u64,
    /// Packets after a silence in which the 22-bit clock wrapped.
    wraps: u64,
}

/// Random packets: a queue's wait moves up and down, and time in steps from nanoseconds to longer
/// than the clock's 4.3 s.
fn run(text: &str, interval: u64, seed: u64, packets: u64) -> Result<Seen, String> {
    let defines = match interval {
        200_000 => Defines::new(),
        _ => Interval::new(interval as u32, Rounding::Nearest).defines(),
    };
    let program = sources::of_text("ecn_sharp.p4", text, &defines).map_err(|e| e.to_string())?;
    let mut switch = Testbed::new(program);
    let mut models = QUEUES.map(|_| model(interval));
    let mut random = SplitMix64::new(seed);
    let mut seen = Seen::default();
    let (mut now, mut waits) = (0u64, [100_000u64; 4]);
    for packet in 0..packets {
        // To a millisecond before the end of the 32-bit clock: each of these steps is a wrap of the
        // lower bits, which every queue has to see.
        let leaps = packet < 4 * 1_024;
        let queue = match leaps {
            true => packet % 4,
            false => random.below(4),
        } as usize;
        now += match random.below(4_096) {
            _ if leaps => [4_294_966_272, 0, 0, 0][queue],
            0 if packet > 16_384 => random.below(9_000_000_000),
            1..40 if packet > 16_384 => random.below(300_000),
            n if n < 2_048 => random.below(400),
            _ => random.below(2_500),
        };
        let wait = &mut waits[queue];
        *wait = match random.below(1_024) {
            0 => random.below(300_000),
            1 => 85_000,
            2 => 84_999,
            3 => 200_000,
            4 => 200_001,
            5..8 => random.below(85_000),
            n => (*wait + n % 1_500).saturating_sub(720 - n % 3),
        };
        // Most of the time the queue is persistent.
        if *wait < 85_000 && random.below(64) == 0 {
            *wait = 90_000 + random.below(20_000);
        }
        let bits = random.next_u64();
        let passage = Passage {
            queue: QUEUES[queue],
            ecn: (bits & 3) as u8,
            v6: bits & 28 == 0,
            ..Passage::new(now.wrapping_sub(*wait), now)
        };
        let at = At::departure(Nanos(now), Nanos(*wait), 100_000, 1_500);
        let want = why(models[queue].dequeue(&at));
        let ecn = if want > 0 && passage.ecn > 0 {
            3
        } else {
            passage.ecn
        };
        match switch.pass(&passage) {
            Ok(came) if (came.why, came.ecn) == (want, ecn) => {}
            came => {
                seen.differ = Some(format!("packet {packet} at {now}: {came:?}, wants {want}"));
                return Ok(seen);
            }
        }
        seen.instant += u64::from(want == 1);
        seen.persistent += u64::from(want == 2);
    }
    seen.wraps = now >> 32;
    Ok(seen)
}

fn shipped() -> &'static str {
    sources::text("ecn_sharp.p4").expect("a program")
}

#[test]
fn a_million_packets_are_judged_as_by_the_model() {
    let mut all = Seen::default();
    for (seed, interval) in [(1, 200_000), (2, 200_000), (3, 24_000), (4, 1_000_000)] {
        let seen = run(shipped(), interval, seed, 250_000).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(seen.differ, None, "seed {seed}");
        all.instant += seen.instant;
        all.persistent += seen.persistent;
        // 1,024 wraps of the lower bits are one of the 32-bit clock.
        assert!(seen.wraps > 1_024, "{}", seen.wraps);
    }
    assert!(all.instant > 10_000, "{all:?}");
    assert!(all.persistent > 10_000, "{all:?}");
}

/// Single faults: what is written, and what a slip would make of it.
const FAULTS: &[(&str, &str)] = &[
    ("if (low < value.low)", "if (low <= value.low)"),
    ("value.wraps + 0x400000", "value.wraps + 0x200000"),
    ("            value.low = low;\n", ""),
    ("if (value.above == 0)", "if (value.above != 0)"),
    ("            value.above = 0;\n", ""),
    (
        "(int<32>)(now - value.next) > 0",
        "(int<32>)(now - value.next) >= 0",
    ),
    ("(int<32>)(now - value.next) > 0", "now > value.next"),
    ("value.next + gap.execute", "now + gap.execute"),
    ("value.count = 2;", "value.count = 1;"),
    ("value.count < LAST_COUNT", "value.count < 8"),
    ("value.next = later;", "value.next = now;"),
    (
        "earlier = now - PST_INTERVAL;",
        "earlier = now - PST_INTERVAL + 1;",
    ),
    ("waited |-| ins_target", "waited - ins_target"),
    (
        "under = pst_target |-| waited;",
        "under = pst_target |-| waited |-| 1;",
    ),
    ("(0, 0) : is_not();", "(0, 0) : is_persistent();"),
    ("(0, 0x80000000 &&& 0x80000000) : is_not();", ""),
    ("(1, 0) : start_marking();", ""),
    ("(0, 1) : decide(2, 1);", "(0, 1) : decide(2, 0);"),
    ("MathUnit<bit<32>>(true, 0,", "MathUnit<bit<32>>(true, 1,"),
    ("timestamp[31:10]", "timestamp[31:11]"),
];

#[test]
fn every_single_fault_in_the_program_is_seen() {
    for (from, to) in FAULTS {
        assert_eq!(shipped().matches(from).count(), 1, "{from}");
        let text = shipped().replace(from, to);
        let seen = run(&text, 200_000, 1, 250_000).unwrap_or_else(|e| panic!("{from}: {e}"));
        assert!(seen.differ.is_some(), "`{to}` was not seen");
    }
}

#[test]
fn a_fault_in_writing_ce_is_seen_by_its_checksum() {
    let ce = sources::text("write_ce.p4").expect("a file");
    for (from, to) in [
        ("(1, 2, _) : ipv4(1);", "(1, 2, _) : ipv4(2);"),
        ("(1, 1, _) : ipv4(2);", "(1, 1, _) : ipv4(1);"),
        ("hdr.ipv4.checksum = hdr.ipv4.checksum - less;", ""),
        ("(1, 1) : ipv6();", ""),
        ("(1, 2, _) : ipv4(1);", "(1, _, _) : ipv4(1);"),
    ] {
        assert_eq!(ce.matches(from).count(), 1, "{from}");
        let broken = ce.replace(from, to);
        let text = shipped().replace("#include \"write_ce.p4\"", &broken);
        let seen = run(&text, 200_000, 1, 250_000).unwrap_or_else(|e| panic!("{from}: {e}"));
        assert!(seen.differ.is_some(), "`{to}` was not seen");
    }
}
