// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables of keys in docs/scenarios.md are those of the declarations.

use std::fs;
use std::path::PathBuf;

use cemark_scenario::{key_table, with_key_tables};

#[test]
fn the_page_has_the_tables_of_the_declarations() {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenarios.md");
    let written = fs::read_to_string(&page).expect("docs/scenarios.md");
    let fresh = with_key_tables(&written).unwrap_or_else(|e| panic!("docs/scenarios.md: {e}"));
    if std::env::var_os("CEMARK_WRITE_DOCS").is_some() {
        fs::write(&page, &fresh).expect("docs/scenarios.md can be written");
        return;
    }
    let mut lines = written.lines().zip(fresh.lines());
    if let Some((old, new)) = lines.find(|(old, new)| old != new) {
        panic!(
            "docs/scenarios.md is not up to date:\n  {old}\nshould be\n  {new}\n\
             CEMARK_WRITE_DOCS=1 cargo test -p cemark-scenario docs:: writes it"
        );
    }
    assert_eq!(written, fresh);
}

#[test]
fn a_page_that_leaves_a_section_out_is_refused() {
    let missing = with_key_tables("no tables").unwrap_err();
    assert!(missing.contains("has no table of keys"), "{missing}");
    let unknown = with_key_tables("<!-- keys: wobble -->\n<!-- end of keys -->\n").unwrap_err();
    assert!(unknown.contains("no such section"), "{unknown}");
    let open = with_key_tables("<!-- keys: host -->\n").unwrap_err();
    assert!(open.contains("is missing"), "{open}");
}

#[test]
fn a_row_says_name_values_default_and_meaning() {
    let host = key_table("host", "*").expect("a section");
    let row = host
        .lines()
        .find(|line| line.starts_with("| `nic-packets`"));
    assert_eq!(
        row,
        Some(
            "| `nic-packets` | back-pressure | 1 to 1,000,000 | `2` | packets of one connection in \
             the NIC |"
        )
    );
}
