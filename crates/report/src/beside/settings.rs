// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings in which two runs differ, from their manifests.

use std::collections::BTreeMap;

use cemark_param::Dialect;
use cemark_scenario::{alike, documented_keys, settings_of};

use super::difference::Difference;
use super::markers;
use crate::rundir::{Manifest, Run};
use crate::text::distinct;

/// Keys of a scenario that describe it and change no result, and the seeds, which the manifest has
/// one by one.
const OTHERS: [&str; 5] = ["title", "description", "next", "published", "seeds"];

/// The settings that differ: those of the program, then files of markers with what they declare,
/// then those of the scenario by path.
pub(super) fn differences(a: &Run, b: &Run) -> Vec<Difference> {
    let program = [
        ("version", version(&a.manifest), version(&b.manifest)),
        ("build", build(&a.manifest), build(&b.manifest)),
        ("seeds", seeds(&a.manifest), seeds(&b.manifest)),
    ];
    let program = program.into_iter().filter(|(_, a, b)| a != b);
    let mut all: Vec<Difference> = program
        .map(|(key, a, b)| Difference::of_both(key.to_owned(), a, b))
        .collect();
    all.extend(markers::differences(&a.manifest, &b.manifest));
    let (of_a, mut of_b) = (written(&a.manifest), written(&b.manifest));
    for (path, value) in of_a {
        let other = of_b.remove(&path);
        if other.as_ref() != Some(&value) {
            all.push(Difference {
                key: path.join("."),
                a: Some(value),
                default: other.is_none().then(|| usual(b, &path)).flatten(),
                b: other,
            });
        }
    }
    all.extend(of_b.into_iter().map(|(path, value)| Difference {
        key: path.join("."),
        a: None,
        b: Some(value),
        default: usual(a, &path),
    }));
    all
}

/// The value of a key that the scenario of a run does not write: that of a scheme's parameter in
/// all its points, or else the documented default, where it is a plain value.
fn usual(run: &Run, path: &[String]) -> Option<String> {
    match path {
        [list, label, name] if list == "scheme" => {
            parameter(run, label, name).or_else(|| documented(path))
        }
        _ => documented(path),
    }
}

/// The value of a parameter that all points of a scheme have.
fn parameter(run: &Run, label: &str, name: &str) -> Option<String> {
    let points = run.plan.points.iter();
    let of_scheme = points.filter(|point| alike(&point.scheme, label));
    let declared = of_scheme.map(|point| point.config.switch.marker.declared());
    let values = declared.map(|declared| {
        let (spec, values) = declared?;
        let i = spec.params.iter().position(|p| alike(p.name, name))?;
        let shown = spec.params[i].show(values.get(i), Dialect::Message);
        let usual = values.get(i) == spec.params[i].default;
        // A declaration has its default in the words of its author.
        let as_declared = || markers::default(&run.manifest, spec.name, name);
        Some(match usual {
            true => as_declared().unwrap_or_else(|| shown.to_string()),
            false => shown.to_string(),
        })
    });
    let values = distinct(values);
    match &values[..] {
        [one] => one.clone(),
        _ => None,
    }
}

/// The default of a key in the reference of scenario files.
fn documented(path: &[String]) -> Option<String> {
    let (name, sections) = path.split_last()?;
    let sections = [
        sections.join("."),
        sections.last()?.clone(),
        path[0].clone(),
    ];
    let keys = documented_keys();
    let of = |section: &String| {
        let mut found = keys
            .iter()
            .filter(|key| key.section == section && alike(key.name, name));
        // A key of several kinds has several defaults.
        found.next().filter(|_| found.next().is_none())
    };
    let usual = &sections.iter().find_map(of)?.usual;
    let plain = usual.strip_prefix('`')?.strip_suffix('`')?;
    let plain = plain.trim_matches('"');
    (!plain.contains('`')).then(|| plain.to_owned())
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
fn written(manifest: &Manifest) -> BTreeMap<Vec<String>, String> {
    let all = settings_of(&manifest.source).into_iter();
    all.filter(|s| !OTHERS.contains(&&*s.path[0]))
        .map(|s| {
            let text = s.text();
            (s.path, text)
        })
        .collect()
}
