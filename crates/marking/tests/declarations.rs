// SPDX-License-Identifier: MIT OR Apache-2.0
//! Declarations of markers to their ports, which leave out calls because of them.

use cemark_marking::{
    At, Hook, Marker, QueueId, QueueSpec, Quiet, Values, Verdict, Why, catalogue,
};
use cemark_wire::{Nanos, Rate};

/// A marker that implements nothing but its hook.
struct Plain;

impl Marker for Plain {
    fn hook(&self) -> Hook {
        Hook::Both
    }
}

#[test]
fn the_defaults_of_the_trait_are_safe_in_any_port() {
    let mut plain = Plain;
    assert!(!plain.reads_length_at_dequeue() && !plain.watches_empty());
    assert!(plain.draws(), "it may read the packet hash");
    assert_eq!(plain.quiet_below(1500), 0, "it may mark at any length");
    assert_eq!(plain.quiet_by_round(), Quiet::NEVER);
    assert!(!Quiet::NEVER.covers(1, Nanos(0)));
    assert_eq!(plain.next_wake(), None);
    let at = At::departure(Nanos(1), Nanos(1), 9_000, 1500);
    assert_eq!(plain.enqueue(&at), Verdict::Pass);
    assert_eq!(plain.dequeue(&at), Verdict::Pass);
    let intent = Some(Why::Instant);
    assert_eq!(
        plain.dequeue(&At { intent, ..at }),
        Verdict::Mark(Why::Instant),
        "an intent is kept"
    );
    plain.emptied(QueueId(0), Nanos(2));
    plain.wake(&at);
    let spec = catalogue::find("tcn").expect("a scheme");
    plain.retune(&Values::defaults(spec), &QueueSpec::fifo(Rate::gbps(10)));
    assert_eq!(plain.enqueue(&at), Verdict::Pass);
}

#[test]
fn the_calls_that_schemes_ask_for() {
    // (scheme, changed parameter, watches_empty, draws, quiet_below with packets of 1500 bytes)
    for (name, change, watches, draws, quiet) in [
        ("threshold", ("k", 97_500), false, false, 96_000),
        ("threshold", ("k", 1_499), false, false, 0),
        ("threshold", ("scope", 1), false, false, 0),
        ("threshold", ("scope", 2), false, false, 0),
        ("red", ("count_self", 0), true, true, 0),
        ("red", ("weight", 65_536), false, true, 0), // a count of packets
        ("tcn", ("threshold", 1), false, false, 0),
        ("codel", ("min_bytes", 0), true, false, 0),
        ("ecn_sharp", ("instant", 0), false, false, 0),
        ("ecn_sharp", ("instant", 1), false, true, 0),
        ("ecn_sharp_lab", ("reset_on_empty", 0), false, false, 0),
        ("ecn_sharp_lab", ("reset_on_empty", 1), true, false, 0),
        ("ecn_sharp_lab", ("instant", 1), false, true, 0),
        ("mq_ecn", ("shape", 0), false, false, 0),
        ("mq_ecn", ("shape", 1), false, true, 0),
        ("cedm", ("cmp", 0), false, false, 0),
        ("cedm_sharp", ("k1", 30_000), false, false, 0),
        ("dynamic", ("mode", 0), false, false, 0),
        ("dynamic", ("mode", 1), false, true, 0),
        ("dynamic", ("off_offset", 200_000), false, false, 0),
        ("red", ("hook", 1), true, true, 0),
        ("wred", ("hook", 1), false, true, 150_001),
        ("wred", ("weight", 0), false, true, 150_001),
        ("wred", ("weight", 1), false, true, 0),
        ("wred", ("max", 150_001), false, true, 150_001),
        ("wred", ("max", 150_000), false, false, 150_001),
        ("wred", ("max", 30_000), false, false, 30_001),
        (
            "wred",
            ("min", u64::from(u32::MAX)),
            false,
            false,
            1_500_001,
        ),
        ("ecn_sharp", ("hook", 0), false, false, 0),
    ] {
        let spec = catalogue::find(name).expect("a scheme");
        let values = Values::defaults(spec)
            .with(spec, change.0, change.1)
            .expect("a parameter");
        let marker = catalogue::build(spec, &values, &QueueSpec::fifo(Rate::gbps(10)));
        assert_eq!(
            marker.watches_empty(),
            watches,
            "{name} {change:?}: watches_empty"
        );
        assert_eq!(marker.draws(), draws, "{name} {change:?}: draws");
        assert_eq!(
            marker.quiet_below(1500),
            quiet,
            "{name} {change:?}: quiet_below"
        );
    }
}

#[test]
fn where_mq_ecn_is_quiet() {
    // 65 packets, a quantum of 1500 bytes: 1.2 us at 10 Gb/s.
    let spec = catalogue::find("mq_ecn").expect("a scheme");
    let usual = Values::defaults(spec);
    let quiet = |change: (&str, u64)| {
        let values = usual.with(spec, change.0, change.1).expect("a parameter");
        let marker = catalogue::build(spec, &values, &QueueSpec::fifo(Rate::gbps(10)));
        let quiet = marker.quiet_by_round();
        (quiet.bytes, quiet.byte_nanos)
    };
    assert_eq!(quiet(("cmp", 0)), (97_500, 97_500 * 1_200));
    assert_eq!(quiet(("cmp", 1)), (97_499, 97_500 * 1_200 - 1));
    assert_eq!(quiet(("shape", 1)), (5_000, 5_000 * 1_200));
    // Its own timer starts with the first packet.
    assert_eq!(quiet(("period", 1_200)), (0, 0));
}

