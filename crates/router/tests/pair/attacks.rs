// SPDX-License-Identifier: MIT OR Apache-2.0
//! Attackers who see, repeat, change and make datagrams, and have no key.

use cemark_router::key::{End, Key};
use cemark_router::wire::{self, HEAD, Head};
use cemark_wire::{Ecn, Nanos};
use proptest::prelude::*;

use crate::packets::tcp;
use crate::world::{Datagram, MS, Out, World, settings};

/// A pair with copies in the near router, and all datagrams so far.
fn busy() -> (World, Vec<Datagram>) {
    let mut world = World::up(settings());
    world.stream(
        0,
        (0..500).map(|n| tcp(4, 1, 7, n, Ecn::NotEct, 1_000)),
        10_000,
    );
    let sent = world.sent.clone();
    // Copies that no router ACK has freed yet.
    for n in 500..700 {
        world.host(0, &tcp(4, 1, 7, n, Ecn::NotEct, 1_000));
    }
    (world, sent)
}

/// Gives datagrams to the router that they are for, and checks that nothing comes of it.
fn nothing_comes_of(world: &mut World, which: usize, datagrams: &[Vec<u8>]) {
    let before = world.router(which).counts();
    let mut out = Out::default();
    let now = Nanos(world.now);
    for bytes in datagrams {
        let router = world.routers[which].as_mut().expect("it lives");
        router.from_peer(now, Ecn::Ect0, &mut bytes.clone(), &mut out);
    }
    assert!(out.peer.is_empty() && out.host.is_empty() && out.back.is_empty());
    let after = world.router(which).counts();
    assert_eq!(
        after.stalled_packets, before.stalled_packets,
        "copies freed or sent"
    );
    assert_eq!(
        after.peer_starts, before.peer_starts,
        "the peer's epoch changed"
    );
    let refused = |c: &cemark_router::counts::Counts| {
        let hellos = c.refused_late_hello;
        c.refused_tag
            + c.refused_replay
            + c.refused_epoch
            + c.refused_form
            + c.refused_version
            + hellos
    };
    assert_eq!(
        refused(&after) - refused(&before),
        datagrams.len() as u64,
        "each is counted"
    );
}

#[test]
fn what_arrived_once_does_not_arrive_again() {
    let (mut world, sent) = busy();
    for which in [0, 1] {
        let of = |d: &&Datagram| usize::from(d.outward) == which;
        let hello = |d: &&Datagram| matches!(d.head(), Head::Hello(_));
        let all: Vec<_> = sent.iter().filter(of).collect();
        let acks_and_data: Vec<_> = all
            .iter()
            .filter(|d| !hello(d))
            .map(|d| d.bytes.clone())
            .collect();
        assert!(acks_and_data.len() >= 50, "{}", acks_and_data.len());
        nothing_comes_of(&mut world, which, &acks_and_data);
        let hellos: Vec<_> = all
            .iter()
            .filter(|d| hello(d))
            .map(|d| d.bytes.clone())
            .collect();
        assert!(hellos.len() >= 10);
        nothing_comes_of(&mut world, which, &hellos);
    }
}

#[test]
fn what_was_sent_is_not_taken_by_its_sender() {
    let (mut world, sent) = busy();
    let own: Vec<_> = sent
        .iter()
        .filter(|d| d.outward)
        .map(|d| d.bytes.clone())
        .collect();
    nothing_comes_of(&mut world, 0, &own);
}

#[test]
fn router_acks_without_the_key_free_nothing_and_flush_nothing() {
    let (mut world, sent) = busy();
    let other = Key::new(*b"not the same key");
    let epoch = world.router(0).counts().epoch;
    let real = sent
        .iter()
        .rfind(|d| d.is_ack())
        .expect("there are router ACKs");
    let Head::Report(serial, report) = real.head() else {
        panic!("it is one")
    };
    let far_epoch = world.router(1).counts().epoch;
    let forged: Vec<_> = (0..200)
        .map(|i| {
            let mut report = report;
            report.named = (50 + i % 20, 0);
            report.below = 1 << 40;
            report.bits = u64::MAX;
            let mut bytes = Vec::new();
            wire::write(
                &mut bytes,
                &Head::Report(serial + 1_000 + i, report),
                far_epoch,
                0,
            );
            other.sign(End::Far, epoch, &mut bytes, &[]);
            bytes
        })
        .collect();
    nothing_comes_of(&mut world, 0, &forged);
    // With the key the same bytes do free copies: the test above is not empty.
    let mut bytes = forged[0].clone();
    crate::world::key().sign(End::Far, epoch, &mut bytes, &[]);
    let mut out = Out::default();
    let now = Nanos(world.now);
    let near = world.routers[0].as_mut().expect("it lives");
    near.from_peer(now, Ecn::Ect0, &mut bytes, &mut out);
    assert_eq!(near.counts().stalled_packets, 0);
}

