// SPDX-License-Identifier: MIT OR Apache-2.0
//! A tap sees every packet that arrives over its link, and changes nothing.

use crate::common::{config, scheme, us, web, workload};
use cemark_sim::config::{Config, Pfc, Policy, SchedulerKind};
use cemark_sim::faults::{LinkFault, Loss, Victims};
use cemark_sim::workload::{Kind, List, RttModel};
use cemark_sim::{LinkId, Sightings, Tap, run, run_with_taps};
use cemark_wire::{Ecn, Flags, Picos};

/// Whole runs in the forms that ports and hosts have: fused ports, explicit queues, extra delays
/// behind the sender's NIC, losses on links, pauses with extra delays before the receiver.
fn runs() -> Vec<(&'static str, Config)> {
    let marks = || scheme("threshold", &[("k", 30_000)]);
    let plain = config(vec![web(0.6, 120)], marks());
    let changed = |change: fn(&mut Config)| {
        let mut config = plain.clone();
        change(&mut config);
        config
    };
    vec![
        ("fused", plain.clone()),
        ("explicit", changed(|c| c.switch.never_fuse = true)),
        ("extra", changed(|c| c.rtt = RttModel::Fixed(us(200)))),
        (
            "losses",
            changed(|c| {
                c.faults = vec![LinkFault {
                    link: 20,
                    loss: Loss::Uniform { chance: 1 << 24 },
                    victims: Victims::Any,
                    bleach: false,
                }];
            }),
        ),
        (
            "pauses",
            changed(|c| {
                c.rtt = RttModel::Fixed(us(200));
                c.switch.buffering.policy = Policy::Dynamic { alpha: 1 << 16 };
                c.switch.pfc = Some(Pfc::default());
                c.switch.scheduler = SchedulerKind::Fifo;
            }),
        ),
    ]
}

fn tapped(config: &Config, links: &[u32], most: usize) -> (u64, u64, Sightings) {
    let taps: Vec<Tap> = links
        .iter()
        .map(|&link| Tap {
            link: LinkId(link),
            most,
        })
        .collect();
    let (outcome, seen) = run_with_taps(config, &taps, &mut |_| true).expect("it ends");
    (outcome.digest, outcome.packet_hops, seen)
}

#[test]
fn taps_see_every_packet_and_change_nothing() {
    for (name, config) in runs() {
        let without = run(&config);
        let fabric = config.topology.fabric();
        let all: Vec<u32> = (0..fabric.links().len() as u32).collect();
        let (digest, hops, seen) = tapped(&config, &all, usize::MAX);
        assert_eq!(
            (digest, hops),
            (without.digest, without.packet_hops),
            "{name}"
        );
        let arrived: u64 = seen.arrived.iter().sum();
        let lost: u64 = without.totals.drops.values().sum();
        // What a fault takes is not seen behind it.
        match name {
            "losses" => assert!(arrived < hops && hops - arrived <= lost, "{arrived} {hops}"),
            _ => assert_eq!(arrived, hops, "{name}"),
        }
        assert_eq!(seen.seen.len() as u64, arrived, "{name}");
        assert!(seen.seen.is_sorted_by_key(|s| s.at), "{name}");
        assert!(
            seen.seen.iter().any(|s| s.ecn == Ecn::Ce),
            "{name}: nothing is marked"
        );
        for s in &seen.seen {
            let link = &fabric.links()[s.tap];
            // The last link of a packet leads to the host that it is for, the first comes from the
            // host that sent it.
            assert!(link.host.is_none_or(|host| host == s.dst), "{name} {s:?}");
            assert_eq!(s.hop == 1, s.tap == s.src as usize, "{name} {s:?}");
        }
    }
}

#[test]
fn a_flow_alone_is_seen_byte_by_byte_and_only_the_first_packets_are_kept() {
    let flow = cemark_sim::workload::FlowLine {
        start: us(3),
        src: 0,
        dst: 4,
        bytes: 4_000,
        class: None,
        rtt: None,
    };
    let config = config(
        vec![workload(Kind::List(List::from(vec![flow])))],
        scheme("threshold", &[]),
    );
    let (_, _, seen) = tapped(&config, &[0], 2);
    assert_eq!(
        (seen.arrived[0], seen.seen.len()),
        (3, 2),
        "1460 + 1460 + 1080 bytes"
    );
    let [a, b] = seen.seen[..] else {
        panic!("{seen:?}")
    };
    assert_eq!(
        (a.seq, a.len, a.wire_bytes, a.src, a.dst, a.hop),
        (0, 1460, 1500, 0, 4, 1)
    );
    assert_eq!(
        (b.seq, b.flags.has(Flags::ACK), b.ecn),
        (1460, false, Ecn::Ect0)
    );
    // 1500 bytes at 10 Gb/s take 1.2 us; the delay of the link is 9,999,991 ps.
    assert_eq!(a.at, Picos(3_000_000 + 1_200_000 + 9_999_991));
    assert_eq!(b.at, Picos(a.at.0 + 1_200_000));
}
