// SPDX-License-Identifier: MIT OR Apache-2.0
//! Embeds the BPF objects of `dataplane/bpf/tc`, which `cargo xtask bpf` writes.
//!
//! `cargo xtask bpf --check` sets CEMARK_BPF to a directory with other objects, to test those.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use cemark_marking::catalogue;

fn main() {
    println!("cargo::rerun-if-env-changed=CEMARK_BPF");
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    let folder = env::var_os("CEMARK_BPF")
        .map_or_else(|| here.join("../../dataplane/bpf"), PathBuf::from)
        .join("tc");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut table = String::new();
    for spec in catalogue::deployed() {
        let object = folder.join(format!("{}.o", spec.name));
        if object.is_file() {
            let object = object.canonicalize().expect("it is there");
            println!("cargo::rerun-if-changed={}", object.display());
            let _ = writeln!(
                table,
                "    ({:?}, aya::include_bytes_aligned!({object:?})),",
                spec.name
            );
        } else {
            println!(
                "cargo::warning={} has no tc program in {}: run cargo xtask bpf",
                spec.name,
                folder.display()
            );
        }
    }
    let text = format!("static OBJECTS: &[(&str, &[u8])] = &[\n{table}];\n");
    fs::write(out.join("objects.rs"), text).expect("a file in OUT_DIR");
}
