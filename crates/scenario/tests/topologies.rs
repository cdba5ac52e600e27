// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every topology of the registry can be written in a file, with the keys that it declares.

use cemark_param::{Absent, Dialect, Kind, ParamSpec, Values};
use cemark_scenario::{Overrides, Plan, parse};
use cemark_sim::topology::{Topology, TopologySpec};

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
    for &spec in Topology::ALL {
        let expected = Topology::build(spec, &Values::defaults(spec)).unwrap();
        let text = |needed: bool| -> Vec<String> {
            let key = |key: &ParamSpec| {
                let written = match key.absent {
                    Absent::Needed => true,
                    Absent::Default => !needed,
                    _ => false,
                };
                let value = key.show(key.default, Dialect::Toml);
                written.then(|| format!("{} = {value}", key.name))
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
    for &spec in Topology::ALL {
        let (needed, optional): (Vec<&ParamSpec>, Vec<&ParamSpec>) = spec
            .keys
            .iter()
            .partition(|k| matches!(k.absent, Absent::Needed));
        let written =
            |key: &&ParamSpec| format!("{} = {}", key.name, key.show(key.default, Dialect::Toml));
        let needed: Vec<String> = needed.iter().map(written).collect();
        let plain = plan(spec, &needed).points[0].config.topology.clone();
        for key in optional {
            let value = match key.kind {
                Kind::Count => "3",
                Kind::Rate => "\"7Gbps\"",
                _ => "\"13us\"",
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
