// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run directory that is only read: `cemark merge` takes points from it. It is neither locked nor
//! changed, since each of its files is whole whenever it has its name.

use std::path::{Path, PathBuf};

use cemark_scenario::Point;

use super::document;
use super::stored::{self, Stored};
use super::{Finished, MANIFEST, Manifest, point_path};
use crate::Error;

/// A run directory that is only read.
#[derive(Clone, Debug)]
pub struct Source {
    path: PathBuf,
    manifest: Manifest,
}

/// State of a point's file in a directory.
#[derive(Clone, Debug)]
pub enum Found {
    /// The point.
    Whole(Box<Finished>),
    /// Nothing.
    Missing,
    /// A file that is not as it was written.
    Damaged(PathBuf),
    /// A point that another build of cemark has simulated.
    OtherBuild,
}

impl Source {
    /// A directory that `cemark run` has written.
    ///
    /// # Errors
    /// [`crate::Fault::User`] where it has no manifest or a damaged one; [`crate::Fault::Machine`]
    /// where it cannot be read.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Source::find(path)?.ok_or_else(|| {
            let what = match path.exists() {
                true => "this is no run directory, it has no manifest.json:",
                false => "there is no directory",
            };
            let help = "name the directories that `cemark run --part` has written, for example \
                        runs/*-part*of4";
            Error::user(what, path, help)
        })
    }

    /// Opens a run directory that may not exist yet.
    ///
    /// # Errors
    /// Where the manifest is damaged or cannot be read.
    pub fn find(path: &Path) -> Result<Option<Self>, Error> {
        let file = path.join(MANIFEST);
        let manifest = match document::read(&file)? {
            document::Found::Missing => return Ok(None),
            document::Found::Whole(manifest) => manifest,
            document::Found::Damaged => {
                return Err(Error::user(
                    "the manifest is damaged:",
                    &file,
                    "run the command of this directory again: it writes the manifest again, and \
                     keeps the points that are whole",
                ));
            }
        };
        Ok(Some(Source {
            path: path.to_path_buf(),
            manifest,
        }))
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// A point, if it was simulated by this build of cemark.
    pub fn load(&self, point: &Point, build: &str) -> Found {
        let path = point_path(&self.path, point);
        let key = stored::Key {
            build,
            scenario: &self.manifest.scenario_digest,
            point,
        };
        match stored::read(&path, key) {
            Stored::Whole(finished) => Found::Whole(finished),
            Stored::Missing => Found::Missing,
            Stored::Other => Found::OtherBuild,
            Stored::Damaged => Found::Damaged(path),
        }
    }
}
