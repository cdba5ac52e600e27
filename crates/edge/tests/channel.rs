// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two DCIB routers with a channel between them that loses, delays, marks and reorders.
//! Whatever it does, no packet is delivered twice, or out of order where order is promised; the
//! stalled queue keeps its bound, and the counters balance.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use cemark_edge::{
    AckForm, Actions, CePolicy, Clones, CopyPolicy, DcibConfig, Far, Middlebox, Near, Recovery,
    Step,
};
use cemark_wire::{Ecn, Fields, Flags, NONE, Nanos, Packet, Rate};
use proptest::prelude::*;

/// The connection of router ACKs.
const ROUTER: u32 = 1 << 20;

/// The channel between the routers. Shares in 1/1000.
#[derive(Clone, Copy, Debug)]
struct Channel {
    lose: u64,
    only_not_ect: bool,
    lose_acks: u64,
    /// Largest extra delay of a packet in microseconds; more than the gap between two packets
    /// reorders them.
    jitter: u64,
    mark: u64,
    bleach: bool,
}

struct World {
    near: Near,
    far: Far,
    out: Actions,
    channel: Channel,
    /// (time, number, towards the far side, slot).
    flying: BinaryHeap<Reverse<(u64, u64, bool, usize)>>,
    slots: Vec<Packet>,
    random: u64,
    number: u64,
    lost: u64,
    delivered: Vec<Packet>,
    offered: u64,
    bound: u64,
    /// Nanoseconds from router to router.
    one_way: u64,
}

impl World {
    fn new(cfg: DcibConfig, channel: Channel, seed: u64) -> World {
        World {
            near: Near::new(cfg),
            far: Far::new(cfg, ROUTER),
            out: Actions::default(),
            channel,
            flying: BinaryHeap::new(),
            slots: Vec::new(),
            random: seed,
            number: 0,
            lost: 0,
            delivered: Vec::new(),
            offered: 0,
            bound: cfg.stalled_bytes,
            one_way: 1_000_000,
        }
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.random = cemark_wire::hash::mix(self.random);
        self.random % below.max(1)
    }

    /// Puts what a middlebox sent into the channel, or delivers it to the hosts.
    fn follow(&mut self, now: u64, at_near: bool) {
        for step in self.out.take() {
            let Step::Send(mut packet) = step else {
                continue;
            };
            let ack = packet.conn == ROUTER;
            if !at_near && !ack {
                self.delivered.push(packet);
                continue;
            }
            let c = self.channel;
            let hit = match (ack, packet.ecn().is_capable() && c.only_not_ect) {
                (true, _) => self.draw(1000) < c.lose_acks,
                (false, true) => false,
                (false, false) => self.draw(1000) < c.lose,
            };
            if hit {
                self.lost += 1;
                self.out.headers.unwrap(&mut packet);
                continue;
            }
            if packet.ecn().is_capable() && self.draw(1000) < c.mark {
                packet.set_ecn(Ecn::Ce);
            }
            if c.bleach {
                packet.set_ecn(Ecn::NotEct);
            }
            let at = now + self.one_way + self.draw(c.jitter * 1000);
            self.number += 1;
            self.slots.push(packet);
            self.flying
                .push(Reverse((at, self.number, at_near, self.slots.len() - 1)));
        }
        assert!(self.near.stalled_bytes() <= self.bound);
    }

    /// Everything that is due up to `until`.
    fn run(&mut self, until: u64) {
        loop {
            let wake = |w: Option<Nanos>| w.map_or(u64::MAX, |n| n.0);
            let (near, far) = (wake(self.near.next_wake()), wake(self.far.next_wake()));
            let flying = self.flying.peek().map_or(u64::MAX, |f| f.0.0);
            let now = near.min(far).min(flying);
            if now > until || now == u64::MAX {
                return;
            }
            let (at_near, t) = (near == now, Nanos(now));
            if at_near {
                self.near.wake(t, &mut self.out);
            } else if far == now {
                self.far.wake(t, &mut self.out);
            } else if let Some(Reverse((_, _, to_far, slot))) = self.flying.pop() {
                let packet = self.slots[slot];
                if to_far {
                    self.far.on_packet(t, packet, &mut self.out);
                } else {
                    self.near.on_packet(t, packet, &mut self.out);
                }
                self.follow(now, !to_far);
                continue;
            }
            self.follow(now, at_near);
        }
    }

