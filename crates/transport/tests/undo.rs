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
