// SPDX-License-Identifier: MIT OR Apache-2.0
//! A setting in which two runs differ.

use serde::Serialize;

/// Setting with unlike values in two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Path of the key; `version`, `build` and `seeds` are those of the manifest.
    pub key: String,
    /// Value in the first run; `None` where its scenario does not write the key.
    pub a: Option<String>,
    /// Value in the second run.
    pub b: Option<String>,
    /// Value in force in the run whose scenario does not write the key, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

impl Difference {
    /// A key that both runs have.
    pub(super) fn of_both(key: String, a: String, b: String) -> Self {
        Difference {
            key,
            a: Some(a),
            b: Some(b),
            default: None,
        }
    }
}
