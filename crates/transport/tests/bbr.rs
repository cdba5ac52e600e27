// SPDX-License-Identifier: MIT OR Apache-2.0
//! BBR's states as its sent segments show them: start-up, drain, the cycle of eight phases, and the
//! probe of the round trip.

use crate::harness::{Net, Path};
use cemark_transport::cc::bbr::BbrConfig;
use cemark_transport::{Config, Control};
use cemark_wire::{Nanos, Rate};

const RTT: u64 = 40_000_000;
/// 100 Mb/s: a segment of 1500 bytes takes 120 us, 333 of them are a round trip.
const RATE: Rate = Rate::mbps(100);

fn net() -> Net {
    net_under(Control::BBR)
}

fn net_under(control: Control) -> Net {
    let cfg = Config {
        control,
        rto_init: Nanos::from_millis(1_000),
        rto_min: Nanos::from_millis(200),
        ..Config::default()
    };
    let path = Path {
        rate: RATE,
        delay: Nanos(RTT / 2),
        ..Path::default()
    };
    let mut net = Net::new(cfg, path);
    net.write_at(Nanos(0), u64::MAX);
    net
}

/// Segments sent in each span of `bin`, divided by what the link sends in it.
fn rates(net: &Net, bin: u64) -> Vec<f64> {
    let mut bins = vec![0f64; (net.now.0 / bin) as usize];
    for (at, _) in &net.sent {
        if let Some(n) = bins.get_mut((at.0 / bin) as usize) {
            *n += 120_000.0 / bin as f64;
        }
    }
    bins
}

#[test]
fn startup_doubles_every_round_trip_and_paces_at_two_over_ln_two_then_drain_empties_the_queue() {
    let mut net = net();
    net.run(Nanos(30 * RTT));
    let rounds = rates(&net, RTT);
    // 10 segments, then twice as many in each round trip until the link is full. A round is spread
    // over its time, so bins grow by factors of 1.6 to 2.2.
    for n in 1..6 {
        let ratio = rounds[n] / rounds[n - 1];
        assert!((1.5..2.25).contains(&ratio), "round {n}: {ratio}");
    }
    let doubling = (rounds[5] / rounds[0]).powf(0.2);
    assert!((1.8..2.1).contains(&doubling), "{doubling}");
    // Before the first sample: the initial window over a millisecond, times 2.885.
    let gap = |from: usize, to: usize| {
        (net.sent[to].0.0 - net.sent[from].0.0) as f64 / (to - from) as f64
    };
    assert!(
        (gap(0, 9) / (1e6 / 28.854) - 1.0).abs() < 0.01,
        "{}",
        gap(0, 9)
    );
    // In the second round BBR knows that ten segments arrived in a round trip, and sends twenty at
    // 2.885 times that rate.
    let even = gap(13, 27) / (RTT as f64 / 28.854);
    assert!((even - 1.0).abs() < 0.02, "{even}");
    let fine = rates(&net, 4_000_000);
    let (peak, top) = fine
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(b.1))
        .unwrap();
    assert!((1.8..2.9).contains(top), "{top}");
    // Drain: the inverse, until what is in flight fits the path; then the queue is gone.
    let slow: Vec<usize> = (peak..fine.len()).filter(|&i| fine[i] < 0.5).collect();
    let mean = slow.iter().map(|&i| fine[i]).sum::<f64>() / slow.len() as f64;
    assert!((mean - 1.0 / 2.885).abs() < 0.02, "{mean}");
    // 1.885 round trips of queue go at 1 - 0.347 of the link: 2.9 round trips.
    let span = slow.len() as f64 / 10.0;
    assert!((2.4..3.4).contains(&span), "{span} round trips");
    let deepest = net.backlogs.iter().map(|b| b.1).max().unwrap() / 1500;
    // cwnd gain 2.885 bounds what is in flight: 1.885 x 333 packets of queue.
    assert!((560..=660).contains(&deepest), "{deepest}");
    let after = net
        .backlogs
        .iter()
        .filter(|b| b.0.0 > 22 * RTT)
        .map(|b| b.1 / 1500);
    assert!(
        after.max().unwrap() < 110,
        "a quarter of the path at most, for one round trip"
    );
    assert_eq!(net.sender.stats().retransmits, 0);
}

