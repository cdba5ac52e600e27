// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that are written whole.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{TEMPORARY, file_name};
use crate::Error;

/// Writes a file where the user says: a link stays a link, and a terminal, a pipe or a device is
/// written to. An incomplete file never has its name.
///
/// # Errors
/// Whatever the system reports, sorted by who has to act.
pub fn write_named(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let failed = |e| Error::io("write", path, e);
    match fs::metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => write_whole(path, bytes),
        Err(e) => Err(failed(e)),
        Ok(meta) if meta.is_file() || meta.is_dir() => {
            write_whole(&fs::canonicalize(path).map_err(failed)?, bytes)
        }
        Ok(_) => {
            let opened = OpenOptions::new().write(true).open(path);
            opened.and_then(|mut f| f.write_all(bytes)).map_err(failed)
        }
    }
}

/// Writes a file so that an incomplete file never has its name.
///
/// # Errors
/// Whatever the system reports, sorted by who has to act.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let name = file_name(path);
    let dir = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // Two equal points of a plan have the same name, and may finish at once on two threads.
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let write = WRITES.fetch_add(1, Ordering::Relaxed);
    let temporary = dir.join(format!("{TEMPORARY}{}-{write}-{name}", std::process::id()));
    let written = File::create(&temporary)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&temporary, path))
        .and_then(|()| File::open(dir)?.sync_all());
    written.map_err(|e| {
        // The temporary file is ours and incomplete.
        let _ = fs::remove_file(&temporary);
        Error::io("write", path, e)
    })
}
