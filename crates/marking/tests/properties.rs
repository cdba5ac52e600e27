// SPDX-License-Identifier: MIT OR Apache-2.0
//! Properties of markers under any traffic.

use cemark_marking::config::Compare;
use cemark_marking::{
    At, Fraction, Marker, QueueSpec, SchemeSpec, Values, Verdict, Why, cedm, cedm_sharp, codel,
    dynamic, ecn_sharp, ecn_sharp_lab, fixed, mq_ecn, pi, pie, red, tcn, threshold,
};
use cemark_wire::{Nanos, Rate};
use proptest::prelude::*;

fn ten_gigabits() -> QueueSpec {
    QueueSpec::fifo(Rate::gbps(10))
}

fn ecn_sharp_with(changes: &[(&str, u64)]) -> ecn_sharp::EcnSharp {
    let values = values(&ecn_sharp::SPEC, changes);
    ecn_sharp::EcnSharp::from_config((&values).into(), &ten_gigabits())
}

fn ecn_sharp_lab_with(changes: &[(&str, u64)]) -> ecn_sharp_lab::EcnSharpLab {
    let values = values(&ecn_sharp_lab::SPEC, changes);
    ecn_sharp_lab::EcnSharpLab::from_config((&values).into(), &ten_gigabits())
}

fn values(spec: &SchemeSpec, changes: &[(&str, u64)]) -> Values {
    let changed =
        |v: Values, &(name, value): &(&str, u64)| v.with(spec, name, value).expect("a parameter");
    changes.iter().fold(Values::defaults(spec), changed)
}

/// Departures in time: (now, wait, bytes left behind). Mostly standing queues, with pauses and
/// empty moments.
fn departures() -> impl Strategy<Value = Vec<(u64, u64, u32)>> {
    let gap = prop_oneof![8 => 1u64..3_000, 1 => 0u64..1_000_000];
    let wait = prop_oneof![80 => 85_000u64..130_000, 1 => 0u64..90_000, 8 => 150_000u64..300_000];
    prop::collection::vec((gap, wait, 0u32..300_000), 1..600).prop_map(|steps| {
        let mut now = 0;
        steps
            .into_iter()
            .map(|(gap, wait, left)| {
                now += gap;
                (now, wait, left)
            })
            .collect()
    })
}

/// Algorithm 1 as the paper prints it, with wide signed numbers and nothing else.
#[derive(Default)]
struct Listing {
    first_above: Option<i128>,
    marking: bool,
    count: i128,
    next: i128,
}

impl Listing {
    fn persistent(&mut self, s: i128, now: i128, target: i128, interval: i128) -> bool {
        let detected = if s < target {
            self.first_above = None;
            false
        } else if let Some(first) = self.first_above {
            now > first + interval
        } else {
            self.first_above = Some(now);
            false
        };
        match (self.marking, detected) {
            (true, false) => {
                self.marking = false;
                false
            }
            (true, true) if now > self.next => {
                self.count += 1;
                self.next += interval / self.count;
                true
            }
            (false, true) => {
                self.marking = true;
                self.count = 1;
                self.next = now + interval;
                true
            }
            _ => false,
        }
    }
}

