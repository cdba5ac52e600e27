// SPDX-License-Identifier: MIT OR Apache-2.0
//! The habits of operating systems, each by itself, compared with traces worked out by hand.
//! Segments have 1000 bytes, so offsets are 1000 times the segment number.

use cemark_transport::cc::dctcp::DctcpConfig;
use cemark_transport::{Ack, Config, Control, Segment, Sender, Stack};
use cemark_wire::{Ecn, Flags, Nanos};

const MS: u64 = 1_000_000;

fn config(control: Control, stack: Stack) -> Config {
    Config {
        control,
        mss: 1000,
        init_window: 10,
        rto_min: Nanos(200 * MS),
        rto_init: Nanos(1000 * MS),
        stack,
        ..Config::default()
    }
}

fn ack(cum: u64, ts_echo: u64) -> Ack {
    Ack {
        cum: cum * 1000,
        flags: Flags::ACK,
        ts_echo: ts_echo as u32,
        sacks: 0,
    }
}

fn echo(cum: u64, ts_echo: u64) -> Ack {
    Ack {
        flags: Flags::ACK.with(Flags::ECE),
        ..ack(cum, ts_echo)
    }
}

/// SACK blocks by segment number.
fn blocks(list: &[(u64, u64)]) -> Vec<(u64, u64)> {
    list.iter().map(|&(a, b)| (a * 1000, b * 1000)).collect()
}

fn drain(s: &mut Sender, cfg: &Config, now: u64) -> Vec<Segment> {
    std::iter::from_fn(|| s.poll_transmit(cfg, Nanos(now))).collect()
}

fn numbers(segments: &[Segment]) -> Vec<u64> {
    segments.iter().map(|s| s.seq / 1000).collect()
}

/// A sender with ten segments of its `segments` in the network since 0 ms.
fn started(cfg: &Config, segments: u64) -> Sender {
    let mut s = Sender::new(cfg);
    s.write(segments * 1000);
    assert_eq!(drain(&mut s, cfg, 0).len(), 10);
    s
}

/// A sender after a round trip of 1 ms: ten segments acknowledged, twenty in the network.
fn a_round_later(cfg: &Config, segments: u64) -> Sender {
    let mut s = started(cfg, segments);
    for n in 1..=10 {
        s.on_ack(cfg, Nanos(MS), &ack(n, 0), &[]);
        drain(&mut s, cfg, MS);
    }
    assert_eq!(s.bytes_in_flight(), (segments - 10).min(20) * 1000);
    s
}

#[test]
fn prr_spreads_a_cut_for_an_echo_over_a_round_trip() {
    let control = DctcpConfig {
        alpha_init: 614, // three fifths, so that the cut takes three of ten segments
        ..DctcpConfig::default()
    };
    let stack = Stack {
        prr: true,
        whole_segments: true,
        ..Stack::NONE
    };
    for (stack, expected) in [
        (Stack::NONE, vec![0, 0, 0, 0, 1, 1, 1, 1, 1, 1]),
        (stack, vec![1, 1, 1, 0, 1, 1, 0, 0, 1, 1]),
    ] {
        let mut cfg = config(control.control(), stack);
        cfg.stack.whole_segments = true;
        let mut s = started(&cfg, 1000);
        let mut sent = Vec::new();
        for n in 1..=10 {
            s.on_ack(&cfg, Nanos(MS + n), &echo(n, 0), &[]);
            sent.push(drain(&mut s, &cfg, MS + n).len());
        }
        assert_eq!(s.stats().ecn_cuts, 1);
        assert_eq!(s.bytes_in_flight(), 7_000, "the same in the end");
        if stack.prr {
            assert_eq!(sent, expected);
        } else {
            assert_eq!(sent.iter().sum::<usize>(), 7);
            assert_eq!(sent[..3], [0, 0, 0], "all of the cut at once");
        }
        // The reduction is over, and the window grows again.
        s.on_ack(&cfg, Nanos(2 * MS), &ack(11, MS), &[]);
        assert_eq!(s.cwnd(), 7_000);
    }
}

