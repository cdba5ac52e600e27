// SPDX-License-Identifier: MIT OR Apache-2.0
//! The golden vectors: cases worked by hand and long generated traces, with the answers that every
//! implementation of a scheme must give. `vectors/README.md` defines their format.

mod file;
mod replay;
mod trace;

use std::path::{Path, PathBuf};

use cemark_marking::{Marker, QueueSpec, SchemeSpec, Values, catalogue};

use file::{Case, File, Trace};

/// Scheme, file name and text of each file in `vectors/`.
static BUILTIN: &[(&str, &str, &str)] = include!(concat!(env!("OUT_DIR"), "/vectors.rs"));

/// A file of vectors.
#[derive(Clone, Debug)]
pub struct Vectors {
    /// The scheme that the file is for.
    pub scheme: &'static SchemeSpec,
    /// The file name (`ties.toml`).
    pub file: String,
    text: String,
}

/// A case or a trace.
pub struct Vector {
    scheme: &'static SchemeSpec,
    /// File and name, in front of a mistake.
    place: String,
    /// Parameters of the marker.
    pub params: Values,
    content: Content,
}

enum Content {
    Case(Case),
    Trace(Trace),
}

/// The result of a case or a trace.
pub struct Outcome {
    /// Packets judged.
    pub packets: u64,
    /// The first difference.
    pub differs: Option<String>,
}

/// The result of replaying a file.
#[derive(Clone, Debug, Default)]
pub struct Replayed {
    /// Cases and traces of the file.
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
pub fn builtin() -> Result<Vec<Vectors>, String> {
    let vectors = BUILTIN.iter().map(|(stem, file, text)| {
        Ok(Vectors {
            scheme: scheme(stem)?,
            file: (*file).to_owned(),
            text: (*text).to_owned(),
        })
    });
    vectors.collect()
}

/// The vectors of a directory that is laid out as `vectors/`: one directory per scheme, with TOML
/// files in it.
///
/// # Errors
///
/// Where the directory cannot be read, is empty, or contains a directory with the name of no
/// scheme.
pub fn read(folder: &Path) -> Result<Vec<Vectors>, String> {
    let name = |p: &Path| {
        p.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let mut found = Vec::new();
    for path in entries(folder)?.iter().filter(|p| p.is_dir()) {
        let scheme = scheme(&name(path))?;
        for file in entries(path)? {
            if file.extension().is_some_and(|x| x == "toml") && file.is_file() {
                let text = std::fs::read_to_string(&file);
                found.push(Vectors {
                    scheme,
                    file: name(&file),
                    text: text.map_err(|e| format!("{}: {e}", file.display()))?,
                });
            }
        }
    }
    if found.is_empty() {
        return Err(format!(
            "{}: no vectors here: it needs a directory for each scheme, as vectors/ of the \
             repository has",
            folder.display()
        ));
    }
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let paths = |dir: std::fs::ReadDir| dir.map(|e| Ok(e?.path())).collect();
    let found: std::io::Result<Vec<PathBuf>> = std::fs::read_dir(folder).and_then(paths);
    let mut found = found.map_err(|e| format!("{}: {e}", folder.display()))?;
    found.sort();
    Ok(found)
}

fn scheme(stem: &str) -> Result<&'static SchemeSpec, String> {
    let mut all = catalogue::ALL.iter().copied();
    all.find(|spec| spec.name == stem)
        .ok_or_else(|| format!("{stem}: vectors of no scheme of the catalogue"))
}

impl Vectors {
    /// Cases, then traces of the file.
    ///
    /// # Errors
    ///
    /// Where the file is not in the format of `vectors/README.md`.
    pub fn parse(&self) -> Result<Vec<Vector>, String> {
        let place = format!("{}/{}", self.scheme.name, self.file);
        let file: File = toml::from_str(&self.text).map_err(|e| format!("{place}: {e}"))?;
        let cases = file.case.into_iter().map(Content::Case);
        let contents = cases.chain(file.trace.into_iter().map(Content::Trace));
        let mut vectors = Vec::new();
        for content in contents {
            let place = format!("{place}: {}", content.name());
            let params = file::values(self.scheme, content.params());
            vectors.push(Vector {
                scheme: self.scheme,
                params: params.map_err(|why| format!("{place}: {why}"))?,
                place,
                content,
            });
        }
        if vectors.is_empty() {
            return Err(format!("{place}: holds neither a [[case]] nor a [[trace]]"));
        }
        Ok(vectors)
    }

    /// Judges every packet of the file with the markers that `make` builds. `fault` turns a mistake
    /// in the file into an error. A wrong answer is no error.
    ///
    /// # Errors
    ///
    /// Where the file is not in the format of `vectors/README.md`, or `make` fails.
    pub fn replay<E>(
        &self,
        make: impl Fn(&Values, &QueueSpec) -> Result<Box<dyn Marker>, E>,
        fault: impl Fn(String) -> E,
    ) -> Result<Replayed, E> {
        let mut replayed = Replayed::default();
        for vector in self.parse().map_err(&fault)? {
            let outcome = vector.replay(&make, &fault)?;
            replayed.cases += 1;
            replayed.packets += outcome.packets;
            if let Some(differs) = outcome.differs {
                replayed
                    .differ
                    .push(format!("{}: {differs}", vector.name()));
            }
        }
        Ok(replayed)
    }
}

impl Content {
    fn name(&self) -> &str {
        match self {
            Content::Case(case) => &case.name,
            Content::Trace(trace) => &trace.name,
        }
    }

    fn params(&self) -> &toml::Table {
        match self {
            Content::Case(case) => &case.params,
            Content::Trace(trace) => &trace.params,
        }
    }
}

impl Vector {
    /// The name in the file.
    pub fn name(&self) -> &str {
        self.content.name()
    }

    /// Whether the vector is a generated trace.
    pub fn is_trace(&self) -> bool {
        matches!(self.content, Content::Trace(_))
    }

    /// Whether the marker gets other parameters in the middle of the case.
    pub fn retunes(&self) -> bool {
        match &self.content {
            Content::Case(case) => case.steps.iter().any(|step| step.retune.is_some()),
            Content::Trace(_) => false,
        }
    }

    /// The longest sojourn time that a case states, in nanoseconds.
    pub fn longest_sojourn(&self) -> u64 {
        match &self.content {
            Content::Case(case) => case.steps.iter().map(|s| s.sojourn).max().unwrap_or(0),
            Content::Trace(_) => 0,
        }
    }

    /// Judges every packet with the marker that `make` builds. `fault` turns a mistake in the file
    /// into an error. A wrong answer is an outcome.
    ///
    /// # Errors
    ///
    /// Where a step or a trace is not in the format of `vectors/README.md`, or `make` fails.
    pub fn replay<E>(
        &self,
        make: impl FnOnce(&Values, &QueueSpec) -> Result<Box<dyn Marker>, E>,
        fault: impl Fn(String) -> E,
    ) -> Result<Outcome, E> {
        let fault = |why| fault(format!("{}: {why}", self.place));
        let marker = |queue| make(&self.params, queue);
        match &self.content {
            Content::Case(case) => {
                let queue = case.queue();
                replay::case(self.scheme, case, &queue, marker(&queue)?).map_err(fault)
            }
            Content::Trace(trace) => trace::trace(trace, marker(&trace.queue())?).map_err(fault),
        }
    }
}
