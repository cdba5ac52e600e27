// SPDX-License-Identifier: MIT OR Apache-2.0
//! The typed configurations, against the catalogue that is made of the same declarations.

use cemark_marking::cedm::{Cedm, CedmConfig};
use cemark_marking::cedm_sharp::{CedmSharp, CedmSharpConfig};
use cemark_marking::codel::{Codel, CodelConfig};
use cemark_marking::config::{Compare, OneHook, SECOND, Shape};
use cemark_marking::dynamic::{Dynamic, DynamicConfig};
use cemark_marking::ecn_sharp::{EcnSharp, EcnSharpConfig, Signal};
use cemark_marking::ecn_sharp_lab::{
    Arithmetic, Base, EcnSharpLab, EcnSharpLabConfig, Law, Variant,
};
use cemark_marking::mq_ecn::{MqEcn, MqEcnConfig};
use cemark_marking::pi::{Pi, PiConfig};
use cemark_marking::pie::{DelayFrom, Pie, PieConfig, Tuning};
use cemark_marking::red::{Red, RedConfig, Spacing};
use cemark_marking::tcn::{Tcn, TcnConfig};
use cemark_marking::threshold::{Scope, ShareOfK, Threshold, ThresholdConfig};
use cemark_marking::wred::{Wred, WredConfig};
use cemark_marking::{
    At, Fraction, Hook, MAX_PARAMS, Marker, QueueId, QueueSpec, Values, Verdict, Why, catalogue,
};
use cemark_wire::{Ecn, Nanos, Rate};

fn ten_gigabits() -> QueueSpec {
    QueueSpec::fifo(Rate::gbps(10))
}

/// For each scheme: its stem, its default configuration, and what becomes of values far outside
/// every range. A marker built from these must not panic.
macro_rules! each {
    ($($stem:literal $Scheme:ident $Config:ident),+ $(,)?) => {
        [$(
            (
                $stem,
                Values::from($Config::default()),
                [0, u64::MAX].map(|n| {
                    let mut marker = $Scheme::from_config((&Values([n; MAX_PARAMS])).into(),
                        &ten_gigabits());
                    use_it(&mut marker);
                    Values::from($Config::from(&Values([n; MAX_PARAMS])))
                }),
            )
        ),+]
    };
}

fn use_it(marker: &mut impl Marker) {
    for now in [0, 1, 1_000_000, u64::MAX] {
        let at = At::departure(Nanos(now), Nanos(now), u32::MAX, 1_500);
        marker.enqueue(&at);
        marker.dequeue(&at);
        marker.emptied(QueueId(0), Nanos(now));
        if marker.next_wake().is_some() {
            marker.wake(&at);
        }
    }
}

#[test]
fn configurations_have_the_catalogue_s_defaults_and_ranges() {
    let all = each![
        "threshold" Threshold ThresholdConfig,
        "red" Red RedConfig,
        "wred" Wred WredConfig,
        "tcn" Tcn TcnConfig,
        "codel" Codel CodelConfig,
        "ecn_sharp" EcnSharp EcnSharpConfig,
        "ecn_sharp_lab" EcnSharpLab EcnSharpLabConfig,
        "mq_ecn" MqEcn MqEcnConfig,
        "cedm" Cedm CedmConfig,
        "cedm_sharp" CedmSharp CedmSharpConfig,
        "dynamic" Dynamic DynamicConfig,
        "pie" Pie PieConfig,
        "pi" Pi PiConfig,
    ];
    for (stem, defaults, [least, most]) in all {
        let spec = catalogue::find(stem).expect("a scheme");
        assert_eq!(defaults, Values::defaults(spec), "{}", spec.name);
        for (i, p) in spec.params.iter().enumerate() {
            assert_eq!(least.get(i), p.min, "{}.{}", spec.name, p.name);
            assert_eq!(most.get(i), p.max, "{}.{}", spec.name, p.name);
        }
    }
}

