// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kind of a file, by the first lines of its text.

use crate::fault::{Fallible, Fault};
use crate::lines::lines;

/// Kinds of files that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// HPCC's `topology.txt`.
    HpccTopology,
    /// HPCC's `flow.txt`.
    HpccFlows,
    /// HPCC's `config.txt`.
    HpccConfig,
    /// htsim's topology, `.topo`.
    HtsimTopology,
    /// htsim's connection matrix, `.cm`.
    HtsimFlows,
}

impl Kind {
    /// Whether a file of this kind has hosts, switches and links.
    pub fn is_topology(self) -> bool {
        matches!(self, Kind::HpccTopology | Kind::HtsimTopology)
    }

    /// Recognises a file.
    pub fn of(text: &str) -> Fallible<Kind> {
        let known = "known are HPCC's topology.txt, flow.txt and config.txt, and htsim's .topo and \
                     .cm";
        let number = lines(text).next().map_or(1, |line| line.number);
        let words: Vec<Vec<&str>> = lines(text).take(2).map(|line| line.words).collect();
        let numbers = |words: &[&str]| words.iter().all(|word| word.parse::<u64>().is_ok());
        let upper = |word: &str| {
            word.len() > 2 && word.bytes().all(|c| c.is_ascii_uppercase() || c == b'_')
        };
        match words.first().map(Vec::as_slice) {
            None => Err(Fault::whole("the file is empty", known)),
            Some(first @ ([_, _, _] | [_, _, _, _])) if numbers(first) => Ok(Kind::HpccTopology),
            Some(first @ [_]) if numbers(first) => Ok(Kind::HpccFlows),
            Some([key, ..]) if key.eq_ignore_ascii_case("nodes") => {
                let second = words.get(1).and_then(|line| line.first()).copied();
                let matrix = ["connections", "triggers", "failures"];
                let second = second.unwrap_or_default().to_ascii_lowercase();
                match matrix.contains(&second.as_str()) || second.contains("->") {
                    true => Ok(Kind::HtsimFlows),
                    false => Ok(Kind::HtsimTopology),
                }
            }
            Some([key, ..]) if key.eq_ignore_ascii_case("connections") => Ok(Kind::HtsimFlows),
            Some([key, ..]) if ["tiers", "podsize"].contains(&&key.to_ascii_lowercase()[..]) => {
                Ok(Kind::HtsimTopology)
            }
            Some([key, _, ..]) if upper(key) => Ok(Kind::HpccConfig),
            Some(first) if numbers(first) => Err(Fault::at(
                number,
                format!(
                    "a first line of {} numbers begins no file that is imported",
                    first.len()
                ),
                "a flow.txt begins with one number (its flows), a topology.txt with three (nodes, \
                 switches, links) or four (top-of-rack switches before the links)",
            )),
            Some(_) => Err(Fault::at(
                number,
                "this begins no file that is imported",
                known,
            )),
        }
    }
}