proptest! {
    #[test]
    fn ecn_sharp_is_the_papers_listing(traffic in departures(), interval in 1_000u64..400_000) {
        let mut marker = ecn_sharp_with(&[("pst_interval", interval)]);
        let mut listing = Listing::default();
        for (now, wait, left) in traffic {
            let verdict = marker.dequeue(&At::departure(Nanos(now), Nanos(wait), left, 1500));
            let persistent = listing.persistent(wait.into(), now.into(), 85_000, interval.into());
            let want = match (wait > 200_000, persistent) {
                (true, _) => Verdict::Mark(Why::Instant),
                (false, true) => Verdict::Mark(Why::Persistent),
                (false, false) => Verdict::Pass,
            };
            prop_assert_eq!(verdict, want, "at {}", now);
        }
    }

    #[test]
    fn ecn_sharp_never_marks_below_its_persistent_target(
        traffic in departures(), law in 0u64..2, base in 0u64..2, cmp in 0u64..2, reset in 0u64..2,
            catchup in 0u64..3,
    ) {
        let mut marker = ecn_sharp_lab_with(&[
            ("law", law), ("base", base), ("cmp", cmp), ("reset_on_empty", reset), ("max_catchup",
                catchup),
            ("pst_interval", 20_000),
        ]);
        for (now, wait, left) in traffic {
            let verdict = marker.dequeue(&At::departure(Nanos(now), Nanos(wait), left, 1500));
            if wait < 85_000 {
                prop_assert_eq!(verdict, Verdict::Pass);
            }
            if wait > 200_000 {
                prop_assert_eq!(verdict, Verdict::Mark(Why::Instant));
            }
        }
    }

    /// Without a variant the laboratory is ECN#, whatever the published parameters.
    #[test]
    fn the_laboratory_without_a_variant_is_ecn_sharp(
        traffic in departures(), signal in 0u64..2, hook in 0u64..2, instant in 0u64..2,
            interval in 1u64..400_000, packet_hash: u64,
    ) {
        let changes = [("signal", signal), ("hook", hook), ("instant", instant), ("pmax", 20_000),
            ("pst_interval", interval)];
        let mut sharp = ecn_sharp_with(&changes);
        let mut lab = ecn_sharp_lab_with(&changes);
        prop_assert_eq!(sharp.hook(), lab.hook());
        for (now, wait, left) in traffic {
            let packet_hash = packet_hash.wrapping_add(now);
            let at = At { packet_hash, ..At::departure(Nanos(now), Nanos(wait), left, 1500) };
            let (published, varied) = match hook {
                0 => (sharp.enqueue(&at), lab.enqueue(&at)),
                _ => (sharp.dequeue(&at), lab.dequeue(&at)),
            };
            prop_assert_eq!(published, varied);
            prop_assert_eq!(sharp.quiet_sojourn(), lab.quiet_sojourn());
        }
    }

    #[test]
    fn ecn_sharp_without_its_persistent_part_is_tcn(traffic in departures(),
        target in 80_000u64..300_000) {
        let mut sharp = ecn_sharp_with(&[("ins_target", target), ("pst_target", 1_000_000_000)]);
        let config = tcn::TcnConfig { threshold: Nanos(target) };
        let mut tcn = tcn::Tcn::from_config(config, &ten_gigabits());
        for (now, wait, left) in traffic {
            let at = At::departure(Nanos(now), Nanos(wait), left, 1500);
            prop_assert_eq!(sharp.dequeue(&at), tcn.dequeue(&at));
        }
    }

    #[test]
    fn the_signals_agree_when_length_and_wait_do(traffic in departures()) {
        // 125 bytes are 100 ns at 10 Gb/s: waits of whole 100 ns have a length of whole 125 bytes,
        // and thresholds have too.
        let mut by_wait = ecn_sharp_with(&[]);
        let mut by_length = ecn_sharp_with(&[("signal", 1)]);
        for (now, wait, _) in traffic {
            let wait = wait / 1_200 * 1_200 + 1_200;
            let left = (wait / 100 * 125) as u32 - 1500;
            let at = At::departure(Nanos(now), Nanos(wait), left, 1500);
            prop_assert_eq!(by_wait.dequeue(&at), by_length.dequeue(&at));
        }
    }

    #[test]
    fn codel_never_marks_below_its_target_or_under_its_guard(traffic in departures(),
        guard in 1u32..200_000) {
        let config = codel::CodelConfig { interval: Nanos(20_000), min_bytes: guard,
            ..Default::default() };
        let mut marker = codel::Codel::from_config(config, &ten_gigabits());
        for (now, wait, left) in traffic {
            let verdict = marker.dequeue(&At::departure(Nanos(now), Nanos(wait), left, 1500));
            if wait < 85_000 || left <= guard {
                prop_assert_eq!(verdict, Verdict::Pass);
            }
        }
    }

    /// The rule with a division, in wide numbers: K x min(quantum time / round, 1).
    #[test]
    fn mq_ecn_is_its_formula(
        k: u32, quantum in 1u32..100_000, round in prop_oneof![0u64..100, 0u64..1_000_000,
            any::<u64>()],
        length in prop_oneof![0u32..200_000, any::<u32>()], gigabits in 1u64..800,
    ) {
        let queue = QueueSpec { quantum, ..QueueSpec::fifo(Rate::gbps(gigabits)) };
        let config = mq_ecn::MqEcnConfig { k, count_self: false, ..Default::default() };
        let mut marker = mq_ecn::MqEcn::from_config(config, &queue);
        let at = At { round: Nanos(round), ..At::arrival(Nanos(1), length, 1500) };
        let time = u128::from(queue.rate.nanos_for(u64::from(quantum)).0);
        let round = u128::from(round).min(u128::from(u32::MAX));
        let threshold = if round <= time { u128::from(k) } else { u128::from(k) * time / round };
        prop_assert_eq!(marker.enqueue(&at) != Verdict::Pass, u128::from(length) > threshold);
    }

    /// A rate, a quantum and n queues: rounds of n quantum times give K / n, within a byte.
    #[test]
    fn n_busy_queues_share_the_standard_threshold(n in 1u32..=32, k in 1_500u32..1_000_000) {
        let config = mq_ecn::MqEcnConfig { k, count_self: false, ..Default::default() };
        let mut marker = mq_ecn::MqEcn::from_config(config, &ten_gigabits());
        let round = Nanos(1_200 * u64::from(n));
        let mut marked = |length| {
            marker.enqueue(&At { round, ..At::arrival(Nanos(1), length, 1500) }) != Verdict::Pass
        };
        prop_assert!(!marked(k / n));
        prop_assert!(marked(k / n + 1));
    }

    /// CEDM withdraws tentative intents only, and never while the queue is at k2 or above.
    #[test]
    fn cedm_takes_back_tentative_marks_only(
        traffic in departures(), intents in prop::collection::vec(0u8..3, 600),
        average: bool, withdraw: bool,
    ) {
        let signal = if average { cedm::Length::Average } else { cedm::Length::Instant };
        let config = cedm::CedmConfig { signal, withdraw, ..Default::default() };
        let mut marker = cedm::Cedm::from_config(config, &ten_gigabits());
        for ((now, _, left), intent) in traffic.into_iter().zip(intents) {
            let intent = [None, Some(Why::Instant), Some(Why::Tentative)][usize::from(intent)];
            let at = At { intent, ..At::arrival(Nanos(now), left, 1500) };
            match (intent, marker.dequeue(&at)) {
                (None, verdict) => prop_assert_eq!(verdict, Verdict::Pass),
                (Some(Why::Instant), verdict) => prop_assert_eq!(verdict,
                    Verdict::Mark(Why::Instant)),
                (Some(why), Verdict::Mark(kept)) => prop_assert_eq!(why, kept),
                (Some(_), Verdict::Pass) => prop_assert!(withdraw && (average || left < 57_500)),
                (_, Verdict::Drop(_)) => prop_assert!(false, "CEDM never drops"),
            }
        }
    }

    /// A withdrawal touches CEDM's intent only: the combination answers as its parts do separately.
    #[test]
    fn a_combination_keeps_its_intents_apart(
        traffic in departures(), intents in prop::collection::vec(0u8..3, 600),
            interval in 1_000u64..400_000,
        k1 in 1_000u32..200_000,
    ) {
        let config = cedm_sharp::CedmSharpConfig {
            k1, pst_interval: Nanos(interval), ..Default::default()
        };
        let mut both = cedm_sharp::CedmSharp::from_config(config, &ten_gigabits());
        let config = cedm::CedmConfig { k1, rtt: Nanos(200_000), ..Default::default() };
        let mut cedm = cedm::Cedm::from_config(config, &ten_gigabits());
        let mut sharp = ecn_sharp_with(&[("ins_target", 1_000_000_000), ("pst_interval",
            interval)]);
        for ((now, wait, left), intent) in traffic.into_iter().zip(intents) {
            let joins = At::arrival(Nanos(now), left, 1500);
            prop_assert_eq!(both.enqueue(&joins), cedm.enqueue(&joins));
            let intent = [None, Some(Why::Instant), Some(Why::Tentative)][usize::from(intent)];
            let at = At { intent, ..At::departure(Nanos(now), Nanos(wait), left, 1500) };
            let persistent = sharp.dequeue(&At { intent: None, ..at });
            let want = match cedm.dequeue(&at) {
                Verdict::Pass => persistent,
                mark => mark,
            };
            prop_assert_eq!(both.dequeue(&at), want);
        }
    }

    #[test]
    fn a_slope_has_the_sign_of_its_change(before: u32, after: u32, nanos: u64,
        avg in -(1i64 << 40)..1 << 40, weight in 1..=fixed::ONE) {
        let newest = fixed::slope(before, after, nanos);
        prop_assert_eq!(newest < 0, after < before);
        // A steady length leaves the sign as it is.
        prop_assert_eq!(fixed::ewma_slope(avg, 0, weight) < 0, avg < 0);
        let ideal = (f64::from(after) - f64::from(before)) / nanos.clamp(1,
            u64::from(u32::MAX)) as f64;
        if ideal.abs() < 65_536.0 {
            let measured = newest as f64 / f64::from(1u32 << fixed::SLOPE_BITS);
            prop_assert!(measured <= ideal + 1e-9
                && ideal - measured < 1.01 / f64::from(1u32 << fixed::SLOPE_BITS));
        }
    }

    /// Dynamic thresholds without a moving limit are a static one.
    #[test]
    fn a_steady_limit_makes_dynamic_ecn_a_threshold(limit: u32, offset: u32, floor: u32,
        length: u32) {
        let config = dynamic::DynamicConfig { offset, floor, ..Default::default() };
        let mut moving = dynamic::Dynamic::from_config(config, &ten_gigabits());
        let k = limit.saturating_sub(offset).max(floor);
        let config = threshold::ThresholdConfig { k, ..Default::default() };
        let mut still = threshold::Threshold::from_config(config, &ten_gigabits());
        let at = At { limit_bytes: limit, ..At::arrival(Nanos(1), length, 1500) };
        // Only a length that saturates can differ: the two add the packet in 32 and in 64 bits.
        if length <= u32::MAX - 1_500 {
            prop_assert_eq!(moving.enqueue(&at), still.enqueue(&at));
        }
    }

    /// Hysteresis is the higher threshold after a packet that passes, and the lower one after a
    /// packet that is marked.
    #[test]
    fn hysteresis_is_one_of_two_thresholds(offset in 1u32..200_000, more in 0u32..200_000,
        floor in 0u32..100_000, at_least: bool,
        packets in prop::collection::vec((100_000u32..400_000, 0u32..400_000), 1..200)) {
        let with = |offset, off_offset| {
            let cmp = if at_least { Compare::AtLeast } else { Compare::Strict };
            let config = dynamic::DynamicConfig { offset, off_offset, floor, cmp,
                ..Default::default() };
            dynamic::Dynamic::from_config(config, &ten_gigabits())
        };
        let (mut high, mut low) = (with(offset, 0), with(offset + more, 0));
        let mut both = with(offset, offset + more);
        let mut marked = false;
        for (now, (limit, length)) in packets.into_iter().enumerate() {
            let at = At { limit_bytes: limit, ..At::arrival(Nanos(now as u64), length, 1500) };
            let want = if marked { low.enqueue(&at) } else { high.enqueue(&at) };
            prop_assert_eq!(both.enqueue(&at), want);
            marked = want != Verdict::Pass;
        }
    }

    /// DCTCP-RED as a packet joins a FIFO and TCN as it leaves say the same, up to the packet in
    /// transmission.
    #[test]
    fn tcn_is_dctcp_red_of_rate_times_time(
        arrivals in prop::collection::vec((0u64..1_100, 64u32..1500), 1..600),
            k_packets in 1u64..80,
    ) {
        let k = k_packets * 1_000;
        let config = threshold::ThresholdConfig {
            k: k as u32, count_self: false, ..Default::default()
        };
        let mut red = threshold::Threshold::from_config(config, &ten_gigabits());
        let config = tcn::TcnConfig { threshold: Nanos(k * 8 / 10) };
        let mut tcn = tcn::Tcn::from_config(config, &ten_gigabits());
        // Bits of time: a tenth of a nanosecond a bit at 10 Gb/s. (start, end, bytes) of every
        // packet so far.
        let mut sent: Vec<(u64, u64, u32)> = Vec::new();
        let mut now = 0;
        for (gap, bytes) in arrivals {
            now += gap * 10;
            let free = sent.last().map_or(0, |p| p.1);
            let start = free.max(now);
            let waiting: u32 = sent.iter().filter(|p| p.0 > now).map(|p| p.2).sum();
            let on_the_wire: u32 = sent.iter().filter(|p| p.0 <= now
                && now < p.1).map(|p| p.2).sum();
            let joins = red.enqueue(&At::arrival(Nanos(now / 10), waiting, bytes)) != Verdict::Pass;
            let wait = Nanos(start / 10 - now / 10);
            let leaves = tcn.dequeue(&At::departure(Nanos(start / 10), wait, 0,
                bytes)) != Verdict::Pass;
            // More than K bytes ahead take longer than K / rate; a longer wait has K bytes ahead,
            // the one on the wire included. A nanosecond is 1.25 bytes, which is what rounding can
            // hide.
            if joins && u64::from(waiting) > k + 1 {
                prop_assert!(leaves);
            }
            if leaves {
                prop_assert!(u64::from(waiting + on_the_wire) + 1 >= k);
            }
            sent.push((start, start + u64::from(bytes) * 8, bytes));
        }
    }

    #[test]
    fn red_spaces_its_marks_evenly(hashes in prop::collection::vec(any::<u64>(), 500),
        share_percent in 1u32..50) {
        // Weight 1 and a constant length at the middle of the ramp: the probability is pmax / 2,
        // and no gap is longer than its inverse.
        let pmax = 65_536 * share_percent / 50;
        let config = red::RedConfig {
            pmax: Fraction(pmax), ..to_twenty_kilobytes()
        };
        let mut marker = red::Red::from_config(config, &ten_gigabits());
        let longest = 65_536u32.div_ceil(pmax / 2);
        let mut passed = 0;
        for packet_hash in hashes {
            let at = At { packet_hash, ..At::arrival(Nanos(1), 10_000, 1500) };
            passed = if marker.enqueue(&at) == Verdict::Pass { passed + 1 } else { 0 };
            prop_assert!(passed < longest);
        }
    }
}