#[test]
fn prr_sends_during_a_recovery_in_proportion() {
    let stack = Stack {
        prr: true,
        ..Stack::NONE
    };
    let cfg = config(Control::RENO, stack);
    let mut s = a_round_later(&cfg, 1000);
    // Segment 10 is lost, of twenty: the window shall become ten. Three SACKs find it.
    let mut sent = Vec::new();
    for n in 12..=30 {
        let sack = blocks(&[(11, n)]);
        s.on_ack(&cfg, Nanos(2 * MS + n), &ack(10, 0), &sack);
        sent.push(numbers(&drain(&mut s, &cfg, 2 * MS + n)));
    }
    assert_eq!(sent[0], [30], "a SACK lets a new segment out");
    assert_eq!(sent[2], [10], "the retransmission");
    // Then a segment for every second one that is delivered.
    assert_eq!(sent[3..7].concat().len(), 2, "{sent:?}");
    assert_eq!(sent[7..11].concat().len(), 2, "{sent:?}");
    s.on_ack(&cfg, Nanos(3 * MS), &ack(45, 0), &[]);
    assert_eq!(s.cwnd(), 10_000);
}

/// The last segments of a message are lost: nothing reports it, and without a probe only the
/// timeout of 200 ms notices.
#[test]
fn a_probe_finds_a_lost_tail_long_before_the_timeout() {
    let stack = Stack {
        tlp: true,
        rack: true,
        rto_over_rtt: true,
        ..Stack::NONE
    };
    let cfg = config(Control::RENO, stack);
    let mut s = a_round_later(&cfg, 20);
    assert_eq!(s.bytes_in_flight(), 10_000);
    // Segments 10 and 11 arrive, the others are lost. Two round trips and 2 ms later:
    s.on_ack(&cfg, Nanos(2 * MS), &ack(12, MS), &[]);
    assert_eq!(drain(&mut s, &cfg, 2 * MS), []);
    assert_eq!(s.timeout(), Some(Nanos(6 * MS)));
    s.on_timeout(&cfg, Nanos(6 * MS - 1));
    assert!(!s.can_send(&cfg), "too early");
    s.on_timeout(&cfg, Nanos(6 * MS));
    let probe = drain(&mut s, &cfg, 6 * MS);
    assert_eq!(numbers(&probe), [19], "the last segment, once");
    assert!(probe[0].flags.has(Flags::RETX));
    // From the probe on the timeout counts: 201 ms.
    let mut quiet = s.timeout().unwrap();
    while quiet < Nanos(207 * MS) {
        s.on_timeout(&cfg, quiet);
        assert!(!s.can_send(&cfg), "one probe at a time");
        quiet = s.timeout().unwrap();
    }
    assert_eq!(quiet, Nanos(207 * MS));
    // It arrives beyond seven holes. A quarter of a round trip later they are lost.
    s.on_ack(&cfg, Nanos(7 * MS), &ack(12, MS), &blocks(&[(19, 20)]));
    assert_eq!(drain(&mut s, &cfg, 7 * MS), []);
    let due = s.timeout().unwrap();
    assert!(due < Nanos(8 * MS), "{due:?}");
    s.on_timeout(&cfg, due);
    let resent = numbers(&drain(&mut s, &cfg, due.0));
    assert_eq!(resent[0], 12);
    assert_eq!((s.stats().timeouts, s.stats().fast_recoveries), (0, 1));
}

/// A probe that replaces the one lost segment hides the loss, so the window is reduced for it.
#[test]
fn a_probe_that_repairs_a_loss_costs_a_cut() {
    let stack = Stack {
        tlp: true,
        ..Stack::NONE
    };
    for (lost, window) in [(true, 11_500), (false, 23_000)] {
        let cfg = config(Control::RENO, stack);
        let mut s = a_round_later(&cfg, 20);
        s.on_ack(&cfg, Nanos(2 * MS), &ack(19, MS), &[]);
        let before = s.cwnd();
        // A single segment waits as long as the timeout.
        let at = s.timeout().unwrap();
        assert_eq!(at, Nanos(202 * MS));
        s.on_timeout(&cfg, at);
        assert_eq!(numbers(&drain(&mut s, &cfg, at.0)), [19]);
        assert_eq!(s.stats().timeouts, 0, "the probe leaves instead");
        let stamp = if lost { at.0 } else { MS };
        s.on_ack(&cfg, at + Nanos(MS), &ack(20, stamp), &[]);
        assert!(s.is_idle());
        assert_eq!(before, 22_000);
        assert_eq!(s.cwnd(), window, "lost: {lost}");
    }
}

