// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulation divided into shards, which may run on several threads, with the digest of the
//! undivided simulation.
//!
//! A shard has some hosts and the ports that `division.rs` gives it. Every shard knows all flows
//! and all connections; it sends for its own hosts and receives for them, so of a connection one
//! shard uses the sender and one the receiver. A packet changes the shard at the far end of a link.
//! Its arrival is known when its transmission begins, one window ahead at least: a window is the
//! delay of such a link and the time of the shortest packet. A pause frame takes as long. So all
//! shards simulate one window, exchange what they have for each other, and go on from the earliest
//! event of all.
//!
//! A run ends in the event in which the last measured flow does, or in which ports are found in a
//! deadlock. No window in which that may happen is simulated side by side: the shards' events are
//! then taken one after the other in their common order, by one thread.

mod barrier;
mod exchange;
mod merge;
mod retire;
mod work;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::Progress;
use crate::config::{Config, Edge};
use crate::division::{self, Division};
use crate::engine::Shard;
use crate::engine::build::Layout;
use crate::network::{Border, pfc};
use crate::outcome::Outcome;

use barrier::Barrier;
use exchange::Exchange;
use work::{Apart, Plan, Sim};

/// Most flows of a point that is divided: each shard has about a hundred bytes for each number of a
/// connection.
const MOST_FLOWS: u64 = 1_000_000;

/// Simulates one point in `shards` parts on `threads` threads; both are lowered to what the point
/// allows ([`obstacle`], [`most_shards`]). `report` is called from time to time and abandons the
/// run by returning false.
///
/// The outcome, but for its count of events, is that of [`run`](crate::run).
pub fn run(
    cfg: &Config,
    shards: u32,
    threads: u32,
    report: &mut dyn FnMut(Progress) -> bool,
) -> Option<Outcome> {
    let together = AtomicBool::new(true);
    run_around(cfg, shards, threads, report, &|work| work(), &together)
}

/// A function around the work of each thread of a simulation. It calls its argument once.
pub type Around<'a> = &'a (dyn Fn(&mut dyn FnMut()) + Sync);

/// How the work of a divided simulation was spread. The numbers are the same on every machine, for
/// the same shards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// Windows, each of which ends in an exchange at a barrier.
    pub windows: u64,
    /// Windows that one thread simulated for all shards, since the run might end there.
    pub alone: u64,
    /// Packets and pause frames that changed the shard.
    pub messages: u64,
    /// Packet-hops of all shards, and the sum over windows of those of the busiest shard. Threads
    /// wait for the busiest.
    pub hops: u64,
    /// See `hops`.
    pub busiest: u64,
}

/// As [`run`], with how the work was spread; nothing was where the point is not divided.
pub fn run_counted(cfg: &Config, shards: u32, threads: u32) -> (Outcome, Spread) {
    let (mut spread, together) = (Spread::default(), AtomicBool::new(true));
    let crew = Crew {
        around: &|work| work(),
        together: &together,
    };
    let outcome = divided(cfg, shards, threads, &mut |_| true, &crew, &mut spread);
    (outcome.expect("no report abandons it"), spread)
}

/// As [`run`], for a caller with a clock, since nothing here reads one. `around` is called in each
/// of the threads, to learn what they cost. Once `together` is false, the first thread simulates
/// all shards from the next report on, which is better where other programs use the cores.
pub fn run_around(
    cfg: &Config,
    shards: u32,
    threads: u32,
    report: &mut dyn FnMut(Progress) -> bool,
    around: Around<'_>,
    together: &AtomicBool,
) -> Option<Outcome> {
    let crew = Crew { around, together };
    divided(cfg, shards, threads, report, &crew, &mut Spread::default())
}

/// See [`run_around`].
struct Crew<'a> {
    around: Around<'a>,
    together: &'a AtomicBool,
}

fn divided(
    cfg: &Config,
    shards: u32,
    threads: u32,
    report: &mut dyn FnMut(Progress) -> bool,
    crew: &Crew<'_>,
    spread: &mut Spread,
) -> Option<Outcome> {
    let Crew { around, together } = *crew;
    let shards = shards.min(most_shards(cfg));
    if shards < 2 {
        let mut outcome = None;
        around(&mut || outcome = crate::run_with_progress(cfg, report));
        return outcome;
    }
    let sim = Sim::new(cfg, shards, threads);
    std::thread::scope(|scope| {
        for k in 1..sim.plan.threads {
            let sim = &sim;
            scope.spawn(move || {
                let mut spread = Spread::default();
                around(&mut || sim.work(k, &mut |_| true, together, &mut spread));
            });
        }
        around(&mut || sim.work(0, report, together, spread));
    });
    spread.messages = sim.exchange.messages.load(Ordering::Relaxed);
    sim.into_outcome()
}

