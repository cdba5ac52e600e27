// SPDX-License-Identifier: MIT OR Apache-2.0
//! Congestion control: how much may be in flight. Which bytes those are is the sender's business.

use alloc::boxed::Box;
use core::fmt::Debug;

use cemark_wire::{Ecn, Nanos, Rate};

use crate::{Bbr, Config, Control, Cubic, Dctcp, Delivered, EcnStar, Paced, Reno};

/// Newly arrived data, as an acknowledgement tells it.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// When the acknowledgement came.
    pub now: Nanos,
    /// Bytes it tells for the first time, cumulatively or by SACK.
    pub bytes: u64,
    /// First byte not acknowledged, after this acknowledgement.
    pub una: u64,
    /// Next new byte to send.
    pub nxt: u64,
    /// Bytes outstanding before this acknowledgement.
    pub in_flight: u64,
    /// It carries an ECN echo.
    pub echo: bool,
    /// The window was filled at some moment of the last window of data.
    pub was_full: bool,
    /// A fast recovery is under way: the window stands still.
    pub recovering: bool,
    /// Data outstanding at a timeout is still being repaired.
    pub after_timeout: bool,
    /// It is the first to acknowledge data sent after the previous round ended: one round is one
    /// window of data.
    pub round_ended: bool,
    /// Round-trip sample in nanoseconds, about one a window.
    pub rtt: Option<u32>,
}

/// What the window of data under way has been cut for already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// For nothing.
    None,
    /// For an ECN echo.
    Echo,
    /// For a loss.
    Loss,
}

/// A loss event: at most one a window of data, and one a timeout.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// When it was noticed.
    pub now: Nanos,
    /// Bytes outstanding.
    pub in_flight: u64,
    /// Noticed by the retransmission timer, not by duplicate ACKs.
    pub timeout: bool,
    /// Cuts made in this window of data.
    pub already: Cut,
}

/// A congestion control law. Times are the simulator's or the host's; a law reads no clock.
pub trait Controller: Send + Debug {
    /// The ECN field of data segments.
    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }
    /// `bytes` were handed to the network; `in_flight` counts them.
    fn on_sent(&mut self, _cfg: &Config, _now: Nanos, _bytes: u64, _in_flight: u64) {}
    /// Data arrived. Called for every acknowledgement that brings news, marked or not.
    fn on_ack(&mut self, cfg: &Config, ack: &Acked);
    /// Data was lost.
    fn on_loss(&mut self, cfg: &Config, loss: &Lost);
    /// First ECN echo of a window of data, after `on_ack` saw the same acknowledgement.
    fn on_echo(&mut self, cfg: &Config, now: Nanos, in_flight: u64);
    /// A congestion notification packet came (DCQCN).
    fn on_notice(&mut self, _cfg: &Config, _now: Nanos) {}
    /// Restart from at most `bytes`: the connection was idle, or its SYN was lost.
    fn restart(&mut self, cfg: &Config, bytes: u64);
    /// Most bytes that may be in flight. At least one segment gets out whatever this says.
    fn window(&self) -> u64;
    /// Rate at which the window is released; `None` leaves it to the ACK clock.
    fn pace(&self) -> Option<Rate> {
        None
    }
    /// Whether the window is below its threshold; TCP pacing is faster there.
    fn slow_start(&self) -> bool {
        false
    }
    /// Whether it wants `on_delivered`; asked once.
    fn samples(&self) -> bool {
        false
    }
    /// What an acknowledgement tells of the path, after everything else was told of it. True: the
    /// law itself holds the sender below the path's rate from now on, so that the samples of what
    /// is in flight are no measure of it.
    fn on_delivered(&mut self, _cfg: &Config, _delivered: &Delivered) -> bool {
        false
    }
    /// When the law wants `wake`, if ever.
    fn next_wake(&self) -> Option<Nanos> {
        None
    }
    /// The clock reached `next_wake`.
    fn wake(&mut self, _cfg: &Config, _now: Nanos) {}
}

/// The law of one sender. An enum, so that the built-in ones cost no indirect call.
#[derive(Debug)]
pub enum Congestion {
    /// NewReno without ECN.
    Reno(Reno),
    /// ECN-enabled TCP.
    EcnStar(EcnStar),
    /// DCTCP.
    Dctcp(Dctcp),
    /// CUBIC; apart, since it holds more than the others.
    Cubic(Box<Cubic>),
    /// One that is paced or samples the delivery rate, such as BBR, or a user's own, made by
    /// [`Congestion::custom`].
    Paced(Box<Paced>),
}

