// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the C twins of every scheme for this machine; gathers their BPF objects, the headers
//! and the golden vectors.
//!
//! The objects are those of `dataplane/bpf`, which `cargo xtask bpf` writes, so that a build needs
//! no clang. `cargo xtask bpf --check` names a folder of others in CEMARK_BPF, to put them to the
//! test.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Headers of the dataplane folder that are no scheme.
const SHARED: &[&str] = &["types", "at", "fixed", "marker", "tofino", "round"];

/// What a kernel asks of its code, as far as a user's process can follow.
const FLAGS: &[&str] = &[
    "-std=gnu11",
    "-ffreestanding",
    "-nostdinc",
    "-fno-strict-aliasing",
    "-fno-common",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wundef",
    "-Wvla",
    "-Wmissing-prototypes",
];

fn main() {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    let root = here.join("../..");
    let dataplane = root.join("dataplane");
    let headers = files(&dataplane.join("include/cemark"), "h");
    let stems: Vec<&str> = headers
        .iter()
        .map(|(stem, _)| stem.as_str())
        .filter(|stem| !SHARED.contains(stem))
        .collect();
    for path in [
        "dataplane",
        "vectors",
        "crates/conformance/src/layout.c",
        "crates/conformance/src/round.c",
    ] {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    println!("cargo::rerun-if-env-changed=CEMARK_BPF");

    let bytecode = env::var("CEMARK_BPF").map_or_else(|_| dataplane.join("bpf"), PathBuf::from);
    println!("cargo::rerun-if-changed={}", bytecode.display());

    for stem in &stems {
        twin(&dataplane, stem);
    }
    let mut layout = c_build(&dataplane);
    layout
        .file(here.join("src/layout.c"))
        .compile("cemark_layout");
    c_build(&dataplane)
        .file(here.join("src/round.c"))
        .compile("cemark_round");

    let mut text = twins(&stems);
    text += &objects(&bytecode, &stems);
    text += &listed("HEADERS", &headers);
    text += &vectors(&root.join("vectors"));
    fs::write(out.join("gathered.rs"), text).expect("a writable OUT_DIR");
}

/// Files of a folder by stem, in order.
fn files(folder: &Path, extension: &str) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut found: Vec<(String, PathBuf)> = entries
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|x| x == extension))
        .map(|p| {
            let stem = p.file_stem().expect("a name").to_str().expect("ASCII");
            (stem.to_owned(), p.clone())
        })
        .collect();
    found.sort();
    found
}

fn c_build(dataplane: &Path) -> cc::Build {
    let mut build = cc::Build::new();
    build.include(dataplane.join("include")).opt_level(2);
    for flag in FLAGS {
        build.flag(flag);
    }
    // A kernel has no floating point; where the compiler can promise that it uses none, it must.
    build.flag_if_supported("-mgeneral-regs-only");
    build
}

fn definitions(stem: &str) -> [(&'static str, String); 3] {
    [
        ("CEMARK_STEM", stem.to_owned()),
        ("CEMARK_HEADER", format!("\"cemark/{stem}.h\"")),
        ("CEMARK_PREFIX", format!("cemark_twin_{stem}")),
    ]
}

fn twin(dataplane: &Path, stem: &str) {
    let mut build = c_build(dataplane);
    for (name, value) in &definitions(stem) {
        build.define(name, value.as_str());
    }
    build
        .file(dataplane.join("marker.c"))
        .compile(&format!("cemark_twin_{stem}"));
}

/// Declarations of the C functions and a table of them.
fn twins(stems: &[&str]) -> String {
    // In the order of `abi::Entry`.
    const ENTRIES: [&str; 8] = [
        "build",
        "retune",
        "traits",
        "enqueue",
        "dequeue",
        "emptied",
        "wake",
        "next_wake",
    ];
    let mut declared = String::new();
    let mut table = String::new();
    for stem in stems {
        let mut row = String::new();
        for entry in ENTRIES {
            let _ = writeln!(
                declared,
                "    fn cemark_twin_{stem}_{entry}(call: *mut Call) -> u32;"
            );
            let _ = write!(row, "cemark_twin_{stem}_{entry}, ");
        }
        let _ = writeln!(table, "    ({stem:?}, [{row}]),");
    }
    format!(
        "unsafe extern \"C\" {{\n{declared}}}\nstatic TWINS: &[(&str, Functions)] = &[\n{table}];\n"
    )
}

/// The BPF objects. A scheme that has none yet is told so when somebody asks for it.
fn objects(folder: &Path, stems: &[&str]) -> String {
    let mut table = String::new();
    for stem in stems {
        let object = folder.join(format!("{stem}.o"));
        if object.is_file() {
            let object = object.canonicalize().expect("it is there");
            let _ = writeln!(table, "    ({stem:?}, include_bytes!({object:?})),");
        } else {
            println!(
                "cargo::warning={stem} has no bytecode in {}: cargo xtask bpf",
                folder.display()
            );
        }
    }
    format!("static OBJECTS: &[(&str, &[u8])] = &[\n{table}];\n")
}

fn listed(name: &str, files: &[(String, PathBuf)]) -> String {
    let mut table = String::new();
    for (stem, path) in files {
        let _ = writeln!(table, "    ({stem:?}, include_str!({path:?})),");
    }
    format!("static {name}: &[(&str, &str)] = &[\n{table}];\n")
}

/// Every golden vector: scheme, file, text.
fn vectors(folder: &Path) -> String {
    let mut table = String::new();
    let mut schemes: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the vectors")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.is_dir())
        .collect();
    schemes.sort();
    for scheme in schemes {
        let stem = scheme.file_name().expect("a name").to_str().expect("ASCII");
        for (file, path) in files(&scheme, "toml") {
            let _ = writeln!(
                table,
                "    ({stem:?}, \"{file}.toml\", include_str!({path:?})),"
            );
        }
    }
    format!("static VECTORS: &[(&str, &str, &str)] = &[\n{table}];\n")
}
