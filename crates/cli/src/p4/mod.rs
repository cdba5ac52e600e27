// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark p4`: P4 programs for switches.

mod spec;
mod tables;

use std::path::Path;

use cemark_p4::Rounding;
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
    /// Print the constants and table entries of ecn_sharp.p4 for parameters such as 200us.
    Tables(tables::Args),
    /// Write a program as a .spec, which DPDK's software switch (SWX) runs.
    Spec(spec::Args),
}

pub(crate) fn p4(args: &Args) -> Result<(), Failure> {
    match &args.what {
        What::Tables(args) => tables::tables(args),
        What::Spec(args) => spec::spec(args),
    }
}

pub(crate) use tables::of_values;

/// Bytes of the largest program.
const LARGEST: u64 = 16 << 20;

/// The text of the user's file.
fn read(path: &Path) -> Result<String, Failure> {
    files::text(path, LARGEST)
        .map_err(|e| Failure::User(miette::miette!("{}: {e}", path.display())))
}

/// How entries of tables are rounded.
fn rounding(cut: bool) -> Rounding {
    match cut {
        true => Rounding::Down,
        false => Rounding::Nearest,
    }
}
