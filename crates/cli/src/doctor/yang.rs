// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark doctor --yang DIR`: validates tables of CONFIG_DB against SONiC's YANG models with
//! `yanglint` of libyang. No package carries the models: they are in sonic-buildimage, in
//! src/sonic-yang-models, and on every switch.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use cemark_platform::{Document, Models, Platform};
use cemark_scenario::files;

use crate::exit::{Failure, machine, user};
use crate::import::Source;

/// Largest model that is read.
const MOST_BYTES: u64 = 4 << 20;
/// Most complaints that are listed.
const MOST: usize = 100;

/// A temporary file that is removed on drop.
struct Instance(PathBuf);

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The complaints of the validator, none where the tables are valid.
pub(super) fn validate(
    platform: &dyn Platform,
    directory: &Path,
    sources: &[Source],
) -> Result<Vec<String>, Failure> {
    if platform.name() != "sonic" {
        return Err(user(
            format!(
                "--yang has the models of SONiC, and this is {}",
                platform.title()
            ),
            "leave --yang out",
        ));
    }
    let models = read(directory)?;
    let documents: Vec<Document> = sources
        .iter()
        .filter_map(|source| Document::of(&source.text).ok())
        .collect();
    let documents: Vec<&Document> = documents.iter().collect();
    let used = models.used(&documents);
    if used.is_empty() {
        return Err(user(
            format!(
                "{} has no model of a table of these files",
                directory.display()
            ),
            "name the directory of sonic-wred-profile.yang, sonic-queue.yang and the others",
        ));
    }
    let name = format!("cemark-doctor-{}.xml", std::process::id());
    let instance = Instance(std::env::temp_dir().join(name));
    fs::write(&instance.0, models.instance(&documents))
        .map_err(|e| machine(format!("cannot write {}: {e}", instance.0.display())))?;
    let modules = used
        .iter()
        .map(|name| directory.join(format!("{name}.yang")));
    let run = Command::new("yanglint")
        .args(["--type", "config", "--format", "xml", "--path"])
        .arg(directory)
        .args(modules)
        .arg(&instance.0)
        .output();
    let out = run.map_err(|e| match e.kind() {
        ErrorKind::NotFound => user(
            "yanglint is not installed",
            "install libyang's tools: apt install libyang2-tools (Debian), or leave --yang out",
        ),
        _ => machine(format!("cannot run yanglint: {e}")),
    })?;
    if out.status.success() {
        return Ok(Vec::new());
    }
    let file = instance.0.display().to_string();
    let said = String::from_utf8_lossy(&out.stderr);
    let mut complaints = BTreeSet::new();
    for line in said.lines().take(MOST) {
        let line = line.trim().trim_start_matches("libyang err :");
        let ours = line.is_empty() || line.contains(&file) || line.starts_with("YANGLINT");
        if !ours {
            complaints.insert(line.trim().to_owned());
        }
    }
    match complaints.is_empty() {
        true => Err(machine(format!("yanglint ended with {}", out.status))),
        false => Ok(complaints.into_iter().collect()),
    }
}

fn read(directory: &Path) -> Result<Models, Failure> {
    let unread = |e: &dyn std::fmt::Display| {
        user(
            format!("{}: {e}", directory.display()),
            "name the directory with SONiC's YANG models",
        )
    };
    let mut models = Models::default();
    for entry in fs::read_dir(directory).map_err(|e| unread(&e))? {
        let path = entry.map_err(|e| unread(&e))?.path();
        if path.extension().is_some_and(|end| end == "yang") {
            models.add(&files::text(&path, MOST_BYTES).map_err(|e| unread(&e))?);
        }
    }
    Ok(models)
}
