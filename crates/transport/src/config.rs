// SPDX-License-Identifier: MIT OR Apache-2.0
//! Everything the papers' experiments set about a transport, with its usual default.

use cemark_wire::Nanos;

use crate::CubicSpec;

/// Parameters of a connection. One value serves all connections of a simulation and is passed by
/// reference.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Config {
    /// Congestion control.
    pub control: Control,
    /// Payload of a full segment in bytes.
    pub mss: u16,
    /// Header bytes on the wire of a data segment (IP and TCP, 40; what the port counts on top, if
    /// wanted).
    pub header_bytes: u16,
    /// Bytes on the wire of a pure ACK.
    pub ack_bytes: u16,
    /// Initial window in segments.
    pub init_window: u32,
    /// Congestion window of a persistent connection that has been idle is kept (true) or restarts
    /// at `init_window`.
    pub keep_window: bool,
    /// Smallest retransmission timeout.
    pub rto_min: Nanos,
    /// Retransmission timeout before the first sample.
    pub rto_init: Nanos,
    /// Largest retransmission timeout.
    pub rto_max: Nanos,
    /// An ACK at least every so many full segments (1: every packet).
    pub ack_every: u32,
    /// Longest time an ACK is withheld.
    pub ack_delay: Nanos,
    /// Receive window in bytes.
    pub receive_window: u64,
    /// Whether a fresh connection exchanges SYN and SYN-ACK before data.
    pub handshake: bool,
    /// Selective acknowledgements (RFC 2018, 6675); without them NewReno (RFC 6582).
    pub sack: bool,
    /// Duplicate ACKs (or SACKed segments) that start a fast retransmit.
    pub dup_acks: u32,
    /// With SACK, a repair that three segments sent after it overtake is lost as well, and sent
    /// again (what RFC 8985 adds most); otherwise the timer finds out.
    pub lost_repairs: bool,
    /// The window is released over its round trip (TCP pacing) where the law has no pace of its
    /// own.
    pub pacing: bool,
    /// Largest train that leaves together under pacing, in bytes (TSO); 0: one segment.
    pub pace_train: u32,
    /// Hosts have RDMA queue pairs instead: `control` and what only TCP has are then not looked at.
    pub rdma: Option<crate::rdma::Rdma>,
}

/// Congestion control and its own parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Control {
    /// NewReno without ECN: Not-ECT packets, loss only.
    Reno,
    /// ECN-enabled TCP that halves once per window on an echo (ECN*).
    EcnStar,
    /// DCTCP: cuts in proportion to the smoothed share of marked bytes.
    Dctcp {
        /// Weight of a new sample, as a power of two: g = 2^-g_shift (1/16: 4).
        g_shift: u32,
        /// Initial alpha in parts per 1024 (1024: Linux, ns-3; 0: ns-2).
        alpha_init: u32,
    },
    /// CUBIC, with or without ECN.
    Cubic(CubicSpec),
    /// BBR, version 1: a model of the path, paced.
    Bbr,
}

impl Config {
    /// Whether segments are spaced: by a pace of the law's own, or by TCP pacing.
    pub fn is_paced(&self) -> bool {
        self.pacing || self.control == Control::Bbr
    }
}

impl Control {
    /// Whether its data segments are ECN-capable.
    pub fn ecn_capable(&self) -> bool {
        // Every law by its name: a new one has to be put on one side.
        match self {
            Control::Reno | Control::Bbr => false,
            Control::Cubic(spec) => spec.ecn,
            Control::EcnStar | Control::Dctcp { .. } => true,
        }
    }
}

impl Default for Config {
    /// DCTCP as the papers' simulations run it: 1460-byte segments, initial window 10, RTOmin 5 ms,
    /// ACK per packet, SACK.
    fn default() -> Self {
        Config {
            control: Control::Dctcp {
                g_shift: 4,
                alpha_init: 1024,
            },
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
            sack: true,
            dup_acks: 3,
            lost_repairs: false,
            pacing: false,
            pace_train: 0,
            rdma: None,
        }
    }
}
