// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who sends next and what fits: queues, ports, schedulers, and the one place that writes CE.
//!
//! A [`Port`] owns the transmitter of its link. It works in *ticks*, a unit of time that its owner
//! chooses so that the time of a byte and every delay are whole numbers; markers see nanoseconds. A
//! port holds packets by value and knows nothing about routes or hosts.
#![warn(clippy::too_many_lines)]

pub mod admit;
pub mod ce;
mod clock;
mod counters;
pub mod edge;
mod explicit;
mod fused;
mod lines;
mod marker;
mod pause;
mod port;
mod queue;
mod ring;
mod round;
pub mod sched;

pub use admit::{Pool, PoolId};
pub use clock::Clock;
pub use counters::{Counters, DropReason};
pub use explicit::ExplicitPort;
pub use fused::{FusedPort, REFUSED};
pub use lines::Lines;
pub use marker::AnyMarker;
pub use pause::{PAUSE_BYTES, Paused};
pub use port::{Discarded, NEVER, Offer, Port, PortSpec, QueueSetup};
pub use ring::Ring;
pub use round::{Round, RoundSpec};
