// SPDX-License-Identifier: MIT OR Apache-2.0
//! The traps of a pair of routers on a real network, one test or more for each.

use cemark_edge::{AckForm, CePolicy};
use cemark_router::copies::memory;
use cemark_router::wire::Head;
use cemark_wire::{Ecn, Nanos};

use crate::packets::{field, is_sound, number, tcp};
use crate::world::{Datagram, MS, World, clean, losing, settings};

const FIELDS: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];

fn stream(version: u8, ecn: Ecn, count: u32, payload: usize) -> Vec<Vec<u8>> {
    (0..count)
        .map(|n| tcp(version, 1, 7, n, ecn, payload))
        .collect()
}

fn marking() -> crate::world::Wan {
    Box::new(|d: &mut Datagram| {
        if d.is_data() && d.ecn.is_capable() {
            d.ecn = Ecn::Ce;
        }
        vec![0]
    })
}

/// RFC 6040 would drop what is Not-ECT inside and CE outside.
#[test]
fn trap_1_decapsulation_is_not_that_of_rfc_6040() {
    for version in [4, 6] {
        for ecn in FIELDS {
            let mut world = World::up(settings());
            world.wan = marking();
            let packets = stream(version, ecn, 200, 1_000);
            world.stream(0, packets.clone(), 10_000);
            assert_eq!(world.got[1].len(), 200, "{ecn:?}: none is dropped");
            let marked = world.got[1].iter().filter(|p| field(p) == Ecn::Ce).count() as u64;
            let counts = world.router(1).counts();
            match ecn {
                Ecn::NotEct => {
                    assert_eq!(world.got[1], packets);
                    assert_eq!((counts.marks_taken, counts.marks_passed), (180, 0));
                }
                Ecn::Ect0 => assert_eq!((marked, counts.marks_passed), (180, 180)),
                Ecn::Ect1 => assert_eq!((marked, counts.marks_passed), (200, 200)),
                Ecn::Ce => assert_eq!(world.got[1], packets),
            }
            assert!(world.got[1].iter().all(|p| is_sound(p)));
        }
    }
}

#[test]
fn trap_2_the_field_of_each_host_comes_back_to_the_bit() {
    for version in [4, 6] {
        let mut settings = settings();
        settings.dcib.ce = CePolicy::Clear;
        let mut world = World::up(settings);
        // Whatever the WAN writes, and also through copies.
        let mut n = 0u64;
        world.wan = Box::new(move |d| {
            n += 1;
            if d.is_data() {
                d.ecn = if d.ecn.is_capable() {
                    Ecn::Ce
                } else {
                    Ecn::NotEct
                };
            }
            let lost = d.is_data() && d.ecn == Ecn::NotEct && n.is_multiple_of(3);
            if lost { vec![] } else { vec![0] }
        });
        let packets: Vec<_> = (0..4_000)
            .map(|n| tcp(version, 1, 7, n, FIELDS[n as usize % 4], 1_000))
            .collect();
        world.stream(0, packets.clone(), 10_000);
        let mut got = world.got[1].clone();
        got.sort_by_key(|p| number(p));
        assert!(world.router(0).counts().resent > 20);
        // A copy may be lost as well.
        let lost = packets.len() - got.len();
        assert!(lost < 60, "{lost}");
        for packet in &got {
            assert_eq!(packet, &packets[number(packet) as usize]);
        }
    }
}

