// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sender alone, compared with traces worked out by hand. Segments have 1000 bytes, so offsets
//! are 1000 times the segment number.

use cemark_transport::cc::dctcp::DctcpConfig;
use cemark_transport::{Ack, Acks, Config, Control, Receiver, Segment, Sender};
use cemark_wire::{Ecn, Flags, Nanos};

fn config(control: Control, sack: bool) -> Config {
    Config {
        control,
        sack,
        mss: 1000,
        init_window: 10,
        ..Config::default()
    }
}

fn ack(cum: u64, flags: Flags) -> Ack {
    Ack {
        cum: cum * 1000,
        flags: flags.with(Flags::ACK),
        ts_echo: 0,
        sacks: 0,
    }
}

/// Everything that the sender sends now.
fn drain(s: &mut Sender, cfg: &Config, now: u64) -> Vec<Segment> {
    std::iter::from_fn(|| s.poll_transmit(cfg, Nanos(now))).collect()
}

fn numbers(segments: &[Segment]) -> Vec<u64> {
    segments.iter().map(|s| s.seq / 1000).collect()
}

fn started(cfg: &Config, segments: u64) -> Sender {
    let mut s = Sender::new(cfg);
    assert!(!s.can_send(cfg));
    s.write(segments * 1000);
    s
}

#[test]
fn ecn_star_halves_once_a_window_and_sends_cwr_once() {
    let cfg = config(Control::ECN_STAR, true);
    let mut s = started(&cfg, 1000);
    let first = drain(&mut s, &cfg, 0);
    assert_eq!(first.len(), 10);
    assert!(first.iter().all(|p| p.ecn == Ecn::Ect0));
    // Every ACK of the first window carries the echo; the first one halves 10 to 5.
    for n in 1..=10 {
        s.on_ack(&cfg, Nanos(100_000 + n), &ack(n, Flags::ECE), &[]);
        assert_eq!(s.cwnd(), 5_000);
    }
    assert_eq!(s.stats().ecn_cuts, 1);
    let second = drain(&mut s, &cfg, 100_020);
    assert_eq!(numbers(&second), [10, 11, 12, 13, 14]);
    assert!(second[0].flags.has(Flags::CWR));
    assert!(second[1..].iter().all(|p| !p.flags.has(Flags::CWR)));
    // The next window is marked again: the first ACK of data sent after the cut may cut.
    s.on_ack(&cfg, Nanos(200_000), &ack(11, Flags::ECE), &[]);
    assert_eq!(s.cwnd(), 2_500);
    assert_eq!(s.stats().ecn_cuts, 2);
    for n in 12..=15 {
        s.on_ack(&cfg, Nanos(200_000 + n), &ack(n, Flags::ECE), &[]);
    }
    assert_eq!((s.cwnd(), s.stats().ecn_cuts), (2_500, 2));
    drain(&mut s, &cfg, 200_020);
    s.on_ack(&cfg, Nanos(300_000), &ack(16, Flags::ECE), &[]);
    assert_eq!(s.cwnd(), 2_000, "never below two segments");
}

#[test]
fn reno_sends_without_ecn_and_ignores_echoes() {
    let cfg = config(Control::RENO, true);
    let mut s = started(&cfg, 100);
    assert!(drain(&mut s, &cfg, 0).iter().all(|p| p.ecn == Ecn::NotEct));
    s.on_ack(&cfg, Nanos(100_000), &ack(1, Flags::ECE), &[]);
    assert_eq!((s.cwnd(), s.stats().ecn_cuts), (11_000, 0));
}

