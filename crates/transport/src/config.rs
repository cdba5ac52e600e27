// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parameters of TCP connections.

use cemark_wire::{Ecn, Nanos};

use crate::Stack;
use crate::cc::{Control, ControllerSpec, PathSpec};
use crate::rdma::Rdma;

/// Parameters of a TCP connection. One value serves all connections of a simulation and is passed
/// by reference.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Config {
    /// Congestion controller and its parameters.
    pub control: Control,
    /// Payload of a full segment in bytes.
    pub mss: u16,
    /// Header bytes on the wire of a data segment: 40 for IP and TCP, and what the port counts on
    /// top, if wanted.
    pub header_bytes: u16,
    /// Bytes on the wire of a pure ACK.
    pub ack_bytes: u16,
    /// Initial window in segments.
    pub init_window: u32,
    /// Keep the congestion window of a connection that has been idle; otherwise it restarts at
    /// `init_window`.
    pub keep_window: bool,
    /// Smallest retransmission timeout.
    pub rto_min: Nanos,
    /// Retransmission timeout before the first sample.
    pub rto_init: Nanos,
    /// Largest retransmission timeout.
    pub rto_max: Nanos,
    /// Full segments per ACK (1: every packet is acknowledged at once).
    pub ack_every: u32,
    /// Longest time for which an ACK is delayed.
    pub ack_delay: Nanos,
    /// Receive window in bytes.
    pub receive_window: u64,
    /// A new connection exchanges SYN and SYN-ACK before data.
    pub handshake: bool,
    /// Segments that one write, ACK or timer releases at most, whatever the windows allow; 0: no
    /// such limit. The host obeys it, and the window grows as if it were in use.
    pub max_burst: u32,
    /// Selective acknowledgements (RFC 2018, 6675); without them NewReno (RFC 6582).
    pub sack: bool,
    /// NewReno's timer restarts at every partial ACK of a recovery, not at the first alone (the
    /// Slow-but-Steady variant of RFC 6582 section 4; the other one is called Impatient).
    pub slow_but_steady: bool,
    /// Duplicate ACKs (or SACKed segments) that start a fast retransmit.
    pub dup_acks: u32,
    /// Detect lost retransmissions: if `dup_acks` segments that were sent later are SACKed,
    /// retransmit again (the main addition of RFC 8985). Otherwise the retransmission timer does.
    pub lost_retransmissions: bool,
    /// Release the window over its round trip (TCP pacing) if the controller sets no pacing rate.
    pub pacing: bool,
    /// Largest train that leaves together under pacing, in bytes (TSO); 0: one segment.
    pub pace_train: u32,
    /// Habits of an operating system.
    pub stack: Stack,
    /// Hosts have RDMA queue pairs instead: `control` and what only TCP has are then ignored.
    pub rdma: Option<Rdma>,
}

impl Config {
    /// The configuration with another controller.
    #[must_use]
    pub fn under(&self, control: &Control) -> Config {
        Config {
            control: *control,
            ..self.clone()
        }
    }

    /// The controller that senders run: that of queue pairs, or `control`.
    pub fn controller(&self) -> &'static ControllerSpec {
        match self.rdma {
            Some(_) => &crate::rdma::SPEC,
            None => self.control.spec(),
        }
    }

    /// Whether segments are paced: by the controller's own rate, or by TCP pacing.
    pub fn is_paced(&self) -> bool {
        self.pacing || self.control.spec().paced
    }

    /// The ECN field of pure ACKs and SYNs.
    #[inline]
    pub fn ack_ecn(&self) -> Ecn {
        match self.stack.ect_control && self.control.ecn_capable() {
            true => Ecn::Ect0,
            false => Ecn::NotEct,
        }
    }

    /// Facts about the transport that a controller needs.
    pub fn path(&self) -> PathSpec {
        PathSpec {
            mss: self.mss,
            header: self.header_bytes,
            init_window: self.init_window,
            stack: self.stack.with(self.sack),
        }
    }
}

impl Default for Config {
    /// DCTCP as the papers' simulations run it: 1460-byte segments, initial window 10, RTOmin 5 ms,
    /// ACK per packet, SACK.
    fn default() -> Self {
        Config {
            control: Control::DCTCP,
            mss: 1460,
            header_bytes: 40,
            ack_bytes: 40,
            init_window: 10,
            keep_window: true,
            rto_min: Nanos::from_millis(5),
            rto_init: Nanos::from_millis(5),
            rto_max: Nanos::from_millis(64_000),
            ack_every: 1,
            ack_delay: Nanos::from_micros(500),
            receive_window: 16 << 20,
            handshake: false,
            max_burst: 0,
            sack: true,
            slow_but_steady: false,
            dup_acks: 3,
            lost_retransmissions: false,
            pacing: false,
            pace_train: 0,
            stack: Stack::NONE,
            rdma: None,
        }
    }
}
