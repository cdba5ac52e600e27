// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replays the recorded runs of `crates/cli/tests/progress` and checks the estimates of the whole
//! time.
//!
//! A recording has a line `threads N`, a line `point STAGE HOPS SECONDS` with the estimates of each
//! point in the order in which points begin, and then a line `SECONDS WHAT POINT DONE HOPS` for
//! each event: the point begins (`b`), reports (`a`), is finished (`f`) or was finished before
//! (`s`).

use std::path::{Path, PathBuf};

use super::{Estimate, Estimator, Job, State};

/// A recorded run.
struct Recording {
    threads: usize,
    jobs: Vec<Job>,
    events: Vec<Event>,
}

struct Event {
    now: f64,
    what: char,
    point: usize,
    done: f64,
    hops: u64,
}

impl Recording {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).expect("a recording");
        let mut found = Recording {
            threads: 0,
            jobs: Vec::new(),
            events: Vec::new(),
        };
        for line in text.lines().filter(|l| !l.starts_with('#')) {
            let fields: Vec<&str> = line.split('\t').collect();
            let number = |i: usize| fields[i].parse::<usize>().expect("a number");
            let real = |i: usize| fields[i].parse::<f64>().expect("a number");
            match fields[0] {
                "threads" => found.threads = number(1),
                "point" => found.jobs.push(Job {
                    stage: number(1),
                    hops: real(2),
                    seconds: real(3),
                }),
                _ => found.events.push(Event {
                    now: real(0),
                    what: fields[1].chars().next().expect("a letter"),
                    point: number(2),
                    done: real(3),
                    hops: number(4) as u64,
                }),
            }
        }
        found
    }

    /// When the run ended.
    fn end(&self) -> f64 {
        self.events.last().expect("events").now
    }

    /// When a tenth of the packet-hops were done.
    fn tenth(&self) -> f64 {
        let mut hops = vec![0; self.jobs.len()];
        let mut times = Vec::new();
        for e in &self.events {
            hops[e.point] = e.hops;
            times.push((e.now, hops.iter().sum::<u64>()));
        }
        let all = times.last().expect("events").1;
        let tenth = times.iter().find(|(_, done)| done * 10 >= all);
        tenth.expect("all is more than a tenth").0
    }

    /// Estimates that lines every `every` seconds would have shown, the first after `first`
    /// seconds.
    fn lines(&self, first: f64, every: f64) -> Vec<(f64, Option<Estimate>)> {
        let mut estimator = Estimator::new(self.jobs.clone(), self.threads);
        if self.jobs.iter().any(|j| j.stage > 0) {
            estimator.longest_first();
        }
        let (mut lines, mut next) = (Vec::new(), first);
        for e in &self.events {
            while next < e.now {
                lines.push((next, estimator.estimate(next)));
                next += every;
            }
            match e.what {
                'b' => estimator.begins(e.point, e.now),
                'a' => estimator.at(e.point, e.now, e.done, e.hops),
                'f' => estimator.ends(e.point, e.now, e.hops),
                's' => estimator.states[e.point] = State::Absent,
                other => panic!("no event `{other}`"),
            }
        }
        lines
    }
}

/// Every committed recording.
fn recordings() -> Vec<(PathBuf, Recording)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/progress");
    let entries = std::fs::read_dir(folder).expect("the folder");
    let paths = entries.map(|e| e.expect("an entry").path());
    let tables = paths.filter(|p| p.extension().is_some_and(|e| e == "tsv"));
    tables.map(|p| (p.clone(), Recording::read(&p))).collect()
}

#[test]
fn after_a_tenth_of_the_work_the_total_is_known_within_a_factor_of_two() {
    let all = recordings();
    assert!(all.len() >= 4, "{} recordings", all.len());
    for (path, run) in all {
        let (end, tenth) = (run.end(), run.tenth());
        let mut seen = 0;
        // A bar shows four estimates a second, lines without a terminal one in ten seconds.
        for (every, first) in [(0.25, 0.25), (10.0, 10.0)] {
            for (now, estimate) in run.lines(first, every) {
                if now < tenth {
                    continue;
                }
                let at = format!("{} at {now} s of {end} s", path.display());
                let total = estimate
                    .unwrap_or_else(|| panic!("no estimate: {at}"))
                    .total();
                let ratio = total / end;
                assert!((0.5..=2.0).contains(&ratio), "{ratio:.2}: {at}");
                seen += 1;
            }
        }
        assert!(seen > 20, "{}: only {seen} estimates", path.display());
    }
}

#[test]
fn after_a_tenth_of_the_work_the_total_rises_by_a_fifth_at_most_between_lines() {
    for (path, run) in recordings() {
        let tenth = run.tenth();
        // Wherever the ten seconds of a line begin.
        for first in 1..=20 {
            let lines = run.lines(f64::from(first) * 0.5, 10.0);
            let late: Vec<_> = lines.into_iter().filter(|(now, _)| *now >= tenth).collect();
            for pair in late.windows(2) {
                let total = |line: &(f64, Option<Estimate>)| line.1.expect("an estimate").total();
                let rise = total(&pair[1]) / total(&pair[0]);
                assert!(
                    rise <= 1.2,
                    "{rise:.3}: {} at {} s",
                    path.display(),
                    pair[1].0
                );
            }
        }
    }
}
