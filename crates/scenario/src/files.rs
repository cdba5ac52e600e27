// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every file that a user names, or that lies in a directory of a user's, is read here: a pipe has
//! no end that a reader could wait for, a device no length, and a length in megabytes is refused
//! before memory is taken for it.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// The system refuses.
    #[error("{0}")]
    System(#[from] io::Error),
    /// The path is a directory.
    #[error("it is not a file but a directory")]
    Directory,
    /// The path is a pipe, a socket or a device.
    #[error("it is not a file but a pipe, a socket or a device")]
    NotAFile,
    /// The file is longer than this number of bytes.
    #[error("it is larger than {} MB", .0 >> 20)]
    TooLarge(u64),
    /// The file is no text.
    #[error("it is not UTF-8 text")]
    NotText,
}

impl Unread {
    /// Whether there is no such file.
    pub fn is_missing(&self) -> bool {
        let missing = |kind| matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory);
        matches!(self, Unread::System(e) if missing(e.kind()))
    }
}

/// A whole file of at most `largest` bytes.
///
/// # Errors
/// Where there is none, where it is longer, and where it is a directory, a pipe or a device.
pub fn bytes(path: &Path, largest: u64) -> Result<Vec<u8>, Unread> {
    let meta = std::fs::metadata(path)?;
    if meta.is_dir() {
        return Err(Unread::Directory);
    }
    if !meta.is_file() {
        return Err(Unread::NotAFile);
    }
    if meta.len() > largest {
        return Err(Unread::TooLarge(largest));
    }
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    let mut file = File::open(path)?.take(largest.saturating_add(1));
    file.read_to_end(&mut bytes)?;
    match bytes.len() as u64 > largest {
        true => Err(Unread::TooLarge(largest)),
        false => Ok(bytes),
    }
}

/// Reads a file of text.
///
/// # Errors
/// As [`bytes()`], and where it is not UTF-8.
pub fn text(path: &Path, largest: u64) -> Result<String, Unread> {
    String::from_utf8(bytes(path, largest)?).map_err(|_| Unread::NotText)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Unread, bytes, text};

    fn scratch(name: &str, content: &[u8]) -> PathBuf {
        let path = std::env::temp_dir().join(format!("cemark-files-{}-{name}", std::process::id()));
        std::fs::write(&path, content).expect("a file");
        path
    }

    #[test]
    fn a_file_is_read_whole_or_not_at_all() {
        let path = scratch("whole", b"12345");
        assert_eq!(bytes(&path, 5).expect("a file"), b"12345");
        assert!(matches!(bytes(&path, 4), Err(Unread::TooLarge(4))));
        std::fs::write(&path, [0xff]).expect("a file");
        assert!(matches!(text(&path, 5), Err(Unread::NotText)));
        std::fs::remove_file(&path).expect("removed");
        assert!(bytes(&path, 5).is_err_and(|e| e.is_missing()));
    }

    #[test]
    fn what_has_no_length_is_refused() {
        assert!(matches!(
            bytes(&std::env::temp_dir(), 5),
            Err(Unread::Directory)
        ));
        #[cfg(unix)]
        assert!(matches!(
            bytes(Path::new("/dev/zero"), u64::MAX),
            Err(Unread::NotAFile)
        ));
    }
}
