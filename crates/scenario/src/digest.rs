// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fingerprints of what a point will simulate: equal on every machine, for every number of jobs and
//! in every folder.

use cemark_sim::Config;
use cemark_sim::workload::{FlowLine, Kind, List};
use cemark_wire::Picos;
use cemark_wire::hash::Fnv1a;
use serde_json::Value;

/// FNV-1a over bytes, 64 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digest(Fnv1a);

impl Digest {
    pub(crate) fn new() -> Self {
        Digest(Fnv1a::new())
    }

    #[must_use]
    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.write(bytes);
        self
    }

    /// A word and its end, so that ("ab", "c") differs from ("a", "bc").
    #[must_use]
    pub(crate) fn word(self, word: &str) -> Self {
        self.bytes(word.as_bytes()).bytes(&[0xff])
    }

    #[must_use]
    pub(crate) fn number(self, n: u64) -> Self {
        self.bytes(&n.to_le_bytes())
    }

    pub(crate) fn finish(self) -> u64 {
        self.0.finish()
    }
}

/// The canonical text of a configuration: JSON without spaces, the keys of every object in
/// alphabetical order, so that neither the form of `Debug` nor the order of fields matters. Names
/// of
/// size tables are left out: they come from file names and change nothing.
pub(crate) fn canonical(config: &Config) -> String {
    let mut config = config.clone();
    let mut lists: Vec<Vec<FlowLine>> = Vec::new();
    for workload in &mut config.workloads {
        match &mut workload.kind {
            Kind::Poisson(poisson) => poisson.sizes.name.clear(),
            // As a tree of values, a list would take ten times its memory.
            Kind::List(List { lines, .. }) if !lines.is_empty() => {
                lists.push(std::mem::replace(lines, vec![mark(lists.len())]));
            }
            _ => {}
        }
    }
    let text = of(serde_json::to_value(&config));
    let (mut out, mut rest) = (String::new(), text.as_str());
    for (i, lines) in lists.iter().enumerate() {
        let mark = of(serde_json::to_value(mark(i)));
        let (before, after) = rest.split_once(&mark).expect("it was written");
        out.push_str(before);
        for (n, line) in lines.iter().enumerate() {
            out.push_str(if n == 0 { "" } else { "," });
            out.push_str(&of(serde_json::to_value(line)));
        }
        rest = after;
    }
    out + rest
}

/// A line in the place of a list of flows until the list is written: no flow has this length.
fn mark(list: usize) -> FlowLine {
    FlowLine {
        start: Picos(list as u64),
        src: 0,
        dst: 0,
        bytes: u64::MAX,
        class: None,
        rtt: None,
    }
}

fn of(value: serde_json::Result<Value>) -> String {
    let value = value.expect("a configuration has string keys only");
    let mut text = String::new();
    write(&value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            // `serde_json` sorts them itself, unless some crate asks it to keep their order.
            keys.sort();
            text.push('{');
            for (i, key) in keys.into_iter().enumerate() {
                text.push_str(if i == 0 { "\"" } else { ",\"" });
                text.push_str(key);
                text.push_str("\":");
                write(&map[key], text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}
