// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;

fn path() -> PathSpec {
    PathSpec {
        mss: 1000,
        init_window: 10,
        ..PathSpec::default()
    }
}

fn acked(now: u64, bytes: u64, rtt: u64) -> Acked {
    Acked {
        now: Nanos(now),
        bytes,
        bytes_in_flight: bytes,
        cwnd_limited: true,
        round_ended: true,
        rtt: Some(rtt as u32),
        ..Acked::default()
    }
}

fn lost(bytes_in_flight: u64, timeout: bool, already: Cut) -> Lost {
    Lost {
        bytes_in_flight,
        timeout,
        already,
        ..Lost::default()
    }
}

/// A controller in slow start whose window is `segments`.
fn at(segments: u64, config: CubicConfig) -> Cubic {
    let mut cubic = Cubic::new(&path(), config);
    cubic.window.add((segments - 10) * 1000);
    cubic
}

#[test]
fn cube_roots_are_exact() {
    for root in [0u64, 1, 2, 3, 10, 999, 1 << 20, (1 << 41) + 12_345] {
        let cube = u128::from(root).pow(3);
        assert_eq!(cube_root(cube), root);
        assert_eq!(cube_root(cube + 1), root.max(u64::from(root == 0)));
        if root > 0 {
            assert_eq!(cube_root(cube - 1), root - 1);
        }
    }
}

#[test]
fn a_cut_leaves_seven_tenths_and_the_next_smaller_one_lowers_the_plateau() {
    let mut cubic = at(1000, CubicConfig::default());
    cubic.on_loss(&lost(1_000_000, false, Cut::None));
    assert_eq!((cubic.cwnd(), cubic.w_max()), (700_000, 1_000_000));
    // By hand: 700 is below the plateau of 1000, so the next plateau is 700 (1 + 0.7) / 2.
    cubic.on_loss(&lost(700_000, false, Cut::None));
    assert_eq!((cubic.cwnd(), cubic.w_max()), (490_000, 595_000));
    let slow = CubicConfig {
        fast_convergence: false,
        ..CubicConfig::default()
    };
    let mut cubic = at(1000, slow);
    cubic.on_loss(&lost(1_000_000, false, Cut::None));
    cubic.on_loss(&lost(700_000, false, Cut::None));
    assert_eq!((cubic.cwnd(), cubic.w_max()), (490_000, 700_000));
    // This window of data has been answered for.
    cubic.on_loss(&lost(490_000, false, Cut::Loss));
    assert_eq!(cubic.cwnd(), 490_000);
}

#[test]
fn the_window_is_the_curve_of_the_rfc_over_two_epochs() {
    // 4,000 segments over 10 ms and 1,000 over 100 ms: Reno would be slower in both.
    for (rtt_ms, start, reno_friendly) in [
        (10u64, 4_000u64, true),
        (100, 1_000, true),
        (100, 1_000, false),
    ] {
        let config = CubicConfig {
            reno_friendly,
            ..CubicConfig::default()
        };
        let mut cubic = at(start, config);
        let rtt = rtt_ms * 1_000_000;
        cubic.srtt = rtt;
        let mut now = 0;
        for _ in 0..2 {
            let w_max = cubic.cwnd() as f64 / 1000.0;
            cubic.on_loss(&lost(cubic.cwnd(), false, Cut::None));
            let begin = now;
            let k = (w_max * 0.3 / 0.4).cbrt();
            let (mut worst, mut last) = (0f64, 0);
            // An ACK for each fiftieth of a window, until a tenth above the plateau.
            while (cubic.cwnd() as f64) < w_max * 1100.0 {
                let bytes = cubic.cwnd() / 50;
                now += rtt / 50;
                cubic.on_ack(&acked(now, bytes, rtt));
                let t = (now - begin) as f64 * 1e-9;
                let expected = 0.4 * (t - k).powi(3) + w_max;
                worst = worst.max((cubic.cwnd() as f64 / 1000.0 / expected - 1.0).abs());
                assert!(cubic.cwnd() >= last, "it shrinks only by a cut");
                last = cubic.cwnd();
            }
            assert!(worst < 0.02, "{worst} off the curve at {rtt_ms} ms");
            let spent = (now - begin) as f64 * 1e-9;
            let theory = k + (w_max * 0.1 / 0.4).cbrt();
            assert!((spent / theory - 1.0).abs() < 0.02, "{spent} of {theory} s");
        }
    }
}

