// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scenario, expanded: every point that will be simulated, in order.

use std::collections::BTreeMap;

use cemark_sim::Config;

use crate::cost::{BASE, LEAST};
use crate::own::OwnMarker;

/// All points of a scenario and what its report needs to know.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Short name (`rtt-variation`), the run directory's name too.
    pub name: String,
    /// Title for people, a single line.
    pub title: String,
    /// A paragraph: what is modelled, after which paper and figure, and which choices are ours.
    pub description: String,
    /// Labels of the schemes, in the order of the file; the first is the baseline unless the file
    /// says otherwise.
    pub schemes: Vec<String>,
    /// Index of the baseline in `schemes`.
    pub baseline: usize,
    /// Paths of the axes that are swept (`workload.load`), without scheme and seed.
    pub axes: Vec<String>,
    /// How narrow the intervals are to be; `None`: exactly the points are run. With one, the points
    /// are those of the most replications, of which a run needs the first ones.
    pub precision: Option<Precision>,
    /// Points in order: axes outermost, then scheme, then seed.
    pub points: Vec<Point>,
    /// Numbers that a paper printed for the same cells.
    pub published: Vec<Published>,
    /// A next command worth trying, printed at the end.
    pub next: Option<String>,
    /// Names of the workloads, in the order of `FlowRecord::workload`.
    pub workloads: Vec<String>,
    /// Fingerprint of the expanded scenario (everything that can change a result).
    pub digest: u64,
    /// Warnings about settings that the author probably did not mean; the scenario runs all the
    /// same.
    pub warnings: Vec<Warning>,
    /// Settings that presets of hosts make, and published senders, a line each.
    pub presets: Vec<String>,
    /// The parameters in force of each scheme that the file writes or that a rule of its paper
    /// speaks of, a line each.
    pub parameters: Vec<String>,
    /// Parameters that change in mid-run, a line each.
    pub retunes: Vec<String>,
    /// DSCPs of the traffic classes, by name.
    pub dscps: BTreeMap<String, Vec<u8>>,
    /// Markers of the user's own, each once.
    pub markers: Vec<OwnMarker>,
    /// The scenario's text as read, `--set` and `--seed` applied, for the manifest.
    pub source: String,
}

impl Plan {
    /// The warnings as people read them, each a line: what, in how many points, and what to write
    /// instead.
    pub fn warning_lines(&self) -> Vec<String> {
        let all = self.points.len();
        self.warnings
            .iter()
            .map(|w| format!("{} (instead: {})", w.text(all), w.help))
            .collect()
    }
}

impl Plan {
    /// For each point the index of the point whose simulation gives its result: the first one of
    /// the same configuration, itself in most cases. A swept key that a scheme does not read
    /// leaves its points alike.
    pub fn simulated_as(&self) -> Vec<usize> {
        let mut first = BTreeMap::new();
        let index = |(i, p): (usize, &Point)| *first.entry(p.simulation).or_insert(i);
        self.points.iter().enumerate().map(index).collect()
    }

    /// The points that are simulated, in order: one of each configuration.
    pub fn distinct(&self) -> Vec<&Point> {
        let first = self.simulated_as();
        let own = |i: &usize| first[*i] == *i;
        (0..first.len())
            .filter(own)
            .map(|i| &self.points[i])
            .collect()
    }

    /// Estimated bytes of memory that the whole run takes, by the number of points that run at the
    /// same time: the program, the outcomes of all points, and the largest points that can meet.
    pub fn peak_bytes(&self, jobs: usize) -> f64 {
        self.peak_bytes_on(jobs, |_| 1)
    }

    /// Estimated bytes of memory that the whole run takes with `jobs` points at the same time,
    /// where the point with index `i` runs on `threads(i)` threads.
    pub fn peak_bytes_on(&self, jobs: usize, threads: impl Fn(usize) -> usize) -> f64 {
        let first = self.simulated_as();
        let own = (0..first.len()).filter(|i| first[*i] == *i);
        let mut peaks: Vec<f64> = own
            .map(|i| self.points[i].peak_bytes_on(threads(i)))
            .collect();
        peaks.sort_by(|a, b| b.total_cmp(a));
        let running: f64 = peaks.iter().take(jobs.max(1)).sum();
        (self.kept_bytes() + running).max(LEAST)
    }

    /// Estimated bytes of memory of a process that only collects the outcomes of all points while
    /// others simulate them.
    pub fn kept_bytes(&self) -> f64 {
        let kept: f64 = self.points.iter().map(|p| p.kept_bytes).sum();
        // Tables and the report hold the outcomes once more.
        BASE + 2.0 * kept
    }
}

/// When a run with a stated precision ends. No part of it can change a result, so none is in the
/// scenario's digest.
#[derive(Clone, Debug, PartialEq)]
pub struct Precision {
    /// Half the width of the 95 % interval of each cell that decides, in percentage points.
    pub within: f64,
    /// The metrics that decide; empty: the means of short and large flows, or what was measured
    /// instead.
    pub metrics: Vec<String>,
    /// Most replications.
    pub most: u32,
}

