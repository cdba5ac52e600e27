// SPDX-License-Identifier: MIT OR Apache-2.0
//! A checksum inside a file, over all of its bytes. A Parquet file stays a valid Parquet file, a
//! JSON document stays valid JSON, and a flipped bit is detected.
//!
//! The checksum (XXH3, 128 bits) is taken with [`BLANK`] in its place. It guards against damage,
//! not against forgery.

use twox_hash::XxHash3_128;

/// Placeholder of the checksum until the checksum is known.
pub(crate) const BLANK: &str = "00000000000000000000000000000000";

/// Where a file keeps its checksum.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// The last entry of a Parquet file's metadata, by this key.
    Parquet,
    /// The last field of that name in a JSON document.
    Json,
}

/// The key of the checksum in a Parquet file's metadata.
pub(crate) const PARQUET_KEY: &str = "cemark.checksum";

impl Place {
    /// The bytes right before the checksum.
    fn marker(self) -> &'static [u8] {
        match self {
            // Thrift's compact form: a key, then "next field, a string" and its length of 32.
            Place::Parquet => b"cemark.checksum\x18\x20",
            Place::Json => b"\"checksum\": \"",
        }
    }

    /// The bytes of the checksum.
    fn find(self, bytes: &[u8]) -> Option<std::ops::Range<usize>> {
        let marker = self.marker();
        let start = bytes.windows(marker.len()).rposition(|w| w == marker)? + marker.len();
        let end = start + BLANK.len();
        (end <= bytes.len()).then_some(start..end)
    }

    /// Puts the checksum in the place of [`BLANK`].
    pub(crate) fn seal(self, bytes: &mut [u8]) {
        let place = self.find(bytes).expect("a file made with a blank");
        assert_eq!(
            &bytes[place.clone()],
            BLANK.as_bytes(),
            "sealed once and in the right place"
        );
        let sum = checksum(bytes);
        bytes[place].copy_from_slice(sum.as_bytes());
    }

    /// Whether the checksum is right; `None` where there is none.
    pub(crate) fn holds(self, bytes: &mut [u8]) -> Option<bool> {
        let place = self.find(bytes)?;
        let stored = bytes[place.clone()].to_vec();
        bytes[place.clone()].copy_from_slice(BLANK.as_bytes());
        let sum = checksum(bytes);
        bytes[place].copy_from_slice(&stored);
        Some(stored == sum.as_bytes())
    }
}

fn checksum(bytes: &[u8]) -> String {
    format!("{:032x}", XxHash3_128::oneshot(bytes))
}
