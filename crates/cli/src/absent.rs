// SPDX-License-Identifier: MIT OR Apache-2.0
//! Commands that this build leaves out (feature `deploy` of the crate).

use std::ffi::OsString;

use crate::exit::{Failure, user};

/// Arguments of a command that is left out: any.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    words: Vec<OsString>,
}

/// Refuses `cemark bpf`.
#[cfg(target_os = "linux")]
pub(crate) fn bpf(_: &Args) -> Result<(), Failure> {
    refuse("`cemark bpf`")
}

/// Refuses `cemark p4`.
pub(crate) fn p4(_: &Args) -> Result<(), Failure> {
    refuse("`cemark p4`")
}

/// Refuses `cemark testbed`.
#[cfg(target_os = "linux")]
pub(crate) fn testbed(_: &Args) -> Result<(), Failure> {
    refuse("`cemark testbed`")
}

/// Refuses a part of cemark, and says how to build it.
pub(crate) fn refuse<T>(part: &str) -> Result<T, Failure> {
    Err(user(
        format!("this cemark was built without {part}"),
        "in a checkout, type `cargo run --release --features deploy -- …`, or install \
                with `cargo install --path crates/cli --features deploy`",
    ))
}
