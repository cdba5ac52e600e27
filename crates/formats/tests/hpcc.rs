// SPDX-License-Identifier: MIT OR Apache-2.0
//! HPCC's files: what is read, and what is refused in which line.

use cemark_formats::hpcc::{self, Config, Control};
use cemark_formats::{Clos, Fabric, Fault, Kind, Laid, Line};
use cemark_wire::{Picos, Rate};

fn laid(text: &str) -> Result<Laid, Fault> {
    assert_eq!(Kind::of(text), Ok(Kind::HpccTopology));
    Laid::of(&hpcc::topology(text)?.graph)
}

fn line(gbps: u64, us: u64) -> Line {
    Line {
        rate: Rate::gbps(gbps),
        delay: Picos::from_micros(us),
    }
}

/// Links of `hosts` hosts each at `edges`, from host 0 on.
fn racks(edges: std::ops::Range<u32>, hosts: u32) -> Vec<String> {
    let mut host = 0;
    let mut all = Vec::new();
    for edge in edges {
        for _ in 0..hosts {
            all.push(format!("{host} {edge} 100Gbps 1000ns 0.000000"));
            host += 1;
        }
    }
    all
}

fn file(nodes: u32, switches: std::ops::Range<u32>, links: &[String]) -> String {
    let ids: Vec<String> = switches.clone().map(|s| s.to_string()).collect();
    format!(
        "{nodes} {} {}\n{}\n{}\n",
        switches.len(),
        links.len(),
        ids.join(" "),
        links.join("\n")
    )
}

/// Three pods of two edge and three aggregation switches, two core switches above each.
fn three_tiers() -> Vec<String> {
    let mut links = racks(12..18, 2);
    for edge in 0..6 {
        for agg in 0..3 {
            links.push(format!(
                "{} {} 400Gbps 0.002ms 0",
                12 + edge,
                18 + edge / 2 * 3 + agg
            ));
        }
    }
    for agg in 0..9 {
        for core in 0..2 {
            links.push(format!(
                "{} {} 200Gb/s 3us 0",
                18 + agg,
                27 + agg % 3 * 2 + core
            ));
        }
    }
    links
}

#[test]
fn the_topologies_are_recognised() {
    let star = laid("4 1 3\n0\n0 1 100Gbps 0.001ms 0\n0 2 100Gbps 1us 0\n0 3 1e2Gbps 1000ns 0.0\n");
    let star = star.expect("a star");
    assert_eq!(
        star.fabric,
        Fabric::Star {
            hosts: 3,
            host: line(100, 1)
        }
    );
    assert_eq!(star.hosts, [1, 2, 3]);

    let text = "5 2 4\r\n0 1\r\n0 1 40Gbps 5us 0\r\n1 2 10Gbps 1us 0\r\n\
                0 3 10Gbps 1us 0\r\n1 4 10Gbps 1us 0\r\n";
    let dumbbell = laid(text).expect("a dumbbell");
    let (host, middle) = (line(10, 1), line(40, 5));
    assert_eq!(
        dumbbell.fabric,
        Fabric::Dumbbell {
            left: 2,
            right: 1,
            host,
            middle
        }
    );
    assert_eq!(
        dumbbell.hosts,
        [2, 4, 3],
        "rack by rack, the first host first"
    );

    let mut links = racks(4..6, 2);
    for (leaf, spine) in [(4, 6), (4, 7), (5, 6), (5, 7), (4, 8), (5, 8)] {
        links.push(format!("{leaf} {spine} 40Gbps 1us 0"));
    }
    let fabric = laid(&file(9, 4..9, &links))
        .expect("leaves and spines")
        .fabric;
    let expected = Fabric::LeafSpine {
        leaves: 2,
        spines: 3,
        hosts: 2,
        host: line(100, 1),
        up: line(40, 1),
    };
    assert_eq!(fabric, expected);

    let found = laid(&file(33, 12..33, &three_tiers())).expect("three tiers");
    let expected = Clos {
        pods: 3,
        edges: 2,
        aggs: 3,
        cores: 2,
        hosts: 2,
        host: line(100, 1),
        pod: line(400, 2),
        core: line(200, 3),
    };
    assert_eq!(found.fabric, Fabric::Clos(expected));
    assert_eq!(found.hosts, (0..12).collect::<Vec<u32>>());
}

