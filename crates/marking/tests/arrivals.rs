// SPDX-License-Identifier: MIT OR Apache-2.0
//! Properties under any traffic of the schemes that judge the length which an arriving packet
//! finds: WRED, and ECN# without timestamps.

use cemark_marking::{
    At, Marker, QueueId, QueueSpec, SchemeSpec, Values, Verdict, Why, catalogue, ecn_sharp_lab,
    fixed, red, wred,
};
use cemark_wire::{Nanos, Rate};
use proptest::prelude::*;

fn ten_gigabits() -> QueueSpec {
    QueueSpec::fifo(Rate::gbps(10))
}

fn values(spec: &SchemeSpec, changes: &[(&str, u64)]) -> Values {
    let changed =
        |v: Values, &(name, value): &(&str, u64)| v.with(spec, name, value).expect("a parameter");
    changes.iter().fold(Values::defaults(spec), changed)
}

fn wred_with(changes: &[(&str, u64)]) -> wred::Wred {
    wred::Wred::from_config((&values(&wred::SPEC, changes)).into(), &ten_gigabits())
}

/// ECN# by the length that a packet finds as it joins, with variants of the laboratory.
fn joining_with(changes: &[(&str, u64)]) -> catalogue::Builtin {
    lab_with(&[changes, &[("signal", 1), ("hook", 0)]].concat())
}

fn lab_with(changes: &[(&str, u64)]) -> catalogue::Builtin {
    let spec = &ecn_sharp_lab::SPEC;
    catalogue::build(spec, &values(spec, changes), &ten_gigabits())
}

/// An arriving packet, by the bytes that it finds.
fn finds(length: u32, now: u64, packet_hash: u64) -> At {
    At {
        packet_hash,
        ..At::arrival(Nanos(now), length, 1_500)
    }
}

/// A packet at a FIFO of 10 Gb/s.
struct Arrival {
    now: u64,
    /// When the queue ran empty before it, if it did.
    emptied: Option<u64>,
    waiting: u32,
    on_the_wire: u32,
    wait: u64,
}

/// Arrivals at a FIFO of 10 Gb/s, with the queue that each finds. A byte takes 0.8 ns, and times
/// are kept in tenths of a nanosecond.
fn fifo(arrivals: &[(u64, u32)]) -> Vec<Arrival> {
    let mut sent: Vec<(u64, u64, u32)> = Vec::new();
    let mut now = 0;
    let mut seen = Vec::new();
    for &(gap, bytes) in arrivals {
        now += gap * 10;
        let (start, free) = sent.last().map_or((now, now), |p| (p.0, p.1.max(now)));
        let sum = |held: &dyn Fn(&(u64, u64, u32)) -> bool| {
            sent.iter().filter(|p| held(p)).map(|p| p.2).sum()
        };
        let waiting: u32 = sum(&|p| p.0 > now);
        seen.push(Arrival {
            now: now / 10,
            emptied: (waiting == 0 && !sent.is_empty()).then_some(start / 10),
            waiting,
            on_the_wire: sum(&|p| p.0 <= now && now < p.1),
            wait: free / 10 - now / 10,
        });
        sent.push((free, free + u64::from(bytes) * 8, bytes));
    }
    seen
}

/// Bursts and pauses: the queue builds up to some 100 KB and runs empty now and then.
fn bursts() -> impl Strategy<Value = Vec<(u64, u32)>> {
    let gap = prop_oneof![20 => 0u64..1_100, 20 => 900u64..1_500, 1 => 0u64..200_000];
    prop::collection::vec((gap, 64u32..1_500), 1..600)
}

