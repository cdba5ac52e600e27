// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark init marker`: a marker to begin with, in C or in Python.

use std::path::Path;

use super::Args;
use crate::exit::{Failure, answer, user};
use crate::export::HEADER;
use crate::output::{IN_THE_WAY, Replace, put};
use crate::shell;

/// Word for a file of this name in C.
const WORD: &str = "marker";

const IN_C: &str = include_str!("../../../../examples/own_marker.c");
const IN_PYTHON: &str = include_str!("marker.py.txt");
/// Name of the marker in [`IN_C`].
const STEM: &str = "own_marker";

/// Whether the file of the command is one of a marker.
pub(super) fn is_one(file: &Path) -> bool {
    let source = |ending: &str| file.extension().is_some_and(|e| e == ending);
    file == Path::new(WORD) || source("c") || source("py")
}

/// Writes the marker, and for C the header that it includes.
pub(super) fn init(args: &Args) -> Result<(), Failure> {
    if args.fabric.describes_a_fabric() {
        return Err(user(
            format!(
                "{} is a marker, and the options describe a fabric",
                args.file.display()
            ),
            "leave the options out, or name a file that ends in .toml",
        ));
    }
    let path = match args.file == Path::new(WORD) {
        true => args.file.with_extension("c"),
        false => args.file.clone(),
    };
    let replace = match args.force {
        true => Replace::All,
        false => Replace::Nothing,
    };
    if path.extension().is_some_and(|e| e == "py") {
        put(&path, IN_PYTHON.as_bytes(), replace, IN_THE_WAY)?;
        let file = shell::quoted(&path.display().to_string());
        return answer(&format!("{file}: a marker\n\nnext    python {file}\n"));
    }
    let stem = stem(&path)?;
    let text = IN_C
        .replace(&STEM.to_uppercase(), &stem.to_uppercase())
        .replace(STEM, &stem);
    // The comment of the example names files of a checkout.
    let begin = text.find("#include").unwrap_or_default();
    let text = format!("{ABOUT}{}", &text[begin..]);
    let header = path.with_file_name("cemark").join("marker.h");
    let ours = Replace::ours(args.force, |head| head.starts_with(HEADER));
    // Nothing is written before all can be.
    free(&path, &header)?;
    replace.check(&path, IN_THE_WAY)?;
    ours.check(&header, IN_THE_WAY)?;
    if let Some(folder) = header.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|e| cemark_report::Error::io("make the directory", folder, e))?;
    }
    put(
        &header,
        cemark_foreign::header(WORD)?.as_bytes(),
        ours,
        IN_THE_WAY,
    )?;
    put(&path, text.as_bytes(), replace, IN_THE_WAY)?;
    let shown = |path: &Path| shell::quoted(&path.display().to_string());
    let (file, object) = (shown(&path), path.with_extension("so"));
    let marker = shell::quoted(&format!("c:{}", object.display()));
    answer(&format!(
        "{file}: a marker, and {} that it includes\n\n\
         next    cc -O2 -fPIC -shared {file} -o {}\n        \
         cemark run rtt-variation --marker {marker}\n",
        shown(&header),
        shown(&object),
    ))
}

/// Refuses paths of a marker and its header that are directories, or that lie in none.
fn free(path: &Path, header: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|dir| !dir.is_dir()) {
        let what = format!("there is no directory {}", folder.display());
        return Err(user(what, "make it first, or name a file in another one"));
    }
    if let Some(place) = [path, header].into_iter().find(|place| place.is_dir()) {
        let what = format!(
            "{} is a directory, and the marker needs a file of this name",
            place.display()
        );
        return Err(user(what, "name a file in another directory"));
    }
    let beside = header.parent().unwrap_or(Path::new(""));
    if beside.exists() && !beside.is_dir() {
        let what = format!(
            "{} is a file, and the header {} needs a directory of this name",
            beside.display(),
            header.display()
        );
        return Err(user(
            what,
            "rename the file, or name a marker in another directory",
        ));
    }
    Ok(())
}

/// First comment of a file in C.
const ABOUT: &str = "\
/*
 * A marking scheme to begin with: it starts marking at a high queue length and stops below a low
 * one. All of its state is in two structs, and it needs no library, so that the file that is
 * simulated can be deployed. docs/own-marker.md has the way from here to a figure.
 */
";

/// The name of the marker: that of the file, as C writes names.
fn stem(path: &Path) -> Result<String, Failure> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = stem.replace('-', "_");
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(letters) {
        true => Ok(name.to_ascii_lowercase()),
        false => Err(user(
            format!("`{stem}` is no name in C"),
            "name a file such as mine.c: letters, digits and `_`",
        )),
    }
}
