// SPDX-License-Identifier: MIT OR Apache-2.0
//! Points that are simulated elsewhere give the run that this machine gives by itself, in whatever
//! order they come back and however often.

use std::path::Path;
use std::sync::Arc;

use cemark_runner::{Bench, Failure, Handed, Ran, Sent, Silent};
use cemark_scenario::Plan;

use crate::common::{FILE, Folder, brief, order, plan};

fn begin(plan: Plan, out: &Path) -> Handed {
    let begun = Handed::begin(order(plan, out), 2, &(), Arc::new(Silent));
    begun.unwrap_or_else(|_| panic!("it begins"))
}

fn bench(plan: &Plan, build: &str) -> Result<Bench, Failure> {
    Bench::new(&sent(&plan.source), plan.digest, build.to_owned(), "this")
}

fn sent(text: &str) -> Sent {
    Sent {
        text: text.to_owned(),
        file: "f.toml".to_owned(),
        markers: Vec::new(),
    }
}

fn simulated(bench: &Bench, point: usize) -> Vec<u8> {
    let bytes = bench.simulate(point, &mut || true);
    let bytes = bytes.unwrap_or_else(|_| panic!("it is simulated"));
    bytes.expect("it is not ended")
}

/// Hands out up to five points at a time and brings them back, the last one first, each twice.
fn served(mut handed: Handed) -> Ran {
    let Ok(bench) = bench(handed.plan(), "this") else {
        panic!("the plan is that of the other end");
    };
    while !handed.is_done() {
        let mut out: Vec<usize> = Vec::new();
        while out.len() < 5
            && let Some(point) = handed.hand_out()
        {
            assert!(handed.wants(point));
            out.push(point);
        }
        assert!(!out.is_empty(), "points are needed and none is handed out");
        for point in out.into_iter().rev() {
            let bytes = simulated(&bench, point);
            let stored = |r: Result<bool, Failure>| r.unwrap_or_else(|_| panic!("it is stored"));
            assert!(stored(handed.bring(point, &bytes)));
            assert!(!stored(handed.bring(point, &bytes)), "stored once");
            assert!(!handed.wants(point));
        }
    }
    handed.end().unwrap_or_else(|_| panic!("it is done"))
}

#[test]
fn the_run_is_that_of_one_machine() {
    for precision in [None, Some("20")] {
        let (a, b) = (Folder::new("a"), Folder::new("b"));
        let here = cemark_runner::run(order(brief(precision), &a.0), &(), &Silent);
        let here = here.unwrap_or_else(|_| panic!("it runs"));
        let there = served(begin(brief(precision), &b.0));
        let digest = |ran: &Ran| ran.summary().1.digest;
        assert_eq!(digest(&here), digest(&there), "{precision:?}");
        assert_eq!(here.finished.len(), there.finished.len());
        // The next session finds every point.
        drop(there);
        let again = begin(brief(precision), &b.0);
        assert!(again.is_done());
        let again = again.end().unwrap_or_else(|_| panic!("it is done"));
        assert_eq!(again.resumed, here.finished.len());
        assert_eq!(digest(&here), digest(&again));
    }
}

#[test]
fn what_is_damaged_or_of_another_build_is_not_stored() {
    let folder = Folder::new("c");
    let mut handed = begin(plan(None), &folder.0);
    let point = handed.hand_out().expect("all of them are missing");
    let Ok(bench) = bench(handed.plan(), "this") else {
        panic!("the plan is that of the other end");
    };
    let mut bytes = simulated(&bench, point);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    assert!(matches!(
        handed.bring(point, &bytes),
        Err(Failure::Machine(_))
    ));
    bytes[middle] ^= 1;
    // A point of another place in the plan.
    let other = handed.hand_out().expect("there are twelve");
    assert!(matches!(handed.bring(other, &bytes), Err(Failure::User(_))));
    assert!(handed.wants(point) && handed.wants(other));
    assert!(matches!(handed.bring(point, &bytes), Ok(true)));
    match handed.end() {
        Err(Failure::Interrupted(text)) => assert!(text.contains("1 of 12 points"), "{text}"),
        _ => panic!("eleven points are missing"),
    }
}

#[test]
fn another_build_or_scenario_does_not_simulate() {
    let plan = plan(None);
    assert!(matches!(bench(&plan, "that"), Err(Failure::User(_))));
    let other = FILE.replace("0.8", "0.9");
    let other = Bench::new(&sent(&other), plan.digest, "this".to_owned(), "this");
    assert!(matches!(other, Err(Failure::User(_))));
}
