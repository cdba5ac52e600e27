// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rates and time averages of a port count from `Measure::from` to `Measure::until`, and no longer.

use crate::common::{config, us, workload};
use cemark_sim::config::{Buffering, MarkerChoice, Nic, Pfc, Policy, QueueConfig, TracePorts};
use cemark_sim::outcome::{PortReport, hottest};
use cemark_sim::topology::{Star, Topology};
use cemark_sim::workload::{FlowLine, Incast, Kind, List};
use cemark_sim::{Config, Outcome, run};
use cemark_transport::rdma::Rdma;
use cemark_wire::{Picos, Rate};

/// Two megabytes from host 0 to host 8, as long as 1.6 ms of their link, and a packet at 8 ms that
/// keeps the run going.
fn short_and_late() -> Config {
    let line = |start, bytes| FlowLine {
        start,
        src: 0,
        dst: 8,
        bytes,
        class: None,
        rtt: None,
    };
    let lines = vec![line(us(0), 2_000_000), line(us(8_000), 1_000)];
    config(
        vec![workload(Kind::List(List::from(lines)))],
        MarkerChoice::None,
    )
}

fn to_receiver(out: &Outcome) -> &PortReport {
    let mut ports = out.ports.iter();
    ports.find(|p| p.name.ends_with("->host8")).expect("a port")
}

#[test]
fn utilisation_ends_with_the_measurement() {
    let whole = run(&short_and_late());
    let mut cfg = short_and_late();
    cfg.measure.from = us(1_000);
    cfg.measure.until = us(1_500);
    let part = run(&cfg);
    let (whole, busy) = (to_receiver(&whole), to_receiver(&part));
    // 2 MB and their headers take 1.65 ms of the 8 ms.
    assert!((0.15..0.25).contains(&whole.utilisation), "{whole:?}");
    assert!(busy.utilisation > 0.95, "{busy:?}");
    // Counters are of the whole run under any window.
    assert_eq!(
        (busy.packets, busy.bytes, busy.marks, busy.drops),
        (whole.packets, whole.bytes, whole.marks, whole.drops)
    );
}

#[test]
fn queues_are_sampled_within_the_measurement_alone() {
    let mut cfg = short_and_late();
    cfg.measure.from = us(1_000);
    cfg.measure.until = us(1_500);
    let out = run(&cfg);
    assert_eq!(out.ports[0].queue.count, 26, "every 20 us, both ends");
    assert_eq!(out.ports[0].sojourn.count, 26);
    let trace = &out.traces[0].samples;
    assert_eq!(trace.first().map(|s| s.at), Some(us(1_000)));
    assert_eq!(trace.last().map(|s| s.at), Some(us(1_500)));
}

/// The window selects what is averaged and does not change the simulation.
#[test]
fn flows_and_the_end_of_the_run_do_not_depend_on_the_window() {
    let whole = run(&short_and_late());
    let mut cfg = short_and_late();
    cfg.measure.until = us(1_500);
    let part = run(&cfg);
    assert_eq!(whole.flows, part.flows);
    assert_eq!(whole.end, part.end);
    assert_eq!(whole.packet_hops, part.packet_hops);
}

/// A run whose last flow ends before the measurement begins has measured nothing: zero, not what it
/// did before.
#[test]
fn a_measurement_that_never_begins_is_zero() {
    let mut cfg = short_and_late();
    cfg.measure.from = us(20_000);
    let out = run(&cfg);
    assert!(out.end < us(20_000));
    assert!(out.ports.iter().all(|p| p.utilisation == 0.0));
    assert!(out.ports.iter().all(|p| p.queue.count == 0));
}

