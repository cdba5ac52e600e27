// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fabrics by `[[node]]` and `[[link]]`, and by a file of another simulator.

use std::path::PathBuf;

use cemark_scenario::{Error, Overrides, Plan, parse};
use cemark_sim::topology::Topology;
use cemark_wire::{Picos, Rate};

/// A scenario with these keys of `[topology]`, nodes and links.
fn scenario(topology: &str, graph: &str) -> String {
    format!(
        "max-time = \"1ms\"\n[topology]\nkind = \"graph\"\n{topology}\n{graph}\n[[workload]]\n\
         kind = \"long\"\n[[scheme]]\nmarker = \"threshold\"\n"
    )
}

fn read(text: &str) -> Result<Plan, String> {
    parse(text, "graph.toml", &Overrides::default()).map_err(in_full)
}

/// Place, message and advice of an error.
fn in_full(error: Error) -> String {
    let help = error.help_text().expect("advice");
    format!("{error} help: {help}")
}

fn topology(graph: &str) -> Topology {
    let text = scenario("rate = \"25Gbps\"\ndelay = \"1us\"", graph);
    let plan = read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    plan.points[0].config.topology.clone()
}

/// Every link as name, Gb/s and microseconds.
fn links(topology: &Topology) -> Vec<(String, u64, u64)> {
    let links = topology.fabric().links().iter();
    links
        .map(|l| {
            (
                l.name.clone(),
                l.rate.0 / 1_000_000_000,
                l.delay.0 / 1_000_000,
            )
        })
        .collect()
}

/// Two leaves, one of them with faster hosts, two spines, and one uplink that is not like the
/// others.
const IRREGULAR: &str = r#"
[[node]]
name = "leaf"
count = 2
hosts = 2
[[node]]
name = "fast"
hosts = 1
rate = "100Gbps"
delay = "3us"
[[node]]
name = "spine"
count = 2
[[node]]
name = "tap"
kind = "host"
[[link]]
name = "up"
ends = ["leaf*", "spine*"]
rate = "40Gbps"
[[link]]
ends = ["fast", "spine0"]
rate = "100Gbps"
delay = "7us"
count = 2
[[link]]
ends = ["spine1", "tap"]
[[link]]
ends = ["tap", "leaf0"]
"#;

#[test]
fn nodes_and_links_make_a_fabric() {
    let fabric = topology(IRREGULAR);
    let all = links(&fabric);
    let name = |i: usize| (&all[i].0[..], all[i].1, all[i].2);
    assert_eq!(fabric.hosts(), 6);
    assert_eq!(name(0), ("host0->leaf0", 25, 1));
    assert_eq!(name(4), ("host4->fast", 100, 3));
    assert_eq!(name(5), ("tap->spine1", 25, 1));
    assert_eq!(name(6), ("tap->leaf0", 25, 1));
    let inner: Vec<&str> = all[14..].iter().map(|l| &l.0[..]).collect();
    let both = |a: &str, b: &str, n: &str| [format!("{a}->{b}{n}"), format!("{b}->{a}{n}")];
    let expected = [
        both("leaf0", "spine0", ""),
        both("leaf0", "spine1", ""),
        both("leaf1", "spine0", ""),
        both("leaf1", "spine1", ""),
        both("fast", "spine0", ""),
        both("fast", "spine0", "#2"),
    ];
    assert_eq!(inner, expected.concat());
    assert_eq!((name(14).1, name(22)), (40, ("fast->spine0", 100, 7)));
    // From a leaf over a spine; from the fast switch to the tap over two more.
    assert_eq!(fabric.propagation(0, 2), Picos::from_micros(4));
    assert_eq!(fabric.links(4, 5), 5);
    assert_eq!(fabric.bottleneck(0, 4), Rate::gbps(25));
    assert_eq!(
        (fabric.slowest(), fabric.fastest()),
        (Rate::gbps(25), Rate::gbps(100))
    );
}

#[test]
fn a_pattern_joins_each_two_nodes_once() {
    let mesh = topology(
        "[[node]]\nname = \"s\"\ncount = 4\nhosts = 1\n[[link]]\nends = [\"s*\", \"s*\"]\n",
    );
    assert_eq!(links(&mesh).len(), 2 * 4 + 2 * 6);
    assert_eq!(mesh.links(0, 3), 3);
}

/// The rate of a link and the hosts of a node are keys of a sweep.
#[test]
fn paths_lead_to_nodes_and_links() {
    let mut change = Overrides::default();
    change.add("link.up.rate=10Gbps,20Gbps").expect("a path");
    change.add("node.fast.hosts=3").expect("a path");
    let text = scenario("", IRREGULAR);
    let plan = parse(&text, "graph.toml", &change).expect("a sweep");
    let seen: Vec<_> = plan
        .points
        .iter()
        .map(|p| (p.config.topology.hosts(), links(&p.config.topology)[18].1))
        .collect();
    assert_eq!(seen, [(8, 10), (8, 20)]);
}

