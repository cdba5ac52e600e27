// SPDX-License-Identifier: MIT OR Apache-2.0
//! The metrics, one entry each. Those with a column come first, in the order in which the JSON
//! document lists them.

use std::borrow::Cow;

use cemark_sim::outcome::{EDGE_COUNTS, FlowRecord, most_paused};

use super::endless::{self, Flow};
use super::full::{self, Full};
use super::{
    Better, Cells, Column, Conversion, InFigures, Metric, Missing, Rank, Sample, Subject, Topic,
    Unit, Value,
};
use crate::stats::{self, SizeClass, Statistic};

const MEAN: Statistic = Statistic::Mean;
const P50: Statistic = Statistic::Percentile(0.50);
const P95: Statistic = Statistic::Percentile(0.95);
const P99: Statistic = Statistic::Percentile(0.99);

pub(super) fn metrics() -> Vec<Metric> {
    let mut all = of_flows();
    all.extend(of_slowdowns());
    all.extend(of_queries());
    all.extend(of_shares());
    all.extend(of_ports_and_senders());
    all.extend(counters());
    all.extend(of_figures());
    all
}

/// Completion times that schemes are compared by.
fn of_flows() -> Vec<Metric> {
    use Topic::{AllFlows, Classes};
    vec![
        OVERALL.metric("overall.mean", MEAN).column(Column {
            terminal: true,
            report: true,
            bar: Some("overall mean"),
            sentence: Some((AllFlows, "the mean FCT")),
            field: Some("fct_us.all.mean"),
            ..compared("overall", "mean")
        }),
        OVERALL.metric("overall.p99", P99).column(Column {
            field: Some("fct_us.all.p99"),
            ..compared("overall", "p99")
        }),
        SHORT.metric("short.mean", MEAN).column(Column {
            terminal: true,
            report: true,
            bar: Some("short mean"),
            sentence: Some((Classes, "short flows' mean FCT")),
            field: Some("fct_us.short.mean"),
            ..compared("short < 100 KB", "mean")
        }),
        SHORT.metric("short.p99", P99).column(Column {
            terminal: true,
            report: true,
            bar: Some("short p99"),
            sentence: Some((Classes, "short flows' p99 FCT")),
            field: Some("fct_us.short.p99"),
            ..compared("short < 100 KB", "p99")
        }),
        MEDIUM.metric("medium.mean", MEAN).column(Column {
            terminal: true,
            report: true,
            bar: Some("medium mean"),
            field: Some("fct_us.medium.mean"),
            ..compared("medium", "mean")
        }),
        MEDIUM.metric("medium.p99", P99).column(Column {
            field: Some("fct_us.medium.p99"),
            ..compared("medium", "p99")
        }),
        LARGE.metric("large.mean", MEAN).column(Column {
            terminal: true,
            report: true,
            bar: Some("large mean"),
            sentence: Some((Classes, "large flows' mean FCT")),
            field: Some("fct_us.large.mean"),
            ..compared("large > 10 MB", "mean")
        }),
        LARGE.metric("large.p99", P99).column(Column {
            bar: Some("large p99"),
            field: Some("fct_us.large.p99"),
            ..compared("large > 10 MB", "p99")
        }),
    ]
}

/// Slowdowns that schemes are compared by.
fn of_slowdowns() -> Vec<Metric> {
    vec![
        OVERALL
            .slowdown("slowdown.overall.mean", MEAN)
            .column(Column {
                field: Some("slowdown.all.mean"),
                ..compared("slowdown", "mean")
            }),
        OVERALL
            .slowdown("slowdown.overall.p99", P99)
            .column(Column {
                field: Some("slowdown.all.p99"),
                ..compared("slowdown", "p99")
            }),
    ]
}

