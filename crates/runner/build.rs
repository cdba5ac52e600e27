// SPDX-License-Identifier: MIT OR Apache-2.0
//! A fingerprint of the simulator: of every source that can change a result, and of the locked
//! versions of what it uses. Two programs with the same fingerprint give the same results
//! (ARCHITECTURE.md, invariant 2), whatever else they contain and whatever compiled them, so each
//! may continue what the other began.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use cemark_wire::hash::Fnv1a;

/// Files and folders from the root of the workspace. What turns a scenario into a configuration is
/// not among them, since the configuration of each point has a fingerprint of its own.
const SOURCES: &[&str] = &[
    "Cargo.lock",
    "crates/wire/src",
    "crates/param/src",
    "crates/marking/src",
    "crates/transport/src",
    "crates/switch/src",
    "crates/edge/src",
    "crates/sim/src",
    // Markers of the user's: what compiles and runs them.
    "crates/foreign/src",
    "crates/runner/src",
    "dataplane/include",
];

fn main() -> io::Result<()> {
    let here = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let root = Path::new(&here).join("../..");
    let mut hash = Fnv1a::new();
    for source in SOURCES {
        let path = root.join(source);
        println!("cargo::rerun-if-changed={}", path.display());
        let mut files = Vec::new();
        gather(&path, &mut files)?;
        files.sort();
        for file in files {
            let name = file.strip_prefix(&root).expect("it is below the root");
            let bytes = fs::read(&file)?;
            hash.write(name.to_string_lossy().as_bytes());
            hash.write(&(bytes.len() as u64).to_le_bytes());
            hash.write(&bytes);
        }
    }
    println!("cargo::rustc-env=CEMARK_SIMULATOR={:016x}", hash.finish());
    Ok(())
}

/// The files below a path, or the file that it names.
fn gather(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        gather(&entry?.path(), files)?;
    }
    Ok(())
}
