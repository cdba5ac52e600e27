// SPDX-License-Identifier: MIT OR Apache-2.0
//! `summary.json`, which is also what `cemark run --format json` prints. Scripts rely on it:
//! docs/output.md lists its fields.

pub mod measures;

use std::collections::BTreeMap;

use cemark_scenario::{Plan, Point};
use cemark_sim::Outcome;
use cemark_sim::outcome::{PortReport, Spread, most_paused};
use cemark_wire::hash::Fnv1a;
use serde::{Deserialize, Serialize};

use self::measures::{Measure, measures};
use crate::by_port::PortUse;
use crate::by_size::{Buckets, SchemeSlowdown};
use crate::comparison::Comparisons;
use crate::comparison::precision::Standing;
use crate::comparison::workloads;
use crate::metrics::{self, Restriction, Sample, endless};
use crate::rundir::Finished;
use crate::stats::{Distribution, SizeClass, Statistic, fct_us, slowdowns};

/// The version of the document's shape. It rises when a field changes its meaning or goes away, not
/// when one is added.
pub const SCHEMA: u32 = 1;

/// Most values of the axes with slowdowns by flow size: an entry has twice the length of a point.
const MOST_BY_SIZE: usize = 100;

/// A whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Why tables cannot tell their schemes apart, in a sentence; absent where every table can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cannot_tell: Option<String>,
    /// [`SCHEMA`].
    pub schema: u32,
    /// Short name of the scenario.
    pub scenario: String,
    /// Fingerprint of the results: of all points' digests, in order. 16 hex digits.
    pub digest: String,
    /// Fingerprint of the scenario: of everything that can change a result. 16 hex digits.
    pub scenario_digest: String,
    /// Version of cemark.
    pub version: String,
    /// Warnings about settings that the scenario's author probably did not intend, each with advice
    /// on what to write instead.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Parameters of schemes that change in mid-run, each with its time and its ports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retunes: Vec<String>,
    /// Points in the order of the scenario: axes outermost, then scheme, then seed.
    pub points: Vec<PointSummary>,
    /// Metrics of each scheme over all seeds, with unit, number of values and interval.
    #[serde(default)]
    pub measures: Vec<Measure>,
    /// Each scheme against the baseline.
    pub comparisons: Vec<ComparisonLine>,
    /// Slowdown of each scheme by flow size, in deciles of the sizes; of at most 100 values of the
    /// axes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowdown_by_size: Vec<SchemeSlowdown>,
    /// The ports that each scheme uses most or that are paused longest, of at most 100 values of
    /// the axes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortUse>,
    /// In a run with a stated precision, how far it is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<PrecisionSummary>,
    /// Cost of the run. Not part of any digest.
    pub cost: Cost,
}

/// Precision that a run states, and how far it is reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrecisionSummary {
    /// Half of the intervals that was asked for, in percentage points.
    pub within: f64,
    /// Most replications.
    pub most: u32,
    /// Whether every block reached it.
    pub reached: bool,
    /// Blocks by value of the axes, one entry each.
    pub blocks: Vec<BlockSummary>,
}

/// All schemes at one value of the axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockSummary {
    /// Value of each swept axis.
    pub axes: BTreeMap<String, String>,
    /// Replications in the comparisons.
    pub replications: u32,
    /// Whether the precision is reached here.
    pub reached: bool,
    /// For each metric that decides, half of the widest interval among the schemes, in percentage
    /// points; `null` where a scheme has none.
    pub half_widths: BTreeMap<String, Option<f64>>,
}

impl PrecisionSummary {
    fn of(comparisons: &Comparisons) -> Option<Self> {
        let blocks: Vec<(&Standing, BlockSummary)> = comparisons
            .groups
            .iter()
            .filter_map(|group| {
                let standing = group.standing.as_ref()?;
                let halves = standing.metrics.iter();
                let block = BlockSummary {
                    axes: group.axes.clone(),
                    replications: standing.replications,
                    reached: standing.reached(),
                    half_widths: halves.map(|k| (k.metric.key.to_string(), k.half)).collect(),
                };
                Some((standing, block))
            })
            .collect();
        let (standing, _) = blocks.first()?;
        Some(PrecisionSummary {
            within: standing.within,
            most: standing.most,
            reached: blocks.iter().all(|(_, block)| block.reached),
            blocks: blocks.into_iter().map(|(_, block)| block).collect(),
        })
    }
}

