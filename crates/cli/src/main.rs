// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program `cemark`: its library, called with the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(cemark_cli::main(cemark_cli::Program::this()))
}
