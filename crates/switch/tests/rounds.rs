// SPDX-License-Identifier: MIT OR Apache-2.0
//! The round time of a port, measured (MQ-ECN section 3.3.1).

use crate::common::{NS, Rig, near, queue};
use cemark_marking::mq_ecn::{MqEcn, MqEcnConfig};
use cemark_marking::{At, Hook, Marker, QueueSpec, Values, Verdict};
use cemark_switch::AnyMarker;
use cemark_switch::sched::SchedulerKind;
use cemark_wire::Nanos;

const MILLI: u64 = 1_000_000 * NS;
/// A quantum of 1500 B at 10 Gb/s.
const VISIT: f64 = 1200.0;

#[test]
fn with_n_backlogged_queues_it_is_n_quanta_over_the_rate() {
    for kind in [SchedulerKind::Dwrr, SchedulerKind::Wrr, SchedulerKind::Wfq] {
        for n in 1..=32u8 {
            let mut rig = Rig::new(kind, &[queue(1500, 1, false); 32]);
            let all: Vec<(u8, u16)> = (0..n).map(|i| (i, 1500)).collect();
            rig.saturate(&all, 5 * MILLI);
            for step in 1..200 {
                rig.run(5 * MILLI + step * 777 * NS, |rig, p| {
                    rig.offer(p.class(), 1500)
                });
                let round = rig.round().0 as f64;
                assert!(
                    near(round, f64::from(n) * VISIT, 0.01),
                    "{kind:?} n {n}: {round}"
                );
            }
        }
    }
}

#[test]
fn unequal_quanta_and_packets_add_up() {
    // Quanta 3000, 1500, 4500 and packets that do not divide them: the visits of DWRR vary, their
    // mean does not.
    let queues = [
        queue(3000, 1, false),
        queue(1500, 1, false),
        queue(4500, 1, false),
    ];
    let mut rig = Rig::new(SchedulerKind::Dwrr, &queues);
    rig.saturate(&[(0, 1000), (1, 700), (2, 1500)], 5 * MILLI);
    let (mut sum, mut count) = (0.0, 0.0);
    for step in 1..2000 {
        rig.run(5 * MILLI + step * 777 * NS, |rig, p| {
            let bytes = [1000, 700, 1500][usize::from(p.class())];
            rig.offer(p.class(), bytes);
        });
        sum += rig.round().0 as f64;
        count += 1.0;
    }
    assert!(near(sum / count, 7200.0, 0.01), "{}", sum / count);
}

#[test]
fn right_at_12_percent_load_with_one_queue() {
    for kind in [SchedulerKind::Dwrr, SchedulerKind::Wrr] {
        let mut rig = Rig::new(kind, &[queue(1500, 1, false); 8]);
        // A packet takes 1.2 us of every 10: each visit takes exactly that, though the scheduler is
        // not called again for 8.8 us, in which the round time decays.
        for step in 0..400u64 {
            rig.run(step * 10_000 * NS, |_, _| {});
            rig.offer(0, 1500);
            let round = rig.round().0 as f64;
            // Seven idle slots of 1.2 us between two packets, then the sample: x = 0.75 (0.75^7
            // x) + 300 = 333.4.
            if step > 100 {
                assert!(near(round, 333.4, 0.01), "{round}");
            }
            assert!(round <= VISIT, "thresholds stay at the standard one");
        }
    }
    // Back to back but never backlogged: a packet arrives just as the last one has left.
    let mut rig = Rig::new(SchedulerKind::Dwrr, &[queue(1500, 1, false); 8]);
    for step in 0..400u64 {
        rig.run(step * 1200 * NS, |_, _| {});
        rig.offer(0, 1500);
    }
    assert!(near(rig.round().0 as f64, VISIT, 0.01));
}

#[test]
fn samples_alone_are_right_at_12_percent_load() {
    // Idle decay off: what is left is the mean of the samples, one packet's time.
    let mut rig = Rig::new(SchedulerKind::Dwrr, &[queue(1500, 1, false); 8]);
    rig.explicit().round().keep_when_idle();
    for step in 0..400u64 {
        rig.run(step * 10_000 * NS, |_, _| {});
        rig.offer(0, 1500);
    }
    assert!(near(rig.round().0 as f64, VISIT, 0.01), "{}", rig.round().0);
}

#[test]
fn heals_from_a_value_wrong_by_ten_either_way() {
    for kind in [SchedulerKind::Dwrr, SchedulerKind::Wrr, SchedulerKind::Wfq] {
        for n in [1u8, 2, 8, 32] {
            for wrong in [10.0, 0.1] {
                let mut rig = Rig::new(kind, &[queue(1500, 1, false); 32]);
                let all: Vec<(u8, u16)> = (0..n).map(|i| (i, 1500)).collect();
                rig.saturate(&all, 2 * MILLI);
                let right = f64::from(n) * VISIT;
                rig.explicit().round().force(Nanos((right * wrong) as u64));
                // 9 x 0.75^24 < 0.01: 24 visits later it is right again, which with n queues are 24
                // / n rounds.
                let visits = 25 * 1200 * NS;
                rig.run(2 * MILLI + visits, |rig, p| rig.offer(p.class(), 1500));
                let round = rig.round().0 as f64;
                assert!(
                    near(round, right, 0.01),
                    "{kind:?} n {n} x {wrong}: {round} for {right}"
                );
            }
        }
    }
}

