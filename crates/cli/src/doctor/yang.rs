// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark doctor --yang DIR`: validates tables of CONFIG_DB against SONiC's YANG models with
//! `yanglint` of libyang. No package carries the models: they are in sonic-buildimage, in
//! src/sonic-yang-models, and on every switch.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use cemark_platform::{Document, Instance, Models, Platform};
use cemark_scenario::files;

use crate::exit::{Failure, machine, user};
use crate::import::Source;

/// Largest model that is read.
const MOST_BYTES: u64 = 4 << 20;
/// Most complaints that are listed.
const MOST: usize = 100;

/// A file that is removed on drop.
struct Temporary(PathBuf);

impl Temporary {
    /// Writes a new file that no other user reads.
    fn new(text: &str) -> Result<Temporary, Failure> {
        let name = format!("cemark-doctor-{}.xml", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let no = |e| machine(format!("cannot write {}: {e}", path.display()));
        let mut file = options.open(&path).map_err(no)?;
        let temporary = Temporary(path.clone());
        file.write_all(text.as_bytes()).map_err(no)?;
        Ok(temporary)
    }
}

impl Drop for Temporary {
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
    let instances = models.instances(&documents);
    if instances.is_empty() {
        return Err(user(
            format!(
                "{} has no model of a table of these files",
                directory.display()
            ),
            "name the directory of sonic-wred-profile.yang, sonic-queue.yang and the others",
        ));
    }
    let mut complaints = Vec::new();
    for instance in &instances {
        for complaint in lint(directory, instance)? {
            complaints.push(match instance.part.is_empty() {
                true => complaint,
                false => format!("{}: {complaint}", instance.part),
            });
        }
    }
    Ok(complaints)
}

/// Complaints of the validator about an instance.
fn lint(directory: &Path, instance: &Instance) -> Result<Vec<String>, Failure> {
    let file = Temporary::new(&instance.xml)?;
    let modules = instance.modules.iter();
    let modules = modules.map(|name| directory.join(format!("{name}.yang")));
    // Conditions of a model may look at tables of the models that it imports.
    let run = Command::new("yanglint")
        .args(["--make-implemented", "--quiet"])
        .args(["--type", "config", "--format", "xml", "--path"])
        .arg(directory)
        .args(modules)
        .arg(&file.0)
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
    let complaints = complaints(&String::from_utf8_lossy(&out.stderr), &file.0);
    match complaints.is_empty() {
        true => Err(machine(format!("yanglint ended with {}", out.status))),
        false => Ok(complaints),
    }
}

/// Complaints of libyang, each once. A complaint begins with `libyang err :` and may have several
/// lines.
fn complaints(said: &str, instance: &Path) -> Vec<String> {
    let file = instance.display().to_string();
    let mut all: Vec<String> = Vec::new();
    let mut open = false;
    for line in said.lines().map(str::trim) {
        let begins = line.strip_prefix("libyang err :");
        match begins {
            Some(text) if all.len() < MOST => {
                open = true;
                all.push(text.trim().to_owned());
            }
            Some(_) => break,
            None if line.starts_with("libyang ") || line.starts_with("YANGLINT") => open = false,
            None if open && !line.is_empty() => {
                let last = all.last_mut().expect("an open complaint");
                *last += &format!(" {line}");
            }
            None => {}
        }
    }
    let mut seen = BTreeSet::new();
    all.retain(|complaint| !complaint.contains(&file) && seen.insert(complaint.clone()));
    all.iter()
        .map(|complaint| without_line(complaint))
        .collect()
}

/// The complaint without the number of a line, which is that of the temporary file.
fn without_line(complaint: &str) -> String {
    let Some((before, after)) = complaint.split_once("line number ") else {
        return complaint.to_owned();
    };
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    match before.strip_suffix(", ") {
        Some(before) => format!("{before}{rest}"),
        None => format!("{before}{}", rest.trim_start_matches(", ")),
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::complaints;

    #[test]
    fn a_complaint_may_have_several_lines_and_warnings_are_none() {
        let said = "libyang warn: Missing status (/a:b).\n\
                    libyang err : When condition \"current()\n  != 'voq'\" not satisfied. (Data \
                    location \"/q:QUEUE_LIST\", line number 7.)\n\
                    libyang err : When condition \"current()\n  != 'voq'\" not satisfied. (Data \
                    location \"/q:QUEUE_LIST\", line number 7.)\n\
                    libyang err : Failed to parse \"/tmp/x.xml\".\n\
                    YANGLINT[E]: Failed to load.\n";
        let wanted = "When condition \"current() != 'voq'\" not satisfied. (Data location \
                      \"/q:QUEUE_LIST\".)";
        assert_eq!(complaints(said, Path::new("/tmp/x.xml")), [wanted]);
    }
}
