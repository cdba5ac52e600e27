// SPDX-License-Identifier: MIT OR Apache-2.0
//! Costs that `cemark check` expects of runs against costs that runs had: `bench/costs.tsv`, which
//! `cargo xtask costs` writes. Nothing is simulated here.

use cemark_figures::{CALIBRATION, Calibration, FIGURES, FigureFile, Mode};
use cemark_scenario::{Overrides, Plan, builtins, load};

const COSTS: &str = include_str!("../../../bench/costs.tsv");

/// Endless flows that lose packets and then wait for a timer of a second: these waits leave most of
/// the time, and the estimate is a bound from above.
const TIMERS: [&str; 3] = ["dcib-4", "dcib-10", "dcib-12"];

struct Line {
    command: Vec<&'static str>,
    hops: f64,
    peak: Option<f64>,
}

fn lines() -> Vec<Line> {
    let mut rows = COSTS.lines();
    assert_eq!(rows.next(), Some("command\tpacket_hops\tpeak_rss_bytes"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('\t').collect();
        Line {
            command: cells[0].split(' ').collect(),
            hops: cells[1].parse().expect("a number"),
            peak: cells[2].parse().ok(),
        }
    })
    .collect()
}

/// The plan that a command runs.
fn plan(command: &[&str]) -> Plan {
    let mut changes = Overrides::default();
    let mut mode = Mode::Quick;
    let mut words = command[2..].iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().expect("a value");
        match *word {
            "--seeds" => changes.seeds = value().parse().ok(),
            "--set" => changes.add(value()).expect("a path and a value"),
            "--runs" => assert_eq!(*value(), "1"),
            "--quick" => {}
            "--full" => mode = Mode::Full,
            other => panic!("{other}"),
        }
    }
    if command[0] != "figure" {
        // Examples are files from the root of the repository.
        let name = match command[1].starts_with("examples/") {
            true => format!("../../{}", command[1]),
            false => command[1].to_owned(),
        };
        return load(&name, &changes).expect("a built-in or an example");
    }
    let calibration = Calibration::parse(CALIBRATION).expect("the committed file");
    let (id, text) = FIGURES
        .iter()
        .find(|f| f.0 == command[1])
        .expect("a figure");
    let file = FigureFile::parse(id, text, &calibration).expect("the committed file");
    let plan = file.plan(mode, &calibration, None, &changes);
    plan.expect("a plan").expect("something to simulate")
}

#[test]
fn packet_hops_are_known_within_a_factor_of_two() {
    let mut wrong = Vec::new();
    for line in lines() {
        let expected: f64 = plan(&line.command).points.iter().map(|p| p.cost).sum();
        let ratio = expected / line.hops;
        let most = match TIMERS.contains(&line.command[1]) {
            true => 15.0,
            false => 2.0,
        };
        if !(0.5..=most).contains(&ratio) {
            wrong.push(format!("{}: {ratio:.2}", line.command.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn peak_memory_is_known_within_a_factor_of_one_and_a_half() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for line in lines() {
        let Some(peak) = line.peak else { continue };
        let plan = plan(&line.command);
        assert_eq!(plan.points.len(), 1, "`cemark bench` runs one point");
        let ratio = plan.points[0].alone_bytes() / peak;
        seen += 1;
        if !(1.0 / 1.5..=1.5).contains(&ratio) {
            wrong.push(format!("{}: {ratio:.2}", line.command.join(" ")));
        }
    }
    assert!(seen >= 10, "every bench is there");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Every built-in and every figure that is simulated has a measured value, so that a new one is
/// compared as well.
#[test]
fn nothing_is_missing() {
    let known: Vec<String> = lines().iter().map(|l| l.command[..2].join(" ")).collect();
    for b in builtins() {
        let command = match b.is_bench() {
            true => format!("bench {}", b.name),
            false => format!("run {}", b.name),
        };
        assert!(known.contains(&command), "{command}: cargo xtask costs");
    }
    let calibration = Calibration::parse(CALIBRATION).expect("the committed file");
    for (id, text) in FIGURES {
        let file = FigureFile::parse(id, text, &calibration).expect("the committed file");
        let command = format!("figure {id}");
        assert!(
            !file.is_simulated() || known.contains(&command),
            "{command}: cargo xtask costs"
        );
    }
}
