// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program as others get it: small, and without paths of the build machine.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Most bytes of what `cargo build --release` makes: it links faster than what is handed out
/// (`cargo xtask dist`), and is larger.
const MOST_BYTES: usize = 18_250_000;

/// `cargo xtask release`.
pub(crate) fn run() -> Result<(), String> {
    let program = build("release", &[], MOST_BYTES)?;
    // Commands that this build leaves out say how to get them.
    for words in [
        &["p4", "spec", "x.p4"][..],
        &["bpf", "--help"],
        &["vectors", "--impl", "p4"],
    ] {
        let out = Command::new(&program)
            .args(words)
            .output()
            .map_err(|e| format!("{}: {e}", program.display()))?;
        let said = String::from_utf8_lossy(&out.stderr);
        if out.status.code() != Some(2) || !said.contains("--features deploy") {
            return Err(format!(
                "cemark {}: {}\n{said}",
                words.join(" "),
                out.status
            ));
        }
    }
    Ok(())
}

/// Builds the program with a profile and features, checks it, and returns its path. A warning of
/// the compiler is an error: clippy sees the program with all features only.
pub(crate) fn build(profile: &str, features: &[&str], most: usize) -> Result<PathBuf, String> {
    let mut cargo = Command::new(env!("CARGO"))
        .args(["build", "--locked", "--package", "cemark"])
        .args(["--profile", profile, "--features", &features.join(",")])
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cargo build: {e}"))?;
    let said = BufReader::new(cargo.stderr.take().expect("a pipe"));
    let mut warned = false;
    for line in said.lines().map_while(Result::ok) {
        warned |= line.starts_with("warning: `cemark");
        eprintln!("{line}");
    }
    let status = cargo.wait().map_err(|e| format!("cargo build: {e}"))?;
    if !status.success() {
        return Err(format!("cargo build --profile {profile}: {status}"));
    }
    if warned {
        return Err(format!("cargo build --profile {profile} warns"));
    }
    let folder = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    let path = format!("{folder}/{profile}/cemark{}", std::env::consts::EXE_SUFFIX);
    let program = fs::read(&path).map_err(|e| format!("{path}: {e}"))?;
    let wrong = judge(&program, &places(), most);
    if wrong.is_empty() {
        println!(
            "{path}: {:.1} MB, stripped, and no path of this machine in it",
            program.len() as f64 / 1e6
        );
        Ok(PathBuf::from(path))
    } else {
        Err(format!("{path}: {}", wrong.join("\n       ")))
    }
}

/// Folders of this machine that must not appear in the program.
fn places() -> Vec<String> {
    let tree = std::env::current_dir()
        .map(|d| d.display().to_string())
        .ok();
    let named = ["HOME", "CARGO_HOME", "RUSTUP_HOME", "CARGO_TARGET_DIR"]
        .map(|name| std::env::var(name).ok());
    let all = named.into_iter().chain([tree]).flatten();
    // A home directory `/` would match every path.
    all.map(|place| place.trim_end_matches('/').to_owned())
        .filter(|place| place.starts_with('/') && place.len() > 1)
        .map(|place| place + "/")
        .collect()
}

fn judge(program: &[u8], places: &[String], most: usize) -> Vec<String> {
    let mut wrong = Vec::new();
    if program.len() > most {
        wrong.push(format!("{} bytes; at most {most}", program.len()));
    }
    // As in a table of section names. std contains the bare words, to read debug information.
    if find(program, b"\0.debug_info\0").is_some() {
        wrong.push("holds debug information: [profile.release] strips it".to_owned());
    }
    if has_symbols(program) {
        wrong.push("holds a table of symbols: .cargo/rustc strips it".to_owned());
    }
    for place in places {
        if let Some(at) = find(program, place.as_bytes()) {
            let end = (at + 120).min(program.len());
            let text = String::from_utf8_lossy(&program[at..end]).into_owned();
            let path: String = text.chars().take_while(|c| c.is_ascii_graphic()).collect();
            wrong.push(format!(
                "holds a path of this machine, which .cargo/rustc should remove: {path}"
            ));
        }
    }
    wrong
}

/// Whether a section of a 64-bit ELF file is a symbol table (`SHT_SYMTAB`, 2).
fn has_symbols(program: &[u8]) -> bool {
    let number = |at: usize, bytes: usize| {
        let field = program.get(at..at + bytes).unwrap_or_default();
        field.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b))
    };
    let (table, size, count) = (number(0x28, 8), number(0x3a, 2), number(0x3c, 2));
    program.starts_with(b"\x7fELF\x02\x01")
        && (0..count).any(|section| number(table + section * size + 4, 4) == 2)
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|w| w == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_a_section_or_too_many_bytes_are_found() {
        let places = ["/home/me/".to_owned()];
        assert!(judge(b"\x7fELF cargo/registry/src/lib.rs", &places, 100).is_empty());
        let path = judge(b"\0/home/me/.cargo/registry/src/lib.rs\0", &places, 100);
        assert!(
            path.len() == 1 && path[0].ends_with(": /home/me/.cargo/registry/src/lib.rs"),
            "{path:?}"
        );
        assert_eq!(judge(b"\0.text\0.debug_info\0", &places, 100).len(), 1);
        let mut elf = [0; 200];
        elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
        // Two headers of 64 bytes at 64; the second is of a symbol table.
        (elf[0x28], elf[0x3a], elf[0x3c]) = (64, 64, 2);
        assert!(judge(&elf, &places, 200).is_empty());
        elf[64 + 64 + 4] = 2;
        assert_eq!(judge(&elf, &places, 200).len(), 1);
        assert_eq!(judge(&[0; 101], &places, 100).len(), 1);
    }
}