#[test]
fn trap_3_ect_1_is_never_selected_and_nothing_is_raised_to_it() {
    let mut world = World::up(settings());
    let packets: Vec<_> = (0..2_000)
        .map(|n| tcp(4, 1, 7, n, FIELDS[n as usize % 4], 1_000))
        .collect();
    world.stream(0, packets, 10_000);
    let (mut selected, mut seen) = (0, [0; 4]);
    for d in world.data() {
        let Head::Data(shim) = d.head() else { continue };
        seen[shim.ecn as usize] += 1;
        if matches!(shim.ecn, Ecn::Ect1 | Ecn::Ce) {
            assert_eq!((shim.number, d.ecn), (None, shim.ecn));
        }
        assert!(
            d.ecn != Ecn::Ect1 || shim.ecn == Ecn::Ect1,
            "raised to ECT(1)"
        );
        selected += u32::from(shim.number.is_some());
    }
    assert!(seen.iter().all(|n| *n >= 500), "{seen:?}");
    assert!(
        (90..=110).contains(&selected),
        "a tenth of the others: {selected}"
    );
    assert_eq!(world.router(0).counts().spared, 1_000);
}

#[test]
fn trap_4_a_wan_that_clears_the_field_turns_the_near_router_off() {
    let mut world = World::up(settings());
    world.wan = Box::new(|d| {
        d.ecn = Ecn::NotEct;
        vec![0]
    });
    let packets = stream(4, Ecn::NotEct, 3_000, 1_000);
    world.stream(0, packets, 10_000);
    let near = world.router(0);
    assert_eq!(near.plain_because(), Some("the path clears the ECN field"));
    assert_eq!((near.counts().off, near.counts().stalled_packets), (1, 0));
    assert!(
        !world.back[0].is_empty(),
        "later packets are forwarded plainly"
    );
    assert_eq!(world.got[1].len() + world.back[0].len(), 3_000);
    // The other direction continues, and this one is tried again.
    assert_eq!(world.router(1).plain_because(), None);
    world.wan = clean();
    world.run(61_000 * MS);
    assert_eq!(world.router(0).plain_because(), None);
    assert!(
        world.router(0).counts().selected > 0,
        "counts do not go back"
    );
    let before = world.got[1].len();
    world.stream(0, stream(4, Ecn::NotEct, 100, 1_000), 10_000);
    assert_eq!(world.got[1].len(), before + 100);
}

/// The far router selects nothing itself.
#[test]
fn trap_4_few_cleared_fields_do_not_turn_off_a_direction_whose_receiver_has_another_share() {
    let mut world = World::new(settings());
    let mut of_far = settings();
    of_far.dcib.share = 0;
    of_far.end = cemark_router::key::End::Far;
    let far = cemark_router::Router::new(of_far, crate::world::key(), 5_000_000);
    world.routers[1] = Some(far);
    world.run(1_000 * MS);
    let mut n = 0;
    world.wan = Box::new(move |d| {
        n += 1;
        if d.is_data() && n % 50 == 0 {
            d.ecn = Ecn::NotEct;
        }
        vec![0]
    });
    for which in [0, 1] {
        world.stream(which, stream(4, Ecn::NotEct, 3_000, 1_000), 10_000);
    }
    for r in [0, 1] {
        assert_eq!(world.router(r).plain_because(), None);
    }
    assert_eq!(world.router(1).counts().selected, 0);
    assert!(world.router(0).counts().selected > 200);
}

/// A router ACK and a number for each packet on the wire. Trains are split by the device before
/// (`run/device.rs`); a packet that is longer than the path takes is a mistake that shows here.
#[test]
fn trap_5_selection_is_of_wire_packets() {
    let mut world = World::up(settings());
    world.stream(0, stream(4, Ecn::NotEct, 1_000, 1_396), 10_000);
    let near = world.router(0).counts();
    assert_eq!(near.selected, 100);
    assert_eq!(world.router(1).counts().router_acks, 100);
    assert!(world.data().iter().all(|d| d.bytes.len() <= 1_500 - 28));
}

