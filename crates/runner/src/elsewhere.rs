// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run whose points are simulated by other processes, which someone else starts and talks to: on
//! a cluster, for instance. This end hands points out and stores what comes back ([`Handed`]); the
//! other end simulates one point at a time ([`Bench`]).

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cemark_report::rundir::{self, Brought};
use cemark_report::summary::hex;
use cemark_report::{Console, Finished, RunDir, share};
use cemark_scenario::{Overrides, Plan, parse};

use crate::clock::Stopwatch;
use crate::looks::{Looked, Looks};
use crate::simulate::{deadlocked, longest_first, one};
use crate::{Failure, Order, Ran, Show, memory};

/// The end that owns the run directory.
pub struct Handed {
    plan: Plan,
    dir: RunDir,
    who: cemark_report::Provenance,
    stop: Arc<AtomicBool>,
    show: Arc<dyn Show + Send>,
    watch: Stopwatch,
    resumed: usize,
    points: Points,
}

/// Which points are needed.
enum Points {
    /// All of them.
    All {
        /// Those that were not handed out.
        todo: VecDeque<usize>,
        finished: Vec<Option<Finished>>,
        /// How many have no result.
        missing: usize,
    },
    /// As many replications as the intervals ask for.
    Looks(Box<Looks>),
}

impl Handed {
    /// Opens the run directory and finds out what is missing. `at_once` is how many points are
    /// simulated at the same time, for the estimate of how long it takes.
    ///
    /// # Errors
    /// As [`crate::run`], and for a marker of the user's, which other processes do not have.
    pub fn begin(
        order: Order,
        at_once: usize,
        console: &dyn Console,
        show: Arc<dyn Show + Send>,
    ) -> Result<Self, Failure> {
        let watch = Stopwatch::start();
        let plan = order.plan;
        if order.watches.any() {
            return Err(Failure::User(miette::miette!(
                help = "run it on this machine: without --ray, or on=\"threads\" in Python",
                "markers of your own are not sent to a cluster"
            )));
        }
        // The points need the memory of other machines; this one holds their results.
        memory::refuse_to_keep(&plan, order.anyway)?;
        let dir = RunDir::open(&order.out, &plan, &order.who, order.fresh, console)?;
        let wanted = plan.part(1, 1);
        let mut finished: Vec<Option<Finished>> = vec![None; plan.points.len()];
        for &i in &wanted {
            finished[i] = dir.load(&plan.points[i], console);
        }
        let resumed = finished.iter().flatten().count();
        let points = match &plan.precision {
            Some(precision) => {
                let looks = Looks::begin(&plan, precision, finished, at_once, &*show);
                Points::Looks(Box::new(looks))
            }
            None => {
                if resumed > 0 {
                    show.resumes(resumed, wanted.len(), dir.path());
                }
                let missing = wanted.iter().copied().filter(|i| finished[*i].is_none());
                let todo = longest_first(&plan, missing);
                show.starts(&plan, &todo, at_once);
                Points::All {
                    missing: todo.len(),
                    todo: todo.into(),
                    finished,
                }
            }
        };
        Ok(Handed {
            plan,
            dir,
            who: order.who,
            stop: order.stop,
            show,
            watch,
            resumed,
            points,
        })
    }

    /// The plan. Its points are named by their indices in it.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Fingerprint of the program whose points are taken.
    pub fn build(&self) -> &str {
        &self.who.build
    }

    /// The run directory.
    pub fn dir(&self) -> &RunDir {
        &self.dir
    }

    /// Whether someone has asked to end it.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// A point to simulate. `None`: there is none until others have come back, or for good.
    pub fn hand_out(&mut self) -> Option<usize> {
        let point = match &mut self.points {
            Points::All { todo, .. } => todo.pop_front(),
            Points::Looks(looks) => match looks.schedule.is_done() {
                true => None,
                false => looks.schedule.next(),
            },
        }?;
        self.show.begins(point);
        Some(point)
    }

    /// Whether a point that was handed out is still needed.
    pub fn wants(&self, point: usize) -> bool {
        match &self.points {
            Points::All { finished, .. } => finished[point].is_none(),
            Points::Looks(looks) => !looks.has(point) && looks.schedule.wants(point),
        }
    }

    /// Whether no more points are needed.
    pub fn is_done(&self) -> bool {
        match &self.points {
            Points::All { missing, .. } => *missing == 0,
            Points::Looks(looks) => looks.schedule.is_done(),
        }
    }