/// Below both targets a packet changes nothing, if only the sojourn time counts.
#[test]
fn where_ecn_sharp_is_quiet() {
    let published: &[(&[(&str, u64)], u64)] = &[
        (&[("pst_target", 85_000), ("ins_target", 220_000)], 85_000),
        (&[("pst_target", 85_000), ("ins_target", 9_000)], 9_000),
        (
            &[("pst_target", 85_000), ("instant", 1), ("kmin", 7_000)],
            7_000,
        ),
        (&[("pst_target", 85_000), ("signal", 1)], 0),
        (&[("pst_target", 85_000), ("hook", 0)], 0),
    ];
    let variants: &[(&[(&str, u64)], u64)] = &[
        (&[("pst_target", 85_000), ("law", 1)], 85_000),
        (&[("pst_target", 85_000), ("by_round", 1)], 0),
        (&[("pst_target", 85_000), ("arithmetic", 1)], 0),
    ];
    let sharp = catalogue::find("ecn_sharp").expect("a scheme");
    let lab = catalogue::find("ecn_sharp_lab").expect("a scheme");
    let published = published.iter().flat_map(|row| [(sharp, row), (lab, row)]);
    for (spec, (changes, quiet)) in published.chain(variants.iter().map(|row| (lab, row))) {
        let usual = Values::defaults(spec);
        let values = changes.iter().fold(usual, |v, (name, n)| {
            v.with(spec, name, *n).expect("a parameter")
        });
        let mut marker = catalogue::build(spec, &values, &QueueSpec::fifo(Rate::gbps(10)));
        assert_eq!(marker.quiet_sojourn(), Nanos(*quiet), "{changes:?}");
        // A packet above the target starts an interval, and the next one below it ends it.
        for (wait, quiet) in [(90_000, 0), (84_000, *quiet)] {
            marker.dequeue(&At::departure(Nanos(1_000_000), Nanos(wait), 90_000, 1_500));
            let now = marker.quiet_sojourn();
            assert_eq!(now, Nanos(quiet), "{changes:?} after {wait}");
        }
    }
}

/// An empty queue does not exceed its threshold, whatever the round, unless the packet itself
/// counts, a tie is marked, or a timer has to be started.
#[test]
fn mq_ecn_lets_an_empty_queue_pass() {
    let spec = catalogue::find("mq_ecn").expect("a scheme");
    for (count_self, cmp, period, below) in
        [(0, 0, 0, 1), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1_200, 0)]
    {
        let values = Values::defaults(spec)
            .with(spec, "count_self", count_self)
            .expect("a parameter")
            .with(spec, "cmp", cmp)
            .expect("a parameter")
            .with(spec, "period", period)
            .expect("a parameter");
        let marker = catalogue::build(spec, &values, &QueueSpec::fifo(Rate::gbps(10)));
        assert_eq!(
            marker.quiet_below(1500),
            below,
            "{count_self} {cmp} {period}"
        );
    }
}

#[test]
fn which_schemes_use_a_timer() {
    for (name, change, clock) in [
        ("mq_ecn", ("period", 0), false),
        ("mq_ecn", ("period", 1_200), true),
        ("pie", ("max_burst", 0), true),
        ("pi", ("qref", 75_000), true),
        ("red", ("count_self", 0), false),
        ("codel", ("min_bytes", 0), false),
        ("ecn_sharp", ("instant", 1), false),
        ("ecn_sharp_lab", ("reset_on_empty", 1), false),
    ] {
        let spec = catalogue::find(name).expect("a scheme");
        let values = Values::defaults(spec)
            .with(spec, change.0, change.1)
            .expect("a parameter");
        let marker = catalogue::build(spec, &values, &QueueSpec::fifo(Rate::gbps(10)));
        assert_eq!(marker.keeps_time(), clock, "{name} {change:?}");
    }
}

/// A quantum that takes less than a nanosecond has a threshold of zero as soon as there is a round,
/// and the standard threshold before.
#[test]
fn a_round_of_zero_says_nothing_yet() {
    let spec = catalogue::find("mq_ecn").expect("a scheme");
    let queue = QueueSpec {
        quantum: 1,
        ..QueueSpec::fifo(Rate::gbps(100))
    };
    let values = Values::defaults(spec)
        .with(spec, "cmp", 1)
        .expect("a parameter");
    let mut marker = catalogue::build(spec, &values, &queue);
    let at = At::arrival(Nanos(1), 9_000, 1500);
    assert_eq!(marker.enqueue(&at), Verdict::Pass);
    let round = Nanos(1);
    assert_eq!(
        marker.enqueue(&At { round, ..at }),
        Verdict::Mark(Why::Instant)
    );
}

#[test]
fn a_name_that_no_parameter_has_is_answered_with_none() {
    let spec = catalogue::find("tcn").expect("a scheme");
    let usual = Values::defaults(spec);
    assert_eq!(spec.index_of("threshold"), Some(0));
    assert_eq!(spec.index_of("treshold"), None);
    let changed = usual.with(spec, "threshold", 7).expect("a parameter");
    assert_eq!(changed.get(0), 7);
    assert_eq!(usual.with(spec, "treshold", 7), None);
}
