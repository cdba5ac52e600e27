// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who gets how much of the link under each scheduler.

use crate::common::{NS, Rig, near, queue};
use cemark_marking::{At, Hook, Marker, QueueSpec, Values, Verdict, Why};
use cemark_switch::AnyMarker;
use cemark_switch::sched::SchedulerKind;

const MILLI: u64 = 1_000_000 * NS;

/// Shares of delivered bytes against the ideal, within 1 %.
fn shares(rig: &Rig, ideal: &[f64]) {
    let all: u64 = rig.delivered.iter().sum();
    for (i, &share) in ideal.iter().enumerate() {
        let got = rig.delivered[i] as f64 / all as f64;
        assert!(near(got, share, 0.01), "queue {i}: {got} for {share}");
    }
}

#[test]
fn dwrr_shares_by_quantum_whatever_the_packets() {
    let queues = [
        queue(3000, 1, false),
        queue(1500, 1, false),
        queue(1500, 1, false),
    ];
    let mut rig = Rig::new(SchedulerKind::Dwrr, &queues);
    rig.saturate(&[(0, 1500), (1, 1000), (2, 333)], 10 * MILLI);
    shares(&rig, &[0.5, 0.25, 0.25]);
    // The link was never idle.
    assert!(near(
        rig.delivered.iter().sum::<u64>() as f64,
        12_500_000.0,
        0.001
    ));
}

#[test]
fn wfq_shares_by_weight_whatever_the_packets() {
    let queues = [
        queue(1500, 5, false),
        queue(1500, 2, false),
        queue(1500, 1, false),
    ];
    let mut rig = Rig::new(SchedulerKind::Wfq, &queues);
    rig.saturate(&[(0, 1500), (1, 1000), (2, 333)], 10 * MILLI);
    shares(&rig, &[0.625, 0.25, 0.125]);
}

#[test]
fn what_an_idle_queue_leaves_is_shared_and_not_saved_up() {
    for kind in [SchedulerKind::Dwrr, SchedulerKind::Wrr, SchedulerKind::Wfq] {
        let queues = [queue(1500, 1, false); 3];
        let mut rig = Rig::new(kind, &queues);
        rig.saturate(&[(0, 1500), (1, 1500)], 5 * MILLI);
        shares(&rig, &[0.5, 0.5, 0.0]);
        // The third becomes active: a third from now on, and no more for having been idle.
        rig.delivered = vec![0; 3];
        for _ in 0..20 {
            rig.offer(2, 1500);
        }
        rig.run(10 * MILLI, |rig, p| rig.offer(p.class(), 1500));
        shares(&rig, &[1.0 / 3.0; 3]);
    }
}

#[test]
fn wrr_throws_unused_credit_away_and_dwrr_carries_it() {
    // Quantum 1500, packets of 1000: one packet per visit under WRR; alternately one and two under
    // DWRR.
    let queues = [queue(1500, 1, false), queue(1500, 1, false)];
    for (kind, share) in [(SchedulerKind::Wrr, 0.4), (SchedulerKind::Dwrr, 0.5)] {
        let mut rig = Rig::new(kind, &queues);
        rig.saturate(&[(0, 1000), (1, 1500)], 10 * MILLI);
        shares(&rig, &[share, 1.0 - share]);
    }
}

#[test]
fn a_quantum_below_a_packet_never_stands_still() {
    for kind in [SchedulerKind::Wrr, SchedulerKind::Dwrr] {
        let queues = [queue(100, 1, false), queue(200, 1, false)];
        let mut rig = Rig::new(kind, &queues);
        rig.saturate(&[(0, 1500), (1, 1500)], MILLI);
        assert!(near(
            rig.delivered.iter().sum::<u64>() as f64,
            1_250_000.0,
            0.01
        ));
    }
}

#[test]
fn strict_queues_come_first_in_order_of_class() {
    let mut rig = Rig::new(SchedulerKind::StrictPriority, &[queue(1500, 1, false); 4]);
    for class in [3, 2, 3, 1, 0, 2, 1, 0] {
        rig.offer(class, 1500);
    }
    rig.run(MILLI, |_, _| {});
    // The first found the link free; everything else waited and was sorted.
    assert_eq!(rig.order, [3, 0, 0, 1, 1, 2, 2, 3]);
}

#[test]
fn strict_above_dwrr_takes_what_it_wants_and_the_rest_is_shared() {
    let queues = [
        queue(1500, 1, true),
        queue(3000, 1, false),
        queue(1500, 1, false),
    ];
    for kind in [SchedulerKind::Dwrr, SchedulerKind::Wrr] {
        let mut rig = Rig::new(kind, &queues);
        // A quarter of the link for the strict queue: a packet of 1500 B every 4.8 us.
        for class in [1, 2] {
            for _ in 0..20 {
                rig.offer(class, 1500);
            }
        }
        for step in 0..2000u64 {
            rig.run(step * 4800 * NS, |rig, p| {
                if p.class() > 0 {
                    rig.offer(p.class(), 1500);
                }
            });
            rig.offer(0, 1500);
        }
        shares(&rig, &[0.25, 0.5, 0.25]);
    }
}

/// Discards every `n`-th packet as it leaves.
struct Sieve {
    n: u32,
    seen: u32,
}

impl Marker for Sieve {
    fn hook(&self) -> Hook {
        Hook::Dequeue
    }
    fn reads_length_at_dequeue(&self) -> bool {
        true
    }
    fn dequeue(&mut self, _: &At) -> Verdict {
        self.seen += 1;
        if self.seen.is_multiple_of(self.n) {
            Verdict::Drop(Why::Instant)
        } else {
            Verdict::Pass
        }
    }
    fn retune(&mut self, _: &Values, _: &QueueSpec) {}
}

#[test]
fn a_packet_dropped_as_it_leaves_costs_its_queue_nothing() {
    for kind in [SchedulerKind::Dwrr, SchedulerKind::Wfq] {
        // Packets that fit unevenly into the quantum, so that visits end with and without a refund.
        for (bytes, n) in [(1500, 2), (700, 3), (400, 2), (1000, 5)] {
            let queues = [queue(1500, 1, false), queue(1500, 1, false)];
            let mut rig = Rig::with(kind, &queues, |i| match i {
                0 => AnyMarker::Custom(Box::new(Sieve { n, seen: 0 })),
                _ => AnyMarker::None,
            });
            for _ in 0..40 {
                rig.offer(0, bytes);
                rig.offer(1, 1500);
            }
            rig.run(10 * MILLI, |rig, p| {
                let size = if p.class() == 0 { bytes } else { 1500 };
                rig.offer(p.class(), size);
                while let Some(lost) = rig.gone.pop() {
                    rig.offer(lost.class(), bytes);
                }
            });
            shares(&rig, &[0.5, 0.5]);
            let c = rig.port.counters();
            assert!(c.drops[1] > 1000, "{:?}", c.drops);
            assert!(
                near(c.sent_bytes as f64, 12_500_000.0, 0.001),
                "the link never rested"
            );
        }
    }
}
