// SPDX-License-Identifier: MIT OR Apache-2.0
//! HPCC's files: what is read, and what is refused in which line.

use cemark_formats::hpcc::{self, Config, Control};
use cemark_formats::{Fault, Kind, Wire};
use cemark_wire::{Picos, Rate};

fn topology(text: &str) -> Result<hpcc::Topology, Fault> {
    assert_eq!(Kind::of(text), Ok(Kind::HpccTopology));
    hpcc::topology(text)
}

/// Any ids of switches, parallel links, unlike rates, and lines behind the last counted link.
#[test]
fn nodes_and_links_are_read_as_they_are_written() {
    let text = "5 2 5\r\n0 1\r\n0 1 40Gbps 5us 0\r\n1 2 10Gbps 0.001ms 0\r\n\
                0 3 1e1Gbps 1000ns 0.0\r\n1 4 25000000000.0 1us 0\r\n1 0 40Gb/s 5us 0\r\n\
                First line: nodes\r\n";
    let read = topology(text).expect("a graph");
    assert_eq!(read.ignored, 1);
    assert_eq!(read.graph.hosts().collect::<Vec<_>>(), [2, 3, 4]);
    let wire = |line, a, b, gbps, us| Wire {
        line,
        a,
        b,
        rate: Rate::gbps(gbps),
        delay: Picos::from_micros(us),
    };
    let expected = [
        wire(3, 0, 1, 40, 5),
        wire(4, 1, 2, 10, 1),
        wire(5, 0, 3, 10, 1),
        wire(6, 1, 4, 25, 1),
        wire(7, 1, 0, 40, 5),
    ];
    assert_eq!(read.graph.wires, expected);
}

/// The line, a part of the message and a part of the help.
fn refused(text: &str, at: Option<usize>, message: &str, help: &str) {
    let fault = topology(text).expect_err(message);
    assert_eq!(fault.line, at, "{fault:?}");
    assert!(fault.message.contains(message), "{fault:?}");
    assert!(fault.help.contains(help), "{fault:?}");
}

#[test]
fn what_is_no_topology_is_refused_where_it_stands() {
    let two = "3 1 2\n0\n0 1 1Gbps 1us 0\n";
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
    refused(two, Some(3), "the file ends", "correct the first line");
    refused(
        "3 2 1\n0 0\n0 1 1Gbps 1us 0\n",
        Some(2),
        "listed twice",
        "once",
    );
    refused("3 9 1\n", Some(1), "3 nodes with 9 switches", "at most");
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
