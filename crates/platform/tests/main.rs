// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hostile and huge configurations: a reader answers or refuses, and never panics.

use std::fmt::Write as _;
use std::fs;

use cemark_marking::wred::{Wred, WredConfig};
use cemark_marking::{At, Marker, QueueSpec, Verdict};
use cemark_platform::{Document, Hook, expect, judge, recognise};
use cemark_wire::hash::SplitMix64;
use cemark_wire::{Nanos, Rate};
use proptest::prelude::*;

/// Clean configurations of every platform.
fn clean() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clean");
    let files = fs::read_dir(folder).expect("a folder");
    let mut texts: Vec<String> = files
        .map(|file| fs::read_to_string(file.expect("a file").path()).expect("a text"))
        .collect();
    texts.sort();
    texts
}

/// Reads and judges a text; the number of findings, or none where it is refused.
fn judged(text: &str) -> Option<usize> {
    let document = Document::of(text).ok()?;
    let platform = recognise(&document).ok()?;
    let switches = platform.read(&[&document]).ok()?;
    Some(switches.iter().map(|s| judge(platform, s).len()).sum())
}

proptest! {
    /// Any words of configurations in any order.
    #[test]
    fn words_in_any_order(
        file in 0..8_usize,
        places in prop::collection::vec(
            (any::<prop::sample::Index>(), 0..5_u8, "\\PC{0,6}"),
            1..12,
        ),
    ) {
        let texts = clean();
        let mut words: Vec<String> = texts[file % texts.len()]
            .split_inclusive([' ', '\n', '"', ','])
            .map(str::to_owned)
            .collect();
        for (index, what, text) in places {
            let at = index.index(words.len());
            match what {
                0 => words[at] = text,
                1 => { words.remove(at); }
                2 => words.insert(at, text),
                3 => words.swap(at, 0),
                _ => words[at] = "18446744073709551615".to_owned(),
            }
            if words.is_empty() {
                break;
            }
        }
        judged(&words.concat());
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        judged(&text);
        judged(&format!("[{text}"));
        judged(&format!("qos profile {text}\nuc-tx-queue {text}\nrandom-detect ecn {text}"));
        judged(&format!("policy-map type queuing {text}\nclass type queuing {text}"));
        judged(&format!("nv set qos {text}\nnv unset interface {text}"));
    }
}

/// Every queue names a profile of its own, and no profile is defined.
#[test]
fn a_hundred_thousand_queues_are_judged() {
    let mut text =
        String::from("{\"PORT\": {\"a\": {}}, \"WRED_PROFILE\": {\"p\": {}}, \"QUEUE\": {");
    for n in 0..100_000 {
        let _ = write!(text, "\"Ethernet{n}|3\": {{\"wred_profile\": \"P{n}\"}},");
    }
    text += "\"Ethernet0|4\": {}}}";
    assert_eq!(judged(&text), Some(100_000));
}

/// Each number of each configuration, as large and as small as numbers are.
#[test]
fn any_number_of_a_configuration_is_judged() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clean");
    for entry in std::fs::read_dir(folder).expect("configurations") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        let mut from = 0;
        while let Some(start) = text[from..].find(|c: char| c.is_ascii_digit()) {
            let start = from + start;
            let digits = text[start..].find(|c: char| !c.is_ascii_digit());
            let end = start + digits.unwrap_or(text.len() - start);
            for number in [
                "0",
                "255",
                "4294967296",
                "9223372036854775808",
                "18446744073709551615",
            ] {
                judged(&format!("{}{number}{}", &text[..start], &text[end..]));
            }
            from = end;
        }
    }
}

#[test]
fn ranges_without_end_are_cut() {
    let queues = "\"QUEUE\": {\"Ethernet0-18446744073709551615|0-99999999999\": {\"a\": \"b\"}}";
    assert!(judged(&format!("{{\"PORT\": {{\"a\": {{}}}}, {queues}}}")).is_some());
    for (range, read) in [
        ("swp1-99999999999", true),
        ("swp1-64", true),
        ("swp1-4000,swp5000-8000,swp9000-12000", false),
    ] {
        let line = format!("nv set interface {range} qos pfc profile x\n");
        assert_eq!(judged(&line.repeat(250)).is_some(), read, "{range}");
    }
}

#[test]
fn deep_and_wide_documents_are_refused_or_judged() {
    assert_eq!(judged(&"[".repeat(1 << 20)), None);
    assert_eq!(judged(&"{\"qos\":".repeat(1 << 18)), None);
    let many: String = (0..100_000).map(|n| format!("\"T{n}\": {{}},")).collect();
    assert_eq!(judged(&format!("{{{many}\"PORT\": {{}}}}")), None);
    let qdisc = "{\"kind\": \"red\", \"handle\": \"1:\"},";
    assert_eq!(judged(&format!("[{}{{}}]", qdisc.repeat(70_000))), None);
}

/// The marker `wred` in a burst of 5000 packets marks as `expect` says, in the mean of 40 bursts.
#[test]
fn the_simulators_wred_marks_as_expected() {
    let (min, max, packets, bytes) = (800_000, 1_200_000, 5_000_u32, 1_024_u32);
    let config = WredConfig {
        min,
        max,
        ..WredConfig::default()
    };
    let mut dice = SplitMix64::new(1);
    let mut bursts = Vec::new();
    for _ in 0..40 {
        let mut marker = Wred::from_config(config, &QueueSpec::fifo(Rate::gbps(100)));
        let marked = (0..packets).filter(|nth| {
            let mut at = At::arrival(Nanos::ZERO, nth * bytes, bytes);
            at.packet_hash = dice.next_u64();
            matches!(marker.enqueue(&at), Verdict::Mark(_))
        });
        bursts.push(marked.count() as f64);
    }
    let ends = (u64::from(min), u64::from(max), 1.0);
    let wanted = expect(ends, bytes.into(), packets.into(), Hook::Enqueue);
    let mean = bursts.iter().sum::<f64>() / 40.0;
    let error = wanted.deviation / 40_f64.sqrt();
    assert!(
        (mean - wanted.mean).abs() < 3.0 * error,
        "{mean} {wanted:?}"
    );
    let outside = |marked: &&f64| (**marked - wanted.mean).abs() > 4.0 * wanted.deviation;
    assert_eq!(bursts.iter().find(outside), None);
}
