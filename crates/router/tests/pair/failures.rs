// SPDX-License-Identifier: MIT OR Apache-2.0
//! Routers that die, fall silent or speak another version; paths that are narrow or become so.

use cemark_edge::{AckForm, CopyPolicy};
use cemark_router::Settings;
use cemark_wire::{Ecn, Nanos};
use proptest::prelude::*;

use crate::packets::{number, tcp};
use crate::world::{Datagram, MS, Wan, World, clean, settings};

fn packet(n: u32) -> Vec<u8> {
    tcp(4, 1, 7, n, Ecn::Ect0, 1_000)
}

#[test]
fn a_peer_that_dies_means_plain_forwarding_with_the_hosts_field() {
    for which in [0, 1] {
        let mut world = World::up(settings());
        world.routers[which] = None;
        world.run(600 * MS);
        let other = 1 - which;
        assert_eq!(
            world.router(other).plain_because(),
            Some("the peer is silent")
        );
        world.back[other].clear();
        let sent: Vec<_> = (0..50).map(packet).collect();
        world.stream(other, sent.clone(), 10_000);
        assert_eq!(world.back[other], sent, "to the bit");
        world.start(which);
        world.run(300 * MS);
        assert_eq!(world.router(other).plain_because(), None);
        assert_eq!(world.router(which).plain_because(), None);
        let counts = world.router(other).counts();
        assert_eq!((counts.peer_losses, counts.peer_starts), (1, 2));
    }
}

#[test]
fn a_router_that_is_told_to_end_says_so() {
    let mut world = World::up(settings());
    world.leave(1);
    world.run(2 * crate::world::ONE_WAY);
    let why = world.router(0).plain_because();
    assert_eq!(why, Some("the peer does not hear this router"));
}

#[test]
fn an_unreachable_port_shortens_the_wait_for_a_peer_that_is_late_and_no_other() {
    let mut world = World::up(settings());
    let mut out = crate::world::Out::default();
    let now = Nanos(world.now);
    let near = world.routers[0].as_mut().expect("it lives");
    near.path_error(now, &mut out);
    assert_eq!(near.plain_because(), None, "anybody may have sent it");
    world.routers[1] = None;
    world.run(260 * MS);
    let now = Nanos(world.now);
    let near = world.routers[0].as_mut().expect("it lives");
    assert_eq!(near.plain_because(), None);
    near.path_error(now, &mut out);
    assert_eq!(near.plain_because(), Some("the peer is silent"));
    assert_eq!(near.counts().path_errors, 2);
}

#[test]
fn a_path_that_works_one_way_is_used_by_neither() {
    let mut world = World::up(settings());
    world.wan = Box::new(|d| if d.outward { vec![] } else { vec![0] });
    world.run(600 * MS);
    assert_eq!(
        world.router(0).plain_because(),
        Some("the peer does not hear this router")
    );
    world.run(600 * MS);
    for r in [0, 1] {
        assert_eq!(world.router(r).plain_because(), Some("the peer is silent"));
    }
    world.wan = clean();
    world.run(300 * MS);
    assert_eq!(world.router(0).plain_because(), None);
}

#[test]
fn a_peer_of_another_version_means_plain_forwarding() {
    let mut world = World::new(settings());
    world.wan = Box::new(|d| {
        d.bytes[0] = 2 << 4 | d.bytes[0] & 0xf;
        vec![0]
    });
    world.run(1_000 * MS);
    for r in [0, 1] {
        let router = world.router(r);
        assert_eq!(router.plain_because(), Some("no peer has answered"));
        assert!(router.counts().refused_version > 5);
    }
}

#[test]
fn a_peer_with_other_lanes_means_plain_forwarding() {
    let mut world = World::new(settings());
    let mut settings = settings();
    settings.dcib.lanes = 8;
    settings.end = cemark_router::key::End::Far;
    let eight = cemark_router::Router::new(settings, crate::world::key(), 5_000_000);
    world.routers[1] = Some(eight);
    world.run(1_000 * MS);
    assert!(world.router(0).plain_because().is_some());
    assert!(world.router(0).counts().refused_lanes > 5);
}

/// A WAN that loses datagrams above this many bytes of an IPv4 packet, and says nothing.
fn narrow(bytes: usize) -> Wan {
    Box::new(move |d: &mut Datagram| {
        if d.bytes.len() + 28 > bytes {
            vec![]
        } else {
            vec![0]
        }
    })
}

