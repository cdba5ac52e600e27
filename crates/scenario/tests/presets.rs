// SPDX-License-Identifier: MIT OR Apache-2.0
//! Presets of hosts.

use cemark_scenario::{Overrides, Plan, load, parse};
use cemark_transport::Stack;
use cemark_wire::Nanos;

fn main_job(set: &[&str]) -> Plan {
    let mut overrides = Overrides::default();
    for option in set {
        overrides.add(option).unwrap();
    }
    load("rtt-variation", &overrides).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_preset_sets_keys_that_the_file_may_write_itself() {
    let plain = main_job(&["host.preset=none"]);
    assert_eq!(plain.digest, main_job(&[]).digest, "the default");
    assert!(plain.presets.is_empty());
    let linux = main_job(&["host.preset=linux", "transport.tlp=false", "host.tso=0"]);
    let config = &linux.points[0].config;
    let stack = Stack {
        tlp: false,
        ..Stack::LINUX
    };
    assert_eq!(config.transport.stack, stack);
    assert_eq!(config.transport.ack_delay, Nanos::from_millis(40));
    assert!(!config.transport.keep_window);
    let own = (config.transport.mss, config.transport.ack_every);
    assert_eq!(own, (1460, 1));
    assert_eq!((config.offload.tso, config.offload.gro), (0, true));
    // What the built-in file writes is kept, and said.
    let [line] = linux.presets.as_slice() else {
        panic!("{:?}", linux.presets);
    };
    assert!(line.starts_with("preset linux: [transport] "), "{line}");
    assert!(line.contains("ack-delay = \"40ms\""), "{line}");
    assert!(
        line.contains("the file's own: ") && line.contains("tlp"),
        "{line}"
    );
    assert!(!line.contains("tlp = "), "{line}");
}

/// Hosts of one scheme may differ from the hosts of the others.
#[test]
fn a_preset_of_one_scheme_names_it() {
    let text = "max-time = \"1ms\"\n[topology]\nkind = \"star\"\nhosts = 2\n\
                [[workload]]\nkind = \"long\"\n\
                [[scheme]]\nlabel = \"a\"\nmarker = \"none\"\n\
                [[scheme]]\nlabel = \"b\"\nmarker = \"none\"\n[scheme.host]\npreset = \"linux\"\n";
    let plan = parse(text, "x.toml", &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    let stacks: Vec<Stack> = plan
        .points
        .iter()
        .map(|p| p.config.transport.stack)
        .collect();
    // Trains fill the send buffer better than single segments.
    let linux = Stack {
        write_window: Stack::WRITE_WINDOW_OF_TRAINS,
        ..Stack::LINUX
    };
    assert_eq!(stacks, [Stack::NONE, linux]);
    assert_eq!(plan.presets.len(), 1);
    assert!(
        plan.presets[0].starts_with("b: preset linux: "),
        "{:?}",
        plan.presets
    );
}

#[test]
fn the_example_compares_hosts() {
    let plan = parse(
        include_str!("../../../examples/linux-hosts.toml"),
        "linux-hosts.toml",
        &Overrides::default(),
    )
    .unwrap_or_else(|e| panic!("{e}"));
    assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);
    let trains: Vec<u32> = plan.points[..12]
        .chunks(3)
        .map(|seeds| seeds[0].config.offload.tso)
        .collect();
    assert_eq!(trains, [0, 0, 64_000, 64_000]);
    assert_eq!(
        plan.presets.len(),
        2,
        "with and without tso: {:?}",
        plan.presets
    );
}
