// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue pairs: which packets are sent after a loss, and at what rate.

use std::collections::VecDeque;

use cemark_transport::rdma::{CNP, NAK, Rdma, Requester, Responder, Retransmit};
use cemark_transport::{Ack, Config, Segment};
use cemark_wire::{Ecn, Flags, Nanos, Rate};

fn config() -> Config {
    Config {
        mss: 1000,
        header_bytes: 0,
        rto_min: Nanos::from_micros(100),
        ..Config::default()
    }
}

fn rdma(retransmit: Retransmit) -> Rdma {
    Rdma {
        retransmit,
        ..Rdma::default()
    }
}

/// A requester with `packets` packets written.
fn requester(r: &Rdma, packets: u64) -> Requester {
    let mut q = Requester::new(r, Rate::gbps(10));
    q.write(packets * 1000);
    q
}

fn poll(q: &mut Requester, r: &Rdma, now: u64) -> Option<(u64, bool)> {
    q.poll_transmit(&config(), r, Nanos(now))
        .map(|s| (s.seq / 1000, s.flags.has(Flags::RETX)))
}

fn data(packet: u64) -> Segment {
    Segment {
        seq: packet * 1000,
        len: 1000,
        flags: Flags::EMPTY,
        ecn: Ecn::Ect0,
        ts: 0,
    }
}

fn ack(packet: u64, flags: Flags) -> Ack {
    Ack {
        cum: packet * 1000,
        flags: Flags::ACK.with(flags),
        ts_echo: 0,
        sacks: 0,
    }
}

#[test]
fn go_back_n_retransmits_from_the_hole_and_reports_it_once() {
    let (cfg, r) = (config(), rdma(Retransmit::GoBackN));
    let mut q = requester(&r, 6);
    let sent: Vec<_> = std::iter::from_fn(|| poll(&mut q, &r, 0)).collect();
    assert_eq!(sent, (0..6).map(|n| (n, false)).collect::<Vec<_>>());
    // Packet 2 is lost. 3 is answered with a negative acknowledgement; 4 and 5 are not answered.
    let mut p = Responder::new();
    let answers: Vec<_> = [0, 1, 3, 4, 5]
        .map(|n| p.on_data(&cfg, &r, Nanos(0), &data(n)).ack)
        .into();
    let none = Flags::EMPTY;
    assert_eq!(
        answers,
        [
            Some(ack(1, none)),
            Some(ack(2, none)),
            Some(ack(2, NAK)),
            None,
            None
        ]
    );
    for a in answers.iter().flatten() {
        q.on_ack(&cfg, &r, Nanos(10), a, None);
    }
    let again: Vec<_> = std::iter::from_fn(|| poll(&mut q, &r, 10)).collect();
    assert_eq!(again, (2..6).map(|n| (n, true)).collect::<Vec<_>>());
    assert_eq!(q.stats().retransmits, 4);
    // A duplicate packet is acknowledged again; a new hole is reported again.
    assert_eq!(
        p.on_data(&cfg, &r, Nanos(0), &data(0)).ack,
        Some(ack(2, none))
    );
    assert_eq!(
        p.on_data(&cfg, &r, Nanos(0), &data(2)).ack,
        Some(ack(3, none))
    );
    assert_eq!(
        p.on_data(&cfg, &r, Nanos(0), &data(4)).ack,
        Some(ack(3, NAK))
    );
}

#[test]
fn selective_repeat_resends_only_what_is_missing() {
    let (cfg, r) = (config(), rdma(Retransmit::Selective));
    let mut q = requester(&r, 8);
    while poll(&mut q, &r, 0).is_some() {}
    q.write(1000);
    let mut p = Responder::new();
    // 1, 4 and 5 are lost.
    for n in [0, 2, 3, 6, 7] {
        let replies = p.on_data(&cfg, &r, Nanos(0), &data(n));
        q.on_ack(&cfg, &r, Nanos(10), &replies.ack.unwrap(), replies.beyond);
    }
    assert_eq!(p.delivered(), 1000);
    let sent: Vec<_> = std::iter::from_fn(|| poll(&mut q, &r, 10)).collect();
    assert_eq!(sent, [(1, true), (4, true), (5, true), (8, false)]);
    for n in [1, 4, 5, 8] {
        let replies = p.on_data(&cfg, &r, Nanos(20), &data(n));
        q.on_ack(&cfg, &r, Nanos(20), &replies.ack.unwrap(), replies.beyond);
    }
    assert_eq!((p.delivered(), q.acked()), (9000, 9000));
    assert_eq!(q.timeout(&cfg, Nanos(20)), None, "nothing to wait for");
}

