// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading takes time in proportion to the text. Each of these lists is so long that reading which
//! compares all pairs of its entries (2 x 10^9 of them) would take minutes, and so short that one
//! look at each takes a second.

use std::fmt::Write;

use crate::common::{STAR as BASE, read};

/// The entries of a list.
const MANY: usize = 60_000;

/// Schemes of a scenario.
const FEWER: usize = 2_000;

const SCHEME: &str = "[[scheme]]\nmarker = \"threshold\"\n";

fn list(n: usize, mut each: impl FnMut(usize) -> String) -> String {
    (0..n).fold(String::new(), |mut text, i| {
        let _ = write!(text, "{}", each(i));
        text
    })
}

#[test]
fn the_base_is_without_fault() {
    assert_eq!(read(&format!("{BASE}{SCHEME}")).unwrap().points.len(), 1);
}

/// Errors explain the first unknown key and count the others.
#[test]
fn unknown_keys_are_counted() {
    let keys = list(MANY, |i| format!("key-{i} = {i}\n"));
    for (text, place) in [
        (format!("{keys}{BASE}{SCHEME}"), "in the file"),
        (format!("{BASE}{SCHEME}{keys}"), "in [[scheme]]"),
        (
            format!("{BASE}{SCHEME}[transport]\n{keys}"),
            "in [transport]",
        ),
    ] {
        let error = read(&text).unwrap_err();
        let said = format!("unknown key `key-0` {place}, and {} more", MANY - 1);
        assert_eq!(error.message(), said);
        assert!(error.help_text().unwrap_or_default().len() < 2_000);
    }
    // Over keys of the section itself, as many again.
    let own = list(MANY, |i| format!("key-{i} = 0\n"));
    let text = format!("{BASE}[transport]\n{keys}{SCHEME}[scheme.transport]\n{own}");
    assert!(read(&text).unwrap_err().message().ends_with("more"));
}

/// `a-b` and `a_b` are one key, also where they are far apart.
#[test]
fn a_key_given_twice_is_found_among_many() {
    let keys = list(MANY, |i| format!("key-{i} = {i}\n"));
    let text = format!("{keys}key_77 = 1\n{BASE}{SCHEME}");
    let error = read(&text).unwrap_err();
    assert_eq!(error.message(), "`key_77` is given twice");
    assert_eq!(error.position(), Some((MANY + 1, 1)));
}

/// Each scheme makes a configuration, so that these are fewer. Copying all schemes for each of them
/// would take many times as long as everything else of this file.
#[test]
fn schemes_are_read_one_by_one() {
    let schemes = list(FEWER, |i| format!("{SCHEME}label = \"S{i}\"\n"));
    let plan = read(&format!("{BASE}{schemes}")).unwrap();
    assert_eq!((plan.schemes.len(), plan.points.len()), (FEWER, FEWER));
    let error = read(&format!("baseline = \"T\"\n{BASE}{schemes}")).unwrap_err();
    let help = error.help_text().unwrap_or_default();
    assert!(help.ends_with("more") && help.len() < 2_000, "{help}");
    let error = read(&format!("{BASE}{schemes}{SCHEME}label = \"s7\"\n")).unwrap_err();
    assert_eq!(error.message(), "two schemes are called `s7`");
}

#[test]
fn seeds_values_and_links_are_read_one_by_one() {
    let numbers = list(MANY, |i| format!("{i}, "));
    let text = format!("seeds = [{numbers}]\n{BASE}{SCHEME}");
    assert_eq!(
        read(&text).unwrap_err().message(),
        "a scenario has 1 to 10000 seeds"
    );
    let text = format!("seeds = [{numbers}7]\n{BASE}{SCHEME}");
    assert_eq!(read(&text).unwrap_err().message(), "seed 7 is listed twice");
    let more = list(2 * MANY, |i| format!("{i}, "));
    let text = format!("{BASE}{SCHEME}[sweep]\n\"workload.flows\" = [{more}]\n");
    assert_eq!(
        read(&text).unwrap_err().message(),
        "more than 100000 points"
    );
    let text = format!("{BASE}{SCHEME}[sweep]\n\"workload.flows\" = [{numbers}7]\n");
    assert_eq!(
        read(&text).unwrap_err().message(),
        "this value is listed twice"
    );
    let axes = list(MANY, |i| format!("\"workload.key{i}\" = [1]\n"));
    let text = format!("{BASE}{SCHEME}[sweep]\n{axes}");
    assert_eq!(read(&text).unwrap_err().message(), "more than 64 axes");
}
