// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark edge`: hands over to the program `cemark-edge`, the one that talks to a network. It is
//! installed beside this program, or in PATH.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use crate::exit::{Failure, user};

/// Program that is handed over to.
const PROGRAM: &str = "cemark-edge";

/// Arguments of `cemark edge`: those of the program.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// `near FILE` at one site, `far FILE` at the other; `--check`, `--stats json`, `--help`.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "near|far FILE"
    )]
    words: Vec<OsString>,
}

/// Becomes the program, and returns only if it cannot.
pub(crate) fn edge(args: &Args) -> Result<(), Failure> {
    let beside = std::env::current_exe()
        .ok()
        .and_then(|own| Some(own.parent()?.join(PROGRAM)))
        .filter(|path| path.is_file());
    let program = beside.unwrap_or_else(|| PathBuf::from(PROGRAM));
    let error = Command::new(&program).args(&args.words).exec();
    Err(user(
        format!("the program {PROGRAM} cannot be run: {error}"),
        "in a checkout, type `cargo build --release -p cemark-router`, and `cargo run --release -- \
         edge …`; or install it beside cemark with `cargo install --path crates/router`",
    ))
}