macro_rules! each {
    ($self:expr, $law:ident => $body:expr) => {
        match $self {
            Congestion::Reno($law) => $body,
            Congestion::EcnStar($law) => $body,
            Congestion::Dctcp($law) => $body,
            Congestion::Cubic($law) => $body,
            Congestion::Paced(paced) => {
                let $law = &mut paced.law;
                $body
            }
        }
    };
}

impl Congestion {
    /// The built-in law that `cfg.control` names.
    pub fn new(cfg: &Config) -> Congestion {
        if cfg.pacing && cfg.control != Control::Bbr {
            return Congestion::Paced(Box::new(Paced::new(boxed(cfg), true)));
        }
        match cfg.control {
            Control::Reno => Congestion::Reno(Reno::new(cfg)),
            Control::EcnStar => Congestion::EcnStar(EcnStar::new(cfg)),
            Control::Dctcp {
                g_shift,
                alpha_init,
            } => Congestion::Dctcp(Dctcp::new(cfg, g_shift, alpha_init)),
            Control::Cubic(spec) => Congestion::Cubic(Box::new(Cubic::new(cfg, spec))),
            Control::Bbr => Congestion::Paced(Box::new(Paced::new(boxed(cfg), false))),
        }
    }

    /// A user's own law.
    pub fn custom(law: Box<dyn Controller>) -> Congestion {
        Congestion::Paced(Box::new(Paced::new(law, false)))
    }

    #[inline]
    pub(crate) fn ecn(&self) -> Ecn {
        match self {
            Congestion::Reno(_) => Ecn::NotEct,
            Congestion::EcnStar(_) | Congestion::Dctcp(_) => Ecn::Ect0,
            Congestion::Cubic(c) => c.ecn(),
            Congestion::Paced(c) => c.law.ecn(),
        }
    }

    #[inline]
    pub(crate) fn window(&self) -> u64 {
        match self {
            Congestion::Reno(c) => c.window(),
            Congestion::EcnStar(c) => c.window(),
            Congestion::Dctcp(c) => c.window(),
            Congestion::Cubic(c) => c.window(),
            Congestion::Paced(c) => c.law.window(),
        }
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, cfg: &Config, ack: &Acked) {
        match self {
            Congestion::Reno(law) => law.on_ack(cfg, ack),
            Congestion::EcnStar(law) => law.on_ack(cfg, ack),
            Congestion::Dctcp(law) => law.on_ack(cfg, ack),
            Congestion::Cubic(law) => law.on_ack(cfg, ack),
            Congestion::Paced(paced) => paced.on_ack(cfg, ack),
        }
    }

    pub(crate) fn on_loss(&mut self, cfg: &Config, loss: &Lost) {
        each!(self, law => law.on_loss(cfg, loss))
    }

    pub(crate) fn on_echo(&mut self, cfg: &Config, now: Nanos, in_flight: u64) {
        each!(self, law => law.on_echo(cfg, now, in_flight))
    }

    pub(crate) fn restart(&mut self, cfg: &Config, bytes: u64) {
        each!(self, law => law.restart(cfg, bytes))
    }

    /// Whether pacing holds everything back.
    #[inline]
    pub(crate) fn gated(&self) -> bool {
        matches!(self, Congestion::Paced(c) if c.gate.is_some())
    }

    /// When the law or its gate has to be woken; laws without a pace never.
    #[inline]
    pub(crate) fn next_wake(&self) -> Option<Nanos> {
        match self {
            Congestion::Paced(c) => c.next_wake(),
            _ => None,
        }
    }
}

/// The law that `cfg.control` names, where it is asked through a pointer.
fn boxed(cfg: &Config) -> Box<dyn Controller> {
    match cfg.control {
        Control::Reno => Box::new(Reno::new(cfg)),
        Control::EcnStar => Box::new(EcnStar::new(cfg)),
        Control::Dctcp {
            g_shift,
            alpha_init,
        } => Box::new(Dctcp::new(cfg, g_shift, alpha_init)),
        Control::Cubic(spec) => Box::new(Cubic::new(cfg, spec)),
        Control::Bbr => Box::new(Bbr::new(cfg)),
    }
}
