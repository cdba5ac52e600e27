// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a run uses the cores of the machine: points side by side, and threads within a point. No
//! result depends on it.
//!
//! Side by side is better wherever there are points enough, since threads of one point wait for
//! each other. Threads are for the few points that leave cores idle.

use std::num::NonZeroUsize;

/// Threads that a point gets unasked: no more than were measured to be faster (docs/speed.md).
const UNASKED: usize = 2;

/// Cores that the user asks for; `None`: the run decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cores {
    /// Most points at the same time. Without `threads` also the most cores in all.
    pub jobs: Option<NonZeroUsize>,
    /// Threads of each point that can be divided.
    pub threads: Option<NonZeroUsize>,
}

/// Division of a run's cores among points and threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Points at the same time.
    pub points: usize,
    /// Most threads of a point.
    pub threads: usize,
}

impl Cores {
    /// Each point on one core.
    pub fn of_jobs(jobs: Option<NonZeroUsize>) -> Cores {
        Cores {
            jobs,
            threads: NonZeroUsize::new(1),
        }
    }

    /// For this number of points, on this machine.
    pub fn split(self, points: usize) -> Split {
        self.split_of(points, of_machine())
    }

    /// More threads than cores would only wait for each other, so there are never more, whatever is
    /// asked.
    pub(crate) fn split_of(self, points: usize, cores: usize) -> Split {
        let jobs = self.jobs.map_or(cores, NonZeroUsize::get).min(cores);
        let points = points.max(1);
        let Some(threads) = self.threads else {
            return Split {
                points: jobs.min(points),
                threads: (jobs / points).clamp(1, UNASKED),
            };
        };
        let threads = threads.get().min(cores);
        Split {
            points: jobs.min(cores / threads).min(points).max(1),
            threads,
        }
    }
}

/// Cores of this machine that the process may use.
pub(crate) fn of_machine() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(jobs: usize, threads: usize, points: usize, cores: usize) -> (usize, usize) {
        let asked = Cores {
            jobs: NonZeroUsize::new(jobs),
            threads: NonZeroUsize::new(threads),
        };
        let split = asked.split_of(points, cores);
        (split.points, split.threads)
    }

    /// 0: not said.
    #[test]
    fn many_points_run_side_by_side_and_few_get_threads() {
        assert_eq!(split(0, 0, 30, 8), (8, 1));
        assert_eq!(split(0, 0, 8, 8), (8, 1));
        assert_eq!(split(0, 0, 3, 8), (3, 2));
        assert_eq!(split(0, 0, 1, 8), (1, 2), "more were not measured");
        assert_eq!(split(0, 0, 0, 8), (1, 2));
    }

    #[test]
    fn what_is_asked_bounds_the_cores() {
        // Jobs alone are the cores that may be used.
        assert_eq!(split(1, 0, 1, 8), (1, 1));
        assert_eq!(split(2, 0, 1, 8), (1, 2));
        assert_eq!(split(4, 0, 30, 8), (4, 1));
        assert_eq!(split(100, 0, 30, 8), (8, 1));
        // Threads alone: as many points as cores have room for.
        assert_eq!(split(0, 1, 1, 8), (1, 1));
        assert_eq!(split(0, 3, 30, 8), (2, 3));
        assert_eq!(split(0, 100, 30, 8), (1, 8));
        // Both: their product, if there are as many cores.
        assert_eq!(split(2, 2, 30, 8), (2, 2));
        assert_eq!(split(4, 4, 30, 8), (2, 4));
        assert_eq!(split(1, 8, 30, 4), (1, 4));
        for (jobs, threads, points, cores) in
            (0..240_usize).map(|i| (i % 4, i / 4 % 4, 1 + i / 16 % 3, 1 + i / 48))
        {
            let (at_once, each) = split(jobs, threads, points, cores);
            assert!(at_once >= 1 && each >= 1 && at_once * each <= cores.max(1));
            assert!(jobs == 0 || threads == 0 || at_once * each <= jobs * threads);
        }
    }
}
