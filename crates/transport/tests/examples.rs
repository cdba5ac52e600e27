// SPDX-License-Identifier: MIT OR Apache-2.0
//! The examples do what they say.

#[allow(dead_code)]
#[path = "../examples/connection.rs"]
mod connection;
#[allow(dead_code)]
#[path = "../examples/quic_dctcp.rs"]
mod quic_dctcp;

#[allow(dead_code)]
#[path = "../examples/senders.rs"]
mod senders;

use cemark_wire::Nanos;

#[test]
fn the_quic_like_sender_keeps_its_window_at_the_marking_limit() {
    let seen = quic_dctcp::run(1_000, 100, 5_000);
    assert_eq!(seen.lost, 1, "{seen:?}");
    // DCTCP oscillates around the limit with an amplitude of sqrt(2 x 100) / 2 = 7 packets.
    assert!((88.0..=104.0).contains(&seen.mean_window), "{seen:?}");
    assert!((0.005..0.5).contains(&seen.alpha), "{seen:?}");
}

#[test]
fn the_connection_ends_soon_and_marks_replace_losses() {
    let seen = connection::run(1_000_000, 30 * 1500);
    // 685 segments of 1500 bytes take 822 us, a round trip 41 us; slow start takes a few.
    assert!(seen.done > Nanos::from_micros(863), "{seen:?}");
    assert!(seen.done < Nanos::from_micros(1_100), "{seen:?}");
    assert!(seen.marks > 0 && seen.retransmits == 0, "{seen:?}");
    assert_eq!(connection::run(1_000_000, u64::MAX).marks, 0);
    assert!(connection::run(1_000_000, u64::MAX).deepest > 2 * seen.deepest);
}

fn senders(words: &str) -> senders::Totals {
    let (setup, _) = senders::setup(words.split(' ').map(str::to_owned)).expect("a setup");
    senders::run(&setup).1
}

fn wait(totals: &senders::Totals) -> Nanos {
    Nanos(totals.waited / totals.packets)
}

/// Eight windows of two segments: with delayed ACKs the first segment after a cut, which carries
/// CWR, waits for a second one. Linux 6.12 has 637 us where it acknowledges CWR at once, 839
/// without that rule.
#[test]
fn an_acknowledgement_of_cwr_at_once_takes_a_quarter_of_the_queue() {
    let case = "flows=8 rtt=100 ms=1000";
    let (without, with) = (senders(case), senders(&format!("{case} ack_cwr=true")));
    let near = |found: Nanos, us: u64| found.0.abs_diff(us * 1000) < 20_000;
    assert!(near(wait(&without), 839), "{:?}", wait(&without));
    assert!(near(wait(&with), 637), "{:?}", wait(&with));
}

/// An application fills Linux's send buffer whenever a third of it is free, and the last segment of
/// each write is acknowledged alone. Without that, pairs of segments keep the senders in step. Linux
/// 6.12 marks 0.145 of one flow's packets at a round trip of 1 ms and 0.222 at 250 us, and has
/// 331 us with eight flows.
#[test]
fn writes_into_the_send_buffer_break_the_step_of_the_flows() {
    let marked = |case: &str| {
        let totals = senders(&format!("stack=linux {case}"));
        totals.marks * 1000 / totals.packets
    };
    let one = "ms=3000 warm=1000";
    assert_eq!(marked(one), 145);
    assert_eq!(marked(&format!("{one} write_window=0")), 119);
    let short = "rate=250 rtt=250 t=256 ms=1000 warm=300";
    assert_eq!(marked(short), 258);
    assert_eq!(marked(&format!("{short} write_window=0")), 352);
    let eight = "flows=8 rtt=1000 ms=3000 warm=1000 stack=linux";
    let near = |found: Nanos, us: u64| found.0.abs_diff(us * 1000) < 10_000;
    let of = |more: &str| wait(&senders(&format!("{eight}{more}")));
    assert!(near(of(""), 320), "{:?}", of(""));
    assert!(near(of(" write_window=0"), 420));
    assert!(near(of(" write_window=0 write_size=18824"), 331));
}

/// Sixteen flows of 20 KB into 100 packets: without probes the last losses wait for the timeout.
#[test]
fn probes_turn_the_timeouts_of_an_incast_into_milliseconds() {
    let case = "flows=16 rtt=100 t=2000 bytes=20000 limit=100 gap=0 warm=0 handshake=true";
    let ms = |more: &str| senders(&format!("{case} {more}")).last.0 / 1_000_000;
    assert!(ms("stack=linux") < 20);
    assert!((200..300).contains(&ms("stack=linux tlp=false")));
    assert!((200..300).contains(&ms("ms=2000")));
}

#[test]
fn a_word_that_is_not_known_is_named() {
    let error = |word: &str| senders::setup(std::iter::once(word.to_owned())).unwrap_err();
    assert!(error("wobble=1").contains("wobble"));
    assert!(error("flows=many").contains("flows"));
}