/// RED on the instantaneous length, with a ramp from 0 to 20 KB and 10 %.
fn to_twenty_kilobytes() -> red::RedConfig {
    red::RedConfig {
        kmin: 0,
        kmax: 20_000,
        weight: Fraction::ONE,
        ..Default::default()
    }
}

#[test]
fn red_marks_as_often_as_its_share_says() {
    // Half of the ramp to 10 %: 1 in 20 independently; evenly spaced gaps of 1 to 20 are 10.5 on
    // average.
    let (uniform, independent) = (red::Spacing::Uniform, red::Spacing::Independent);
    for (spacing, low, high) in [(independent, 4_850, 5_150), (uniform, 9_400, 9_650)] {
        let config = red::RedConfig {
            spacing,
            ..to_twenty_kilobytes()
        };
        let mut marker = red::Red::from_config(config, &ten_gigabits());
        let marks = (0..100_000u64)
            .filter(|&n| {
                let packet_hash = cemark_marking::fixed::hash(1, 7, n * 1460, 0);
                marker.enqueue(&At {
                    packet_hash,
                    ..At::arrival(Nanos(n), 10_000, 1500)
                }) != Verdict::Pass
            })
            .count();
        assert!((low..=high).contains(&marks), "{spacing:?}: {marks} marks");
    }
}

