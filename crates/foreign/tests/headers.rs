// SPDX-License-Identifier: MIT OR Apache-2.0
//! The header of every scheme: the catalogue's parameters in the catalogue's order, no floating
//! point, no library.

use cemark_marking::catalogue;

#[test]
fn parameters_have_the_same_positions_in_c() {
    for spec in catalogue::deployed() {
        let text = cemark_foreign::header(spec.name).unwrap_or_else(|e| panic!("{e}"));
        let begin = format!("enum cemark_{}_param {{", spec.name);
        let (_, rest) = text
            .split_once(&begin)
            .unwrap_or_else(|| panic!("{}.h has no {begin}", spec.name));
        let (list, _) = rest.split_once('}').expect("an end");
        let prefix = format!("CEMARK_{}_", spec.name.to_uppercase());
        let places: Vec<String> = list
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(|name| {
                name.strip_prefix(&prefix)
                    .unwrap_or_else(|| panic!("{name} does not begin with {prefix}"))
                    .to_lowercase()
            })
            .collect();
        let names: Vec<&str> = spec.params.iter().map(|p| p.name).collect();
        assert_eq!(places, names, "{}", spec.name);
    }
}

#[test]
fn headers_use_neither_floats_nor_libraries() {
    let stems = catalogue::deployed().map(|spec| spec.name);
    for stem in stems.chain(["round"]) {
        let text = cemark_foreign::header(stem).unwrap_or_else(|e| panic!("{e}"));
        let mut comment = false;
        for line in text.lines() {
            let code = line.split("/*").next().unwrap_or("");
            let code = if comment { "" } else { code };
            comment = (comment || line.contains("/*")) && !line.contains("*/");
            for word in code.split(|c: char| !c.is_alphanumeric() && c != '_') {
                assert!(
                    !["float", "double", "__int128"].contains(&word),
                    "{stem}: {line}"
                );
            }
            if let Some(file) = code.trim().strip_prefix("#include") {
                assert!(file.trim().starts_with("<linux/"), "{stem}: {line}");
            }
        }
    }
}

/// The Linux qdisc does not look for the ECN field of a packet that it asks a marker about
/// (`cemark_look_packet` in `dataplane/linux/qdisc.c`). A scheme that reads it needs that.
#[test]
fn no_scheme_reads_the_ecn_field() {
    for spec in catalogue::deployed() {
        let text = cemark_foreign::header(spec.name).unwrap_or_else(|e| panic!("{e}"));
        assert!(!text.contains("at->ecn"), "{}", spec.name);
    }
}
