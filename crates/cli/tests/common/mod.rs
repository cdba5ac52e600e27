// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program as a user types it, in a directory of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// An empty directory with these files.
pub fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).expect("a temporary directory");
    for (name, text) in files {
        fs::write(dir.join(name), text).expect("a file");
    }
    dir
}

/// Runs the program in `dir`, without standard input.
pub fn cemark(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cemark"))
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .expect("the program runs")
}

/// A message as one line, however it was wrapped.
pub fn line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace('│', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