#[test]
fn the_largest_packet_is_learned_without_icmp() {
    for (path, mtu) in [
        (1_500, 1_436),
        (1_499, 1_420),
        (1_400, 1_280),
        (1_100, 1_000),
        (641, 576),
    ] {
        let mut world = World::new(settings());
        world.wan = narrow(path);
        world.run(2_000 * MS);
        for r in [0, 1] {
            assert_eq!(world.router(r).plain_because(), None, "{path}");
            assert_eq!(world.router(r).mtu(), mtu, "{path}");
        }
    }
    let mut world = World::new(settings());
    world.wan = narrow(600);
    world.run(2_000 * MS);
    let why = world.router(0).plain_because();
    assert_eq!(why, Some("the path takes no packet of 576 bytes"));
}

#[test]
fn a_path_that_becomes_narrow_is_noticed_and_one_that_becomes_wide() {
    let mut world = World::up(settings());
    world.wan = narrow(1_400);
    world.run(6_000 * MS);
    assert_eq!(
        (world.router(0).mtu(), world.router(1).mtu()),
        (1_280, 1_280)
    );
    assert_eq!(world.router(0).plain_because(), None);
    world.wan = clean();
    world.run(3_000 * MS);
    assert_eq!(world.router(0).mtu(), 1_436);
    assert_eq!(world.router(0).counts().peer_losses, 0);
}

#[test]
fn losses_of_five_per_cent_do_not_make_the_pair_doubt() {
    let mut world = World::up(settings());
    let mut random = 3u64;
    world.wan = Box::new(move |_| {
        random = cemark_wire::hash::mix(random);
        if random.is_multiple_of(20) {
            vec![]
        } else {
            vec![0]
        }
    });
    world.run(600_000 * MS);
    for r in [0, 1] {
        let counts = world.router(r).counts();
        assert_eq!(
            (counts.peer_losses, counts.mtu_changes),
            (0, 1),
            "{counts:?}"
        );
    }
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let forms = [AckForm::Named, AckForm::Cumulative, AckForm::Bitmap];
    let policies = [CopyPolicy::Once, CopyPolicy::Restore, CopyPolicy::Protect];
    (0usize..3, 0usize..3, 0u8..3, any::<bool>(), 1u32..4).prop_map(
        move |(form, policy, lanes, in_order, every)| {
            let mut s = settings();
            s.dcib.ack_form = forms[form];
            s.dcib.copies = policies[policy];
            s.dcib.lanes = 1 << lanes;
            s.dcib.hold = in_order.then_some(Nanos(20 * MS));
            s.dcib.ack_every = if form == 0 { 1 } else { every };
            s.dcib.share = 20_000;
            s.bounds.memory = 60_000;
            s
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// Lost, doubled and late datagrams of every kind, data in both directions, a restart.
    #[test]
    fn whatever_the_wan_does_no_packet_is_changed_or_arrives_twice(
        settings in any_settings(), seed: u64, lose in 0u64..80, double in 0u64..80,
        jitter in 0u64..8_000_000, restart in 0usize..4,
    ) {
        let mut world = World::up(settings);
        let mut random = seed;
        world.wan = Box::new(move |_| {
            random = cemark_wire::hash::mix(random);
            let later = random >> 20 & 0xff_ffff;
            let late = |n: u64| (later * n) % jitter.max(1);
            match random % 1_000 {
                n if n < lose => vec![],
                n if n < lose + double => vec![late(1), late(7)],
                _ => vec![late(1)],
            }
        });
        let make = |n: u32, site: u8| {
            tcp(4 + 2 * (n % 2) as u8, site, (n % 5) as u16, n, Ecn::NotEct, 700)
        };
        for n in 0..1_500 {
            world.host(0, &make(n, 1));
            world.host(1, &make(n, 2));
            world.run(50_000);
            if n == 700 && restart < 2 {
                world.start(restart);
            }
            prop_assert!(world.router(0).counts().stalled_memory <= 60_000);
        }
        world.wan = clean();
        world.run(2_000 * MS);
        for (which, site) in [(1, 1), (0, 2)] {
            let mut seen = std::collections::BTreeMap::new();
            for packet in &world.got[which] {
                prop_assert_eq!(packet, &make(number(packet), site));
                *seen.entry(number(packet)).or_insert(0) += 1;
            }
            // A router that has started again does not know what arrived before.
            let twice = seen.values().filter(|n| **n > 1).count();
            prop_assert!(twice == 0 || (restart < 2 && twice < 40), "{} twice", twice);
            // In-order release drops what the WAN has reordered.
            let in_order = settings.dcib.hold.is_some();
            prop_assert!(restart < 2 || in_order || seen.len() > 1_300, "{}", seen.len());
            prop_assert_eq!(world.router(which).counts().stalled_packets, 0);
        }
    }
}
