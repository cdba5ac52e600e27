// SPDX-License-Identifier: MIT OR Apache-2.0
//! Windows and what is exchanged between them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::barrier::Barrier;
use super::part::Mail;
use super::{Spread, merge};
use crate::Progress;
use crate::agenda::kind;
use crate::engine::Shard;
use crate::events::{EventQueue, PartWheel};
use crate::outcome::Outcome;

/// Windows between two reports of progress.
const REPORTS: u64 = 64;
/// Nothing is pending.
const NEVER: u64 = u64::MAX;

/// All shards, and what they exchange. A thread has the shards whose number is its own modulo the
/// number of threads.
pub(super) struct Exchange {
    pub sims: Vec<Mutex<Shard<PartWheel>>>,
    /// Packets from shard to shard, those for the first shard first.
    pub mail: Vec<Mutex<Mail>>,
    /// By shard: tick of its next event.
    pub next: Vec<AtomicU64>,
    /// By shard: a measured flow of it does not end in the next window.
    pub goes_on: Vec<AtomicBool>,
    pub hops: Vec<AtomicU64>,
    /// By shard: measured flows that have ended there.
    pub ended: Vec<AtomicU64>,
    /// Flows that have not started, and all of them.
    pub ahead: AtomicU64,
    pub flows: u64,
    /// What has changed the shard.
    pub messages: AtomicU64,
    pub barrier: Barrier,
    /// The last measured flow has ended.
    pub stopped: AtomicBool,
    pub abandoned: AtomicBool,
    pub threads: usize,
    /// Measured flows.
    pub total: u64,
    /// Ticks of a window.
    pub window: u64,
    /// Ticks from one check for deadlocks to the next.
    pub check: Option<u64>,
    /// The last tick.
    pub end: u64,
}

