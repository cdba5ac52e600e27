// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every topology of the registry can be written in a file, with the keys that it declares.

use cemark_scenario::{Overrides, Plan, parse};
use cemark_sim::topology::{Absent, Topology, TopologySpec, Values};

fn plan(spec: &TopologySpec, keys: &[String]) -> Plan {
    let text = format!(
        "max-time = \"1ms\"\n[topology]\nkind = \"{}\"\n{}\n\
         [[workload]]\nkind = \"long\"\nper-host = 1\n[[scheme]]\nmarker = \"threshold\"\n",
        spec.name,
        keys.join("\n")
    );
    parse(&text, "topology.toml", &Overrides::default()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The text of each example and default is what a file writes for the value.
#[test]
fn examples_read_as_their_values() {
    for spec in Topology::ALL {
        let expected = Topology::build(spec, &Values::example(spec)).unwrap();
        let text = |needed: bool| -> Vec<String> {
            let key = |key: &'static cemark_sim::topology::Key| match key.absent {
                Absent::Needed(example) => Some(format!("{} = {}", key.name, example.text)),
                Absent::Is(example) if !needed => Some(format!("{} = {}", key.name, example.text)),
                _ => None,
            };
            spec.keys.iter().filter_map(key).collect()
        };
        for written in [text(true), text(false)] {
            let plan = plan(spec, &written);
            assert_eq!(plan.points[0].config.topology, expected, "{written:?}");
        }
    }
}

/// A key that may be left out is also read where it is written, and changes the topology.
#[test]
fn every_optional_key_counts() {
    for spec in Topology::ALL {
        let needed = spec.keys.iter().filter_map(|key| match key.absent {
            Absent::Needed(example) => Some(format!("{} = {}", key.name, example.text)),
            _ => None,
        });
        let needed: Vec<String> = needed.collect();
        let plain = plan(spec, &needed).points[0].config.topology.clone();
        for key in spec
            .keys
            .iter()
            .filter(|k| !matches!(k.absent, Absent::Needed(_)))
        {
            let value = match key.unit {
                cemark_sim::topology::Unit::Count { .. } => "3",
                cemark_sim::topology::Unit::Rate => "\"7Gbps\"",
                cemark_sim::topology::Unit::Time => "\"13us\"",
            };
            let mut keys = needed.clone();
            keys.push(format!("{} = {value}", key.name));
            let other = plan(spec, &keys).points[0].config.topology.clone();
            assert_ne!(other, plain, "{} {}", spec.name, key.name);
        }
    }
}

/// The page of the file format names every topology and every key.
#[test]
fn the_page_names_them() {
    let page = include_str!("../../../docs/scenarios.md");
    let section = page.split("## `[topology]`").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    for spec in Topology::ALL {
        assert!(
            section.contains(&format!("`{}`", spec.name)),
            "{}",
            spec.name
        );
        for key in spec.keys {
            let named = section.lines().filter(|l| l.starts_with("| `")).any(|row| {
                let mut columns = row.split('|').skip(1);
                let (keys, kinds) = (columns.next().unwrap(), columns.next().unwrap());
                keys.contains(&format!("`{}`", key.name))
                    && (kinds.contains("all") || kinds.contains(spec.name))
            });
            assert!(
                named,
                "docs/scenarios.md has no row with `{}` of {}",
                key.name, spec.name
            );
        }
    }
}
