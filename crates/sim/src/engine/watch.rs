// SPDX-License-Identifier: MIT OR Apache-2.0
//! Samples at chosen ports of a simulation, for a caller that takes it from interval to interval
//! ([`crate::stepped`]).

use cemark_wire::{Nanos, Picos};

use super::Shard;
use crate::agenda::{Agenda, kind};
use crate::events::EventQueue;
use crate::ids::LinkId;
use crate::metrics::record;
use crate::outcome::FlowRecord;

/// Ports that a caller wants to see, and how often they are sampled.
#[derive(Clone, Debug)]
pub struct Watch {
    /// The ports, by their links: ports of switches. Only they can be retuned.
    pub links: Vec<LinkId>,
    /// Length of an interval; at least a nanosecond.
    pub interval: Picos,
    /// Samples of each queue in an interval, evenly spaced; the last is at its end. At least 1.
    pub samples: u32,
}

/// Observation of one interval: its ports and its flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Start of the interval.
    pub from: Picos,
    /// End of the interval, or of the run.
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

/// Observation of one port in one interval. Queue lengths do not count the packet being sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortObservation {
    /// Link of the port.
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

/// State that a running simulation keeps for the caller that watches it.
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
    fn next<Q: EventQueue>(&self, agenda: &Agenda<Q>) -> u64 {
        let whole = u128::from(self.interval.0) * u128::from(self.done);
        let part = u128::from(self.interval.0) * u128::from(self.taken + 1);
        let instant = whole + part / u128::from(self.samples);
        let instant = Picos(u64::try_from(instant).unwrap_or(u64::MAX / 2));
        agenda.ticks(instant).max(agenda.now + 2) - 1
    }
}

impl<Q: EventQueue> Shard<Q> {
    /// Watches some ports from the first tick on.
    pub fn watch_from_now(&mut self, watch: &Watch) {
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
        self.arm_watch(&watched);
        self.watched = Some(Box::new(watched));
    }

    fn arm_watch(&mut self, watched: &Watched) {
        let at = watched.next(&self.core.agenda);
        let event = kind::RECORD | record::WATCH;
        self.core.agenda.insert(at, event);
    }

    /// Samples the watched ports. All ports have been brought up to the current time.
    #[cold]
    pub fn watch(&mut self) {
        let Some(mut watched) = self.watched.take() else {
            return;
        };
        let agenda = &self.core.agenda;
        for (link, sums) in watched.links.iter().zip(&mut watched.sums) {
            let port = self.core.net.port_mut(*link);
            let bytes = port.queued_bytes(agenda.now);
            let wait = agenda.clock.nanos(port.backlog_ticks(agenda.now)).0;
            sums.bytes += u64::from(bytes);
            sums.max_bytes = sums.max_bytes.max(bytes);
            sums.wait += wait;
            sums.max_wait = sums.max_wait.max(wait);
        }
        watched.taken += 1;
        watched.due = watched.taken == watched.samples;
        // The next interval is armed when its caller asks for it.
        if !watched.due {
            self.arm_watch(&watched);
        }
        self.watched = Some(watched);
    }

    /// Handles events up to the end of the interval. Returns whether the run has ended.
    pub fn advance(&mut self) -> bool {
        let end = self.core.agenda.ticks(self.cfg.max_time);
        while let Some((now, event)) = self.core.agenda.events.pop() {
            if now > end {
                self.core.agenda.now = end;
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

    /// Observation of the interval that now ends; the next one begins.
    pub fn observe(&mut self, over: bool) -> Observation {
        self.core.catch_up();
        let mut watched = self.watched.take().expect("a simulation that is stepped");
        let until = self.core.agenda.now + 1;
        let span = (until - watched.from).max(1) as f64;
        let taken = f64::from(watched.taken.max(1));
        let mut ports = Vec::with_capacity(watched.links.len());
        for (i, &link) in watched.links.iter().enumerate() {
            let (port, sums) = (self.core.net.port(link), watched.sums[i]);
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
        let (flows, clock) = (&self.metrics.flows, self.core.agenda.clock);
        let observation = Observation {
            from: clock.picos(watched.from),
            until: clock.picos(if over { until - 1 } else { until }),
            over,
            ports,
            ended: flows[watched.flows..].to_vec(),
            awaited: self.awaited,
        };
        watched.flows = flows.len();
        watched.from = until;
        (watched.taken, watched.due) = (0, false);
        watched.done += 1;
        if !over {
            self.arm_watch(&watched);
        }
        self.watched = Some(watched);
        observation
    }
}
