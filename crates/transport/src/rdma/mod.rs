// SPDX-License-Identifier: MIT OR Apache-2.0
//! RDMA over converged Ethernet: queue pairs, which send at a rate instead of by a window.
//!
//! A [`Requester`] sends one stream of messages, paced by its [`ReactionPoint`]; a [`Responder`]
//! receives it, and its [`NotificationPoint`] answers marked packets with congestion notification
//! packets (CNP). The names are those of InfiniBand and of DCQCN (Zhu et al., SIGCOMM 2015).
//! Simplified: byte offsets instead of packet sequence numbers, one operation (SEND), a constant
//! retransmission timeout ([`Config::rto_min`](crate::Config)), no retry limit.
//!
//! ```
//! use cemark_transport::Config;
//! use cemark_transport::rdma::{Rdma, Requester, Responder};
//! use cemark_wire::{Ecn, Nanos, Rate};
//!
//! let (cfg, rdma) = (Config::default(), Rdma::default());
//! let mut requester = Requester::new(&rdma, Rate::gbps(40));
//! let mut responder = Responder::new();
//! requester.write(1_000);
//!
//! let mut packet = requester.poll_transmit(&cfg, &rdma, Nanos(0)).unwrap();
//! packet.ecn = Ecn::Ce;
//! let replies = responder.on_data(&cfg, &rdma, Nanos(5_000), &packet);
//! assert!(replies.cnp, "a marked packet causes a notification");
//! requester.on_cnp(&rdma, Nanos(10_000));
//! requester.on_ack(&cfg, &rdma, Nanos(10_000), &replies.ack.unwrap(), None);
//! assert_eq!(requester.reaction().rate(), Rate::gbps(20));
//! assert_eq!(requester.acked(), 1_000);
//! ```

mod notification;
mod reaction;
mod requester;
mod responder;

pub use notification::NotificationPoint;
pub use reaction::{ALPHA_ONE, ReactionPoint};
pub use requester::{Requester, RequesterStats};
pub use responder::{Replies, Responder};

use crate::cc::{Build, Control, ControllerSpec};

use cemark_param::config;
use cemark_wire::{Flags, Nanos, Rate};

/// Flag of a congestion notification packet: the bit that TCP uses for its echo.
pub const CNP: Flags = Flags::ECE;
/// Flag of a negative acknowledgement: another packet than the expected one, `cum`, has arrived.
/// It is the bit that data uses for retransmissions.
pub const NAK: Flags = Flags::RETX;

/// Parameters of queue pairs. One value serves all of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Rdma {
    /// How the sender reacts to notifications.
    pub dcqcn: Dcqcn,
    /// Packets that are retransmitted after a loss.
    pub retransmit: Retransmit,
    /// Shortest time between two notifications of a flow.
    pub cnp_gap: Nanos,
    /// Traffic class of notifications; `None`: that of the flow.
    pub cnp_class: Option<u8>,
}

/// Packets that are retransmitted after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Retransmit {
    /// Everything from the first missing byte on: the responder drops what arrives out of order.
    GoBackN,
    /// Only what is missing: the responder keeps what arrives out of order and reports it.
    Selective,
}

config! {
    /// Parameters of the reaction point (section 3 of the DCQCN paper): the paper's Table 1 and
    /// section 5, the hyper step of the authors' published simulation, and a smallest rate of our
    /// own choice.
    #[cfg_attr(feature = "serde", derive(serde::Serialize))]
    pub struct Dcqcn {
        /// Weight of a notification in alpha (paper, Table 1: 1/256).
        g as "dcqcn-g": u32 = parts(ALPHA_ONE / 256, 1_024..=ALPHA_ONE),
        /// Alpha at the first notification.
        alpha_init as "dcqcn-alpha-init": u32 = parts(ALPHA_ONE, 0..=ALPHA_ONE),
        /// Alpha decays once in every such time without a notification (paper, Table 1: 55 us).
        alpha_timer as "alpha-timer": Nanos = time(55_000, 1..=LONGEST),
        /// The rate rises once in every such time without a notification (paper, section 5).
        rate_timer as "rate-timer": Nanos = time(55_000, 1..=LONGEST),
        /// The rate also rises each time this many bytes have been sent; 0: it does not.
        byte_counter as "byte-counter": u64 = packet(10_000_000, 0..=1 << 40),
        /// Steps of fast recovery (paper: F = 5).
        fast_recovery as "fast-recovery": u32 = count(5, 0..=1_000_000),
        /// Step of the target rate in additive increase (paper: 40 Mb/s).
        rate_ai as "rate-ai": Rate = rate(40_000_000),
        /// Step of the target rate in hyper increase (the authors' simulation: 200 Mb/s).
        rate_hai as "rate-hai": Rate = rate(200_000_000),
        /// The rate never falls below it.
        min_rate as "min-rate": Rate = rate(40_000_000),
        /// Every notification lowers the target rate, not only the first one after an increase.
        clamp_target as "clamp-target": bool = flag(true),
        /// Adapters cut the rate at most once in this time, and alpha changes once in each
        /// `alpha-timer`: up after a notification, else down. 0: every notification does both
        /// (the paper).
        decrease_interval as "decrease-interval": Nanos = time(0, 0..=LONGEST),
        /// The timer alone leads to hyper increase, in the second step after fast recovery (HPCC's
        /// simulator); otherwise the byte counter must have passed fast recovery as well.
        timer_hyper as "timer-hyper": bool = flag(false),
        /// `receive-window` shrinks in proportion to the rate (`VAR_WIN` of HPCC's simulator).
        window_by_rate as "window-by-rate": bool = flag(false),
    }
}

impl Default for Rdma {
    /// The DCQCN paper's values, and go-back-N as in RoCE adapters.
    fn default() -> Self {
        Rdma {
            dcqcn: Dcqcn::default(),
            retransmit: Retransmit::GoBackN,
            cnp_gap: Nanos::from_micros(50),
            cnp_class: None,
        }
    }
}

/// The declaration of DCQCN: its name and parameters in scenario files.
pub static SPEC: ControllerSpec = ControllerSpec {
    params: Dcqcn::PARAMS,
    ecn: true,
    paced: true,
    slows_for_loss: false,
    ..ControllerSpec::new(
        "dcqcn",
        "DCQCN",
        "Cuts the rate of a queue pair when a congestion notification arrives, and raises it by \
         timers and bytes sent.",
        Build::QueuePair,
    )
};

/// The range of times: up to 1000 s.
const LONGEST: u64 = 1_000_000_000_000;

impl Control {
    /// DCQCN, for the queue pairs of [`Config::rdma`](crate::Config).
    pub const DCQCN: Control = Control::of(&SPEC);
}
