// SPDX-License-Identifier: MIT OR Apache-2.0
//! A flow over one link, compared with the theory of its congestion controller.

use crate::harness::{Net, Path};
use cemark_transport::cc::dctcp::DctcpConfig;
use cemark_transport::{Config, Control};
use cemark_wire::{Nanos, Rate};

const PACKET: u64 = 1500;

/// Runs one endless flow and gives (mean, smallest, largest backlog in packets seen by arrivals,
/// share of the link used) after warm-up.
fn steady(control: Control, threshold: u64, ack_every: u32) -> (f64, u64, u64, f64) {
    let cfg = Config {
        control,
        ack_every,
        ..Config::default()
    };
    // Base RTT 100 us and 10 Gb/s: 83 packets of 1500 bytes fill the path.
    let mut net = Net::new(
        cfg,
        Path {
            mark_above: threshold * PACKET,
            ..Path::default()
        },
    );
    net.write_at(Nanos(0), u64::MAX);
    let warm = Nanos::from_millis(50);
    net.run(warm);
    let (before, seen) = (net.receiver.delivered(), net.backlogs.len());
    net.run(Nanos::from_millis(150));
    let used = (net.receiver.delivered() - before) as f64 * 8.0 / 0.1 / 1e10 * 1500.0 / 1460.0;
    let tail: Vec<u64> = net.backlogs[seen..].iter().map(|b| b.1 / PACKET).collect();
    let mean = tail.iter().sum::<u64>() as f64 / tail.len() as f64;
    assert_eq!(net.sender.stats().retransmits, 0);
    (
        mean,
        *tail.iter().min().unwrap(),
        *tail.iter().max().unwrap(),
        used,
    )
}

#[test]
fn dctcp_keeps_the_queue_at_the_threshold_within_the_theorys_amplitude() {
    for alpha_init in [0, 1024] {
        for ack_every in [1, 2] {
            let control = DctcpConfig {
                alpha_init,
                ..DctcpConfig::default()
            }
            .control();
            let (mean, low, high, used) = steady(control, 40, ack_every);
            // DCTCP paper, equation 8: A = sqrt(2 N (C d + K)) / 2 = sqrt(2 * 123) / 2 = 7.8
            // packets below K + N.
            assert!((40..=43).contains(&high), "{high}");
            assert!((22..=36).contains(&low), "{low}");
            assert!((33.0..41.0).contains(&mean), "{mean}");
            assert!(used > 0.999, "{used}");
        }
    }
}

#[test]
fn ecn_star_fills_the_link_from_a_threshold_of_one_bdp_and_starves_it_from_none() {
    let (mean, low, high, used) = steady(Control::ECN_STAR, 84, 1);
    // (C d + K) / 2 = 83: the halved window just fills the path.
    assert!((84..=87).contains(&high), "{high}");
    assert!(low <= 4, "{low}");
    assert!((30.0..60.0).contains(&mean), "{mean}");
    assert!(used > 0.99, "{used}");
    let (_, _, _, used) = steady(Control::ECN_STAR, 1, 1);
    // A saw between W/2 and W of an empty queue gives three quarters of the link (MQ-ECN section
    // 2).
    assert!((0.70..0.80).contains(&used), "{used}");
    let (_, _, _, used) = steady(
        DctcpConfig {
            alpha_init: 0,
            ..DctcpConfig::default()
        }
        .control(),
        1,
        1,
    );
    assert!((0.89..0.99).contains(&used), "{used}");
}

#[test]
fn reno_follows_the_square_root_law() {
    for sack in [false, true] {
        let cfg = Config {
            control: Control::RENO,
            sack,
            // NewReno needs a round trip for each loss of a window, in which its timer runs.
            rto_min: Nanos::from_millis(1000),
            ..Config::default()
        };
        let path = Path {
            delay: Nanos::from_millis(10),
            rate: Rate::gbps(10),
            data_loss_ppm: 10_000,
            seed: 7,
            ..Path::default()
        };
        let mut net = Net::new(cfg, path);
        net.write_at(Nanos(0), u64::MAX);
        let seconds = 400;
        net.run(Nanos::from_millis(seconds * 1000));
        let per_rtt = net.receiver.delivered() as f64 / 1460.0 * 0.020 / seconds as f64;
        // Mathis et al. 1997: sqrt(3/2) / sqrt(p) segments a round trip with an ACK per packet.
        let theory = 1.2247 / 0.1;
        // Only a lost retransmission, or a window too small for three duplicates, waits for the
        // timer.
        let stats = net.sender.stats();
        assert!(stats.timeouts * 50 < stats.retransmits, "{stats:?}");
        assert!(
            (per_rtt / theory - 1.0).abs() < 0.3,
            "{per_rtt} of {theory}"
        );
    }
}
