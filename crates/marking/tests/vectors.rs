// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replays every golden vector and every trace (`vectors/README.md` explains their form) with the
//! reader of `crates/conformance`.

#[path = "../../conformance/src/vectors/file.rs"]
mod file;
#[path = "../../conformance/src/vectors/replay.rs"]
mod replay;
#[path = "../../conformance/src/vectors/trace.rs"]
mod trace;

use std::path::{Path, PathBuf};

use cemark_marking::catalogue;

fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    found.map(|e| e.expect("an entry").path()).collect()
}

#[test]
fn every_scheme_gives_its_golden_answers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    for spec in catalogue::ALL {
        let (mut by_hand, mut traces) = (0, 0);
        for path in entries(&root.join(spec.name)) {
            let place = path.display();
            let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{place}: {e}"));
            let file: file::File = toml::from_str(&text).unwrap_or_else(|e| panic!("{place}: {e}"));
            let build = |v: &_, q: &_| Ok(Box::new(catalogue::build(spec, v, q)) as Box<_>);
            let wrong = |why: String| why;
            for case in &file.case {
                let came = replay::case(spec, case, build, wrong);
                let came = came.unwrap_or_else(|why| panic!("{place}: {why}"));
                assert_eq!(came.differs, None, "{place}: {}", case.name);
                by_hand += came.packets;
            }
            for trace in &file.trace {
                let came = trace::trace(spec, trace, build, wrong);
                let came = came.unwrap_or_else(|why| panic!("{place}: {why}"));
                assert_eq!(came.differs, None, "{place}: {}", trace.name);
                traces += came.packets;
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
fn every_folder_of_vectors_belongs_to_a_scheme() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    for path in entries(&root).iter().filter(|p| p.is_dir()) {
        let name = path.file_name().expect("a name").to_string_lossy();
        assert!(
            catalogue::ALL.iter().any(|s| s.name == name),
            "{name} is no stem of the catalogue"
        );
    }
}
