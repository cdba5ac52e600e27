// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many threads each point of a run gets.

use std::collections::BTreeMap;

use cemark_scenario::{Plan, Point};
use cemark_sim::shards;

use crate::cores::of_machine;
use crate::{Cores, Failure, memory};

/// CPU seconds, as estimated, from which on a point gets more than one thread unasked: a shorter
/// one has ended before anyone waits for it.
const LONG: f64 = 1.0;
/// Estimated packet-hops of a window from which on two threads are faster than one: `incast-128`
/// has 229 and gains nothing, `websearch-128` 3,537 and gains half (docs/speed.md).
const MANY: f64 = 1000.0;

/// The threads of each point of a plan.
pub(crate) struct Threads {
    /// Points at the same time.
    pub(crate) points: usize,
    /// By point.
    of: Vec<usize>,
    /// Why points run on one core though several were asked for.
    pub(crate) note: Option<String>,
}

impl Threads {
    /// For the points of a run, of which `todo` are not finished.
    ///
    /// # Errors
    /// [`Failure::User`] where the run needs more memory than there is, except with `anyway`.
    pub(crate) fn new(
        plan: &Plan,
        wanted: &[usize],
        todo: &[usize],
        cores: Cores,
        anyway: bool,
    ) -> Result<Threads, Failure> {
        let mut threads = Threads::asked(plan, todo, cores, of_machine());
        if anyway {
            return Ok(threads);
        }
        let fits = |threads: &Threads| {
            memory::refuse_threads(plan, wanted, threads.points, &|i| threads.of(i))
        };
        if cores.threads.is_none() && fits(&threads).is_err() {
            threads.of.fill(1);
        }
        fits(&threads)?;
        Ok(threads)
    }

    /// Without regard to memory, on a machine with this number of cores.
    fn asked(plan: &Plan, todo: &[usize], cores: Cores, machine: usize) -> Threads {
        let split = cores.split_of(todo.len(), machine);
        let mut of = vec![1; plan.points.len()];
        let mut obstacles: BTreeMap<&str, usize> = BTreeMap::new();
        for &i in todo.iter().filter(|_| split.threads > 1) {
            let point = &plan.points[i];
            match shards::obstacle(&point.config) {
                Some(why) => *obstacles.entry(why).or_default() += 1,
                None if cores.threads.is_some() || gains(point) => of[i] = split.threads,
                None => {}
            }
        }
        let several = of.iter().any(|n| *n > 1);
        let said = cores.threads.is_some() && !obstacles.is_empty();
        Threads {
            // Points that all run on one core leave no core idle.
            points: match several {
                true => split.points,
                false => {
                    Cores::of_jobs(cores.jobs)
                        .split_of(todo.len(), machine)
                        .points
                }
            },
            of,
            note: said.then(|| note(&obstacles, todo.len())),
        }
    }

    /// Threads of point `i`.
    pub(crate) fn of(&self, i: usize) -> usize {
        self.of[i]
    }
}

/// Whether a point that can be divided is worth several threads that were not asked for.
fn gains(point: &Point) -> bool {
    let hops_per_window = || point.cost / point.seconds * shards::window_seconds(&point.config);
    point.cpu_seconds() >= LONG && hops_per_window() >= MANY
}

