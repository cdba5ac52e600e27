// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parts of a shard use each other in one direction only: the shard its middleboxes, these the
//! endpoints, and all of them the network.
#![allow(missing_docs)]

use std::fs;
use std::path::Path;

/// A part's folder, and the modules that nothing in it may name.
const ABOVE: [(&str, &[&str]); 3] = [
    (
        "network",
        &["endpoints", "middleboxes", "engine", "shards", "metrics"],
    ),
    ("endpoints", &["middleboxes", "engine", "shards", "metrics"]),
    ("middleboxes", &["engine", "shards", "metrics"]),
];

#[test]
fn no_part_uses_one_above_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (part, above) in ABOVE {
        let folder = fs::read_dir(src.join(part)).expect("the part's folder");
        let mut files = 0;
        for file in folder {
            let path = file.expect("a file").path();
            let text = fs::read_to_string(&path).expect("readable");
            files += 1;
            for name in above {
                let found = text.lines().find(|line| {
                    [format!("crate::{name}"), format!("super::super::{name}")]
                        .iter()
                        .any(|used| line.contains(used.as_str()))
                });
                assert_eq!(found, None, "{part}/{:?}", path.file_name());
            }
        }
        assert!(files > 2, "{part} has moved");
    }
}
