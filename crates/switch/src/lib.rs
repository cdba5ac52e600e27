// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who sends next and what fits: queues, ports, schedulers, and the one place that writes CE.
//!
//! A [`Port`] owns its link's transmitter. It works in *ticks*, a unit of time the simulator
//! chooses so that every byte time and delay is whole; markers see nanoseconds. It holds packets by
//! value and knows nothing of routes or hosts.
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