#[test]
fn newreno_follows_the_rfc_through_two_partial_acks() {
    let cfg = config(Control::RENO, false);
    let mut s = started(&cfg, 100);
    assert_eq!(drain(&mut s, &cfg, 0).len(), 10);
    // Segments 0, 4 and 7 are lost. Two duplicates each let one new segment out (RFC 3042), the
    // third starts the retransmission.
    let mut sent = Vec::new();
    for n in 1..=2 {
        s.on_ack(&cfg, Nanos(100_000 + n), &ack(0, Flags::EMPTY), &[]);
        sent.extend(numbers(&drain(&mut s, &cfg, 100_000 + n)));
    }
    assert_eq!(sent, [10, 11]);
    s.on_ack(&cfg, Nanos(100_003), &ack(0, Flags::EMPTY), &[]);
    let resent = drain(&mut s, &cfg, 100_003);
    assert_eq!(numbers(&resent), [0]);
    assert!(resent[0].flags.has(Flags::RETX));
    // Half of the 10 in the window; limited transmit does not count.
    assert_eq!((s.cwnd(), s.stats().fast_recoveries), (5_000, 1));
    // 12 outstanding, 3 counted out: four more duplicates from the first window make 5, two from
    // the new segments 3.
    for n in 4..=7 {
        s.on_ack(&cfg, Nanos(100_000 + n), &ack(0, Flags::EMPTY), &[]);
        assert_eq!(drain(&mut s, &cfg, 100_000 + n), []);
    }
    assert_eq!(s.bytes_in_flight(), 5_000);
    for (n, expected) in [(8, 12), (9, 13)] {
        s.on_ack(&cfg, Nanos(200_000 + n), &ack(0, Flags::EMPTY), &[]);
        assert_eq!(
            numbers(&drain(&mut s, &cfg, 200_000 + n)),
            [expected],
            "inflation keeps the clock"
        );
    }
    // The retransmitted 0 arrived: partial ACK up to 4. The window does not change, 4 leaves, and
    // at most one new segment.
    s.on_ack(&cfg, Nanos(200_010), &ack(4, Flags::EMPTY), &[]);
    assert_eq!(numbers(&drain(&mut s, &cfg, 200_010)), [4, 14]);
    assert_eq!(s.cwnd(), 5_000);
    s.on_ack(&cfg, Nanos(300_000), &ack(7, Flags::EMPTY), &[]);
    assert_eq!(numbers(&drain(&mut s, &cfg, 300_000))[0], 7);
    // 12 was the next new segment when the recovery began: acknowledging it ends the recovery.
    s.on_ack(&cfg, Nanos(400_000), &ack(12, Flags::EMPTY), &[]);
    assert_eq!(s.cwnd(), 5_000);
    assert_eq!(
        s.stats(),
        &cemark_transport::SenderStats {
            retransmits: 3,
            fast_recoveries: 1,
            ..Default::default()
        }
    );
    s.on_ack(&cfg, Nanos(400_001), &ack(13, Flags::EMPTY), &[]);
    assert_eq!(s.stats().fast_recoveries, 1);
}

#[test]
fn sack_resends_only_holes_and_counts_the_pipe() {
    let cfg = config(Control::RENO, true);
    let mut s = started(&cfg, 10);
    assert_eq!(drain(&mut s, &cfg, 0).len(), 10);
    // 0, 2 and 4 are lost.
    for (n, blocks) in [
        (1, &[(1_000, 2_000)][..]),
        (2, &[(3_000, 4_000), (1_000, 2_000)]),
        (3, &[(5_000, 6_000), (3_000, 4_000), (1_000, 2_000)]),
    ] {
        assert_eq!(s.stats().fast_recoveries, 0);
        s.on_ack(&cfg, Nanos(100_000 + n), &ack(0, Flags::EMPTY), blocks);
    }
    assert_eq!((s.cwnd(), s.stats().fast_recoveries), (5_000, 1));
    // Three SACKed ranges: only what lies below the lowest of them is lost. Pipe = 10 - 3 SACKed -
    // 1 lost = 6.
    assert_eq!(s.bytes_in_flight(), 6_000);
    assert_eq!(
        numbers(&drain(&mut s, &cfg, 100_003)),
        [0],
        "the first retransmission leaves even if the window is full"
    );
    assert_eq!(s.bytes_in_flight(), 7_000);
    // The rest of the window arrives: all holes are lost now; the pipe is the retransmission
    // alone, and 2 and 4 leave.
    s.on_ack(
        &cfg,
        Nanos(100_007),
        &ack(0, Flags::EMPTY),
        &[(5_000, 10_000)],
    );
    assert_eq!(s.bytes_in_flight(), 1_000);
    assert_eq!(numbers(&drain(&mut s, &cfg, 100_007)), [2, 4]);
    s.on_ack(&cfg, Nanos(200_000), &ack(10, Flags::EMPTY), &[]);
    assert!(s.is_idle());
    assert_eq!(s.timeout(), None);
    assert_eq!(s.stats().retransmits, 3);
}

