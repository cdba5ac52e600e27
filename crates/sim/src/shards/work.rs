// SPDX-License-Identifier: MIT OR Apache-2.0
//! Windows and what is exchanged between them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::exchange::{Exchange, sum};
use super::{Spread, merge};
use crate::Progress;
use crate::agenda::kind;
use crate::engine::Shard;
use crate::events::{EventQueue, PartWheel};
use crate::outcome::Outcome;

/// Windows between two reports of progress.
const REPORTS: u64 = 64;
/// Windows between two looks for connections that have ended.
const RETIRES: u64 = 256;

/// Something that one thread writes often: no cache line of it has anything of another thread, nor
/// the line beside, which is fetched with it.
#[repr(align(128))]
pub(super) struct Apart<T>(pub T);

/// How long the first thread waits for the others, in terms of what it would have done meanwhile.
#[derive(Default)]
struct Waits {
    yields: u64,
    /// Packet-hops of all threads at the last report.
    hops: u64,
    /// Whether they were long before that, too.
    before: bool,
}

impl Waits {
    /// Whether the first thread has waited for many times as long as it has worked between the
    /// last three reports. That is so where other programs use the cores: a thread that is not
    /// running keeps all others waiting in every window. A yield takes about as long as ten
    /// packet-hops.
    fn are_long(&mut self, hops: u64) -> bool {
        let (long, before) = (self.yields > hops - self.hops, self.before);
        *self = Waits {
            yields: 0,
            hops,
            before: long,
        };
        long && before
    }
}

/// A simulation in several shards. A thread has the shards whose number is its own modulo the
/// number of threads.
pub(super) struct Sim {
    pub shards: Vec<Apart<Mutex<Shard<PartWheel>>>>,
    pub plan: Plan,
    pub exchange: Exchange,
}

/// Parameters of a divided run, agreed before the first window.
pub(super) struct Plan {
    pub threads: usize,
    /// Measured flows.
    pub total: u64,
    /// Flows of warm-ups, and those.
    pub flows: u64,
    /// Ticks of a window.
    pub window: u64,
    /// Ticks from one check for deadlocks to the next.
    pub check: Option<u64>,
    /// The last tick.
    pub end: u64,
}

