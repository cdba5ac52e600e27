// SPDX-License-Identifier: MIT OR Apache-2.0
//! Congestion control: how much may be in flight, and how fast it leaves.
//!
//! A [`Controller`] learns what happened to the data that its transport sent, as events counted in
//! bytes and packets: [`Acked`], [`CeCounted`], [`Lost`] and, if it wants them, [`Delivered`]. It
//! answers with a congestion window ([`Controller::cwnd`]) and perhaps a rate
//! ([`Controller::pacing_rate`]). It knows neither stream offsets nor packet numbers, so TCP and
//! QUIC share one implementation: [`Sender`](crate::Sender) is the TCP sender of this crate,
//! [`Flight`] does the bookkeeping for a transport that numbers its packets.
//!
//! The built-in controllers and their parameters are listed in [`catalogue::ALL`]. Each is one
//! file of this folder; [`crate::Control`] names one of them with its parameters.

pub mod bbr;
pub mod catalogue;
pub mod cubic;
pub mod dctcp;
pub mod ecn_star;
pub mod reno;

mod delivery;
mod flight;
mod hystart;
mod spec;
mod window;

pub use catalogue::Congestion;
pub use delivery::Delivered;
pub use flight::Flight;
pub use spec::{Build, Control, ControllerSpec, FromControl, PathSpec, boxed};
pub use window::Window;

pub(crate) use catalogue::Pacing;
pub(crate) use delivery::{Sampler, on_the_wire, per_second};

use alloc::boxed::Box;
use core::fmt::Debug;

use cemark_wire::{Ecn, Nanos, Rate};

/// Data was acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acked {
    /// When the acknowledgement arrived.
    pub now: Nanos,
    /// Newly acknowledged bytes (in TCP: by the cumulative number or by SACK).
    pub bytes: u64,
    /// Newly acknowledged packets. TCP does not count packets: there it is `bytes` in full
    /// segments, rounded up.
    pub packets: u64,
    /// Share of `bytes` that arrived with CE.
    pub ce_bytes: u64,
    /// Share of `packets` that arrived with CE. TCP's ECE flag says only that some did: it counts
    /// as one packet and as all the bytes.
    pub ce_packets: u64,
    /// Bytes in flight before this acknowledgement.
    pub bytes_in_flight: u64,
    /// The congestion window was full at some moment of the last window of data. Otherwise the
    /// application, not the path, limited the sender, and the window should not grow (RFC 7661).
    pub cwnd_limited: bool,
    /// The transport is recovering from a loss: the window should not grow.
    pub in_recovery: bool,
    /// Data that was in flight at a retransmission timeout is still being retransmitted, so one
    /// acknowledgement may cover data that arrived long ago.
    pub after_timeout: bool,
    /// This is the first acknowledgement of data that was sent after the previous round ended. A
    /// round is one window of data, about one round trip.
    pub round_ended: bool,
    /// Round-trip sample in nanoseconds, one a round in TCP.
    pub rtt: Option<u32>,
    /// Nanoseconds since the packet left that caused this acknowledgement; 0 where the transport
    /// does not know.
    pub delay: u32,
}

/// The receiver reported CE for the first time in a window of data. [`Controller::on_ack`] has
/// seen the same acknowledgement before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CeCounted {
    /// When the report arrived.
    pub now: Nanos,
    /// Packets newly reported with CE; TCP's ECE flag counts as one.
    pub packets: u64,
    /// Bytes in flight before this report.
    pub bytes_in_flight: u64,
}

/// The event for which the sender has reduced the congestion window in the current window of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// Nothing yet.
    #[default]
    None,
    /// A report of CE.
    Ce,
    /// A loss.
    Loss,
}

/// Data was lost: at most one event for each window of data, and one for each timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// When the loss was detected.
    pub now: Nanos,
    /// Bytes declared lost.
    pub bytes: u64,
    /// Packets declared lost. In TCP: `bytes` in full segments, rounded up.
    pub packets: u64,
    /// Bytes in flight before they were declared lost.
    pub bytes_in_flight: u64,
    /// Nothing was acknowledged for a whole retransmission timeout (TCP), or for the span of
    /// persistent congestion (QUIC, RFC 9002 section 7.6).
    pub timeout: bool,
    /// The event for which the sender has reduced the congestion window in this window of data
    /// already.
    pub already: Cut,
}

