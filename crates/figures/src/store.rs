// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the points of a figure are kept: in a directory of its own, and, as other parts have
//! simulated them, in the directories beside it.

use std::path::{Path, PathBuf};

use cemark_report::Error;
use cemark_report::rundir::{Console, Finished, Found, Provenance, RunDir, Share, Source};
use cemark_scenario::{Plan, Point};

/// The points of one figure on disk.
pub(super) struct Store {
    pub(super) dir: RunDir,
    /// Directories of other parts.
    sources: Vec<Source>,
    build: String,
    is_part: bool,
}

impl Store {
    /// Opens the directory `base`, or that of one of several parts, which is named after it. What
    /// other parts have left beside it is read.
    pub(super) fn open(
        plan: &Plan,
        base: &Path,
        share: Option<Share>,
        who: &Provenance,
        console: &dyn Console,
    ) -> Result<Self, Error> {
        let path = share.map_or(base.to_path_buf(), |share| share.beside(base));
        let part = share.map(|share| share.of(super::file::place(&plan.name)));
        let dir = RunDir::open_part(&path, plan, part, who, false, console)?;
        let mut sources = Vec::new();
        for other in beside(base).into_iter().filter(|p| *p != path) {
            let found = Source::find(&other).unwrap_or_else(|damaged| {
                console.say(&format!("{damaged}: none of its points is used"));
                None
            });
            // What is no run directory is none of ours.
            let Some(source) = found else { continue };
            let build = &source.manifest().provenance.build;
            if *build != who.build {
                console.say(&format!(
                    "{} is of another build of cemark ({build}, this is {}): none of its points \
                     is used",
                    other.display(),
                    who.build
                ));
            }
            sources.push(source);
        }
        Ok(Store {
            dir,
            sources,
            build: who.build.clone(),
            is_part: share.is_some(),
        })
    }

    /// A point that an earlier session or another part has finished.
    pub(super) fn find(
        &self,
        point: &Point,
        console: &dyn Console,
    ) -> Result<Option<Finished>, Error> {
        if let Some(found) = self.dir.load(point, console) {
            return Ok(Some(found));
        }
        let mut others = self.sources.iter().map(|s| s.load(point, &self.build));
        let found = others.find_map(|found| match found {
            Found::Whole(found) => Some(*found),
            _ => None,
        });
        // The directory of the whole figure then needs no other. A part keeps its own points only.
        if let Some(found) = found.as_ref().filter(|_| !self.is_part) {
            self.dir.store(point, found)?;
        }
        Ok(found)
    }
}

/// The directory of the whole figure and those of its parts, as far as they exist.
fn beside(base: &Path) -> Vec<PathBuf> {
    let name = |path: &Path| {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
        name.unwrap_or_default()
    };
    let parts = format!("{}-part", name(base));
    let folder = base.parent().unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path == base || name(path).starts_with(&parts))
        .collect();
    found.sort();
    found
}
