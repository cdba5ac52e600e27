// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows that start because others have ended.

use cemark_sim::config::Config;
use cemark_sim::outcome::FlowRecord;
use cemark_sim::workload::{After, FlowLine, Kind, List};
use cemark_sim::{Outcome, run, shards};
use cemark_wire::Picos;

use crate::common::{config, scheme, us, web_that_stops, workload};

const STEPS: u32 = 6;
const HOSTS: u32 = 4;
const DELAY: u64 = 3;

/// A ring of hosts passes a block on: in each step every host sends to the next once it has the
/// block of the step before. Flows of the first step start at 10 us.
fn ring() -> Kind {
    let line = |i: u32| FlowLine {
        start: us(if i < HOSTS { 10 } else { DELAY }),
        src: i % HOSTS,
        dst: (i + 1) % HOSTS,
        bytes: 50_000 + 7_000 * u64::from(i % 5),
        class: None,
        rtt: None,
    };
    let wait = |flow: u32| After {
        flow,
        ended: flow - HOSTS - flow % HOSTS + (flow + HOSTS - 1) % HOSTS,
    };
    Kind::List(List {
        lines: (0..STEPS * HOSTS).map(line).collect(),
        after: (HOSTS..STEPS * HOSTS).map(wait).collect(),
    })
}

fn end(flow: &FlowRecord) -> Picos {
    flow.start + flow.fct.expect("the flow has ended")
}

fn of_ring(outcome: &Outcome) -> &[FlowRecord] {
    &outcome.flows[..(STEPS * HOSTS) as usize]
}

fn chain(k: u64) -> Config {
    let mut cfg = config(
        vec![workload(ring()), web_that_stops(0.3, 40)],
        scheme("threshold", &[("k", k)]),
    );
    cfg.seed = 7;
    cfg
}

/// Each flow has the number of its place, starts a delay after the flow that it waits for, and no
/// other flow is lost or disturbed by events for one start.
#[test]
fn each_starts_after_the_flow_that_it_waits_for() {
    let cfg = chain(100_000);
    let outcome = run(&cfg);
    assert_eq!(outcome.flows.len(), (STEPS * HOSTS) as usize + 40);
    let Kind::List(List { lines, after }) = &cfg.workloads[0].kind else {
        panic!("a chain");
    };
    let ring = of_ring(&outcome);
    for (flow, line) in ring.iter().zip(lines) {
        assert_eq!(
            (flow.src, flow.dst, flow.bytes),
            (line.src, line.dst, line.bytes)
        );
    }
    assert!(ring[..HOSTS as usize].iter().all(|f| f.start == us(10)));
    for of in after {
        let (flow, before) = (&ring[of.flow as usize], &ring[of.ended as usize]);
        assert_eq!(flow.start, end(before) + us(DELAY), "{flow:?}");
        assert_eq!(before.dst, flow.src, "the receiver sends next");
    }
    assert!(
        outcome.flows[ring.len()..]
            .windows(2)
            .all(|f| f[0].start <= f[1].start)
    );
    assert_eq!(run(&cfg).digest, outcome.digest);
}

/// Other schemes have the same flows under the same numbers, at other times.
#[test]
fn numbers_are_those_of_the_list_under_every_scheme() {
    let [a, b] = [100_000, 1_500].map(|k| run(&chain(k)));
    let known = |o: &Outcome| -> Vec<(u64, u32, u32, u64)> {
        o.flows
            .iter()
            .map(|f| (f.id, f.src, f.dst, f.bytes))
            .collect()
    };
    assert_eq!(known(&a), known(&b));
    let starts = |o: &Outcome| -> Vec<Picos> { o.flows.iter().map(|f| f.start).collect() };
    let ring = (STEPS * HOSTS) as usize;
    assert_eq!(starts(&a)[ring..], starts(&b)[ring..]);
    assert_ne!(starts(&a)[..ring], starts(&b)[..ring]);
}

/// A flow that waits for several starts after the last of them; a point with such flows is not
/// divided.
#[test]
fn the_last_end_counts() {
    let line = |start, src, bytes| FlowLine {
        start: us(start),
        src,
        dst: 3,
        bytes,
        class: None,
        rtt: None,
    };
    let lines = vec![line(0, 0, 1_000), line(0, 0, 900_000), line(5, 1, 200_000)];
    let after = [1, 2].map(|ended| After { flow: 0, ended }).to_vec();
    let cfg = config(
        vec![workload(Kind::List(List { lines, after }))],
        scheme("tcn", &[]),
    );
    let outcome = run(&cfg);
    let last = end(&outcome.flows[1]).max(end(&outcome.flows[2]));
    assert_eq!(outcome.flows[0].start, last);
    assert_eq!(
        shards::obstacle(&cfg),
        Some("some of its flows start because others have ended")
    );
    assert_eq!(shards::most_shards(&cfg), 1);
}
