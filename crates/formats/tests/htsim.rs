// SPDX-License-Identifier: MIT OR Apache-2.0
//! htsim's files: what is read, and what is refused in which line.

use cemark_formats::htsim::{matrix, topo};
use cemark_formats::{Clos, Fabric, Kind, Line};
use cemark_wire::{Picos, Rate};

const THREE: &str = "# a comment\nNodes 24\nTiers 3\nPodsize 8\n\nTier 0\nDownlink_speed_Gbps 100\n\
    Radix_Down 4\nRadix_Up 3\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 200\n\nTier 1\n\
    Downlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 5\nDownlink_Latency_ns 1000\nBundle 1\n\n\
    Tier 2\nDownlink_speed_Gbps 400\nRadix_Down 3\nDownlink_Latency_ns 7000\n\
    Switch_Latency_ns 400\n";

fn line(gbps: u64, ns: u64) -> Line {
    Line {
        rate: Rate::gbps(gbps),
        delay: Picos::from_nanos(ns),
    }
}

#[test]
fn two_and_three_tiers_are_read() {
    assert_eq!(Kind::of(THREE), Ok(Kind::HtsimTopology));
    let read = topo(THREE).expect("three tiers");
    let expected = Clos {
        pods: 3,
        edges: 2,
        aggs: 3,
        cores: 5,
        hosts: 4,
        host: line(100, 1100),
        pod: line(200, 1100),
        core: line(400, 7200),
    };
    assert_eq!(read.fabric, Fabric::Clos(expected));
    assert!(read.latencies && read.queues.is_empty());

    let two = "nodes 32\ntiers 2\npodsize 32\ntier 0\ndownlink_speed_gbps 100\nradix_up 2\n\
               radix_down 8\nqueue_up 1001\ndownlink_latency_ns 500\noversubscribed 4\ntier 1\n\
               downlink_speed_gbps 400\nradix_down 4\ndownlink_latency_ns 600\n";
    let read = topo(two).expect("two tiers, in small letters");
    let expected = Fabric::LeafSpine {
        leaves: 4,
        spines: 2,
        hosts: 8,
        host: line(100, 500),
        up: line(400, 600),
    };
    assert_eq!(
        (read.fabric, read.latencies, read.queues),
        (expected, false, vec![8])
    );
}

#[test]
fn what_of_a_topology_cannot_be_said_is_refused_where_it_stands() {
    let refused = |from: &str, to: &str, line: Option<usize>, message: &str| {
        let text = THREE.replacen(from, to, 1);
        assert_ne!(text, THREE);
        let fault = topo(&text).expect_err(message);
        assert_eq!(fault.line, line, "{fault:?}");
        assert!(fault.message.contains(message), "{fault:?}");
        assert!(!fault.help.is_empty());
    };
    refused("Bundle 1", "Bundle 3", Some(18), "parallel links");
    refused(
        "Radix_Down 3",
        "Radix_Down 4",
        Some(20),
        "Radix_Down 4, and there are 3 pods",
    );
    refused(
        "Radix_Down 2",
        "Radix_Down 4",
        Some(13),
        "there are 2 switches of a pod",
    );
    refused(
        "Radix_Down 4\n",
        "Radix_Down 5\n",
        Some(6),
        "24 nodes do not divide by 5",
    );
    refused("Radix_Down 4\n", "", Some(6), "Radix_Down is missing");
    refused(
        "Podsize 8",
        "Podsize 9",
        Some(6),
        "9 hosts of a pod do not divide",
    );
    refused("Tier 1", "Tier 2", Some(13), "tier 2 follows 1");
    refused("Tiers 3", "Tiers 2", Some(3), "the file describes 3");
    refused("Tiers 3\n", "", None, "Tiers is missing");
    refused("Podsize", "Podsise", Some(4), "`Podsise` is not known");
    refused("ns 7000", "ns 18446744073709551615", Some(20), "too large");
    refused("Gbps 400", "Gbps x", Some(21), "`x` is no rate");
}

#[test]
fn a_matrix_is_read_and_triggers_are_refused() {
    let text = "Nodes 16\nConnections 2\n0->15 id 1 start 0 size 2000000\n\
                3->4 start 1.5e6 size 7 prio 2\n\n";
    assert_eq!(Kind::of(text), Ok(Kind::HtsimFlows));
    let read = matrix(text).expect("a matrix");
    assert_eq!(read.nodes, 16);
    let [a, b] = read.flows[..] else {
        panic!("{read:?}")
    };
    assert_eq!(
        (a.src, a.dst, a.bytes, a.start),
        (0, 15, 2_000_000, Picos::ZERO)
    );
    assert_eq!(
        (b.line, b.start, b.priority),
        (4, Picos(1_500_000), Some(2))
    );

    let refused = |from: &str, to: &str, line: Option<usize>, message: &str| {
        let text = text.replacen(from, to, 1);
        let fault = matrix(&text).expect_err(message);
        assert_eq!(fault.line, line, "{fault:?}");
        assert!(fault.message.contains(message), "{fault:?}");
    };
    refused(
        "Connections 2",
        "Connections 2\nTriggers 1",
        Some(3),
        "triggers",
    );
    refused("prio 2", "trigger 2", Some(4), "triggers");
    refused("prio 2", "send_done_trigger 2", Some(4), "triggers");
    refused("Connections 2", "Failures 1", Some(2), "failures");
    refused(
        "Connections 2",
        "Connections 3",
        Some(2),
        "the file has 2 flows",
    );
    refused("Nodes 16\n", "", None, "number of nodes");
    refused("0->15", "0->16", Some(3), "no node 16");
    refused("0->15", "0->", Some(3), "`` is no node");
    refused("0->15", "15->15", Some(3), "to itself");
    refused("size 7", "size 0", Some(4), "endless");
    refused("start 0 ", "", Some(3), "the start of this flow");
    refused("prio", "prior", Some(4), "`prior` is not known");
}
