// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulation that its caller takes from interval to interval: after each, the caller sees what
//! happened at chosen ports and may change their markers' parameters before the next.
//!
//! An interval ends between two ticks: behind every event of its last one, and ahead of every event
//! of the next. Who changes nothing gets the outcome of [`run`](crate::run). Such a run is not
//! divided into shards.

use cemark_marking::{SchemeSpec, Values};

use crate::config::Config;
use crate::engine::Shard;
pub use crate::engine::watch::{Observation, PortObservation, Watch};
use crate::events::Wheel;
use crate::ids::LinkId;
use crate::outcome::Outcome;
use crate::retune::BadRetune;

/// A simulation that its caller takes from interval to interval.
///
/// ```
/// # use cemark_marking::{Values, catalogue};
/// # use cemark_sim::config::MarkerChoice;
/// # use cemark_sim::topology::Star;
/// # use cemark_sim::workload::{ClassMap, Kind, Long, LongFlows, Workload};
/// # use cemark_sim::{Config, Stepped, Watch};
/// # use cemark_wire::{Picos, Rate};
/// # let star = Star { hosts: 3, rate: Rate::gbps(10), delay: Picos::from_micros(5) };
/// # let flows = Workload {
/// #     name: "two".to_owned(),
/// #     kind: Kind::Long(Long {
/// #         flows: LongFlows::Pairs(vec![(0, 2), (1, 2)]),
/// #         at: Picos::ZERO,
/// #         stagger: Picos::ZERO,
/// #         jitter: Picos::from_micros(1),
/// #     }),
/// #     class: ClassMap::Fixed(0),
/// #     persistent: false,
/// #     transport: None,
/// # };
/// # let scheme = catalogue::find("threshold").expect("a scheme");
/// # let marker = MarkerChoice::Builtin { scheme, values: Values::defaults(scheme) };
/// # let config = Config::new(star, vec![flows], marker, Picos::from_micros(20_000));
/// let port = config.topology.fabric().matching("switch0->host2")[0];
/// let watch = Watch { links: vec![port], interval: Picos::from_micros(1_000), samples: 16 };
/// let mut run = Stepped::new(&config, &watch);
/// let mut longest = 0;
/// while !run.is_over() {
///     let seen = run.step();
///     longest = longest.max(seen.ports[0].max_bytes);
///     let k = if seen.until < Picos::from_micros(10_000) { 20_000 } else { 60_000 };
///     run.retune(&[port], &[("k", k)]).expect("a parameter in its range");
/// }
/// assert!(longest > 0 && run.finish().packet_hops > 0);
/// ```
pub struct Stepped {
    sim: Shard<Wheel>,
    over: bool,
}

impl Stepped {
    /// Lays the simulation out; nothing has happened yet. Panics on a link that the fabric does not
    /// have.
    pub fn new(cfg: &Config, watch: &Watch) -> Stepped {
        let mut sim = Shard::<Wheel>::whole(cfg, &[], &watch.links);
        sim.watch_from_now(watch);
        Stepped { sim, over: false }
    }

    /// Simulates one interval, or up to the end of the run. After the end it returns an interval of
    /// no time in which nothing happened.
    pub fn step(&mut self) -> Observation {
        if !self.over {
            self.over = self.sim.advance();
        }
        self.sim.observe(self.over)
    }

    /// Whether the run has ended.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// The measured flows that have not ended.
    pub fn awaited(&self) -> u64 {
        self.sim.awaited
    }

    /// Changes parameters of watched ports, each in the unit in which the catalogue stores it, from
    /// the beginning of the next interval on: at all of them or, on an error, at none.
    pub fn retune<N: AsRef<str>>(
        &mut self,
        links: &[LinkId],
        params: &[(N, u64)],
    ) -> Result<(), BadRetune> {
        self.sim.retune(links, None, params)
    }

    /// The scheme of a watched port and its parameters now. `None` where it has none of the
    /// catalogue.
    pub fn values(&self, link: LinkId) -> Option<(&'static SchemeSpec, Values)> {
        self.sim.values_of(link)
    }

    /// Simulates what is left, and returns the outcome.
    pub fn finish(mut self) -> Outcome {
        while !self.over {
            self.step();
        }
        self.sim.finish()
    }
}

/// A change of parameters that an observer answers with: the ports, and names of parameters with
/// their values in the units of the catalogue.
pub type Answer = (Vec<LinkId>, Vec<(String, u64)>);

/// Simulates one point and calls `observer` after each interval of `watch`; what it answers takes
/// effect before the next.
pub fn run_with_observer(
    cfg: &Config,
    watch: &Watch,
    observer: &mut dyn FnMut(&Observation) -> Vec<Answer>,
) -> Result<Outcome, BadRetune> {
    let mut run = Stepped::new(cfg, watch);
    while !run.is_over() {
        for (links, params) in observer(&run.step()) {
            run.retune(&links, &params)?;
        }
    }
    Ok(run.finish())
}
