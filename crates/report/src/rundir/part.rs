// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of a run, which may be simulated on different machines.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A part of a run ([`Plan::part`](cemark_scenario::Plan::part)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Number of the part, from 1.
    pub part: u32,
    /// Number of parts.
    pub parts: u32,
    /// The scenario file: its size tables are looked for beside it.
    pub file: String,
}

/// More parts than anyone has machines.
const MOST: u32 = 10_000;

/// Which part of a run, of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Number of the part, from 1.
    pub part: u32,
    /// Number of parts.
    pub parts: u32,
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |n: &str| n.trim().parse::<u32>().ok();
        let pair = text.split_once('/');
        let Some((part, parts)) = pair.and_then(|(i, n)| Some((number(i)?, number(n)?))) else {
            return Err(
                "write the number of the part and of all parts, for example 2/4".to_owned(),
            );
        };
        if parts == 0 || parts > MOST {
            return Err(format!("there can be 1 to {MOST} parts"));
        }
        if part == 0 || part > parts {
            return Err(format!(
                "the first number is 1 to {parts}, for example 1/{parts}"
            ));
        }
        Ok(Share { part, parts })
    }
}

impl Share {
    /// The directory of this part, beside that of the whole: its name with `-part2of4`.
    pub fn beside(self, whole: &Path) -> PathBuf {
        let Share { part, parts } = self;
        PathBuf::from(format!("{}-part{part}of{parts}", whole.display()))
    }

    /// The part as the manifest names it.
    pub fn of(self, file: String) -> Part {
        let Share { part, parts } = self;
        Part { part, parts, file }
    }
}

#[cfg(test)]
mod tests {
    use super::Share;

    #[test]
    fn parts_are_read() {
        let read = |text: &str| text.parse::<Share>();
        assert_eq!(read("2/4"), Ok(Share { part: 2, parts: 4 }));
        assert_eq!(read("1/1"), Ok(Share { part: 1, parts: 1 }));
        for (text, says) in [
            ("2", "2/4"),
            ("2 of 4", "2/4"),
            ("a/b", "2/4"),
            ("-1/4", "2/4"),
            ("0/4", "1 to 4, for example 1/4"),
            ("5/4", "1 to 4, for example 1/4"),
            ("1/0", "1 to 10000 parts"),
            ("1/99999", "1 to 10000 parts"),
        ] {
            let e = read(text).expect_err(text);
            assert!(e.contains(says), "{text}: {e}");
        }
    }
}
