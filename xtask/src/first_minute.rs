// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long the first command takes to its first table and to its answer, as a person at a terminal
//! sees it. It belongs to `cargo xtask proof first-minute`; seconds are printed and judged by the
//! reader, because another machine, or a neighbour on this one, changes them.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

const BINARY: &str = "target/release/cemark";

/// Runs `cemark run rtt-variation` on a terminal, and prints when the first table of each load
/// came, when the run ended, and its answer.
#[allow(clippy::disallowed_methods)] // it measures time
pub(crate) fn run() -> Result<(), String> {
    let built = Command::new("cargo")
        .args(["build", "--release", "--locked", "--quiet"])
        .status();
    if !built.is_ok_and(|s| s.success()) {
        return Err("the release binary was not built".into());
    }
    let out = std::env::temp_dir().join(format!("cemark-first-minute-{}", std::process::id()));
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load of the machine before: {}", load.trim());
    let command = format!("{BINARY} run rtt-variation --out {}", out.display());
    let began = Instant::now();
    // `script` (util-linux) gives the command a terminal, on which tables are drawn at each look.
    let mut child = Command::new("script")
        .args(["-q", "-e", "-c", &command, "/dev/null"])
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("script (of util-linux) is needed: {e}"))?;
    let mut answer = Vec::new();
    let mut seen = Vec::new();
    for line in BufReader::new(child.stdout.take().expect("it is piped")).split(b'\n') {
        let line = line.map_err(|e| e.to_string())?;
        let line = plain(&String::from_utf8_lossy(&line));
        if let Some(name) = line
            .strip_prefix("load ")
            .and_then(|l| l.split([' ', ':']).next())
        {
            if !seen.iter().any(|(n, _)| n == name) {
                seen.push((name.to_owned(), began.elapsed().as_secs_f64()));
            }
            if line.starts_with("load 0.5") {
                answer.clear();
            }
        }
        answer.push(line);
    }
    let ended = child.wait().map_err(|e| e.to_string())?;
    let total = began.elapsed().as_secs_f64();
    let _ = fs::remove_dir_all(&out);
    for (name, seconds) in &seen {
        println!("first table of load {name}: {seconds:.1} s");
    }
    println!("decided: {total:.1} s (aims: both first tables in 20 s, decided in 120 s)\n");
    println!("{}", answer.join("\n"));
    match ended.success() && seen.len() == 2 {
        true => Ok(()),
        false => Err(format!("{command}: {ended}, {} tables", seen.len())),
    }
}

/// A line without colours, movements of the cursor and what a carriage return overwrote.
fn plain(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').next().unwrap_or(line);
    let mut out = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => {
                // ESC [ parameters letter
                if chars.next() == Some('[') {
                    let _ = chars.by_ref().find(char::is_ascii_alphabetic);
                }
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn colours_and_the_cursor_are_left_out() {
        let line = "a bar\r\u{1b}[2K\u{1b}[1mload 0.9\u{1b}[0m   1 replication\r";
        assert_eq!(plain(line), "load 0.9   1 replication");
    }
}
