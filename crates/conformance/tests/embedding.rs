// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark-marking` works without std, allocator and C library: a static library with every scheme
//! is linked with nothing else and run. The same build with code that allocates, or needs std,
//! fails.
#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn run(what: &mut Command) -> Output {
    what.output().unwrap_or_else(|e| panic!("{what:?}: {e}"))
}

fn succeed(what: &mut Command) {
    let o = run(what);
    assert!(
        o.status.success(),
        "{what:?}: {}",
        String::from_utf8_lossy(&o.stderr)
    );
}

fn rustc(folder: &Path, kind: &str, name: &str, source: &Path, more: &[&str]) -> Command {
    let mut line = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    line.args([
        "--edition",
        "2024",
        "-O",
        "-C",
        "panic=abort",
        "--crate-type",
        kind,
    ])
    .args(["--crate-name", name, "--out-dir"])
    .arg(folder)
    .arg("-L")
    .arg(folder)
    .args(more)
    .arg(source);
    line
}

#[test]
fn every_scheme_runs_without_std_without_an_allocator_without_libc() {
    let folder = std::env::temp_dir().join(format!("cemark-embedding-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary directory");
    let uses = ["--extern", "cemark_wire", "--extern", "cemark_param"];
    for (name, used) in [("wire", 0), ("param", 2), ("marking", 4)] {
        succeed(&mut rustc(
            &folder,
            "rlib",
            &format!("cemark_{name}"),
            &root(&format!("../{name}/src/lib.rs")),
            &uses[..used],
        ));
    }
    let marker = root("tests/embedding/marker.rs");
    let library = |more: &[&str]| {
        let usual = [
            "-C",
            "lto=fat",
            "--extern",
            "cemark_wire",
            "--extern",
            "cemark_marking",
        ];
        rustc(
            &folder,
            "staticlib",
            "embedded",
            &marker,
            &[&usual, more].concat(),
        )
    };
    for (needs, says) in [
        ("needs_alloc", "no global memory allocator"),
        ("needs_std", "panic_impl"),
    ] {
        let o = run(&mut library(&["--cfg", needs]));
        let said = String::from_utf8_lossy(&o.stderr).into_owned();
        assert!(
            !o.status.success() && said.contains(says),
            "{needs}: {said}"
        );
    }
    succeed(&mut library(&[]));
    let program = folder.join("embedded");
    succeed(
        Command::new("cc")
            .args([
                "-O2",
                "-std=gnu11",
                "-ffreestanding",
                "-fno-builtin",
                "-nostdlib",
                "-static",
                "-Wall",
                "-Wextra",
                "-Werror",
            ])
            .arg(root("tests/embedding/start.c"))
            .arg(folder.join("libembedded.a"))
            .arg("-Wl,--gc-sections")
            .arg("-o")
            .arg(&program),
    );
    succeed(&mut Command::new(&program));
    let _ = std::fs::remove_dir_all(&folder);
}
