// SPDX-License-Identifier: MIT OR Apache-2.0
//! A build guided by a profile of the benches. It is for those who run for days: no number of this
//! repository comes from it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Workloads of the profile: fused ports, arrivals and statistics, queues, pauses.
const TRAINING: &[&str] = &[
    "leafspine-128",
    "websearch-128",
    "dwrr-128",
    "dcqcn-128-pfc",
];

/// Builds with counters, runs the training workloads, and builds again with what was counted.
pub(crate) fn run() -> Result<(), String> {
    let host = host()?;
    let profdata = profdata(&host)?;
    let folder = std::env::current_dir()
        .map_err(|e| e.to_string())?
        .join("target/pgo");
    let profiles = folder.join("profiles");
    // Profiles of an older build do not fit.
    let _ = fs::remove_dir_all(&profiles);
    fs::create_dir_all(&profiles).map_err(|e| format!("{}: {e}", profiles.display()))?;
    let counting = folder.join("counting");
    let program = build(
        &host,
        &counting,
        &format!("-Cprofile-generate={}", profiles.display()),
    )?;
    for name in TRAINING {
        println!("{name}");
        succeed(Command::new(&program).args(["bench", "--runs", "1", name]))?;
    }
    let merged = folder.join("merged.profdata");
    succeed(
        Command::new(&profdata)
            .args(["merge", "-o"])
            .arg(&merged)
            .arg(&profiles),
    )?;
    let guided = folder.join("guided");
    let program = build(
        &host,
        &guided,
        &format!("-Cprofile-use={}", merged.display()),
    )?;
    println!("{}", program.display());
    Ok(())
}

/// The release build with more flags for the target, which build scripts do not get.
fn build(host: &str, target: &Path, flags: &str) -> Result<PathBuf, String> {
    succeed(
        Command::new(env!("CARGO"))
            .args(["build", "--release", "--locked", "--package", "cemark"])
            .args(["--target", host, "--target-dir"])
            .arg(target)
            .env("RUSTFLAGS", flags),
    )?;
    Ok(target.join(host).join("release/cemark"))
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|e| format!("{name}: {e}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{name}: {status}")),
    }
}

fn rustc(args: &[&str]) -> Result<String, String> {
    let out = Command::new("rustc")
        .args(args)
        .output()
        .map_err(|e| format!("rustc: {e}"))?;
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

fn host() -> Result<String, String> {
    let said = rustc(&["-vV"])?;
    let host = said.lines().find_map(|l| l.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| "rustc -vV names no host".to_owned())
}

/// The tool of the toolchain itself: a profile can be read by the LLVM that wrote it only, so one
/// of the system is of no use.
fn profdata(host: &str) -> Result<PathBuf, String> {
    let root = rustc(&["--print", "sysroot"])?;
    let path = Path::new(root.trim())
        .join("lib/rustlib")
        .join(host)
        .join("bin/llvm-profdata");
    if path.is_file() {
        return Ok(path);
    }
    Err(format!(
        "{} is missing: `rustup component add llvm-tools` adds it to a toolchain of rustup; one of \
         the system fits only if it is of rustc's LLVM version",
        path.display()
    ))
}
