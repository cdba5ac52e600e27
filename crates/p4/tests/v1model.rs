// SPDX-License-Identifier: MIT OR Apache-2.0
//! ECN# for BMv2, whose ticks are microseconds, against the Rust model of a Tofino's arithmetic,
//! whose ticks are 1,024 ns: times are given to both in ticks.

use cemark_marking::ecn_sharp_lab::{EcnSharpLab, SPEC};
use cemark_marking::{At, Marker, QueueSpec, Values, Verdict, Why};
use cemark_p4::control::gaps;
use cemark_p4::ir::{Entry, Pattern};
use cemark_p4::{Defines, Machine, sources};
use cemark_wire::{Nanos, Rate, hash::SplitMix64};

fn model() -> EcnSharpLab {
    let of = [
        ("arithmetic", 1),
        ("ins_target", 200),
        ("pst_target", 85),
        ("pst_interval", 200 * 1_024),
    ];
    let values = of
        .iter()
        .fold(Values::defaults(&SPEC), |values, (name, value)| {
            values.with(&SPEC, name, *value).expect("a parameter")
        });
    EcnSharpLab::from_config((&values).into(), &QueueSpec::fifo(Rate::gbps(10)))
}

fn machine() -> Machine {
    let program = sources::program("v1model/ecn_sharp.p4", &Defines::new());
    let program = program.unwrap_or_else(|e| panic!("{e}"));
    let named = |name: &str| program.actions.iter().position(|a| a.name.ends_with(name));
    let action = named(".set_gap").expect("an action");
    let send = named(".send").expect("an action");
    let table = |name: &str| program.tables.iter().position(|t| t.name.ends_with(name));
    let (gap_table, forward) = (
        table(".gaps").expect("a table"),
        table(".forward").expect("one"),
    );
    let mut machine = Machine::new(program);
    for gap in gaps(200) {
        machine.insert(
            gap_table,
            Entry {
                patterns: vec![Pattern::Mask(gap.bits.into(), gap.mask.into())],
                action,
                args: vec![gap.ticks.into()],
            },
        );
    }
    machine.insert(
        forward,
        Entry {
            patterns: vec![Pattern::ANY],
            action: send,
            args: vec![5],
        },
    );
    machine
}

#[test]
fn every_packet_is_judged_as_by_the_model_in_ticks() {
    let (mut machine, mut model) = (machine(), model());
    let slot = |machine: &Machine, name: &str| {
        let slot = machine.program().field(&format!("switch.{name}"));
        slot.unwrap_or_else(|| panic!("{name}"))
    };
    let time = slot(&machine, "standard.egress_global_timestamp");
    let delta = slot(&machine, "standard.deq_timedelta");
    let why = slot(&machine, "md.why");
    let mut random = SplitMix64::new(7);
    // The 32-bit time wraps on the way; the model's clock starts with it, 1,023 wraps later.
    let (mut now, mut wait) = (0u64, 100u64);
    let mut marks = [0u64; 3];
    let mut packet = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0];
    packet.extend([
        0x45, 2, 0, 20, 0, 0, 0, 0, 64, 6, 0x66, 0xe5, 10, 0, 0, 1, 10, 0, 0, 2,
    ]);
    for n in 0..200_000u64 {
        now += match random.below(4_096) {
            // Up to a millisecond before the end of the 32-bit time.
            _ if n < 1_024 => (1 << 22) - 1,
            0 => random.below(4_000_000),
            1..40 => random.below(300),
            k => k % 3,
        };
        wait = match random.below(1_024) {
            0 => random.below(300),
            1 => 85,
            2 => 84,
            3 => 200,
            4 => 201,
            _ => wait,
        };
        if wait < 85 && random.below(64) == 0 {
            wait = 120;
        }
        machine.begin(0);
        machine.set(time, now.into());
        machine.set(delta, wait.into());
        let came = machine.run(0, &packet).expect("a packet");
        let at = At::departure(Nanos(now * 1_024), Nanos(wait), 100_000, 1_500);
        let want = match model.dequeue(&at) {
            Verdict::Pass => 0,
            Verdict::Mark(Why::Instant) => 1,
            Verdict::Mark(Why::Persistent) => 2,
            other => panic!("{other:?}"),
        };
        assert_eq!(machine.get(why), want, "packet {n} at {now}, wait {wait}");
        assert_eq!(came[15] & 3, if want > 0 { 3 } else { 2 });
        marks[want as usize] += 1;
    }
    assert!(now > 1 << 32);
    assert!(marks.iter().all(|m| *m > 1_000), "{marks:?}");
}

#[test]
fn the_comment_s_number_of_entries_is_right() {
    let entries = gaps(200).len();
    let text = sources::text("v1model/ecn_sharp.p4").expect("a program");
    assert!(text.contains(&format!("{entries} of them")), "{entries}");
    assert!(entries <= 256);
}