/// Completion times of queries of incasts.
fn of_queries() -> Vec<Metric> {
    let of = |key, statistic| Metric {
        value: Value::Queries(statistic),
        ..point(key, Unit::Micros, Subject::Queries, |_| {
            Err(Missing::Queries)
        })
    };
    let shown = |what| Column {
        terminal: true,
        report: true,
        ..compared("query time", what)
    };
    vec![
        of("query.mean", MEAN)
            .doc(
                "Mean completion time of the queries of incasts: from the start of a query's first \
                 flow to the end of its last.",
            )
            .column(Column {
                field: Some("query_us.mean"),
                ..shown("mean")
            }),
        of("query.p50", P50)
            .doc("Median completion time of queries.")
            .column(Column {
                field: Some("query_us.p50"),
                ..compared("query time", "p50")
            }),
        of("query.p99", P99)
            .doc("99th percentile of the completion time of queries.")
            .column(Column {
                field: Some("query_us.p99"),
                ..shown("p99")
            }),
    ]
}

/// Everything else that schemes are compared by.
fn of_ports_and_senders() -> Vec<Metric> {
    use Topic::Rest;
    vec![
        Metric {
            in_figures: PACKETS,
            ..point("queue.mean", Unit::Bytes, Subject::Port, |s| {
                Ok(s.queue()?.mean)
            })
        }
        .doc("Mean queue length of the port with the longest mean queue.")
        .column(Column {
            terminal: true,
            report: true,
            sentence: Some((Rest, "the mean queue at the hottest port")),
            field: Some("hottest_port.queue_mean_bytes"),
            ..compared("queue, hottest port", "mean")
        }),
        Metric {
            in_figures: PACKETS,
            rank: Some(Rank {
                share: 0.99,
                values: samples,
            }),
            ..point("queue.p99", Unit::Bytes, Subject::Port, |s| {
                Ok(s.queue()?.p99)
            })
        }
        .doc("99th percentile of that port's queue length.")
        .column(Column {
            terminal: true,
            report: true,
            field: Some("hottest_port.queue_p99_bytes"),
            ..compared("queue, hottest port", "p99")
        }),
        Metric {
            better: Better::More,
            in_figures: Some(InFigures {
                unit: "Mb/s",
                value: Conversion::Instead(endless::goodput_in_figures),
            }),
            ..point(
                "goodput",
                Unit::BitsPerSecond,
                Subject::EndlessFlows,
                endless::goodput,
            )
        }
        .doc("Payload of all endless flows that arrived; in figures of those of the row's `class`.")
        .column(Column {
            terminal: true,
            report: true,
            sentence: Some((Rest, "the goodput of endless flows")),
            field: Some("long_goodput_bps"),
            ..compared("goodput", "sum")
        }),
        Metric {
            alias: Some("rtt.mean"),
            ..point("probe.mean", Unit::Micros, Subject::Probes, |s| {
                probes(s, MEAN)
            })
        }
        .doc("Mean round trip of probes.")
        .column(Column {
            terminal: true,
            report: true,
            sentence: Some((Rest, "the mean round trip of probes")),
            field: Some("probe_rtt_us.mean"),
            ..compared("probe round trip", "mean")
        }),
        Metric {
            alias: Some("rtt.p99"),
            rank: Some(Rank {
                share: 0.99,
                values: answers,
            }),
            ..point("probe.p99", Unit::Micros, Subject::Probes, |s| {
                probes(s, P99)
            })
        }
        .doc("99th percentile of the round trips of probes.")
        .column(Column {
            terminal: true,
            report: true,
            field: Some("probe_rtt_us.p99"),
            ..compared("probe round trip", "p99")
        }),
    ]
}

/// How flows share a link, and for how long ports are paused.
fn of_shares() -> Vec<Metric> {
    vec![
        point(
            "fairness",
            Unit::Index,
            Subject::EndlessFlows,
            endless::fairness,
        )
        .better(Better::More)
        .doc(
            "Jain's index of the goodput of all endless flows, 1 where all are equal and 1/n where \
             one of n has all; in figures of those of the row's `class`.",
        )
        .column(Column {
            terminal: true,
            report: true,
            ..compared("fairness", "index")
        }),
        point("pause.share", Unit::Percent, Subject::Network, |s| {
            let worst = most_paused(&s.outcome.pauses).map_or(0.0, |p| 100.0 * p.share);
            s.lossless.then_some(worst).ok_or(Missing::FlowControl)
        })
        .doc("Share of the measured time in which the most paused port (or NIC) was paused.")
        .column(Column {
            terminal: true,
            report: true,
            ..compared("pause, worst port", "share")
        }),
    ]
}

