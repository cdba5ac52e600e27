// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks a P4 program against a Tofino's rules, and counts what it takes of the switch.
//!
//! `cargo run -p cemark-p4 --example check` counts the programs of `dataplane/p4`; `-- FILE` checks
//! one of yours. A program that is refused ends it with code 2.

use std::path::PathBuf;
use std::process::ExitCode;

use cemark_p4::ir::Program;
use cemark_p4::{Defines, compile, sources, tofino};

fn main() -> ExitCode {
    let rows = match std::env::args().nth(1) {
        Some(path) => own(&path).map(|row| vec![row]),
        None => shipped(),
    };
    match rows {
        Ok(rows) => {
            println!(
                "{:24} {:>6} {:>7}  {:27} {:>8} {:>7}",
                "program", "tables", "entries", "register arrays", "bytes", "stages"
            );
            rows.iter().for_each(|row| println!("{row}"));
            println!("stages: an estimate, from what needs the result of what");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn own(path: &str) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let folder = PathBuf::from(path);
    let folder = folder.parent().map(PathBuf::from).unwrap_or_default();
    let load = |name: &str| {
        let beside = std::fs::read_to_string(folder.join(name)).ok();
        beside.or_else(|| sources::text(name).map(str::to_owned))
    };
    let program = compile(path, &text, &Defines::new(), &load).map_err(|e| e.to_string())?;
    row(path, &program)
}

fn shipped() -> Result<Vec<String>, String> {
    let programs = sources::FILES
        .iter()
        .filter(|(_, text)| text.contains("tna.p4"));
    programs
        .map(|(name, _)| {
            let program = sources::program(name, &Defines::new()).map_err(|e| e.to_string())?;
            row(name, &program)
        })
        .collect()
}

fn row(name: &str, program: &Program) -> Result<String, String> {
    let wrong = tofino::check(program);
    if !wrong.is_empty() {
        let all: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        return Err(all.join("\n"));
    }
    let takes = tofino::takes(program);
    Ok(format!(
        "{name:24} {:>6} {:>7}  {:27} {:>8} {:>7}",
        takes.tables,
        takes.entries,
        takes.arrays(),
        takes.bytes,
        takes.stages
    ))
}