    /// Stores what [`Bench::simulate`] has made of a point. False where the point has its result
    /// already: a cluster may run a task twice when it loses track of it.
    ///
    /// # Errors
    /// [`Failure::User`] where another build simulated it; [`Failure::Machine`] where it was
    /// damaged on its way, or the disk is full.
    pub fn bring(&mut self, point: usize, bytes: &[u8]) -> Result<bool, Failure> {
        let there = match &self.points {
            Points::All { finished, .. } => finished[point].is_some(),
            Points::Looks(looks) => looks.has(point),
        };
        if there {
            return Ok(false);
        }
        let done = match self.dir.bring(&self.plan.points[point], bytes)? {
            Brought::Whole(done) => *done,
            Brought::Damaged => {
                return Err(Failure::Machine(miette::miette!(
                    help = "run the same again: what is finished is kept",
                    "a point was damaged on its way from the process that simulated it"
                )));
            }
            Brought::Other => return Err(another_build()),
        };
        match &mut self.points {
            Points::All {
                finished, missing, ..
            } => {
                self.show.finished(point, done.summary.packet_hops);
                finished[point] = Some(done);
                *missing -= 1;
            }
            Points::Looks(looks) => looks.finished(&self.plan, point, done, &*self.show),
        }
        Ok(true)
    }

    /// The run, as that of [`crate::run`].
    ///
    /// # Errors
    /// [`Failure::Interrupted`] where points are missing; with a stated precision, where there was
    /// no look yet.
    pub fn end(self) -> Result<Ran, Failure> {
        self.show.ends();
        let plan = self.plan;
        let (plan, finished, resumed, interrupted) = match self.points {
            Points::Looks(looks) => {
                let looked = looks.end(&plan, self.dir.path(), |_| None)?;
                let Looked {
                    plan,
                    finished,
                    resumed,
                    interrupted,
                } = looked;
                (plan, finished, resumed, interrupted)
            }
            Points::All {
                missing: 0,
                mut finished,
                ..
            } => {
                share(&plan, &mut finished);
                let finished = finished.into_iter().flatten().collect();
                (plan, finished, self.resumed, None)
            }
            Points::All { finished, .. } => {
                let done = finished.iter().flatten().count();
                return Err(Failure::Interrupted(format!(
                    "interrupted: {done} of {} points are finished and kept in {}; the same \
                     command continues from there",
                    plan.distinct().len(),
                    self.dir.path().display()
                )));
            }
        };
        Ok(Ran {
            plan,
            dir: self.dir,
            who: self.who,
            finished,
            resumed,
            seconds: self.watch.seconds(),
            interrupted,
        })
    }
}

fn another_build() -> Failure {
    Failure::User(miette::miette!(
        help =
            "install the same wheel of cemark on every node: two builds may simulate differently",
        "a node of the cluster has another build of cemark than this program"
    ))
}

/// The end that simulates. It is made once in each process, since it expands the whole plan.
pub struct Bench {
    plan: Plan,
    build: String,
}

impl Bench {
    /// Of the text of a scenario ([`Plan::source`]). `file` names it, and relative paths in it
    /// start in its folder. `digest` is the plan's, and `wanted` the build of the other end.
    ///
    /// # Errors
    /// [`Failure::User`] where this is another build, or the files that the scenario names are not
    /// those of the other end.
    pub fn new(
        text: &str,
        file: &str,
        digest: u64,
        build: String,
        wanted: &str,
    ) -> Result<Self, Failure> {
        if build != wanted {
            return Err(another_build());
        }
        let plan = parse(text, file, &Overrides::default())?;
        if plan.digest != digest {
            return Err(Failure::User(miette::miette!(
                help = "files that a scenario names must be the same on every node, under the same \
                        path",
                "{file} is another scenario here ({}) than in the program that sent it ({})",
                hex(plan.digest),
                hex(digest)
            )));
        }
        Ok(Bench { plan, build })
    }

    /// Simulates a point on this thread: the bytes of its file. `None` where `goes_on` ended it by
    /// returning false; it is asked hundreds of times a second.
    ///
    /// # Errors
    /// As [`crate::run`].
    pub fn simulate(
        &self,
        point: usize,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let point = &self.plan.points[point];
        match one(point, 1, &mut |_| goes_on()) {
            None => Ok(None),
            Some(Err(ring)) => Err(deadlocked(&ring)),
            Some(Ok(done)) => {
                let bytes = rundir::encode(&self.plan, point, &done, &self.build);
                Ok(Some(bytes))
            }
        }
    }
}