/// The points of one value of the axes, by replication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Indices into the plan's points: one list for each replication, with one point a scheme.
    pub replications: Vec<Vec<usize>>,
}

impl Plan {
    /// The points by cell and replication, which is the place of a point among those of its cell
    /// and scheme.
    pub fn blocks(&self) -> Vec<Block> {
        let mut cells: Vec<(&BTreeMap<String, String>, Block)> = Vec::new();
        let mut seen: Vec<BTreeMap<&str, usize>> = Vec::new();
        for (i, point) in self.points.iter().enumerate() {
            let cell = match cells.iter().position(|(axes, _)| **axes == point.axes) {
                Some(cell) => cell,
                None => {
                    let replications = Vec::new();
                    cells.push((&point.axes, Block { replications }));
                    seen.push(BTreeMap::new());
                    cells.len() - 1
                }
            };
            let count = seen[cell].entry(&point.scheme).or_insert(0);
            let replications = &mut cells[cell].1.replications;
            if replications.len() <= *count {
                replications.push(Vec::new());
            }
            replications[*count].push(i);
            *count += 1;
        }
        cells.into_iter().map(|(_, block)| block).collect()
    }

    /// The plan with these points only, by their indices, which rise.
    pub fn only(&self, points: &[usize]) -> Plan {
        Plan {
            name: self.name.clone(),
            title: self.title.clone(),
            description: self.description.clone(),
            schemes: self.schemes.clone(),
            baseline: self.baseline,
            axes: self.axes.clone(),
            precision: self.precision.clone(),
            points: points.iter().map(|i| self.points[*i].clone()).collect(),
            published: self.published.clone(),
            next: self.next.clone(),
            workloads: self.workloads.clone(),
            digest: self.digest,
            warnings: self.warnings.clone(),
            presets: self.presets.clone(),
            dscps: self.dscps.clone(),
            parameters: self.parameters.clone(),
            retunes: self.retunes.clone(),
            markers: self.markers.clone(),
            source: self.source.clone(),
        }
    }
}

/// A warning about settings that a scenario has and its author probably did not mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Names what it is about, the same for all points: warnings of one thing are said once.
    pub about: String,
    /// What, and where; as the first of its points has it.
    pub message: String,
    /// The remedy.
    pub help: String,
    /// Points it concerns.
    pub points: usize,
}

impl Warning {
    /// The message, and how many of `all` points it concerns where these are not all.
    pub fn text(&self, all: usize) -> String {
        if self.points == all {
            return self.message.clone();
        }
        format!("{} (in {} of {all} points)", self.message, self.points)
    }
}

/// A point of a plan: one simulation.
#[derive(Clone, Debug)]
pub struct Point {
    /// Value of each swept axis as written (`{"workload.load": "0.8"}`).
    pub axes: BTreeMap<String, String>,
    /// Label of its scheme.
    pub scheme: String,
    /// The load of the first Poisson workload, if there is one.
    pub load: Option<f64>,
    /// Seed.
    pub seed: u64,
    /// Configuration of the simulation.
    pub config: Config,
    /// Estimated packet-hops, for progress and cost.
    pub cost: f64,
    /// Estimated packet-hops after the last measured flow has started: part of `cost`; 0 where the
    /// estimate does not tell.
    pub tail: f64,
    /// Estimated samples of queues, of all ports.
    pub samples: f64,
    /// Estimated simulated seconds.
    pub seconds: f64,
    /// Estimated bytes that it takes while it runs, beyond those of the program.
    pub peak_bytes: f64,
    /// Estimated bytes of its outcome, which are held until the run ends.
    pub kept_bytes: f64,
    /// Fingerprint of this point alone: names its file in the run directory.
    pub digest: u64,
    /// Fingerprint of the configuration, without label and axes: points that share it have the
    /// same result, and only the first of them is simulated ([`Plan::simulated_as`]).
    pub simulation: u64,
}

impl Point {
    /// Estimated bytes of a process that simulates this point and nothing else, as `cemark bench`
    /// does.
    pub fn alone_bytes(&self) -> f64 {
        BASE + self.peak_bytes
    }

    /// Estimated bytes that it takes while it runs on this number of threads.
    pub fn peak_bytes_on(&self, threads: usize) -> f64 {
        self.peak_bytes * crate::cost::of_shards(threads)
    }

    /// Estimated CPU seconds, by the cost, what makes a hop dear, and the samples.
    pub fn cpu_seconds(&self) -> f64 {
        crate::cost::cpu_seconds(&self.config, self.cost, self.samples)
    }
}

/// A published value for a cell of the comparison table.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// Axes it belongs to, as written in the file (`{"workload.load": "0.9"}`); empty: all.
    pub axes: BTreeMap<String, String>,
    /// Label of the scheme.
    pub scheme: String,
    /// Column: `short.mean`, `short.p99`, `large.mean`, `overall.mean`.
    pub metric: String,
    /// The value as the paper prints it, in percent against the baseline.
    pub percent: f64,
    /// Where: `ECN# Fig 13b`.
    pub source: String,
}
