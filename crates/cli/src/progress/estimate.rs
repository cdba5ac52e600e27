// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long a run takes, from how far its points are.
//!
//! Every point has an estimate of its packet-hops and of its seconds, made before anything runs.
//! Single estimates may be wrong by a factor of eight. So the estimator learns by which factor
//! points have more packet-hops than estimated, and by which factor a packet-hop takes longer
//! (`factors.rs`). A point that has passed its estimate raises that of its cell even before it
//! ends. The remaining points are then dealt out to the threads as the run will do it, so that
//! threads without work at the end are accounted for.
//!
//! The share that a point reports as done is linear in its work only where the point ends at a
//! fixed time. Where it ends with its last flow, the largest flows may take most of the time after
//! nearly all flows have ended; the share is then a lower bound of what is left.
//!
//! Time is an argument here, so that recorded runs can be replayed.

use super::factors::{Factors, Seen, Spread, beyond};

/// What is known of a point beforehand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    /// Points of a stage begin after all of the stage before have ended.
    pub(super) stage: usize,
    /// Estimated packet-hops.
    pub(super) hops: f64,
    /// Estimated seconds on one thread.
    pub(super) seconds: f64,
    /// Whether it ends at a fixed time, not with its last flow.
    pub(super) timed: bool,
    /// Its cell of the sweep: points of the same axes have the same number.
    pub(super) cell: usize,
    /// Its scheme.
    pub(super) scheme: usize,
}

/// How long the run has taken and will take, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    /// Since the start.
    pub(super) gone: f64,
    /// To the end.
    pub(super) left: f64,
}

impl Estimate {
    /// The whole run.
    pub(super) fn total(&self) -> f64 {
        self.gone + self.left
    }

    /// Share of the time that is gone.
    pub(super) fn share(&self) -> f64 {
        self.gone / self.total().max(1e-9)
    }
}

/// What a point does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// It has not begun.
    Waits,
    /// It runs.
    Runs(Running),
    /// It took this number of packet-hops and of seconds.
    Ended { hops: f64, seconds: f64 },
    /// An earlier session ran it, or it is not expected any more.
    Absent,
}

/// A point that runs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Running {
    began: f64,
    /// When it last reported.
    at: f64,
    /// The share that it reported.
    done: f64,
    /// Its packet-hops then.
    hops: f64,
}

/// How much points differ in their packet-hops from the estimate, as standard deviations of
/// logarithms.
const HOPS: Spread = Spread {
    all: 0.5,
    cells: 0.7,
    schemes: 0.3,
    point: 0.25,
};
/// The same of the time of a packet-hop. All together differ by the speed of the machine.
const SPEED: Spread = Spread {
    all: 2.0,
    cells: 0.3,
    schemes: 0.2,
    point: 0.1,
};
/// A point that has done less than this share says nothing about how long it is, and one with fewer
/// packet-hops nothing about its speed.
const LITTLE: (f64, f64) = (0.02, 1e6);
/// The share that is done is coarse where the flows are few: only this part of it counts as
/// certain.
const COARSE: f64 = 0.8;
/// The variance of what a point whose end is not fixed tells before it has ended.
const OPEN: f64 = 0.1;
/// Most by which the shown total rises in ten seconds, or from one estimate to the next.
const RISE: f64 = 1.15;
/// Seconds in which a change of the estimate is shown by two thirds, as a share of the time gone.
const INERTIA: f64 = 0.1;
/// The first estimate is made when this share of all packet-hops is done,
const ENOUGH: f64 = 0.02;
/// and from this one on it moves slowly.
const SETTLED: f64 = 0.06;

/// Estimates the time that a run takes.
#[derive(Clone, Debug)]
pub(super) struct Estimator {
    jobs: Vec<Job>,
    states: Vec<State>,
    /// The order in which waiting points begin.
    order: Vec<usize>,
    threads: usize,
    cells: usize,
    schemes: usize,
    /// The total of the last estimate, and when it was made.
    shown: Option<(f64, f64)>,
}