/// The line, a part of the message and a part of the help.
fn refused(text: &str, at: Option<usize>, message: &str, help: &str) {
    let fault = laid(text).expect_err(message);
    assert_eq!(fault.line, at, "{fault:?}");
    assert!(fault.message.contains(message), "{fault:?}");
    assert!(fault.help.contains(help), "{fault:?}");
}

#[test]
fn what_a_scenario_cannot_say_is_refused_where_it_stands() {
    let two = "3 1 2\n0\n0 1 1Gbps 1us 0\n";
    refused(
        &format!("{two}0 2 2Gbps 1us 0"),
        Some(4),
        "2Gbps and 1us here, 1Gbps",
        "equal",
    );
    refused(
        &format!("{two}0 2 1Gbps 1us 0.01"),
        Some(4),
        "error rate 0.01",
        "[[fault]]",
    );
    refused(
        &format!("{two}0 2 1Gbps 1us x"),
        Some(4),
        "`x` is no error rate",
        "rate delay",
    );
    refused(
        &format!("{two}0 2 fast 1us 0"),
        Some(4),
        "`fast` is no rate",
        "100Gbps",
    );
    refused(
        &format!("{two}0 2 0Gbps 1us 0"),
        Some(4),
        "no rate",
        "above zero",
    );
    refused(
        &format!("{two}0 2 1Gbps 1 us 0"),
        Some(4),
        "6 words",
        "src dst rate",
    );
    refused(
        &format!("{two}0 3 1Gbps 1us 0"),
        Some(4),
        "no node 3",
        "0 to 2",
    );
    refused(
        "4 1 2\n0\n0 1 1Gbps 1us 0\n2 3 1Gbps 1us 0",
        Some(4),
        "two hosts",
        "second line",
    );
    refused(
        &format!("{two}0 1 1Gbps 1us 0"),
        Some(4),
        "a second link",
        "sum",
    );
    refused(
        &format!("{two}2 2 1Gbps 1us 0"),
        Some(4),
        "to itself",
        "remove",
    );
    refused(two, Some(3), "the file ends", "correct the first line");
    refused(
        "3 1 1\n0\n0 1 1Gbps 1us 0\n",
        None,
        "node 2 is no switch",
        "join it",
    );
    refused(
        "3 2 1\n0 0\n0 1 1Gbps 1us 0\n",
        Some(2),
        "listed twice",
        "once",
    );
    refused("3 9 1\n", Some(1), "3 nodes with 9 switches", "at most");
    refused("2 2 1\n0 1\n0 1 1Gbps 1us 0\n", None, "no host", "switches");
    // A host with two links, the second in line 5.
    let text = "4 2 4\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n0 3 1Gbps 1us 0\n2 3 1Gbps 1us 0\n";
    refused(text, Some(5), "host 0 has 2 links", "one link");
    // Three switches with hosts in a row.
    let row = "6 3 5\n3 4 5\n0 3 1Gbps 1us 0\n1 4 1Gbps 1us 0\n2 5 1Gbps 1us 0\n\
               3 4 1Gbps 1us 0\n4 5 1Gbps 1us 0\n";
    refused(row, Some(6), "both in the first tier", "two-sites");
}

#[test]
fn three_tiers_that_do_not_fit_are_refused() {
    let whole = three_tiers();
    let text = |links: &[String]| file(33, 12..33, links);
    // Without a link between an edge and an aggregation switch.
    let mut links = whole.clone();
    links.remove(12);
    refused(
        &text(&links),
        None,
        "share switch",
        "each aggregation switch",
    );
    // Without one to the core.
    let mut links = whole.clone();
    links.pop();
    refused(
        &text(&links),
        None,
        "different ways",
        "one link to each pod",
    );
    // A core link of another rate: the last line of the file.
    let mut links = whole.clone();
    *links.last_mut().expect("links") = "26 32 100Gbps 3us 0".to_owned();
    let last = 2 + links.len();
    refused(&text(&links), Some(last), "second and third tier", "equal");
    // Another host in one rack.
    let mut links = whole;
    links.push("33 12 100Gbps 1us 0".to_owned());
    let ids: Vec<String> = (12..33).map(|s| s.to_string()).collect();
    let more = format!(
        "34 21 {}\n{}\n{}\n",
        links.len(),
        ids.join(" "),
        links.join("\n")
    );
    refused(
        &more,
        Some(6),
        "switch 13 has 2 hosts, and switch 12 has 3",
        "send nothing",
    );
}

