// SPDX-License-Identifier: MIT OR Apache-2.0
//! Other programs that a task asks.

use std::path::Path;
use std::process::Command;

/// Runs a program, and returns its standard output.
///
/// # Errors
/// The name of the program with its standard error, or why it did not start.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let name = Path::new(command.get_program()).display().to_string();
    let out = command.output().map_err(|e| format!("{name}: {e}"))?;
    match out.status.success() {
        true => Ok(out.stdout),
        false => Err(format!(
            "{name}: {}\n{}",
            out.status,
            String::from_utf8_lossy(&out.stderr).trim_end()
        )),
    }
}
