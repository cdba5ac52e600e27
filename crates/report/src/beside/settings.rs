// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings in which two runs differ, from their manifests.

use std::collections::BTreeMap;

use cemark_scenario::settings_of;
use serde::Serialize;

use crate::rundir::Manifest;

/// Setting with unlike values in two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Path of the key; `version`, `build` and `seeds` are those of the manifest.
    pub key: String,
    /// Value in the first run; `None` where its scenario does not write the key.
    pub a: Option<String>,
    /// Value in the second run.
    pub b: Option<String>,
}

/// Keys of a scenario that describe it and change no result, and the seeds, which the manifest has
/// one by one.
const OTHERS: [&str; 5] = ["title", "description", "next", "published", "seeds"];

/// The settings that differ: those of the program, then those of the scenario by path.
pub(super) fn differences(a: &Manifest, b: &Manifest) -> Vec<Difference> {
    let program = [
        ("version", version(a), version(b)),
        ("build", build(a), build(b)),
        ("seeds", seeds(a), seeds(b)),
    ];
    let program = program.into_iter().filter(|(_, a, b)| a != b);
    let mut all: Vec<Difference> = program
        .map(|(key, a, b)| Difference {
            key: key.to_owned(),
            a: Some(a),
            b: Some(b),
        })
        .collect();
    let (of_a, mut of_b) = (written(a), written(b));
    for (key, value) in of_a {
        let other = of_b.remove(&key);
        if other.as_ref() != Some(&value) {
            all.push(Difference {
                key,
                a: Some(value),
                b: other,
            });
        }
    }
    all.extend(of_b.into_iter().map(|(key, value)| Difference {
        key,
        a: None,
        b: Some(value),
    }));
    all
}

fn version(manifest: &Manifest) -> String {
    manifest.provenance.version.clone()
}

fn build(manifest: &Manifest) -> String {
    manifest.provenance.build.clone()
}

/// `1 to 3`, or one by one where they have gaps.
fn seeds(manifest: &Manifest) -> String {
    let all = &manifest.seeds;
    match &all[..] {
        [first, .., last] if all.windows(2).all(|pair| pair[1] == pair[0] + 1) => {
            format!("{first} to {last}")
        }
        all => all
            .iter()
            .map(u64::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// The keys of the scenario that can change a result.
fn written(manifest: &Manifest) -> BTreeMap<String, String> {
    let all = settings_of(&manifest.source).into_iter();
    all.filter(|s| !OTHERS.contains(&&*s.path[0]))
        .map(|s| (s.path.join("."), s.text()))
        .collect()
}