/// The words of a scenario file mean the variants that they name.
#[test]
fn words_and_variants_agree() {
    let stored = |scheme: &str, changes: &[(&str, u64)]| {
        let spec = catalogue::find(scheme).expect("a scheme");
        changes.iter().fold(Values::defaults(spec), |v, (name, n)| {
            v.with(spec, name, *n).expect("a parameter")
        })
    };
    let published = EcnSharpConfig {
        signal: Signal::Length,
        instant: Shape::Ramp,
        hook: OneHook::Enqueue,
        ..Default::default()
    };
    let changes = [("signal", 1), ("instant", 1), ("hook", 0)];
    assert_eq!(Values::from(published), stored("ecn_sharp", &changes));
    let variant = Variant {
        law: Law::Sqrt,
        base: Base::Now,
        cmp: Compare::AtLeast,
        reset_on_empty: true,
        arithmetic: Arithmetic::PrintedDivision,
        ..Default::default()
    };
    let lab = EcnSharpLabConfig { published, variant };
    let variants = [
        ("law", 1),
        ("base", 1),
        ("cmp", 1),
        ("reset_on_empty", 1),
        ("arithmetic", 3),
    ];
    let changes = [&changes[..], &variants].concat();
    assert_eq!(Values::from(lab), stored("ecn_sharp_lab", &changes));
    assert_eq!(EcnSharpLabConfig::from(&Values::from(lab)), lab);
    assert_eq!(Law::WORDS, ["harmonic", "sqrt"]);
    assert_eq!(Compare::WORDS, ["strict", "at_least"]);
    let step = ThresholdConfig {
        scope: Scope::Pool,
        level: ShareOfK::Minimum,
        ..Default::default()
    };
    let changes = [("scope", 2), ("level", 1)];
    assert_eq!(Values::from(step), stored("threshold", &changes));
    let red = RedConfig {
        spacing: Spacing::Independent,
        ..Default::default()
    };
    assert_eq!(Values::from(red), stored("red", &[("spacing", 1)]));
    let pie = PieConfig {
        tuning: Tuning::Paper,
        delay: DelayFrom::Sojourn,
        ..Default::default()
    };
    let changes = [("tuning", 1), ("delay", 1)];
    assert_eq!(Values::from(pie), stored("pie", &changes));
}

#[test]
fn a_value_outside_its_range_is_named_and_counts_as_the_nearest_inside() {
    let config = CodelConfig {
        interval: Nanos(0),
        ..Default::default()
    };
    let error = config.check().expect_err("an interval of zero");
    assert_eq!(
        error.to_string(),
        "`interval` is 0 ns, out of its range of 1 to 1000000000 ns"
    );
    assert_eq!(config.clamped().interval, Nanos(1));
    assert_eq!(config.clamped().check().map_err(|e| e.param.name), Ok(()));
    let config = RedConfig {
        pmax: Fraction(65_537),
        ..Default::default()
    };
    let error = config.check().expect_err("more than 1");
    assert_eq!(
        error.to_string(),
        "`pmax` is 65537 parts of 65536, out of its range of 0 to 65536 parts of 65536"
    );
    // A marker gets the clamped configuration.
    let long = TcnConfig {
        threshold: Nanos(2 * SECOND),
    };
    let mut marker = Tcn::from_config(long, &ten_gigabits());
    let at = |wait| At::departure(Nanos(4 * SECOND), Nanos(wait), 0, 1_500);
    assert_eq!(marker.dequeue(&at(SECOND)), Verdict::Pass);
    assert_eq!(marker.dequeue(&at(SECOND + 1)), Verdict::Mark(Why::Instant));
}

#[test]
fn a_ratio_is_the_nearest_part_of_2_to_the_16() {
    for (part, whole, parts) in [
        (0, 7, 0),
        (1, 100, 655),
        (1, 8, 8_192),
        (1, 3, 21_845),
        (2, 3, 43_691),
        (7, 7, 65_536),
        (9, 7, 65_536),
        (0, 0, 65_536),
        (u32::MAX - 1, u32::MAX, 65_536),
    ] {
        let ratio = Fraction::ratio(part, whole);
        assert_eq!(ratio, Fraction(parts), "{part} of {whole}");
    }
}

#[test]
fn the_two_views_of_an_embedder() {
    let at = At::departure(Nanos(9), Nanos(4), 3_000, 64);
    assert_eq!((at.now, at.sojourn), (Nanos(9), Nanos(4)));
    assert_eq!((at.queue_bytes, at.pkt_bytes), (3_000, 64));
    // The queue is the whole port and pool; nothing is made up about what the owner did not say.
    assert_eq!((at.port_bytes, at.pool_bytes), (3_000, 3_000));
    assert_eq!((at.queue_pkts, at.packet_hash), (0, 0));
    assert_eq!((at.limit_bytes, at.round), (u32::MAX, Nanos::ZERO));
    assert_eq!((at.ecn, at.intent, at.segs), (Ecn::Ect0, None, 1));
    let at = At::arrival(Nanos(9), 3_000, 64);
    assert_eq!((at.now, at.sojourn), (Nanos(9), Nanos::ZERO));
    assert_eq!((at.queue_bytes, at.pkt_bytes), (3_000, 64));
}

/// The hook of a configuration decides where the marker judges.
#[test]
fn a_configured_hook_is_the_marker_s() {
    for (hook, want) in [
        (OneHook::Enqueue, Hook::Enqueue),
        (OneHook::Dequeue, Hook::Dequeue),
    ] {
        let config = MqEcnConfig {
            hook,
            ..Default::default()
        };
        assert_eq!(MqEcn::from_config(config, &ten_gigabits()).hook(), want);
    }
}

