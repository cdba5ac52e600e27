// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads P4 programs of others, and prints one line for each: how many declarations were parsed
//! (with those of included files), and whether its names and types were resolved, so that it can
//! run, or where and why not. `bench/proof/p4-public.log` has its output on public programs.
//!
//! `cargo run -p cemark-p4 --example others -- [-I FOLDER] FILE...`. An included file is looked for
//! beside the program, then in the folder. Code 2 if a program is not in the grammar.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cemark_p4::{Defines, compile, parse, tofino};

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let folder = match args.first().map(String::as_str) {
        Some("-I") if args.len() > 2 => args.drain(..2).nth(1).map(PathBuf::from),
        _ => None,
    };
    if args.is_empty() || args[0].starts_with('-') {
        eprintln!("wants files: others [-I FOLDER] FILE...");
        return ExitCode::from(2);
    }
    let parsed = args
        .iter()
        .filter(|file| match said(file, folder.as_deref()) {
            Ok(said) => {
                println!("{file}\n    {said}");
                true
            }
            Err(why) => {
                println!("{file}\n    refused by the parser: {why}");
                false
            }
        })
        .count();
    println!("{} programs: {parsed} parsed", args.len());
    match parsed == args.len() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(2),
    }
}

fn said(file: &str, folder: Option<&Path>) -> Result<String, String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let beside = Path::new(file).parent().unwrap_or(Path::new(""));
    let load = |name: &str| {
        let places = std::iter::once(beside).chain(folder);
        places
            .filter_map(|place| std::fs::read_to_string(place.join(name)).ok())
            .next()
    };
    let name = Path::new(file).file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let none = Defines::new();
    let count = parse(&name, &text, &none, &load).map_err(|e| e.to_string())?;
    let lines = text.lines().count();
    let parsed = format!("{lines} lines, parsed: {} declarations", count.declarations);
    let resolved = match compile(&name, &text, &none, &load) {
        Err(why) => format!("not run: {why}"),
        Ok(program) => match tofino::check(&program).first() {
            _ if !text.contains("tna.p4") => "names and types resolved".to_owned(),
            None => "names and types resolved, a Tofino's rules kept".to_owned(),
            Some(why) => format!("names and types resolved; against a Tofino's rules: {why}"),
        },
    };
    Ok(format!("{parsed}; {resolved}"))
}
