// SPDX-License-Identifier: MIT OR Apache-2.0
//! A marker of the user's own beside the schemes of a scenario.

use crate::common::{STAR, read};
use cemark_marking::{Values, catalogue};
use cemark_scenario::Plan;
use cemark_sim::config::MarkerChoice;

/// The scenario after the topology and the workload.
const REST: &str = r#"
[[scheme]]
marker = "threshold"
[[scheme]]
label = "careful"
marker = "codel"
target = "20us"
[scheme.switch]
buffer = "300KB"
[sweep]
"workload.load" = [0.3, 0.6]
"#;

fn plan() -> Plan {
    read(&format!("seeds = 2\n{STAR}{REST}")).expect("a scenario")
}

/// Adds a marker; which parameters it was made with.
fn add(plan: &mut Plan, label: &str, scheme: Option<&str>, content: &[u8]) -> Vec<Values> {
    let mut seen = Vec::new();
    plan.add_marker(label, scheme, content, &mut |values| {
        seen.push(*values);
        MarkerChoice::None
    })
    .expect("a label of its own");
    seen
}

#[test]
fn a_stranger_follows_the_first_scheme_in_every_cell_and_seed() {
    let (before, mut after) = (plan(), plan());
    let seen = add(&mut after, "bpf:own.o", Some("unknown_scheme"), b"1");
    assert_eq!(after.schemes, ["DCTCP-RED", "careful", "bpf:own.o"]);
    assert_eq!((before.points.len(), after.points.len()), (8, 12));
    assert_eq!(seen, vec![Values([0; 16]); 4]);
    for (cell, old) in after.points.chunks(6).zip(before.points.chunks(4)) {
        for (new, first) in cell[4..].iter().zip(&old[..2]) {
            assert_eq!((&new.axes, new.seed), (&first.axes, first.seed));
            assert_eq!(new.scheme, "bpf:own.o");
            assert_eq!(
                new.config.switch.buffer_bytes,
                first.config.switch.buffer_bytes
            );
            assert!(matches!(new.config.switch.marker, MarkerChoice::None));
        }
        let same: Vec<u64> = cell[..4].iter().map(|p| p.digest).collect();
        assert_eq!(same, old.iter().map(|p| p.digest).collect::<Vec<_>>());
    }
}

#[test]
fn a_scheme_in_another_form_takes_its_place_and_its_parameters() {
    let codel = catalogue::find("codel").expect("CoDel");
    let mut there = plan();
    let seen = add(&mut there, "bpf:codel.o", Some("codel"), b"1");
    let target = Values::defaults(codel)
        .with(codel, "target", 20_000)
        .expect("a parameter");
    assert_eq!(seen, vec![target; 4]);
    assert_eq!(there.points[4].config.switch.buffer_bytes, 300_000);

    let tcn = catalogue::find("tcn").expect("TCN");
    let seen = add(&mut plan(), "bpf:tcn.o", Some("tcn"), b"1");
    assert_eq!(seen, vec![Values::defaults(tcn); 4]);
}

#[test]
fn the_content_is_part_of_the_fingerprint_and_labels_are_unique() {
    let (mut one, mut same, mut other) = (plan(), plan(), plan());
    add(&mut one, "bpf:own.o", None, b"1");
    add(&mut same, "bpf:own.o", None, b"1");
    add(&mut other, "bpf:own.o", None, b"2");
    assert_eq!(one.digest, same.digest);
    assert_ne!(one.digest, other.digest);
    assert_ne!(one.digest, plan().digest);
    let mut all: Vec<u64> = one.points.iter().map(|p| p.digest).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), one.points.len());
    let twice = one.add_marker("BPF:own.o", None, b"1", &mut |_| MarkerChoice::None);
    assert!(twice.is_err_and(|e| e.to_string().contains("two schemes")));
}
