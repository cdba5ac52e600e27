// SPDX-License-Identifier: MIT OR Apache-2.0
//! Features of other simulators that cemark has on request: a device queue below the marker, a
//! buffer that counts packets, a cap of segments for each ACK, other ends of a completion time,
//! RTTs by sender.

use crate::common::{config, scheme, us, workload};
use cemark_sim::config::{DeviceQueue, Fct, MarkerChoice, Nic, QueueConfig, SchedulerKind};
use cemark_sim::topology::{Star, Topology};
use cemark_sim::workload::{FlowLine, Kind, List, RttModel};
use cemark_sim::{Config, Outcome, run};
use cemark_wire::{Picos, Rate};

/// A full packet at 10 Gb/s.
const PACKET: u64 = 1_200;

fn line(src: u32, bytes: u64) -> FlowLine {
    FlowLine {
        start: Picos::ZERO,
        src,
        dst: 3,
        bytes,
        class: None,
        rtt: None,
    }
}

/// Flows to host 3 of a star with 5 us links; their hosts send whole windows at once.
fn star(lines: Vec<FlowLine>, marker: MarkerChoice) -> Config {
    let mut c = config(vec![workload(Kind::List(List::from(lines)))], marker);
    c.topology = Topology::from(Star {
        hosts: 4,
        rate: Rate::gbps(10),
        delay: us(5),
    });
    c.nic = Nic::Fifo;
    c.transport.init_window = 40;
    c.transport.sack = false;
    c
}

/// Three windows of 40 packets meet at one port.
fn burst(marker: MarkerChoice) -> Config {
    star((0..3).map(|src| line(src, 292_000)).collect(), marker)
}

fn device(packets: u32) -> DeviceQueue {
    DeviceQueue { packets, bytes: 0 }
}

fn fcts(out: &Outcome) -> Vec<(u64, Option<Picos>)> {
    let mut all: Vec<_> = out.flows.iter().map(|f| (f.id, f.fct)).collect();
    all.sort_unstable();
    all
}

/// All packets in the queue are full ones there, so that a marker above a device of ten packets
/// decides as one without it whose threshold is ten packets higher.
#[test]
fn a_marker_does_not_see_the_device_below_it() {
    let by_length = |k: u64| scheme("threshold", &[("k", k * 1500)]);
    let by_wait = |k: u64| scheme("tcn", &[("threshold", k * PACKET + 1)]);
    let marked = |marker, below| {
        let mut c = burst(marker);
        c.switch.device = below;
        c.switch.buffer_bytes = 1_000_000;
        let out = run(&c);
        (fcts(&out), out.totals.marks.values().sum::<u64>())
    };
    for marker in [by_length, by_wait] {
        let plain = marked(marker(30), DeviceQueue::NONE);
        assert_eq!(marked(marker(20), device(10)), plain);
        assert!(plain.1 > 0);
        let in_bytes = DeviceQueue {
            packets: 0,
            bytes: 15_000,
        };
        assert_eq!(marked(marker(20), in_bytes), plain);
        assert_ne!(marked(marker(20), DeviceQueue::NONE), plain);
    }
}

/// The buffer does not count the device either.
#[test]
fn a_device_holds_its_packets_besides_the_buffer() {
    let drops = |buffer: u32, below| {
        let mut c = burst(MarkerChoice::None);
        c.switch.buffer_bytes = buffer * 1500;
        c.switch.device = below;
        let out = run(&c);
        (fcts(&out), out.totals.all_drops())
    };
    let plain = drops(50, DeviceQueue::NONE);
    assert!(plain.1 > 0);
    assert_eq!(drops(38, device(12)), plain);
}