/// Properties of a scheme for checks of a scenario: the parameter and level at which it marks
/// first, and whether it reads the round time.
#[test]
fn entries_know_what_they_read_and_mark_first() {
    let first = |scheme: &str, changes: &[(&str, u64)]| {
        let spec = catalogue::find(scheme).expect("a scheme");
        let values = changes.iter().fold(Values::defaults(spec), |v, (name, n)| {
            v.with(spec, name, *n).expect("a parameter")
        });
        let first = (spec.first_mark)(&values).map(|f| (f.param.name, f.level));
        (first, (spec.reads_round)(&values))
    };
    use cemark_marking::Level::{Length, Wait};
    for (scheme, changes, want, rounds) in [
        ("threshold", &[("k", 7)][..], Some(("k", Length(7))), false),
        ("red", &[("kmin", 7)], Some(("kmin", Length(7))), false),
        ("wred", &[("min", 7)], Some(("min", Length(7))), false),
        ("cedm", &[("k1", 7)], Some(("k1", Length(7))), false),
        ("cedm_sharp", &[], None, false),
        ("pie", &[], None, false),
        ("pi", &[], None, false),
        ("mq_ecn", &[("k", 7)], Some(("k", Length(7))), true),
        (
            "mq_ecn",
            &[("shape", 1), ("kmin", 7)],
            Some(("kmin", Length(7))),
            true,
        ),
        (
            "dynamic",
            &[("floor", 7)],
            Some(("floor", Length(7))),
            false,
        ),
        ("dynamic", &[("k", 6)], Some(("k", Length(6))), false),
        (
            "dynamic",
            &[("off_offset", 200_000), ("floor", 7)],
            Some(("floor", Length(7))),
            false,
        ),
        ("dynamic", &[("mode", 1)], None, false),
        (
            "tcn",
            &[("threshold", 7)],
            Some(("threshold", Wait(Nanos(7)))),
            false,
        ),
        (
            "codel",
            &[("target", 7)],
            Some(("target", Wait(Nanos(7)))),
            false,
        ),
        (
            "ecn_sharp_lab",
            &[("by_round", 1)],
            Some(("pst_target", Wait(Nanos(85_000)))),
            true,
        ),
        (
            "ecn_sharp",
            &[("ins_target", 84_999)],
            Some(("ins_target", Wait(Nanos(84_999)))),
            false,
        ),
        (
            "ecn_sharp",
            &[("ins_target", 85_000)],
            Some(("pst_target", Wait(Nanos(85_000)))),
            false,
        ),
    ] {
        assert_eq!(
            first(scheme, changes),
            (want, rounds),
            "{scheme} {changes:?}"
        );
    }
    for spec in catalogue::ALL {
        let usual = Values::defaults(spec);
        if let Some(first) = (spec.first_mark)(&usual) {
            assert!(spec.index_of(first.param.name).is_some(), "{}", spec.name);
        }
        for pair in spec.ordered {
            let (low, high) = (usual.get(pair.low), usual.get(pair.high));
            let follows = pair.zero_follows && high == 0;
            assert!(low <= high || follows, "{}: {}", spec.name, pair.example);
            assert_ne!(pair.low, pair.high);
        }
    }
}

#[test]
fn lengths_of_queues_follow_the_rate_and_nothing_else_does() {
    let (ten, forty) = (Rate::gbps(10), Rate::gbps(40));
    let cedm = catalogue::find("cedm").unwrap();
    let usual = Values::defaults(cedm);
    let value = |values: &Values, name: &str| values.get(cedm.index_of(name).unwrap());
    let scaled = usual.at_rate(cedm.params, ten, forty);
    assert_eq!(value(&scaled, "k1"), 4 * 21_000);
    assert_eq!(
        value(&scaled, "k2"),
        0,
        "the rule for k2 knows the rate itself"
    );
    for same in ["rtt", "weight", "min_pkt", "avg_weight", "flat"] {
        assert_eq!(value(&scaled, same), value(&usual, same), "{same}");
    }
    assert_eq!(scaled.at_rate(cedm.params, forty, ten), usual);
    // Half of an odd length is rounded down; what no field holds is the largest that one does.
    let odd = usual
        .with(cedm, "k1", 3)
        .unwrap()
        .with(cedm, "k2", 3 << 30)
        .unwrap();
    assert_eq!(
        value(&odd.at_rate(cedm.params, ten, Rate::gbps(5)), "k1"),
        1
    );
    assert_eq!(
        value(&odd.at_rate(cedm.params, ten, forty), "k2"),
        u64::from(u32::MAX)
    );
    // A packet has its size whatever the rate.
    for spec in catalogue::ALL {
        for param in spec.params.iter().filter(|param| param.of_queue) {
            assert!(!param.name.contains("pkt"), "{}: {}", spec.name, param.name);
        }
    }
}