impl Estimator {
    /// Of points in the order in which they begin, this number at a time.
    pub(super) fn new(mut jobs: Vec<Job>, threads: usize) -> Self {
        for job in &mut jobs {
            // A point without an estimate counts as a short one.
            if !(job.hops > 0.0 && job.hops.is_finite() && job.seconds > 0.0) {
                (job.hops, job.seconds) = (1e7, 1.0);
            }
        }
        Estimator {
            states: vec![State::Waits; jobs.len()],
            order: (0..jobs.len()).collect(),
            threads: threads.max(1),
            cells: jobs.iter().map(|j| j.cell + 1).max().unwrap_or(0),
            schemes: jobs.iter().map(|j| j.scheme + 1).max().unwrap_or(0),
            shown: None,
            jobs,
        }
    }

    /// The longest point of each stage begins first.
    pub(super) fn longest_first(&mut self) {
        let jobs = &self.jobs;
        self.order.sort_by(|a, b| {
            let (a, b) = (&jobs[*a], &jobs[*b]);
            a.stage.cmp(&b.stage).then(b.seconds.total_cmp(&a.seconds))
        });
    }

    /// The points.
    pub(super) fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// Points at a time.
    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// Point `i` begins at this second.
    pub(super) fn begins(&mut self, i: usize, now: f64) {
        self.states[i] = State::Runs(Running {
            began: now,
            at: now,
            done: 0.0,
            hops: 0.0,
        });
    }

    /// This share (0 to 1) of point `i` is done, and this number of packet-hops.
    pub(super) fn at(&mut self, i: usize, now: f64, done: f64, hops: u64) {
        if let State::Runs(running) = &mut self.states[i] {
            running.at = now;
            running.done = done.clamp(running.done, 1.0);
            running.hops = hops as f64;
        }
    }

    /// Point `i` has ended with this number of packet-hops.
    pub(super) fn ends(&mut self, i: usize, now: f64, hops: u64) {
        if let State::Runs(Running { began, .. }) = self.states[i] {
            self.states[i] = State::Ended {
                hops: (hops as f64).max(1.0),
                seconds: (now - began).max(1e-3),
            };
        }
    }

    /// Point `i` does not have to be run.
    pub(super) fn skips(&mut self, i: usize) {
        self.states[i] = State::Absent;
    }

    /// Of the points that have not begun, these will. The total may jump now.
    pub(super) fn expects(&mut self, points: &[usize]) {
        let mut wanted = vec![false; self.jobs.len()];
        points.iter().for_each(|i| wanted[*i] = true);
        for (state, wanted) in self.states.iter_mut().zip(wanted) {
            match (*state, wanted) {
                (State::Waits, false) => *state = State::Absent,
                (State::Absent, true) => *state = State::Waits,
                _ => continue,
            }
            self.shown = None;
        }
    }

    /// How long it has taken and will take; `None` before enough is known.
    pub(super) fn estimate(&mut self, now: f64) -> Option<Estimate> {
        let (total, known) = self.total(now);
        if known < ENOUGH {
            return None;
        }
        let total = match self.shown {
            Some((before, then)) if known >= SETTLED => {
                let passed = (now - then).max(0.0);
                let weight = 1.0 - (-passed / (INERTIA * now).max(1.0)).exp();
                let new = before * (total / before).powf(weight);
                new.min(before * RISE.powf((passed / 10.0).min(1.0)))
            }
            _ => total,
        };
        let total = total.max(now);
        self.shown = Some((total, now));
        Some(Estimate {
            gone: now,
            left: total - now,
        })
    }

    /// The factors of packet-hops.
    fn hops(&self) -> Factors {
        let pairs = self.jobs.iter().zip(&self.states);
        let ended = pairs.clone().filter_map(|(job, state)| match state {
            State::Ended { hops, .. } => Some(Seen::of(job, (hops / job.hops).ln(), 0.0)),
            _ => None,
        });
        let mut seen: Vec<Seen> = ended.collect();
        let before = Factors::fitted(self.cells, self.schemes, HOPS, &seen);
        let running = pairs.filter_map(|(job, state)| match state {
            State::Runs(running) => {
                let (factor, variance) = running.factor(job, &before)?;
                Some(Seen::of(job, factor, variance))
            }
            _ => None,
        });
        seen.extend(running);
        Factors::fitted(self.cells, self.schemes, HOPS, &seen)
    }

