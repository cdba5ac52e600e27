// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every golden vector, with every implementation of every scheme.

use std::path::Path;

use cemark_foreign::{Implementation, build};
use cemark_marking::catalogue;
use cemark_vectors::{Vectors, builtin, read};

fn answers(implementation: Implementation) {
    let all = catalogue::ALL.iter().copied();
    for spec in all.filter(|s| implementation == Implementation::Rust || s.research_of.is_none()) {
        let mut packets = 0;
        for file in builtin().expect("vectors of schemes") {
            if file.scheme.name == spec.name {
                let make =
                    |v: &_, q: &_| build(implementation, spec, v, q).map_err(|e| e.to_string());
                let replayed = file
                    .replay(make, |why| why)
                    .unwrap_or_else(|e| panic!("{e}"));
                assert!(
                    replayed.differ.is_empty(),
                    "{}/{}: {:#?}",
                    spec.name,
                    file.file,
                    replayed.differ
                );
                packets += replayed.packets;
            }
        }
        assert!(
            packets >= 10,
            "{} has vectors for {packets} packets only",
            spec.name
        );
    }
}

#[test]
fn every_scheme_gives_its_golden_answers_in_rust() {
    answers(Implementation::Rust);
}

#[test]
fn every_scheme_gives_its_golden_answers_in_c() {
    answers(Implementation::C);
}

#[test]
fn so_does_the_bytecode_of_every_twin() {
    answers(Implementation::Bpf);
}

#[test]
fn the_folder_and_the_program_hold_the_same_vectors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    let names = |v: &[Vectors]| -> Vec<String> {
        v.iter()
            .map(|v| format!("{}/{}", v.scheme.name, v.file))
            .collect()
    };
    let (read, builtin) = (
        read(&folder).expect("the folder"),
        builtin().expect("built in"),
    );
    assert_eq!(names(&read), names(&builtin));
    assert!(read.len() >= 10);
}
