// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proofs too long for every commit. Each writes a log under `bench/proof/` with commit, machine
//! and duration, to be committed.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::Instant;

use serde::Deserialize;

/// One of `xtask/proofs.toml`.
#[derive(Deserialize)]
struct Proof {
    name: String,
    /// What it proves.
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

/// Whether the logs of figures are of one simulator: a note that names those that are not of that
/// of most.
pub(crate) fn simulators() -> Option<String> {
    let mut logs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in fs::read_dir("bench/proof/figures").ok()?.flatten() {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        let build = text.lines().find_map(|l| l.strip_prefix("build: "));
        let path = entry.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let build = build.unwrap_or("none").to_owned();
        logs.entry(build).or_default().push(name.into_owned());
    }
    let is_known = |build: &str| build.bytes().all(|b| b.is_ascii_hexdigit());
    let known = logs.iter().filter(|(build, _)| is_known(build));
    let (most, _) = known.max_by_key(|(_, names)| names.len())?;
    let most = most.clone();
    let others = logs.into_iter().filter(|(build, _)| *build != most);
    let mut names: Vec<String> = others.flat_map(|(_, names)| names).collect();
    names.sort();
    let note = format!(
        "bench/proof/figures: of another build than {most}: {}; run \
         bench/figures.sh",
        names.join(" ")
    );
    Some(note).filter(|_| !names.is_empty())
}

#[allow(clippy::disallowed_methods)] // a proof's log says how long it took
pub(crate) fn run(name: &str) -> Result<(), String> {
    let all = proofs();
    let Some(proof) = all.iter().find(|p| p.name == name) else {
        return Err(format!("no proof named {name}; there are:\n{}", list()));
    };
    let line: Vec<&str> = proof.command.split_whitespace().collect();
    // Before it begins, because a commit may be made while it runs.
    let commit = said("git", &["describe", "--always", "--dirty", "--abbrev=12"]);
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
