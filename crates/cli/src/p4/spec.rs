// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark p4 spec`: a program as DPDK's software switch reads it.

use std::path::PathBuf;

use cemark_p4::{Rounding, spec};

use super::{define, defines, program, refused};
use crate::exit::{Failure, answer};

/// Arguments of `cemark p4 spec`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A P4_16 program for TNA or v1model; the egress of it is written.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Define a name for the preprocessor.
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = define)]
    define: Vec<(String, String)>,
    /// The math unit cuts bits off, instead of rounding to the nearest.
    #[arg(long)]
    cut: bool,
}

pub(super) fn spec(args: &Args) -> Result<(), Failure> {
    let program = program(&args.file, &defines(&args.define))?;
    let rounding = match args.cut {
        true => Rounding::Down,
        false => Rounding::Nearest,
    };
    answer(&spec::emit(&program, rounding).map_err(refused)?)
}