/// A congestion controller: one for each sender.
///
/// It reads no clock: each event carries its time. Events arrive in non-decreasing `now`. One
/// acknowledgement causes [`on_ack`](Controller::on_ack), then, if it was the first of its window
/// of data to report CE, [`on_ce`](Controller::on_ce), then
/// [`on_delivered`](Controller::on_delivered) where that is wanted.
///
/// ```
/// use cemark_transport::cc::{Acked, CeCounted, Controller, Lost};
/// use cemark_wire::Nanos;
///
/// /// Grows by what is acknowledged, and returns to two packets at any sign of congestion.
/// #[derive(Debug)]
/// struct Timid(u64);
///
/// impl Controller for Timid {
///     fn on_ack(&mut self, ack: &Acked) {
///         self.0 += ack.bytes;
///     }
///     fn on_ce(&mut self, _: &CeCounted) {
///         self.0 = 2 * 1460;
///     }
///     fn on_loss(&mut self, _: &Lost) {
///         self.0 = 2 * 1460;
///     }
///     fn restart(&mut self, most: u64) {
///         self.0 = self.0.min(most);
///     }
///     fn cwnd(&self) -> u64 {
///         self.0
///     }
/// }
///
/// let mut controller = Timid(10 * 1460);
/// controller.on_ack(&Acked { now: Nanos(1), bytes: 1460, packets: 1, ..Acked::default() });
/// assert_eq!(controller.cwnd(), 11 * 1460);
/// ```
pub trait Controller: Send + Debug {
    /// The ECN field of data packets.
    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }
    /// `bytes` were handed to the network; `bytes_in_flight` includes them.
    fn on_sent(&mut self, _now: Nanos, _bytes: u64, _bytes_in_flight: u64) {}
    /// Data was acknowledged.
    fn on_ack(&mut self, ack: &Acked);
    /// CE was reported for the first time in a window of data.
    fn on_ce(&mut self, ce: &CeCounted);
    /// Data was lost.
    fn on_loss(&mut self, loss: &Lost);
    /// Limits the window to `bytes`: the connection was idle, or its SYN was lost.
    fn restart(&mut self, bytes: u64);
    /// Congestion window: most bytes that may be in flight. With nothing in flight a transport may
    /// always send one packet.
    fn cwnd(&self) -> u64;
    /// Slow-start threshold in bytes, of a controller whose cuts can be undone.
    fn ssthresh(&self) -> Option<u64> {
        None
    }
    /// The last loss was none: the window is at least `cwnd` bytes again, and its threshold at
    /// least `ssthresh`. Called only with a [`ssthresh`](Controller::ssthresh).
    fn undo(&mut self, _cwnd: u64, _ssthresh: u64) {}
    /// Rate at which data leaves, headers included. `None`: acknowledgements clock it out.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    /// Whether the window is below its slow-start threshold. A transport that paces a window paces
    /// it faster there.
    fn in_slow_start(&self) -> bool {
        false
    }
    /// The smoothed share of marked bytes in parts of 2^20, for those who look at a controller that
    /// keeps one (DCTCP's alpha).
    fn marked_share(&self) -> Option<u32> {
        None
    }
    /// Whether it wants [`on_delivered`](Controller::on_delivered). Asked once, at construction.
    fn wants_delivered(&self) -> bool {
        false
    }
    /// A sample of the delivery rate, after all other events of an acknowledgement. Returns true
    /// while the controller itself keeps the sender below the rate of the path: the samples of
    /// what is in flight then do not measure the path.
    fn on_delivered(&mut self, _delivered: &Delivered) -> bool {
        false
    }
    /// When it wants [`wake`](Controller::wake) to be called, if at all.
    fn next_wake(&self) -> Option<Nanos> {
        None
    }
    /// The time of `next_wake` has come.
    fn wake(&mut self, _now: Nanos) {}
}

impl<C: Controller + ?Sized> Controller for Box<C> {
    #[inline]
    fn ecn(&self) -> Ecn {
        (**self).ecn()
    }
    #[inline]
    fn on_sent(&mut self, now: Nanos, bytes: u64, bytes_in_flight: u64) {
        (**self).on_sent(now, bytes, bytes_in_flight);
    }
    #[inline]
    fn on_ack(&mut self, ack: &Acked) {
        (**self).on_ack(ack);
    }
    #[inline]
    fn on_ce(&mut self, ce: &CeCounted) {
        (**self).on_ce(ce);
    }
    #[inline]
    fn on_loss(&mut self, loss: &Lost) {
        (**self).on_loss(loss);
    }
    #[inline]
    fn restart(&mut self, bytes: u64) {
        (**self).restart(bytes);
    }
    #[inline]
    fn cwnd(&self) -> u64 {
        (**self).cwnd()
    }
    fn ssthresh(&self) -> Option<u64> {
        (**self).ssthresh()
    }
    fn undo(&mut self, cwnd: u64, ssthresh: u64) {
        (**self).undo(cwnd, ssthresh);
    }
    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        (**self).pacing_rate()
    }
    #[inline]
    fn in_slow_start(&self) -> bool {
        (**self).in_slow_start()
    }
    fn marked_share(&self) -> Option<u32> {
        (**self).marked_share()
    }
    #[inline]
    fn wants_delivered(&self) -> bool {
        (**self).wants_delivered()
    }
    #[inline]
    fn on_delivered(&mut self, delivered: &Delivered) -> bool {
        (**self).on_delivered(delivered)
    }
    #[inline]
    fn next_wake(&self) -> Option<Nanos> {
        (**self).next_wake()
    }
    #[inline]
    fn wake(&mut self, now: Nanos) {
        (**self).wake(now);
    }
}