#[test]
fn flows_are_read_exactly_and_words_behind_them_are_not() {
    let text = "2\n2 1 3 100 200000000 2\n3 1 3 100 5 2.000000533\n\nFirst line: # of flows\n";
    assert_eq!(Kind::of(text), Ok(Kind::HpccFlows));
    let read = hpcc::flows(text).expect("flows");
    assert_eq!(read.ignored, 1, "the comment sign hides nothing before it");
    let [a, b] = read.flows[..] else {
        panic!("{read:?}")
    };
    assert_eq!(
        (a.src, a.dst, a.bytes, a.priority),
        (2, 1, 200_000_000, Some(3))
    );
    assert_eq!(a.start, Picos(2_000_000_000_000));
    assert_eq!((b.line, b.start), (3, Picos(2_000_000_533_000)));
    // Without ports, and with the digits of a floating-point number.
    let read = hpcc::flows("1\n0 1 3 1000 0.10000000000000001\n").expect("flows");
    assert_eq!(read.flows[0].start, Picos(100_000_000_000));

    let fault = |text: &str| {
        let fault = hpcc::flows(text).expect_err(text);
        (fault.line, fault.message)
    };
    assert_eq!(fault("2\n0 1 3 100 5 0\n").0, Some(2));
    assert!(fault("1\n0 0 3 100 5 0\n").1.contains("to itself"));
    assert!(fault("1\n0 1 3 100 0 0\n").1.contains("no bytes"));
    assert!(fault("1\n0 1 3 100 5 -1\n").1.contains("`-1` is no start"));
    assert!(fault("1\n0 1 3 100\n").1.contains("4 words"));
    assert!(fault("one two\n").1.contains("number of flows is missing"));
}

#[test]
fn a_configuration_says_how_switches_mark() {
    let text = "ENABLE_QCN 1\nCC_MODE 1\nKMAX_MAP 2 25000000000 400 100000000000 1600\n\
                KMIN_MAP 2 25000000000 100 100000000000 400.5\n\
                PMAX_MAP 2 25000000000 0.2 100000000000 1\nBUFFER_SIZE 32\nRATE_AI 50Mb/s\n\
                RP_TIMER 900\nLINK_DOWN 0 0 0\nERROR_RATE_PER_LINK 0.0000\n";
    assert_eq!(Kind::of(text), Ok(Kind::HpccConfig));
    let config = Config::read(text).expect("a configuration");
    assert_eq!(config.control, Some(Control::Dcqcn));
    assert_eq!(config.buffer, Some(32 << 20));
    assert_eq!(config.rate_ai, Some(Rate::mbps(50)));
    assert_eq!(config.rate_timer, Some(Picos::from_micros(900)));
    let ramp = config.ramp(Rate::gbps(100)).expect("100 Gb/s");
    assert_eq!((ramp.kmin, ramp.kmax, ramp.pmax), (400_500, 1_600_000, 1.0));
    assert_eq!(config.ramp(Rate::gbps(40)), None);

    for (wrong, line, message) in [
        ("CC_MODE 3\n", Some(1), "HPCC"),
        ("CC_MODE 99\n", Some(1), "reaches no controller"),
        ("X 1\nLINK_DOWN 5 1 2\n", Some(2), "fails"),
        ("ERROR_RATE_PER_LINK 0.1\n", Some(1), "error rate 0.1"),
        ("KMAX_MAP 2 25000000000 400\n", Some(1), "counts 2 rates"),
        ("KMAX_MAP 1 25000000000 400\n", None, "missing"),
    ] {
        let fault = Config::read(wrong).expect_err(wrong);
        assert_eq!(fault.line, line, "{fault:?}");
        assert!(fault.message.contains(message), "{fault:?}");
    }
}
