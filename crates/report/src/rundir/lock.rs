// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lock of the operating system, by which each run directory has one writer. The system releases
//! the lock when the process that holds it ends, whatever ends it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
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
    /// This process has the lock.
    Ours(Lock),
    /// This file system has no locks, so a second process is not kept away.
    Unsupported(Lock),
    /// Another process has it: its number, where it is known.
    Held(Option<u32>),
}

/// Asks for the lock on a directory, without waiting.
///
/// # Errors
/// Where the file that carries the lock cannot be made, or is a link or a device.
pub(crate) fn ask(dir: &Path) -> Result<Asked, Error> {
    let path = dir.join(NAME);
    // A link would lead to a file of somebody else's.
    if std::fs::symlink_metadata(&path).is_ok_and(|m| !m.is_file()) {
        return Err(Error::user(
            "the lock of the run directory is not a file of cemark's:",
            &path,
            "remove it, or choose another directory with --out DIR",
        ));
    }
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
            if matches!(content(&mut file), Content::Nothing | Content::Process(_)) {
                let _ = file
                    .set_len(0)
                    .and_then(|()| file.rewind())
                    .and_then(|()| writeln!(file, "{}", std::process::id()));
            }
            Ok(Asked::Ours(Lock { _file: Some(file) }))
        }
        Err(TryLockError::WouldBlock) => Ok(Asked::Held(match content(&mut file) {
            Content::Process(number) => Some(number),
            Content::Nothing | Content::Foreign => None,
        })),
        Err(TryLockError::Error(e)) if has_no_locks(&e) => {
            Ok(Asked::Unsupported(Lock { _file: None }))
        }
        Err(TryLockError::Error(e)) => Err(Error::io("lock the run directory with", &path, e)),
    }
}

/// Whether an error says that the file system has no locks: it knows none, or those of NFS are
/// kept by a daemon that does not run.
fn has_no_locks(e: &io::Error) -> bool {
    /// ENOLCK.
    const NO_LOCKS: i32 = if cfg!(target_os = "linux") { 37 } else { 77 };
    e.kind() == ErrorKind::Unsupported || (cfg!(unix) && e.raw_os_error() == Some(NO_LOCKS))
}

/// Whether a run has been here: its lock has left the number of a process.
pub(crate) fn is_ours(dir: &Path) -> bool {
    let path = dir.join(NAME);
    let is_file = std::fs::symlink_metadata(&path).is_ok_and(|m| m.is_file());
    let file = is_file.then(|| File::open(&path).ok()).flatten();
    file.is_some_and(|mut file| matches!(content(&mut file), Content::Process(_)))
}

/// Content of the file of a lock.
enum Content {
    Nothing,
    /// The number of the process that had it last.
    Process(u32),
    /// A file of somebody else's.
    Foreign,
}

fn content(file: &mut File) -> Content {
    let mut text = String::new();
    let read = file
        .rewind()
        .and_then(|()| file.take(LONGEST + 1).read_to_string(&mut text));
    match (read, text.trim().parse()) {
        (Ok(0), _) => Content::Nothing,
        (Ok(_), Ok(number)) => Content::Process(number),
        _ => Content::Foreign,
    }
}

/// Bytes of the largest number of a process and an end of line.
const LONGEST: u64 = 20;

#[cfg(test)]
mod tests {
    use std::io;

    use super::has_no_locks;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_system_without_locks() {
        // ENOLCK, ENOSYS, EOPNOTSUPP; then EACCES, EIO.
        for (errno, none) in [(37, true), (38, true), (95, true), (13, false), (5, false)] {
            let error = io::Error::from_raw_os_error(errno);
            assert_eq!(has_no_locks(&error), none, "{error}");
        }
    }
}