#[test]
fn pauses_are_shares_of_the_measurement() {
    let incast = Kind::Incast(Incast {
        from: Vec::new(),
        senders: 8,
        receiver: 0,
        min_bytes: 1_000_000,
        max_bytes: 1_000_000,
        at: us(0),
        repeat: 2,
        every: us(20_000),
        jitter: Picos::ZERO,
    });
    let mut cfg = config(vec![workload(incast)], MarkerChoice::None);
    cfg.transport.rdma = Some(Rdma::default());
    cfg.switch.queues = vec![QueueConfig {
        lossless: true,
        ..QueueConfig::PLAIN
    }];
    cfg.switch.buffering = Buffering {
        policy: Policy::Dynamic { alpha: 1 << 16 },
        pool_bytes: 1_000_000,
        headroom: 0,
    };
    cfg.switch.pfc = Some(Pfc::default());
    let share = |out: &Outcome| out.pauses.iter().map(|p| p.share).fold(0.0, f64::max);
    let whole = run(&cfg);
    // Eight megabytes take 6.5 ms; nothing is paused between the two queries.
    cfg.measure.until = us(6_000);
    let busy = run(&cfg);
    cfg.measure.from = us(12_000);
    cfg.measure.until = us(18_000);
    let quiet = run(&cfg);
    assert!(share(&whole) > 0.0);
    assert!(share(&busy) > 1.5 * share(&whole), "{:?}", busy.pauses);
    assert!(share(&busy) <= 1.0);
    assert_eq!(share(&quiet), 0.0, "{:?}", quiet.pauses);
    let frames = |out: &Outcome| out.pauses.iter().map(|p| p.frames).sum::<u64>();
    assert_eq!(
        frames(&whole),
        frames(&quiet),
        "frames are of the whole run"
    );
}

/// A flow of the links' own rate leaves every queue empty at the samples. Of equal queues the
/// busiest port is named, which the data passes and not its acknowledgements.
#[test]
fn of_empty_queues_the_busiest_port_is_the_hottest() {
    let line = FlowLine {
        start: us(0),
        src: 8,
        dst: 0,
        bytes: 14_600,
        class: None,
        rtt: None,
    };
    let mut cfg = config(
        vec![workload(Kind::List(List::from(vec![line])))],
        MarkerChoice::None,
    );
    cfg.nic = Nic::Fifo;
    cfg.measure.queue_interval = us(1_000);
    cfg.measure.trace = TracePorts::Hottest;
    for (src, dst) in [(8, 0), (0, 8)] {
        let Kind::List(List { lines, .. }) = &mut cfg.workloads[0].kind else {
            unreachable!("the list from above");
        };
        (lines[0].src, lines[0].dst) = (src, dst);
        let out = run(&cfg);
        assert!(out.ports.iter().all(|p| p.queue.mean == 0.0));
        let port = hottest(&out.ports).expect("queues were sampled");
        let most = out.ports.iter().map(|p| p.bytes).max();
        assert_eq!(Some(out.ports[port].bytes), most, "{src} to {dst}");
        assert!(out.ports[port].bytes > 14_600, "data passes it");
        assert_eq!(
            out.traces[0].port as usize, port,
            "the trace is of the same"
        );
    }
}

/// Five hosts fill the queue of one port, and the longest flow takes another. The second trace is
/// of that one, whatever the markers do to the queues.
#[test]
fn the_busiest_port_is_traced_beside_the_hottest() {
    let line = |src, dst, bytes| FlowLine {
        start: us(0),
        src,
        dst,
        bytes,
        class: None,
        rtt: None,
    };
    let mut lines = vec![line(0, 8, 2_000_000)];
    lines.extend((1..6).map(|src| line(src, 9, 100_000)));
    let mut cfg = config(
        vec![workload(Kind::List(List::from(lines)))],
        MarkerChoice::None,
    );
    // One switch: no uplink carries as much as the last link.
    cfg.topology = Topology::from(Star {
        hosts: 10,
        rate: Rate::gbps(10),
        delay: us(10),
    });
    cfg.measure.trace = TracePorts::Hottest;
    let out = run(&cfg);
    let names = |out: &Outcome| {
        out.traces
            .iter()
            .map(|t| t.name.clone())
            .collect::<Vec<_>>()
    };
    let ends = names(&out);
    assert!(ends[0].ends_with("->host9"), "{ends:?}");
    assert!(ends[1].ends_with("->host8"), "{ends:?}");
    // Where it is the hottest too, there is one trace.
    let lines = vec![line(0, 8, 2_000_000), line(1, 8, 100_000)];
    cfg.workloads = vec![workload(Kind::List(List::from(lines)))];
    let one = names(&run(&cfg));
    assert!(one.len() == 1 && one[0].ends_with("->host8"), "{one:?}");
}
