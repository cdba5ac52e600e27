// SPDX-License-Identifier: MIT OR Apache-2.0
//! A controller driven from packet numbers: the bookkeeping of `Flight`, against the TCP sender,
//! and every built-in controller over a bottleneck.

use std::collections::VecDeque;

use cemark_transport::cc::catalogue::ALL;
use cemark_transport::cc::dctcp::{Dctcp, DctcpConfig};
use cemark_transport::cc::{Acked, CeCounted, Controller, Cut, Flight, Lost, PathSpec};
use cemark_transport::{Ack, Config, Control, Sender, Stack};
use cemark_wire::{Flags, Nanos, Rate};

const PATH: PathSpec = PathSpec {
    stack: Stack::NONE,
    mss: 1000,
    header: 40,
    init_window: 10,
};

/// Records its events.
#[derive(Debug, Default)]
struct Recorder {
    acks: Vec<Acked>,
    ces: Vec<CeCounted>,
    losses: Vec<Lost>,
}

impl Controller for Recorder {
    fn on_ack(&mut self, ack: &Acked) {
        self.acks.push(*ack);
    }
    fn on_ce(&mut self, ce: &CeCounted) {
        self.ces.push(*ce);
    }
    fn on_loss(&mut self, loss: &Lost) {
        self.losses.push(*loss);
    }
    fn restart(&mut self, _: u64) {}
    fn cwnd(&self) -> u64 {
        10_000
    }
}

fn sent(packets: u64) -> Flight<Recorder> {
    let mut f = Flight::new(&PATH, Recorder::default());
    for n in 0..packets {
        assert!(f.can_send(1000));
        f.on_sent(Nanos(n), n, 1000);
    }
    f
}

#[test]
fn rounds_marks_and_losses_are_counted_by_packet_number() {
    let mut f = sent(10);
    assert!(!f.can_send(1), "the window is full");
    // 4 packets, 1 of them marked; 0 starts the first round.
    for n in 0..4 {
        f.on_acked(Nanos(100), n, 1000);
    }
    f.on_ack_end(Nanos(100), 1, Some(100));
    assert_eq!(f.bytes_in_flight(), 6_000);
    let ack = f.controller().acks[0];
    assert_eq!((ack.bytes, ack.packets), (4_000, 4));
    assert_eq!((ack.ce_bytes, ack.ce_packets), (1_000, 1));
    assert_eq!(ack.bytes_in_flight, 10_000);
    assert!(ack.cwnd_limited && ack.round_ended && !ack.in_recovery);
    assert_eq!(f.controller().ces.len(), 1);
    // More marks in the same window of data: no second report.
    f.on_acked(Nanos(110), 4, 1000);
    f.on_ack_end(Nanos(110), 2, None);
    assert_eq!(f.controller().ces.len(), 1);
    assert!(!f.controller().acks[1].round_ended);
    // A packet of that window is lost: reported, with the cut for marks.
    f.on_lost(5, 1000);
    f.on_loss_end(Nanos(120), false);
    let loss = f.controller().losses[0];
    assert_eq!(
        (loss.bytes, loss.packets, loss.bytes_in_flight),
        (1_000, 1, 5_000)
    );
    assert_eq!((loss.already, loss.timeout), (Cut::Ce, false));
    // Another one of it is not, unless the congestion is persistent.
    f.on_lost(6, 1000);
    f.on_loss_end(Nanos(130), false);
    assert_eq!(f.controller().losses.len(), 1);
    f.on_lost(7, 1000);
    f.on_loss_end(Nanos(140), true);
    assert_eq!(f.controller().losses[1].already, Cut::Loss);
    assert_eq!(f.bytes_in_flight(), 2_000);
    // What was sent before the loss is acknowledged during the recovery.
    f.on_acked(Nanos(150), 8, 1000);
    f.on_ack_end(Nanos(150), 2, None);
    assert!(f.controller().acks[2].in_recovery);
    // A packet sent after it ends the recovery and the round, and may cut again.
    f.on_sent(Nanos(160), 10, 1000);
    f.on_acked(Nanos(260), 10, 1000);
    f.on_ack_end(Nanos(260), 3, None);
    let ack = *f.controller().acks.last().unwrap();
    assert!(ack.round_ended && !ack.in_recovery);
    assert_eq!(f.controller().ces.len(), 2);
    // An ACK of nothing new is no event; discarded packets free the window.
    f.on_ack_end(Nanos(270), 3, None);
    assert_eq!(f.controller().acks.len(), 4);
    f.on_discarded(1_000);
    assert_eq!(f.bytes_in_flight(), 0);
}

