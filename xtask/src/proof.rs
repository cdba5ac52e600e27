// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proofs too long for every commit. Each writes a log under `bench/proof/` with commit, machine
//! and duration, to be committed.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::Instant;

use serde::Deserialize;

/// A proof of `xtask/proofs.toml`.
#[derive(Deserialize)]
struct Proof {
    name: String,
    /// The claim, in words.
    what: String,
    /// Words separated by spaces.
    command: String,
    /// Files and folders whose change makes the log old.
    #[serde(default)]
    about: Vec<String>,
}

fn proofs() -> Vec<Proof> {
    #[derive(Deserialize)]
    struct File {
        proof: Vec<Proof>,
    }
    let file: File = toml::from_str(include_str!("../proofs.toml")).expect("proofs.toml is valid");
    file.proof
}

pub(crate) fn list() -> String {
    let line = |p: &Proof| format!("{:14} {}", p.name, p.what);
    proofs().iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Proofs whose subject has changed since their log was written. This is a note and not an error,
/// because a proof may take a quarter of an hour.
pub(crate) fn stale() -> Vec<String> {
    let old = |Proof { name, about, .. }: &Proof| {
        let log = fs::read_to_string(format!("bench/proof/{name}.log")).ok()?;
        let commit = log.lines().find_map(|l| l.strip_prefix("commit: "))?;
        let range = format!("{}..HEAD", commit.trim_end_matches("-dirty"));
        let mut args = vec!["rev-list", "--count", &range, "--"];
        args.extend(about.iter().map(String::as_str));
        let commits: u32 = said("git", &args).parse().ok()?;
        (commits > 0).then(|| {
            format!(
                "bench/proof/{name}.log is of {commit}; since then {commits} commits changed {}: \
                 run cargo xtask proof {name}",
                about.join(", ")
            )
        })
    };
    let all = proofs();
    all.iter()
        .filter(|p| !p.about.is_empty())
        .filter_map(old)
        .collect()
}

/// Whether every figure has a log of one simulator: a note that names those whose log is not of
/// that of most, and those that have none.
pub(crate) fn simulators() -> Option<String> {
    let logs = stems("bench/proof/figures", "log");
    let mut by_build: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in &logs {
        let text = fs::read_to_string(format!("bench/proof/figures/{name}.log"));
        let text = text.unwrap_or_default();
        let build = text.lines().find_map(|l| l.strip_prefix("build: "));
        let build = build.unwrap_or("none").to_owned();
        by_build.entry(build).or_default().push(name);
    }
    let is_known = |build: &str| build.bytes().all(|b| b.is_ascii_hexdigit());
    let known = by_build.iter().filter(|(build, _)| is_known(build));
    let (most, _) = known.max_by_key(|(_, names)| names.len())?;
    let others = by_build.iter().filter(|(build, _)| *build != most);
    let mut others: Vec<&str> = others.flat_map(|(_, names)| names).copied().collect();
    others.sort();
    let figures = stems("figures", "toml");
    let is_figure = |name: &&str| !["calibration", "charts"].contains(name);
    let without = figures.iter().map(String::as_str).filter(is_figure);
    let without: Vec<&str> = without
        .filter(|name| !logs.iter().any(|log| log == name))
        .collect();
    let mut what = Vec::new();
    if !others.is_empty() {
        what.push(format!(
            "of another build than {most}: {}",
            others.join(" ")
        ));
    }
    if !without.is_empty() {
        what.push(format!("no log of {}", without.join(" ")));
    }
    let note = format!(
        "bench/proof/figures: {}; run bench/figures.sh",
        what.join("; ")
    );
    Some(note).filter(|_| !what.is_empty())
}

/// The names of a folder's files of this kind, without it, in order.
fn stems(folder: &str, kind: &str) -> Vec<String> {
    let paths = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = paths.map(|entry| entry.path());
    let of_kind = paths.filter(|path| path.extension().is_some_and(|e| e == kind));
    let mut names: Vec<String> = of_kind
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names
}

#[allow(clippy::disallowed_methods)] // a proof's log says how long it took
pub(crate) fn run(name: &str) -> Result<(), String> {
    let all = proofs();
    let Some(proof) = all.iter().find(|p| p.name == name) else {
        return Err(format!("no proof named {name}; there are:\n{}", list()));
    };
    let line: Vec<&str> = proof.command.split_whitespace().collect();
    // Before it begins, because a commit may be made while it runs.
    let commit = commit();
    let began = Instant::now();
    let out = Command::new(line[0])
        .args(&line[1..])
        .output()
        .map_err(|e| format!("{}: {e}", line[0]))?;
    let log = format!(
        "proof: {name}: {}\ncommand: {}\ncommit: {}\nmachine: {}\nduration: {:.0} s\n\
         exit: {}\n\n{}\n--- standard error, last lines\n{}\n",
        proof.what,
        line.join(" "),
        commit,
        machine(),
        began.elapsed().as_secs_f64(),
        out.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&out.stdout),
        tail(&String::from_utf8_lossy(&out.stderr), 20),
    );
    // A log contains neither the path of the checkout nor that of the user's folder.
    let here = std::env::current_dir().map_err(|e| e.to_string())?;
    let mut log = log.replace(&format!("{}/", here.display()), "");
    if let Some(home) = std::env::home_dir().filter(|home| home.parent().is_some()) {
        log = log.replace(&home.display().to_string(), "~");
    }
    let path = format!("bench/proof/{name}.log");
    fs::create_dir_all("bench/proof")
        .and_then(|()| fs::write(&path, &log))
        .map_err(|e| format!("{path}: {e}"))?;
    print!("{log}");
    if out.status.success() {
        Ok(())
    } else {
        Err(format!("proof {name} failed; see {path}"))
    }
}

fn said(program: &str, args: &[&str]) -> String {
    Command::new(program).args(args).output().map_or_else(
        |_| "unknown".into(),
        |o| String::from_utf8_lossy(&o.stdout).trim().to_owned(),
    )
}

/// HEAD, with `-dirty` if something that is not a proof's log is uncommitted: proofs that run one
/// after the other write their logs.
fn commit() -> String {
    let commit = said("git", &["rev-parse", "--short=12", "HEAD"]);
    let differs = ["diff", "--name-only", "HEAD", "--", ".", ":!bench/proof"];
    let dirty = !said("git", &differs).is_empty();
    format!("{commit}{}", if dirty { "-dirty" } else { "" })
}

fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|l| l.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |m| m.1);
    format!(
        "{model}, {} processors, {}",
        std::thread::available_parallelism().map_or(0, usize::from),
        said("rustc", &["--version"])
    )
}

fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}