/// Counters, shown as sums over seeds.
fn counters() -> Vec<Metric> {
    vec![
        count("marks", "packets", |s| {
            Ok(s.outcome.totals.all_marks() as f64)
        })
        .doc("Packets that switches marked (CE written).")
        .better(Better::Neither)
        .column(Column {
            terminal: true,
            field: Some("marks"),
            ..counted("marks")
        }),
        count("drops", "packets", |s| {
            Ok(s.outcome.totals.all_drops() as f64)
        })
        .doc("Packets discarded, for any reason.")
        .column(Column {
            terminal: true,
            field: Some("drops"),
            ..counted("drops")
        }),
        count("timeouts", "timeouts", |s| match s.only.workload {
            None => Ok(s.outcome.totals.timeouts as f64),
            Some(_) => s.sum(|f| f.timeouts),
        })
        .doc("Retransmission timeouts of all flows; in figures of the row's `workload`.")
        .column(Column {
            terminal: true,
            field: Some("timeouts"),
            ..counted("timeouts")
        }),
        count("retransmissions", "segments", |s| {
            Ok(s.outcome.totals.retransmits as f64)
        })
        .doc("Segments retransmitted by all flows.")
        .column(Column {
            field: Some("retransmissions"),
            ..counted("sent again")
        }),
    ]
}

/// Metrics without a column: of `measures`, `metrics.parquet` and rows of figures.
fn of_figures() -> Vec<Metric> {
    let mut all = vec![
        OVERALL.metric("overall.p50", P50),
        OVERALL.metric("overall.p95", P95),
        SHORT.metric("short.p50", P50),
        SHORT.metric("short.p95", P95),
        MEDIUM.metric("medium.p50", P50),
        MEDIUM.metric("medium.p95", P95),
        LARGE.metric("large.p50", P50),
        LARGE.metric("large.p95", P95),
        NOT_SHORT.metric("not-short.mean", MEAN),
        NOT_SHORT.metric("not-short.p50", P50),
        NOT_SHORT.metric("not-short.p95", P95),
        NOT_SHORT.metric("not-short.p99", P99),
        OVERALL.slowdown("slowdown.overall.p50", P50),
        OVERALL.slowdown("slowdown.overall.p95", P95),
        SHORT.slowdown("slowdown.short.mean", MEAN),
        SHORT.slowdown("slowdown.short.p50", P50),
        SHORT.slowdown("slowdown.short.p95", P95),
        SHORT.slowdown("slowdown.short.p99", P99),
        MEDIUM.slowdown("slowdown.medium.mean", MEAN),
        MEDIUM.slowdown("slowdown.medium.p50", P50),
        MEDIUM.slowdown("slowdown.medium.p95", P95),
        MEDIUM.slowdown("slowdown.medium.p99", P99),
        LARGE.slowdown("slowdown.large.mean", MEAN),
        LARGE.slowdown("slowdown.large.p50", P50),
        LARGE.slowdown("slowdown.large.p95", P95),
        LARGE.slowdown("slowdown.large.p99", P99),
        queue("queue.p50", |s| Ok(s.queue()?.p50)).doc("Median of that port's queue length."),
        queue("queue.min", |s| Ok(s.queue()?.min)).doc("Its shortest queue."),
        queue("queue.max", |s| Ok(s.queue()?.max)).doc("Its longest queue."),
        queue("queue.swing", |s| Ok(s.queue()?.max - s.queue()?.min))
            .doc("Its longest queue less its shortest."),
        point("utilisation", Unit::Percent, Subject::Port, |s| {
            Ok(100.0 * s.port()?.utilisation)
        })
        .doc("Share of the time in which that port's link was in use.")
        .better(Better::More),
        full("full.first", Full::First)
            .doc("Time from the start of the run until the traced queue is full."),
        full("full.for", Full::For).doc("How long it stays full that first time."),
        full("full.longest", Full::Longest).doc("The longest time that it stays full."),
        Metric {
            alias: Some("rtt.p50"),
            ..point("probe.p50", Unit::Micros, Subject::Probes, |s| {
                probes(s, P50)
            })
        }
        .doc("Median round trip of probes."),
        Metric {
            alias: Some("rtt.p95"),
            rank: Some(Rank {
                share: 0.95,
                values: answers,
            }),
            ..point("probe.p95", Unit::Micros, Subject::Probes, |s| {
                probes(s, P95)
            })
        }
        .doc("95th percentile of the round trips of probes."),
        count("lost", "segments", |s| s.sum(|f| f.retransmits))
            .doc("Segments that the measured flows (of the row's `workload`) retransmitted."),
        point(
            "share",
            Unit::Percent,
            Subject::EndlessFlows,
            endless::share,
        )
        .doc("Share of the payload of all endless flows that those of the row's `class` got.")
        .better(Better::Neither),
        point(
            "settling",
            Unit::Millis,
            Subject::EndlessFlows,
            endless::settling,
        )
        .doc("Time until that share stays within a tenth of one half."),
    ];
    all.extend(delivered());
    all.extend(EDGE_COUNTS.iter().map(|name| Metric {
        key: Cow::Owned(format!("edge.{name}")),
        better: Better::Neither,
        value: Value::Edge(name),
        ..count("edge", "as counted", |_| Err(Missing::EdgeCount("edge")))
    }));
    all
}

