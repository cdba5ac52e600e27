// SPDX-License-Identifier: MIT OR Apache-2.0
//! Embeds every golden vector: scheme, file, text.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    let folder = here.join("../../vectors");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut table = String::new();
    for scheme in entries(&folder).iter().filter(|p| p.is_dir()) {
        let files = entries(scheme);
        for path in files
            .iter()
            .filter(|p| p.extension().is_some_and(|x| x == "toml"))
        {
            let name = |p: &Path| p.file_name().expect("a name").to_owned();
            let (scheme, file) = (name(scheme), name(path));
            let _ = writeln!(table, "    ({scheme:?}, {file:?}, include_str!({path:?})),");
        }
    }
    fs::write(out.join("vectors.rs"), format!("&[\n{table}]\n")).expect("a writable OUT_DIR");
}

/// The entries of a folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut found: Vec<PathBuf> = found.map(|e| e.expect("an entry").path()).collect();
    found.sort();
    found
}
