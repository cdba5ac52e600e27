// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loss recovery, end to end over a simulated path.

use crate::harness::{Net, Path};
use cemark_transport::cc::dctcp::DctcpConfig;
use cemark_transport::{Config, Control, Stack};
use cemark_wire::Nanos;
use proptest::prelude::*;

/// How many times as many transfers are drawn: a long search (`CEMARK_TIMES`; `cargo xtask proof
/// random`).
fn times() -> u32 {
    std::env::var("CEMARK_TIMES").map_or(1, |n| n.parse().expect("a whole number"))
}

const FOREVER: Nanos = Nanos(u64::MAX / 4);

fn control() -> impl Strategy<Value = Control> {
    prop_oneof![
        Just(Control::RENO),
        Just(Control::ECN_STAR),
        Just(
            DctcpConfig {
                alpha_init: 0,
                ..DctcpConfig::default()
            }
            .control()
        ),
        Just(Control::DCTCP),
        Just(Control::CUBIC),
        Just(Control::CUBIC_ECN),
        Just(Control::BBR),
    ]
}

/// Every habit that a sender or a receiver may have, each on or off.
fn stack() -> impl Strategy<Value = Stack> {
    let flags = prop::collection::vec(any::<bool>(), 17);
    (flags, 0u32..40, 0u32..20_000).prop_map(|(on, quick_acks, write_size)| Stack {
        ack_cwr: on[0],
        whole_segments: on[1],
        prr: on[2],
        tlp: on[3],
        rack: on[4],
        quick_acks,
        ect_control: true,
        cubic_hold: on[5],
        quick_acks_ce: 2 * u32::from(on[8]),
        cubic_slope: on[9],
        cubic_tick: Nanos::from_millis(u64::from(on[10])),
        hystart: on[11],
        rack_wait: Nanos::from_millis(2 * u64::from(on[14])),
        third_packet: on[13],
        tso_defer: on[15],
        undo: on[12],
        rto_over_rtt: on[6],
        coarse_alpha: on[7],
        write_window: if on[16] { 67 } else { 0 },
        write_size,
    })
}

fn transfer(cfg: &Config, path: Path, bytes: u64) -> Net {
    let mut net = Net::new(cfg.clone(), path);
    net.write_at(Nanos(1_000), bytes);
    net.run(FOREVER);
    net
}