#[test]
fn a_short_path_follows_reno() {
    // 100 segments over 10 ms: K is 4.2 s, but Reno is back after 30 / 0.529 = 57 round trips and
    // then adds one in each.
    let mut cubic = at(100, CubicConfig::default());
    cubic.on_loss(&lost(100_000, false, Cut::None));
    for round in 1..=150u64 {
        for part in 1..=10 {
            let now = (round - 1) * 10_000_000 + part * 1_000_000;
            cubic.on_ack(&acked(now, cubic.cwnd() / 10, 10_000_000));
        }
        let r = round as f64;
        let reno = match r * 9.0 / 17.0 {
            rise if rise < 30.0 => 70.0 + rise,
            _ => 100.0 + (r - 30.0 * 17.0 / 9.0),
        };
        let window = cubic.cwnd() as f64 / 1000.0;
        assert!(
            (window / reno - 1.0).abs() < 0.02,
            "{window} of {reno} after {round}"
        );
    }
}

#[test]
fn after_a_timeout_the_stage_begins_on_its_plateau() {
    let config = CubicConfig {
        reno_friendly: false,
        ..CubicConfig::default()
    };
    let mut cubic = at(1000, config);
    cubic.on_loss(&lost(1_000_000, true, Cut::None));
    assert_eq!(cubic.cwnd(), 1_000);
    let (mut now, rtt) = (0, 100_000_000);
    while cubic.cwnd() < 700_000 {
        now += 1_000_000;
        cubic.on_ack(&acked(now, 2_000, rtt));
    }
    let begin = now;
    for _ in 0..50 {
        now += rtt / 10;
        cubic.on_ack(&acked(now, cubic.cwnd() / 10, rtt));
    }
    // K = 0: 0.4 t^3 above 700 after five seconds is 50 segments.
    let t = (now - begin) as f64 * 1e-9;
    let window = cubic.cwnd() as f64 / 1000.0;
    assert!(
        (window - (700.0 + 0.4 * t * t * t)).abs() < 5.0,
        "{window} after {t} s"
    );
}

#[test]
fn echoes_cut_only_with_ecn() {
    let cases = [
        (Control::CUBIC_ECN, Ecn::Ect0, 7_000),
        (Control::CUBIC, Ecn::NotEct, 10_000),
    ];
    for (control, field, left) in cases {
        let mut cubic = Cubic::from_control(&path(), &control);
        assert_eq!(Controller::ecn(&cubic), field);
        cubic.on_ce(&CeCounted::default());
        assert_eq!(cubic.cwnd(), left);
    }
}

#[test]
fn a_window_that_is_not_used_does_not_grow_and_does_not_jump_afterwards() {
    let mut cubic = at(1000, CubicConfig::default());
    cubic.on_loss(&lost(1_000_000, false, Cut::None));
    cubic.on_ack(&acked(0, 1_000, 100_000_000));
    for second in 1..=60u64 {
        let idle = Acked {
            cwnd_limited: false,
            ..acked(second * 1_000_000_000, 1_000, 100_000_000)
        };
        cubic.on_ack(&idle);
    }
    let before = cubic.cwnd();
    cubic.on_ack(&acked(60_010_000_000, 1_000, 100_000_000));
    assert!(
        cubic.cwnd() - before < 1_000,
        "{} after {before}",
        cubic.cwnd()
    );
}

/// With the growth held, the window stays on a plateau for 31.25 ms, however much the curve has
/// risen meanwhile, and then makes up for it.
#[test]
fn a_held_growth_makes_plateaus_and_bursts() {
    let grown = |cubic_hold: bool| {
        let stack = Stack {
            cubic_hold,
            ..Stack::NONE
        };
        let path = PathSpec { stack, ..path() };
        let mut c = Cubic::new(&path, CubicConfig::default());
        let loss = Lost {
            bytes_in_flight: c.cwnd(),
            ..Lost::default()
        };
        c.on_loss(&loss);
        let start = c.cwnd();
        let mut same = 0;
        let mut most = 0;
        let mut last = start;
        // A round trip of 1 ms, an ACK every 100 us.
        for n in 0..20_000u64 {
            c.on_ack(&Acked {
                now: Nanos(n * 100_000),
                bytes: 1000,
                packets: 1,
                cwnd_limited: true,
                rtt: Some(1_000_000),
                ..Acked::default()
            });
            same = if c.cwnd() == last { same + 1 } else { 0 };
            most = most.max(same);
            last = c.cwnd();
        }
        (most, (c.cwnd() - start) / 1000)
    };
    let (free, free_growth) = grown(false);
    let (held, held_growth) = grown(true);
    assert!(held >= 310, "a plateau of 31 ms has 310 ACKs, not {held}");
    assert!(free < 150, "{free}");
    // On the long run both follow the same curve.
    assert!(held_growth.abs_diff(free_growth) * 10 < free_growth);
}