proptest! {
    /// A port may leave out the calls that the scheme declares quiet: nothing else changes.
    #[test]
    fn quiet_packets_need_not_be_asked_about(steps in departures(), ramp in any::<bool>()) {
        let shape = if ramp { [("kmin", 90_000), ("pmax", 1 << 15)] } else { [("pst_target",
            95_000), ("max_catchup", 1)] };
        let published = &shape[..if ramp { 2 } else { 1 }];
        let sharp = || Box::new(ecn_sharp_with(published)) as Box<dyn Marker>;
        let lab = || Box::new(ecn_sharp_lab_with(&shape)) as Box<dyn Marker>;
        let tcn = || Box::new(tcn::Tcn::from_config(Default::default(),
            &ten_gigabits())) as Box<dyn Marker>;
        for (mut always, mut sparing) in [(sharp(), sharp()), (lab(), lab()), (tcn(), tcn())] {
            let mut spared = 0;
            // It begins with a queue that is all but empty; each scheme is quiet there, after its
            // first packet.
            let short = (1..9).map(|now| (now, 10, 0));
            for (now, wait, _) in short.chain(steps.iter().map(|s| (s.0 + 9, s.1, s.2))) {
                let at = At::departure(Nanos(now), Nanos(wait), 0, 1500);
                let quiet = at.sojourn < sparing.quiet_sojourn();
                let answer = if quiet { Verdict::Pass } else { sparing.dequeue(&at) };
                spared += u32::from(quiet);
                prop_assert_eq!(always.dequeue(&at), answer);
            }
            prop_assert!(spared >= 7, "nothing was spared");
        }
    }
}

