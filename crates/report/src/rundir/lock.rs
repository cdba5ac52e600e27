// SPDX-License-Identifier: MIT OR Apache-2.0
//! One writer for each run directory: a lock of the operating system. It is released when the
//! process that holds it ends, whatever ends it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::Path;

use crate::Error;

/// The file that carries the lock. It stays after the lock is released: if it were removed, two
/// processes could hold locks on two files of the same name.
pub(crate) const NAME: &str = ".cemark-lock";

/// The lock on a directory; the directory is free when the value goes away.
#[derive(Debug)]
pub(crate) struct Lock {
    /// `None` on a file system that has no locks.
    _file: Option<File>,
}

/// The result of an attempt to take the lock.
pub(crate) enum Asked {
    /// It is ours.
    Ours(Lock),
    /// This file system has no locks, so a second process is not kept away.
    Unsupported(Lock),
    /// Another process has it: its number, where it is known.
    Held(Option<u32>),
}

/// Asks for the lock on a directory, without waiting.
///
/// # Errors
/// Where the file that carries the lock cannot be made.
pub(crate) fn ask(dir: &Path) -> Result<Asked, Error> {
    let path = dir.join(NAME);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(|e| Error::io("lock the run directory with", &path, e))?;
    match file.try_lock() {
        Ok(()) => {
            // The process number is only for messages, so a full disk may prevent it.
            let _ = file
                .set_len(0)
                .and_then(|()| writeln!(file, "{}", std::process::id()));
            Ok(Asked::Ours(Lock { _file: Some(file) }))
        }
        Err(TryLockError::WouldBlock) => Ok(Asked::Held(holder(&mut file))),
        Err(TryLockError::Error(e)) if e.kind() == ErrorKind::Unsupported => {
            Ok(Asked::Unsupported(Lock { _file: None }))
        }
        Err(TryLockError::Error(e)) => Err(Error::io("lock the run directory with", &path, e)),
    }
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(20).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
