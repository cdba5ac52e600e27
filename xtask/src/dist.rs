// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of a release, in `target/publish`: an archive with the program, its manual pages,
//! completions and licences, the Python wheel, the crates that others embed, and checksums of all.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::programs::output;

const FOLDER: &str = "target/publish";
/// Most bytes of the program. It carries the pages of `cemark help` and the eBPF programs with
/// their loader.
const MOST_BYTES: usize = 16_000_000;
/// Documents beside the program.
const DOCUMENTS: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];
/// Shells whose completions are in the archive.
const SHELLS: &[&str] = &["bash", "zsh", "fish"];

/// Builds everything.
pub(crate) fn run() -> Result<(), String> {
    if Path::new(FOLDER).exists() {
        fs::remove_dir_all(FOLDER).map_err(|e| format!("{FOLDER}: {e}"))?;
    }
    let program = crate::release::build("dist", &["deploy"], MOST_BYTES)?;
    let name = format!(
        "cemark-{}-{}-{}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS
    );
    let inside = Path::new(FOLDER).join(&name);
    folder(&inside)?;
    for path in DOCUMENTS.iter().map(Path::new).chain([program.as_path()]) {
        copy(path, &inside)?;
    }
    let man = inside.join("man");
    output(Command::new(&program).args(["man", "--out"]).arg(&man))?;
    let completions = inside.join("completions");
    folder(&completions)?;
    for shell in SHELLS {
        let text = output(Command::new(&program).args(["completions", shell]))?;
        let path = completions.join(format!("cemark.{shell}"));
        fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    output(
        Command::new("tar")
            .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
            .args(["--mtime=@0", "-czf", &format!("{name}.tar.gz"), &name])
            .current_dir(FOLDER),
    )?;
    fs::remove_dir_all(&inside).map_err(|e| format!("{}: {e}", inside.display()))?;
    output(
        Command::new("python3")
            .args(["-m", "pip", "wheel", "--quiet", "--no-deps", "./python"])
            .args(["--wheel-dir", FOLDER])
            .env("MATURIN_PEP517_ARGS", "--features deploy"),
    )?;
    for path in crate::package::packed()? {
        copy(&path, Path::new(FOLDER))?;
    }
    let mut files: Vec<String> = fs::read_dir(FOLDER)
        .map_err(|e| format!("{FOLDER}: {e}"))?
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    files.sort();
    let sums = output(Command::new("sha256sum").args(&files).current_dir(FOLDER))?;
    fs::write(format!("{FOLDER}/SHA256SUMS"), &sums).map_err(|e| format!("SHA256SUMS: {e}"))?;
    print!("{FOLDER}:\n{}", String::from_utf8_lossy(&sums));
    Ok(())
}

fn folder(path: &Path) -> Result<(), String> {
    fs::create_dir_all(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn copy(path: &Path, into: &Path) -> Result<(), String> {
    let name = path.file_name().unwrap_or_default();
    fs::copy(path, into.join(name)).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(())
}
