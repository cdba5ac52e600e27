// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program `cemark`: its library, called with the command line.

use std::process::ExitCode;

/// It keeps what is allocated together close together, on large pages: a simulation of 1,024 hosts
/// or more is a fifth faster than with glibc's `malloc` (docs/speed.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(cemark_cli::main(cemark_cli::Program::this()))
}
