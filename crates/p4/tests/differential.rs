// SPDX-License-Identifier: MIT OR Apache-2.0
//! A million random packets through the ECN# program and through the Rust model, over several
//! queues, with idle gaps and wraps of both clocks; and single faults in the program, each of which
//! must be seen.

use cemark_p4::testbed::Testbed;
use cemark_p4::traffic::{Model, Traffic, set_targets};
use cemark_p4::{Defines, Rounding, control::Interval, sources};

/// Counts of a run, and its first difference.
#[derive(Debug, Default)]
struct Seen {
    differ: Option<String>,
    instant: u64,
    persistent: u64,
    /// Packets after a silence in which the 22-bit clock wrapped.
    wraps: u64,
}

/// Random packets through a program and through the model, up to the first that differs.
fn run(text: &str, interval: u64, seed: u64, packets: usize) -> Result<Seen, String> {
    let defines = match interval {
        200_000 => Defines::new(),
        _ => Interval::new(interval as u32, Rounding::Nearest).defines(),
    };
    let program = sources::of_text("ecn_sharp.p4", text, &defines).map_err(|e| e.to_string())?;
    let mut switch = Testbed::new(program);
    set_targets(&mut switch);
    let mut model = Model::new(interval);
    let mut seen = Seen::default();
    let mut traffic = Traffic::new(seed);
    for (number, packet) in traffic.by_ref().take(packets).enumerate() {
        let want = model.judge(&packet);
        match switch.pass(&packet.passage) {
            Ok(came) if came == want => {}
            came => {
                let now = packet.passage.now;
                seen.differ = Some(format!(
                    "packet {number} at {now}: {came:?}, wants {want:?}"
                ));
                return Ok(seen);
            }
        }
        seen.instant += u64::from(want.why == 1);
        seen.persistent += u64::from(want.why == 2);
    }
    seen.wraps = traffic.now() >> 32;
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
        ("(1, 2, _) : ipv4(0xffff);", "(1, 2, _) : ipv4(0xfffe);"),
        ("(1, 1, _) : ipv4(0xfffe);", "(1, 1, _) : ipv4(0xffff);"),
        ("hdr.ipv4.checksum = hdr.ipv4.checksum + more;", ""),
        ("(1, 1) : ipv6();", ""),
        ("(1, 2, _) : ipv4(0xffff);", "(1, _, _) : ipv4(0xffff);"),
    ] {
        assert_eq!(ce.matches(from).count(), 1, "{from}");
        let broken = ce.replace(from, to);
        let text = shipped().replace("#include \"write_ce.p4\"", &broken);
        let seen = run(&text, 200_000, 1, 250_000).unwrap_or_else(|e| panic!("{from}: {e}"));
        assert!(seen.differ.is_some(), "`{to}` was not seen");
    }
}