/// Payload of endless flows.
fn delivered() -> Vec<Metric> {
    let of = |key, value| point(key, Unit::Megabytes, Subject::EndlessFlows, value);
    let all = [
        of("delivered", |s| endless::delivered(s, Flow::All))
            .doc("Payload that all endless flows delivered in order."),
        of("delivered.min", |s| endless::delivered(s, Flow::Min))
            .doc("Payload of the endless flow that delivered least."),
        of("delivered.p50", |s| endless::delivered(s, Flow::P50))
            .doc("Payload of the median endless flow."),
        of("delivered.max", |s| endless::delivered(s, Flow::Max))
            .doc("Payload of the endless flow that delivered most."),
        of("delivered.last", |s| endless::delivered(s, Flow::Last))
            .doc("Payload of the last endless flow in order of id."),
        of("delivered.mean", |s| endless::delivered(s, Flow::Others))
            .doc("Mean payload of all endless flows but the last."),
        Metric {
            unit: Unit::Percent,
            ..of("delivered.last-of-fair", |s| {
                endless::delivered(s, Flow::LastOfFair)
            })
        }
        .doc("Payload of the last endless flow in percent of the mean of all."),
    ];
    all.map(|metric| metric.better(Better::More)).into()
}

/// Flows of a size class.
struct Class {
    /// Which flows, for documents.
    words: &'static str,
    has: fn(u64) -> bool,
    published: bool,
}

const OVERALL: Class = Class {
    words: "all flows",
    has: |bytes| SizeClass::All.has(bytes),
    published: true,
};
const SHORT: Class = Class {
    words: "flows below 100 KB",
    has: |bytes| SizeClass::Short.has(bytes),
    published: true,
};
const MEDIUM: Class = Class {
    words: "flows from 100 KB to 10 MB",
    has: |bytes| SizeClass::Medium.has(bytes),
    published: true,
};
const LARGE: Class = Class {
    words: "flows above 10 MB",
    has: |bytes| SizeClass::Large.has(bytes),
    published: true,
};
const NOT_SHORT: Class = Class {
    words: "flows from 100 KB on",
    has: |bytes| !SizeClass::Short.has(bytes),
    published: false,
};

impl Class {
    /// A statistic of the completion times.
    fn metric(&self, key: &'static str, statistic: Statistic) -> Metric {
        Metric {
            published: self.published,
            ..self.of_each(key, Unit::Micros, stats::fct, statistic)
        }
    }

