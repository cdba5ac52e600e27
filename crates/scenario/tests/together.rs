// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of a scenario that work alone and not together.

use cemark_scenario::{Overrides, parse};

fn refusal(text: &str) -> String {
    match parse(text, "s.toml", &Overrides::default()) {
        Ok(_) => panic!("this should not be accepted:\n{text}"),
        Err(error) => error.to_string(),
    }
}

/// A NIC that is a switch port takes what its buffer holds and drops the rest; it has no ear for a
/// pause.
#[test]
fn a_nic_as_switch_port_obeys_no_pause() {
    let error = refusal(
        r#"
max-time = "10ms"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts-per-leaf = 4
[host]
nic = "switch-port"
[[workload]]
kind = "long"
pattern = "pairs"
pairs = [[0, 1]]
[switch]
buffer = "600KB"
buffer-policy = "shared"
pfc = true
[[scheme]]
marker = "threshold"
"#,
    );
    assert!(error.contains("does not obey pauses"), "{error}");
}

/// The boxes of `[edge]` read TCP.
#[test]
fn edge_boxes_are_not_for_queue_pairs() {
    let error = refusal(
        r#"
max-time = "10ms"
[topology]
kind = "two-sites"
left = 1
right = 1
wan-delay = "1ms"
[edge]
kind = "pep"
[[workload]]
kind = "long"
pattern = "pairs"
pairs = [[0, 1]]
[transport]
control = "dcqcn"
[[scheme]]
marker = "threshold"
"#,
    );
    assert!(error.contains("not for queue pairs"), "{error}");
}