/// Cost of a run: points, packet-hops and time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Points in all.
    pub points: u64,
    /// Simulated points; each of the others has the configuration of a simulated one.
    #[serde(default)]
    pub simulated: u64,
    /// Points that were found finished in the run directory.
    pub resumed: u64,
    /// Packet-hops, all points that were simulated.
    pub packet_hops: u64,
    /// CPU seconds of simulation, all points (those of an earlier session too).
    pub cpu_seconds: f64,
    /// Seconds of wall-clock time of this session.
    pub wall_seconds: f64,
}

impl Cost {
    /// Cost of these points, none of them from an earlier session, without wall-clock time.
    pub fn of<'a>(points: impl IntoIterator<Item = &'a PointSummary>) -> Self {
        let points: Vec<&PointSummary> = points.into_iter().collect();
        let own = || points.iter().filter(|p| p.same_as.is_none());
        Cost {
            points: points.len() as u64,
            simulated: own().count() as u64,
            packet_hops: own().map(|p| p.packet_hops).sum(),
            cpu_seconds: own().map(|p| p.cpu_seconds).sum(),
            ..Cost::default()
        }
    }
}

/// Numbers of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointSummary {
    /// Value of each swept axis, as written.
    pub axes: BTreeMap<String, String>,
    /// Label of the scheme.
    pub scheme: String,
    /// Load of the first Poisson workload.
    pub load: Option<f64>,
    /// Seed.
    pub seed: u64,
    /// Index in `points` of the point whose simulation gave this result, because both have the
    /// same configuration; absent where the point was simulated itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<u64>,
    /// Measured flows, finished or not.
    pub flows: u64,
    /// Measured flows that did not finish. They are in no mean and no percentile.
    pub unfinished: u64,
    /// Completion times in microseconds by size class.
    pub fct_us: Classes,
    /// Completion time over that of an empty network, by size class.
    pub slowdown: Classes,
    /// Queries of incasts of which a flow has started, finished or not.
    #[serde(default)]
    pub queries: u64,
    /// Queries that did not finish. They are in no mean and no percentile.
    #[serde(default)]
    pub unfinished_queries: u64,
    /// Completion times of queries in microseconds; `count` is zero without any.
    #[serde(default)]
    pub query_us: Distribution,
    /// CE written by switches.
    pub marks: u64,
    /// CE written by switches, by reason.
    pub marks_by_reason: BTreeMap<String, u64>,
    /// Packets discarded, by reason.
    pub drops: BTreeMap<String, u64>,
    /// Retransmission timeouts, all flows.
    pub timeouts: u64,
    /// Retransmitted segments, all flows.
    pub retransmissions: u64,
    /// Pause frames (PFC) that stopped a port, all ports; zero without PFC.
    #[serde(default)]
    pub pauses: u64,
    /// The port (a NIC too) that was paused for the largest share of the time; `null` where none
    /// was.
    #[serde(default)]
    pub most_paused: Option<PausedPort>,
    /// Counters of the middleboxes at the edges of two sites, by name (docs/dcib.md); empty
    /// without.
    #[serde(default)]
    pub edges: BTreeMap<String, u64>,
    /// The switch port with the longest mean queue; `null` where no queue was sampled.
    pub hottest_port: Option<PortSummary>,
    /// Payload delivered to all endless flows, in bits per second; `null` without any.
    pub long_goodput_bps: Option<f64>,
    /// Goodput of endless flows in bits per second by queue class; empty without any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub goodput_bps_by_class: BTreeMap<String, f64>,
    /// Goodput of endless flows in bits per second by workload; empty without any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub goodput_bps_by_workload: BTreeMap<String, f64>,
    /// Jain's index of the goodput of endless flows by queue class, where a class has two or more;
    /// empty without any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fairness_by_class: BTreeMap<String, f64>,
    /// Round trips of probes in microseconds; `count` is zero without any.
    pub probe_rtt_us: Distribution,
    /// Every metric with a column whose value none of the other fields holds, by its key; a metric
    /// that the point has no value for is left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// Events handled.
    pub events: u64,
    /// Simulated seconds.
    pub simulated_seconds: f64,
    /// CPU seconds. Not part of the digest.
    pub cpu_seconds: f64,
    /// Fingerprint of flows and counters, 16 hex digits: equal on every machine and for every
    /// number of jobs.
    pub digest: String,
}