#[test]
fn idle_time_wears_it_down() {
    let mut rig = Rig::new(SchedulerKind::Dwrr, &[queue(1500, 1, false); 8]);
    for _ in 0..100 {
        for class in 0..8 {
            rig.offer(class, 1500);
        }
    }
    rig.run(MILLI, |_, _| {});
    // All has been sent after 800 x 1.2 us = 960 us; as the queues ended together the last rounds
    // had eight visits.
    let full = rig.round().0 as f64;
    assert!(near(full, 8.0 * VISIT, 0.01), "{full}");
    // Idle for 41 us: 34 slots of 1.2 us, and 0.75^34 of 9.6 us is half a nanosecond. The next
    // packet adds a quarter of its visit.
    rig.run(MILLI + 1000 * NS, |_, _| {});
    rig.offer(0, 1500);
    assert!(rig.round().0.abs_diff(300) <= 1, "{:?}", rig.round());
}

/// The round that a threshold sees, kept for the test.
struct Witness(std::sync::Arc<std::sync::Mutex<Vec<u64>>>);

impl Marker for Witness {
    fn hook(&self) -> Hook {
        Hook::Enqueue
    }
    fn enqueue(&mut self, at: &At) -> Verdict {
        self.0.lock().unwrap().push(at.round.0);
        Verdict::Pass
    }
    fn retune(&mut self, _: &Values, _: &QueueSpec) {}
}

#[test]
fn strict_time_is_part_of_the_round_and_markers_see_it() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let queues = [
        queue(1500, 1, true),
        queue(1500, 1, false),
        queue(1500, 1, false),
    ];
    let mut rig = Rig::with(SchedulerKind::Dwrr, &queues, |_| {
        AnyMarker::Custom(Box::new(Witness(seen.clone())))
    });
    for class in [1, 2] {
        for _ in 0..20 {
            rig.offer(class, 1500);
        }
    }
    // Half of the link goes to the strict queue: a round of two visits takes the time of four
    // packets.
    for step in 0..500u64 {
        rig.run(step * 2400 * NS, |rig, p| {
            if p.class() > 0 {
                rig.offer(p.class(), 1500);
            }
        });
        rig.offer(0, 1500);
    }
    let round = rig.round().0 as f64;
    assert!(near(round, 4.0 * VISIT, 0.01), "{round}");
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0], 0);
    assert!(
        seen.iter()
            .rev()
            .take(100)
            .all(|&r| near(r as f64, 4.0 * VISIT, 0.02))
    );
}

#[test]
fn schedulers_without_rounds_have_none() {
    for kind in [SchedulerKind::Fifo, SchedulerKind::StrictPriority] {
        let mut rig = Rig::new(kind, &[queue(1500, 1, false); 2]);
        rig.saturate(&[(0, 1500), (1, 1500)], MILLI);
        assert_eq!(rig.round(), Nanos::ZERO);
    }
}

/// MQ-ECN's marks behind a port: (length with the judged packet, marked) of each packet that
/// joined.
struct Judged(MqEcn, std::sync::Arc<std::sync::Mutex<Vec<(u32, bool)>>>);

impl Marker for Judged {
    fn hook(&self) -> Hook {
        self.0.hook()
    }
    fn enqueue(&mut self, at: &At) -> Verdict {
        let verdict = self.0.enqueue(at);
        let length = at.queue_bytes + at.pkt_bytes;
        let marked = matches!(verdict, Verdict::Mark(_));
        self.1.lock().unwrap().push((length, marked));
        verdict
    }
    fn retune(&mut self, values: &Values, queue: &QueueSpec) {
        self.0.retune(values, queue);
    }
}

/// MQ-ECN section 3.2: with n equal queues backlogged each has the threshold K / n. One of them
/// grows by a packet per visit, through the threshold, while the others keep their lengths; the
/// length at which its packets begin to be marked is the threshold. K is large, so that a packet of
/// 1500 bytes is less than a fifth of a percent of K / 32.
#[test]
fn with_n_backlogged_queues_the_threshold_is_an_nth() {
    const K: u32 = 32_000_000;
    let config = MqEcnConfig {
        k: K,
        ..MqEcnConfig::default()
    };
    for kind in [SchedulerKind::Dwrr, SchedulerKind::Wrr, SchedulerKind::Wfq] {
        for n in 1..=32u8 {
            let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
            let mut rig = Rig::with(kind, &[queue(1500, 1, false); 32], |i| match i {
                0 => AnyMarker::Custom(Box::new(Judged(
                    MqEcn::from_config(config, &queue(1500, 1, false)),
                    seen.clone(),
                ))),
                _ => AnyMarker::None,
            });
            let all: Vec<(u8, u16)> = (0..n).map(|i| (i, 1500)).collect();
            rig.saturate(&all, 5 * MILLI);
            seen.lock().unwrap().clear();
            // Each queue is visited once in n x 1.2 us: K / n bytes and a tenth more, a packet per
            // visit, take 28.2 ms for every n.
            rig.run(34 * MILLI, |rig, p| {
                rig.offer(p.class(), 1500);
                if p.class() == 0 {
                    rig.offer(0, 1500);
                }
            });
            let seen = seen.lock().unwrap();
            let of = |wanted: bool| {
                let lengths = seen.iter().filter(move |s| s.1 == wanted);
                lengths.map(|s| f64::from(s.0))
            };
            let longest_unmarked = of(false).fold(0.0, f64::max);
            let shortest_marked = of(true).fold(f64::INFINITY, f64::min);
            let ideal = f64::from(K) / f64::from(n);
            assert!(
                near(longest_unmarked, ideal, 0.01) && near(shortest_marked, ideal, 0.01),
                "{kind:?} n {n}: unmarked up to {longest_unmarked}, marked from \
                    {shortest_marked}, not {ideal}"
            );
        }
    }
}