/// Equal acknowledgements, marked or not, give DCTCP the same window in TCP and by packet number,
/// through slow start, cuts and growth.
#[test]
fn dctcp_has_the_same_window_as_under_tcp() {
    let cfg = Config {
        control: DctcpConfig::default().control(),
        mss: PATH.mss,
        ..Config::default()
    };
    let mut tcp = Sender::new(&cfg);
    tcp.write(u64::MAX);
    let mut quic = Flight::new(&PATH, Dctcp::new(&PATH, DctcpConfig::default()));
    let (mut next, mut ce) = (0, 0);
    for n in 0..5_000u64 {
        let now = Nanos(n * 1_000);
        while tcp.poll_transmit(&cfg, now).is_some() {
            assert!(quic.can_send(1000), "packet {next}");
            quic.on_sent(now, next, 1000);
            next += 1;
        }
        assert!(!quic.can_send(1000), "packet {next}");
        let marked = n % 97 < 3 || (n / 500) % 3 == 2 && n % 5 == 0;
        let flags = if marked {
            Flags::ACK.with(Flags::ECE)
        } else {
            Flags::ACK
        };
        let ack = Ack {
            cum: (n + 1) * 1000,
            flags,
            ts_echo: 0,
            sacks: 0,
        };
        tcp.on_ack(&cfg, now, &ack, &[]);
        ce += u64::from(marked);
        quic.on_acked(now, n, 1000);
        quic.on_ack_end(now, ce, None);
        assert_eq!(quic.cwnd(), tcp.cwnd(), "after packet {n}");
        assert_eq!(quic.bytes_in_flight(), tcp.bytes_in_flight());
    }
    assert!(tcp.stats().ecn_cuts > 20, "{:?}", tcp.stats());
}

/// Share of the link that a flow uses in the last second of three: 100 Mb/s and 10 ms with a
/// threshold of 60 packets, acknowledged packet by packet.
fn utilisation(control: Control) -> f64 {
    let path = PathSpec::default();
    let mut f = Flight::new(
        &path,
        control.build(&path).expect("a controller of streams"),
    );
    let rate = Rate::mbps(100);
    let service = rate.nanos_for(1_500);
    let mut on_wire: VecDeque<(Nanos, u64, bool, Nanos)> = VecDeque::new();
    let (mut now, mut free_at, mut gate) = (Nanos::ZERO, Nanos::ZERO, Nanos::ZERO);
    let (mut next, mut ce, mut late) = (0, 0, 0);
    let mut pending_losses = Vec::new();
    while now < Nanos::from_millis(3_000) {
        while f.can_send(1460) && gate <= now {
            f.on_sent(now, next, 1460);
            if let Some(pace) = f.pacing_rate() {
                gate = gate.max(now) + pace.nanos_for(1_500);
            }
            let backlog = rate.bytes_in(free_at.saturating_sub(now)) / 1_500;
            if backlog > 300 {
                pending_losses.push(next);
            } else {
                free_at = free_at.max(now) + service;
                let arrival = free_at + Nanos::from_millis(10);
                on_wire.push_back((arrival, next, backlog > 60 && f.ecn().is_capable(), now));
            }
            next += 1;
        }
        let ack = on_wire.front().map_or(Nanos::MAX, |p| p.0);
        let resume = if f.can_send(1460) { gate } else { Nanos::MAX };
        now = ack.min(resume);
        if ack != now {
            continue;
        }
        let (_, packet, marked, left) = on_wire.pop_front().expect("an arrival");
        ce += u64::from(marked);
        late += u64::from(now > Nanos::from_millis(2_000));
        f.on_acked(now, packet, 1460);
        f.on_ack_end(now, ce, Some((now - left).0 as u32));
        pending_losses.retain(|&lost| {
            if lost < packet {
                f.on_lost(lost, 1460);
            }
            lost >= packet
        });
        f.on_loss_end(now, false);
    }
    late as f64 * service.0 as f64 / 1e9
}

#[test]
fn every_controller_fills_a_link_by_packet_number() {
    let streams = ALL.iter().filter(|spec| !spec.is_queue_pair());
    for spec in streams {
        let used = utilisation(Control::of(spec));
        assert!(used > 0.85, "{}: {used}", spec.name);
    }
}
