// SPDX-License-Identifier: MIT OR Apache-2.0
//! No text makes the reader panic, and what it accepts can be simulated.
//!
//! Scenarios of `corpus/` are mutated line by line and word by word. For a long run, in which every
//! key gets every nasty value: `PROPTEST_CASES=2000000 cargo test --release -p cemark-scenario
//! mutations::`.

use std::fs;
use std::path::PathBuf;

use crate::mutate::{Change, NASTY, apply};
use cemark_scenario::{Overrides, parse};
use cemark_sim::Config;
use cemark_sim::workload::{Incast, Kind, Long, LongFlows, Poisson};
use proptest::prelude::*;

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
            let mut traffic = point.config.traffic();
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
            Kind::Poisson(Poisson { flows, warmup, .. }) => flows + warmup < 20_000,
            Kind::Incast(Incast { senders, .. }) => *senders < 10_000,
            Kind::Long(Long {
                flows: LongFlows::Permutation { per_host },
                ..
            }) => *per_host < 4,
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

fn change() -> impl Strategy<Value = Change> {
    let n = any::<usize>;
    prop_oneof![
        2 => n().prop_map(Change::Cut),
        2 => (n(), n()).prop_map(|(a, b)| Change::Copy(a, b)),
        6 => (n(), n()).prop_map(|(a, b)| Change::Value(a, b)),
        3 => (n(), n()).prop_map(|(a, b)| Change::Number(a, b)),
        2 => (n(), n(), n()).prop_map(|(a, b, c)| Change::Borrow(a, b, c)),
        3 => (n(), n(), any::<u8>()).prop_map(|(a, b, c)| Change::Byte(a, b, c)),
        1 => n().prop_map(Change::Truncate),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_scenarios(
        which in any::<usize>(),
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let all = corpus("good");
        let text = apply(&all[which % all.len()].1, &changes, &all);
        survive(&text, &Overrides::default());
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        prop_assert!(!survive(&text, &Overrides::default()));
    }

    #[test]
    fn any_option(section in "(workload|scheme|switch|transport|rtt|topology|seeds|measure)",
                  other in "(max-time|[a-z.]{0,9})",
                  known in any::<bool>(),
                  keys in "(\\.[a-z0-9#_-]{0,8}){0,3}",
                  value in "(([0-9.]{1,4}|[a-z\"\\[-]{0,6})(us|KB|%|Gbps|,)?){0,3}") {
        let mut overrides = Overrides::default();
        let head = if known { section } else { other };
        if overrides.add(&format!("{head}{keys}={value}")).is_ok() {
            survive(&corpus("good")[0].1, &overrides);
        }
    }
}

/// Real options against real keys: most are accepted. Keys of a kind are read alike, and each kind
/// has many: of every four keys in a row one gets a value, and every key gets a quarter of them.
#[test]
fn every_key_with_every_nasty_value() {
    let text = &corpus("good")[0].1;
    let lines: Vec<&str> = text.lines().collect();
    let keyed = lines.iter().enumerate();
    let keyed: Vec<_> = keyed.filter(|(_, line)| line.contains('=')).collect();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for own in keyed.chunks(keyed.len().div_ceil(workers)) {
            scope.spawn(|| own.iter().for_each(|(i, line)| nasty(&lines, *i, line)));
        }
    });
}

/// Every nasty value of the key of a line.
fn nasty(lines: &[&str], i: usize, line: &str) {
    let key = line.split('=').next().unwrap_or_default();
    let every = if std::env::var_os("PROPTEST_CASES").is_some() {
        1
    } else {
        4
    };
    for value in NASTY.iter().skip(i % every).step_by(every) {
        let mut changed: Vec<String> = lines.iter().map(|l| (*l).to_owned()).collect();
        changed[i] = format!("{key}= {value}");
        survive(&changed.join("\n"), &Overrides::default());
    }
}