#[test]
fn a_lost_tail_waits_for_the_timer() {
    for retransmit in [Retransmit::GoBackN, Retransmit::Selective] {
        let (cfg, r) = (config(), rdma(retransmit));
        let mut q = requester(&r, 3);
        while poll(&mut q, &r, 0).is_some() {}
        q.on_ack(&cfg, &r, Nanos(5_000), &ack(1, Flags::EMPTY), None);
        assert_eq!(q.timeout(&cfg, Nanos(5_000)), Some(Nanos(105_000)));
        q.on_timeout(&cfg, &r, Nanos(104_999));
        assert_eq!(poll(&mut q, &r, 104_999), None);
        q.on_timeout(&cfg, &r, Nanos(105_000));
        let sent: Vec<_> = std::iter::from_fn(|| poll(&mut q, &r, 105_000)).collect();
        assert_eq!(sent, [(1, true), (2, true)], "{retransmit:?}");
        assert_eq!(q.stats().timeouts, 1);
    }
}

#[test]
fn the_pace_is_exact_and_catches_nothing_up() {
    let r = rdma(Retransmit::GoBackN);
    let mut q = requester(&r, 1 << 20);
    let cfg = config();
    assert_eq!(
        poll(&mut q, &r, 0),
        Some((0, false)),
        "line rate: no gate of its own"
    );
    assert_eq!(poll(&mut q, &r, 0), Some((1, false)));
    // Two notifications: 10 -> 5 -> 2.5 Gb/s. A thousand bytes take 3.2 us; the rate rises after 55
    // us.
    q.on_ack(&cfg, &r, Nanos(0), &ack(0, CNP), None);
    q.on_ack(&cfg, &r, Nanos(0), &ack(0, CNP), None);
    let mut at = Vec::new();
    let mut now = 0;
    while at.len() < 10 {
        if poll(&mut q, &r, now).is_some() {
            at.push(now);
        }
        now = q.timeout(&cfg, Nanos(now)).unwrap().0.max(now);
    }
    assert_eq!(at, (0..10).map(|n| n * 3200).collect::<Vec<_>>());
    // A busy link delays the next packet by a microsecond: those behind it keep their distance.
    assert!(poll(&mut q, &r, 33_000).is_some());
    assert_eq!(q.gate(), Nanos(36_200));
    // A third of a nanosecond is not lost: 3 Gb/s would be 2666.67 ns a packet.
    let slow = Rdma {
        dcqcn: cemark_transport::rdma::Dcqcn {
            min_rate: Rate::gbps(3),
            ..r.dcqcn
        },
        ..r
    };
    let mut q = requester(&slow, 1 << 20);
    for _ in 0..2 {
        q.on_ack(&cfg, &slow, Nanos(0), &ack(0, CNP), None);
    }
    let mut now = 0;
    for _ in 0..15 {
        assert!(poll(&mut q, &slow, now).is_some());
        now = q.gate().0;
    }
    assert_eq!(now, 40_000, "15 packets in 40 us");
}

/// An acknowledgement and the range that arrived beyond a hole.
type Answer = (Ack, Option<(u64, u64)>);