#[test]
fn trap_6_a_copy_owns_its_headers() {
    let mut world = World::up(settings());
    // The first transmission gets CE and is lost, and its bytes are overwritten.
    world.wan = Box::new(|d| match d.head() {
        Head::Data(s) if s.number.is_some() && s.copy == 0 => {
            d.bytes.fill(0xff);
            d.ecn = Ecn::Ce;
            vec![]
        }
        _ => vec![0],
    });
    let packets = stream(4, Ecn::Ect0, 300, 900);
    let mut scribbled: Vec<Vec<u8>> = packets.clone();
    for packet in &mut scribbled {
        world.host(0, packet);
        packet.fill(0xee);
        world.run(10_000);
    }
    world.run(200 * MS);
    let mut got = world.got[1].clone();
    got.sort_by_key(|p| number(p));
    assert_eq!(got, packets);
}

#[test]
fn trap_7_memory_is_bounded_by_what_copies_take_and_selection_stops_before() {
    for (payload, most, packets) in [
        (1_000, 40_000, 4_096),
        (1, 40_000, 4_096),
        (1_000, 4_000_000, 25),
    ] {
        let mut settings = settings();
        settings.bounds.memory = most;
        settings.bounds.packets = packets;
        let mut world = World::up(settings);
        // No router ACK frees a copy.
        world.wan = losing(1, Datagram::is_ack);
        for packet in stream(4, Ecn::NotEct, 4_000, payload) {
            world.host(0, &packet);
            let counts = world.router(0).counts();
            assert!(counts.stalled_memory <= most);
            assert!(counts.stalled_packets <= packets as u64);
        }
        let counts = world.router(0).counts();
        let each = memory(40 + payload);
        let fit = (most / each).min(packets as u64);
        assert_eq!(
            (counts.stalled_packets, counts.selected),
            (fit, fit),
            "{payload}"
        );
        assert!(counts.stalled_full > 0);
        // What was not selected cannot be lost first: it left ECN-capable.
        let data = world.data();
        assert_eq!(data.len(), 4_000, "no packet is lost for want of memory");
        let droppable = data.iter().filter(|d| d.ecn == Ecn::NotEct).count();
        assert_eq!(droppable as u64, fit);
    }
}

#[test]
fn trap_8_router_acks_are_ect_0_and_losing_half_of_them_sends_few_copies() {
    for form in [AckForm::Cumulative, AckForm::Bitmap] {
        let mut settings = settings();
        settings.dcib.ack_form = form;
        let mut world = World::up(settings);
        world.wan = losing(2, Datagram::is_ack);
        world.stream(0, stream(4, Ecn::NotEct, 5_000, 1_000), 10_000);
        assert_eq!(world.got[1].len(), 5_000);
        let acks: Vec<_> = world.sent.iter().filter(|d| d.is_ack()).collect();
        assert!(acks.len() >= 500 && acks.iter().all(|d| d.ecn == Ecn::Ect0));
        let counts = world.router(0).counts();
        assert_eq!(counts.stalled_packets, 0);
        assert!(counts.resent + counts.flushed < 5, "{form:?}: {counts:?}");
    }
}

#[test]
fn trap_9_a_restart_changes_the_epoch_and_nothing_old_counts() {
    for which in [0, 1] {
        let mut world = World::up(settings());
        world.stream(0, stream(4, Ecn::NotEct, 500, 1_000), 10_000);
        let before = world.router(which).counts().epoch;
        // Packets and router ACKs of before are on the way.
        for packet in stream(4, Ecn::NotEct, 200, 1_000) {
            world.host(0, &packet);
        }
        world.run(MS);
        world.start(which);
        world.run(300 * MS);
        assert!(world.router(which).counts().epoch > before);
        for r in [0, 1] {
            assert_eq!(world.router(r).plain_because(), None, "router {r}");
        }
        let old = world.router(which).counts();
        assert!(old.refused_tag + old.refused_epoch > 0, "{old:?}");
        assert_eq!((old.acks_unmatched, old.resent), (0, 0));
        let start = world.got[1].len();
        world.stream(0, stream(4, Ecn::NotEct, 500, 1_000), 10_000);
        assert_eq!(world.got[1].len(), start + 500);
        assert_eq!(world.router(1 - which).counts().peer_starts, 2);
    }
}

