// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulation that its caller takes from interval to interval: after each, the caller sees what
//! happened at chosen ports and may change their markers' parameters before the next.
//!
//! An interval ends between two ticks: behind every event of its last one, and ahead of every event
//! of the next. Who changes nothing gets the outcome of [`run`](crate::run). Such a run is not
//! divided into shards.

use cemark_marking::{SchemeSpec, Values};
use cemark_wire::{Nanos, Picos};

use crate::agenda::kind;
use crate::config::Config;
use crate::engine::Shard;
use crate::events::{EventQueue, Wheel};
use crate::ids::LinkId;
use crate::metrics::record;
use crate::outcome::{FlowRecord, Outcome};
use crate::retune::BadRetune;

/// What a caller wants to see.
#[derive(Clone, Debug)]
pub struct Watch {
    /// The ports, by their links: ports of switches. Only they can be retuned.
    pub links: Vec<LinkId>,
    /// Length of an interval; at least a nanosecond.
    pub interval: Picos,
    /// Samples of each queue in an interval, evenly spaced; the last is at its end. At least 1.
    pub samples: u32,
}

/// What happened in one interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Its beginning.
    pub from: Picos,
    /// Its end, or that of the run.
    pub until: Picos,
    /// The run has ended.
    pub over: bool,
    /// The watched ports, in the order of [`Watch::links`].
    pub ports: Vec<PortObservation>,
    /// Measured flows that ended, in order of time.
    pub ended: Vec<FlowRecord>,
    /// Measured flows that have not ended yet.
    pub awaited: u64,
}

/// One port in one interval. Queue lengths do not count the packet being sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortObservation {
    /// Its link.
    pub link: LinkId,
    /// Mean length of its queues together over the samples, in bytes.
    pub mean_bytes: f64,
    /// Largest of the samples, in bytes.
    pub max_bytes: u32,
    /// Mean time to drain the backlog over the samples, in nanoseconds: with one queue, the sojourn
    /// time of a packet that arrives.
    pub mean_wait: f64,
    /// Largest of the samples.
    pub max_wait: Nanos,
    /// Packets whose transmission began.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many of them got CE here.
    pub marks: u64,
    /// Packets discarded.
    pub drops: u64,
    /// Share of the time in which the link was sending, 0 to 1.
    pub utilisation: f64,
}

/// Counters at the beginning of an interval.
#[derive(Clone, Copy, Default)]
struct Before {
    packets: u64,
    bytes: u64,
    marks: u64,
    drops: u64,
    busy: u64,
}

/// Sums of samples.
#[derive(Clone, Copy, Default)]
struct Sums {
    bytes: u64,
    max_bytes: u32,
    wait: u64,
    max_wait: u64,
}

/// What a running simulation keeps for its caller.
pub(crate) struct Watched {
    links: Vec<LinkId>,
    interval: Picos,
    samples: u32,
    /// Intervals that have ended.
    done: u64,
    /// Samples of this interval so far.
    taken: u32,
    /// The interval has just ended.
    due: bool,
    /// First tick of this interval.
    from: u64,
    before: Vec<Before>,
    sums: Vec<Sums>,
    /// Measured flows that had ended before this interval.
    flows: usize,
}

impl Watched {
    /// The tick of the next sample: the last one before the instant that it belongs to.
    fn next<Q: EventQueue>(&self, shard: &Shard<Q>) -> u64 {
        let whole = u128::from(self.interval.0) * u128::from(self.done);
        let part = u128::from(self.interval.0) * u128::from(self.taken + 1);
        let instant = whole + part / u128::from(self.samples);
        let instant = Picos(u64::try_from(instant).unwrap_or(u64::MAX / 2));
        shard.agenda.clock.ticks(instant).max(shard.agenda.now + 2) - 1
    }
}

