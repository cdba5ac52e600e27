// SPDX-License-Identifier: MIT OR Apache-2.0
//! A rule alone says which points are simulated, in which order, and when there are enough.

use std::fs;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cemark_report::RunDir;
use cemark_runner::marker::Watches;
use cemark_runner::{Cores, Results, Show, Silent, StopRule, Work, simulate};
use cemark_scenario::Plan;

use crate::common::{Folder, order, plan};

/// The points from the last to the first, until this number of them is finished.
struct LastOnes {
    enough: usize,
    todo: Vec<usize>,
    finished: Vec<usize>,
}

impl StopRule for LastOnes {
    fn todo(&self) -> Vec<usize> {
        self.todo.clone()
    }

    fn next(&mut self) -> Option<usize> {
        self.todo.pop()
    }

    fn finished(&mut self, _: &Plan, results: &mut Results, point: usize, _: &dyn Show) {
        assert!(results[point].is_some());
        self.finished.push(point);
    }

    fn is_done(&self) -> bool {
        self.finished.len() >= self.enough
    }
}

/// The points that are finished, in their order, and how many are on disk.
fn run(name: &str, enough: usize, stop: bool) -> (Vec<usize>, usize) {
    let (plan, folder) = (plan(None), Folder::new(name));
    let order = order(plan, &folder.0);
    let plan = &order.plan;
    let dir = RunDir::open(&order.out, plan, &order.who, false, &()).expect("a directory");
    let mut rule = LastOnes {
        enough,
        todo: (0..plan.points.len()).collect(),
        finished: Vec::new(),
    };
    let mut results: Results = vec![None; plan.points.len()];
    let work = Work {
        plan,
        dir: &dir,
        watches: &Watches::default(),
        cores: Cores::of_jobs(NonZeroUsize::new(1)),
        anyway: true,
        stop: &Arc::new(AtomicBool::new(stop)),
    };
    let ended = simulate(&work, &mut rule, &mut results, &Silent);
    assert!(ended.is_ok());
    assert_eq!(results.iter().flatten().count(), rule.finished.len());
    let kept = fs::read_dir(folder.0.join("points"))
        .expect("points")
        .count();
    (rule.finished, kept)
}

#[test]
fn points_are_simulated_in_the_order_of_the_rule_until_it_has_enough() {
    assert_eq!(run("three", 3, false), (vec![11, 10, 9], 3));
    assert_eq!(run("none", 0, false), (Vec::new(), 0));
}

#[test]
fn a_rule_that_asks_for_no_more_ends_the_work() {
    let (finished, kept) = run("all", usize::MAX, false);
    assert_eq!((finished.len(), kept), (12, 12));
}

/// Panics while the point that begins last is simulated.
struct Broken;

impl Show for Broken {
    fn at(&self, point: usize, _: f64, _: u64) {
        assert_ne!(point, 0, "a fault on purpose");
    }
}

/// The other threads, which wait for the last points, do not wait for ever.
#[test]
fn a_thread_that_panics_ends_the_work() {
    let (plan, folder) = (plan(None), Folder::new("panic"));
    let order = order(plan, &folder.0);
    let plan = &order.plan;
    let dir = RunDir::open(&order.out, plan, &order.who, false, &()).expect("a directory");
    let work = Work {
        plan,
        dir: &dir,
        watches: &Watches::default(),
        cores: Cores::of_jobs(NonZeroUsize::new(4)),
        anyway: true,
        stop: &Arc::default(),
    };
    let all = || {
        let mut rule = LastOnes {
            enough: usize::MAX,
            todo: (0..plan.points.len()).collect(),
            finished: Vec::new(),
        };
        let mut results: Results = vec![None; plan.points.len()];
        let _ended = simulate(&work, &mut rule, &mut results, &Broken);
    };
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(all));
    assert!(ended.is_err(), "the panic reaches the caller");
    let kept = fs::read_dir(folder.0.join("points")).expect("points");
    assert!(kept.count() >= 8, "finished points stay");
}

#[test]
fn the_flag_ends_the_work() {
    assert_eq!(run("stopped", 3, true), (Vec::new(), 0));
}
