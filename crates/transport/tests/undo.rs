// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cuts that are taken back, compared with traces worked out by hand. Segments have 1000 bytes.

use cemark_transport::{Ack, Config, Control, Segment, Sender};
use cemark_wire::{Flags, Nanos};

const MS: u64 = 1_000_000;

fn config(undo: bool) -> Config {
    let mut cfg = Config {
        control: Control::CUBIC,
        sack: true,
        lost_retransmissions: true,
        mss: 1000,
        init_window: 10,
        ..Config::default()
    };
    cfg.stack.undo = undo;
    cfg
}

fn ack(cum: u64, ts_ms: u64) -> Ack {
    Ack {
        cum: cum * 1000,
        flags: Flags::ACK,
        ts_echo: (ts_ms * MS) as u32,
        sacks: 0,
    }
}

fn drain(s: &mut Sender, cfg: &Config, ms: u64) -> Vec<Segment> {
    std::iter::from_fn(|| s.poll_transmit(cfg, Nanos(ms * MS))).collect()
}

/// Ten segments left at 5 ms. The acknowledgements of all but those in `holes` arrive at 10 ms, and
/// the holes are sent again.
fn recovering(cfg: &Config, holes: &[u64]) -> Sender {
    let mut s = Sender::new(cfg);
    s.write(100_000);
    assert_eq!(drain(&mut s, cfg, 5).len(), 10);
    let mut sent = Vec::new();
    for n in (0..10).filter(|n| !holes.contains(n)) {
        let block = (n * 1000, (n + 1) * 1000);
        s.on_ack(cfg, Nanos(10 * MS), &ack(0, 5), &[block]);
        let again = drain(&mut s, cfg, 10).into_iter();
        sent.extend(
            again
                .filter(|seg| seg.flags.has(Flags::RETX))
                .map(|seg| seg.seq / 1000),
        );
    }
    assert_eq!(sent, holes);
    assert_eq!(s.cwnd(), 7_000);
    s
}

#[test]
fn a_late_original_takes_the_cut_back() {
    for (undo, echo, cwnd) in [
        // The timestamp is that of the original.
        (true, 5, 10_000),
        // That of the retransmission.
        (true, 10, 7_000),
        (false, 5, 7_000),
    ] {
        let cfg = config(undo);
        let mut s = recovering(&cfg, &[0]);
        // Nothing beyond the recovery has left.
        s.on_ack(&cfg, Nanos(12 * MS), &ack(10, echo), &[]);
        assert_eq!((s.cwnd(), s.undone_cuts()), (cwnd, u32::from(cwnd > 7_000)));
        assert!(
            drain(&mut s, &cfg, 12)
                .iter()
                .all(|seg| !seg.flags.has(Flags::RETX))
        );
    }
}

#[test]
fn originals_are_waited_for_while_a_retransmission_is_out() {
    let cfg = config(true);
    let mut s = recovering(&cfg, &[0, 5]);
    s.on_ack(&cfg, Nanos(12 * MS), &ack(5, 5), &[(6_000, 10_000)]);
    assert_eq!((s.cwnd(), s.undone_cuts()), (7_000, 0), "segment 5 is out");
    s.on_ack(&cfg, Nanos(13 * MS), &ack(10, 5), &[]);
    assert_eq!((s.cwnd(), s.undone_cuts()), (10_000, 1));
}

#[test]
fn reports_of_every_second_arrival_take_the_cut_back() {
    let cfg = config(true);
    let mut s = recovering(&cfg, &[0, 5]);
    // Both holes are filled; the timestamp does not say by what.
    s.on_ack(&cfg, Nanos(15 * MS), &ack(10, 10), &[]);
    s.on_ack(&cfg, Nanos(16 * MS), &ack(10, 10), &[(0, 1_000)]);
    assert_eq!((s.cwnd(), s.undone_cuts()), (7_000, 0), "one of two");
    s.on_ack(&cfg, Nanos(17 * MS), &ack(10, 10), &[(5_000, 6_000)]);
    assert_eq!((s.cwnd(), s.undone_cuts()), (10_000, 1));
    s.on_ack(&cfg, Nanos(18 * MS), &ack(10, 10), &[(5_000, 6_000)]);
    assert_eq!(s.undone_cuts(), 1, "once");
}

#[test]
fn a_cut_for_a_mark_is_not_taken_back() {
    let mut cfg = config(true);
    cfg.control = Control::CUBIC_ECN;
    let mut s = Sender::new(&cfg);
    s.write(100_000);
    drain(&mut s, &cfg, 5);
    let marked = Ack {
        flags: Flags::ACK.with(Flags::ECE),
        ..ack(1, 5)
    };
    s.on_ack(&cfg, Nanos(10 * MS), &marked, &[]);
    let cut = s.cwnd();
    assert!(cut < 10_000);
    for n in 2..10 {
        s.on_ack(
            &cfg,
            Nanos(10 * MS),
            &ack(1, 5),
            &[(n * 1000, (n + 1) * 1000)],
        );
        drain(&mut s, &cfg, 10);
    }
    assert_eq!(s.stats().fast_recoveries, 1);
    s.on_ack(&cfg, Nanos(12 * MS), &ack(10, 5), &[]);
    assert_eq!(s.undone_cuts(), 0);
    assert!(s.cwnd() <= cut + 1_000, "{} after {cut}", s.cwnd());
}

