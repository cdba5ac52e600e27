// SPDX-License-Identifier: MIT OR Apache-2.0
//! The examples do what they say.

#[allow(dead_code)]
#[path = "../examples/connection.rs"]
mod connection;
#[allow(dead_code)]
#[path = "../examples/quic_dctcp.rs"]
mod quic_dctcp;

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
