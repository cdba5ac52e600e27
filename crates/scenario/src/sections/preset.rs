// SPDX-License-Identifier: MIT OR Apache-2.0
//! `preset` in `[host]`: the keys of an operating system, each of which the file may still write.

use crate::error::Fallible;
use crate::host::{HOST, PRESET};
use crate::key::{word_of, words};
use crate::section::Section;
use crate::transport::TRANSPORT;
use crate::tree::{Node, Table, Value, bare};

/// A named set of keys.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Preset {
    /// The simulations of the field: the defaults.
    None,
    /// Linux 6.12.
    Linux,
}

words! { Preset: "none" => Preset::None, "linux" => Preset::Linux }

/// Section, key and value as a scenario file has it.
type Setting = (&'static str, &'static str, &'static str);

/// Linux 6.12 with DCTCP or CUBIC between hosts of a data centre, as Debian ships it: timestamps,
/// SACK, RACK, tail loss probes, offloads.
const LINUX: &[Setting] = &[
    ("transport", "mss", "1448B"),
    ("transport", "header", "52B"),
    ("transport", "ack", "52B"),
    ("transport", "init-window", "10"),
    ("transport", "keep-window", "false"),
    ("transport", "rto-min", "200ms"),
    ("transport", "rto-init", "1s"),
    ("transport", "rto-max", "120s"),
    ("transport", "rto-over-rtt", "true"),
    ("transport", "ack-every", "2"),
    ("transport", "ack-delay", "40ms"),
    ("transport", "ack-cwr", "true"),
    ("transport", "quick-acks", "16"),
    ("transport", "tso-defer", "true"),
    ("transport", "write-window", "true"),
    ("transport", "handshake", "true"),
    ("transport", "third-packet", "true"),
    ("transport", "ect-control", "true"),
    ("transport", "sack", "true"),
    ("transport", "dup-acks", "3"),
    ("transport", "rack", "true"),
    ("transport", "tlp", "true"),
    ("transport", "prr", "true"),
    ("transport", "whole-segments", "true"),
    ("transport", "coarse-alpha", "true"),
    ("transport", "alpha-init", "1"),
    ("transport", "quick-acks-ce", "2"),
    ("transport", "cubic-hold", "true"),
    ("transport", "cubic-slope", "true"),
    ("transport", "cubic-tick", "1ms"),
    ("transport", "hystart-linux", "true"),
    ("transport", "rack-wait", "2ms"),
    ("transport", "undo", "true"),
    ("host", "tso", "64KB"),
    ("host", "gro", "true"),
    ("host", "pacing", "none"),
];

impl Preset {
    fn settings(self) -> &'static [Setting] {
        match self {
            Preset::None => &[],
            Preset::Linux => LINUX,
        }
    }
}

/// The tree with the keys of its preset, and the line that says which they are.
pub(crate) fn applied(root: &Table) -> Fallible<Option<(Table, String)>> {
    let mut host = Section::of(root, &HOST)?;
    let preset = host.read(&PRESET)?;
    let at = host.node(&PRESET).map(|node| node.at).unwrap_or_default();
    if preset.settings().is_empty() {
        return Ok(None);
    }
    let mut tree = root.clone();
    let mut line = format!("preset {}:", word_of(&preset));
    let mut own = Vec::new();
    for spec in [&TRANSPORT, &HOST] {
        if tree.get(spec.name).is_none() {
            let value = Value::Table(Table::default());
            tree.put(spec.name, Node { value, at });
        }
        let Some(Value::Table(table)) = tree.get_mut(spec.name).map(|e| &mut e.node.value) else {
            continue; // Not a table: the section's own reader says so.
        };
        let mut set = Vec::new();
        for &(_, key, value) in preset.settings().iter().filter(|s| s.0 == spec.name) {
            if table.get(key).is_some() {
                own.push(key);
                continue;
            }
            let node = bare(value, at);
            set.push(match node.value {
                Value::Text(_) => format!("{key} = \"{value}\""),
                _ => format!("{key} = {value}"),
            });
            table.put(key, node);
        }
        if !set.is_empty() {
            line += &format!(" [{}] {}", spec.name, set.join(", "));
        }
    }
    if !own.is_empty() {
        line += &format!(" (the file's own: {})", own.join(", "));
    }
    Ok(Some((tree, line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A preset is made of keys that exist.
    #[test]
    fn every_setting_names_a_key() {
        for (section, key, _) in LINUX {
            let spec = [&TRANSPORT, &HOST]
                .into_iter()
                .find(|spec| spec.name == *section)
                .expect("a section");
            assert!(spec.keys().any(|k| k.name == *key), "{section}.{key}");
        }
    }
}