/// Window in segments after this many round trips of 1 ms, whose ACKs cover ten segments each,
/// behind a cut from 100 segments. On so short a path Reno's window is the larger one.
fn after_round_trips(stack: Stack, round_trips: u64) -> u64 {
    let path = PathSpec { stack, ..path() };
    let mut c = Cubic::new(&path, CubicConfig::default());
    c.window.add(100_000 - c.cwnd());
    c.on_loss(&lost(100_000, false, Cut::None));
    let mut sent = 0;
    for round_trip in 0..round_trips {
        let per_ack = 10_000;
        let acks = c.cwnd() / per_ack;
        for n in 0..acks {
            let now = round_trip * 1_000_000 + n * 1_000_000 / acks;
            c.on_ack(&acked(now, per_ack, 1_000_000));
        }
        sent += acks;
    }
    assert!(sent > 0);
    c.cwnd() / 1000
}

/// From 70 to 100 segments Reno's slope of 9/17 segments a round trip takes 57 round trips. From
/// there on RFC 9438 grows by a segment a round trip, Linux at the slope that it had.
#[test]
fn linux_keeps_renos_slope_beyond_the_old_window() {
    let of = |cubic_slope, round_trips| {
        let stack = Stack {
            cubic_slope,
            ..Stack::NONE
        };
        after_round_trips(stack, round_trips)
    };
    let (rfc, linux) = (of(false, 50), of(true, 50));
    assert_eq!(rfc, linux);
    let growth = |slope| of(slope, 160) - of(slope, 60);
    let (rfc, linux) = (growth(false), growth(true));
    assert!((90..=102).contains(&rfc), "{rfc} in 100 round trips");
    assert!((48..=56).contains(&linux), "{linux} in 100 round trips");
}

/// A window that grows within a tick keeps the rate of the tick's beginning.
#[test]
fn linux_computes_the_growth_once_a_tick() {
    let mut c = Cubic::new(
        &PathSpec {
            stack: Stack::LINUX,
            ..path()
        },
        CubicConfig::default(),
    );
    c.window.add(100_000 - c.cwnd());
    c.on_loss(&lost(100_000, false, Cut::None));
    // The curve is far above the window after ten seconds.
    c.on_ack(&acked(0, 1_000, 1_000_000));
    let late = 10_000_000_000;
    c.on_ack(&acked(late, 1_000, 1_000_000));
    let first = c.held.map(|h| (h.at, h.per));
    let before = c.cwnd();
    for n in 1..=20 {
        c.on_ack(&acked(late + n * 10_000, 2_000, 1_000_000));
    }
    assert!(c.cwnd() > before);
    assert_eq!(c.held.map(|h| (h.at, h.per)), first, "within the tick");
    c.on_ack(&acked(late + 1_000_000, 2_000, 1_000_000));
    assert_eq!(c.held.map(|h| h.at), Some(Nanos(late + 1_000_000)));
}

/// Bytes by which 100 acknowledged segments grow a window of 40 segments in congestion avoidance
/// without Reno's region, on a path so short that the curve does not move.
fn grown(clamp: u32, cubic_hold: bool, timeout: bool) -> u64 {
    let stack = Stack {
        cubic_hold,
        ..Stack::NONE
    };
    let config = CubicConfig {
        reno_friendly: false,
        clamp,
        ..CubicConfig::default()
    };
    let mut c = Cubic::new(&PathSpec { stack, ..path() }, config);
    c.window.add(70_000);
    c.on_loss(&lost(80_000, timeout, Cut::None));
    while c.window.in_slow_start() {
        c.on_ack(&acked(1_000, 2_000, 1_000));
    }
    let before = c.cwnd();
    for n in 1..=100 {
        c.on_ack(&acked(1_000 + n * 1_000, 1_000, 1_000));
    }
    c.cwnd() - before
}

#[test]
fn after_a_timeout_the_clamp_grows_the_window_and_after_a_cut_it_does_not() {
    for hold in [false, true] {
        assert!(grown(0, hold, true) < 1_100, "hold {hold}");
        // 100 segments, one for each 20.
        let clamped = grown(20, hold, true);
        assert!((4_500..=6_000).contains(&clamped), "hold {hold}: {clamped}");
        assert_eq!(grown(20, hold, false), grown(0, hold, false));
    }
}

#[test]
fn hystart_leaves_slow_start_where_the_round_trip_has_grown() {
    let run = |hystart: bool| {
        let config = CubicConfig {
            hystart,
            ..CubicConfig::default()
        };
        let mut c = Cubic::new(&path(), config);
        for n in 0..60u64 {
            let rtt = if n < 20 { 6_000_000 } else { 13_000_000 };
            let ack = Acked {
                round_ended: n % 20 == 0,
                ..acked(n * 5_000_000, 1_000, rtt)
            };
            c.on_ack(&ack);
        }
        (c.in_slow_start(), c.cwnd())
    };
    assert_eq!(run(false), (true, 70_000));
    let (slow, cwnd) = run(true);
    assert!(!slow && (30_000..45_000).contains(&cwnd), "{cwnd}");
}
