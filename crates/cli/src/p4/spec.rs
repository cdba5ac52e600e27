// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark p4 spec`: a program as DPDK's software switch reads it.

use std::path::{Path, PathBuf};

use cemark_p4::{compile, spec};
use cemark_scenario::files;

use super::{LARGEST, read, rounding};
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
    let (name, text) = (args.file.display().to_string(), read(&args.file)?);
    let defines = args.define.iter().cloned().collect();
    let load = |path: &str| files::text(Path::new(path), LARGEST).ok();
    let rounding = rounding(args.cut);
    let written =
        compile(&name, &text, &defines, &load).and_then(|program| spec::emit(&program, rounding));
    answer(&written.map_err(|e| Failure::User(miette::miette!("{e}")))?)
}

/// `NAME=VALUE`, or `NAME`, which is 1.
fn define(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if begins && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        Ok((name.to_owned(), value.to_owned()))
    } else {
        Err(format!("`{name}` is no name: write NAME=VALUE"))
    }
}