    /// A statistic of the slowdowns.
    fn slowdown(&self, key: &'static str, statistic: Statistic) -> Metric {
        self.of_each(key, Unit::Slowdown, stats::slowdown, statistic)
    }

    fn of_each(
        &self,
        key: &'static str,
        unit: Unit,
        of: fn(&FlowRecord) -> Option<f64>,
        statistic: Statistic,
    ) -> Metric {
        let number = match unit {
            Unit::Slowdown => "slowdown",
            _ => "completion time",
        };
        let what = match statistic {
            Statistic::Mean => "Mean".to_owned(),
            Statistic::Percentile(0.5) => "Median".to_owned(),
            Statistic::Percentile(p) => format!("{:.0}th percentile of the", 100.0 * p),
        };
        Metric {
            doc: Cow::Owned(format!("{what} {number} of {}.", self.words)),
            value: Value::Flows {
                has: self.has,
                of,
                statistic,
            },
            ..point(key, unit, Subject::Flows, |_| Err(Missing::FinishedFlows))
        }
    }
}

/// Papers count queues in packets of 1500 bytes.
const PACKETS: Option<InFigures> = Some(InFigures {
    unit: "packets of 1500 bytes",
    value: Conversion::Times(1.0 / 1500.0),
});

fn probes(sample: &Sample<'_>, statistic: Statistic) -> Result<f64, Missing> {
    statistic.of(&sample.round_trips()).ok_or(Missing::Probes)
}

/// Probes that were answered.
fn answers(sample: &Sample<'_>) -> u64 {
    sample.outcome.probes.len() as u64
}

/// Samples of the port's queue.
fn samples(sample: &Sample<'_>) -> u64 {
    sample.queue().map_or(0, |queue| queue.count)
}

fn queue(key: &'static str, of: fn(&Sample<'_>) -> Result<f64, Missing>) -> Metric {
    Metric {
        in_figures: PACKETS,
        ..point(key, Unit::Bytes, Subject::Port, of)
    }
}

fn full(key: &'static str, what: Full) -> Metric {
    let value = match what {
        Full::First => |s: &Sample<'_>| full::milliseconds(s.outcome, Full::First),
        Full::For => |s: &Sample<'_>| full::milliseconds(s.outcome, Full::For),
        Full::Longest => |s: &Sample<'_>| full::milliseconds(s.outcome, Full::Longest),
    };
    point(key, Unit::Millis, Subject::Port, value).better(Better::Neither)
}

fn count(
    key: &'static str,
    what: &'static str,
    of: fn(&Sample<'_>) -> Result<f64, Missing>,
) -> Metric {
    point(key, Unit::Count(what), Subject::Network, of)
}

/// A metric of one number a point, less being better, without a column.
fn point(
    key: &'static str,
    unit: Unit,
    subject: Subject,
    of: fn(&Sample<'_>) -> Result<f64, Missing>,
) -> Metric {
    Metric {
        key: Cow::Borrowed(key),
        alias: None,
        doc: Cow::Borrowed(""),
        unit,
        better: Better::Less,
        subject,
        value: Value::Point(of),
        rank: None,
        in_figures: None,
        column: None,
        published: false,
    }
}

impl Metric {
    fn doc(self, doc: &'static str) -> Self {
        Metric {
            doc: Cow::Borrowed(doc),
            ..self
        }
    }

    fn better(self, better: Better) -> Self {
        Metric { better, ..self }
    }

    fn column(self, column: Column) -> Self {
        Metric {
            column: Some(column),
            ..self
        }
    }
}

/// A column that compares schemes, shown nowhere but in JSON and Parquet.
const fn compared(first: &'static str, second: &'static str) -> Column {
    Column {
        heading: (first, second),
        cells: Cells::Comparison,
        terminal: false,
        report: false,
        bar: None,
        sentence: None,
        field: None,
    }
}

/// A column of sums over seeds, in the report.
const fn counted(heading: &'static str) -> Column {
    Column {
        cells: Cells::Sum,
        report: true,
        ..compared("", heading)
    }
}
