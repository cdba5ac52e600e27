// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark p4`: P4 programs for switches.

mod check;
mod spec;
mod tables;

use std::path::Path;

use cemark_p4::ir::Program;
use cemark_p4::{Defines, Error, compile};
use cemark_scenario::files;

use crate::exit::Failure;

/// Arguments of `cemark p4`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// Check a program against a Tofino's rules, and count what it takes of the switch.
    Check(check::Args),
    /// Print the constants and table entries of ecn_sharp.p4 for parameters such as 200us.
    Tables(tables::Args),
    /// Write a program as a .spec, which DPDK's software switch (SWX) runs.
    Spec(spec::Args),
}

pub(crate) fn p4(args: &Args) -> Result<(), Failure> {
    match &args.what {
        What::Check(args) => check::check(args),
        What::Tables(args) => tables::tables(args),
        What::Spec(args) => spec::spec(args),
    }
}

/// Bytes of the largest program.
const LARGEST: u64 = 16 << 20;

/// The text of the user's file.
fn read(path: &Path) -> Result<String, Failure> {
    files::text(path, LARGEST)
        .map_err(|e| Failure::User(miette::miette!("{}: {e}", path.display())))
}

fn refused(error: Error) -> Failure {
    Failure::User(miette::miette!("{error}"))
}

/// A file that a program includes, which is beside the file that includes it.
fn load(path: &str) -> Option<String> {
    files::text(Path::new(path), LARGEST).ok()
}

/// The program in the user's file.
fn program(path: &Path, defines: &Defines) -> Result<Program, Failure> {
    let name = path.display().to_string();
    compile(&name, &read(path)?, defines, &load).map_err(refused)
}

/// `NAME=VALUE`, or `NAME`, which is 1.
fn define(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_name = begins && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match is_name {
        true => Ok((name.to_owned(), value.to_owned())),
        false => Err(format!("`{name}` is no name: write NAME=VALUE")),
    }
}

fn defines(given: &[(String, String)]) -> Defines {
    given.iter().cloned().collect()
}
