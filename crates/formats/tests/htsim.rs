// SPDX-License-Identifier: MIT OR Apache-2.0
//! htsim's files: what is read, and what is refused in which line.

use cemark_formats::htsim::{matrix, topo};
use cemark_formats::{Kind, Wire};
use cemark_wire::{Picos, Rate};

const THREE: &str = "# a comment\nNodes 24\nTiers 3\nPodsize 8\n\nTier 0\nDownlink_speed_Gbps 100\n\
    Radix_Down 4\nRadix_Up 3\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 200\n\nTier 1\n\
    Downlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 5\nDownlink_Latency_ns 1000\nBundle 1\n\n\
    Tier 2\nDownlink_speed_Gbps 400\nRadix_Down 3\nDownlink_Latency_ns 7000\n\
    Switch_Latency_ns 400\n";

/// Both ends, rate and delay of a wire.
fn seen(wire: &Wire) -> (u32, u32, Rate, Picos) {
    (wire.a, wire.b, wire.rate, wire.delay)
}

fn wire(a: u32, b: u32, gbps: u64, ns: u64) -> (u32, u32, Rate, Picos) {
    (a, b, Rate::gbps(gbps), Picos::from_nanos(ns))
}

/// Hosts 0 to 23, six racks from 24, nine aggregation switches from 30, fifteen cores from 39.
#[test]
fn two_and_three_tiers_are_read() {
    assert_eq!(Kind::of(THREE), Ok(Kind::HtsimTopology));
    let read = topo(THREE).expect("three tiers");
    assert!(read.latencies && read.queues.is_empty());
    assert_eq!((read.nodes, read.graph.nodes), (24, 24 + 6 + 9 + 15));
    assert_eq!(
        read.graph.hosts().collect::<Vec<_>>(),
        (0..24).collect::<Vec<_>>()
    );
    let wires: Vec<_> = read.graph.wires.iter().map(seen).collect();
    assert_eq!(wires.len(), 24 + 6 * 3 + 9 * 5);
    assert_eq!(wires[23], wire(23, 29, 100, 1100));
    assert_eq!(
        wires[24..27],
        [30, 31, 32].map(|agg| wire(24, agg, 200, 1100))
    );
    // The third rack is in the second pod.
    assert_eq!(wires[30], wire(26, 33, 200, 1100));
    // The second aggregation switch of a pod is joined to every third core from the second on.
    let cores = [40, 43, 46, 49, 52].map(|core| wire(31, core, 400, 7200));
    assert_eq!(wires[47..52], cores);

    let two = "nodes 32\ntiers 2\npodsize 32\ntier 0\ndownlink_speed_gbps 100\nradix_up 2\n\
               radix_down 8\nqueue_up 1001\ndownlink_latency_ns 500\noversubscribed 4\ntier 1\n\
               downlink_speed_gbps 400\nradix_down 4\ndownlink_latency_ns 600\n";
    let read = topo(two).expect("two tiers, in small letters");
    assert_eq!(
        (read.graph.nodes, read.latencies, read.queues),
        (38, false, vec![8])
    );
    let wires: Vec<_> = read.graph.wires.iter().map(seen).collect();
    let up = [(32, 36), (32, 37), (33, 36)].map(|(a, b)| wire(a, b, 400, 600));
    assert_eq!(wires[32..35], up);
}

/// Radices count links, bundles divide them by neighbours.
#[test]
fn bundles_are_parallel_links() {
    let text = THREE
        .replace("Radix_Up 3", "Radix_Up 6")
        .replace("Bundle 1", "Bundle 2");
    let text = text.replace("Radix_Down 2", "Radix_Down 4");
    let read = topo(&text).expect("bundles of two");
    assert_eq!(read.graph.nodes, 24 + 6 + 9 + 15);
    let wires: Vec<_> = read.graph.wires.iter().map(seen).collect();
    assert_eq!(wires.len(), 24 + 2 * 6 * 3 + 9 * 5);
    let up = [30, 30, 31].map(|agg| wire(24, agg, 200, 1100));
    assert_eq!(wires[24..27], up);
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
    refused("Bundle 1", "Bundle 0", Some(18), "a bundle of no links");
    refused(
        "Bundle 1",
        "Bundle 3",
        Some(13),
        "there are 2 switches of a pod below with bundles of 3",
    );
    refused(
        "Bundle 1\n\nTier 2\n",
        "\nTier 2\nBundle 2\n",
        Some(19),
        "there are 3 pods with bundles of 2",
    );
    refused("Tier 0\n", "Tier 0\nBundle 2\n", Some(6), "links to hosts");
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