#[test]
fn a_probe_sends_new_data_beyond_the_window() {
    let stack = Stack {
        tlp: true,
        ..Stack::NONE
    };
    let cfg = config(Control::RENO, stack);
    let mut s = a_round_later(&cfg, 1000);
    let at = s.timeout().unwrap();
    assert_eq!(at, Nanos(5 * MS));
    s.on_timeout(&cfg, at);
    assert_eq!(numbers(&drain(&mut s, &cfg, at.0)), [30]);
    assert_eq!(s.stats().retransmits, 0);
}

/// Two duplicate ACKs are too few for a fast retransmit; the time tells.
#[test]
fn rack_finds_a_loss_in_a_small_window() {
    let stack = Stack {
        rack: true,
        ..Stack::NONE
    };
    let cfg = config(Control::RENO, stack);
    let mut s = Sender::new(&cfg);
    s.write(3_000);
    assert_eq!(drain(&mut s, &cfg, 0).len(), 3);
    s.on_ack(&cfg, Nanos(MS), &ack(0, 0), &blocks(&[(1, 3)]));
    assert_eq!(drain(&mut s, &cfg, MS), []);
    assert_eq!(s.timeout(), Some(Nanos(MS + MS / 4)));
    s.on_timeout(&cfg, Nanos(MS + MS / 4));
    assert_eq!(numbers(&drain(&mut s, &cfg, MS + MS / 4)), [0]);
    // The retransmission is lost too, which new data that was sent after it tells.
    s.write(1_000);
    assert_eq!(numbers(&drain(&mut s, &cfg, 2 * MS)), [3]);
    s.on_ack(&cfg, Nanos(3 * MS), &ack(0, 0), &blocks(&[(1, 4)]));
    assert_eq!(numbers(&drain(&mut s, &cfg, 3 * MS)), [0]);
    assert_eq!(s.stats().timeouts, 0);
    s.on_ack(&cfg, Nanos(4 * MS), &ack(4, 0), &[]);
    assert!(s.is_idle());
}

#[test]
fn control_packets_are_ecn_capable_where_data_is() {
    for (control, ect_control, ecn) in [
        (Control::DCTCP, true, Ecn::Ect0),
        (Control::DCTCP, false, Ecn::NotEct),
        (Control::RENO, true, Ecn::NotEct),
    ] {
        let stack = Stack {
            ect_control,
            ..Stack::NONE
        };
        let mut cfg = config(control, stack);
        cfg.handshake = true;
        let mut s = Sender::new(&cfg);
        s.write(1000);
        let syn = s.poll_transmit(&cfg, Nanos(0)).unwrap();
        assert!(syn.flags.has(Flags::SYN));
        assert_eq!(syn.ecn, ecn);
        assert_eq!(cfg.ack_ecn(), ecn);
    }
}

/// Pieces of two and a half segments: those with the bytes 2499, 4999 and so on end one.
#[test]
fn the_end_of_each_piece_that_was_written_is_pushed() {
    let pushed = |write_size: u32| {
        let cfg = config(
            Control::DCTCP,
            Stack {
                write_size,
                ..Stack::NONE
            },
        );
        let mut s = Sender::new(&cfg);
        s.write(u64::MAX);
        let first = drain(&mut s, &cfg, 0);
        let ends: Vec<bool> = first.iter().map(|x| x.flags.has(Flags::PUSH)).collect();
        numbers(&first)
            .into_iter()
            .zip(ends)
            .filter_map(|(n, push)| push.then_some(n))
            .collect::<Vec<u64>>()
    };
    assert_eq!(pushed(2_500), [2, 4, 7, 9]);
    assert_eq!(pushed(0), [0u64; 0]);
}
