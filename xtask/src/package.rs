// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask package`: the crates that others embed, packed as crates.io wants them and built
//! from what was packed.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates of the set, those without dependencies first.
const SET: &[&str] = &[
    "cemark-wire",
    "cemark-param",
    "cemark-marking",
    "cemark-transport",
    "cemark-switch",
    "cemark-edge",
    "cemark-sim",
];
/// Files that a stranger looks for in each of them.
const FILES: &[&str] = &["README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Where it builds.
const BUILT: &str = "target/packages";

/// Packs the set with one command, which also compiles every crate from its package.
pub(crate) fn run() -> Result<(), String> {
    let wrong = judge(&crate::arrows::metadata()?);
    if !wrong.is_empty() {
        return Err(wrong.join("\n       "));
    }
    forget_built()?;
    forget_unpacked()?;
    let mut line = Command::new(env!("CARGO"));
    // Nothing is published from here, so the tree need not be committed.
    line.args(["package", "--locked", "--allow-dirty"]);
    line.args(["--target-dir", BUILT]);
    for name in SET {
        line.args(["--package", name]);
    }
    let status = line.status().map_err(|e| format!("cargo package: {e}"))?;
    if status.success() {
        println!(
            "packages: {} crates, each built from its package",
            SET.len()
        );
        Ok(())
    } else {
        Err(format!("{line:?}: {status}"))
    }
}

/// Packs the set, and returns its files.
pub(crate) fn packed() -> Result<Vec<PathBuf>, String> {
    run()?;
    let file = |name: &&str| {
        let name = format!("{name}-{}.crate", env!("CARGO_PKG_VERSION"));
        Path::new(BUILT).join("package").join(name)
    };
    Ok(SET.iter().map(file).collect())
}

/// Removes what earlier runs built: a crate of a registry that is built is not built again.
fn forget_built() -> Result<(), String> {
    match fs::remove_dir_all(BUILT) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(format!("{BUILT}: {e}")),
        _ => Ok(()),
    }
}

/// Removes what earlier runs unpacked. While it verifies the set, cargo takes its crates from a
/// local registry and unpacks them in its home. It assumes that a package of one version never
/// changes, so it would compile the sources of an earlier run.
fn forget_unpacked() -> Result<(), String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let sources = home.map(|home| home.join("registry/src"));
    for registry in sources
        .iter()
        .filter_map(|s| fs::read_dir(s).ok())
        .flatten()
    {
        let registry = registry.map_err(|e| e.to_string())?;
        // Those of a local registry have no host name before their hash.
        if !registry.file_name().to_string_lossy().starts_with('-') {
            continue;
        }
        for name in SET {
            let old = registry
                .path()
                .join(format!("{name}-{}", env!("CARGO_PKG_VERSION")));
            match fs::remove_dir_all(&old) {
                Err(e) if e.kind() != ErrorKind::NotFound => {
                    return Err(format!("{}: {e}", old.display()));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Flaws of packages that crates.io would refuse or a stranger would notice.
fn judge(metadata: &serde_json::Value) -> Vec<String> {
    let mut wrong = Vec::new();
    for name in SET {
        let all = metadata["packages"].as_array();
        let Some(package) = all.into_iter().flatten().find(|p| p["name"] == *name) else {
            wrong.push(format!("{name}: the workspace has no such crate"));
            continue;
        };
        for key in ["description", "license", "readme", "rust_version"] {
            if package[key].as_str().is_none_or(str::is_empty) {
                wrong.push(format!("{name}: Cargo.toml has no {key}"));
            }
        }
        for key in ["repository", "homepage", "documentation"] {
            let address = package[key].as_str().unwrap_or_default();
            if address.contains(".invalid") || address.contains("example.") {
                wrong.push(format!(
                    "{name}: {key} `{address}` leads nowhere: remove it"
                ));
            }
        }
        // The limits of crates.io.
        for (key, most) in [("keywords", 5), ("categories", 5)] {
            let count = package[key].as_array().map_or(0, Vec::len);
            if count == 0 || count > most {
                wrong.push(format!("{name}: {count} {key}; 1 to {most} are accepted"));
            }
        }
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        let folder = Path::new(manifest).parent().unwrap_or(Path::new(""));
        for file in FILES {
            if !folder.join(file).is_file() {
                wrong.push(format!(
                    "{name}: {} is missing",
                    folder.join(file).display()
                ));
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The real metadata pass; each fault put into them is named.
    #[test]
    fn what_crates_io_refuses_is_found() {
        let good = crate::arrows::metadata().unwrap();
        assert_eq!(judge(&good), Vec::<String>::new());
        let place = good["packages"].as_array().unwrap();
        let place = place.iter().position(|p| p["name"] == SET[0]).unwrap();
        for (key, value, said) in [
            ("description", serde_json::Value::Null, "no description"),
            (
                "repository",
                "https://example.invalid/x".into(),
                "leads nowhere",
            ),
            ("keywords", serde_json::json!([]), "0 keywords"),
            (
                "keywords",
                serde_json::json!(["a", "b", "c", "d", "e", "f"]),
                "6 keywords",
            ),
            (
                "manifest_path",
                "/nowhere/Cargo.toml".into(),
                "README.md is missing",
            ),
            ("name", "other".into(), "no such crate"),
        ] {
            let mut bad = good.clone();
            bad["packages"][place][key] = value;
            let wrong = judge(&bad).join("; ");
            assert!(wrong.contains(said), "{key}: {wrong}");
        }
    }
}
