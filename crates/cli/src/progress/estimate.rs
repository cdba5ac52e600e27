// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time that a run takes, from the work that remains and the speed so far.
//!
//! Every point has an estimate of its packet-hops and of its seconds, made before anything runs. A
//! run shows two corrections of the estimates: the factor by which points have more packet-hops
//! than estimated, and the seconds that an estimated second takes on this machine. The remaining
//! points are dealt out to the threads as the run deals them out, so that threads without work at
//! the end are accounted for.
//!
//! Time is an argument here, so that recorded runs can be replayed.

/// Estimates of a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    /// Points of a stage begin after all of the stage before have ended.
    pub(super) stage: usize,
    /// Estimated packet-hops.
    pub(super) hops: f64,
    /// Estimated seconds on one thread.
    pub(super) seconds: f64,
}

/// Seconds of a run.
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

/// State of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// The point has not begun.
    Waits,
    /// The point runs.
    Runs(Seen),
    /// The point has ended.
    Ended(Seen),
    /// An earlier session ran the point, or the point is not expected any more.
    Absent,
}

/// Progress of a point at its last report.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Seen {
    began: f64,
    at: f64,
    /// Share of its flows or of its time that is done: an upper bound of the share of its work.
    done: f64,
    hops: f64,
}

/// A smaller share that is done says nothing about the packet-hops of a point.
const LITTLE: f64 = 0.02;
/// Most by which the shown total rises in ten seconds, or from one estimate to the next.
const RISE: f64 = 1.15;
/// Seconds in which a change of the estimate is shown by two thirds, as a share of the time gone.
const INERTIA: f64 = 0.1;
/// The first estimate is made when this share of the work is done.
const ENOUGH: f64 = 0.02;
/// The shown total moves slowly from this share of the work on.
const SETTLED: f64 = 0.06;

/// Estimates the time that a run takes.
#[derive(Clone, Debug)]
pub(super) struct Estimator {
    jobs: Vec<Job>,
    states: Vec<State>,
    /// The order in which waiting points begin.
    order: Vec<usize>,
    threads: usize,
    /// The total of the last estimate, and when it was made.
    shown: Option<(f64, f64)>,
}

impl Estimator {
    /// Estimator of points in the order in which they begin, `threads` at a time.
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

    /// Point `i` begins at this second.
    pub(super) fn begins(&mut self, i: usize, now: f64) {
        self.states[i] = State::Runs(Seen {
            began: now,
            at: now,
            done: 0.0,
            hops: 0.0,
        });
    }

    /// This share (0 to 1) of point `i` is done, and this number of packet-hops.
    pub(super) fn at(&mut self, i: usize, now: f64, done: f64, hops: u64) {
        if let State::Runs(seen) = &mut self.states[i] {
            seen.at = now;
            seen.done = done.clamp(seen.done, 1.0);
            seen.hops = hops as f64;
        }
    }

    /// Point `i` has ended with this number of packet-hops.
    pub(super) fn ends(&mut self, i: usize, now: f64, hops: u64) {
        self.at(i, now, 1.0, hops);
        if let State::Runs(seen) = self.states[i] {
            self.states[i] = State::Ended(seen);
        }
    }

    /// Expects these of the points that have not begun, and no others. The total may jump now.
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

    /// The factor of packet-hops over their estimate, and the seconds of an estimated second. Work
    /// is counted in estimated seconds here.
    fn corrections(&self) -> (f64, f64) {
        let (mut ended, mut expected, mut work, mut time) = (0.0, 0.0, 0.0, 0.0);
        for (job, state) in self.jobs.iter().zip(&self.states) {
            let (State::Runs(seen) | State::Ended(seen)) = state else {
                continue;
            };
            let done = seen.hops / job.hops * job.seconds;
            if matches!(state, State::Ended(_)) || seen.hops > job.hops {
                ended += done;
                expected += job.seconds;
            }
            work += done;
            time += seen.at - seen.began;
        }
        let ratio = |a: f64, b: f64| if a > 0.0 && b > 0.0 { a / b } else { 1.0 };
        (ratio(ended, expected), ratio(time, work))
    }

    /// Seconds of the whole run, and the share of the work that is done.
    fn total(&self, now: f64) -> (f64, f64) {
        let (factor, slow) = self.corrections();
        let mut free = vec![0.0; self.threads];
        let (mut known, mut all) = (0.0, 0.0);
        let mut busy = 0;
        let mut waiting = Vec::new();
        let mut stage = None;
        for i in self.order.iter().copied() {
            let job = &self.jobs[i];
            let seconds = |hops: f64| hops / job.hops * job.seconds;
            match self.states[i] {
                State::Absent => {}
                State::Ended(seen) => {
                    known += seconds(seen.hops);
                    all += seconds(seen.hops);
                }
                State::Waits => {
                    all += job.seconds * factor;
                    waiting.push((job.stage, job.seconds * factor * slow));
                }
                State::Runs(seen) => {
                    let whole = seen.whole(job.hops * factor);
                    known += seconds(seen.hops);
                    all += seconds(whole);
                    let left = seconds(whole - seen.hops) * slow - (now - seen.at);
                    // More points than threads run only for a moment.
                    free[busy % self.threads] += left.max(0.0);
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

impl Seen {
    /// Packet-hops of the whole point, of which `expected` are expected.
    fn whole(&self, expected: f64) -> f64 {
        let least = if self.done < LITTLE {
            self.hops
        } else {
            self.hops / self.done
        };
        expected.max(least)
    }
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "replay_tests.rs"]
mod replay;
