// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proofs too long for every commit. Each writes a log under `bench/proof/` with commit, machine
//! and duration, to be committed.

use std::fs;
use std::process::Command;
use std::time::Instant;

/// (name, what it proves, command line).
const PROOFS: &[(&str, &str, &[&str])] = &[
    (
        "figures",
        "every figure in full, verdicts as in figures/expected.tsv",
        &[
            "cargo",
            "run",
            "--release",
            "--locked",
            "--",
            "figure",
            "--all",
            "--full",
        ],
    ),
    (
        "faults",
        "schemes broken on purpose turn rows of the figures red; those of `full` need more",
        &[
            "env",
            "CEMARK_FAULTS=quick",
            "cargo",
            "test",
            "--locked",
            "-p",
            "cemark-report",
            "--test",
            "faults",
            "all_faults",
            "--",
            "--nocapture",
        ],
    ),
    (
        "bench",
        "speed and memory of every reference workload",
        &["cargo", "run", "--release", "--locked", "--", "bench"],
    ),
    (
        "physics",
        "the simulator against theory, every bound",
        &[
            "cargo",
            "run",
            "--release",
            "--locked",
            "--",
            "bench",
            "--physics",
        ],
    ),
    (
        "diff",
        "Rust and C agree on a billion decisions of each scheme, Rust and bytecode on 10 million",
        &[
            "env",
            "CEMARK_DECISIONS=1000000000",
            "CEMARK_BPF_DECISIONS=10000000",
            "cargo",
            "test",
            "--release",
            "--locked",
            "-p",
            "cemark-conformance",
            "--test",
            "differential",
            "--",
            "--nocapture",
        ],
    ),
    (
        "parser",
        "ten minutes of random edits of every scenario: no panic, every error has a place",
        &[
            "env",
            "PROPTEST_CASES=2000000",
            "cargo",
            "test",
            "--release",
            "--locked",
            "-p",
            "cemark-scenario",
            "--test",
            "mutations",
        ],
    ),
    (
        "coverage",
        "95 % intervals hold the true mean 95 % of the time: 1000 seeds of two workloads",
        &[
            "env",
            "CEMARK_COVERAGE_SEEDS=1000",
            "cargo",
            "test",
            "--locked",
            "-p",
            "cemark-report",
            "--test",
            "coverage",
            "--",
            "--nocapture",
            "--test-threads=1",
            "--skip=tails",
        ],
    ),
    (
        "coverage-tails",
        "the same where many short flows time out together, so that 99th percentiles vary widely",
        &[
            "env",
            "CEMARK_COVERAGE_SEEDS=1000",
            "cargo",
            "test",
            "--locked",
            "-p",
            "cemark-report",
            "--test",
            "coverage",
            "tails",
            "--",
            "--nocapture",
        ],
    ),
    (
        "coverage-looks",
        "intervals hold the truth in runs that stop by them: 20,000 runs of each precision",
        &[
            "env",
            "CEMARK_COVERAGE_SEEDS=1000",
            "CEMARK_COVERAGE_RUNS=20000",
            "cargo",
            "test",
            "--locked",
            "-p",
            "cemark-report",
            "--test",
            "coverage_looks",
            "--",
            "--nocapture",
            "--test-threads=1",
        ],
    ),
    (
        "first-minute",
        "seconds to the first table and to the decided one of the README's first command",
        &["cargo", "xtask", "first-minute"],
    ),
    (
        "check",
        "ten minutes of `cemark check` on changed scenarios: code 0 or 2, bounded time and memory",
        &[
            "env",
            "CEMARK_FUZZ_SECONDS=600",
            "cargo",
            "test",
            "--locked",
            "-p",
            "cemark",
            "--test",
            "fuzz_check",
            "--",
            "--nocapture",
        ],
    ),
    (
        "roce-100g",
        "a RoCE fabric at 100 Gb/s: the table of docs/pfc.md",
        &[
            "cargo",
            "run",
            "--release",
            "--locked",
            "--",
            "run",
            "roce-100g",
            // Points of an earlier run would be shown again, and prove nothing.
            "--fresh",
        ],
    ),
    (
        "threads",
        "built-in scenarios (a seed each) and quick figures in 1, 2, 3 and 8 shards: one digest",
        &[
            "env",
            "CEMARK_THREADS=all",
            "cargo",
            "test",
            "--locked",
            "-p",
            "cemark-report",
            "--test",
            "threads",
            "on_request",
            "--",
            "--nocapture",
        ],
    ),
    (
        "decisions",
        "nanoseconds per decision: at most 5 for ECN#, 10 for any, less the loop (`nothing`)",
        &[
            "cargo",
            "bench",
            "--locked",
            "-p",
            "cemark-marking",
            "--bench",
            "decision",
            "--",
            "--output-format",
            "bencher",
        ],
    ),
    (
        "linux",
        "the qdisc in Linux: vectors and a million packets in the kernel, traffic, KASAN, lockdep",
        &["bash", "dataplane/linux/test/run.sh", "proof"],
    ),
    (
        "linux-debian",
        "the qdisc in Debian's Linux 6.1 and 7.2, by DKMS; a packet costs at most 1.25 x codel",
        &["bash", "dataplane/linux/test/run.sh", "debian"],
    ),
    (
        "linux-bpf",
        "the eBPF marker and real TCP: goodput and wait beside the qdisc, and without marks",
        &["bash", "dataplane/linux/test/bpf.sh", "all"],
    ),
    (
        "testbed",
        "a Linux kernel beside the simulator: the scenarios of examples/testbed",
        &["bash", "dataplane/testbed/proof.sh"],
    ),
    (
        "ray",
        "2,000 points on a Ray cluster that loses a worker and a node: none is lost, none is twice",
        &["bash", "python/test.sh", "ray"],
    ),
    (
        "p4",
        "a million packets, model = interpreter = DPDK's switch; a fault in every instruction",
        &["bash", "dataplane/p4/test/run.sh", "proof"],
    ),
    (
        "mutants",
        "tests notice faults in the marking crate, except those in its mutants.toml (2 %)",
        &["cargo", "xtask", "mutants"],
    ),
    (
        "mutants-again",
        "the same, trying only the survivors of the last run",
        &["cargo", "xtask", "mutants", "again"],
    ),
];

