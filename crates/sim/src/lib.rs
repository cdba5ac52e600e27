// SPDX-License-Identifier: MIT OR Apache-2.0
//! A packet-level simulator of data-centre fabrics: events, links, hosts, workloads and metrics.
//!
//! [`run`] takes one fully resolved [`Config`] and returns its [`Outcome`], on one thread;
//! [`shards::run`] divides a point among threads. The result is the same on any machine and for any
//! number of threads; points are independent and may run in parallel.
//! A marking scheme of your own is a value in the configuration:
//!
//! ```
//! use std::sync::Arc;
//!
//! use cemark_marking::{At, Hook, Marker, QueueSpec, Verdict, Why};
//! use cemark_sim::Config;
//! use cemark_sim::config::MarkerChoice;
//! use cemark_sim::topology::Star;
//! use cemark_sim::workload::{ClassMap, Kind, Long, LongFlows, Workload};
//! use cemark_wire::{Nanos, Picos, Rate};
//!
//! /// Marks packets that waited for longer than a target.
//! struct Late(Nanos);
//!
//! impl Marker for Late {
//!     fn hook(&self) -> Hook {
//!         Hook::Dequeue
//!     }
//!
//!     fn dequeue(&mut self, at: &At) -> Verdict {
//!         if at.sojourn > self.0 { Verdict::Mark(Why::Instant) } else { Verdict::Pass }
//!     }
//! }
//!
//! /// Two endless DCTCP flows share a link of 10 Gb/s for 20 ms.
//! fn two_flows(marker: MarkerChoice) -> Config {
//!     let star = Star { hosts: 3, rate: Rate::gbps(10), delay: Picos::from_micros(5) };
//!     let flows = Workload {
//!         name: "two".to_owned(),
//!         kind: Kind::Long(Long {
//!             flows: LongFlows::Pairs(vec![(0, 2), (1, 2)]),
//!             at: Picos::ZERO,
//!             stagger: Picos::ZERO,
//!             jitter: Picos::from_micros(1),
//!         }),
//!         class: ClassMap::Fixed(0),
//!         persistent: false,
//!         transport: None,
//!     };
//!     let mut config = Config::new(star, vec![flows], marker, Picos::from_micros(20_000));
//!     config.measure.from = Picos::from_micros(5_000); // after slow start
//!     config
//! }
//!
//! let queue = |marker| {
//!     let outcome = cemark_sim::run(&two_flows(marker));
//!     let mut ports = outcome.ports.iter();
//!     let port = ports.find(|p| p.name == "switch0->host2").expect("the bottleneck");
//!     assert!(port.utilisation > 0.95);
//!     port.queue.mean
//! };
//! let late = |target| {
//!     let make = move |_: &QueueSpec| Box::new(Late(target)) as Box<dyn Marker>;
//!     MarkerChoice::Custom(Arc::new(make))
//! };
//! // DCTCP keeps the queue near the target: 30 us at 10 Gb/s are 37,500 bytes.
//! let (marked, unmarked) = (queue(late(Nanos::from_micros(30))), queue(MarkerChoice::None));
//! assert!(marked < 45_000.0 && unmarked > 3.0 * marked, "{marked} {unmarked}");
//! ```

mod agenda;
pub mod config;
mod division;
mod endpoints;
mod engine;
pub mod events;
pub mod faults;
mod ids;
mod lookahead;
mod metrics;
mod middleboxes;
mod network;
pub mod outcome;
pub mod retune;
mod scramble;
pub mod shards;
pub mod stepped;
pub mod topology;
mod transports;
pub mod workload;

pub use config::Config;
pub use engine::Progress;
pub use ids::LinkId;
pub use network::meters::{Meters, meters};
pub use network::tap::{Seen, Sightings, Tap};
pub use outcome::Outcome;
pub use retune::Retune;
pub use stepped::{Observation, Stepped, Watch, run_with_observer};

use events::{EventQueue, Heap, Scrambled, Wheel};

/// Simulates one point.
pub fn run(cfg: &Config) -> Outcome {
    run_with_progress(cfg, &mut |_| true).expect("no report abandons it")
}

/// Simulates one point; `report` is called from time to time and abandons the run by returning
/// false.
pub fn run_with_progress(
    cfg: &Config,
    report: &mut dyn FnMut(Progress) -> bool,
) -> Option<Outcome> {
    run_on::<Wheel>(cfg, report)
}

/// Simulates one point on the reference event core, for measuring and checking the other.
pub fn run_on_heap(cfg: &Config) -> Outcome {
    run_on::<Heap>(cfg, &mut |_| true).expect("no report abandons it")
}

/// Simulates one point on the reference event core, with events inserted in random order: a check
/// that the outcome does not depend on that order.
pub fn run_scrambled(cfg: &Config) -> Outcome {
    run_on::<Scrambled>(cfg, &mut |_| true).expect("no report abandons it")
}

fn run_on<Q: EventQueue>(
    cfg: &Config,
    report: &mut dyn FnMut(Progress) -> bool,
) -> Option<Outcome> {
    let mut sim = engine::Shard::<Q>::whole(cfg, &[], &[]);
    sim.run(report).then(|| sim.finish())
}

/// Simulates one point as [`run_with_progress`] does, and records the packets that arrive over the
/// links of `taps`, each link once. Taps do not change the outcome.
pub fn run_with_taps(
    cfg: &Config,
    taps: &[Tap],
    report: &mut dyn FnMut(Progress) -> bool,
) -> Option<(Outcome, Sightings)> {
    let mut sim = engine::Shard::<Wheel>::whole(cfg, taps, &[]);
    sim.run(report).then(|| {
        let sightings = std::mem::take(&mut sim.core.net.taps.sightings);
        (sim.finish(), sightings)
    })
}
