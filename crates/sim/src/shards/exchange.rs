// SPDX-License-Identifier: MIT OR Apache-2.0
//! State that the threads of a divided simulation share while they run.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::barrier::Barrier;
use crate::engine::part::Mail;

/// See the module's text.
pub(super) struct Exchange {
    shards: usize,
    /// Mail from shard to shard; the mail for the first shard comes first.
    mail: Vec<Mutex<Mail>>,
    /// By shard: tick of its next event.
    pub next: Vec<AtomicU64>,
    /// By shard: a measured flow of it does not end in the next window.
    pub goes_on: Vec<AtomicBool>,
    pub hops: Vec<AtomicU64>,
    /// By shard: measured flows that have ended there.
    pub ended: Vec<AtomicU64>,
    /// Flows that have not started.
    pub ahead: AtomicU64,
    /// Tick at which the next of them starts; `u64::MAX` if there is none.
    pub starts: AtomicU64,
    /// Packets and pause frames that have changed the shard.
    pub messages: AtomicU64,
    pub barrier: Barrier,
    /// The last measured flow has ended.
    pub stopped: AtomicBool,
    pub abandoned: AtomicBool,
    /// The first thread simulates all shards from now on.
    pub lone: AtomicBool,
}

impl Exchange {
    /// Nothing has been exchanged. `flows`: those that have not started.
    pub fn new(shards: usize, threads: usize, flows: u64) -> Exchange {
        let counts = || (0..shards).map(|_| AtomicU64::new(0)).collect();
        Exchange {
            shards,
            mail: (0..shards * shards).map(|_| Mutex::default()).collect(),
            next: counts(),
            goes_on: (0..shards).map(|_| AtomicBool::new(false)).collect(),
            hops: counts(),
            ended: counts(),
            ahead: AtomicU64::new(flows),
            starts: AtomicU64::new(u64::MAX),
            messages: AtomicU64::new(0),
            barrier: Barrier::new(threads),
            stopped: AtomicBool::new(false),
            abandoned: AtomicBool::new(false),
            lone: AtomicBool::new(false),
        }
    }

    /// Mail from shard `from` to shard `to`. The sender writes it in a window, the receiver takes
    /// it behind the barrier, so no thread waits here.
    pub fn mail(&self, to: usize, from: usize) -> MutexGuard<'_, Mail> {
        let mail = self.mail[to * self.shards + from].lock();
        mail.expect("no thread has panicked")
    }

    /// The tick of the next event of all shards.
    pub fn first(&self) -> u64 {
        let next = self.next.iter().map(|n| n.load(Ordering::Acquire));
        next.min().unwrap_or(u64::MAX)
    }

    /// Whether the run has ended before its last tick.
    pub fn is_over(&self) -> bool {
        let over = [&self.stopped, &self.abandoned];
        over.iter().any(|flag| flag.load(Ordering::Acquire))
    }
}

/// The sum over shards.
pub(super) fn sum(counts: &[AtomicU64]) -> u64 {
    counts.iter().map(|n| n.load(Ordering::Relaxed)).sum()
}
