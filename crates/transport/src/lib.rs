// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transports and congestion control without sockets, clocks or threads.
//!
//! Time and packets are arguments; what to send and when to wake up are return values. Nothing
//! here blocks, and the same calls give the same result on every machine. There are three ways to
//! use it:
//!
//! | you have | use |
//! |---|---|
//! | a transport that numbers its packets (QUIC) | [`cc::Flight`] and any [`cc::Controller`] |
//! | a network, and want TCP on it | [`Connection`], or one [`Sender`] and one [`Receiver`] |
//! | a network, and want RDMA queue pairs on it | [`rdma::Requester`] and [`rdma::Responder`] |
//!
//! The controllers are NewReno, ECN\*, DCTCP, CUBIC with and without ECN, BBR, and, for queue
//! pairs, DCQCN: [`cc::catalogue::ALL`].
//!
//! # Example
//!
//! DCTCP for a transport that numbers its packets. The controller learns about acknowledgements,
//! CE marks and losses in packets and bytes:
//!
//! ```
//! use cemark_transport::cc::dctcp::{Dctcp, DctcpConfig};
//! use cemark_transport::cc::{Flight, PathSpec};
//! use cemark_wire::Nanos;
//!
//! let path = PathSpec { mss: 1200, header: 28, ..PathSpec::default() };
//! let dctcp = Dctcp::new(&path, DctcpConfig::default());
//! let mut flight = Flight::new(&path, dctcp);
//!
//! // Send as long as the window allows.
//! let mut next = 0;
//! while flight.can_send(1200) {
//!     flight.on_sent(Nanos(0), next, 1200);
//!     next += 1;
//! }
//! assert_eq!((next, flight.bytes_in_flight()), (10, 12_000));
//!
//! // An ACK_ECN frame acknowledges packets 0 to 9 and counts 2 packets with CE so far.
//! for packet in 0..10 {
//!     flight.on_acked(Nanos(100_000), packet, 1200);
//! }
//! flight.on_ack_end(Nanos(100_000), 2, Some(100_000));
//! assert!(flight.cwnd() < 12_000);
//! assert_eq!(flight.bytes_in_flight(), 0);
//! ```
//!
//! `examples/quic_dctcp.rs` is a whole sender with loss detection, `examples/connection.rs` a TCP
//! connection over two queues.
#![no_std]
#![warn(clippy::too_many_lines)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod cc;
mod config;
mod ranges;
pub mod rdma;
mod segment;
mod tcp;

pub use cc::{Congestion, Control};
pub use config::Config;
pub use segment::{Ack, Acks, Segment, segment_wire_bytes};
pub use tcp::{
    Connection, Event, Frame, MessageId, Paced, Receiver, SackBlocks, Sender, SenderStats, Stack,
};