#[test]
fn a_reordered_segment_is_not_a_loss() {
    for sack in [false, true] {
        let cfg = config(Control::RENO, sack);
        let mut s = started(&cfg, 10);
        drain(&mut s, &cfg, 0);
        for n in 2..=3 {
            let block = [(1_000, n * 1_000)];
            s.on_ack(
                &cfg,
                Nanos(100_000),
                &ack(0, Flags::EMPTY),
                if sack { &block } else { &[] },
            );
        }
        s.on_ack(&cfg, Nanos(100_001), &ack(3, Flags::EMPTY), &[]);
        assert_eq!(s.stats(), &Default::default());
        assert_eq!(s.bytes_in_flight(), 7_000);
    }
}

#[test]
fn the_timeout_doubles_until_an_acknowledgement_arrives() {
    let cfg = Config {
        rto_max: Nanos::from_millis(30),
        ..config(Control::RENO, true)
    };
    let mut s = started(&cfg, 10);
    drain(&mut s, &cfg, 0);
    let mut now = 0;
    for (wait, window) in [
        (5, 1_000),
        (10, 1_000),
        (20, 1_000),
        (30, 1_000),
        (30, 1_000),
    ] {
        let due = Nanos(now + wait * 1_000_000);
        assert_eq!(s.timeout(), Some(due));
        s.on_timeout(&cfg, Nanos(due.0 - 1));
        assert!(!s.can_send(&cfg), "an early call does nothing");
        s.on_timeout(&cfg, due);
        now = due.0;
        assert_eq!(numbers(&drain(&mut s, &cfg, now)), [0]);
        assert_eq!(s.cwnd(), window);
    }
    assert_eq!(
        s.stats(),
        &cemark_transport::SenderStats {
            retransmits: 5,
            timeouts: 5,
            ..Default::default()
        }
    );
    // The threshold is half of the first flight, held through the repeats: slow start 1, 2, 4, 5,
    // then avoidance.
    let answer = Ack {
        ts_echo: now as u32,
        ..ack(1, Flags::EMPTY)
    };
    s.on_ack(&cfg, Nanos(now + 100_000), &answer, &[]);
    assert_eq!(s.timeout(), Some(Nanos(now + 100_000) + cfg.rto_min));
    assert_eq!(numbers(&drain(&mut s, &cfg, now + 100_000)), [1, 2]);
    for (n, window) in [(2, 3_000), (3, 4_000), (4, 5_000), (5, 5_000)] {
        s.on_ack(&cfg, Nanos(now + 200_000), &ack(n, Flags::EMPTY), &[]);
        assert_eq!(s.cwnd(), window);
    }
}

#[test]
fn sacked_segments_are_not_sent_again_after_a_timeout() {
    let cfg = config(Control::RENO, true);
    let mut s = started(&cfg, 10);
    drain(&mut s, &cfg, 0);
    s.on_ack(
        &cfg,
        Nanos(100_000),
        &ack(0, Flags::EMPTY),
        &[(5_000, 7_000)],
    );
    let due = s.timeout().unwrap();
    s.on_timeout(&cfg, due);
    let mut sent = Vec::new();
    for cum in [1, 2, 3, 4, 7, 8, 9, 10] {
        sent.extend(numbers(&drain(&mut s, &cfg, due.0)));
        s.on_ack(&cfg, due, &ack(cum, Flags::EMPTY), &[]);
    }
    assert_eq!(sent, [0, 1, 2, 3, 4, 7, 8, 9]);
    assert!(s.is_idle());
}