/// A lossy pipe with reordering: every byte arrives, and the requester ends idle.
#[test]
fn every_byte_arrives_through_a_lossy_pipe() {
    for retransmit in [Retransmit::GoBackN, Retransmit::Selective] {
        let mut resent = Vec::new();
        for loss in [0u64, 2, 20] {
            let (cfg, r) = (config(), rdma(retransmit));
            let mut q = requester(&r, 2000);
            let mut p = Responder::new();
            let (mut now, mut random) = (0u64, 12345u64);
            let mut lost = || {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (random >> 33) % 100 < loss
            };
            let mut wire: VecDeque<(u64, Segment)> = VecDeque::new();
            let mut back: VecDeque<(u64, Answer)> = VecDeque::new();
            while p.delivered() < 2_000_000 || q.acked() < 2_000_000 {
                now += 400;
                assert!(
                    now < 10_000_000_000,
                    "{retransmit:?} with {loss} % makes no progress"
                );
                if let Some(s) = q.poll_transmit(&cfg, &r, Nanos(now))
                    && !lost()
                {
                    // Every tenth packet takes a longer way.
                    let way = if s.seq % 10_000 == 0 && loss > 0 {
                        7_000
                    } else {
                        5_000
                    };
                    wire.push_back((now + way, s));
                }
                while let Some(i) = wire.iter().position(|w| w.0 <= now) {
                    let (_, s) = wire.remove(i).unwrap();
                    let replies = p.on_data(&cfg, &r, Nanos(now), &s);
                    if let Some(a) = replies.ack
                        && !lost()
                    {
                        back.push_back((now + 5_000, (a, replies.beyond)));
                    }
                }
                while back.front().is_some_and(|b| b.0 <= now) {
                    let (_, (a, beyond)) = back.pop_front().unwrap();
                    q.on_ack(&cfg, &r, Nanos(now), &a, beyond);
                }
                q.on_timeout(&cfg, &r, Nanos(now));
            }
            assert_eq!(p.delivered(), 2_000_000);
            resent.push(q.stats().retransmits);
        }
        assert_eq!(resent[0], 0, "no loss, nothing sent again");
        // Two losses in a hundred (and a reordering every tenth packet, which looks like one).
        match retransmit {
            Retransmit::GoBackN => assert!(resent[1] > 2_000, "{resent:?}"),
            Retransmit::Selective => assert!(resent[1] < 400, "{resent:?}"),
        }
    }
}

/// The window of HPCC's simulator: a packet may leave while fewer bytes are in flight than the
/// receive window times the rate over the link's, and one always may.
#[test]
fn a_window_by_rate_shrinks_with_the_rate() {
    let cfg = Config {
        receive_window: 4_500,
        ..config()
    };
    let mut r = rdma(Retransmit::GoBackN);
    r.dcqcn.window_by_rate = true;
    r.dcqcn.rate_timer = Nanos::from_millis(1);
    r.dcqcn.clamp_target = false;
    let mut q = requester(&r, 30);
    let burst = |q: &mut Requester, now: u64| {
        let mut sent = 0;
        for step in 0..100 {
            let now = Nanos(now + step * 100_000);
            assert_eq!(q.can_send(&cfg, now), {
                let polled = q.poll_transmit(&cfg, &r, now).is_some();
                sent += u32::from(polled);
                polled
            });
            if !q.can_send(&cfg, Nanos(now.0 + 1_000_000)) {
                break;
            }
        }
        sent
    };
    // 0, 1000, ... 4000 bytes are fewer than 4500.
    assert_eq!(burst(&mut q, 0), 5);
    q.on_ack(&cfg, &r, Nanos(1), &ack(5, Flags::EMPTY), None);
    // Half the rate: 0, 1000 and 2000 bytes are fewer than 2250.
    q.on_cnp(&r, Nanos(2));
    assert_eq!(burst(&mut q, 10), 3);
    q.on_ack(&cfg, &r, Nanos(400_000), &ack(8, Flags::EMPTY), None);
    // The smallest rate: one packet at a time.
    for _ in 0..7 {
        q.on_cnp(&r, Nanos(400_001));
    }
    assert_eq!(burst(&mut q, 400_010), 1);
    // The timer raises the rate again; an acknowledgement shows it.
    q.on_ack(&cfg, &r, Nanos(8_000_000), &ack(9, Flags::EMPTY), None);
    assert!(burst(&mut q, 8_000_010) > 1);
}