    fn offer(&mut self, now: u64, packet: Packet) {
        self.offered += 1;
        self.near.on_packet(Nanos(now), packet, &mut self.out);
        self.follow(now, true);
    }

    fn check(&self, ordered: bool) {
        let t = self.out.tally;
        let in_channel = self.flying.len() as u64;
        assert_eq!(
            self.offered + t.made,
            self.delivered.len() as u64 + t.gone + t.kept + in_channel + self.lost,
            "{t:?}"
        );
        assert_eq!(self.out.headers.live() as u64, in_channel);
        assert!(self.near.stats().peak_bytes <= self.bound);
        let mut seen = BTreeSet::new();
        let mut last = BTreeMap::new();
        for p in &self.delivered {
            assert!(seen.insert((p.conn, p.seq)), "{p:?} came twice");
            if let Some(before) = last.insert(p.conn, p.seq) {
                assert!(!ordered || before < p.seq, "{p:?} after {before}");
            }
        }
    }
}

/// `packets` of 1500 bytes a microsecond apart, of a few connections, then time to settle.
fn send(cfg: DcibConfig, channel: Channel, seed: u64, packets: u64, host: Ecn) -> World {
    let w = World::new(cfg, channel, seed);
    send_into(w, 1_000, packets, host)
}

/// Offers `packets` of 1500 bytes to this world, `gap` nanoseconds apart, of a few connections,
/// then gives the packets a second to settle.
fn send_into(mut w: World, gap: u64, packets: u64, host: Ecn) -> World {
    for n in 0..packets {
        let now = n * gap;
        w.run(now);
        let fields = Fields {
            wire_bytes: 1_500,
            len: 1_460,
            ecn: host,
            ..Fields::default()
        };
        let conn = w.draw(5) as u32;
        w.offer(now, Packet::new(n, 0, conn, NONE, fields));
    }
    w.run(packets * gap + 1_000_000_000);
    w
}

fn configs() -> impl Strategy<Value = DcibConfig> {
    let policies = (0usize..2, 0usize..3, 0usize..3, 0usize..2);
    let numbers = (500u32..40_000, 3_000u64..300_000, 0u64..200, 1u32..40);
    // Round trips from a tenth of the channel's on, and agreed rates from a tenth of what is sent
    // (12 Gb/s).
    let others = (
        prop::option::of(100u64..20_000),
        200u64..4_000,
        prop::option::of(1u64..20),
        any::<bool>(),
    );
    (policies, numbers, others).prop_map(
        |(
            (recovery, copies, form, ce),
            (share, bound, reorder, every),
            (hold, tau, agreed, others),
        )| {
            let form = [AckForm::Named, AckForm::Cumulative, AckForm::Bitmap][form];
            DcibConfig {
                share,
                stalled_bytes: bound,
                tau: Nanos::from_micros(tau),
                recovery: [Recovery::Evidence, Recovery::Idle][recovery],
                copies: [CopyPolicy::Once, CopyPolicy::Restore, CopyPolicy::Protect][copies],
                reorder: Nanos::from_micros(reorder),
                ack_form: form,
                ack_every: if form == AckForm::Named { 1 } else { every },
                ce: [CePolicy::Pass, CePolicy::Clear][ce],
                hold: hold.map(Nanos::from_micros),
                header_bytes: 8,
                probe_above: agreed.map(Rate::gbps),
                clones: if others {
                    Clones::Others
                } else {
                    Clones::Selected
                },
                ..DcibConfig::LITERAL
            }
        },
    )
}