#[test]
fn the_handshake_comes_first_and_is_repeated() {
    let cfg = Config {
        handshake: true,
        rto_init: Nanos::from_millis(50),
        ..config(
            DctcpConfig {
                alpha_init: 0,
                ..DctcpConfig::default()
            }
            .control(),
            true,
        )
    };
    let mut s = Sender::new(&cfg);
    assert!(!s.can_send(&cfg), "nothing is written");
    s.write(3_000);
    let syn = s.poll_transmit(&cfg, Nanos::ZERO).unwrap();
    assert_eq!((syn.len, syn.flags, syn.ecn), (0, Flags::SYN, Ecn::NotEct));
    assert_eq!(cemark_transport::segment_wire_bytes(&cfg, &syn), 40);
    assert_eq!(s.poll_transmit(&cfg, Nanos::ZERO), None);
    assert_eq!(s.timeout(), Some(Nanos::from_millis(50)));
    s.on_timeout(&cfg, Nanos::from_millis(50));
    let again = s.poll_transmit(&cfg, Nanos::from_millis(50)).unwrap();
    assert_eq!(again.flags, Flags::SYN.with(Flags::RETX));
    assert_eq!(s.timeout(), Some(Nanos::from_millis(150)));
    let now = Nanos::from_millis(51);
    s.on_ack(
        &cfg,
        now,
        &Ack {
            ts_echo: again.ts,
            ..ack(0, Flags::SYN)
        },
        &[],
    );
    assert_eq!(s.cwnd(), 1_000, "a lost SYN leaves one segment");
    assert_eq!(numbers(&drain(&mut s, &cfg, now.0)), [0]);
    assert_eq!(s.timeout(), Some(now + cfg.rto_min));
    s.on_ack(
        &cfg,
        now,
        &Ack {
            ts_echo: again.ts,
            ..ack(0, Flags::SYN)
        },
        &[],
    );
    assert_eq!(s.bytes_in_flight(), 1_000, "a late SYN-ACK is ignored");
}

#[test]
fn segments_end_where_what_was_written_ends() {
    let cfg = config(Control::RENO, true);
    let mut s = Sender::new(&cfg);
    assert_eq!(s.write(1_300), 1_300);
    let first = drain(&mut s, &cfg, 0);
    assert_eq!(
        first.iter().map(|p| (p.seq, p.len)).collect::<Vec<_>>(),
        [(0, 1000), (1000, 300)]
    );
    assert!(!first[0].flags.has(Flags::PUSH) && first[1].flags.has(Flags::PUSH));
    // Two messages written before either left share a segment.
    s.write(200);
    assert_eq!(s.write(500), 2_000);
    let second = drain(&mut s, &cfg, 0);
    assert_eq!(
        second.iter().map(|p| (p.seq, p.len)).collect::<Vec<_>>(),
        [(1300, 700)]
    );
    assert_eq!(s.write(u64::MAX), u64::MAX);
    assert_eq!(s.write(5), u64::MAX);
    assert_eq!(
        drain(&mut s, &cfg, 0).len(),
        8,
        "the window, not the stream, ends it"
    );
}

#[test]
fn the_receive_window_bounds_what_is_outstanding() {
    let cfg = Config {
        receive_window: 3_500,
        ..config(Control::RENO, true)
    };
    let mut s = started(&cfg, 100);
    assert_eq!(drain(&mut s, &cfg, 0).len(), 3);
    for n in 1..50 {
        s.on_ack(&cfg, Nanos(n * 1_000), &ack(n, Flags::EMPTY), &[]);
        assert_eq!(drain(&mut s, &cfg, n * 1_000).len(), 1);
    }
    assert_eq!(
        s.cwnd(),
        10_000,
        "a window that is never filled does not grow"
    );
}

