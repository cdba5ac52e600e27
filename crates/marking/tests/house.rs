// SPDX-License-Identifier: MIT OR Apache-2.0
//! House rules for every scheme: no std, integers only, a complete entry, a page.

use std::path::Path;

use cemark_marking::{Hook, Kind, MAX_PARAMS, Marker, QueueSpec, Values, catalogue};
use cemark_wire::Rate;

/// The code of a line, without its comment.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or("")
}

#[test]
fn the_sources_use_neither_std_nor_alloc_nor_floats_nor_unsafe() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut seen = 0;
    let mut waiting = vec![src.clone()];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("the sources");
            waiting.extend(entries.map(|e| e.expect("an entry").path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a readable file");
        seen += 1;
        for (i, line) in text.lines().enumerate() {
            for word in code(line).split(|c: char| !c.is_alphanumeric() && c != '_') {
                assert!(
                    !["std", "alloc", "f32", "f64", "unsafe"].contains(&word),
                    "{}:{}: {word}",
                    path.display(),
                    i + 1
                );
            }
        }
    }
    assert!(seen >= 10);
    let front = std::fs::read_to_string(src.join("lib.rs")).expect("lib.rs");
    assert!(front.lines().any(|l| l == "#![no_std]"));
}

#[test]
fn every_entry_is_complete() {
    for spec in catalogue::ALL {
        assert!(
            !spec.paper.is_empty() && !spec.doc.is_empty(),
            "{}",
            spec.name
        );
        assert!(spec.params.len() <= MAX_PARAMS, "{}", spec.name);
        for p in spec.params {
            let place = format!("{}.{}", spec.name, p.name);
            assert!(
                p.min <= p.default && p.default <= p.max,
                "{place}: default out of range"
            );
            assert!(p.doc.ends_with('.'), "{place}: a sentence");
            let largest = match p.kind {
                Kind::Flag => 1,
                Kind::Choice(words) => words.len() as u64 - 1,
                Kind::Fraction { one, .. } => one.into(),
                _ => p.max,
            };
            assert_eq!(p.max, largest, "{place}: largest value");
            assert_eq!(
                spec.params.iter().filter(|q| q.name == p.name).count(),
                1,
                "{place}: twice"
            );
        }
    }
}

#[test]
fn every_scheme_has_a_page_that_names_all_its_parameters() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemes");
    for spec in catalogue::ALL {
        let page = pages.join(format!("{}.md", spec.name));
        let text =
            std::fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
        for p in spec.params {
            assert!(
                text.contains(&format!("`{}`", p.name)),
                "{}: {} is missing",
                spec.name,
                p.name
            );
        }
        assert!(
            text.contains(&format!("vectors/{}", spec.name)),
            "{}: no link to its vectors",
            spec.name
        );
    }
}

#[test]
fn extreme_parameters_build_and_judge_without_overflow() {
    use cemark_marking::{At, QueueId};
    use cemark_wire::Nanos;
    for spec in catalogue::ALL {
        for extreme in [
            |p: &cemark_marking::ParamSpec| p.min,
            |p: &cemark_marking::ParamSpec| p.max,
        ] {
            let mut values = Values::defaults(spec);
            for p in spec.params {
                values = values.with(spec, p.name, extreme(p)).expect("a parameter");
            }
            for rate in [Rate(1), Rate::gbps(800)] {
                let mut marker = catalogue::build(spec, &values, &QueueSpec::fifo(rate));
                for now in [
                    0,
                    1,
                    1,
                    1_000_000_000,
                    u64::MAX - 1,
                    u64::MAX,
                    u64::MAX,
                    u64::MAX,
                ] {
                    for length in [0, u32::MAX] {
                        let at = At {
                            packet_hash: now,
                            ..At::departure(Nanos(now), Nanos(now), length, u32::MAX)
                        };
                        let at = At {
                            round: Nanos(now),
                            ..at
                        };
                        marker.enqueue(&at);
                        marker.dequeue(&at);
                        if marker.next_wake().is_some() {
                            assert!(marker.keeps_time(), "{}: an undeclared clock", spec.name);
                            marker.wake(&at);
                        }
                    }
                    marker.emptied(QueueId(0), Nanos(now));
                }
            }
        }
    }
}

#[test]
fn markers_declare_what_they_look_at() {
    let queue = QueueSpec::fifo(Rate::gbps(10));
    let table = [
        ("threshold", None, Hook::Enqueue, false),
        ("threshold", Some(("hook", 1)), Hook::Dequeue, true),
        ("red", None, Hook::Enqueue, false),
        ("red", Some(("hook", 1)), Hook::Dequeue, true),
        ("tcn", None, Hook::Dequeue, false),
        ("codel", None, Hook::Dequeue, true),
        ("codel", Some(("min_bytes", 0)), Hook::Dequeue, false),
        ("ecn_sharp", None, Hook::Dequeue, false),
        ("ecn_sharp", Some(("signal", 1)), Hook::Dequeue, true),
        ("ecn_sharp", Some(("hook", 0)), Hook::Enqueue, false),
        ("ecn_sharp_lab", None, Hook::Dequeue, false),
        ("ecn_sharp_lab", Some(("signal", 1)), Hook::Dequeue, true),
        ("ecn_sharp_lab", Some(("hook", 0)), Hook::Enqueue, false),
        ("mq_ecn", None, Hook::Enqueue, false),
        ("mq_ecn", Some(("hook", 1)), Hook::Dequeue, true),
        ("mq_ecn", Some(("period", 7_200)), Hook::Enqueue, false),
        ("cedm", None, Hook::Both, true),
        ("cedm_sharp", None, Hook::Both, true),
        ("dynamic", None, Hook::Enqueue, false),
        ("dynamic", Some(("hook", 1)), Hook::Dequeue, true),
        (
            "dynamic",
            Some(("off_offset", 200_000)),
            Hook::Enqueue,
            false,
        ),
        ("pie", None, Hook::Enqueue, false),
        ("pie", Some(("delay", 1)), Hook::Both, false),
        ("pi", None, Hook::Enqueue, false),
        ("wred", None, Hook::Enqueue, false),
        ("wred", Some(("weight", 9)), Hook::Enqueue, false),
        ("wred", Some(("hook", 1)), Hook::Dequeue, true),
    ];
    for spec in catalogue::ALL {
        let named = table.iter().any(|row| row.0 == spec.name);
        assert!(
            named,
            "{} has no row in this test: its hook, and whether it reads lengths at dequeue",
            spec.name
        );
    }
    for (name, change, hook, reads) in table {
        let spec = catalogue::find(name).expect("a scheme");
        let mut values = Values::defaults(spec);
        if let Some((param, value)) = change {
            values = values.with(spec, param, value).expect("a parameter");
        }
        let marker = catalogue::build(spec, &values, &queue);
        assert_eq!(marker.hook(), hook, "{name} {change:?}");
        assert_eq!(marker.reads_length_at_dequeue(), reads, "{name} {change:?}");
        assert_eq!(
            marker.next_wake(),
            None,
            "{name}: a clock before the first packet"
        );
    }
}
