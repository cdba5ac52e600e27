// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mutation testing of `marking`: small faults are put into the code one by one, and a test must
//! fail for each.
//!
//! Faults that survive are listed with a reason in `crates/marking/mutants.toml`. A survivor that
//! is not listed fails the command, and so does a listed one that a test now notices. More than two
//! in a hundred fail in any case.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde::Deserialize;

const LIST: &str = "crates/marking/mutants.toml";
const OUTPUT: &str = "target/mutants";
/// Highest share of survivors, in percent.
const MOST_PERCENT: usize = 2;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    survivor: Vec<Survivor>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Survivor {
    /// Its name in cargo-mutants, without line and column:
    /// `crates/marking/src/codel.rs: replace > with >= in …`.
    name: String,
    /// How many of that name survive.
    #[serde(default = "one")]
    count: usize,
    reason: String,
}

fn one() -> usize {
    1
}

/// Runs cargo-mutants on the marking crate and judges what survives. With `again` only the
/// survivors of the last run are tried; the others count as noticed.
pub(crate) fn run(again: bool) -> Result<(), String> {
    let text = fs::read_to_string(LIST).map_err(|e| format!("{LIST}: {e}"))?;
    let known = known(&text)?;
    if !again {
        let _ = fs::remove_dir_all(format!("{OUTPUT}/mutants.out"));
    }
    fs::create_dir_all(OUTPUT).map_err(|e| format!("{OUTPUT}: {e}"))?;
    let status = Command::new(env!("CARGO"))
        .args([
            "mutants",
            "--package",
            "cemark-marking",
            "--profile",
            "mutants",
        ])
        .args(["--timeout", "60", "--output", OUTPUT, "--colors", "never"])
        .args(again.then_some("--iterate"))
        .args(["--", "--lib", "--tests"])
        // The first failing input is enough; shrinking it would only take time.
        .env("PROPTEST_MAX_SHRINK_ITERS", "0")
        .status()
        .map_err(|e| format!("cargo mutants: {e}"))?;
    // 0: none survives; 2: some do; 3: some ran out of time, which counts as noticed.
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        return Err(format!(
            "cargo mutants: {status}; to install it: cargo install cargo-mutants --locked"
        ));
    }
    let lines = |name: &str| {
        let path = format!("{OUTPUT}/mutants.out/{name}.txt");
        fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))
    };
    let mut noticed = lines("caught")?.lines().count() + lines("timeout")?.lines().count();
    if again {
        noticed += lines("previously_caught")?.lines().count();
    }
    let (report, wrong) = judge(&known, &lines("missed")?, noticed);
    println!("{report}");
    if again {
        println!(
            "(mutants of the earlier run that did not build count as noticed: cargo-mutants does \
             not list them)"
        );
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n       "))
    }
}

/// The list: number of survivors by name, and the reason.
fn known(text: &str) -> Result<BTreeMap<String, (usize, String)>, String> {
    let list: List = toml::from_str(text).map_err(|e| format!("{LIST}: {e}"))?;
    let mut known = BTreeMap::new();
    for s in list.survivor {
        if s.reason.trim().is_empty() {
            return Err(format!("{LIST}: {}: a reason is missing", s.name));
        }
        if known.insert(s.name.clone(), (s.count, s.reason)).is_some() {
            return Err(format!("{LIST}: {} is there twice", s.name));
        }
    }
    Ok(known)
}

/// The report, and what is wrong.
fn judge(
    known: &BTreeMap<String, (usize, String)>,
    missed: &str,
    noticed: usize,
) -> (String, Vec<String>) {
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for line in missed.lines().filter(|l| !l.trim().is_empty()) {
        found.entry(without_place(line)).or_default().push(line);
    }
    let survivors: usize = found.values().map(Vec::len).sum();
    let all = survivors + noticed;
    let mut report = vec![format!(
        "mutants: {all} that build, {survivors} survive ({:.1} %)",
        100.0 * survivors as f64 / all.max(1) as f64
    )];
    let mut wrong = Vec::new();
    for (name, lines) in &found {
        match known.get(name) {
            Some((count, reason)) if *count >= lines.len() => {
                report.push(format!("  {} ({reason})", lines.join("\n  ")));
            }
            _ => wrong.extend(
                lines
                    .iter()
                    .map(|l| format!("survives and is not in {LIST}: {l}")),
            ),
        }
    }
    for (name, (count, _)) in known {
        let now = found.get(name).map_or(0, Vec::len);
        if now < *count {
            wrong.push(format!("{LIST} lists {count}, {now} survive: {name}"));
        }
    }
    if survivors * 100 > all * MOST_PERCENT {
        wrong.push(format!(
            "{survivors} of {all} survive: more than {MOST_PERCENT} %"
        ));
    }
    (report.join("\n"), wrong)
}

/// `file:line:column: what` without line and column, which move with every edit.
fn without_place(line: &str) -> String {
    let mut parts = line.splitn(4, ':');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(file), Some(_), Some(_), Some(what)) => format!("{file}:{what}"),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &str =
        "[[survivor]]\nname = \"a.rs: replace > with >= in f\"\nreason = \"the same\"\n";

    #[test]
    fn a_listed_survivor_passes_and_a_new_or_a_second_one_fails() {
        let known = known(LISTED).unwrap();
        let wrong = |missed: &str, noticed| judge(&known, missed, noticed).1;
        let one = "a.rs:1:2: replace > with >= in f\n";
        assert!(wrong(one, 99).is_empty());
        assert_eq!(wrong("", 99).len(), 1);
        let two = format!("{one}a.rs:9:9: replace > with >= in f\n");
        assert_eq!(wrong(&two, 998).len(), 2);
        let new = format!("{one}b.rs:1:2: replace g -> bool with true\n");
        assert_eq!(
            wrong(&new, 998),
            [format!(
                "survives and is not in {LIST}: b.rs:1:2: replace g -> bool with true"
            )]
        );
    }

    #[test]
    fn two_in_a_hundred_are_the_most() {
        let known = known(&LISTED.replace("reason", "count = 2\nreason")).unwrap();
        let two = "a.rs:1:2: replace > with >= in f\na.rs:3:4: replace > with >= in f\n";
        assert!(judge(&known, two, 98).1.is_empty());
        assert_eq!(judge(&known, two, 97).1.len(), 1);
    }

    #[test]
    fn a_reason_is_needed() {
        assert!(known(&LISTED.replace("the same", " ")).is_err());
        assert!(known(&format!("{LISTED}{LISTED}")).is_err());
    }
}