fn channels() -> impl Strategy<Value = Channel> {
    let faults = (0u64..600, any::<bool>(), 0u64..500, 0u64..300, 0u64..100);
    (faults, prop::bool::weighted(0.1)).prop_map(
        |((lose, only_not_ect, lose_acks, jitter, mark), bleach)| Channel {
            lose,
            only_not_ect,
            lose_acks,
            jitter,
            mark,
            bleach,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn nothing_twice_nothing_out_of_order_and_within_the_bound(
        cfg in configs(), channel in channels(), seed in any::<u64>(), ecn in 0u8..3,
    ) {
        let host = Ecn::from_bits(ecn);
        let w = send(cfg, channel, seed, 3_000, host);
        // Packets without a header are not ordered.
        w.check(cfg.hold.is_some() && !(channel.bleach && channel.jitter > 0));
        prop_assert_eq!(w.out.tally.kept, 0, "silence ends every wait");
        for p in &w.delivered {
            let marked = host.is_capable() && cfg.ce == CePolicy::Pass && p.ecn() == Ecn::Ce;
            // Once the routers have turned themselves off, packets have no header, and a path that
            // clears the ECN field does so for good.
            let bare = channel.bleach && p.ecn() == Ecn::NotEct;
            prop_assert!(p.ecn() == host || marked || bare, "{:?}", p);
            prop_assert_eq!(p.wire_bytes(), 1_500);
        }
    }

    /// A WAN that loses only what is droppable loses nothing for good: the copy comes ECN-capable.
    #[test]
    fn a_cooperative_wan_loses_nothing(
        share in 500u32..30_000, lose in 1u64..900, lose_acks in 0u64..500, seed in any::<u64>(),
        form in 0usize..3, hold in any::<bool>(),
    ) {
        let cfg = DcibConfig {
            share,
            stalled_bytes: 10_000_000,
            tau: Nanos::from_millis(2),
            copies: CopyPolicy::Protect,
            ack_form: [AckForm::Named, AckForm::Cumulative, AckForm::Bitmap][form],
            hold: hold.then_some(Nanos::from_millis(50)),
            ..DcibConfig::LITERAL
        };
        let channel = Channel {
            lose, only_not_ect: true, lose_acks, jitter: 0, mark: 0, bleach: false,
        };
        let w = send(cfg, channel, seed, 3_000, Ecn::NotEct);
        w.check(hold);
        prop_assert_eq!(w.delivered.len(), 3_000);
    }
}

const CLEAN: Channel = Channel {
    lose: 0,
    only_not_ect: true,
    lose_acks: 0,
    jitter: 0,
    mark: 0,
    bleach: false,
};

/// Fig 6 to 8: every tenth packet is copied, its router ACK frees it, and nothing is sent again.
#[test]
fn without_loss_nothing_is_sent_again() {
    let w = send(DcibConfig::LITERAL, CLEAN, 1, 10_000, Ecn::NotEct);
    w.check(true);
    let stats = w.near.stats();
    assert_eq!((stats.selected, stats.resent, stats.flushed), (1_000, 0, 0));
    assert_eq!(w.far.stats().acks, 1_000);
    // r tau C: a tenth of what is sent in a round trip of 2 ms (the channel's) at 1500 bytes a
    // microsecond.
    let law = 0.1 * 2_000.0 * 1_500.0;
    assert!(
        (stats.peak_bytes as f64 / law - 1.0).abs() < 0.02,
        "{stats:?}"
    );
}

/// A path twenty times as long as configured, and one that grows while the routers wait (a queue
/// fills): packets in flight at that time are sent twice, their ACKs show the real round trip, and
/// afterwards nothing is sent twice.
#[test]
fn a_road_longer_than_was_told_is_learned() {
    for copies in [CopyPolicy::Once, CopyPolicy::Restore] {
        let cfg = DcibConfig {
            tau: Nanos::from_micros(100),
            stalled_bytes: 10_000_000,
            copies,
            ..DcibConfig::LITERAL
        };
        let mut w = send(cfg, CLEAN, 1, 20_000, Ecn::NotEct);
        w.check(true);
        let first = w.near.stats();
        assert_eq!(first.selected, 2_000);
        // 200 are selected in the 2 ms until the first ACK comes back, and each is sent again every
        // 150 us until then.
        assert!(first.flushed < 1_500, "{first:?}");
        let twice = w.far.stats().twice;
        w.one_way = 3_000_000;
        let from = 2_000_000_000;
        for n in 0..20_000 {
            w.run(from + n * 1_000);
            let fields = Fields {
                wire_bytes: 1_500,
                len: 1_460,
                ..Fields::default()
            };
            w.offer(
                from + n * 1_000,
                Packet::new(20_000 + n, 0, 0, NONE, fields),
            );
        }
        w.run(from + 3_000_000_000);
        w.check(false);
        let grown = w.near.stats().flushed - first.flushed;
        assert!(
            grown < 1_500,
            "{grown} of 2000 flushed once the road had grown"
        );
        assert!(w.far.stats().twice - twice < 1_500);
    }
}

/// Packets of hosts outside the pair overtake packets that wait for in-order release, and release
/// none of them.
#[test]
fn who_stands_outside_changes_no_order() {
    let cfg = DcibConfig {
        tau: Nanos::from_millis(2),
        copies: CopyPolicy::Protect,
        hold: Some(Nanos::from_millis(50)),
        ..DcibConfig::LITERAL
    };
    let channel = Channel { lose: 500, ..CLEAN };
    let mut w = World::new(cfg, channel, 1);
    for n in 0..5_000u64 {
        let now = n * 1_000;
        w.run(now);
        let fields = Fields {
            wire_bytes: 1_500,
            len: 1_460,
            ..Fields::default()
        };
        w.offer(now, Packet::new(n, 0, (n % 5) as u32, NONE, fields));
        let bare = Packet::new(n, 0, 99, NONE, fields);
        w.offered += 1;
        w.far.on_packet(Nanos(now), bare, &mut w.out);
        w.follow(now, false);
    }
    w.run(2_000_000_000);
    w.check(true);
    assert_eq!(w.delivered.len(), 10_000);
    assert!(w.lost > 100);
}

/// A direction that carries mostly ACKs, 500 for each data packet: still every tenth data packet is
/// selected, and no ACK.
#[test]
fn acks_do_not_make_data_droppable() {
    let mut w = World::new(DcibConfig::LITERAL, CLEAN, 1);
    let (data, acks) = (1_000, 500);
    for n in 0..data * (acks + 1) {
        let now = n * 40;
        w.run(now);
        let (len, flags) = if n % (acks + 1) == 0 {
            (1_460, Flags::default())
        } else {
            (0, Flags::ACK)
        };
        let fields = Fields {
            wire_bytes: 40 + len,
            len,
            flags,
            ..Fields::default()
        };
        w.offer(now, Packet::new(n, 0, 0, NONE, fields));
    }
    w.run(u64::MAX / 2);
    w.check(true);
    assert_eq!(w.near.stats().selected, 100);
    assert_eq!(w.far.stats().acks, 100);
}

#[test]
fn a_full_stalled_queue_stops_selecting() {
    let cfg = DcibConfig {
        stalled_bytes: 30_000,
        ..DcibConfig::LITERAL
    };
    let w = send(cfg, CLEAN, 1, 10_000, Ecn::NotEct);
    w.check(true);
    let stats = w.near.stats();
    assert_eq!(stats.peak_bytes, 30_000);
    assert!(stats.full > 1_000 && stats.selected < 200, "{stats:?}");
}

/// The largest that the paper's section 3D asks for: 100 Gb/s, 30 ms one way. What r tau C asks for
/// is held, 50,000 copies, whatever a router ACK says; and those that are lost come again.
#[test]
fn a_long_fast_path_keeps_all_its_copies() {
    for form in [AckForm::Named, AckForm::Cumulative, AckForm::Bitmap] {
        let cfg = DcibConfig {
            stalled_bytes: 100_000_000,
            tau: Nanos::from_millis(60),
            copies: CopyPolicy::Protect,
            ack_form: form,
            ..DcibConfig::LITERAL
        };
        let channel = Channel { lose: 20, ..CLEAN };
        let mut w = World::new(cfg, channel, 1);
        w.one_way = 30_000_000;
        let w = send_into(w, 120, 700_000, Ecn::NotEct);
        w.check(false);
        let stats = w.near.stats();
        // 75 MB, and what a lost one waits for.
        let law = 0.1 * 60e6 / 120.0 * 1_500.0;
        assert!(
            (stats.peak_bytes as f64 / law - 1.0).abs() < 0.01,
            "{stats:?}"
        );
        // A tenth, in parts of 2^16.
        assert_eq!((stats.selected, stats.full), (70_004, 0));
        assert_eq!(w.delivered.len(), 700_000);
    }
}

#[test]
fn a_path_that_clears_ecn_shuts_the_pair_off() {
    let bleach = Channel {
        bleach: true,
        ..CLEAN
    };
    let w = send(DcibConfig::LITERAL, bleach, 1, 10_000, Ecn::Ect0);
    w.check(true);
    assert!(w.near.stats().off);
    assert_eq!(w.delivered.len(), 10_000);
    let w = send(DcibConfig::LITERAL, CLEAN, 1, 10_000, Ecn::Ect0);
    assert!(!w.near.stats().off);
}

#[test]
fn copies_go_into_an_idle_link_without_evidence_and_are_dropped_at_the_far_side() {
    let cfg = DcibConfig {
        recovery: Recovery::Idle,
        ..DcibConfig::LITERAL
    };
    let w = send(cfg, CLEAN, 1, 1_000, Ecn::NotEct);
    w.check(true);
    let (near, far) = (w.near.stats(), w.far.stats());
    assert_eq!((near.idle, near.resent, far.twice), (100, 0, 100));
    assert_eq!(w.delivered.len(), 1_000);
}

#[test]
fn what_is_above_the_agreed_rate_is_a_probe() {
    let cfg = DcibConfig {
        probe_above: Some(cemark_wire::Rate::gbps(6)),
        ..DcibConfig::LITERAL
    };
    // 12 Gb/s are offered for 40 ms: 40,000 packets, of which the rate and a bucket of 10 ms take
    // 25,000. Of the other 15,000 those that are selected anyway (every tenth of all) are no
    // probes.
    let w = send(cfg, CLEAN, 1, 40_000, Ecn::NotEct);
    w.check(true);
    let probes = w.near.stats().probes;
    assert!((11_000..=15_000).contains(&probes), "{probes}");
    assert!(!w.near.stats().off, "probes are no sign of bleaching");
}

/// Figure 7 as printed: the nine tenths that are not droppable have copies, so a WAN that loses
/// anything loses little for good, and one that loses only the droppable tenth loses all of that.
#[test]
fn copies_of_the_others_help_where_anything_is_lost() {
    let cfg = |clones| DcibConfig {
        clones,
        stalled_bytes: 10_000_000, // nine tenths of 12 Gb/s for a round trip are 2.7 MB
        ..DcibConfig::LITERAL
    };
    let missing = |clones, only_not_ect| {
        let channel = Channel {
            lose: 50,
            only_not_ect,
            ..CLEAN
        };
        let w = send(cfg(clones), channel, 7, 20_000, Ecn::NotEct);
        w.check(false);
        assert!(!w.near.stats().off);
        20_000 - w.delivered.len()
    };
    // A loss in twenty: 1,000 packets, of which a tenth is droppable.
    let any = missing(Clones::Selected, false);
    assert!((800..1_000).contains(&any), "{any} of 1,000 have no copy");
    let any = missing(Clones::Others, false);
    assert!(
        (80..220).contains(&any),
        "100 have no copy, and 50 copies are lost: {any}"
    );
    // A cooperative WAN: 100 of the 2,000 droppable ones.
    let some = missing(Clones::Selected, true);
    assert!(some < 20, "{some} copies are lost");
    let some = missing(Clones::Others, true);
    assert!((70..130).contains(&some), "{some} have no copy");
}

#[test]
fn copies_of_others_are_sent_ecn_capable() {
    let cfg = DcibConfig {
        clones: Clones::Others,
        recovery: Recovery::Idle,
        ..DcibConfig::LITERAL
    };
    let w = send(cfg, CLEAN, 1, 1_000, Ecn::NotEct);
    let (near, far) = (w.near.stats(), w.far.stats());
    assert_eq!((near.selected, near.idle, far.twice), (100, 900, 900));
}
