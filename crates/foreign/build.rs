// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the C header of every scheme for this machine, and embeds the BPF objects and the
//! headers.
//!
//! The objects are those of `dataplane/bpf`, which `cargo xtask bpf` writes, so a build needs no
//! clang. `cargo xtask bpf --check` sets CEMARK_BPF to a directory with other objects, to test
//! those.
//!
//! With CEMARK_SANITIZE in the environment the C code of the schemes checks its memory accesses and
//! its arithmetic, and the tests end at the first fault (`cargo xtask proof linux`).

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use cemark_marking::{Kind, SchemeSpec, catalogue};

/// Compiler options of kernel code, as far as a user-space program can follow them.
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

fn sanitized() -> bool {
    env::var_os("CEMARK_SANITIZE").is_some()
}

fn main() {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    let root = here.join("../..");
    let dataplane = root.join("dataplane");
    let headers = files(&dataplane.join("include/cemark"), "h");
    // A scheme without a header is reported when somebody asks for its C form.
    let specs: Vec<&SchemeSpec> = catalogue::deployed()
        .filter(|spec| headers.iter().any(|(stem, _)| stem == spec.name))
        .collect();
    for path in [
        "dataplane/include",
        "dataplane/marker.c",
        "dataplane/test/layout.c",
        "dataplane/test/round.c",
    ] {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    println!("cargo::rerun-if-env-changed=CEMARK_BPF");
    println!("cargo::rerun-if-env-changed=CEMARK_SANITIZE");
    if sanitized() {
        // rustc links without the compiler's own libraries.
        println!("cargo::rustc-link-lib=asan");
        println!("cargo::rustc-link-lib=ubsan");
    }

    let bytecode = env::var("CEMARK_BPF").map_or_else(|_| dataplane.join("bpf"), PathBuf::from);
    println!("cargo::rerun-if-changed={}", bytecode.display());

    for spec in &specs {
        twin(&dataplane, spec.name);
    }
    let mut configs = c_build(&dataplane);
    for spec in &specs {
        let file = out.join(format!("config_{}.c", spec.name));
        fs::write(&file, config(spec)).expect("a writable OUT_DIR");
        configs.file(file);
    }
    configs.compile("cemark_configs");
    c_build(&dataplane)
        .file(dataplane.join("test/layout.c"))
        .compile("cemark_layout");
    c_build(&dataplane)
        .file(dataplane.join("test/round.c"))
        .compile("cemark_round");

    let stems: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
    let mut text = twins(&stems);
    text += &configurations(&stems);
    text += &objects(&bytecode, &stems);
    text += &listed("HEADERS", &headers);
    fs::write(out.join("gathered.rs"), text).expect("a writable OUT_DIR");
}

/// The files of a directory by stem, sorted.
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
    // A kernel has no floating point. Compilers that can guarantee that none is used must do so.
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
    if sanitized() {
        build.flag("-fsanitize=address,undefined");
        build.flag("-fno-sanitize-recover=all");
    }
    build
        .file(dataplane.join("marker.c"))
        .compile(&format!("cemark_twin_{stem}"));
}

/// C code through which tests reach the named configuration of a scheme: values by position go in
/// and out, in the catalogue's order. A field that is missing does not compile.
fn config(spec: &SchemeSpec) -> String {
    let (stem, upper) = (spec.name, spec.name.to_uppercase());
    let (mut read, mut write, mut words) = (String::new(), String::new(), String::new());
    let mut word = 0;
    for (i, p) in spec.params.iter().enumerate() {
        let name = p.name;
        let _ = writeln!(read, "\t\tvalues[{i}] = (u64)c.{name};");
        let _ = writeln!(write, "\t\tc.{name} = (__typeof__(c.{name}))values[{i}];");
        let Kind::Choice(choices) = p.kind else {
            continue;
        };
        // Choices that several schemes have are named for the parameter alone.
        let name = p.name.to_uppercase();
        let prefix = match p.name {
            "cmp" | "hook" => format!("CEMARK_{name}"),
            _ => format!("CEMARK_{upper}_{name}"),
        };
        for choice in choices {
            let constant = format!("{prefix}_{}", choice.to_uppercase());
            let _ = writeln!(words, "\t\tvalues[{word}] = {constant};");
            word += 1;
        }
    }
    let function = format!(
        "int cemark_config_{stem}(u32 what, u64 *values, const struct cemark_queue_spec *queue, \
         void *params)"
    );
    format!(
        "/* Written by build.rs. */\n\
         #include \"cemark/{stem}.h\"\n\n\
         {function};\n\n\
         {function}\n{{\n\
         \tstruct cemark_{stem}_config c = CEMARK_{upper}_DEFAULTS;\n\n\
         \tswitch (what) {{\n\
         \tcase 0:\n{read}\t\treturn {params};\n\
         \tcase 1:\n{write}\t\treturn cemark_{stem}_configure(params, &c, queue);\n\
         \tcase 2:\n\t\tcemark_{stem}_set(params, values, queue);\n\t\treturn 0;\n\
         \tdefault:\n{words}\t\treturn {word};\n\
         \t}}\n}}\n",
        params = spec.params.len()
    )
}

/// Declarations of the functions of [`config`] and a table of them.
fn configurations(stems: &[&str]) -> String {
    let mut declared = String::new();
    let mut table = String::new();
    for stem in stems {
        let _ = writeln!(
            declared,
            "    fn cemark_config_{stem}(what: u32, values: *mut u64, queue: *const QueueView, \
             params: *mut u64) -> i32;"
        );
        let _ = writeln!(table, "    ({stem:?}, cemark_config_{stem}),");
    }
    format!(
        "unsafe extern \"C\" {{\n{declared}}}\n\
         static CONFIGS: &[(&str, Configuration)] = &[\n{table}];\n"
    )
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

/// The BPF objects. A scheme that has none yet is compiled by clang when its bytecode is asked for.
fn objects(folder: &Path, stems: &[&str]) -> String {
    let mut table = String::new();
    for stem in stems {
        let object = folder.join(format!("{stem}.o"));
        if object.is_file() {
            let object = object.canonicalize().expect("it is there");
            let _ = writeln!(table, "    ({stem:?}, include_bytes!({object:?})),");
        } else {
            println!(
                "cargo::warning={stem} has no bytecode in {}: run cargo xtask bpf",
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