#[test]
fn the_cycle_has_one_faster_one_slower_and_six_even_round_trips() {
    let mut net = net();
    net.run(Nanos(90 * RTT));
    // An eighth of a round trip a bin, from the time when start-up is long over.
    let bin = RTT / 8;
    let fine = rates(&net, bin);
    let fine = &fine[160..];
    let kind = |r: f64| match r {
        r if r > 1.12 => 'u',
        r if r < 0.88 => 'd',
        _ => '-',
    };
    let line: String = fine.iter().map(|&r| kind(r)).collect();
    let starts: Vec<usize> = (1..fine.len())
        .filter(|&i| kind(fine[i]) == 'u' && kind(fine[i - 1]) != 'u')
        .collect();
    assert!(starts.len() >= 6, "{line}");
    for pair in starts.windows(2) {
        let cycle = &fine[pair[0]..pair[1]];
        // Eight phases of a round trip; the slower one ends early, once the queue is gone.
        let rounds = cycle.len() as f64 / 8.0;
        assert!((7.0..=8.8).contains(&rounds), "{rounds}: {line}");
        let ups = cycle.iter().take_while(|&&r| kind(r) == 'u').count();
        assert!((7..=11).contains(&ups), "{ups}: {line}");
        let mean = cycle[1..ups - 1].iter().sum::<f64>() / (ups - 2) as f64;
        assert!((mean - 1.25).abs() < 0.04, "{mean}");
        let downs = cycle.iter().filter(|&&r| kind(r) == 'd').count();
        assert!((5..=10).contains(&downs), "{downs}: {line}");
        let even = &cycle[ups + downs + 2..];
        let mean = even.iter().sum::<f64>() / even.len() as f64;
        assert!((mean - 1.0).abs() < 0.03, "{mean}: {line}");
    }
}

#[test]
fn every_ten_seconds_four_segments_are_in_flight_for_a_fifth_of_a_second() {
    let mut net = net();
    net.run(Nanos::from_millis(32_500));
    let few = 4 * 1460;
    let mut spans = Vec::new();
    let mut since = None;
    for &(at, window) in &net.windows {
        match (window == few, since) {
            (true, None) => since = Some(at),
            (false, Some(begin)) => {
                spans.push((begin, at - begin));
                since = None;
            }
            _ => {}
        }
    }
    assert_eq!(spans.len(), 3, "{spans:?}");
    for (n, (begin, span)) in spans.iter().enumerate() {
        // 200 ms from the moment that four are left, which takes a round trip, and the ACK that
        // ends it.
        assert!(
            (200_000_000..=200_000_000 + 3 * RTT).contains(&span.0),
            "{span:?}"
        );
        let expected = 10_000_000_000 * (n as u64 + 1);
        let late = begin.0 - expected;
        assert!(late < 300_000_000 * (n as u64 + 1), "{spans:?}");
        let inside = |at: Nanos| at > *begin + Nanos(2 * RTT) && at < *begin + Nanos(200_000_000);
        let sent = net.sent.iter().filter(|s| inside(s.0)).count();
        assert!(sent <= 4 * 4, "{sent} segments in three round trips");
    }
    // What the probes cost: 3 x a quarter of a second of 32.
    let used = net.receiver.delivered() as f64 * 8.0 / 32.5 / 1e8 * 1500.0 / 1460.0;
    assert!((0.95..0.99).contains(&used), "{used}");
}

#[test]
fn random_losses_cost_little_more_than_what_they_take() {
    for percent in [1, 3] {
        let mut net = net();
        // At 3 % every tenth round trip loses a retransmission as well.
        net.cfg.lost_retransmissions = percent == 3;
        net.path.data_loss_ppm = percent * 10_000;
        net.run(Nanos::from_millis(2_000));
        let before = net.receiver.delivered();
        net.run(Nanos::from_millis(9_000));
        let used = (net.receiver.delivered() - before) as f64 * 8.0 / 7.0 / 1e8 * 1500.0 / 1460.0;
        assert!(used > 0.9, "{used}: {:?}", net.sender.stats());
    }
}

#[test]
fn lost_retransmissions_are_noticed_at_a_loss_of_a_tenth() {
    let mut net = net();
    net.cfg.lost_retransmissions = true;
    net.path.data_loss_ppm = 100_000;
    net.run(Nanos::from_millis(6_000));
    let stats = net.sender.stats();
    assert_eq!(stats.timeouts, 0, "{stats:?}");
    // Each lost segment is retransmitted once, and nothing else is.
    assert!(
        u64::from(stats.retransmits) <= net.drops,
        "{stats:?} {}",
        net.drops
    );
}

#[test]
fn a_cap_bounds_the_rate_on_the_wire() {
    // Half of the link, headers included.
    let mut net = net_under(Control::BBR.with(BbrConfig {
        cap: Rate::mbps(50),
    }));
    net.run(Nanos(30 * RTT));
    let rounds = rates(&net, RTT);
    for (n, share) in rounds.iter().enumerate().skip(10) {
        assert!(
            (0.4..0.52).contains(share),
            "round {n}: {share} of the link"
        );
    }
}
