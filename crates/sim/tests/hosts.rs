// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts that process packets in bunches, and the bunches that a switch sees.
#![allow(missing_docs)]

use crate::common::{config, scheme, us, workload};
use cemark_sim::config::{Config, MarkerChoice, Offload, TracePorts};
use cemark_sim::outcome::Outcome;
use cemark_sim::run;
use cemark_sim::topology::{Dumbbell, Star, Topology};
use cemark_sim::workload::{FlowLine, Kind, List, Long, LongFlows};
use cemark_transport::Control;
use cemark_transport::cc::dctcp::DctcpConfig;
use cemark_wire::{Nanos, Picos, Rate};

const KB64: u32 = 64_000;

/// Two endless flows into one 10 Gb/s link, base RTT 100 us, for 100 ms of which the first 20 do
/// not count.
fn two_flows(control: Control, marker: MarkerChoice, offload: Offload) -> Config {
    let long = workload(Kind::Long(Long {
        flows: LongFlows::Pairs(vec![(0, 2), (1, 2)]),
        at: Picos::ZERO,
        stagger: Picos::ZERO,
        jitter: us(100),
    }));
    let mut c = config(vec![long], marker);
    c.topology = Topology::from(Star {
        hosts: 3,
        rate: Rate::gbps(10),
        delay: us(25),
    });
    c.switch.buffer_bytes = 4_000_000;
    c.transport.control = control;
    c.offload = offload;
    c.measure.queue_interval = us(1);
    c.measure.trace = TracePorts::ToHosts(vec![2]);
    c.measure.from = us(20_000);
    c.measure.until = us(100_000);
    c.max_time = us(100_000);
    c
}

fn used(o: &Outcome) -> f64 {
    let bytes: u64 = o.long_flows.iter().map(|l| l.delivered).sum();
    bytes as f64 * 8.0 / 0.08 / 1e10 * 1500.0 / 1460.0
}

fn trains() -> Offload {
    Offload {
        tso: KB64,
        coalesce: Nanos::from_micros(20),
        gro: true,
        ..Offload::NONE
    }
}

fn dctcp() -> Control {
    let config = DctcpConfig {
        alpha_init: 0,
        ..DctcpConfig::default()
    };
    config.control()
}

/// CEDM's observation (slides, underflow): thresholds that suffice for smooth senders lose
/// throughput under bursts, and only then.
#[test]
fn bursts_empty_the_queue_at_a_threshold_that_smooth_senders_fill() {
    let step = |packets: u64| scheme("threshold", &[("k", packets * 1500)]);
    for (control, k) in [(dctcp(), 14), (Control::ECN_STAR, 84)] {
        let smooth = used(&run(&two_flows(control, step(k), Offload::NONE)));
        let bursty = used(&run(&two_flows(control, step(k), trains())));
        assert!(smooth > 0.985, "{control:?} {smooth}");
        assert!(bursty < smooth - 0.01, "{control:?} {bursty} of {smooth}");
        let high = used(&run(&two_flows(control, step(10 * k), trains())));
        assert!(high > 0.99, "a high threshold hides it: {high}");
    }
}

/// An endless flow from a 10 Gb/s host over a 1 Gb/s link, base RTT 2 ms, with a window of 200 KB
/// that the path of 250 KB holds.
fn one_flow(offload: Offload, pacing: bool, pace_train: u32) -> Config {
    let mut c = two_flows(Control::RENO, MarkerChoice::None, offload);
    let long = workload(Kind::Long(Long {
        flows: LongFlows::Pairs(vec![(0, 1)]),
        at: Picos::ZERO,
        stagger: Picos::ZERO,
        jitter: Picos::ZERO,
    }));
    c.workloads = vec![long];
    c.topology = Topology::from(Dumbbell {
        left: 1,
        right: 1,
        host_rate: Rate::gbps(10),
        middle_rate: Rate::gbps(1),
        host_delay: us(1),
        middle_delay: us(998),
    });
    c.measure.trace = TracePorts::Hottest;
    c.transport.receive_window = 200_000;
    c.transport.pacing = pacing;
    c.transport.pace_train = pace_train;
    c
}