impl Exchange {
    /// A shard is locked only by the thread that simulates it, so no thread waits here.
    fn sim(&self, i: usize) -> MutexGuard<'_, Shard<PartWheel>> {
        self.sims[i].lock().expect("no thread has panicked")
    }

    fn mine(&self, k: usize) -> impl Iterator<Item = usize> {
        (k..self.sims.len()).step_by(self.threads)
    }

    /// The work of thread `k`.
    pub(super) fn work(
        &self,
        k: usize,
        report: &mut dyn FnMut(Progress) -> bool,
        spread: &mut Spread,
    ) {
        let mut before = vec![0; self.sims.len()];
        let _guard = self.barrier.guard();
        let (mut windows, mut stopped, mut abandoned) = (0, false, false);
        loop {
            for i in self.mine(k) {
                self.take_mail(i);
            }
            self.barrier.wait();
            let from = self.next.iter().map(|n| n.load(Ordering::Acquire)).min();
            let from = from.unwrap_or(NEVER);
            let over = [&self.stopped, &self.abandoned];
            if from > self.end || over.iter().any(|flag| flag.load(Ordering::Acquire)) {
                return;
            }
            self.count(spread, &mut before);
            let (until, checked) = self.window_from(from);
            if !checked && self.surely_goes_on(k, until) {
                for i in self.mine(k) {
                    let mut sim = self.sim(i);
                    sim.run_window(until);
                    sim.net.tell_begun(until);
                    self.post(i, &mut sim);
                }
            } else if k == 0 {
                spread.alone += 1;
                stopped = self.run_alone(until);
            }
            windows += 1;
            if k == 0 && windows % REPORTS == 0 {
                let hops = self.hops.iter().map(|h| h.load(Ordering::Relaxed)).sum();
                let time = from as f64 / self.end.max(1) as f64;
                let done = time.max(self.flows_done()).min(1.0);
                abandoned = !report(Progress { done, hops });
            }
            self.barrier.wait();
            // Written only here, between the two barriers, and read only behind the other: all
            // threads read the same.
            if stopped {
                self.stopped.store(true, Ordering::Release);
            }
            if abandoned {
                self.abandoned.store(true, Ordering::Release);
            }
        }
    }

    /// Adds the window that has just ended.
    fn count(&self, spread: &mut Spread, before: &mut [u64]) {
        spread.windows += 1;
        let mut busiest = 0;
        for (now, before) in self.hops.iter().zip(before) {
            let now = now.load(Ordering::Relaxed);
            spread.hops += now - *before;
            busiest = busiest.max(now - *before);
            *before = now;
        }
        spread.busiest += busiest;
    }

    /// The end of a window that begins at a tick, exclusive, and whether ports are checked for
    /// deadlock in it: such a window is that tick alone.
    fn window_from(&self, from: u64) -> (u64, bool) {
        let until = from.saturating_add(self.window).min(self.end + 1);
        match self.check {
            Some(every) if from.is_multiple_of(every) => (from + 1, true),
            Some(every) => (until.min(from.next_multiple_of(every)), false),
            None => (until, false),
        }
    }

    /// The share of the starts and ends of flows that is over, as a whole simulation reports it.
    fn flows_done(&self) -> f64 {
        let ahead = self.ahead.load(Ordering::Relaxed);
        let ended: u64 = self.ended.iter().map(|n| n.load(Ordering::Relaxed)).sum();
        let awaited = self.total.saturating_sub(ended);
        1.0 - (ahead as f64 + awaited as f64) / (self.flows as f64 + self.total as f64).max(1.0)
    }

    /// Takes what other shards have sent to shard `i`, and publishes when its next event is.
    fn take_mail(&self, i: usize) {
        let mut sim = self.sim(i);
        for from in 0..self.sims.len() {
            let mut mail = self.mail[i * self.sims.len() + from]
                .lock()
                .expect("no thread has panicked");
            if !mail.parcels.is_empty() {
                self.messages
                    .fetch_add(mail.parcels.len() as u64, Ordering::Relaxed);
            }
            sim.receive(&mut mail);
        }
        self.next[i].store(sim.next_tick(), Ordering::Release);
        self.goes_on[i].store(sim.goes_on(self.window), Ordering::Release);
        self.hops[i].store(sim.net.hops, Ordering::Relaxed);
        self.ended[i].store(self.total - sim.awaited, Ordering::Relaxed);
        if i == 0 {
            self.ahead.store(sim.traffic.ahead(), Ordering::Relaxed);
        }
    }

    /// Hands over what shard `i` has for others.
    fn post(&self, i: usize, sim: &mut Shard<PartWheel>) {
        for to in 0..self.sims.len() {
            if !sim.has_mail(to) {
                continue;
            }
            let mut mail = self.mail[to * self.sims.len() + i]
                .lock()
                .expect("no thread has panicked");
            sim.post(to, &mut mail);
        }
    }

    /// Whether the run does not end before tick `until`. All threads give the same answer.
    fn surely_goes_on(&self, k: usize, until: u64) -> bool {
        self.total == 0
            || self.goes_on.iter().any(|g| g.load(Ordering::Acquire))
            || self.sim(k).starts_later(until)
    }

    /// Simulates a window of all shards in the order of events of the undivided simulation. Returns
    /// whether the run has ended.
    fn run_alone(&self, until: u64) -> bool {
        let mut sims: Vec<_> = (0..self.sims.len()).map(|i| self.sim(i)).collect();
        // Each shard counts down from the total.
        let ended: u64 = sims.iter().map(|sim| self.total - sim.awaited).sum();
        let mut left = self.total - ended;
        loop {
            // A packet leaves the shard of its link before it arrives in another.
            let heads = sims.iter().zip(0..).filter_map(|(sim, i)| {
                let (at, event) = sim.agenda.events.peek()?;
                Some(((at, event), sim.net.enters(event), i))
            });
            let head = heads.min().filter(|((at, _), ..)| *at < until);
            let Some(((at, event), _, i)) = head else {
                break;
            };
            sims[i].agenda.events.pop();
            if event == kind::CHECK {
                sims[i].step(at, event);
                if check_all(&mut sims, i) {
                    return true;
                }
                continue;
            }
            let sim: &mut Shard<PartWheel> = &mut sims[i];
            sim.awaited = left;
            sim.step(at, event);
            left = sim.awaited;
            if sim.stop {
                return true;
            }
        }
        for (i, sim) in sims.iter_mut().enumerate() {
            sim.awaited = if i == 0 { left } else { self.total };
            sim.net.tell_begun(until);
            self.post(i, sim);
        }
        false
    }

    /// What the run comes to; `None` if it was abandoned.
    pub(super) fn into_outcome(self) -> Option<Outcome> {
        if self.abandoned.into_inner() {
            return None;
        }
        let sims = self.sims.into_iter();
        let sims: Vec<_> = sims
            .map(|sim| sim.into_inner().expect("no panic"))
            .collect();
        let last = sims.iter().map(|sim| sim.agenda.now).max().unwrap_or(0);
        let more = sims.iter().any(|sim| sim.agenda.events.peek().is_some());
        let now = if more && !self.stopped.into_inner() {
            self.end
        } else {
            last
        };
        Some(merge::merge(sims, now).finish())
    }
}

/// Checks the ports of all shards for deadlock at the present tick of shard `i`. Returns whether
/// the run ends.
fn check_all(sims: &mut [MutexGuard<'_, Shard<PartWheel>>], i: usize) -> bool {
    let now = sims[i].agenda.now;
    let mut stalled = false;
    for sim in sims.iter_mut() {
        stalled |= sim.net.stalls();
    }
    if !stalled {
        return false;
    }
    let Some((first, others)) = sims.split_first_mut() else {
        return false;
    };
    // What the other shards have is lent to the first.
    for other in others.iter_mut() {
        first.net.lend(&mut other.net);
    }
    first.agenda.now = now;
    let deadlocked = first.net.is_deadlocked();
    for other in others {
        first.net.lend(&mut other.net);
    }
    deadlocked
}
