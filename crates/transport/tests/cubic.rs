// SPDX-License-Identifier: MIT OR Apache-2.0
//! CUBIC over a path that loses chosen segments: the sender's window against the RFC's curve.

use crate::harness::{Net, Path};
use cemark_transport::{Config, Control};
use cemark_wire::{Nanos, Rate};

/// RFC 9438 figures 1 and 4, in segments and seconds, where a cut left `left` of `w_max` and then
/// `t` seconds passed.
fn curve(w_max: f64, left: f64, t: f64, rtt: f64) -> f64 {
    let k = ((w_max - left) / 0.4).cbrt();
    let cubic = 0.4 * (t - k).powi(3) + w_max;
    let rise = t / rtt * 9.0 / 17.0;
    let reno = match left + rise {
        below if below < w_max => below,
        _ => w_max + t / rtt - (w_max - left) * 17.0 / 9.0,
    };
    cubic.max(reno)
}

#[test]
fn two_epochs_stay_within_a_twentieth_of_the_curve() {
    for (rtt_ms, first_loss) in [(10u64, 1_000u64), (100, 700)] {
        let cfg = Config {
            control: Control::CUBIC,
            receive_window: 1 << 30,
            rto_init: Nanos::from_millis(1_000),
            rto_min: Nanos::from_millis(1_000),
            ..Config::default()
        };
        let rtt = rtt_ms as f64 * 1e-3;
        let path = Path {
            rate: Rate::gbps(10),
            delay: Nanos(rtt_ms * 500_000),
            lose: vec![first_loss],
            ..Path::default()
        };
        let mut net = Net::new(cfg, path);
        net.write_at(Nanos(0), u64::MAX);
        let mut before = 0;
        for epoch in 0..2 {
            // Up to the cut; then one round trip of recovery.
            let recoveries = net.sender.stats().fast_recoveries;
            while net.sender.stats().fast_recoveries == recoveries {
                before = net.sender.cwnd();
                assert!(net.step());
            }
            let (w_max, left) = (before as f64 / 1460.0, net.sender.cwnd() as f64 / 1460.0);
            assert!((left / w_max - 0.7).abs() < 0.01, "{left} of {w_max}");
            let begin = net.now.0 + rtt_ms * 1_000_000;
            while net.now.0 < begin {
                net.step();
            }
            let (mut worst, mut seen) = (0f64, 0);
            while (net.sender.cwnd() as f64) < 1.02 * before as f64 {
                net.step();
                let t = (net.now.0 - begin) as f64 * 1e-9;
                let window = net.sender.cwnd() as f64 / 1460.0;
                worst = worst.max((window / curve(w_max, left, t, rtt) - 1.0).abs());
                seen += 1;
            }
            assert!(worst < 0.05, "epoch {epoch} at {rtt_ms} ms: {worst} off");
            assert!(seen > 10_000, "{seen} samples");
            let next = net.sent.len() as u64;
            net.path.lose.push(next);
        }
        assert_eq!(net.sender.stats().timeouts, 0);
        assert_eq!(net.sender.stats().retransmits, 2);
    }
}

#[test]
fn marks_cut_it_as_losses_do_and_cost_no_packet() {
    let cfg = Config {
        control: Control::CUBIC_ECN,
        ..Config::default()
    };
    // 1 ms and 1 Gb/s are 83 packets; marks above 60.
    let path = Path {
        rate: Rate::gbps(1),
        delay: Nanos::from_micros(500),
        mark_above: 60 * 1500,
        ..Path::default()
    };
    let mut net = Net::new(cfg, path);
    net.write_at(Nanos(0), u64::MAX);
    net.run(Nanos::from_millis(200));
    let before = net.receiver.delivered();
    net.run(Nanos::from_millis(1_200));
    let used = (net.receiver.delivered() - before) as f64 * 8.0 / 1e9 * 1500.0 / 1460.0;
    assert_eq!(net.sender.stats().retransmits, 0);
    assert!(net.sender.stats().ecn_cuts > 5);
    // A saw from 0.7 (83 + 60) = 100 packets up never empties the path.
    assert!(used > 0.995, "{used}");
}