proptest! {
    /// On the instantaneous length it is RED of weight 1 that judges each packet on its own, but
    /// for the tie at max.
    #[test]
    fn wred_of_weight_0_is_red_of_weight_1(
        min in 0u32..200_000, above in 1u32..200_000, share in 0u64..=65_536,
        packets in prop::collection::vec((0u32..500_000, any::<u64>()), 1..200),
    ) {
        let max = min + above;
        let (low, high) = (u64::from(min), u64::from(max));
        let mut wred = wred_with(&[("min", low), ("max", high), ("drop_probability", share)]);
        let floyd = [("kmin", low), ("kmax", high), ("pmax", share), ("weight", 65_536), ("spacing",
            1)];
        let mut red = red::Red::from_config((&values(&red::SPEC, &floyd)).into(), &ten_gigabits());
        for (n, (length, packet_hash)) in packets.into_iter().enumerate() {
            let at = finds(length, n as u64, packet_hash);
            let (ours, floyds) = (wred.enqueue(&at), red.enqueue(&at));
            if length == max {
                let drawn = fixed::chance(packet_hash, 0, share as u32);
                prop_assert_eq!(ours,
                    if drawn { Verdict::Mark(Why::Random) } else { Verdict::Pass });
            } else if length > max {
                prop_assert_eq!((ours, floyds), (Verdict::Mark(Why::Instant),
                    Verdict::Mark(Why::Average)));
            } else {
                prop_assert_eq!(ours, floyds);
            }
        }
    }

    /// The average of a step, against the formula of the manuals in floating point: late by less
    /// than 2^n 4096ths of a byte.
    #[test]
    fn wred_averages_as_the_manuals_say(
        weight in 1u64..16, step in 0u32..300_000, lengths in prop::collection::vec(0u32..400_000,
            1..600),
    ) {
        let mut marker = wred_with(&[("min", u64::from(step)), ("max", u64::from(step)), ("weight",
            weight)]);
        let part = 0.5f64.powi(weight as i32);
        let mut average = 0.0;
        for (n, length) in lengths.into_iter().enumerate() {
            average = average * (1.0 - part) + f64::from(length) * part;
            let verdict = marker.enqueue(&finds(length, n as u64, 0));
            let whole = f64::from(step) + 1.0;
            if average < whole - 1e-6 {
                prop_assert_eq!(verdict, Verdict::Pass);
            } else if average >= whole + 1.0 / (part * 4_096.0) {
                prop_assert_eq!(verdict, Verdict::Mark(Why::Average));
            }
        }
    }

    /// A port does not ask below the length that WRED calls quiet: it would have said nothing, and
    /// learnt nothing.
    #[test]
    fn a_quiet_length_is_quiet(
        min in 0u32..200_000, max in 0u32..200_000, weight in 0u64..3, below in 1u32..200_000,
            packet_hash: u64, mtu in 64u32..9_000,
    ) {
        let marker = wred_with(&[("min", u64::from(min)), ("max", u64::from(max)), ("weight",
            weight)]);
        let quiet = marker.quiet_below(mtu);
        prop_assert_eq!(quiet == 0, weight > 0);
        if let Some(length) = quiet.checked_sub(below) {
            let mut asked = marker;
            prop_assert_eq!(asked.enqueue(&finds(length, 1, packet_hash)), Verdict::Pass);
            prop_assert_eq!(format!("{asked:?}"), format!("{marker:?}"));
        }
        // And no shorter than it has to be: there the step is.
        if weight == 0 && min >= max {
            prop_assert_eq!({ marker }.enqueue(&finds(quiet, 1, packet_hash)),
                Verdict::Mark(Why::Instant));
        }
    }

    /// A port does not ask below the length that RED calls quiet, where RED compares the length
    /// itself: RED would have said nothing, and learnt nothing.
    #[test]
    fn a_length_that_red_calls_quiet_is_quiet(
        kmin in 0u32..200_000, more in 0u32..200_000, weight in prop_oneof![Just(1u64 << 16),
            1u64..1 << 16], spacing in 0u64..2, own: bool, below in 1u32..200_000, packet_hash: u64,
            idle: bool,
    ) {
        let changes = [("kmin", u64::from(kmin)), ("kmax", u64::from(kmin + more)), ("weight",
            weight), ("spacing", spacing), ("count_self", u64::from(own))];
        let marker = red::Red::from_config((&values(&red::SPEC, &changes)).into(),
            &ten_gigabits());
        let quiet = marker.quiet_below(1_500);
        let first = kmin.saturating_sub(if own { 1_500 } else { 0 });
        prop_assert_eq!(quiet, if weight == 1 << 16 && spacing == 1 { first } else { 0 });
        prop_assert_eq!(marker.watches_empty(), weight < 1 << 16);
        if let Some(length) = quiet.checked_sub(below) {
            let mut asked = marker;
            if idle {
                asked.emptied(QueueId(0), Nanos(0));
            }
            prop_assert_eq!(asked.enqueue(&finds(length, 1, packet_hash)), Verdict::Pass);
            prop_assert_eq!(format!("{asked:?}"), format!("{marker:?}"));
        }
    }

    /// A length as a packet joins, the same with the packet as it leaves, and the wait for it: one
    /// law.
    #[test]
    fn ecn_sharp_has_one_law_at_either_hook(
        steps in prop::collection::vec((0u64..3_000, 0u32..320_000), 1..600), law in 0u64..2,
            base in 0u64..2, cmp in 0u64..2,
        catchup in 0u64..3, ramp in 0u64..2, packet_hash: u64,
    ) {
        let changes = [
            ("law", law), ("base", base), ("cmp", cmp), ("max_catchup", catchup), ("instant", ramp),
                ("pmax", 20_000),
            ("pst_interval", 20_000),
        ];
        let mut joins = joining_with(&changes);
        let mut leaves = lab_with(&[&changes[..], &[("signal", 1)]].concat());
        let mut waits = lab_with(&changes);
        let mut now = 0;
        for (gap, length) in steps {
            now += gap;
            // 125 bytes are 100 ns at 10 Gb/s: both are whole, and thresholds are too.
            let length = length / 125 * 125;
            let at = finds(length, now, packet_hash.wrapping_add(now));
            let verdict = joins.enqueue(&at);
            if let Some(left) = length.checked_sub(1_500) {
                prop_assert_eq!(leaves.dequeue(&At { queue_bytes: left, ..at }), verdict);
            } else {
                // What is shorter than the packet is below either target, and both forget.
                prop_assert_eq!(verdict, Verdict::Pass);
                leaves.dequeue(&At { queue_bytes: 0, ..at });
            }
            let sojourn = Nanos(u64::from(length) * 8 / 10);
            prop_assert_eq!(waits.dequeue(&At { sojourn, ..at }), verdict);
        }
    }

    /// On a FIFO the length that a packet finds is its wait, up to the packet in transmission.
    #[test]
    fn a_packet_waits_for_what_it_finds(arrivals in bursts(), target in 1u64..80_000) {
        let mut marker = joining_with(&[("ins_target", target), ("pst_target", 1_000_000_000)]);
        for packet in fifo(&arrivals) {
            let marked = marker.enqueue(&finds(packet.waiting, packet.now, 0)) != Verdict::Pass;
            // Times are rounded to the nanosecond, which is 1.25 bytes.
            if marked {
                prop_assert!(packet.wait + 1 >= target);
            } else {
                prop_assert!(packet.wait <= target + u64::from(packet.on_the_wire) * 8 / 10 + 2);
            }
        }
    }

    /// Between two arrivals a queue only shrinks: whoever comes after it ran empty finds it empty,
    /// and nothing has to be said of it.
    #[test]
    fn an_arrival_sees_that_the_queue_was_empty(arrivals in bursts(), target in 1u64..40_000) {
        let changes = [("pst_target", target), ("pst_interval", 20_000)];
        let mut plain = joining_with(&changes);
        let mut resets = joining_with(&[&changes[..], &[("reset_on_empty", 1)]].concat());
        for packet in fifo(&arrivals) {
            if let Some(when) = packet.emptied {
                resets.emptied(QueueId(0), Nanos(when));
            }
            let at = finds(packet.waiting, packet.now, 0);
            prop_assert_eq!(plain.enqueue(&at), resets.enqueue(&at));
        }
    }
}

/// Each packet is drawn on its own: half of the ramp to 10 % marks 1 in 20, and gaps are as long as
/// dice make them.
#[test]
fn wred_marks_as_often_as_its_probability_says() {
    let mut marker = wred_with(&[("min", 0), ("max", 20_000), ("drop_probability", 6_554)]);
    let marks: Vec<u64> = (0..100_000u64)
        .filter(|&n| {
            let packet_hash = fixed::hash(1, 7, n * 1_460, 0);
            marker.enqueue(&finds(10_000, n, packet_hash)) == Verdict::Mark(Why::Random)
        })
        .collect();
    assert!((4_850..=5_150).contains(&marks.len()), "{}", marks.len());
    // Floyd's even spread has no gap above 20; of geometric ones more than a third is longer.
    let long = marks
        .windows(2)
        .filter(|pair| pair[1] - pair[0] > 20)
        .count();
    let share = long as f64 / marks.len() as f64;
    assert!((0.33..0.39).contains(&share), "{share}");
}
