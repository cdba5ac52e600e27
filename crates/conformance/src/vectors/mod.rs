// SPDX-License-Identifier: MIT OR Apache-2.0
//! The golden vectors: hand-worked cases with the answers that every implementation of a scheme
//! must give. `vectors/README.md` defines their format.

mod file;
#[cfg(feature = "deploy")]
mod p4;
mod replay;
mod trace;

#[cfg(feature = "deploy")]
pub use p4::OnP4;

use std::path::Path;

use cemark_marking::{SchemeSpec, catalogue};

use crate::{Error, Implementation, build, gathered};

/// One file of vectors.
#[derive(Clone, Debug)]
pub struct Vectors {
    /// The scheme that it is for.
    pub scheme: &'static SchemeSpec,
    /// Its file name (`ties.toml`).
    pub file: String,
    text: String,
}

/// The result of replaying a file.
#[derive(Clone, Debug, Default)]
pub struct Replayed {
    /// Cases and traces in it.
    pub cases: u64,
    /// Packets judged.
    pub packets: u64,
    /// Each case with a wrong answer: its name, the step, the expected and the actual answer.
    pub differ: Vec<String>,
}

/// The vectors that are part of this program, by scheme and file.
///
/// # Errors
///
/// Where a directory has the name of no scheme of the catalogue.
pub fn builtin() -> Result<Vec<Vectors>, Error> {
    gathered::vectors()
        .iter()
        .map(|(stem, file, text)| {
            Ok(Vectors {
                scheme: scheme(stem)?,
                file: (*file).to_owned(),
                text: (*text).to_owned(),
            })
        })
        .collect()
}

/// The vectors of a directory that is laid out as `vectors/`: one directory per scheme, with TOML
/// files in it.
///
/// # Errors
///
/// Where it cannot be read, is empty, or contains a directory with the name of no scheme.
pub fn read(folder: &Path) -> Result<Vec<Vectors>, Error> {
    let mut found = Vec::new();
    for path in entries(folder)?.iter().filter(|p| p.is_dir()) {
        let stem = path.file_name().unwrap_or_default().to_string_lossy();
        let scheme = scheme(&stem)?;
        for file in entries(path)?
            .iter()
            .filter(|f| f.extension().is_some_and(|x| x == "toml") && f.is_file())
        {
            found.push(Vectors {
                scheme,
                file: file
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
                text: std::fs::read_to_string(file).map_err(|e| fault(file, &e.to_string()))?,
            });
        }
    }
    if found.is_empty() {
        return Err(fault(
            folder,
            "no vectors here: it needs a directory for each scheme, as vectors/ of the repository \
             has",
        ));
    }
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<std::path::PathBuf>, Error> {
    let mut found = std::fs::read_dir(folder)
        .and_then(|dir| {
            dir.map(|e| e.map(|e| e.path()))
                .collect::<Result<Vec<_>, _>>()
        })
        .map_err(|e| fault(folder, &e.to_string()))?;
    found.sort();
    Ok(found)
}

fn fault(path: &Path, why: &str) -> Error {
    Error::File {
        path: path.display().to_string(),
        why: why.to_owned(),
    }
}

fn scheme(stem: &str) -> Result<&'static SchemeSpec, Error> {
    catalogue::ALL
        .iter()
        .copied()
        .find(|spec| spec.name == stem)
        .ok_or_else(|| fault(Path::new(stem), "vectors of no scheme of the catalogue"))
}

impl Vectors {
    /// Judges every packet of the file with an implementation of the scheme.
    ///
    /// # Errors
    ///
    /// Where the file is not in the format of `vectors/README.md`, or the scheme has no such
    /// implementation.
    pub fn replay(&self, implementation: Implementation) -> Result<Replayed, Error> {
        let place = format!("{}/{}", self.scheme.name, self.file);
        let fault = |why: String| Error::File {
            path: place.clone(),
            why,
        };
        let file: file::File = toml::from_str(&self.text).map_err(|e| fault(e.to_string()))?;
        let mut replayed = Replayed::default();
        let make = |v: &_, q: &_| build(implementation, self.scheme, v, q);
        let cases = file
            .case
            .iter()
            .map(|c| (&c.name, replay::case(self.scheme, c, make, fault)));
        let traces = file
            .trace
            .iter()
            .map(|t| (&t.name, trace::trace(self.scheme, t, make, fault)));
        for (name, outcome) in cases.chain(traces) {
            let outcome = outcome?;
            replayed.cases += 1;
            replayed.packets += outcome.packets;
            if let Some(differs) = outcome.differs {
                replayed.differ.push(format!("{name}: {differs}"));
            }
        }
        if replayed.cases == 0 {
            return Err(fault("holds neither a [[case]] nor a [[trace]]".to_owned()));
        }
        Ok(replayed)
    }
}
