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

use crate::cc::{Build, Control, ControllerSpec, Kind, ParamSpec};

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
    /// What is retransmitted after a loss.
    pub retransmit: Retransmit,
    /// Shortest time between two notifications of a flow.
    pub cnp_gap: Nanos,
    /// Traffic class of notifications; `None`: that of the flow.
    pub cnp_class: Option<u8>,
}

/// What is retransmitted after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Retransmit {
    /// Everything from the first missing byte on: the responder drops what arrives out of order.
    GoBackN,
    /// Only what is missing: the responder keeps what arrives out of order and reports it.
    Selective,
}

/// Parameters of the reaction point (section 3 of the DCQCN paper).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Dcqcn {
    /// Weight g of a notification in alpha, of [`ALPHA_ONE`]: above 0, at most 1.
    pub g: u32,
    /// Alpha at the first notification, of [`ALPHA_ONE`].
    pub alpha_init: u32,
    /// Alpha decays once in every such time without a notification.
    pub alpha_timer: Nanos,
    /// The rate rises once in every such time without a notification.
    pub rate_timer: Nanos,
    /// The rate also rises each time this many bytes have been sent; 0: it does not.
    pub byte_counter: u64,
    /// Steps of fast recovery (F).
    pub fast_recovery: u32,
    /// Step of the target rate in additive increase.
    pub rate_ai: Rate,
    /// Step of the target rate in hyper increase.
    pub rate_hai: Rate,
    /// The rate never falls below it.
    pub min_rate: Rate,
    /// Every notification lowers the target to the rate before the cut; otherwise only the first
    /// one after an increase does.
    pub clamp_target: bool,
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

impl Default for Dcqcn {
    /// g = 1/256, timers of 55 us, 10 MB, F = 5, 40 Mb/s: the paper's Table 1 and section 5. The
    /// hyper step (200 Mb/s) is that of the authors' published simulation; the smallest rate (40
    /// Mb/s) is our choice.
    fn default() -> Self {
        Dcqcn {
            g: ALPHA_ONE / 256,
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

/// The declaration of DCQCN: its name and parameters in scenario files.
pub static SPEC: ControllerSpec = ControllerSpec {
    params: &[
        ParamSpec::new(
            "dcqcn-g",
            Kind::Fraction { one: ALPHA_ONE },
            (ALPHA_ONE / 256) as u64,
            (1 << 10, ALPHA_ONE as u64),
            "Weight of a notification in alpha (paper, Table 1: 1/256).",
        ),
        ParamSpec::fraction(
            "dcqcn-alpha-init",
            ALPHA_ONE,
            ALPHA_ONE as u64,
            "Alpha at the first notification.",
        ),
        ParamSpec::new(
            "alpha-timer",
            Kind::Time,
            55_000,
            (1, LONGEST),
            "Alpha decays once in every such time without a notification (paper, Table 1: 55 us).",
        ),
        ParamSpec::new(
            "rate-timer",
            Kind::Time,
            55_000,
            (1, LONGEST),
            "The rate rises once in every such time without a notification (paper, section 5).",
        ),
        ParamSpec::new(
            "byte-counter",
            Kind::Bytes,
            10_000_000,
            (0, 1 << 40),
            "The rate also rises each time this many bytes have been sent; 0: it does not.",
        ),
        ParamSpec::new(
            "fast-recovery",
            Kind::Count,
            5,
            (0, 1_000_000),
            "Steps of fast recovery (paper: F = 5).",
        ),
        ParamSpec::new(
            "rate-ai",
            Kind::Rate,
            40_000_000,
            RATES,
            "Step of the target rate in additive increase (paper: 40 Mb/s).",
        ),
        ParamSpec::new(
            "rate-hai",
            Kind::Rate,
            200_000_000,
            RATES,
            "Step of the target rate in hyper increase (the authors' simulation: 200 Mb/s).",
        ),
        ParamSpec::new(
            "min-rate",
            Kind::Rate,
            40_000_000,
            RATES,
            "The rate never falls below it.",
        ),
        ParamSpec::flag(
            "clamp-target",
            true,
            "Every notification lowers the target rate, not only the first one after an increase.",
        ),
    ],
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
/// The range of rates.
const RATES: (u64, u64) = (1_000, 8_000_000_000_000);

impl Control {
    /// DCQCN, for the queue pairs of [`Config::rdma`](crate::Config).
    pub const DCQCN: Control = Control::of(&SPEC);
}

impl Dcqcn {
    /// The parameters that a [`Control`] of [`SPEC`] holds.
    pub fn from_control(control: &Control) -> Dcqcn {
        let [
            g,
            alpha_init,
            alpha_timer,
            rate_timer,
            bytes,
            steps,
            ai,
            hai,
            min,
            clamp,
        ] = control.values();
        Dcqcn {
            g: g as u32,
            alpha_init: alpha_init as u32,
            alpha_timer: Nanos(alpha_timer),
            rate_timer: Nanos(rate_timer),
            byte_counter: bytes,
            fast_recovery: steps as u32,
            rate_ai: Rate(ai),
            rate_hai: Rate(hai),
            min_rate: Rate(min),
            clamp_target: clamp != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declared_defaults_are_the_defaults() {
        assert_eq!(Dcqcn::from_control(&Control::DCQCN), Dcqcn::default());
    }
}
