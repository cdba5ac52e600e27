// SPDX-License-Identifier: MIT OR Apache-2.0
//! `marker = "c:mine.so"`: schemes of the user's own, declared as those of the catalogue are. Code
//! is never loaded here: the declaration is read from the file's bytes.

use std::path::{Path, PathBuf};

use cemark_foreign::{Declared, Form};
use cemark_marking::SchemeSpec;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::files;

/// Bytes of the largest file of a marker.
pub const LARGEST_MARKER: u64 = 256 << 20;

/// The word before the name of a marker that is a class of Python.
const PYTHON: &str = "python";

/// Marker of the user's, as a scenario names it and its file declares it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnMarker {
    /// Value of the key `marker`: `c:mine.so`, `bpf:mine.o`, `python:mine`.
    pub written: String,
    /// Name of the marker in its code.
    pub name: String,
    /// Parameters, a line each: name, kind, default, least and largest value and a sentence,
    /// with tabs between them. `None`: those of the catalogue's scheme of this name, if there is
    /// one.
    pub params: Option<String>,
    /// Fingerprint of the code.
    pub content: u64,
    /// Path of the file from the working directory; empty where no file is known.
    #[serde(skip)]
    pub path: PathBuf,
    /// Whether the command line names the file, so that its user wants the code to run.
    #[serde(skip)]
    pub named: bool,
}

/// Scheme that is added to those of the file: the value of its key `marker`, and its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedMarker {
    /// As a scenario writes it; a relative path begins in the working directory.
    pub marker: String,
    /// `None`: the name that the code declares, or form and file name where a scheme has that
    /// name.
    pub label: Option<String>,
}

impl AddedMarker {
    /// A marker as the command line names it: `c:mine.so`, or `mine=c:mine.so` with a label.
    pub fn new(typed: &str) -> Self {
        let label = typed.split_once('=').filter(|(l, _)| !l.contains(':'));
        let (label, marker) = match label {
            Some((label, marker)) => (Some(label.trim().to_owned()), marker.trim()),
            None => (None, typed),
        };
        AddedMarker {
            marker: marker.to_owned(),
            label,
        }
    }
}

/// A marker and the declaration of its scheme, as a value of the tree.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    pub(crate) marker: OwnMarker,
    pub(crate) spec: &'static SchemeSpec,
}

impl OwnMarker {
    /// Form of the file; `None` for a class of Python.
    pub fn form(&self) -> Option<Form> {
        of_file(&self.written).map(|(form, _)| form)
    }

    /// The declaration of a marker in a file whose path begins in the folder `base`.
    pub(crate) fn of_file(written: &str, base: &Path) -> Result<OwnMarker, String> {
        let (form, path) = of_file(written).unwrap_or((Form::C, ""));
        let at = base.join(path);
        if path.is_empty() {
            return Err("there is no file name after the colon".to_owned());
        }
        let bytes = files::bytes(&at, LARGEST_MARKER).map_err(|why| why.to_string())?;
        let declared = Declared::read(form, &bytes)?;
        Ok(OwnMarker {
            written: written.to_owned(),
            name: declared.name,
            params: declared.params,
            content: Digest::new().bytes(&bytes).finish(),
            path: at,
            named: false,
        })
    }

    /// A marker in a class of Python. `params`: as [`OwnMarker::params`]; `source` is the text
    /// that identifies it.
    pub fn in_python(name: &str, params: &str, source: &str) -> OwnMarker {
        OwnMarker {
            written: format!("{PYTHON}:{name}"),
            name: name.to_owned(),
            params: Some(params.to_owned()),
            content: Digest::new().bytes(source.as_bytes()).finish(),
            path: PathBuf::new(),
            named: true,
        }
    }

    /// Whether the code of these bytes is this marker's.
    pub fn is_made_of(&self, bytes: &[u8]) -> bool {
        self.content == Digest::new().bytes(bytes).finish()
    }

    /// Title of its scheme: the form and the name of the file.
    pub(crate) fn title(&self) -> String {
        let (form, path) = self.written.split_once(':').unwrap_or_default();
        let file = Path::new(path).file_name().unwrap_or_default();
        format!("{form}:{}", file.display())
    }
}

/// Form and path of a marker in a file.
pub(crate) fn of_file(written: &str) -> Option<(Form, &str)> {
    let (word, path) = written.split_once(':')?;
    let form = [Form::C, Form::Bpf]
        .into_iter()
        .find(|f| f.word() == word)?;
    Some((form, path))
}

/// Whether the value of a key `marker` names code of the user's.
pub(crate) fn is_own(written: &str) -> bool {
    of_file(written).is_some()
        || written
            .split_once(':')
            .is_some_and(|(word, _)| word == PYTHON)
}