/// Runs until nothing is left to do: every byte has arrived, and the sender is idle.
fn all_arrives(net: &mut Net, total: u64) -> Result<(), TestCaseError> {
    let mut steps = 0u64;
    while net.step() {
        steps += 1;
        prop_assert!(steps < 400_000, "no livelock");
    }
    prop_assert_eq!(net.receiver.delivered(), total);
    prop_assert!(net.sender.is_idle());
    prop_assert_eq!(net.sender.bytes_in_flight(), 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000 * times()))]

    #[test]
    fn whatever_is_lost_every_byte_arrives_once_and_the_sender_ends_idle(
        control in control(), sack: bool, handshake: bool, keep_window: bool,
        loss in 0u32..300_000, ack_loss in 0u32..300_000, reorder in 0u32..200_000,
        mark in prop_oneof![Just(u64::MAX), 0u64..100_000],
        buffer in prop_oneof![Just(u64::MAX), 3_000u64..60_000],
        ack_every in 1u32..4, init_window in 1u32..20, receive_window in 500u64..200_000,
        messages in prop::collection::vec((0u64..3_000_000, 1u64..60_000), 1..12),
        seed: u64, lost_retransmissions: bool, pacing: bool,
    ) {
        let cfg = Config {
            control, sack, handshake, keep_window, ack_every, init_window, receive_window,
            lost_retransmissions, pacing, ..Config::default()
        };
        let path = Path {
            data_loss_ppm: loss, ack_loss_ppm: ack_loss, reorder_ppm: reorder, mark_above: mark,
            buffer, seed, ..Path::default()
        };
        let mut net = Net::new(cfg.clone(), path);
        let mut total = 0;
        for (when, bytes) in messages {
            net.write_at(Nanos(when), bytes);
            total += bytes;
        }
        all_arrives(&mut net, total)?;
        // A lost packet costs at most two retransmissions. So does a late one, unless NewReno
        // declares it lost: then every ACK of what was in flight is a partial one and causes a
        // retransmission (RFC 6582 section 4), up to the window. And so is a timeout without SACK:
        // all that was in flight counts as lost, though some of it may have arrived.
        let window = receive_window / u64::from(cfg.mss) + 1;
        let late = net.late * if sack { 2 } else { window };
        let stats = net.sender.stats();
        let again = if sack { 0 } else { u64::from(stats.timeouts) * window };
        let most = 10 + 2 * (net.drops + net.acks_lost) + late + again;
        prop_assert!(u64::from(stats.retransmits) <= most, "{:?}, at most {}", stats, most);
        prop_assert_eq!(net.sender.acked(), total);
        prop_assert!(net.sent.iter().all(|(_, s)| s.seq + u64::from(s.len) <= total));
    }

    #[test]
    fn whatever_its_habits_a_sender_delivers_every_byte(
        control in control(), sack: bool, handshake: bool, stack in stack(),
        loss in 0u32..300_000, ack_loss in 0u32..300_000, reorder in 0u32..200_000,
        mark in prop_oneof![Just(u64::MAX), 0u64..100_000],
        buffer in prop_oneof![Just(u64::MAX), 3_000u64..60_000],
        ack_every in 1u32..4, init_window in 1u32..20, receive_window in 500u64..200_000,
        messages in prop::collection::vec((0u64..3_000_000, 1u64..60_000), 1..12),
        seed: u64, pacing: bool,
    ) {
        let cfg = Config {
            control, sack, handshake, ack_every, init_window, receive_window, pacing, stack,
            ..Config::default()
        };
        let path = Path {
            data_loss_ppm: loss, ack_loss_ppm: ack_loss, reorder_ppm: reorder, mark_above: mark,
            buffer, seed, ..Path::default()
        };
        let mut net = Net::new(cfg.clone(), path);
        let total: u64 = messages.iter().map(|m| m.1).sum();
        let count = messages.len() as u64;
        for (when, bytes) in messages {
            net.write_at(Nanos(when), bytes);
        }
        all_arrives(&mut net, total)?;
        // As above. A late packet may make RACK call everything before it lost, and each message
        // and each loss may end with a probe.
        let window = receive_window / u64::from(cfg.mss) + 1;
        let late = net.late * if sack && !stack.rack { 2 } else { window };
        let stats = net.sender.stats();
        let again = if sack { 0 } else { u64::from(stats.timeouts) * window };
        let most = 10 + count + 3 * (net.drops + net.acks_lost) + late + again;
        prop_assert!(u64::from(stats.retransmits) <= most, "{:?}, at most {}", stats, most);
    }

    #[test]
    fn without_loss_nothing_is_sent_again(
        control in control(), sack: bool, handshake: bool, ack_every in 1u32..4,
        mark in 0u64..100_000, seed: u64, pacing: bool,
        stack in prop_oneof![Just(Stack::NONE), stack()],
        messages in prop::collection::vec((0u64..3_000_000, 1u64..200_000), 1..6),
    ) {
        let cfg = Config {
            control, sack, handshake, ack_every, pacing, stack, ..Config::default()
        };
        let mut net = Net::new(cfg, Path { mark_above: mark, seed, ..Path::default() });
        let mut total = 0;
        for (when, bytes) in messages {
            net.write_at(Nanos(when), bytes);
            total += bytes;
        }
        net.run(FOREVER);
        prop_assert_eq!(net.receiver.delivered(), total);
        prop_assert_eq!(net.sender.stats().retransmits, 0);
        prop_assert_eq!(net.sender.stats().timeouts, 0);
        let data: u64 = net.sent.iter().map(|(_, s)| u64::from(s.len)).sum();
        prop_assert_eq!(data, total, "each byte crosses the path once");
    }
}

