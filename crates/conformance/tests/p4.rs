// SPDX-License-Identifier: MIT OR Apache-2.0
//! Golden vectors through the P4 programs.

use cemark_conformance::{OnP4, Rounding, replay_p4};
use cemark_vectors::builtin;

/// Replays of the files whose names begin with `names`.
fn replayed(rounding: Rounding, names: &str) -> Vec<(String, OnP4)> {
    let files = builtin().expect("vectors of schemes");
    let on_p4 = files.iter().filter_map(|file| {
        let name = format!("{}/{}", file.scheme.name, file.file);
        if !name.starts_with(names) {
            return None;
        }
        let came = replay_p4(file, rounding).unwrap_or_else(|e| panic!("{name}: {e}"));
        Some((name, came?))
    });
    on_p4.collect()
}

#[test]
fn every_packet_is_judged_as_by_the_model_of_the_same_arithmetic() {
    let files = replayed(Rounding::Nearest, "");
    for (name, came) in &files {
        assert!(came.differ.is_empty(), "{name}: {:?}", came.differ);
    }
    let sum = |of: fn(&OnP4) -> u64| files.iter().map(|(_, came)| of(came)).sum::<u64>();
    assert!(sum(|c| c.cases) >= 25, "{}", sum(|c| c.cases));
    assert!(sum(|c| c.packets) > 500_000);
    assert!(sum(|c| c.marks) > 500_000);
}

#[test]
fn a_math_unit_that_cuts_bits_off_decides_differently_and_the_comparison_sees_it() {
    let files = replayed(Rounding::Down, "ecn_sharp/golden.toml");
    let [(_, golden)] = &files[..] else {
        panic!("one file");
    };
    assert!(!golden.differ.is_empty());
    // Gaps are up to a tick shorter. The model marks 1,526, the ideal rule 1,550.
    assert_eq!((golden.marks, golden.ideal), (1_585, 1_550));
}
