// SPDX-License-Identifier: MIT OR Apache-2.0
//! When to mark: every ECN marking scheme of cemark behind one trait, [`Marker`].
//!
//! The crate is `no_std`, allocates nothing, uses no floats and forbids unsafe code, so that a
//! kernel, a QUIC stack or a switch can embed a marker. Time, randomness and queue state are
//! arguments ([`At`]); a marker never reads a clock or a random number generator.
//!
//! A marker states an intent ([`Verdict`]), and the port that owns it writes CE. A marker never
//! clears a CE that another switch has set.
//!
//! # A FIFO that judges packets as they leave
//!
//! ```
//! use std::collections::VecDeque;
//!
//! use cemark_marking::ecn_sharp::{EcnSharp, EcnSharpConfig};
//! use cemark_marking::{At, Marker, QueueSpec, Verdict};
//! use cemark_wire::{Nanos, Rate};
//!
//! let config = EcnSharpConfig {
//!     ins_target: Nanos::from_micros(220),
//!     pst_target: Nanos::from_micros(10),
//!     pst_interval: Nanos::from_micros(240),
//!     ..Default::default()
//! };
//! config.check()?; // optional: without it, a value outside its range counts as the nearest inside
//! let mut marker = EcnSharp::from_config(config, &QueueSpec::fifo(Rate::gbps(10)));
//!
//! let mut fifo = VecDeque::new();
//! fifo.push_back((Nanos::ZERO, 1_500)); // a packet joins: when, and its bytes
//!
//! let now = Nanos::from_micros(250);
//! let (joined, bytes) = fifo.pop_front().expect("a packet"); // and leaves
//! let backlog = fifo.iter().map(|packet| packet.1).sum();
//! let at = At::departure(now, now.saturating_sub(joined), backlog, bytes);
//! let write_ce = matches!(marker.dequeue(&at), Verdict::Mark(_));
//! assert!(write_ce); // 250 us is longer than ins_target: write CE, if the packet is ECN-capable
//! # Ok::<(), cemark_marking::OutOfRange>(())
//! ```
//!
//! # A queue that judges packets as they join
//!
//! ```
//! use cemark_marking::red::{Red, RedConfig, Spacing};
//! use cemark_marking::{At, Fraction, Marker, QueueId, QueueSpec, Verdict, fixed};
//! use cemark_wire::{Nanos, Rate};
//!
//! let config = RedConfig {
//!     kmin: 30_000, // bytes
//!     kmax: 90_000,
//!     pmax: Fraction::ratio(1, 100),
//!     spacing: Spacing::Independent,
//!     ..Default::default()
//! };
//! let mut marker = Red::from_config(config, &QueueSpec::fifo(Rate::gbps(25)));
//!
//! let (now, backlog, bytes) = (Nanos::from_micros(1), 12_000, 1_500);
//! let packet_hash = fixed::hash(1, 42, 0, 0); // of your seed, flow, sequence number and hop
//! let at = At { packet_hash, ..At::arrival(now, backlog, bytes) };
//! assert_eq!(marker.enqueue(&at), Verdict::Pass); // shorter than kmin
//! assert!(marker.watches_empty()); // so tell it when the queue has become empty:
//! marker.emptied(QueueId(0), Nanos::from_micros(9));
//! ```
//!
//! Each scheme has a module with its `Config`, and [`catalogue`] lists them all for programs that
//! choose a scheme by name.
#![no_std]
#![warn(clippy::too_many_lines)]

mod at;
pub mod catalogue;
pub mod cedm;
pub mod cedm_sharp;
pub mod codel;
pub mod config;
mod dispatch;
pub mod dynamic;
pub mod ecn_sharp;
pub mod ecn_sharp_lab;
pub mod fixed;
pub mod mq_ecn;
pub mod pi;
pub mod pie;
pub mod red;
mod spec;
pub mod tcn;
pub mod threshold;
pub mod wred;

pub use at::{At, Hook, QueueId, QueueSpec, Verdict, Why};
pub use cemark_param::{
    Absent, Declares, Fraction, Kind, MAX_PARAMS, OutOfRange, ParamSpec, Values,
};
pub use spec::{FirstMark, Level, Ordered, Rule, RuleTime, SchemeSpec};