#[test]
fn sack_retransmits_three_holes_of_one_window_in_about_one_round_trip() {
    let cfg = Config {
        init_window: 40,
        ..Config::default()
    };
    let net = transfer(
        &cfg,
        Path {
            lose: vec![10, 15, 20],
            ..Path::default()
        },
        40 * 1460,
    );
    assert_eq!(net.sender.stats().retransmits, 3);
    assert_eq!(net.sender.stats().timeouts, 0);
    assert_eq!(net.sender.stats().fast_recoveries, 1);
    let resent: Vec<_> = net.sent[40..]
        .iter()
        .map(|(t, s)| (t.0, s.seq / 1460))
        .collect();
    assert_eq!(resent.iter().map(|r| r.1).collect::<Vec<_>>(), [10, 15, 20]);
    assert!(
        resent[2].0 - resent[0].0 < 100_000,
        "all within one round trip: {resent:?}"
    );
}

#[test]
fn newreno_retransmits_one_hole_per_round_trip_without_a_timeout() {
    let cfg = Config {
        init_window: 40,
        sack: false,
        ..Config::default()
    };
    let net = transfer(
        &cfg,
        Path {
            lose: vec![10, 15, 20],
            ..Path::default()
        },
        40 * 1460,
    );
    assert_eq!(net.sender.stats().retransmits, 3);
    assert_eq!(net.sender.stats().timeouts, 0);
    assert_eq!(net.sender.stats().fast_recoveries, 1);
    let times: Vec<u64> = net.sent[40..].iter().map(|(t, _)| t.0).collect();
    for pair in times.windows(2) {
        assert!(
            (100_000..130_000).contains(&(pair[1] - pair[0])),
            "partial ACKs are a round trip apart: {times:?}"
        );
    }
}

#[test]
fn newreno_gives_up_a_long_recovery_unless_it_is_slow_but_steady() {
    let cfg = |slow_but_steady| Config {
        init_window: 60,
        sack: false,
        slow_but_steady,
        rto_min: Nanos::from_micros(350),
        rto_init: Nanos::from_micros(350),
        ..Config::default()
    };
    let path = || Path {
        lose: (10..20).collect(),
        ..Path::default()
    };
    let steady = transfer(&cfg(true), path(), 60 * 1460);
    let stats = steady.sender.stats();
    assert_eq!((stats.timeouts, stats.retransmits), (0, 10));
    // The timer runs from the first partial ACK on, and three round trips of 100 us later there are
    // still holes.
    let impatient = transfer(&cfg(false), path(), 60 * 1460);
    let stats = impatient.sender.stats();
    assert_eq!((stats.timeouts, stats.fast_recoveries), (1, 1));
    let end = |net: &Net| net.sent.last().expect("segments").0;
    assert!(end(&impatient) < end(&steady));
}

#[test]
fn sack_recovers_from_a_slow_start_that_overran_the_buffer_with_one_retransmission_per_loss() {
    for buffer in [100, 300] {
        let path = Path {
            buffer: buffer * 1500,
            ..Path::default()
        };
        let net = transfer(
            &Config {
                control: Control::RENO,
                ..Config::default()
            },
            path,
            20_000_000,
        );
        assert!(net.drops > buffer, "{}", net.drops);
        let stats = net.sender.stats();
        assert_eq!(
            (u64::from(stats.retransmits), stats.timeouts),
            (net.drops, 0)
        );
        // 20 MB and their headers take 16.5 ms at 10 Gb/s.
        assert!(net.now < Nanos::from_micros(17_000), "{:?}", net.now);
    }
}

#[test]
fn a_lost_retransmission_is_detected_by_later_segments() {
    let is_tenth = |sent: &(Nanos, cemark_transport::Segment)| sent.1.seq / 1460 == 10;
    for (lost_retransmissions, timeouts) in [(true, 0), (false, 1)] {
        let cfg = Config {
            init_window: 40,
            lost_retransmissions,
            ..Config::default()
        };
        let losing = |lose| {
            let path = Path {
                lose,
                ..Path::default()
            };
            transfer(&cfg, path, 400 * 1460)
        };
        let first = losing(vec![10]);
        let again = first.sent.iter().rposition(is_tenth).unwrap() as u64;
        let net = losing(vec![10, again]);
        assert_eq!(net.sender.stats().timeouts, timeouts);
        let times = net.sent.iter().filter(|s| is_tenth(s)).count();
        assert_eq!(times, 3, "the segment, its retransmission, and that again");
    }
}