/// Strict priority above a device: the packet of the first class finds the device full of the
/// other class, and waits for it.
#[test]
fn a_scheduler_picks_for_the_device() {
    let urgent = |packets: u32| {
        let mut lines = vec![line(0, 2_000_000), line(1, 2_000_000), line(2, 1_000)];
        lines[0].class = Some(1);
        lines[1].class = Some(1);
        lines[2].start = us(300);
        let mut c = star(lines, MarkerChoice::None);
        c.transport.init_window = 400;
        c.switch.buffer_bytes = 4_000_000;
        c.switch.scheduler = SchedulerKind::StrictPriority;
        c.switch.queues = vec![QueueConfig::PLAIN; 2];
        c.switch.device = device(packets);
        let out = run(&c);
        let flow = out.flows.iter().find(|f| f.src == 2);
        flow.and_then(|f| f.fct).expect("it ends").0 / 1000
    };
    let plain = urgent(0);
    for packets in [1, 5, 11] {
        assert_eq!(urgent(packets), plain + u64::from(packets) * PACKET);
    }
}

#[test]
fn a_buffer_that_counts_packets_counts_small_ones_as_full_ones() {
    let drops = |mss: u16, packets: u32, buffer: u32| {
        let mut c = burst(MarkerChoice::None);
        c.transport.mss = mss;
        let bytes = u64::from(mss) * 200;
        c.workloads = star(
            (0..3).map(|src| line(src, bytes)).collect(),
            MarkerChoice::None,
        )
        .workloads;
        c.switch.most_packets = packets;
        c.switch.buffer_bytes = buffer;
        let out = run(&c);
        (fcts(&out), out.totals.all_drops())
    };
    let full = drops(1_460, 50, 1_000_000);
    assert!(full.1 > 0);
    assert_eq!(full, drops(1_460, 0, 75_000), "full packets are alike");
    // 50 small ones are a tenth of the bytes.
    assert!(drops(110, 50, 1_000_000).1 > 0);
    assert_eq!(drops(110, 0, 75_000).1, 0);
}

/// A window that is larger than what an ACK releases shows on the wire only later: in slow start
/// two segments an ACK are what an initial window of two sends.
#[test]
fn an_ack_releases_so_many_segments_at_most() {
    let fct = |window: u32, burst: u32| {
        let mut c = star(vec![line(0, 292_000)], MarkerChoice::None);
        c.transport.init_window = window;
        c.transport.max_burst = burst;
        run(&c).flows[0].fct.expect("it ends")
    };
    assert_eq!(fct(10, 2), fct(2, 0));
    assert_eq!(fct(10, 0), fct(10, 10));
    assert!(fct(10, 0) < fct(10, 2));
    // One segment an ACK never grows: 200 round trips.
    assert!(fct(10, 1) > us(200 * 21), "{:?}", fct(10, 1));
}

/// Alone in the network with an open window a flow takes its ideal time, whichever end it has.
#[test]
fn a_flow_ends_where_it_is_measured() {
    let at = |fct: Fct| {
        let mut c = star(vec![line(0, 14_600)], MarkerChoice::None);
        c.rtt = RttModel::Fixed(us(100));
        c.measure.fct = fct;
        let flow = run(&c).flows[0];
        assert_eq!(flow.fct, Some(flow.ideal), "{fct:?}");
        flow.ideal.0
    };
    // An ACK of 40 bytes over two links of 10 Gb/s and 5 us.
    let back = 2 * (40 * 800 + 5_000_000);
    let data = at(Fct::LastByte);
    assert_eq!(at(Fct::LastAck), data + back);
    assert_eq!(at(Fct::Client), data + back);
    // A FIN has a header and one byte, and waits for the flow's extra delay of 80 us.
    let closed = data + back + 2 * (40 * 800 + 5_000_000) + 80_000_000 + back;
    let mut c = star(vec![line(0, 14_600)], MarkerChoice::None);
    c.rtt = RttModel::Fixed(us(100));
    c.measure.fct = Fct::Closed;
    let flow = run(&c).flows[0];
    assert_eq!(
        (flow.ideal.0, flow.fct.expect("it ends").0),
        (closed, closed + 2 * 800)
    );
}