impl Sim {
    /// A shard is locked only by the thread that simulates it, so no thread waits here.
    fn shard(&self, i: usize) -> MutexGuard<'_, Shard<PartWheel>> {
        self.shards[i].0.lock().expect("no thread has panicked")
    }

    /// All shards, while no thread simulates one.
    pub(super) fn all(&self) -> Vec<MutexGuard<'_, Shard<PartWheel>>> {
        (0..self.shards.len()).map(|i| self.shard(i)).collect()
    }

    /// The shards of thread `k` of this number.
    fn mine(&self, k: usize, threads: usize) -> impl Iterator<Item = usize> {
        (k..self.shards.len()).step_by(threads)
    }

    /// The work of thread `k`. `together`: see [`super::run_around`].
    pub(super) fn work(
        &self,
        k: usize,
        report: &mut dyn FnMut(Progress) -> bool,
        together: &AtomicBool,
        spread: &mut Spread,
    ) {
        let mut before = vec![0; self.shards.len()];
        let _guard = self.exchange.barrier.guard();
        let (mut windows, mut stopped, mut abandoned, mut lone) = (0, false, false, false);
        let (mut threads, mut waits) = (self.plan.threads, Waits::default());
        let wait = |threads| match threads {
            1 => 0,
            _ => self.exchange.barrier.wait(),
        };
        loop {
            for i in self.mine(k, threads) {
                self.take_mail(i);
            }
            waits.yields += wait(threads);
            if self.exchange.lone.load(Ordering::Acquire) {
                if k > 0 {
                    return;
                }
                threads = 1;
            }
            let from = self.exchange.first();
            if from > self.plan.end || self.exchange.is_over() {
                return;
            }
            if windows % RETIRES == 0 {
                if k == 0 {
                    self.retire();
                }
                waits.yields += wait(threads);
            }
            self.count(spread, &mut before);
            let (until, checked) = self.window_from(from);
            if !checked && self.surely_goes_on(until) {
                for i in self.mine(k, threads) {
                    let mut shard = self.shard(i);
                    shard.run_window(until);
                    shard.tell_arrivals(until);
                    self.post(i, &mut shard);
                }
            } else if k == 0 {
                spread.alone += 1;
                stopped = self.run_alone(until);
            }
            windows += 1;
            if k == 0 && windows % REPORTS == 0 {
                let hops = sum(&self.exchange.hops);
                let time = from as f64 / self.plan.end.max(1) as f64;
                let done = time.max(self.flows_done()).min(1.0);
                abandoned = !report(Progress { done, hops });
                let alone = !together.load(Ordering::Relaxed) || waits.are_long(hops);
                lone = lone || alone;
            }
            waits.yields += wait(threads);
            // Written only here, between the two barriers, and read only behind the other: all
            // threads read the same.
            if stopped {
                self.exchange.stopped.store(true, Ordering::Release);
            }
            if abandoned {
                self.exchange.abandoned.store(true, Ordering::Release);
            }
            if lone {
                self.exchange.lone.store(true, Ordering::Release);
            }
        }
    }

    /// Adds the window that has just ended.
    fn count(&self, spread: &mut Spread, before: &mut [u64]) {
        spread.windows += 1;
        let mut busiest = 0;
        for (now, before) in self.exchange.hops.iter().zip(before) {
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
        let until = from.saturating_add(self.plan.window).min(self.plan.end + 1);
        match self.plan.check {
            Some(every) if from.is_multiple_of(every) => (from + 1, true),
            Some(every) => (until.min(from.next_multiple_of(every)), false),
            None => (until, false),
        }
    }

    /// The share of the starts and ends of flows that is over, as a whole simulation reports it.
    fn flows_done(&self) -> f64 {
        let ahead = self.exchange.ahead.load(Ordering::Relaxed);
        let awaited = self.plan.total.saturating_sub(sum(&self.exchange.ended));
        1.0 - (ahead as f64 + awaited as f64)
            / (self.plan.flows as f64 + self.plan.total as f64).max(1.0)
    }

    /// Takes what other shards have sent to shard `i`, and publishes when its next event is.
    fn take_mail(&self, i: usize) {
        let mut shard = self.shard(i);
        for from in 0..self.shards.len() {
            let mut mail = self.exchange.mail(i, from);
            let came = mail.parcels.len() as u64;
            if came > 0 {
                self.exchange.messages.fetch_add(came, Ordering::Relaxed);
            }
            shard.receive(&mut mail);
        }
        self.exchange.next[i].store(shard.next_tick(), Ordering::Release);
        self.exchange.goes_on[i].store(shard.goes_on(self.plan.window), Ordering::Release);
        self.exchange.hops[i].store(shard.core.net.hops, Ordering::Relaxed);
        self.exchange.ended[i].store(self.plan.total - shard.awaited, Ordering::Relaxed);
        if i == 0 {
            self.exchange
                .ahead
                .store(shard.traffic.ahead(), Ordering::Relaxed);
            self.exchange
                .starts
                .store(shard.next_start(), Ordering::Release);
        }
    }

    /// Hands over what shard `i` has for others.
    fn post(&self, i: usize, shard: &mut Shard<PartWheel>) {
        for to in 0..self.shards.len() {
            if !shard.has_mail(to) {
                continue;
            }
            let mut mail = self.exchange.mail(to, i);
            shard.post(to, &mut mail);
        }
    }

    /// Whether the run surely does not end before tick `until`. What is read here is written only
    /// between the end of a window and the beginning of the next, so that a late thread gets the
    /// same answer. It must not read a shard, which the first thread may already be simulating.
    fn surely_goes_on(&self, until: u64) -> bool {
        let starts = self.exchange.starts.load(Ordering::Acquire);
        let goes_on = &self.exchange.goes_on;
        self.plan.total == 0
            || (until..u64::MAX).contains(&starts)
            || goes_on.iter().any(|g| g.load(Ordering::Acquire))
    }

    /// Simulates a window of all shards in the order of events of the undivided simulation. Returns
    /// whether the run has ended.
    fn run_alone(&self, until: u64) -> bool {
        let mut shards = self.all();
        // Each shard counts down from the total.
        let ended: u64 = shards
            .iter()
            .map(|shard| self.plan.total - shard.awaited)
            .sum();
        let mut left = self.plan.total - ended;
        loop {
            // A packet leaves the shard of its link before it arrives in another.
            let heads = shards.iter().zip(0..).filter_map(|(shard, i)| {
                let (at, event) = shard.core.agenda.events.peek()?;
                Some(((at, event), shard.core.net.enters(event), i))
            });
            let head = heads.min().filter(|((at, _), ..)| *at < until);
            let Some(((at, event), _, i)) = head else {
                break;
            };
            shards[i].core.agenda.events.pop();
            if event == kind::CHECK {
                shards[i].step(at, event);
                if check_all(&mut shards, i) {
                    return true;
                }
                continue;
            }
            let shard: &mut Shard<PartWheel> = &mut shards[i];
            shard.awaited = left;
            shard.step(at, event);
            left = shard.awaited;
            if shard.stop {
                return true;
            }
        }
        for (i, shard) in shards.iter_mut().enumerate() {
            shard.awaited = if i == 0 { left } else { self.plan.total };
            shard.tell_arrivals(until);
            self.post(i, shard);
        }
        false
    }

    /// Outcome of the run; `None` if it was abandoned.
    pub(super) fn into_outcome(self) -> Option<Outcome> {
        if self.exchange.abandoned.into_inner() {
            return None;
        }
        let shards = self.shards.into_iter();
        let shards: Vec<_> = shards
            .map(|shard| shard.0.into_inner().expect("no panic"))
            .collect();
        let last = shards
            .iter()
            .map(|shard| shard.core.agenda.now)
            .max()
            .unwrap_or(0);
        let more = shards
            .iter()
            .any(|shard| shard.core.agenda.events.peek().is_some());
        let now = if more && !self.exchange.stopped.into_inner() {
            self.plan.end
        } else {
            last
        };
        Some(merge::merge(shards, now).finish())
    }
}