/// A probability controller on a link of 10 Gb/s whose load answers to marks: the mean
/// length once it has settled.
fn settled(marker: &mut impl Marker, rounds: u64) -> i64 {
    let (mut queue, mut now, mut window) = (0i64, 0u64, 60_000i64);
    let mut sum = 0;
    for n in 0..rounds {
        // One packet of 1.2 us after the other; each mark takes off what DCTCP would on
        // average.
        now += 1_200;
        while marker.next_wake().is_some_and(|due| due.0 <= now) {
            let due = marker.next_wake().expect("asked");
            marker.wake(&At::arrival(due, queue as u32, 0));
        }
        let packet_hash = fixed::hash(7, 1, n * 1_460, 0);
        let at = At {
            packet_hash,
            ..At::arrival(Nanos(now), queue as u32, 1_500)
        };
        let marked = marker.enqueue(&at) != Verdict::Pass;
        window = (window + if marked { -1_500 } else { 30 }).clamp(3_000, 2_000_000);
        queue = (window - 60_000).max(0);
        if n > rounds / 2 {
            sum += queue;
        }
    }
    sum / (rounds / 2) as i64
}

/// Both integrate the deviation, so that none is left in the long run.
#[test]
fn pi_and_pie_hold_the_queue_at_their_reference() {
    let mut pi = pi::Pi::from_config(Default::default(), &ten_gigabits());
    let mean = settled(&mut pi, 200_000);
    assert!((29_100..30_900).contains(&mean), "PI: {mean} for 30,000");
    let config = pie::PieConfig {
        mark_ecnth: Fraction::ONE,
        ..Default::default()
    };
    let mut pie = pie::Pie::from_config(config, &ten_gigabits());
    // 15 us at 10 Gb/s are 18,750 B.
    let mean = settled(&mut pie, 200_000);
    assert!((18_180..19_320).contains(&mean), "PIE: {mean} for 18,750");
}