#[test]
fn a_timeout_before_a_late_acknowledgement_is_taken_back() {
    for (echo, undone) in [(5, 1), (300, 0)] {
        let cfg = config(true);
        let mut s = Sender::new(&cfg);
        s.write(10_000);
        drain(&mut s, &cfg, 5);
        let due = s.timeout().expect("a timer");
        s.on_timeout(&cfg, due);
        assert_eq!(s.cwnd(), 1_000);
        let again = due.0 / MS;
        assert_eq!(drain(&mut s, &cfg, again).len(), 1);
        let echo = if echo == 5 { 5 } else { again };
        s.on_ack(&cfg, Nanos(due.0 + 2 * MS), &ack(3, echo), &[]);
        assert_eq!(s.undone_cuts(), undone, "{echo}");
        assert_eq!(s.cwnd() >= 10_000, undone == 1);
        let resent = drain(&mut s, &cfg, again + 2);
        assert_eq!(resent.is_empty(), undone == 1, "nothing is lost");
    }
}

/// A mark after the recovery cuts, and the report that would undo the loss comes later.
#[test]
fn a_later_cut_for_a_mark_is_not_taken_back() {
    let mut cfg = config(true);
    cfg.control = Control::CUBIC_ECN;
    let marked = |cum, ts| Ack {
        flags: Flags::ACK.with(Flags::ECE),
        ..ack(cum, ts)
    };
    let mut s = recovering(&cfg, &[0]);
    let end = s.sent() / 1000;
    s.on_ack(&cfg, Nanos(15 * MS), &ack(end, 10), &[]);
    assert!(!drain(&mut s, &cfg, 15).is_empty());
    let all = s.sent() / 1000;
    s.on_ack(&cfg, Nanos(20 * MS), &marked(all, 15), &[]);
    let cut = s.cwnd();
    assert!(cut < 7_000, "{cut}");
    s.on_ack(&cfg, Nanos(21 * MS), &ack(all, 15), &[(0, 1_000)]);
    assert_eq!((s.cwnd(), s.undone_cuts()), (cut, 0));
    // An echo in the recovery keeps the cut of the loss, and the recovery ends.
    let mut s = recovering(&cfg, &[0]);
    s.on_ack(&cfg, Nanos(12 * MS), &marked(10, 5), &[]);
    assert_eq!(s.undone_cuts(), 0);
    assert!(s.cwnd() <= 7_000);
}

/// The segment behind the second hole has arrived twice, which its own block within a longer one
/// says.
#[test]
fn reports_above_the_cumulative_number_count() {
    let cfg = config(true);
    let mut s = recovering(&cfg, &[0, 5]);
    let range = (1_000, 10_000);
    s.on_ack(&cfg, Nanos(15 * MS), &ack(0, 10), &[(5_000, 6_000), range]);
    assert_eq!((s.cwnd(), s.undone_cuts()), (7_000, 0));
    s.on_ack(&cfg, Nanos(16 * MS), &ack(10, 10), &[(0, 1_000)]);
    assert_eq!(s.undone_cuts(), 1);
    assert!(s.cwnd() >= 10_000);
}

/// All retransmissions of a recovery have arrived twice, but another segment is lost: the sender
/// recovers again.
#[test]
fn a_real_loss_cuts_again() {
    let cfg = config(true);
    let mut s = Sender::new(&cfg);
    s.write(100_000);
    drain(&mut s, &cfg, 5);
    for n in 1..6 {
        s.on_ack(
            &cfg,
            Nanos(10 * MS),
            &ack(0, 5),
            &[(n * 1000, (n + 1) * 1000)],
        );
    }
    let again = drain(&mut s, &cfg, 10);
    assert!(again[0].flags.has(Flags::RETX));
    // Segment 6 is lost: 7, 8 and 9 arrive, and 0 arrives twice.
    s.on_ack(&cfg, Nanos(11 * MS), &ack(6, 10), &[(7_000, 10_000)]);
    s.on_ack(
        &cfg,
        Nanos(12 * MS),
        &ack(6, 10),
        &[(0, 1_000), (7_000, 10_000)],
    );
    let resent = drain(&mut s, &cfg, 12);
    let all = again.iter().chain(&resent);
    let repaired = all.filter(|seg| seg.flags.has(Flags::RETX) && seg.seq == 6_000);
    assert_eq!(repaired.count(), 1);
    assert!(s.cwnd() < 10_000, "{}", s.cwnd());
}

/// After an undo a hole that is left is looked at by the timer of RACK, not only by the timeout.
#[test]
fn after_an_undo_suspects_have_a_timer() {
    let mut cfg = config(true);
    cfg.lost_retransmissions = false;
    cfg.stack.rack = true;
    let mut s = Sender::new(&cfg);
    s.write(100_000);
    drain(&mut s, &cfg, 5);
    s.on_ack(&cfg, Nanos(10 * MS), &ack(1, 5), &[]);
    let later = drain(&mut s, &cfg, 10);
    assert!(later.len() >= 2);
    for n in 2..6 {
        s.on_ack(
            &cfg,
            Nanos(11 * MS),
            &ack(1, 5),
            &[(n * 1000, (n + 1) * 1000)],
        );
    }
    assert_eq!(s.stats().fast_recoveries, 1);
    drain(&mut s, &cfg, 11);
    // The original of 1 arrives late; 6 is missing before the segments that left at 10 ms.
    let beyond = (7_000, 12_000);
    s.on_ack(&cfg, Nanos(16 * MS), &ack(6, 5), &[beyond]);
    assert_eq!(s.undone_cuts(), 1);
    let due = s.timeout().expect("a timer");
    assert!(due < Nanos(16 * MS + 10 * MS), "{due:?}");
}
