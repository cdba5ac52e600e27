// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scenario files that commands write.

use std::path::Path;

use crate::exit::{Failure, user};
use crate::output::{IN_THE_WAY, Replace, exists, put};

/// The file's name, if it may be written.
pub(crate) fn writable(path: &Path, force: bool) -> Result<String, Failure> {
    let file = path.display().to_string();
    if path.extension().is_none_or(|end| end != "toml") {
        let what = format!("{file} is no name for a scenario: it ends in .toml");
        return Err(user(&what, format!("write {file}.toml")));
    }
    if path.exists() && !force {
        return Err(exists(path, IN_THE_WAY));
    }
    let folder = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|dir| !dir.is_dir()) {
        let what = format!("there is no directory {}", folder.display());
        return Err(user(&what, "make it first, or write a file in another one"));
    }
    Ok(file)
}

/// Writes a scenario.
pub(crate) fn write(file: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let replace = match force {
        true => Replace::All,
        false => Replace::Nothing,
    };
    put(file, text.as_bytes(), replace, IN_THE_WAY)
}