#[test]
fn a_flow_of_a_sender_ends_after_losses_too() {
    for fct in [Fct::LastAck, Fct::Closed] {
        let mut c = burst(MarkerChoice::None);
        c.switch.buffer_bytes = 40_000;
        c.measure.fct = fct;
        let out = run(&c);
        assert!(out.totals.all_drops() > 0);
        assert_eq!(out.flows.len(), 3);
        assert!(out.flows.iter().all(|f| f.fct.is_some()), "{fct:?}");
    }
}

#[test]
fn a_syn_may_go_ahead_of_its_flows_delay() {
    let fct = |handshake: bool, delayed: bool| {
        let mut c = star(vec![line(0, 1_460)], MarkerChoice::None);
        c.rtt = RttModel::Fixed(us(100));
        c.transport.handshake = handshake;
        c.delays_syn = delayed;
        run(&c).flows[0].fct.expect("it ends").0
    };
    // SYN and SYN-ACK of 40 bytes over two links each, and the 20 us of the path.
    let path = 4 * 40 * 800 + 20_000_000;
    assert_eq!(fct(true, false), fct(false, true) + path);
    assert_eq!(fct(true, true), fct(false, true) + path + 80_000_000);
}

#[test]
fn base_rtts_belong_to_senders_or_to_single_flows() {
    let mut lines: Vec<FlowLine> = (0..3).map(|src| line(src, 1_460)).collect();
    lines[2].rtt = Some(us(70));
    let mut c = star(lines, MarkerChoice::None);
    c.rtt = RttModel::BySender(vec![us(40), us(60)]);
    let extras = |c: &Config| {
        let out = run(c);
        let mut all: Vec<_> = out.flows.iter().map(|f| (f.src, f.extra)).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(extras(&c), [(0, us(20)), (1, us(40)), (2, us(50))]);
    // A list that says RTTs needs no model.
    c.rtt = RttModel::Path;
    assert_eq!(extras(&c), [(0, us(0)), (1, us(0)), (2, us(50))]);
    let alone = |out: &Outcome| out.flows.iter().find(|f| f.src == 2).map(|f| f.fct);
    assert!(alone(&run(&c)) > Some(Some(us(60))));
}

/// Three windows of 40 packets meet at the port to host 3, which holds them all, and marks none.
#[test]
fn plain_ports_to_hosts_neither_mark_nor_drop() {
    let both = |plain: bool| {
        let mut c = burst(scheme("threshold", &[("k", 15_000)]));
        c.switch.buffer_bytes = 60_000;
        c.switch.plain_host_ports = plain;
        let out = run(&c);
        (
            out.totals.marks.values().sum::<u64>(),
            out.totals.all_drops(),
        )
    };
    assert_eq!(both(true), (0, 0));
    let (marks, drops) = both(false);
    assert!(marks > 0 && drops > 0);
}

/// Ports of hosts that drop, in both directions: acknowledgements are lost, and the retransmissions
/// after them are dropped by the sender's own host, while the receiver has everything.
#[test]
fn hosts_that_drop_their_own_retransmissions_keep_their_connections_apart() {
    let mut lost = 0;
    for seed in 1..9 {
        let flow = |i: u64| FlowLine {
            start: us(i * 7),
            src: (i % 4) as u32,
            dst: ((i + 1 + i / 4 % 3) % 4) as u32,
            bytes: 20_000 + i * 137,
            class: None,
            rtt: None,
        };
        let mut c = star((0..600).map(flow).collect(), MarkerChoice::None);
        c.seed = seed;
        c.nic = Nic::SwitchPort;
        c.transport.init_window = 10;
        c.transport.rto_min = cemark_wire::Nanos::from_micros(200 + seed * 10);
        c.transport.rto_init = c.transport.rto_min;
        c.switch.buffer_bytes = 4_500;
        let out = run(&c);
        let t = &out.totals;
        assert_eq!(t.sent, t.delivered + t.all_drops() + t.in_flight);
        assert!(out.flows.iter().all(|f| f.fct.is_some()));
        lost += t.all_drops();
    }
    assert!(lost > 10_000, "{lost}");
}
