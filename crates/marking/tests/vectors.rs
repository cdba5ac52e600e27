// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replays every golden vector and every trace (`vectors/README.md` explains their form).

use std::path::{Path, PathBuf};

use cemark_marking::{Marker, catalogue};

fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    found.map(|e| e.expect("an entry").path()).collect()
}

/// The folder of vectors, as it is without a new build.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors")
}

#[test]
fn every_scheme_gives_its_golden_answers() {
    let files = cemark_vectors::read(&root()).unwrap_or_else(|e| panic!("{e}"));
    for spec in catalogue::ALL {
        let (mut by_hand, mut traces) = (0, 0);
        for file in files.iter().filter(|file| file.scheme.name == spec.name) {
            for vector in file.parse().unwrap_or_else(|e| panic!("{e}")) {
                let came = vector.replay(
                    |v, q| Ok(Box::new(catalogue::build(spec, v, q)) as Box<dyn Marker>),
                    |why| why,
                );
                let came = came.unwrap_or_else(|why| panic!("{why}"));
                assert_eq!(came.differs, None, "{}: {}", file.file, vector.name());
                if vector.is_trace() {
                    traces += came.packets;
                } else {
                    by_hand += came.packets;
                }
            }
        }
        assert!(
            by_hand >= 10,
            "{} has vectors for {by_hand} packets only",
            spec.name
        );
        assert!(
            traces >= 10_000,
            "{} has traces of {traces} packets only",
            spec.name
        );
    }
}

#[test]
fn every_folder_of_vectors_belongs_to_a_scheme_and_holds_nothing_else() {
    let files = cemark_vectors::read(&root()).unwrap_or_else(|e| panic!("{e}"));
    for path in entries(&root()).iter().filter(|p| p.is_dir()) {
        let name = path.file_name().expect("a name").to_string_lossy();
        assert!(
            catalogue::ALL.iter().any(|s| s.name == name),
            "{name} is no stem of the catalogue"
        );
        let read = files.iter().filter(|file| file.scheme.name == name);
        assert_eq!(read.count(), entries(path).len(), "{name}");
    }
}