pub(crate) fn list() -> String {
    PROOFS
        .iter()
        .map(|(n, what, _)| format!("{n:10} {what}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Proofs whose subject has changed since their log was written. This is a note and not an error,
/// because a proof may take a quarter of an hour.
pub(crate) fn stale() -> Vec<String> {
    const ABOUT: &[(&str, &[&str])] = &[
        ("diff", &["crates/marking/src", "dataplane/include"]),
        ("mutants", &["crates/marking"]),
        ("p4", &["crates/p4", "dataplane/p4"]),
        (
            "coverage",
            &[
                "crates/report/src/stats",
                "crates/report/tests/coverage/star.toml",
                "crates/report/tests/coverage/leaf-spine.toml",
            ],
        ),
        (
            "coverage-tails",
            &[
                "crates/report/src/stats",
                "crates/report/tests/coverage/tails.toml",
            ],
        ),
        (
            "coverage-looks",
            &[
                "crates/report/src/stats/sequential.rs",
                "crates/report/src/comparison/precision.rs",
                "crates/report/tests/coverage/star.toml",
                "crates/report/tests/coverage/leaf-spine.toml",
            ],
        ),
    ];
    let old = |(name, paths): &(&str, &[&str])| {
        let log = fs::read_to_string(format!("bench/proof/{name}.log")).ok()?;
        let commit = log.lines().find_map(|l| l.strip_prefix("commit: "))?;
        let range = format!("{}..HEAD", commit.trim_end_matches("-dirty"));
        let mut args = vec!["rev-list", "--count", &range, "--"];
        args.extend(*paths);
        let commits: u32 = said("git", &args).parse().ok()?;
        (commits > 0).then(|| {
            format!(
                "bench/proof/{name}.log is of {commit}; since then {commits} commits changed {}: \
                 run cargo xtask proof {name}",
                paths.join(", ")
            )
        })
    };
    ABOUT.iter().filter_map(old).collect()
}

#[allow(clippy::disallowed_methods)] // a proof's log says how long it took
pub(crate) fn run(name: &str) -> Result<(), String> {
    let Some((_, what, line)) = PROOFS.iter().find(|(n, ..)| *n == name) else {
        return Err(format!("no proof named {name}; there are:\n{}", list()));
    };
    // Before it begins, because a commit may be made while it runs.
    let commit = said("git", &["describe", "--always", "--dirty", "--abbrev=12"]);
    let began = Instant::now();
    let out = Command::new(line[0])
        .args(&line[1..])
        .output()
        .map_err(|e| format!("{}: {e}", line[0]))?;
    let log = format!(
        "proof: {name}: {what}\ncommand: {}\ncommit: {}\nmachine: {}\nduration: {:.0} s\n\
         exit: {}\n\n{}\n--- standard error, last lines\n{}\n",
        line.join(" "),
        commit,
        machine(),
        began.elapsed().as_secs_f64(),
        out.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&out.stdout),
        tail(&String::from_utf8_lossy(&out.stderr), 20),
    );
    // A log does not contain the path of the checkout.
    let here = std::env::current_dir().map_err(|e| e.to_string())?;
    let log = log.replace(&format!("{}/", here.display()), "");
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
