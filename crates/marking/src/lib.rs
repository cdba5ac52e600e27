// SPDX-License-Identifier: MIT OR Apache-2.0
//! When to mark: every ECN marking scheme of cemark behind one contract.
//!
//! The crate is `no_std`, allocates nothing, uses no floats and forbids unsafe code, so that a
//! kernel, a QUIC stack or a switch can embed a marker as it stands. Time, randomness and queue
//! state are arguments ([`At`]), never reached for.
//!
//! A marker states an intent ([`Verdict`]); the port that owns it writes CE, in one place. It never
//! clears a CE that another switch has set.
//!
//! ECN# on a FIFO of your own, judged as packets leave:
//!
//! ```
//! # use cemark_marking::{At, Marker, QueueSpec, Values, Verdict, ecn_sharp};
//! # use cemark_wire::{Nanos, Rate};
//! # let (mut fifo, now) = (std::collections::VecDeque::new(), Nanos::from_micros(250));
//! let mut marker = ecn_sharp::EcnSharp::new(&Values::defaults(&ecn_sharp::SPEC), &QueueSpec::fifo(Rate::gbps(10)));
//! fifo.push_back((Nanos::ZERO, 1_500)); // a packet joins: when, and its bytes
//! let (came, bytes) = fifo.pop_front().expect("it waits"); // and leaves
//! let backlog = fifo.iter().map(|packet| packet.1).sum();
//! let ce = matches!(marker.dequeue(&At::fifo(now, now.saturating_sub(came), backlog, bytes)), Verdict::Mark(_));
//! assert!(ce); // 250 us is more than its ins_target: write CE, if the packet is ECN-capable
//! ```
#![no_std]
#![warn(clippy::too_many_lines)]

mod at;
pub mod catalogue;
pub mod cedm;
pub mod cedm_sharp;
pub mod codel;
pub mod dynamic;
pub mod ecn_sharp;
pub mod fixed;
pub mod mq_ecn;
mod params;
pub mod pi;
pub mod pie;
pub mod red;
pub mod tcn;
pub mod threshold;
pub mod wred;

pub use at::{At, Hook, QueueId, QueueSpec, Verdict, Why};
pub use params::{FirstMark, Kind, Level, MAX_PARAMS, Ordered, ParamSpec, SchemeSpec, Values};

use cemark_wire::Nanos;

/// Lengths at which a marker says nothing, whatever else it sees: bytes in the queue and of the
/// packet together are at most `bytes`, and times the round in nanoseconds at most `byte_nanos`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quiet {
    /// Bytes with the packet.
    pub bytes: u32,
    /// The same times the round.
    pub byte_nanos: u64,
}

impl Quiet {
    /// No such length.
    pub const NEVER: Quiet = Quiet {
        bytes: 0,
        byte_nanos: 0,
    };

    /// Whether a packet that makes it `bytes` is let pass, at a round of so many nanoseconds.
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
    /// Which hook the scheme judges at. Asked once, when the port is built.
    fn hook(&self) -> Hook;

    /// Whether `dequeue` looks at lengths (then the port must call it at the departure itself, not
    /// ahead of it).
    fn reads_length_at_dequeue(&self) -> bool {
        false
    }

    /// Whether the scheme wants [`Marker::emptied`] (a port that computes departures ahead then
    /// tells it late, but in order).
    fn watches_empty(&self) -> bool {
        false
    }

    /// Whether the scheme reads [`At::packet_hash`]; ports spare the hash where nobody does.
    fn draws(&self) -> bool {
        true
    }

    /// Bytes in the queue below which the enqueue hook passes every packet up to `mtu` bytes and
    /// keeps its state: a port need not ask there. Zero where there is no such length.
    fn quiet_below(&self, mtu: u32) -> u32 {
        let _ = mtu;
        0
    }

    /// Where the enqueue hook passes every packet and keeps its state, for a scheme that scales a
    /// threshold by the round: a port need not ask there. [`Quiet::NEVER`] where there is no such
    /// place.
    fn quiet_by_round(&self) -> Quiet {
        Quiet::NEVER
    }

    /// The sojourn below which, in the present state, the dequeue hook passes a packet and keeps
    /// its state: a port that knows sojourns ahead need not ask there. Zero where there is none.
    /// Asked after each call of the hook.
    fn quiet_sojourn(&self) -> Nanos {
        Nanos::ZERO
    }

    /// Judges a packet that has been admitted and is about to join the queue: an intent.
    #[inline]
    fn enqueue(&mut self, at: &At) -> Verdict {
        let _ = at;
        Verdict::Pass
    }

    /// Judges a packet that leaves the queue: final. May keep, add to or withdraw its own intent.
    /// The default keeps it.
    #[inline]
    fn dequeue(&mut self, at: &At) -> Verdict {
        at.intent.map_or(Verdict::Pass, Verdict::Mark)
    }

    /// The queue has just become empty. Told under every scheduler.
    #[inline]
    fn emptied(&mut self, queue: QueueId, now: Nanos) {
        let _ = (queue, now);
    }

    /// Changes parameters at run time and keeps the state.
    fn retune(&mut self, params: &Values, spec: &QueueSpec);

    /// Whether the scheme has a clock: whether [`Marker::next_wake`] ever asks for one. A port asks
    /// only those that do.
    fn keeps_time(&self) -> bool {
        false
    }

    /// When [`Marker::wake`] wants to be called next; `None` while it needs no clock. Polled after
    /// build, wake and first arrival.
    fn next_wake(&self) -> Option<Nanos> {
        None
    }

    /// The clock that [`Marker::next_wake`] asked for.
    fn wake(&mut self, at: &At) {
        let _ = at;
    }
}