/// A distribution for each size class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Classes {
    /// Every flow.
    pub all: Distribution,
    /// Below 100 KB.
    pub short: Distribution,
    /// 100 KB to 10 MB.
    pub medium: Distribution,
    /// Above 10 MB.
    pub large: Distribution,
}

impl Classes {
    fn of(values: impl Fn(SizeClass) -> Vec<f64>) -> Self {
        let of = |class| Distribution::of(values(class));
        Classes {
            all: of(SizeClass::All),
            short: of(SizeClass::Short),
            medium: of(SizeClass::Medium),
            large: of(SizeClass::Large),
        }
    }
}

/// A port that the switch at its far end paused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PausedPort {
    /// Its name (`host3->leaf0`).
    pub name: String,
    /// Share of the measured time in which it was paused.
    pub share: f64,
}

/// Numbers of a switch port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortSummary {
    /// Its name (`leaf3->host52`).
    pub name: String,
    /// Mean queue in bytes, without the packet being sent.
    pub queue_mean_bytes: f64,
    /// Median.
    pub queue_p50_bytes: f64,
    /// 99th percentile; none of fewer than 100 samples, whose nearest rank is the largest.
    pub queue_p99_bytes: Option<f64>,
    /// Longest.
    pub queue_max_bytes: f64,
    /// Samples of the queue.
    #[serde(default)]
    pub queue_samples: u64,
    /// Mean sojourn time in microseconds.
    pub sojourn_mean_us: f64,
    /// 99th percentile of the sojourn time in microseconds; none of fewer than 100 packets.
    pub sojourn_p99_us: Option<f64>,
    /// Packets whose sojourn time was measured.
    #[serde(default)]
    pub sojourn_samples: u64,
    /// Share of the link's measured time in use.
    pub utilisation: f64,
    /// Packets sent.
    pub packets: u64,
    /// CE written.
    pub marks: u64,
    /// Packets discarded.
    pub drops: u64,
}

impl From<&PortReport> for PortSummary {
    fn from(p: &PortReport) -> Self {
        PortSummary {
            name: p.name.clone(),
            queue_mean_bytes: p.queue.mean,
            queue_p50_bytes: p.queue.p50,
            queue_p99_bytes: p99(&p.queue),
            queue_max_bytes: p.queue.max,
            queue_samples: p.queue.count,
            sojourn_mean_us: p.sojourn.mean / 1e3,
            sojourn_p99_us: p99(&p.sojourn).map(|ns| ns / 1e3),
            sojourn_samples: p.sojourn.count,
            utilisation: p.utilisation,
            packets: p.packets,
            marks: p.marks,
            drops: p.drops,
        }
    }
}

/// The 99th percentile of a spread, where it is not the largest of all values.
pub(crate) fn p99(spread: &Spread) -> Option<f64> {
    let is_largest = Statistic::Percentile(0.99).is_maximum(spread.count);
    (spread.count > 0 && !is_largest).then_some(spread.p99)
}

/// Cell of the comparison table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonLine {
    /// Value of each swept axis.
    pub axes: BTreeMap<String, String>,
    /// Traffic class whose flows are compared; absent: all flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Label of the scheme.
    pub scheme: String,
    /// Label of the baseline.
    pub baseline: String,
    /// `short.mean`, `short.p99`, `large.mean`, `queue.mean` …
    pub metric: String,
    /// Signed percent difference.
    pub percent: f64,
    /// Lower end of the paired 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Number that the paper printed for this cell.
    pub published: Option<f64>,
}

/// A digest as documents write it.
pub fn hex(digest: u64) -> String {
    format!("{digest:016x}")
}

/// The port with the longest mean queue; of equals the busiest. `None` where nothing was sampled.
pub fn hottest(ports: &[PortReport]) -> Option<&PortReport> {
    cemark_sim::outcome::hottest(ports).map(|i| &ports[i])
}

