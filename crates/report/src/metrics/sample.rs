// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sample of a finished point, or of the part of it that a row asks for: metrics are computed from
//! it.

use cemark_scenario::Point;
use cemark_sim::Outcome;
use cemark_sim::config::Measure;
use cemark_sim::outcome::{FlowRecord, PortReport, Spread};
use cemark_sim::workload::Workload;

use crate::stats::{Query, queries};
use crate::summary::hottest;

/// A finished point as metrics see it.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Its workloads, in the order of `FlowRecord::workload`.
    pub workloads: &'a [Workload],
    /// Subjects and times of the measurement.
    pub measure: &'a Measure,
    /// Whether switches pause their senders.
    pub lossless: bool,
    /// Outcome of the simulation.
    pub outcome: &'a Outcome,
    /// Which part of it counts; tables use all of it.
    pub only: Restriction<'a>,
}

/// The part of a point that a row of a figure asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Restriction<'a> {
    /// Only flows of this workload.
    pub workload: Option<&'a str>,
    /// Only the port whose name ends like this; otherwise the one with the longest mean queue.
    pub port: Option<&'a str>,
    /// Only flows of this queue class.
    pub class: Option<u8>,
}

/// Why a point has no value for a metric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// No flow of the size class ended.
    #[error("no flow of this size class has finished")]
    FinishedFlows,
    /// The workload has no measured flow.
    #[error("this workload has no measured flow")]
    MeasuredFlows,
    /// No query finished.
    #[error("no query of an incast has finished")]
    Queries,
    /// A row names a workload that the scenario does not have.
    #[error("no workload is called `{name}`; workloads: {}", known.join(", "))]
    Workload {
        /// Name in the row.
        name: String,
        /// Workloads of the scenario.
        known: Vec<String>,
    },
    /// A row names a port that the fabric does not have.
    #[error("no port has a name that ends in `{end}`; ports: {}", known.join(" "))]
    Port {
        /// End of a port's name in the row.
        end: String,
        /// The first ports of the fabric.
        known: Vec<String>,
    },
    /// Queues were not sampled.
    #[error("no queue was sampled; set queue-interval in [measure]")]
    Samples,
    /// No port was traced.
    #[error("no queue was traced; write trace = \"hottest\" in [measure]")]
    Trace,
    /// The traced port dropped nothing.
    #[error("{port} dropped nothing, so it was never full")]
    NeverFull {
        /// Its name.
        port: String,
    },
    /// There is no endless flow.
    #[error("no endless flow was measured")]
    EndlessFlows,
    /// A single endless flow shares with none.
    #[error("fairness needs two endless flows")]
    SingleFlow,
    /// No switch pauses its senders.
    #[error("no switch pauses its senders; write pfc = true in [switch]")]
    FlowControl,
    /// Endless flows delivered nothing.
    #[error("the endless flows delivered nothing")]
    NothingDelivered,
    /// The metric is of one queue class and the row names none.
    #[error("this metric is of one queue class: write class = 0 into the row")]
    Class,
    /// A share does not come near one half.
    #[error("the share of class {class} does not settle within {intervals} intervals")]
    NotSettled {
        /// The queue class.
        class: u8,
        /// Whole intervals measured.
        intervals: usize,
    },
    /// No probe was answered.
    #[error("no probe was answered")]
    Probes,
    /// No middlebox counts this.
    #[error("no middlebox counts `{0}` in this scenario")]
    EdgeCount(&'static str),
}

impl<'a> Sample<'a> {
    /// All of a point.
    pub fn new(point: &'a Point, outcome: &'a Outcome) -> Self {
        Sample {
            workloads: &point.config.workloads,
            measure: &point.config.measure,
            lossless: point.config.switch.pfc.is_some(),
            outcome,
            only: Restriction::default(),
        }
    }

