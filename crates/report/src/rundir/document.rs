// SPDX-License-Identifier: MIT OR Apache-2.0
//! Our JSON documents: the manifest and the summary of a run, the rows of a figure. Each is an
//! object whose last field is the checksum of the whole, and no field is used before the checksum
//! holds.

use std::path::Path;

use cemark_scenario::files::{self, Unread};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::seal::{BLANK, Place};
use crate::Error;

/// Bytes of the largest document: of about a million points.
const LARGEST: u64 = 2 << 30;

/// A document as it is written.
pub fn encode(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("numbers and strings");
    assert!(bytes.ends_with(b"\n}"), "a document is an object");
    bytes.truncate(bytes.len() - 2);
    bytes.extend_from_slice(format!(",\n  \"checksum\": \"{BLANK}\"\n}}\n").as_bytes());
    Place::Json.seal(&mut bytes);
    bytes
}

/// A document from its bytes; `None` where they are not as [`encode`] has made them.
pub(crate) fn decode<T: DeserializeOwned>(mut bytes: Vec<u8>) -> Option<T> {
    match Place::Json.holds(&mut bytes) {
        Some(true) => serde_json::from_slice(&bytes).ok(),
        Some(false) | None => None,
    }
}

/// A document's file.
pub enum Found<T> {
    /// There is none.
    Missing,
    /// The file is not as it was written, or has no checksum.
    Damaged,
    /// As it was written.
    Whole(T),
}

impl<T> Found<T> {
    /// The content, or what a reader says who needs it. `help` is what brings the document back.
    ///
    /// # Errors
    /// [`crate::Fault::User`] where the document is missing or damaged.
    pub fn needed(self, path: &Path, help: &str) -> Result<T, Error> {
        match self {
            Found::Whole(content) => Ok(content),
            Found::Missing => Err(Error::user("this file is missing:", path, help)),
            Found::Damaged => Err(Error::user(
                "this file is damaged, or written by an early cemark: its checksum does not hold:",
                path,
                help,
            )),
        }
    }
}

/// Reads a document.
///
/// # Errors
/// Where it cannot be read, or is no file.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Found<T>, Error> {
    match files::bytes(path, LARGEST) {
        Ok(bytes) => Ok(decode(bytes).map_or(Found::Damaged, Found::Whole)),
        Err(e) if e.is_missing() => Ok(Found::Missing),
        Err(e) => Err(unread(path, e)),
    }
}

/// A file of a run directory that cannot be read.
pub(crate) fn unread(path: &Path, why: Unread) -> Error {
    match why {
        Unread::System(e) => Error::io("read", path, e),
        why => Error::user(
            format!("a file of a run is expected, but {why}:"),
            path,
            "move it aside, or choose another directory",
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{decode, encode};

    #[test]
    fn no_other_bit_is_read() {
        let value = json!({ "a": 1, "checksum": "of something else", "z": [] });
        let bytes = encode(&value);
        let whole: Value = decode(bytes.clone()).expect("as it was made");
        assert_eq!(whole["a"], 1);
        for bit in 0..bytes.len() * 8 {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(decode::<Value>(other).is_none(), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(decode::<Value>(bytes[..length].to_vec()).is_none());
        }
        assert!(decode::<Value>(b"{\"a\": 1}".to_vec()).is_none());
    }
}
