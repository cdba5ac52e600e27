// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who sends next and what fits: queues, ports, schedulers, and the one place that writes CE.
//!
//! A [`Port`] owns the transmitter of its link. It works in *ticks*, a unit of time that its owner
//! chooses so that the time of a byte and every delay are whole numbers; markers see nanoseconds. A
//! port holds packets by value and knows nothing about routes or hosts.
//!
//! The owner keeps an event list: [`Port::offer`] and [`Port::serve`] return the ticks at which to
//! call [`Port::deliver`] and [`Port::serve`].
//!
//! ```
//! use cemark_marking::catalogue::Builtin;
//! use cemark_marking::ecn_sharp::{EcnSharp, EcnSharpConfig};
//! use cemark_marking::QueueSpec;
//! use cemark_switch::admit::RoomPolicy;
//! use cemark_switch::ce::NonEct;
//! use cemark_switch::sched::{self, SchedulerKind};
//! use cemark_switch::{
//!     AnyMarker, Clock, DeviceQueue, NEVER, Pool, PoolId, Port, PortSpec, QueueSetup, RoundSpec,
//! };
//! use cemark_wire::{Ecn, Fields, NONE, Nanos, Packet, Rate};
//!
//! // One queue at 10 Gb/s with ECN#, in ticks of 100 ps: a byte takes 8 of them.
//! let queue = QueueSpec::fifo(Rate::gbps(10));
//! let config = EcnSharpConfig { ins_target: Nanos::from_micros(20), ..Default::default() };
//! let marker = EcnSharp::from_config(config, &queue);
//! let mut port = Port::new(PortSpec {
//!     clock: Clock::new(100),
//!     byte_ticks: 8,
//!     delay: 10_000, // 1 us to the far end
//!     tag: 0,
//!     buffer_bytes: 300_000,
//!     buffering: RoomPolicy::Whole,
//!     pool: PoolId(0),
//!     own_pool: true,
//!     queues: vec![QueueSetup {
//!         spec: queue,
//!         marker: AnyMarker::Builtin(Builtin::EcnSharp(marker)),
//!         non_ect: NonEct::Drop,
//!         lossless: false,
//!     }],
//!     scheduler: sched::build(SchedulerKind::Fifo, &[queue]),
//!     round: RoundSpec::default(),
//!     device: DeviceQueue::NONE,
//!     most_packets: 0,
//!     never_fuse: true, // keep real queues
//!     may_lag: false,   // and call `serve` for every departure
//! });
//! let mut pools = [Pool::of_port(300_000)];
//! let mut discarded = Vec::new();
//!
//! // A burst of 40 packets arrives at once; then the port sends them one after the other.
//! let fields = Fields { wire_bytes: 1_500, len: 1_460, ecn: Ecn::Ect0, ..Fields::default() };
//! let mut serve_at = NEVER;
//! for seq in 0..40 {
//!     let packet = Packet::new(seq, 0, 0, NONE, fields);
//!     let packet_hash = 0; // ECN# makes no random choice
//!     let offer = port.offer(0, &packet, packet_hash, &mut pools, &mut discarded);
//!     assert!(!offer.refused);
//!     serve_at = serve_at.min(offer.serve_at);
//! }
//! while serve_at != NEVER {
//!     serve_at = port.serve(serve_at, &mut pools, &mut discarded).serve_at;
//! }
//!
//! // A packet takes 1.2 us to send: those behind the first 17 waited for longer than 20 us.
//! assert_eq!((port.counters().sent, port.counters().all_marks()), (40, 23));
//! let (first, next) = port.deliver(12_000 + 10_000, &mut pools, &mut discarded);
//! assert_eq!((first.seq, first.ecn()), (0, Ecn::Ect0));
//! assert_eq!(next, 2 * 12_000 + 10_000); // the second arrives 1.2 us later
//! ```
#![warn(clippy::too_many_lines)]

pub mod admit;
pub mod ce;
mod clock;
mod counters;
mod device;
mod explicit;
mod fused;
mod lines;
mod marker;
mod port;
mod queue;
mod ring;
mod round;
pub mod sched;
mod spec;
mod wire;

pub use admit::{Pool, PoolId};
pub use clock::{Clock, NEVER};
pub use counters::{Counters, DropReason};
pub use device::DeviceQueue;
pub use explicit::{ExplicitPort, PAUSE_BYTES, Paused};
pub use fused::{FusedPort, REFUSED};
pub use lines::Lines;
pub use marker::AnyMarker;
pub use port::Port;
pub use ring::Ring;
pub use round::{Round, RoundSpec};
pub use spec::{Discarded, Offer, PortSpec, QueueSetup};