    /// The measured flows that count.
    ///
    /// # Errors
    /// [`Missing::Workload`].
    pub fn flows(&self) -> Result<impl Iterator<Item = &'a FlowRecord> + use<'a>, Missing> {
        let wanted = match self.only.workload {
            None => None,
            Some(name) => {
                let found = self.workloads.iter().position(|w| w.name == name);
                Some(found.ok_or_else(|| Missing::Workload {
                    name: name.to_owned(),
                    known: self.workloads.iter().map(|w| w.name.clone()).collect(),
                })?)
            }
        };
        let class = self.only.class;
        let all = self.outcome.flows.iter();
        Ok(all.filter(move |f| {
            wanted.is_none_or(|w| usize::from(f.workload) == w)
                && class.is_none_or(|class| f.class == class)
        }))
    }

    /// Numbers of the flows whose size `has` accepts and that have one: those that ended.
    ///
    /// # Errors
    /// As [`Sample::flows`].
    pub fn of_flows(
        &self,
        has: fn(u64) -> bool,
        of: fn(&FlowRecord) -> Option<f64>,
    ) -> Result<Vec<f64>, Missing> {
        Ok(self
            .flows()?
            .filter(|f| has(f.bytes))
            .filter_map(of)
            .collect())
    }

    /// Queries of the flows that count.
    ///
    /// # Errors
    /// As [`Sample::flows`].
    pub fn queries(&self) -> Result<Vec<Query>, Missing> {
        Ok(queries(self.flows()?, self.workloads))
    }

    /// Completion times in microseconds of the queries that ended.
    ///
    /// # Errors
    /// As [`Sample::flows`].
    pub fn query_times(&self) -> Result<Vec<f64>, Missing> {
        let all = self.queries()?.into_iter();
        Ok(all
            .filter_map(|q| q.time.map(|t| t.as_micros_f64()))
            .collect())
    }

    /// The sum of a counter of the flows.
    ///
    /// # Errors
    /// [`Missing::MeasuredFlows`] without any.
    pub fn sum(&self, of: fn(&FlowRecord) -> u32) -> Result<f64, Missing> {
        let all: Vec<u32> = self.flows()?.map(of).collect();
        match all.is_empty() {
            true => Err(Missing::MeasuredFlows),
            false => Ok(all.into_iter().map(f64::from).sum()),
        }
    }

    /// The port in question.
    ///
    /// # Errors
    /// [`Missing::Port`], [`Missing::Samples`].
    pub fn port(&self) -> Result<&'a PortReport, Missing> {
        let ports = &self.outcome.ports;
        let Some(end) = self.only.port else {
            return hottest(ports).ok_or(Missing::Samples);
        };
        let found = ports.iter().find(|p| p.name.ends_with(end));
        found.ok_or_else(|| Missing::Port {
            end: end.to_owned(),
            known: ports.iter().take(20).map(|p| p.name.clone()).collect(),
        })
    }

    /// Queue lengths of the port in question, in bytes.
    ///
    /// # Errors
    /// As [`Sample::port`].
    pub fn queue(&self) -> Result<&'a Spread, Missing> {
        let queue = &self.port()?.queue;
        match queue.count {
            0 => Err(Missing::Samples),
            _ => Ok(queue),
        }
    }

    /// Round trips of probes in microseconds.
    pub fn round_trips(&self) -> Vec<f64> {
        let probes = self.outcome.probes.iter();
        probes.map(|p| p.rtt.as_micros_f64()).collect()
    }

    /// The queue class that a row names.
    ///
    /// # Errors
    /// [`Missing::Class`] without one.
    pub fn class(&self) -> Result<u8, Missing> {
        self.only.class.ok_or(Missing::Class)
    }

    /// A counter of the middleboxes.
    ///
    /// # Errors
    /// [`Missing::EdgeCount`].
    pub fn edge(&self, name: &'static str) -> Result<f64, Missing> {
        let count = self.outcome.edges.get(name);
        count.map(|n| *n as f64).ok_or(Missing::EdgeCount(name))
    }
}