impl PointSummary {
    /// Summary of a point that took this many CPU seconds.
    pub fn new(point: &Point, outcome: &Outcome, cpu_seconds: f64) -> Self {
        let owned = |m: &BTreeMap<&'static str, u64>| {
            m.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect()
        };
        let sample = Sample::new(point, outcome);
        let (goodput_bps_by_class, goodput_bps_by_workload) = workloads::goodputs(point, outcome);
        let queries = sample.queries().unwrap_or_default();
        let times: Vec<f64> = sample.query_times().unwrap_or_default();
        PointSummary {
            axes: point.axes.clone(),
            scheme: point.scheme.clone(),
            load: point.load,
            seed: point.seed,
            same_as: None,
            flows: outcome.flows.len() as u64,
            unfinished: outcome.flows.iter().filter(|f| f.fct.is_none()).count() as u64,
            fct_us: Classes::of(|class| fct_us(&outcome.flows, class)),
            slowdown: Classes::of(|class| slowdowns(&outcome.flows, class)),
            queries: queries.len() as u64,
            unfinished_queries: (queries.len() - times.len()) as u64,
            query_us: Distribution::of(times),
            marks: outcome.totals.all_marks(),
            marks_by_reason: owned(&outcome.totals.marks),
            drops: owned(&outcome.totals.drops),
            timeouts: outcome.totals.timeouts,
            retransmissions: outcome.totals.retransmits,
            pauses: outcome.pauses.iter().map(|p| p.frames).sum(),
            most_paused: most_paused(&outcome.pauses).map(|p| PausedPort {
                name: p.name.clone(),
                share: p.share,
            }),
            edges: outcome.edges.clone(),
            hottest_port: hottest(&outcome.ports).map(PortSummary::from),
            long_goodput_bps: endless::goodput(&sample).ok(),
            goodput_bps_by_class,
            goodput_bps_by_workload,
            fairness_by_class: fairness_by_class(&sample),
            probe_rtt_us: Distribution::of(sample.round_trips()),
            metrics: without_field(&sample),
            packet_hops: outcome.packet_hops,
            events: outcome.events,
            simulated_seconds: outcome.end.as_secs_f64(),
            cpu_seconds,
            digest: hex(outcome.digest),
        }
    }

    /// Packets discarded, all reasons.
    pub fn all_drops(&self) -> u64 {
        self.drops.values().sum()
    }
}

/// Jain's index of the endless flows of each queue class.
fn fairness_by_class(sample: &Sample<'_>) -> BTreeMap<String, f64> {
    let of = |class: u8| {
        let only = Restriction {
            class: Some(class),
            ..sample.only
        };
        let index = endless::fairness(&Sample { only, ..*sample });
        Some((class.to_string(), index.ok()?))
    };
    workloads::classes(sample.outcome)
        .into_iter()
        .filter_map(of)
        .collect()
}

/// The metrics that have a column and no field of their own.
fn without_field(sample: &Sample<'_>) -> BTreeMap<String, f64> {
    let others = metrics::all().iter().filter(|m| {
        let column = m.column.as_ref();
        column.is_some_and(|c| c.field.is_none())
    });
    others
        .filter_map(|m| Some((m.key.to_string(), m.reported(sample)?)))
        .collect()
}

impl RunSummary {
    /// Summary of all points of a plan, in its order.
    pub fn new(
        plan: &Plan,
        finished: &[Finished],
        comparisons: &Comparisons,
        version: &str,
        cost: Cost,
    ) -> Self {
        let mut digest = Fnv1a::new();
        for point in finished {
            digest.write(point.summary.digest.as_bytes());
        }
        RunSummary {
            cannot_tell: comparisons.cannot_tell(),
            schema: SCHEMA,
            scenario: plan.name.clone(),
            digest: hex(digest.finish()),
            scenario_digest: hex(plan.digest),
            version: version.to_owned(),
            warnings: plan.warning_lines(),
            retunes: plan.retunes.clone(),
            points: finished.iter().map(|f| f.summary.clone()).collect(),
            measures: measures(plan, finished, comparisons),
            comparisons: comparisons.lines(),
            slowdown_by_size: match comparisons.groups.len() <= MOST_BY_SIZE {
                true => comparisons.slowdown_by_size(finished, &Buckets::Deciles),
                false => Vec::new(),
            },
            ports: match comparisons.groups.len() <= MOST_BY_SIZE {
                true => comparisons
                    .groups
                    .iter()
                    .flat_map(|g| g.busiest_ports(finished))
                    .collect(),
                false => Vec::new(),
            },
            precision: PrecisionSummary::of(comparisons),
            cost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_p99_of_a_port_needs_a_hundred_values() {
        let of = |count| {
            p99(&Spread {
                count,
                p99: 7.0,
                ..Spread::default()
            })
        };
        assert_eq!([0, 1, 99, 100].map(of), [None, None, None, Some(7.0)]);
    }
}