#[test]
fn a_train_arrives_at_line_rate_and_pacing_takes_it_apart() {
    let deepest = |offload: Offload, pacing: bool, train: u32| {
        let o = run(&one_flow(offload, pacing, train));
        assert_eq!(o.totals.all_drops(), 0);
        o.ports.iter().map(|p| p.queue.max).fold(0.0, f64::max)
    };
    let tso = Offload {
        tso: KB64,
        ..Offload::NONE
    };
    // The ACK clock spaces a smooth sender as the slow link did.
    let smooth = deepest(Offload::NONE, false, 0);
    // 64 KB are 43 packets, which arrive in 51.6 us; the link sends four meanwhile, and one is on
    // its way: 37 wait.
    let train = deepest(tso, false, 0);
    // A trace records at each instant the backlog and the time to drain it: bytes x 8 ns at 1 Gb/s,
    // and the rest of the packet in transmission.
    let o = run(&one_flow(tso, false, 0));
    let samples = &o.traces[0].samples;
    assert!(samples.iter().any(|s| s.bytes > 54_000));
    for s in samples {
        let rest = s.wait.0.checked_sub(u64::from(s.bytes) * 8);
        assert!(rest.is_some_and(|rest| rest <= 12_000), "{s:?}");
    }
    // Pacing by TCP spaces trains, which stay whole; pacing by the NIC splits them.
    let tcp = deepest(tso, true, KB64);
    let nic = deepest(tso, true, 0);
    assert!(smooth <= 3_000.0, "{smooth}");
    assert!((54_000.0..58_000.0).contains(&train), "{train}");
    assert!((54_000.0..58_000.0).contains(&tcp), "{tcp}");
    assert!(nic <= 3_000.0, "{nic}");
}

#[test]
fn what_is_handled_together_is_answered_together() {
    let answers = |offload: Offload, ack_every: u32| {
        let mut c = two_flows(dctcp(), MarkerChoice::None, offload);
        c.transport.receive_window = 100_000;
        c.transport.ack_every = ack_every;
        let o = run(&c);
        assert_eq!(o.totals.retransmits, 0);
        let mut ports = o.ports.iter().filter(|p| p.packets > 0);
        let data = ports
            .find(|p| p.name.ends_with("host2"))
            .map_or(0, |p| p.packets);
        (data, o.totals.sent - data, used(&o))
    };
    let (data, acks, full) = answers(Offload::NONE, 1);
    assert!(
        full > 0.999 && acks.abs_diff(data) < 200,
        "an ACK for each: {acks} of {data}"
    );
    let alone = Offload {
        gro: true,
        ..Offload::NONE
    };
    assert_eq!(
        answers(alone, 1),
        (data, acks, full),
        "no bunch, nothing to gather"
    );
    let coalesce = Offload {
        coalesce: Nanos::from_micros(20),
        ..Offload::NONE
    };
    let (data, acks, full) = answers(coalesce, 1);
    // Waiting at both ends makes the round trip longer, so two windows of 100 KB still fill the
    // link.
    assert!(
        full > 0.99 && acks.abs_diff(data) < 200,
        "compressed, but as many: {acks} of {data}"
    );
    let (data, acks, full) = answers(
        Offload {
            gro: true,
            ..coalesce
        },
        2,
    );
    // 20 us are 16 packets of two flows, in turn: bunches of about eight.
    let bunch = data as f64 / acks as f64;
    assert!(full > 0.99 && (6.0..17.0).contains(&bunch), "{bunch}");
}

#[test]
fn a_coalesced_packet_waits_for_the_interrupt_or_the_count() {
    // One packet and its ACK: 4 x 25 us and four packet times; then the waits at both ends.
    let fct = |offload: Offload| {
        let mut c = two_flows(dctcp(), MarkerChoice::None, offload);
        c.workloads = vec![workload(Kind::List(List::from(vec![FlowLine {
            start: Picos::ZERO,
            src: 0,
            dst: 2,
            bytes: 14_600,
            class: None,
            rtt: None,
        }])))];
        c.transport.init_window = 10;
        run(&c).flows[0].fct.expect("it ends").0
    };
    let base = fct(Offload::NONE);
    let wait = |us: u64, packets: u32| Offload {
        coalesce: Nanos::from_micros(us),
        coalesce_packets: packets,
        ..Offload::NONE
    };
    // Ten packets arrive within 10.8 us of each other: the interrupt comes 50 us after the first.
    assert_eq!(fct(wait(50, 64)), base - 9 * 1_200_000 + 50_000_000);
    // The tenth ends the wait.
    assert_eq!(fct(wait(50, 10)), base);
    // Without bunches there is nothing to answer together.
    let alone = Offload {
        gro: true,
        ..Offload::NONE
    };
    assert_eq!(fct(alone), base);
}

#[test]
fn jumbo_frames_are_a_segment_size() {
    let fct = |mss: u16| {
        let mut c = two_flows(dctcp(), MarkerChoice::None, Offload::NONE);
        c.transport.mss = mss;
        c.transport.init_window = 10_000;
        c.workloads = vec![workload(Kind::List(List::from(vec![FlowLine {
            start: Picos::ZERO,
            src: 0,
            dst: 2,
            bytes: 8_960_000,
            class: None,
            rtt: None,
        }])))];
        let o = run(&c);
        assert_eq!(o.flows[0].fct, Some(o.flows[0].ideal));
        (o.flows[0].ideal.0, o.totals.sent)
    };
    // 1,000 packets of 9,000 bytes at 800 ps a byte, the last once more on the second link, 50 us
    // of wire.
    assert_eq!(
        fct(8_960),
        (9_000_000 * 800 + 9_000 * 800 + 50_000_000, 2_000)
    );
    let (small, packets) = fct(1_460);
    assert!(small > fct(8_960).0 && packets > 12_000);
}
