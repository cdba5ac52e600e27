// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objects with every field set to extreme values: the reader answers, and its answer runs.

use std::path::Path;

use cemark_foreign::{Foreign, Object, Watch};
use cemark_marking::{At, Marker, QueueId, QueueSpec, Values};
use cemark_wire::{Nanos, Rate};

/// An object whose programs call functions of `.text`, so that it has relocations of both.
fn calling() -> Vec<u8> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = here.join("../../dataplane/bpf/markers/calling.o");
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Ends of ranges, and values that overflow where a few bytes or instructions are added.
const EXTREMES: [u64; 14] = [
    0,
    1,
    7,
    8,
    1 << 31,
    (1 << 31) - 1,
    1 << 32,
    (1 << 63) - 8,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX - 16,
    u64::MAX - 8,
    u64::MAX - 3,
    u64::MAX,
];

/// How an object was read: `None` where it is refused, else whether its programs ran.
fn outcome(bytes: &[u8]) -> Option<bool> {
    let object = Object::parse(bytes).ok()?;
    let (queue, watch) = (QueueSpec::fifo(Rate::gbps(10)), Watch::default());
    let mut marker = Foreign::watched(object, &Values([0; _]), &queue, &watch);
    marker.enqueue(&At::arrival(Nanos(10), 3_000, 1_500));
    marker.dequeue(&At::departure(Nanos(20), Nanos(10), 3_000, 1_500));
    marker.emptied(QueueId(0), Nanos(30));
    marker.retune(&Values([0; _]), &queue);
    Some(watch.fault().is_none())
}

#[test]
fn no_field_of_an_object_makes_the_reader_panic() {
    let whole = calling();
    assert_eq!(outcome(&whole), Some(true));
    let mut seen = [0; 3];
    for at in (0..whole.len() - 7).step_by(4) {
        for value in EXTREMES {
            let mut bytes = whole.clone();
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            seen[match outcome(&bytes) {
                None => 0,
                Some(false) => 1,
                Some(true) => 2,
            }] += 1;
        }
    }
    // Most fields matter to the reader, some to the programs only, and names to neither.
    assert!(seen.iter().all(|n| *n > 100), "{seen:?}");
}

#[test]
fn no_end_of_an_object_makes_the_reader_panic() {
    let whole = calling();
    let read = (0..whole.len()).filter(|n| outcome(&whole[..*n]).is_some());
    assert_eq!(read.count(), 0, "its table of sections is at the end");
}