/// Checks the ports of all shards for deadlock at the present tick of shard `i`. Returns whether
/// the run ends.
fn check_all(shards: &mut [MutexGuard<'_, Shard<PartWheel>>], i: usize) -> bool {
    let now = shards[i].core.agenda.now;
    let mut stalled = false;
    for shard in shards.iter_mut() {
        stalled |= shard.core.net.stalls();
    }
    if !stalled {
        return false;
    }
    let Some((first, others)) = shards.split_first_mut() else {
        return false;
    };
    // What the other shards have is lent to the first.
    for other in others.iter_mut() {
        first.core.net.lend(&mut other.core.net);
    }
    first.core.agenda.now = now;
    let deadlocked = first.core.net.is_deadlocked();
    for other in others {
        first.core.net.lend(&mut other.core.net);
    }
    deadlocked
}

#[cfg(test)]
mod tests {
    use super::super::queries;
    use super::{Sim, Waits};

    /// A thread that is late asks after the first one has simulated the window for all shards.
    #[test]
    fn a_late_thread_gets_the_same_answer() {
        let cfg = queries(2, [3_000; 2], 20, 100);
        let sim = Sim::new(&cfg, 2, 2);
        let mut asked = 0;
        loop {
            sim.take_mail(0);
            sim.take_mail(1);
            let (until, _) = sim.window_from(sim.exchange.first());
            let goes_on = sim.surely_goes_on(until);
            let ended = sim.run_alone(until);
            assert_eq!(sim.surely_goes_on(until), goes_on);
            asked += u32::from(!goes_on);
            if ended {
                break;
            }
        }
        assert!(asked > 20, "the run could end in {asked} windows");
    }

    #[test]
    fn two_long_waits_in_a_row_count() {
        let mut waits = Waits::default();
        let mut report = |yields, hops| {
            waits.yields += yields;
            waits.are_long(hops)
        };
        assert!(!report(2_000, 1_000), "the first");
        assert!(!report(10, 2_000), "it was an exception");
        assert!(!report(1_500, 3_000));
        assert!(report(1_500, 4_000));
    }
}