    /// The factors of the time of a packet-hop.
    fn speed(&self) -> Factors {
        let pairs = self.jobs.iter().zip(&self.states);
        let seen: Vec<Seen> = pairs
            .filter_map(|(job, state)| {
                let (seconds, hops) = match *state {
                    State::Ended { hops, seconds } => (seconds, hops),
                    State::Runs(r) if r.hops >= LITTLE.1 => (r.at - r.began, r.hops),
                    _ => return None,
                };
                let factor = seconds.max(1e-3) / hops / (job.seconds / job.hops);
                Some(Seen::of(job, factor.ln(), 0.0))
            })
            .collect();
        Factors::fitted(self.cells, self.schemes, SPEED, &seen)
    }

    /// Seconds of the whole run, and the share of all packet-hops that has been seen.
    fn total(&self, now: f64) -> (f64, f64) {
        let (hops, speed) = (self.hops(), self.speed());
        let mut free = vec![0.0; self.threads];
        let (mut known, mut all) = (0.0, 0.0);
        let mut busy = 0;
        let mut waiting = Vec::new();
        let mut stage = None;
        for i in self.order.iter().copied() {
            let job = &self.jobs[i];
            let slow = speed.of(job).exp() * job.seconds / job.hops;
            match self.states[i] {
                State::Absent => {}
                State::Ended { hops, .. } => {
                    known += hops;
                    all += hops;
                }
                State::Waits => {
                    let whole = job.hops * hops.of(job).exp();
                    all += whole;
                    waiting.push((job.stage, whole * slow));
                }
                State::Runs(running) => {
                    let whole = running.whole(job, &hops);
                    let left = ((whole - running.hops) * slow - (now - running.at)).max(0.0);
                    known += running.hops;
                    all += whole;
                    // More points than threads run only for a moment.
                    free[busy % self.threads] += left;
                    busy += 1;
                    stage = Some(job.stage);
                }
            }
        }
        for (of, seconds) in waiting {
            if stage.is_some_and(|stage| stage != of) {
                let last = free.iter().copied().fold(0.0, f64::max);
                free.fill(last);
            }
            stage = Some(of);
            let next = free
                .iter_mut()
                .min_by(|a, b| a.total_cmp(b))
                .expect("at least one thread");
            *next += seconds;
        }
        let left = free.into_iter().fold(0.0, f64::max);
        (now + left, known / f64::max(all, 1e-9))
    }
}

impl Running {
    /// The logarithm of its packet-hops over the estimate, and the variance of that; `None` where
    /// nothing can be said yet.
    fn factor(&self, job: &Job, factors: &Factors) -> Option<(f64, f64)> {
        if self.done < LITTLE.0 || self.hops < 1.0 {
            return None;
        }
        let own = (self.hops / self.done / job.hops).ln();
        if job.timed {
            let doubt = 0.05 + 0.3 * (1.0 - self.done) * LITTLE.0 / self.done;
            return Some((own, doubt * doubt));
        }
        let least = own + COARSE.ln();
        Some((beyond(least, factors.of(job), HOPS.point), OPEN))
    }

    /// Its expected packet-hops in all.
    fn whole(&self, job: &Job, factors: &Factors) -> f64 {
        let expected = factors.of(job);
        let factor = match self.factor(job, factors) {
            None => expected,
            Some((own, variance)) if job.timed => {
                let trust = HOPS.point * HOPS.point / (HOPS.point * HOPS.point + variance);
                expected + (own - expected) * trust
            }
            Some((own, _)) => own,
        };
        (job.hops * factor.exp()).max(self.hops)
    }
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