use cemark_wire::Nanos;
/// [`Nanos`], for [`dispatch_marker!`] in a crate that does not use `cemark_wire`.
#[doc(hidden)]
pub use cemark_wire::Nanos as Time;

/// Queue lengths at which a marker passes every packet: the bytes of the queue and the packet
/// together are at most `bytes`, and multiplied by the round in nanoseconds at most `byte_nanos`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quiet {
    /// Largest length in bytes, including the packet.
    pub bytes: u32,
    /// Largest product of that length and the round.
    pub byte_nanos: u64,
}

impl Quiet {
    /// There is no such length.
    pub const NEVER: Quiet = Quiet {
        bytes: 0,
        byte_nanos: 0,
    };

    /// Whether a packet passes that makes the length `bytes`, at this round.
    #[inline]
    pub fn covers(&self, bytes: u32, round: Nanos) -> bool {
        let share = u64::from(bytes).saturating_mul(round.0);
        bytes <= self.bytes && share <= self.byte_nanos
    }
}

/// A marking scheme at one queue, port or pool.
///
/// Contract with its owner: the hooks of one marker are called in non-decreasing `now`; a hook that
/// [`Marker::hook`] did not ask for is never called; byte and packet counts in [`At`] never include
/// the judged packet.
pub trait Marker: Send {
    /// Which hook the scheme judges at. Called once, when the port is built.
    fn hook(&self) -> Hook;

    /// Whether `dequeue` reads lengths. If so, the port must call it at the departure itself, not
    /// ahead of it.
    fn reads_length_at_dequeue(&self) -> bool {
        false
    }

    /// Whether the scheme needs [`Marker::emptied`]. A port that computes departures ahead calls it
    /// late, but in order.
    fn watches_empty(&self) -> bool {
        false
    }

    /// Whether the scheme reads [`At::packet_hash`]. If not, ports do not compute it.
    fn draws(&self) -> bool {
        true
    }

    /// Bytes in the queue below which the enqueue hook passes every packet of up to `mtu` bytes and
    /// does not change its state, so that a port need not call it. Zero if there is no such length.
    fn quiet_below(&self, mtu: u32) -> u32 {
        let _ = mtu;
        0
    }

    /// Lengths and rounds at which the enqueue hook passes every packet and does not change its
    /// state, for a scheme that scales a threshold by the round: a port need not call it there.
    /// [`Quiet::NEVER`] if there are none.
    fn quiet_by_round(&self) -> Quiet {
        Quiet::NEVER
    }

    /// The sojourn time below which, in the present state, the dequeue hook passes a packet and
    /// does not change its state, so that a port that knows sojourn times ahead need not call it.
    /// Zero if there is none. Called after each call of the hook.
    fn quiet_sojourn(&self) -> Nanos {
        Nanos::ZERO
    }

    /// Judges a packet that has been admitted and is about to join the queue. The answer is an
    /// intent.
    #[inline]
    fn enqueue(&mut self, at: &At) -> Verdict {
        let _ = at;
        Verdict::Pass
    }

    /// Judges a packet that leaves the queue. The answer is final: it may keep, add to or withdraw
    /// the marker's own intent. The default keeps it.
    #[inline]
    fn dequeue(&mut self, at: &At) -> Verdict {
        at.intent.map_or(Verdict::Pass, Verdict::Mark)
    }

    /// The queue has just become empty. Called under every scheduler.
    #[inline]
    fn emptied(&mut self, queue: QueueId, now: Nanos) {
        let _ = (queue, now);
    }

    /// Changes parameters at run time and keeps the state. The schemes of the catalogue take their
    /// configuration as [`Values`]: `marker.retune(&config.into(), &queue)`. The default ignores
    /// the call, for a marker whose parameters are fixed.
    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        let _ = (params, queue);
    }

    /// Whether the scheme uses a timer, so that [`Marker::next_wake`] may return a time. Ports poll
    /// only the schemes that do.
    fn keeps_time(&self) -> bool {
        false
    }

    /// When [`Marker::wake`] has to be called next; `None` while no timer is needed. Polled after
    /// build, wake and first arrival.
    fn next_wake(&self) -> Option<Nanos> {
        None
    }

    /// The timer of [`Marker::next_wake`] has expired. `at` shows the queue and no packet.
    fn wake(&mut self, at: &At) {
        let _ = at;
    }
}