#[test]
fn hellos_of_an_earlier_start_do_not_change_the_peer() {
    let mut world = World::up(settings());
    let of_first_start: Vec<_> = world.sent.iter().filter(|d| d.outward).cloned().collect();
    world.start(0);
    world.run(1_000 * MS);
    for _ in 0..20 {
        for datagram in &of_first_start {
            world.throw(datagram.clone(), 0);
        }
        world.run(50 * MS);
        assert_eq!(world.router(1).plain_because(), None);
        assert_eq!(world.router(0).plain_because(), None);
    }
    assert_eq!(world.router(1).counts().peer_starts, 2);
}

/// They answer the epoch that the far router had until the peer fell silent.
#[test]
fn hellos_of_an_earlier_start_do_not_wake_a_silent_peer() {
    let mut world = World::up(settings());
    let of_first_start: Vec<_> = world.sent.iter().filter(|d| d.outward).cloned().collect();
    world.start(0);
    world.run(1_000 * MS);
    world.routers[0] = None;
    world.run(600 * MS);
    for datagram in of_first_start {
        world.throw(datagram, 0);
        world.run(10 * MS);
        let why = world.router(1).plain_because();
        assert_eq!(why, Some("the peer is silent"));
    }
    assert_eq!(world.router(1).counts().peer_starts, 2);
    world.start(0);
    world.run(300 * MS);
    assert_eq!(world.router(1).plain_because(), None);
}

#[test]
fn a_peer_that_was_silent_for_the_other_alone_is_taken_again() {
    let mut world = World::up(settings());
    world.wan = Box::new(|d| if d.outward { vec![] } else { vec![0] });
    world.run(600 * MS);
    assert!(world.router(1).plain_because().is_some());
    world.wan = crate::world::clean();
    world.run(300 * MS);
    for r in [0, 1] {
        assert_eq!(world.router(r).plain_because(), None);
    }
}

#[test]
fn hellos_of_an_earlier_start_do_not_keep_a_pair_from_coming_up() {
    let mut world = World::up(settings());
    let hello = |d: &&Datagram| matches!(d.head(), Head::Hello(_));
    let of_first_start: Vec<_> = world.sent.iter().filter(hello).cloned().collect();
    world.start(0);
    world.start(1);
    for n in 0..1_000 {
        for k in 0..10 {
            let one = &of_first_start[(10 * n + k) % of_first_start.len()];
            world.throw(one.clone(), 100_000 * k as u64);
        }
        world.run(MS);
    }
    for r in [0, 1] {
        assert_eq!(world.router(r).plain_because(), None);
    }
}

#[test]
fn a_flood_does_not_stop_the_pair() {
    let mut world = World::up(settings());
    let mut random = 1u64;
    for n in 0..2_000 {
        for which in [true, false] {
            random = cemark_wire::hash::mix(random);
            let mut bytes = vec![0x11 + (random % 3) as u8; 36 + (random >> 8) as usize % 1_400];
            bytes[4..12].copy_from_slice(&random.to_be_bytes());
            world.throw(
                Datagram {
                    outward: which,
                    ecn: Ecn::Ce,
                    bytes,
                },
                0,
            );
        }
        world.host(0, &tcp(4, 1, 7, n, Ecn::NotEct, 1_000));
        world.run(50_000);
    }
    world.run(100 * MS);
    assert_eq!(world.got[1].len(), 2_000);
    for r in [0, 1] {
        let counts = world.router(r).counts();
        assert!(counts.refused_tag + counts.refused_form >= 2_000);
        assert_eq!(counts.peer_losses, 0);
    }
}

/// Each bit of each kind of datagram, as far as the tag covers it.
#[test]
fn a_changed_bit_is_refused() {
    let (mut world, sent) = busy();
    let last =
        |of: fn(&Datagram) -> bool| sent.iter().rfind(|d| of(d)).expect("one of each").clone();
    let kinds = [
        last(|d| d.is_data() && d.outward),
        last(Datagram::is_ack),
        last(|d| !d.is_ack() && !d.is_data() && !d.outward),
    ];
    for datagram in kinds {
        let covered = datagram.bytes.len().min(HEAD + 40);
        let changed: Vec<_> = (0..covered * 8)
            .map(|bit| {
                let mut bytes = datagram.bytes.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                bytes
            })
            .collect();
        nothing_comes_of(&mut world, usize::from(datagram.outward), &changed);
        let cut: Vec<_> = (0..datagram.bytes.len())
            .map(|n| datagram.bytes[..n].to_vec())
            .collect();
        nothing_comes_of(&mut world, usize::from(datagram.outward), &cut);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn bytes_from_anywhere_are_refused(mut bytes: Vec<u8>, kind in 0u8..4) {
        let _ = wire::read(&bytes);
        bytes.resize(bytes.len().max(HEAD + 10), 7);
        bytes[0] = 0x10 | kind;
        let mut world = World::new(settings());
        let mut out = Out::default();
        let router = world.routers[0].as_mut().expect("it lives");
        router.from_peer(Nanos(1), Ecn::Ect0, &mut bytes, &mut out);
        prop_assert!(out.host.is_empty() && out.peer.is_empty() && out.back.is_empty());
        let counts = router.counts();
        prop_assert_eq!(counts.refused_tag + counts.refused_form, 1);
    }
}