impl Sim {
    /// A simulation at tick zero, in at most this many shards.
    pub(super) fn new(cfg: &Config, shards: u32, threads: u32) -> Sim {
        let layout = Layout::new(cfg);
        let clock = layout.clock;
        let division = Arc::new(Division::new(cfg, &layout.fabric, clock, shards));
        let number = division.shards;
        let threads = (threads.max(1) as usize).min(number);
        let border = |me| Border::new(me as u32, &division);
        let shards: Vec<_> = (0..number)
            .map(|me| Shard::of(&layout, border(me)))
            .collect();
        let plan = Plan {
            threads,
            total: shards[0].awaited,
            flows: shards[0].traffic.ahead(),
            window: division.window,
            check: cfg.switch.pfc.as_ref().map(|_| clock.ticks(pfc::CHECK)),
            end: clock.ticks(cfg.max_time),
        };
        Sim {
            shards: shards.into_iter().map(|s| Apart(Mutex::new(s))).collect(),
            exchange: Exchange::new(number, threads, plan.flows),
            plan,
        }
    }
}

/// Lets this many threads meet at the barrier between two windows this often, with nothing to do in
/// between: for a caller with a clock, who wants to know what a barrier costs.
pub fn meet(threads: usize, times: u32) {
    let barrier = Barrier::new(threads);
    let meet = || {
        for _ in 0..times {
            barrier.wait();
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(meet);
        }
        meet();
    });
}

/// Why a point cannot be divided into shards, if it cannot: words that follow "it is not divided:".
pub fn obstacle(cfg: &Config) -> Option<&'static str> {
    let persistent = cfg.workloads.iter().any(|w| w.persistent);
    let facts = || cfg.workloads.iter().map(|w| w.kind.facts(&cfg.topology));
    if cfg.topology.hosts() < 2 {
        Some("it has one host")
    } else if !matches!(cfg.edge, Edge::Plain) {
        Some("it has middleboxes between two sites")
    } else if persistent && cfg.switch.pfc.is_some() && cfg.draws_rtts() {
        Some("its connections are persistent, with RTTs of their flows and pauses")
    } else if facts().any(|facts| facts.is_unbounded()) {
        Some("the number of its flows has no bound")
    } else if facts().any(|facts| facts.waits) {
        Some("some of its flows start because others have ended")
    } else if facts()
        .map(|facts| facts.flows())
        .fold(0, u64::saturating_add)
        > MOST_FLOWS
    {
        Some("it has more than a million flows")
    } else {
        None
    }
}

/// The most shards that a point can be divided into, and so the most threads that it can use: 1
/// where it cannot be divided.
pub fn most_shards(cfg: &Config) -> u32 {
    match obstacle(cfg) {
        None => division::most(cfg),
        Some(_) => 1,
    }
}

/// How many seconds two shards of a point simulate before they exchange what they have for each
/// other.
pub fn window_seconds(cfg: &Config) -> f64 {
    let layout = Layout::new(cfg);
    let clock = layout.clock;
    let window = Division::new(cfg, &layout.fabric, clock, 2).window;
    window as f64 * clock.tick_ps() as f64 * 1e-12
}

/// Configuration for tests of the shards: short queries to one host of a star, one after the other.
#[cfg(test)]
fn queries(senders: u32, bytes: [u64; 2], repeat: u32, every: u64) -> Config {
    use crate::config::MarkerChoice;
    use crate::topology::Star;
    use crate::workload::{ClassMap, Incast, Kind, Workload};
    use cemark_wire::{Picos, Rate};

    let star = Star {
        hosts: 8,
        rate: Rate::gbps(10),
        delay: Picos::from_micros(5),
    };
    let queries = Workload {
        name: "queries".to_owned(),
        kind: Kind::Incast(Incast {
            from: Vec::new(),
            senders,
            receiver: 1,
            min_bytes: bytes[0],
            max_bytes: bytes[1],
            at: Picos::ZERO,
            repeat,
            every: Picos::from_micros(every),
            jitter: Picos::ZERO,
        }),
        class: ClassMap::Fixed(0),
        persistent: false,
        transport: None,
    };
    let end = Picos::from_micros(1_000_000);
    Config::new(star, vec![queries], MarkerChoice::None, end)
}
