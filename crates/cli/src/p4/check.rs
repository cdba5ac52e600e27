// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark p4 check`: a program against a Tofino's rules, and what it takes of the switch.

use std::fmt::Write;
use std::path::PathBuf;

use cemark_p4::ir::Program;
use cemark_p4::{parse, sources, tofino};

use super::{define, defines, load, program, read, refused};
use crate::exit::{Failure, answer};

/// Arguments of `cemark p4 check`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A P4_16 program for TNA or v1model [default: those of dataplane/p4].
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Define a name for the preprocessor.
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = define)]
    define: Vec<(String, String)>,
    /// Only parse the program.
    #[arg(long, requires = "file")]
    parse: bool,
}

/// What the paper's prototype takes, in the columns of the table (section 4).
const PAPER: [&str; 7] = [
    "ECN#'s paper",
    "7",
    "below 10",
    "2 of 64 bits, 5 of 32 bits",
    "~37 KB",
    "124",
    "-",
];

const NOTES: &str = "\
every rule is kept of those that can be checked here: registers, stateful ALUs, actions of one
stage, default actions, sizes (dataplane/p4/README.md lists them); a compiler may have others
metadata: bits of variables; a compiler lets those share a place that are not needed at once
stages: an estimate from what needs the result of what; a compiler may need more
";

pub(super) fn check(args: &Args) -> Result<(), Failure> {
    let Some(path) = &args.file else {
        return shipped();
    };
    let name = path.display().to_string();
    let defines = defines(&args.define);
    if args.parse {
        let parsed = parse(&name, &read(path)?, &defines, &load).map_err(refused)?;
        return answer(&format!("{name}: {} declarations\n", parsed.declarations));
    }
    let program = program(path, &defines)?;
    if program.gresses.len() < 2 {
        return answer(&format!(
            "{name}: it is read without an error. It is a program for v1model, to which the rules \
             of a Tofino do not apply.\n"
        ));
    }
    let wrong = tofino::check(&program);
    if wrong.is_empty() {
        return answer(&table(&[row(&name, &program)]));
    }
    let all: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    Err(Failure::User(miette::miette!("{}", all.join("\n"))))
}

fn shipped() -> Result<(), Failure> {
    let mut rows = Vec::new();
    for (name, text) in sources::FILES {
        if text.contains("main;") && text.contains("tna.p4") {
            let program = sources::program(name, &defines(&[])).map_err(refused)?;
            if let Some(wrong) = tofino::check(&program).first() {
                return Err(Failure::Machine(miette::miette!("{wrong}")));
            }
            rows.push(row(name, &program));
        }
    }
    rows.push(PAPER.map(str::to_owned));
    answer(&table(&rows))
}

fn row(name: &str, program: &Program) -> [String; 7] {
    let takes = tofino::takes(program);
    [
        name.to_owned(),
        takes.tables.to_string(),
        takes.entries.to_string(),
        takes.arrays(),
        format!("{} B", takes.bytes),
        takes.metadata.to_string(),
        takes.stages.to_string(),
    ]
}

fn table(rows: &[[String; 7]]) -> String {
    let wide = rows.iter().map(|r| r[0].len()).max().unwrap_or(0).max(7);
    let mut text = format!(
        "{:<wide$}  {:>6} {:>8}  {:<27} {:>8} {:>9} {:>7}\n",
        "program", "tables", "entries", "register arrays", "memory", "metadata", "stages"
    );
    for [name, tables, entries, arrays, bytes, metadata, stages] in rows {
        let _ = writeln!(
            text,
            "{name:<wide$}  {tables:>6} {entries:>8}  {arrays:<27} {bytes:>8} {metadata:>9} \
             {stages:>7}"
        );
    }
    text.push_str(NOTES);
    text
}
