// SPDX-License-Identifier: MIT OR Apache-2.0
//! The estimator on runs that were made up; `replay_tests.rs` has recorded ones.

use super::{Estimator, Job, State};

const HOPS: u64 = 100_000_000;

fn job(stage: usize) -> Job {
    Job {
        stage,
        hops: HOPS as f64,
        seconds: 6.0,
    }
}

/// The total after the first of equal points have run for some seconds, ten of which each takes.
fn after(estimator: &mut Estimator, running: &[usize], seconds: f64) -> f64 {
    for &i in running {
        estimator.begins(i, 0.0);
        let done = seconds / 10.0;
        estimator.at(i, seconds, done, (done * HOPS as f64) as u64);
    }
    estimator.estimate(seconds).expect("an estimate").total()
}

#[test]
fn it_says_nothing_before_it_has_seen_anything() {
    let mut e = Estimator::new(vec![job(0); 4], 2);
    assert_eq!(e.estimate(3.0), None);
    e.begins(0, 3.0);
    e.at(0, 3.5, 0.001, 10_000);
    assert_eq!(e.estimate(3.5), None);
}

#[test]
fn a_thread_without_work_at_the_end_is_accounted_for() {
    // Three points on two threads take as long as four.
    for (points, seconds) in [(2, 10.0), (3, 20.0), (4, 20.0), (5, 30.0)] {
        let mut e = Estimator::new(vec![job(0); points], 2);
        let total = after(&mut e, &[0, 1], 5.0);
        assert!(
            (total / seconds - 1.0).abs() < 0.15,
            "{points} points: {total}"
        );
    }
}

#[test]
fn a_stage_waits_for_the_one_before() {
    // Two stages of three points on two threads: no point of the second fills the gap.
    let jobs: Vec<Job> = (0..6).map(|i| job(i / 3)).collect();
    let mut e = Estimator::new(jobs, 2);
    e.longest_first();
    let total = after(&mut e, &[0, 1], 5.0);
    assert!((total / 40.0 - 1.0).abs() < 0.15, "{total}");
}

#[test]
fn points_that_take_longer_are_learned() {
    // Every second point has four times the estimated packet-hops.
    let mut e = Estimator::new(vec![job(0); 20], 1);
    let mut now = 0.0;
    for i in 0..10 {
        e.begins(i, now);
        let times = if i % 2 == 1 { 4.0 } else { 1.0 };
        now += 10.0 * times;
        e.ends(i, now, (HOPS as f64 * times) as u64);
    }
    let total = e.estimate(now).expect("an estimate").total();
    assert!(
        (total / (2.0 * now) - 1.0).abs() < 0.15,
        "{total} of {}",
        2.0 * now
    );
}

#[test]
fn a_point_beyond_its_estimate_raises_the_others() {
    let mut e = Estimator::new(vec![job(0); 8], 1);
    e.begins(0, 0.0);
    e.at(0, 10.0, 0.99, HOPS);
    let before = e.clone().estimate(10.0).expect("an estimate").total();
    e.at(0, 40.0, 0.99, 4 * HOPS);
    let after = e.estimate(40.0).expect("an estimate").total();
    assert!(after > 1.5 * before, "{after} after {before}");
}

#[test]
fn points_of_an_earlier_session_take_no_time() {
    let mut e = Estimator::new(vec![job(0); 4], 2);
    e.states[2] = State::Absent;
    e.states[3] = State::Absent;
    let total = after(&mut e, &[0, 1], 5.0);
    assert!((total / 10.0 - 1.0).abs() < 0.15, "{total}");
}

#[test]
fn the_number_of_points_may_change() {
    let mut e = Estimator::new(vec![job(0); 8], 2);
    e.expects(&[0, 1]);
    let total = after(&mut e, &[0, 1], 5.0);
    assert!((total / 10.0 - 1.0).abs() < 0.15, "{total}");
    e.expects(&[0, 1, 2, 3, 4, 5]);
    let total = e.estimate(5.0).expect("an estimate").total();
    assert!((total / 30.0 - 1.0).abs() < 0.15, "{total}");
}

#[test]
fn a_total_rises_slowly_once_it_is_settled() {
    let mut e = Estimator::new(vec![job(0); 8], 2);
    let before = after(&mut e, &[0, 1], 5.0);
    // No point advances for half a minute.
    let mut last = before;
    for tenth in 1..=300 {
        let now = 5.0 + f64::from(tenth) / 10.0;
        let total = e.estimate(now).expect("an estimate").total();
        assert!(total <= last * 1.01 || total == now, "{total} after {last}");
        last = total;
    }
    assert!(last > before);
}
