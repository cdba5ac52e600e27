// SPDX-License-Identifier: MIT OR Apache-2.0
//! No text makes the reader panic, and what it accepts can be simulated.
//!
//! Scenarios of `corpus/` are mutated line by line and word by word. For a long run:
//! `PROPTEST_CASES=2000000 cargo test --release -p cemark-scenario --test mutations`.

use std::fs;
use std::path::PathBuf;

use cemark_scenario::{Overrides, parse};
use cemark_sim::Config;
use cemark_sim::workload::{Kind, LongFlows, Traffic};
use proptest::prelude::*;

/// Values that have broken readers before.
const NASTY: &[&str] = &[
    "0",
    "-1",
    "1",
    "nan",
    "inf",
    "-inf",
    "-0.0",
    "1e308",
    "1e-308",
    "9223372036854775807",
    "-9223372036854775808",
    "65536",
    "4294967296",
    "\"\"",
    "\"0\"",
    "\"-1us\"",
    "\"99999999999999999999s\"",
    "\"1e9Gbps\"",
    "\"0.0000000000000000000000001us\"",
    "\"NaN\"",
    "\"µs\"",
    "\"100%\"",
    "\"18446744073709551615B\"",
    "\"8Tbps\"",
    "\"1kbps\"",
    "\"1000s\"",
    "\"1ps\"",
    "true",
    "[]",
    "[[]]",
    "{}",
    "1979-05-27",
    "[1, \"a\"]",
    "0x7fffffff",
    "\"\\u0000\"",
    "\"../corpus\"",
    "\"all\"",
    "\"to-one\"",
    "\"other-rack\"",
    "\"fat-tree\"",
    "\"star\"",
    "\"long\"",
    "\"poisson\"",
    "\"none\"",
    "\"1B\"",
    "\"1GB\"",
];

fn corpus(folder: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpus")
        .join(folder);
    let mut all: Vec<(String, String)> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (
                path.display().to_string(),
                fs::read_to_string(&path).unwrap(),
            )
        })
        .collect();
    all.sort();
    assert!(all.len() > 3);
    all
}

/// Reads a text; what is accepted must be sound enough to draw flows from.
fn survive(text: &str, overrides: &Overrides) -> bool {
    let Ok(plan) = parse(text, "s.toml", overrides) else {
        return false;
    };
    assert!(!plan.points.is_empty() && plan.baseline < plan.schemes.len());
    for point in plan.points.iter().take(4) {
        assert!(
            point.cost.is_finite() && point.cost >= 0.0,
            "{}: {:?}",
            point.cost,
            point.config
        );
        assert!(point.config.topology.hosts() >= 2);
        if small(&point.config) {
            let mut traffic = Traffic::new(&point.config);
            for _ in 0..200 {
                let Some(flow) = traffic.pop() else { break };
                assert!(flow.src != flow.dst && flow.bytes > 0, "{flow:?}");
                assert!(
                    flow.src.max(flow.dst) < point.config.topology.hosts(),
                    "{flow:?}"
                );
            }
        }
    }
    true
}

fn small(config: &Config) -> bool {
    config.topology.hosts() < 5_000
        && config.workloads.iter().all(|w| match &w.kind {
            Kind::Poisson { flows, warmup, .. } => flows + warmup < 20_000,
            Kind::Incast { senders, .. } => *senders < 10_000,
            Kind::Long {
                flows: LongFlows::Permutation { per_host },
                ..
            } => *per_host < 4,
            _ => true,
        })
}

#[test]
fn the_corpus() {
    for (name, text) in corpus("good") {
        if let Err(error) = parse(&text, &name, &Overrides::default()) {
            panic!("{error}");
        }
        assert!(survive(&text, &Overrides::default()));
    }
    for (name, text) in corpus("bad") {
        assert!(
            parse(&text, &name, &Overrides::default()).is_err(),
            "{name}"
        );
    }
}

/// One change of a text.
#[derive(Clone, Debug)]
enum Change {
    /// A line goes.
    Cut(usize),
    /// A line is written at another place.
    Copy(usize, usize),
    /// The value of a line becomes a nasty one.
    Value(usize, usize),
    /// A line of another scenario is put in.
    Borrow(usize, usize, usize),
    /// A byte of a line changes.
    Byte(usize, usize, u8),
    /// The rest goes.
    Truncate(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let n = any::<usize>;
    prop_oneof![
        2 => n().prop_map(Change::Cut),
        2 => (n(), n()).prop_map(|(a, b)| Change::Copy(a, b)),
        6 => (n(), n()).prop_map(|(a, b)| Change::Value(a, b)),
        2 => (n(), n(), n()).prop_map(|(a, b, c)| Change::Borrow(a, b, c)),
        3 => (n(), n(), any::<u8>()).prop_map(|(a, b, c)| Change::Byte(a, b, c)),
        1 => n().prop_map(Change::Truncate),
    ]
}

fn apply(text: &str, changes: &[Change], others: &[(String, String)]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for change in changes {
        let n = lines.len().max(1);
        match *change {
            _ if lines.is_empty() => break,
            Change::Cut(i) => drop(lines.remove(i % n)),
            Change::Copy(i, j) => lines.insert(j % n, lines[i % n].clone()),
            Change::Value(i, v) => {
                let keyed: Vec<usize> = (0..n).filter(|&i| lines[i].contains('=')).collect();
                if let Some(&line) = keyed.get(i % keyed.len().max(1)) {
                    let key = lines[line].split('=').next().unwrap_or_default().to_owned();
                    lines[line] = format!("{key}= {}", NASTY[v % NASTY.len()]);
                }
            }
            Change::Borrow(o, i, j) => {
                let other: Vec<&str> = others[o % others.len()].1.lines().collect();
                lines.insert(j % n, other[i % other.len()].to_owned());
            }
            Change::Byte(i, at, byte) => {
                let mut bytes = std::mem::take(&mut lines[i % n]).into_bytes();
                let place = at % (bytes.len() + 1);
                match bytes.get_mut(place) {
                    Some(old) => *old = byte,
                    None => bytes.push(byte),
                }
                lines[i % n] = String::from_utf8_lossy(&bytes).into_owned();
            }
            Change::Truncate(i) => lines.truncate(i % (n + 1)),
        }
    }
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_scenarios(which in any::<usize>(), changes in prop::collection::vec(change(), 1..6)) {
        let all = corpus("good");
        let text = apply(&all[which % all.len()].1, &changes, &all);
        survive(&text, &Overrides::default());
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        prop_assert!(!survive(&text, &Overrides::default()));
    }

    #[test]
    fn any_option(path in "(workload|scheme|switch|transport|rtt|topology|seeds|measure|max-time|[a-z.]{0,9})(\\.[a-z0-9#_-]{0,8}){0,3}",
                  value in "(([0-9.]{1,4}|[a-z\"\\[-]{0,6})(us|KB|%|Gbps|,)?){0,3}") {
        let mut overrides = Overrides::default();
        if overrides.add(&format!("{path}={value}")).is_ok() {
            survive(&corpus("good")[0].1, &overrides);
        }
    }
}

/// Real options against real keys: most are accepted.
#[test]
fn every_key_with_every_nasty_value() {
    let text = &corpus("good")[0].1;
    let lines: Vec<&str> = text.lines().collect();
    for (i, line) in lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.contains('='))
    {
        let key = line.split('=').next().unwrap_or_default();
        for value in NASTY {
            let mut changed: Vec<String> = lines.iter().map(|l| (*l).to_owned()).collect();
            changed[i] = format!("{key}= {value}");
            survive(&changed.join("\n"), &Overrides::default());
        }
    }
}
