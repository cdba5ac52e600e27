// SPDX-License-Identifier: MIT OR Apache-2.0
//! RDMA over converged Ethernet: queue pairs that send at a rate, not by a window.
//!
//! A [`Requester`] sends one stream of messages, paced by its [`ReactionPoint`]; a [`Responder`]
//! receives it, and its [`NotificationPoint`] answers marked packets with congestion notification
//! packets (CNP). The names are those of InfiniBand and of DCQCN (Zhu et al., SIGCOMM 2015). What
//! is kept simple: offsets in bytes stand for packet sequence numbers, one operation (SEND), a
//! constant retransmission timeout ([`Config::rto_min`](crate::Config)), no retry limit.

mod notification;
mod reaction;
mod requester;
mod responder;

pub use notification::NotificationPoint;
pub use reaction::{ALPHA_ONE, ReactionPoint};
pub use requester::{Requester, RequesterStats};
pub use responder::{Replies, Responder};

use cemark_wire::{Flags, Nanos, Rate};

/// On a packet that travels to the sender: a congestion notification and nothing else. It is the
/// bit of the TCP echo.
pub const CNP: Flags = Flags::ECE;
/// On an acknowledgement: what was expected is `cum`, and something else came. It is the bit of a
/// segment sent again.
pub const NAK: Flags = Flags::RETX;

/// Parameters of queue pairs. One value serves all of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Rdma {
    /// How the sender reacts to notifications.
    pub dcqcn: Dcqcn,
    /// What is sent again after a loss.
    pub repair: Repair,
    /// Least time between two notifications of a flow.
    pub cnp_gap: Nanos,
    /// Traffic class of notifications; `None`: that of the flow.
    pub cnp_class: Option<u8>,
}

/// What is sent again after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Repair {
    /// Everything from the first missing byte on: the responder keeps nothing that comes out of
    /// order.
    GoBackN,
    /// Only what is missing: the responder keeps what comes out of order and tells it.
    Selective,
}

/// Parameters of the reaction point (section 3 of the DCQCN paper).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Dcqcn {
    /// Weight of a notification in alpha, as a power of two: g = 2^-g_shift (1/256: 8; at most 20).
    pub g_shift: u32,
    /// Alpha at the first notification, of [`ALPHA_ONE`].
    pub alpha_init: u32,
    /// Alpha decays once in such a time without a notification.
    pub alpha_timer: Nanos,
    /// The rate rises once in such a time without a notification.
    pub rate_timer: Nanos,
    /// The rate also rises with every so many bytes sent; 0: it does not.
    pub byte_counter: u64,
    /// Steps of fast recovery (F).
    pub fast_recovery: u32,
    /// Step of the target rate in additive increase.
    pub rate_ai: Rate,
    /// Step of the target rate in hyper increase.
    pub rate_hai: Rate,
    /// The rate never falls below it.
    pub min_rate: Rate,
    /// Every notification lowers the target to the rate before the cut; otherwise only one that
    /// follows an increase does.
    pub clamp_target: bool,
}

impl Default for Rdma {
    /// The DCQCN paper's values, go-back-N as RoCE adapters do it.
    fn default() -> Self {
        Rdma {
            dcqcn: Dcqcn::default(),
            repair: Repair::GoBackN,
            cnp_gap: Nanos::from_micros(50),
            cnp_class: None,
        }
    }
}

impl Default for Dcqcn {
    /// g = 1/256, timers of 55 us, 10 MB, F = 5, 40 Mb/s: the paper's Table 1 and section 5. The
    /// hyper step (200 Mb/s) is that of the authors' published simulation; the least rate (40 Mb/s)
    /// is our choice.
    fn default() -> Self {
        Dcqcn {
            g_shift: 8,
            alpha_init: ALPHA_ONE,
            alpha_timer: Nanos::from_micros(55),
            rate_timer: Nanos::from_micros(55),
            byte_counter: 10_000_000,
            fast_recovery: 5,
            rate_ai: Rate::mbps(40),
            rate_hai: Rate::mbps(200),
            min_rate: Rate::mbps(40),
            clamp_target: true,
        }
    }
}