/// The copy arrives after the holes of later packets were seen: hosts undo what they reduced, which
/// a kernel shows (`dataplane/edge`). The routers' part is that the copy does arrive, once.
#[test]
fn trap_10_a_late_copy_arrives_once() {
    let mut world = World::up(settings());
    world.wan = losing(5, |d| d.is_data() && d.ecn == Ecn::NotEct);
    world.stream(0, stream(4, Ecn::NotEct, 5_000, 1_000), 10_000);
    let mut numbers: Vec<_> = world.got[1].iter().map(|p| number(p)).collect();
    let late = numbers.windows(2).filter(|w| w[1] < w[0]).count();
    numbers.sort_unstable();
    let all = numbers.len();
    numbers.dedup();
    assert_eq!(numbers.len(), all, "none arrives twice");
    assert!(late > 60 && all > 4_960, "{late} late, {all} in all");
}

/// A WAN port that drops Not-ECT packets first does so with the selected ones, and with no others.
#[test]
fn trap_11_what_the_own_port_may_drop_are_the_selected_packets() {
    let mut world = World::up(settings());
    world.wan = losing(1, |d| d.is_data() && d.ecn == Ecn::NotEct && is_first(d));
    world.stream(0, stream(4, Ecn::NotEct, 1_000, 1_000), 10_000);
    assert_eq!(world.got[1].len(), 1_000, "all have copies");
    assert_eq!(world.router(0).counts().selected, 100);
}

fn is_first(d: &Datagram) -> bool {
    matches!(d.head(), Head::Data(s) if s.copy == 0)
}

#[test]
fn trap_12_lanes_keep_their_order_and_waits_end() {
    let mut settings = settings();
    settings.dcib.hold = Some(Nanos(20 * MS));
    let mut world = World::up(settings);
    world.wan = losing(7, |d| d.is_data() && d.ecn == Ecn::NotEct);
    let packets: Vec<_> = (0..8_000)
        .map(|n| tcp(4, 1, 100 + (n % 32) as u16, n, Ecn::NotEct, 1_000))
        .collect();
    world.stream(0, packets, 10_000);
    // A lane's packets are one flow or more; within a flow the order is that of the host.
    let mut last = [0; 32];
    let mut lanes = std::collections::BTreeSet::new();
    for packet in &world.got[1] {
        let n = number(packet);
        assert!(n >= last[n as usize % 32], "out of order");
        last[n as usize % 32] = n;
    }
    for d in world.data() {
        if let Head::Data(s) = d.head() {
            lanes.insert(s.lane);
        }
    }
    assert_eq!(lanes.len(), 4);
    let counts = world.router(1).counts();
    assert!(
        counts.held_memory_peak > 0 && world.got[1].len() > 7_950,
        "{counts:?}"
    );
    // A packet whose copy is lost too is waited for once, and not for ever.
    let distinct = counts.router_acks - counts.twice;
    let lost = world.router(0).counts().selected - distinct;
    assert_eq!(world.got[1].len() as u64 + counts.late + lost, 8_000);
}

#[test]
fn waiting_packets_are_delivered_when_their_memory_is_full() {
    let mut settings = settings();
    settings.dcib.hold = Some(Nanos(1_000 * MS));
    settings.held = 50_000;
    let mut world = World::up(settings);
    world.wan = losing(1, |d| d.is_data() && d.ecn == Ecn::NotEct);
    world.stream(0, stream(4, Ecn::NotEct, 1_000, 1_000), 10_000);
    world.run(1_000 * MS);
    let counts = world.router(1).counts();
    assert!(counts.hurried > 0, "{counts:?}");
    assert!(counts.held_memory_peak <= 50_000 + memory(1_040));
    assert_eq!(world.got[1].len(), 900, "{counts:?}");
}
