// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark vectors`: replays the golden vectors with one implementation of every scheme.

#[cfg(feature = "deploy")]
mod on_p4;
#[cfg(all(target_os = "linux", feature = "deploy"))]
mod on_tc;

use std::fmt::Write;
use std::path::PathBuf;

use cemark_foreign::{Implementation, build};
use cemark_vectors::{Replayed, Vectors, builtin, read};
use clap::ValueEnum;
use serde::Serialize;

use crate::Format;
use crate::exit::{Failure, answer, answer_json};
use crate::schemes::must_be_deployed;

/// Arguments of `cemark vectors`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The implementation that is tested.
    #[arg(long = "impl", value_enum, default_value = "rust", value_name = "FORM")]
    form: Form,
    /// A directory of vectors, laid out as vectors/ of the repository [default: built in].
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// How the answer is written.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// An implementation of every scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// The Rust that the simulator runs.
    Rust,
    /// The C headers, compiled for this machine.
    C,
    /// The C headers compiled to BPF; the bytecode runs in this process.
    Bpf,
    /// The module sch_cemark in the running kernel (a test kernel: docs/linux.md).
    Kernel,
    /// The tc programs of `cemark bpf`, run by the running kernel. Needs root.
    #[cfg(target_os = "linux")]
    Tc,
    /// The P4 programs, in an interpreter of their source. Not every scheme has one.
    P4,
}

/// Results of an implementation on a file; `more` holds those that no other implementation has.
#[derive(Serialize)]
struct Row<'a, More> {
    scheme: &'static str,
    file: &'a str,
    cases: u64,
    packets: u64,
    verdict: &'static str,
    differ: &'a [String],
    #[serde(flatten)]
    more: More,
}

#[derive(Serialize)]
struct Answer<'a, More> {
    schema: u32,
    r#impl: &'static str,
    files: &'a [Row<'a, More>],
}

/// Further results of an implementation that has none.
#[derive(Serialize)]
struct Nothing {}

pub(crate) fn vectors(args: &Args) -> Result<(), Failure> {
    let files = args.dir.as_deref().map_or_else(builtin, read);
    let files = having(args.form, files.map_err(wrong)?)?;
    let (form, word) = match args.form {
        Form::Rust => (Implementation::Rust, "rust"),
        Form::C => (Implementation::C, "c"),
        Form::Bpf => (Implementation::Bpf, "bpf"),
        Form::Kernel => (Implementation::Kernel, "kernel"),
        #[cfg(all(target_os = "linux", feature = "deploy"))]
        Form::Tc => return on_tc::vectors(args, &files),
        #[cfg(feature = "deploy")]
        Form::P4 => return on_p4::vectors(args, &files),
        #[cfg(not(feature = "deploy"))]
        _ => return crate::absent::refuse("vectors in P4 and in tc programs"),
    };
    let replayed: Vec<(&Vectors, Replayed)> = files
        .iter()
        .map(|file| {
            let make = |v: &_, q: &_| Ok(build(form, file.scheme, v, q)?);
            Ok((file, file.replay(make, wrong)?))
        })
        .collect::<Result<_, Failure>>()?;
    let rows: Vec<Row<'_, Nothing>> = replayed
        .iter()
        .map(|(file, came)| row(file, came))
        .collect();
    say(args.format, word, &rows, |rows| table(word, rows))
}

/// The files of schemes that the implementation has.
fn having(form: Form, files: Vec<Vectors>) -> Result<Vec<Vectors>, Failure> {
    // The P4 programs decide as the laboratory of ECN# in a Tofino's arithmetic.
    if matches!(form, Form::Rust | Form::P4) {
        return Ok(files);
    }
    let is_research = |file: &Vectors| file.scheme.research_of.is_some();
    let (research, deployed): (Vec<_>, Vec<_>) = files.into_iter().partition(is_research);
    match research.first() {
        Some(file) if deployed.is_empty() => must_be_deployed(file.scheme).map(|()| deployed),
        _ => Ok(deployed),
    }
}

/// The error for vectors that are not in their format.
fn wrong(why: String) -> Failure {
    Failure::User(miette::miette!("{why}"))
}

fn row<'a>(file: &'a Vectors, came: &'a Replayed) -> Row<'a, Nothing> {
    Row {
        scheme: file.scheme.name,
        file: &file.file,
        cases: came.cases,
        packets: came.packets,
        verdict: verdict(&came.differ),
        differ: &came.differ,
        more: Nothing {},
    }
}

fn verdict(differ: &[String]) -> &'static str {
    match differ {
        [] => "equal",
        _ => "differs",
    }
}

/// Writes the answer. The command fails where a file differs.
fn say<More: Serialize>(
    format: Format,
    word: &'static str,
    rows: &[Row<'_, More>],
    table: impl Fn(&[Row<'_, More>]) -> String,
) -> Result<(), Failure> {
    match format {
        Format::Table => answer(&table(rows))?,
        Format::Json => answer_json(&Answer {
            schema: 1,
            r#impl: word,
            files: rows,
        })?,
    }
    match rows.iter().filter(|r| !r.differ.is_empty()).count() {
        0 => Ok(()),
        wrong => Err(Failure::Machine(miette::miette!(
            "{wrong} of {} files of vectors differ in {word}",
            rows.len()
        ))),
    }
}

fn table<More>(form: &str, rows: &[Row<'_, More>]) -> String {
    let mut text = format!(
        "{:<14} {:<20} {:>6} {:>10}  {form}\n",
        "scheme", "file", "cases", "packets"
    );
    for row in rows {
        let _ = writeln!(
            text,
            "{:<14} {:<20} {:>6} {:>10}  {}",
            row.scheme, row.file, row.cases, row.packets, row.verdict
        );
        for differs in row.differ {
            let _ = writeln!(text, "    {differs}");
        }
    }
    let (cases, packets) = rows
        .iter()
        .fold((0, 0), |(c, p), r| (c + r.cases, p + r.packets));
    let _ = writeln!(
        text,
        "{:<14} {:<20} {cases:>6} {packets:>10}",
        "all",
        format!("{} files", rows.len())
    );
    text
}
