// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run whose points are simulated by other processes, which someone else starts and talks to: on
//! a cluster, for instance. This end hands points out and stores what comes back ([`Handed`]); the
//! other end simulates one point at a time ([`Bench`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cemark_report::rundir::{self, Brought};
use cemark_report::summary::hex;
use cemark_report::{Console, RunDir};
use cemark_scenario::{Overrides, OwnMarker, Plan, parse};

use crate::clock::Stopwatch;
use crate::marker::{self, Consent, Watches};
use crate::run::begin;
use crate::simulate::{deadlocked, one};
use crate::stop::Rule;
use crate::work::record;
use crate::{Failure, Order, Ran, Results, Show, memory};

/// The end that owns the run directory.
pub struct Handed {
    plan: Plan,
    dir: RunDir,
    who: cemark_report::Provenance,
    stop: Arc<AtomicBool>,
    show: Arc<dyn Show + Send>,
    watch: Stopwatch,
    results: Results,
    rule: Box<dyn Rule>,
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
        if let Some(marker) = plan.markers.iter().find(|m| m.form().is_none()) {
            return Err(Failure::User(miette::miette!(
                help = "run it on this machine (on=\"threads\"), or write the marker in C: a file \
                        is sent",
                "`{}` is a class of Python, which is not sent to a cluster",
                marker.written
            )));
        }
        // The points need the memory of other machines; this one holds their results.
        memory::refuse_to_keep(&plan, order.anyway)?;
        let dir = RunDir::open(&order.out, &plan, &order.who, order.fresh, console)?;
        let wanted = plan.part(1, 1);
        let (mut results, mut rule) = begin(&plan, &wanted, true, &dir, console, &*show);
        show.starts(&plan, &rule.todo(), at_once);
        rule.begins(&plan, &mut results, &*show);
        Ok(Handed {
            plan,
            dir,
            who: order.who,
            stop: order.stop,
            show,
            watch,
            results,
            rule,
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
        if self.rule.is_done() {
            return None;
        }
        let point = self.rule.next()?;
        self.show.begins(point);
        Some(point)
    }

    /// Whether a point that was handed out is still needed.
    pub fn wants(&self, point: usize) -> bool {
        self.results[point].is_none() && self.rule.wants(point)
    }

    /// Whether no more points are needed.
    pub fn is_done(&self) -> bool {
        self.rule.is_done()
    }

    /// Stores what [`Bench::simulate`] has made of a point. False where the point has its result
    /// already: a cluster may run a task twice when it loses track of it.
    ///
    /// # Errors
    /// [`Failure::User`] where another build simulated it; [`Failure::Machine`] where it was
    /// damaged on its way, or the disk is full.
    pub fn bring(&mut self, point: usize, bytes: &[u8]) -> Result<bool, Failure> {
        if self.results[point].is_some() {
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
        let (rule, results) = (&mut *self.rule, &mut self.results);
        record(&self.plan, &*self.show, rule, results, point, done);
        Ok(true)
    }

    /// The run, as that of [`crate::run`].
    ///
    /// # Errors
    /// [`Failure::Interrupted`] where points are missing; with a stated precision, where there was
    /// no look yet.
    pub fn end(self) -> Result<Ran, Failure> {
        self.show.ends();
        let ended = self.rule.end(self.plan, self.results, self.dir.path())?;
        Ok(Ran::new(ended, self.dir, self.who, &self.watch))
    }
}

fn another_build() -> Failure {
    Failure::User(miette::miette!(
        help =
            "install the same wheel of cemark on every node: two builds may simulate differently",
        "a node of the cluster has another build of cemark than this program"
    ))
}

/// A plan as it is sent to the end that simulates.
pub struct Sent {
    /// Text of the scenario ([`Plan::source`]).
    pub text: String,
    /// Path of the scenario; relative paths in its text start in its folder.
    pub file: String,
    /// Own markers of the plan, with the paths that they have there.
    pub markers: Vec<OwnMarker>,
}

/// The end that simulates. It is made once in each process, since it expands the whole plan.
pub struct Bench {
    plan: Plan,
    watches: Watches,
    build: String,
}

impl Bench {
    /// Bench for the text of a scenario ([`Plan::source`]). `file` names the scenario, and relative
    /// paths in it start in its folder. `digest` is the plan's, and `wanted` the build of the other
    /// end.
    ///
    /// # Errors
    /// [`Failure::User`] where this is another build, or the files that the scenario names differ
    /// from the files of the other end.
    pub fn new(sent: &Sent, digest: u64, build: String, wanted: &str) -> Result<Self, Failure> {
        if build != wanted {
            return Err(another_build());
        }
        let Sent { text, file, .. } = sent;
        let overrides = Overrides {
            known: sent.markers.clone(),
            ..Overrides::default()
        };
        let mut plan = parse(text, file, &overrides)?;
        if plan.digest != digest {
            return Err(Failure::User(miette::miette!(
                help = "files that a scenario names must be the same on every node, under the same \
                        path",
                "{file} is another scenario here ({}) than in the program that sent it ({})",
                hex(plan.digest),
                hex(digest)
            )));
        }
        // The sender of the plan has given consent.
        let watches = marker::load(&mut plan, &Consent::of_files(true))?;
        Ok(Bench {
            plan,
            watches,
            build,
        })
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
        let (i, point) = (point, &self.plan.points[point]);
        let mistake = || self.watches.mistake(i);
        match one(point, 1, &mut |_| goes_on() && mistake().is_none()) {
            _ if mistake().is_some() => {
                let mistake = mistake().expect("it was there");
                Err(marker::failure(&mistake, point, "finished points are kept"))
            }
            None => Ok(None),
            Some(Err(ring)) => Err(deadlocked(&ring)),
            Some(Ok(done)) => {
                let bytes = rundir::encode(&self.plan, point, &done, &self.build);
                Ok(Some(bytes))
            }
        }
    }
}
