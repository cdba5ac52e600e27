// SPDX-License-Identifier: MIT OR Apache-2.0
//! Markers of the user's own in which two runs differ: their files, and what these declare.

use std::collections::BTreeMap;

use cemark_scenario::OwnMarker;

use super::difference::Difference;
use crate::rundir::Manifest;

/// Fields of a parameter's line: name, kind, default, least and largest value, sentence.
const FIELDS: [&str; 4] = ["kind", "default", "least value", "largest value"];

/// The files of equal names whose contents differ, and the fields of their parameters that do.
pub(super) fn differences(a: &Manifest, b: &Manifest) -> Vec<Difference> {
    let mut others: Vec<&OwnMarker> = b.markers.iter().collect();
    let mut all = Vec::new();
    for marker in &a.markers {
        let same = |other: &&OwnMarker| other.written == marker.written;
        let alike = |other: &&OwnMarker| other.name == marker.name && other.form() == marker.form();
        let place = others.iter().position(same);
        let Some(place) = place.or_else(|| others.iter().position(alike)) else {
            continue;
        };
        let other = others.remove(place);
        if other.content == marker.content {
            continue;
        }
        let hash = |m: &OwnMarker| format!("{:016x}", m.content);
        let key = format!("file of {}", marker.name);
        all.push(Difference::of_both(key, hash(marker), hash(other)));
        all.extend(declarations(marker, other));
    }
    all
}

/// The fields of the parameters that two declarations have in common, and the parameters that one
/// of them lacks.
fn declarations(a: &OwnMarker, b: &OwnMarker) -> Vec<Difference> {
    let (of_a, of_b) = (fields(a), fields(b));
    let mut all = Vec::new();
    for (name, values) in &of_a {
        let path = format!("{}.{name}", a.name);
        let Some(others) = of_b.get(name) else {
            let (has, lacks) = ("declared".to_owned(), "not declared".to_owned());
            all.push(Difference::of_both(path, has, lacks));
            continue;
        };
        let each = FIELDS.iter().zip(values).zip(others);
        all.extend(each.filter(|((_, a), b)| a != b).map(|((field, a), b)| {
            let key = format!("{field} of {path}");
            Difference::of_both(key, (*a).to_owned(), (*b).to_owned())
        }));
    }
    let new = of_b.keys().filter(|name| !of_a.contains_key(*name));
    all.extend(new.map(|name| {
        let (lacks, has) = ("not declared".to_owned(), "declared".to_owned());
        Difference::of_both(format!("{}.{name}", b.name), lacks, has)
    }));
    all
}

/// The fields of each parameter of a declaration, by the parameter's name.
fn fields(marker: &OwnMarker) -> BTreeMap<&str, Vec<&str>> {
    let lines = marker.params.as_deref().unwrap_or_default().lines();
    let fields = lines.map(|line| line.split('\t').map(str::trim).collect::<Vec<_>>());
    fields
        .filter_map(|fields| Some((*fields.first()?, fields.get(1..=FIELDS.len())?.to_vec())))
        .collect()
}

/// The default of a parameter as the marker `name` of a run declares it.
pub(super) fn default(manifest: &Manifest, name: &str, param: &str) -> Option<String> {
    let marker = manifest.markers.iter().find(|m| m.name == name)?;
    let (_, fields) = fields(marker)
        .into_iter()
        .find(|(known, _)| cemark_scenario::alike(known, param))?;
    Some(fields[1].to_owned())
}
