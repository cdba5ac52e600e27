// SPDX-License-Identifier: MIT OR Apache-2.0
//! DCTCP for a transport that numbers its packets: a QUIC-like sender in about 40 lines.
//!
//! `QuicSender` does what RFC 9002 asks of one: it remembers the packets in flight, removes those
//! that the ranges of an ACK_ECN frame acknowledge, declares a packet lost once a packet three
//! numbers higher is acknowledged, and asks the window before it sends. `main` runs it over a path
//! that marks.

use std::collections::BTreeMap;

use cemark_transport::Stack;
use cemark_transport::cc::dctcp::{Dctcp, DctcpConfig};
use cemark_transport::cc::{Flight, PathSpec};
use cemark_wire::Nanos;

/// Packet numbers, both ends included.
type Range = std::ops::RangeInclusive<u64>;

/// Payload of a full packet.
const SIZE: u64 = 1200;

/// The path that DCTCP learns: the header is UDP, IP, and QUIC's short header and tag.
const PATH: PathSpec = PathSpec {
    stack: Stack::NONE,
    mss: SIZE as u16,
    header: 28 + 20,
    init_window: 10,
};

/// The sender. It always has something to send.
pub struct QuicSender {
    /// The packets in flight, and when each was sent.
    sent: BTreeMap<u64, Nanos>,
    next: u64,
    /// The congestion controller with what it needs to know.
    pub flight: Flight<Dctcp>,
}

impl QuicSender {
    /// A connection that has sent nothing.
    pub fn new(path: &PathSpec) -> QuicSender {
        QuicSender {
            sent: BTreeMap::new(),
            next: 0,
            flight: Flight::new(path, Dctcp::new(path, DctcpConfig::default())),
        }
    }

    /// The number of the next packet, if the window has room for one.
    pub fn poll_transmit(&mut self, now: Nanos) -> Option<u64> {
        if !self.flight.can_send(SIZE) {
            return None;
        }
        self.flight.on_sent(now, self.next, SIZE);
        self.sent.insert(self.next, now);
        self.next += 1;
        Some(self.next - 1)
    }

    /// An ACK_ECN frame: the acknowledged ranges, largest first, and how many packets have arrived
    /// with CE since the connection began. Returns the packets that it reveals as lost.
    pub fn on_ack_frame(&mut self, now: Nanos, ranges: &[Range], ce_count: u64) -> Vec<u64> {
        let largest = *ranges[0].end();
        let rtt = self.sent.get(&largest).map(|&at| (now - at).0 as u32);
        for range in ranges {
            for (packet, _) in self.sent.extract_if(range.clone(), |_, _| true) {
                self.flight.on_acked(now, packet, SIZE);
            }
        }
        self.flight.on_ack_end(now, ce_count, rtt);

        // RFC 9002 section 6.1.1: a packet is lost if one three numbers higher is acknowledged.
        let recent = self.sent.split_off(&largest.saturating_sub(2));
        let lost = std::mem::replace(&mut self.sent, recent);
        for &packet in lost.keys() {
            self.flight.on_lost(packet, SIZE);
        }
        self.flight.on_loss_end(now, false);
        lost.into_keys().collect()
    }
}

/// Measurements of a run.
#[derive(Debug)]
pub struct Seen {
    /// Mean window of the second half, in packets.
    pub mean_window: f64,
    /// DCTCP's alpha at the end, from 0 to 1.
    pub alpha: f64,
    /// Packets declared lost.
    pub lost: usize,
}

/// Runs the sender for `rounds` round trips of 100 us. The path marks every packet beyond `limit`
/// packets in flight and loses packet number `lose`.
pub fn run(rounds: u64, limit: usize, lose: u64) -> Seen {
    let mut sender = QuicSender::new(&PATH);
    let (mut ce, mut lost, mut windows) = (0, 0, Vec::new());
    for round in 0..rounds {
        let now = Nanos::from_micros(100 * round);
        let window: Vec<u64> = std::iter::from_fn(|| sender.poll_transmit(now)).collect();
        windows.push(window.len() as f64);
        ce += window.len().saturating_sub(limit) as u64;
        // The receiver acknowledges all that arrived with one frame: two ranges if one is missing.
        let (first, last) = (window[0], window[window.len() - 1]);
        let ranges = match window.contains(&lose) && lose > first && lose < last {
            true => vec![lose + 1..=last, first..=lose - 1],
            false => vec![first..=last],
        };
        let now = now + Nanos::from_micros(99);
        lost += sender.on_ack_frame(now, &ranges, ce).len();
    }
    let half = &windows[windows.len() / 2..];
    Seen {
        mean_window: half.iter().sum::<f64>() / half.len() as f64,
        alpha: f64::from(sender.flight.controller().alpha()) / f64::from(1 << 20),
        lost,
    }
}

fn main() {
    println!("{:#?}", run(1_000, 100, 5_000));
}