/// `2 of 3 points run on one core each: it has middleboxes between two sites`.
fn note(reasons: &BTreeMap<&str, usize>, all: usize) -> String {
    let which = match (reasons.values().sum::<usize>(), all) {
        (_, 1) => "the point runs on one core".to_owned(),
        (n, all) if n == all => format!("all {all} points run on one core each"),
        (1, all) => format!("1 of {all} points runs on one core"),
        (n, all) => format!("{n} of {all} points run on one core each"),
    };
    let whys: Vec<String> = reasons
        .iter()
        .map(|(why, n)| match reasons.len() {
            1 => (*why).to_owned(),
            _ => format!("{why} ({n})"),
        })
        .collect();
    format!("{which}: {}", whys.join("; "))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use cemark_scenario::{Overrides, parse};

    use super::*;

    const STAR: &str = "kind = \"star\"\nhosts = 8";

    /// Long flows on a star, for this time.
    fn plan(time: &str, load: &str, more: &str) -> Plan {
        plan_on(STAR, time, load, more)
    }

    fn plan_on(fabric: &str, time: &str, load: &str, more: &str) -> Plan {
        let text = format!(
            "max-time = \"{time}\"\nseeds = [1]\n[topology]\n{fabric}\n\
             rate = \"100Gbps\"\ndelay = \"5us\"\n[[workload]]\nkind = \"long\"\n{load}\
             [[scheme]]\nmarker = \"threshold\"\nk = \"65pkt\"\n{more}"
        );
        parse(&text, "long.toml", &Overrides::default()).expect("a plan")
    }

    /// Points at the same time, and the threads of the first; 0 threads: not said.
    fn of(plan: &Plan, threads: usize, machine: usize) -> (usize, usize, bool) {
        let cores = Cores {
            jobs: None,
            threads: NonZeroUsize::new(threads),
        };
        let todo: Vec<usize> = (0..plan.points.len()).collect();
        let found = Threads::asked(plan, &todo, cores, machine);
        (found.points, found.of(0), found.note.is_some())
    }

    #[test]
    fn a_long_point_gets_threads_unasked_and_a_short_one_does_not() {
        let (long, short) = (plan("10s", "", ""), plan("1ms", "", ""));
        assert_eq!(of(&long, 0, 4), (1, 2, false));
        assert_eq!(of(&short, 0, 4), (1, 1, false));
        assert_eq!(of(&short, 4, 4), (1, 4, false));
        assert_eq!(of(&long, 0, 1), (1, 1, false));
        // It ends with its last flow, long before those 10 s.
        let load = "[[workload]]\nkind = \"poisson\"\nsizes = \"web-search\"\nload = 0.5\n\
                    flows = 100\npairs = \"all\"\n";
        assert_eq!(of(&plan("10s", load, ""), 0, 4), (1, 1, false));
    }

    #[test]
    fn a_point_whose_windows_are_nearly_empty_gets_no_threads_unasked() {
        let flows = |load: f64| {
            let text = format!(
                "seeds = [1]\n[topology]\n{STAR}\nrate = \"100Gbps\"\ndelay = \"5us\"\n\
                 [[workload]]\nkind = \"poisson\"\nsizes = \"web-search\"\nload = {load}\n\
                 flows = 20000\npairs = \"all\"\n[[scheme]]\nmarker = \"none\"\n"
            );
            parse(&text, "flows.toml", &Overrides::default()).expect("a plan")
        };
        assert_eq!(of(&flows(0.8), 0, 4), (1, 2, false));
        assert_eq!(of(&flows(0.1), 0, 4), (1, 1, false));
        assert_eq!(of(&flows(0.1), 4, 4), (1, 4, false));
    }

    #[test]
    fn points_that_cannot_be_divided_still_run_side_by_side() {
        let sites = "kind = \"two-sites\"\nleft = 3\nright = 3\nwan-delay = \"200us\"";
        let kept = "[edge]\nkind = \"dcib\"\n[[scheme]]\nmarker = \"codel\"\n";
        let two = plan_on(sites, "10s", "", kept);
        assert_eq!(of(&two, 2, 2), (2, 1, true));
        assert_eq!(of(&two, 0, 2), (2, 1, false));
        assert_eq!(of(&plan("10s", "", ""), 2, 2), (1, 2, false));
    }

    #[test]
    fn the_note_says_why_and_how_many() {
        let of = |all: &[(&'static str, usize)]| all.iter().copied().collect();
        assert_eq!(note(&of(&[("a", 1)]), 1), "the point runs on one core: a");
        assert_eq!(
            note(&of(&[("a", 3)]), 3),
            "all 3 points run on one core each: a"
        );
        assert_eq!(
            note(&of(&[("a", 1), ("b", 2)]), 4),
            "3 of 4 points run on one core each: a (1); b (2)"
        );
    }
}
