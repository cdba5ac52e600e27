// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queries of incasts. A query takes from the start of its first flow to the end of its last; while
//! one of its flows is unfinished, or has not started, the query is unfinished.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use cemark_sim::outcome::FlowRecord;
use cemark_sim::workload::{Kind, Workload};
use cemark_wire::Picos;

/// A query and its completion time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// Which workload asked.
    pub workload: u16,
    /// Number of the query in the workload, from 1.
    pub number: NonZeroU32,
    /// Start of its first flow.
    pub start: Picos,
    /// From its start to the end of its last flow; `None` while unfinished.
    pub time: Option<Picos>,
}

/// Flows of a query seen so far.
struct Seen {
    flows: u32,
    start: Picos,
    /// End of the last flow; `None` where a flow has none.
    end: Option<Picos>,
}

/// Queries of flows of these workloads, in order of workload and number. A query none of whose
/// flows is among them is left out.
pub fn queries<'a>(
    flows: impl IntoIterator<Item = &'a FlowRecord>,
    workloads: &[Workload],
) -> Vec<Query> {
    let mut all: BTreeMap<(u16, NonZeroU32), Seen> = BTreeMap::new();
    for flow in flows {
        let Some(number) = flow.query else { continue };
        let end = flow.fct.map(|fct| flow.start.saturating_add(fct));
        let seen = all.entry((flow.workload, number)).or_insert(Seen {
            flows: 0,
            start: flow.start,
            end,
        });
        seen.flows += 1;
        seen.start = seen.start.min(flow.start);
        seen.end = seen.end.zip(end).map(|(last, end)| last.max(end));
    }
    let asked = |workload: u16| match workloads.get(usize::from(workload)).map(|w| &w.kind) {
        Some(Kind::Incast(incast)) => incast.senders,
        _ => 0,
    };
    let query = |((workload, number), seen): ((u16, NonZeroU32), Seen)| Query {
        workload,
        number,
        start: seen.start,
        time: (seen.end)
            .filter(|_| seen.flows >= asked(workload))
            .map(|end| end.saturating_sub(seen.start)),
    };
    all.into_iter().map(query).collect()
}

/// Completion times in microseconds, (baseline, scheme), of the queries that finished under both.
pub fn pairs_of_queries(baseline: &[Query], scheme: &[Query]) -> Vec<(f64, f64)> {
    let key = |q: &Query| (q.workload, q.number);
    let pair = |b: &Query| {
        let same = scheme.binary_search_by_key(&key(b), key).ok()?;
        let (b, s) = (b.time?, scheme[same].time?);
        Some((b.as_micros_f64(), s.as_micros_f64()))
    };
    baseline.iter().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow of query `query`, or of none; times in microseconds.
    fn flow(id: u64, query: u32, start: u64, fct: Option<u64>) -> FlowRecord {
        FlowRecord {
            id,
            workload: 0,
            query: NonZeroU32::new(query),
            class: 0,
            src: 0,
            dst: 1,
            bytes: 1_000,
            start: Picos::from_micros(start),
            fct: fct.map(Picos::from_micros),
            ideal: Picos::from_micros(1),
            extra: Picos::ZERO,
            marks: 0,
            retransmits: 0,
            timeouts: 0,
        }
    }

    fn times(flows: &[FlowRecord], workloads: &[Workload]) -> Vec<Option<u64>> {
        let all = queries(flows, workloads);
        let micros = |q: &Query| q.time.map(|t| t.0 / 1_000_000);
        all.iter().map(micros).collect()
    }

    #[test]
    fn a_query_ends_with_its_last_flow() {
        let mut flows = [
            flow(0, 2, 100, Some(5)),
            flow(1, 1, 12, Some(20)),
            flow(2, 0, 0, Some(500)),
            flow(3, 1, 10, Some(3)),
            flow(4, 1, 11, Some(22)),
        ];
        // From 10 to 33, and from 100 to 105.
        assert_eq!(times(&flows, &[]), [Some(23), Some(5)]);
        flows[3].fct = None;
        assert_eq!(times(&flows, &[]), [None, Some(5)]);
        assert!(queries(&flows[2..3], &[]).is_empty());
    }

    #[test]
    fn a_query_whose_flows_have_not_all_started_is_unfinished() {
        let incast = cemark_sim::workload::Incast {
            senders: 3,
            receiver: 1,
            min_bytes: 1_000,
            max_bytes: 1_000,
            at: Picos::ZERO,
            repeat: 1,
            every: Picos::ZERO,
            jitter: Picos::from_micros(100),
            from: Vec::new(),
        };
        let workload = Workload {
            name: "incast".to_owned(),
            kind: incast.into(),
            class: cemark_sim::workload::ClassMap::Fixed(0),
            persistent: false,
            transport: None,
        };
        let flows: Vec<_> = (0..3).map(|id| flow(id, 1, id, Some(9))).collect();
        let asked = [workload];
        assert_eq!(times(&flows[..2], &asked), [None]);
        assert_eq!(times(&flows, &asked), [Some(11)]);
    }

    #[test]
    fn pairs_are_queries_that_finished_under_both() {
        let of = |times: [Option<u64>; 3]| {
            let flows = (1..).zip(times).map(|(n, t)| flow(u64::from(n), n, 0, t));
            queries(&flows.collect::<Vec<_>>(), &[])
        };
        let (a, b) = (
            of([Some(1), None, Some(3)]),
            of([Some(2), Some(2), Some(6)]),
        );
        assert_eq!(pairs_of_queries(&a, &b), [(1.0, 2.0), (3.0, 6.0)]);
        assert_eq!(pairs_of_queries(&b[1..2], &a), []);
    }
}