#[test]
fn an_idle_connection_restarts_only_where_asked() {
    for keep in [false, true] {
        let cfg = Config {
            keep_window: keep,
            ..config(Control::RENO, true)
        };
        let mut s = started(&cfg, 40);
        let mut cum = 0;
        while !s.is_idle() {
            let sent = drain(&mut s, &cfg, 1_000).len() as u64;
            for _ in 0..sent {
                cum += 1;
                s.on_ack(&cfg, Nanos(2_000), &ack(cum, Flags::EMPTY), &[]);
            }
        }
        assert!(s.cwnd() > 20_000);
        s.write(100_000);
        let burst = drain(&mut s, &cfg, 100_000_000).len() as u64;
        assert_eq!(burst == 10, !keep, "{burst}");
        assert_eq!(s.cwnd() == 10_000, !keep);
    }
}

#[test]
fn duplicates_caused_by_our_own_retransmissions_are_no_loss() {
    let cfg = config(Control::RENO, false);
    let mut s = started(&cfg, 4);
    drain(&mut s, &cfg, 0);
    let due = s.timeout().unwrap();
    s.on_timeout(&cfg, due);
    assert_eq!(numbers(&drain(&mut s, &cfg, due.0)), [0]);
    // The timeout was spurious: everything arrived late, and the retransmitted 0 causes duplicate
    // ACKs.
    s.on_ack(&cfg, due, &ack(4, Flags::EMPTY), &[]);
    s.write(10_000);
    let sent = drain(&mut s, &cfg, due.0).len();
    assert_eq!(sent, 2);
    for _ in 0..3 {
        s.on_ack(&cfg, due, &ack(4, Flags::EMPTY), &[]);
    }
    assert!(
        drain(&mut s, &cfg, due.0)
            .iter()
            .all(|p| !p.flags.has(Flags::RETX))
    );
    assert_eq!(s.stats().fast_recoveries, 0);
    // Beyond what was retransmitted, three duplicates mean loss again.
    s.on_ack(&cfg, due, &ack(5, Flags::EMPTY), &[]);
    drain(&mut s, &cfg, due.0);
    for _ in 0..3 {
        s.on_ack(&cfg, due, &ack(5, Flags::EMPTY), &[]);
    }
    assert_eq!(s.stats().fast_recoveries, 1);
}

#[test]
fn the_third_packet_of_a_handshake_leaves_before_the_data() {
    for third_packet in [false, true] {
        let mut cfg = config(Control::CUBIC, true);
        cfg.handshake = true;
        cfg.stack.third_packet = third_packet;
        let mut s = started(&cfg, 3);
        let mut r = Receiver::new(&cfg);
        let syn = drain(&mut s, &cfg, 0);
        assert_eq!((syn.len(), syn[0].flags), (1, Flags::SYN));
        let Acks::One(answer) = r.on_data(&cfg, Nanos(10), &syn[0]) else {
            panic!("no SYN-ACK");
        };
        s.on_ack(&cfg, Nanos(20), &answer, &[]);
        let sent = drain(&mut s, &cfg, 20);
        let lengths: Vec<u16> = sent.iter().map(|seg| seg.len).collect();
        match third_packet {
            false => assert_eq!(lengths, [1000, 1000, 1000]),
            true => {
                assert_eq!(lengths, [0, 1000, 1000, 1000]);
                assert_eq!((sent[0].flags, sent[1].seq), (Flags::EMPTY, 0));
                // Nothing answers it.
                assert_eq!(r.on_data(&cfg, Nanos(30), &sent[0]), Acks::None);
                assert_eq!(r.timeout(), None);
            }
        }
    }
}