/// Each error names its line, the mistake and the remedy.
#[test]
fn mistakes_point_at_their_place() {
    let good = "[[node]]\nname = \"a\"\nhosts = 1\n[[node]]\nname = \"b\"\nhosts = 1\n[[link]]\n\
                ends = [\"a\", \"b\"]\n";
    assert!(read(&scenario("", good)).is_ok());
    let refused = |from: &str, to: &str, line: usize, message: &str| {
        let text = scenario("", good).replacen(from, to, 1);
        let error = read(&text).expect_err(message);
        assert!(error.contains(message), "{error}");
        assert!(
            error.contains(&format!("graph.toml:{line}:")),
            "{line}: {error}"
        );
    };
    refused(
        "\"b\"\nhosts",
        "\"a\"\nhosts",
        9,
        "two nodes have the name `a`",
    );
    refused(
        "[\"a\", \"b\"]",
        "[\"a\", \"a\"]",
        12,
        "a link from `a` to itself",
    );
    refused(
        "[\"a\", \"b\"]",
        "[\"a\", \"c\"]",
        12,
        "no node is called `c`",
    );
    refused("[\"a\", \"b\"]", "[\"a\"]", 12, "a link has two ends");
    refused(
        "[\"a\", \"b\"]",
        "[\"a*\", \"a*\"]",
        12,
        "joins no two nodes",
    );
    refused(
        "[[link]]\nends = [\"a\", \"b\"]\n",
        "",
        9,
        "no path between `a` and `b`",
    );
    refused(
        "\"b\"\nhosts = 1",
        "\"b\"\nkind = \"host\"\nhosts = 1",
        11,
        "a host has no hosts",
    );
    refused(
        "\"b\"\nhosts = 1",
        "\"b\"\nkind = \"host\"\n[[node]]\nname = \"c\"\nkind = \"host\"",
        12,
        "host `c` has no link",
    );
    refused("\"b\"\nhosts = 1", "\"b\"", 2, "this fabric has 1 host");
    refused(
        "kind = \"graph\"",
        "kind = \"star\"\nhosts = 4",
        6,
        "belongs to a topology of kind",
    );
    let chain = "[[node]]\nname = \"s\"\ncount = 9\nhosts = 1\n".to_owned()
        + &(1..9)
            .map(|i| format!("[[link]]\nends = [\"s{}\", \"s{i}\"]\n", i - 1))
            .collect::<String>();
    refused(good, &chain, 6, "cross 9 links");
}

/// A file of topologies in a folder of its own, and the scenario beside it.
fn beside(name: &str, text: &str) -> Result<Topology, String> {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("graphs");
    std::fs::create_dir_all(&dir).expect("a folder");
    std::fs::write(dir.join(name), text).expect("a file");
    let scenario = scenario(&format!("file = \"{name}\""), "");
    let at = dir.join("graph.toml");
    let plan = parse(&scenario, &at.display().to_string(), &Overrides::default());
    let plan = plan.map_err(in_full)?;
    Ok(plan.points[0].config.topology.clone())
}

#[test]
fn a_file_of_hpcc_is_a_fabric() {
    // Racks of two sizes, parallel links, links of two rates: three switches in a row.
    let text = "6 3 6\n3 4 5\n0 3 25Gbps 1us 0\n1 4 25Gbps 1us 0\n2 3 10Gbps 2us 0\n\
                3 4 100Gbps 1us 0\n4 5 100Gbps 1us 0\n3 4 40Gbps 1us 0\n";
    let fabric = beside("row.txt", text).expect("a fabric");
    let all = links(&fabric);
    assert_eq!(all[2], ("host2->switch3".to_owned(), 10, 2));
    let inner: Vec<&str> = all[6..].iter().map(|l| &l.0[..]).collect();
    assert_eq!(
        inner[..3],
        ["switch3->switch4", "switch4->switch3", "switch4->switch5"]
    );
    assert_eq!(inner[4..], ["switch3->switch4#2", "switch4->switch3#2"]);
    for (from, to, message) in [
        (
            "3 4 40Gbps",
            "4 4 40Gbps",
            "row.txt:8: a link from `switch4` to itself",
        ),
        (
            "3 4 40Gbps",
            "0 1 40Gbps",
            "row.txt:8: a link between two hosts, `host0` and `host1`",
        ),
        ("3 4 40Gbps", "3 9 40Gbps", "row.txt:8: there is no node 9"),
        (
            "1 4 25Gbps",
            "3 4 25Gbps",
            "row.txt: host `host1` has no link",
        ),
        ("6 3 6", "one", "row.txt:1: this begins no file"),
    ] {
        let error = beside("row.txt", &text.replace(from, to)).expect_err(message);
        assert!(error.contains(message), "{error}");
    }
    let both = scenario("file = \"row.txt\"", IRREGULAR);
    let error = read(&both).expect_err("two ways");
    assert!(error.contains("given in two ways"), "{error}");
    let error = read(&scenario("file = \"absent.txt\"", "")).expect_err("no file");
    assert!(error.contains("absent.txt` cannot be read"), "{error}");
}

#[test]
fn a_file_of_htsim_is_a_fabric() {
    let text = "Nodes 8\nTiers 2\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 4\n\
                Downlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 4\n\
                Downlink_Latency_ns 2000\nBundle 2\n";
    let fabric = beside("two.topo", text).expect("a fabric");
    assert_eq!(fabric.hosts(), 8);
    let all = links(&fabric);
    assert_eq!(all.len(), 2 * (8 + 2 * 2 * 2));
    assert_eq!(all[18], ("switch8->switch10#2".to_owned(), 200, 2));
    assert_eq!(fabric.propagation(0, 7), Picos::from_micros(6));
}