proptest! {
    /// A port does not call a scheme where the scheme declares that it is quiet: it must pass every
    /// packet there. Lengths and rounds near the limit, from both sides.
    #[test]
    fn a_quiet_scheme_passes_every_packet(
        (ramp, tie, own) in (0u64..2, 0u64..2, 0u64..2),
        k in 0u64..200_000, kmin in 0u64..100_000, kmax in 0u64..200_000,
        quantum in 1u32..100_000, pkt in 40u32..9_000, by in -2i64..3, full in any::<bool>(),
            round in 0u64..10_000_000, packet_hash: u64,
    ) {
        let spec = &mq_ecn::SPEC;
        let changes = [("shape", ramp), ("cmp", tie), ("count_self", own), ("k", k), ("kmin", kmin),
            ("kmax", kmax), ("pmax", 65_536)];
        let values = changes.iter().fold(Values::defaults(spec), |v, &(name, value)| v.with(spec,
            name, value).expect("a parameter"));
        let mut marker = mq_ecn::MqEcn::from_config((&values).into(), &QueueSpec { quantum,
            ..ten_gigabits() });
        let quiet = marker.quiet_by_round();
        let edge = if full { u64::from(quiet.bytes) } else { quiet.byte_nanos / round.max(1) };
        let length = edge.saturating_add_signed(by).min(10_000_000) as u32;
        prop_assume!(length >= pkt);
        let at = At { round: Nanos(round), packet_hash, ..At::arrival(Nanos(1), length - pkt,
            pkt) };
        if quiet.covers(length, Nanos(round)) {
            prop_assert_eq!(marker.enqueue(&at), Verdict::Pass);
        } else if ramp == 0 && own == 1 {
            // And no smaller than it has to be.
            prop_assert_ne!(marker.enqueue(&at), Verdict::Pass);
        }
    }
}
