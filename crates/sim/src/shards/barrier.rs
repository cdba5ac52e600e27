// SPDX-License-Identifier: MIT OR Apache-2.0
//! A barrier for short windows: a thread that waits spins for a while before it yields.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Rounds of spinning before the thread yields, some microseconds.
const SPINS: u32 = 2_000;

pub(super) struct Barrier {
    threads: usize,
    waiting: AtomicUsize,
    round: AtomicUsize,
    /// A thread has panicked and will not come.
    broken: AtomicBool,
}

impl Barrier {
    pub(super) fn new(threads: usize) -> Self {
        Barrier {
            threads,
            waiting: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
        }
    }

    /// Waits for all threads. What each did before is visible to all after. Returns how often this
    /// one has yielded.
    pub(super) fn wait(&self) -> u64 {
        let round = self.round.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.waiting.store(0, Ordering::Release);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return 0;
        }
        let (mut spins, mut yields) = (0, 0);
        while self.round.load(Ordering::Acquire) == round {
            assert!(
                !self.broken.load(Ordering::Acquire),
                "another thread of this run has panicked"
            );
            spins += 1;
            if spins < SPINS {
                spin_loop();
            } else {
                std::thread::yield_now();
                yields += 1;
            }
        }
        yields
    }

    /// Breaks the barrier if this thread panics, so that no other waits for ever.
    pub(super) fn guard(&self) -> Guard<'_> {
        Guard(self)
    }
}

pub(super) struct Guard<'a>(&'a Barrier);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Release);
        }
    }
}