impl<Q: EventQueue> Shard<Q> {
    /// Watches some ports from the first tick on.
    fn watch_from_now(&mut self, watch: &Watch) {
        let watched = Watched {
            links: watch.links.clone(),
            interval: watch.interval.max(Picos(1_000)),
            samples: watch.samples.max(1),
            done: 0,
            taken: 0,
            due: false,
            from: 0,
            before: vec![Before::default(); watch.links.len()],
            sums: vec![Sums::default(); watch.links.len()],
            flows: 0,
        };
        self.arm_watch(watched);
    }

    fn arm_watch(&mut self, watched: Watched) {
        let at = watched.next(self);
        self.agenda.events.insert(at, kind::RECORD | record::WATCH);
        self.watched = Some(Box::new(watched));
    }

    /// Samples the watched ports. All ports have been brought up to the current time.
    #[cold]
    pub fn watch(&mut self) {
        let Some(mut watched) = self.watched.take() else {
            return;
        };
        for (link, sums) in watched.links.iter().zip(&mut watched.sums) {
            let port = self.net.port_mut(*link);
            let bytes = port.queued_bytes(self.agenda.now);
            let wait = self
                .agenda
                .clock
                .nanos(port.backlog_ticks(self.agenda.now))
                .0;
            sums.bytes += u64::from(bytes);
            sums.max_bytes = sums.max_bytes.max(bytes);
            sums.wait += wait;
            sums.max_wait = sums.max_wait.max(wait);
        }
        watched.taken += 1;
        watched.due = watched.taken == watched.samples;
        if watched.due {
            // The next interval is armed when its caller asks for it.
            self.watched = Some(watched);
        } else {
            self.arm_watch(*watched);
        }
    }

    /// Handles events up to the end of the interval. Returns whether the run has ended.
    fn advance(&mut self) -> bool {
        let end = self.agenda.clock.ticks(self.cfg.max_time);
        while let Some((now, event)) = self.agenda.events.pop() {
            if now > end {
                self.agenda.now = end;
                return true;
            }
            self.handle(now, event);
            if self.stop {
                return true;
            }
            if self.watched.as_ref().is_some_and(|w| w.due) {
                return false;
            }
        }
        true
    }

    /// What happened since the interval began; the next one begins.
    fn observe(&mut self, over: bool) -> Observation {
        self.net.catch_up(self.agenda.now);
        let mut watched = self.watched.take().expect("a simulation that is stepped");
        let until = self.agenda.now + 1;
        let span = (until - watched.from).max(1) as f64;
        let taken = f64::from(watched.taken.max(1));
        let mut ports = Vec::with_capacity(watched.links.len());
        for (i, &link) in watched.links.iter().enumerate() {
            let (port, sums) = (self.net.port(link), watched.sums[i]);
            let counters = port.counters();
            let now = Before {
                packets: counters.sent,
                bytes: counters.sent_bytes,
                marks: counters.all_marks(),
                drops: counters.all_drops(),
                busy: port.busy_ticks(until),
            };
            let before = std::mem::replace(&mut watched.before[i], now);
            ports.push(PortObservation {
                link,
                mean_bytes: sums.bytes as f64 / taken,
                max_bytes: sums.max_bytes,
                mean_wait: sums.wait as f64 / taken,
                max_wait: Nanos(sums.max_wait),
                packets: now.packets - before.packets,
                bytes: now.bytes - before.bytes,
                marks: now.marks - before.marks,
                drops: now.drops - before.drops,
                utilisation: (now.busy - before.busy) as f64 / span,
            });
            watched.sums[i] = Sums::default();
        }
        let flows = &self.metrics.flows;
        let observation = Observation {
            from: self.agenda.clock.picos(watched.from),
            until: self
                .agenda
                .clock
                .picos(if over { self.agenda.now } else { until }),
            over,
            ports,
            ended: flows[watched.flows..].to_vec(),
            awaited: self.awaited,
        };
        watched.flows = flows.len();
        watched.from = until;
        (watched.taken, watched.due) = (0, false);
        watched.done += 1;
        if over {
            self.watched = Some(watched);
        } else {
            self.arm_watch(*watched);
        }
        observation
    }
}

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
/// #     control: None,
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
        self.sim.retune(links, params)
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
