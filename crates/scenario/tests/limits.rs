// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keys of other simulators' set-ups, in places where they have no meaning: refused with what to
//! write instead.

use cemark_scenario::{Error, Overrides, parse};

/// A scenario without fault. Each row of the tables changes one place.
const GOOD: &str = r#"title = "t"
max-time = "1s"

[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts-per-leaf = 4
delay = "10us"

[rtt]
model = "variation"
min = "80us"
max = "240us"

[[workload]]
kind = "poisson"
sizes = "web-search"
load = 0.8
flows = 100

[transport]
mss = "1460B"

[switch]
buffer = "600KB"

[[scheme]]
marker = "threshold"
k = "65pkt"

[measure]
queue-interval = "50us"
"#;

/// A mistake: text of the scenario, text in its place, line and column of the error, words of its
/// message, words of its help.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const MSS: &str = "mss = \"1460B\"";
const BUFFER: &str = "buffer = \"600KB\"";
const LOAD: &str = "load = 0.8";

fn fails(text: &str) -> Error {
    match parse(text, "s.toml", &Overrides::default()) {
        Ok(_) => panic!("this should not be accepted:\n{text}"),
        Err(error) => error,
    }
}

fn refused(rows: &[Row]) {
    for (from, to, place, says, help) in rows {
        assert_eq!(GOOD.matches(from).count(), 1, "{from}");
        let error = fails(&GOOD.replace(from, to));
        let line = error.to_string();
        assert!(
            line.starts_with(&format!("s.toml:{place}: ")) && line.contains(says),
            "{to}: expected {place}: {says}: {line}"
        );
        let advice = error.help_text().unwrap_or_default();
        assert!(
            !help.is_empty() && advice.contains(help),
            "{to}: {line}: help: {advice}"
        );
    }
}

#[test]
fn limits_without_a_meaning() {
    refused(&[
        (
            MSS,
            "max-burst = 2",
            "23:13",
            "under back-pressure the NIC takes segments",
            "nic = \"fifo\"",
        ),
        (
            MSS,
            "max-burst = 2\n[host]\nnic = \"fifo\"\ntso = \"64KB\"",
            "23:13",
            "trains or pacing",
            "max-burst = 0",
        ),
        (
            BUFFER,
            "pfc = true\nbuffer-policy = \"dynamic\"\n[host]\nnic = \"fifo\"\nnic-limit = 600",
            "30:13",
            "loses none of it",
            "remove nic-limit",
        ),
        (
            BUFFER,
            "buffer-packets = 250\nbuffer-policy = \"shared\"",
            "26:18",
            "in the buffer of one port",
            "buffer-policy = \"port\"",
        ),
        (
            BUFFER,
            "plain-host-ports = true\nbuffer-policy = \"dynamic\"",
            "26:20",
            "need buffers of their own",
            "buffer-policy",
        ),
        (
            BUFFER,
            "device-packets = 10\nbuffer-policy = \"shared\"\npfc = true",
            "26:18",
            "with pfc",
            "pfc = false",
        ),
    ]);
}

#[test]
fn arrivals_without_a_meaning() {
    refused(&[
        (
            LOAD,
            "load = 0.8\nspan = \"1ms\"",
            "19:8",
            "two ways",
            "span",
        ),
        (
            LOAD,
            "load = 0.8\nat = \"1ms\"",
            "20:6",
            "without span",
            "remove",
        ),
        (
            LOAD,
            "span = \"1ms\"\nwarmup = 5",
            "20:10",
            "with span",
            "remove",
        ),
        (
            LOAD,
            "load = 0.8\nsenders = []",
            "20:11",
            "no host sends",
            "8..15",
        ),
        (
            LOAD,
            "load = 0.1\nsenders = [1, \"0..2\"]",
            "20:11",
            "twice",
            "once",
        ),
        (
            LOAD,
            "load = 0.1\nsenders = [\"3..8\"]",
            "20:12",
            "not a range",
            "0..7",
        ),
        (
            LOAD,
            "load = 0.1\nsenders = [\"8 mod 8\"]",
            "20:12",
            "no host has",
            "0 mod 8",
        ),
        (
            LOAD,
            "load = 0.1\nsenders = [\"some\"]",
            "20:12",
            "names no hosts",
            "8..15",
        ),
        (
            LOAD,
            "load = 0.8\nsenders = [0]",
            "19:8",
            "1 senders cannot offer",
            "at most",
        ),
        (
            LOAD,
            "load = 0.1\npairs = \"to-one\"\nreceiver = 1\nsenders = [\"0..2\"]",
            "16:1",
            "is the receiver",
            "leave it out",
        ),
    ]);
}
