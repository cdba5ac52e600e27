// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that a command writes where its user says. A file appears whole or not at all, and what
//! somebody else wrote is not replaced unasked.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use cemark_report::Error;
use cemark_report::rundir::write_named;

use crate::exit::Failure;

/// Bytes of a file that show what it is.
const HEAD: u64 = 512;

/// The help where a file is in the way.
pub(crate) const IN_THE_WAY: &str = "add --force to overwrite it, or name another file";

/// Files that a command replaces.
#[derive(Clone, Copy)]
pub(crate) enum Replace {
    /// No file.
    Nothing,
    /// A file whose first bytes the function knows as those of a file that this command writes.
    Ours(fn(&[u8]) -> bool),
    /// Every file.
    All,
}

impl Replace {
    /// Every file with `--force`, otherwise files of this command.
    pub(crate) fn ours(force: bool, known: fn(&[u8]) -> bool) -> Replace {
        match force {
            true => Replace::All,
            false => Replace::Ours(known),
        }
    }

    /// Refuses a file that is not to be replaced. `help` is what to do then.
    pub(crate) fn check(self, path: &Path, help: &str) -> Result<(), Failure> {
        if !fs::metadata(path).is_ok_and(|m| m.is_file()) {
            return Ok(());
        }
        let keeps = match self {
            Replace::Nothing => true,
            Replace::All => false,
            Replace::Ours(known) => {
                let head = head(path).map_err(|e| Error::io("read", path, e))?;
                !head.is_empty() && !known(&head)
            }
        };
        match (keeps, self) {
            (false, _) => Ok(()),
            (true, Replace::Ours(_)) => Err(Failure::User(miette::miette!(
                help = help,
                "{} exists, and this command did not write it",
                path.display()
            ))),
            (true, _) => Err(exists(path, help)),
        }
    }
}

/// Writes a file.
///
/// # Errors
/// Where a file is there that is not to be replaced, and what the system reports.
pub(crate) fn put(path: &Path, bytes: &[u8], replace: Replace, help: &str) -> Result<(), Failure> {
    replace.check(path, help)?;
    Ok(write_named(path, bytes)?)
}

/// The message about a file that is in the way.
pub(crate) fn exists(path: &Path, help: &str) -> Failure {
    Failure::User(miette::miette!(help = help, "{} exists", path.display()))
}

fn head(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(HEAD).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether the bytes have a text in them.
pub(crate) fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|w| w == text.as_bytes())
}
