// SPDX-License-Identifier: MIT OR Apache-2.0
//! The form of a file of vectors.

use cemark_marking::{Kind, QueueSpec, SchemeSpec, Values};
use cemark_wire::Rate;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub(super) case: Vec<Case>,
    #[serde(default)]
    pub(super) trace: Vec<Trace>,
}

/// A generated trace: its seed and its digest.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Trace {
    pub(super) name: String,
    pub(super) seed: u64,
    pub(super) packets: u64,
    #[serde(default)]
    pub(super) start: u64,
    #[serde(default = "ten_gigabits")]
    pub(super) rate_bps: u64,
    pub(super) quantum: Option<u32>,
    pub(super) weight: Option<u32>,
    pub(super) weight_sum: Option<u32>,
    #[serde(default)]
    pub(super) strict: bool,
    #[serde(default)]
    pub(super) params: toml::Table,
    pub(super) marks: u64,
    pub(super) digest: String,
}

impl Trace {
    /// The queue of the trace.
    pub(super) fn queue(&self) -> QueueSpec {
        let given = (self.quantum, self.weight, self.weight_sum);
        queue(self.rate_bps, given, self.strict)
    }
}

/// A FIFO, except for what the file gives.
fn queue(rate_bps: u64, given: (Option<u32>, Option<u32>, Option<u32>), strict: bool) -> QueueSpec {
    let fifo = QueueSpec::fifo(Rate(rate_bps));
    let (quantum, weight, weight_sum) = given;
    QueueSpec {
        quantum: quantum.unwrap_or(fifo.quantum),
        weight: weight.unwrap_or(fifo.weight),
        weight_sum: weight_sum.unwrap_or(fifo.weight_sum),
        strict,
        ..fifo
    }
}

/// The result of a case or a trace.
pub(super) struct Outcome {
    pub(super) packets: u64,
    /// The first difference.
    pub(super) differs: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) name: String,
    #[serde(default = "ten_gigabits")]
    pub(super) rate_bps: u64,
    pub(super) quantum: Option<u32>,
    pub(super) weight: Option<u32>,
    pub(super) weight_sum: Option<u32>,
    #[serde(default)]
    pub(super) strict: bool,
    #[serde(default)]
    pub(super) params: toml::Table,
    pub(super) steps: Vec<Step>,
}

impl Case {
    /// The queue of the case.
    pub(super) fn queue(&self) -> QueueSpec {
        let given = (self.quantum, self.weight, self.weight_sum);
        queue(self.rate_bps, given, self.strict)
    }
}

/// A packet, a train or an event. Exactly one of `now`, `from`, `emptied`, `wake`, `sleeps` and
/// `retune` is given.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) now: Option<u64>,
    pub(super) want: Option<Answer>,

    pub(super) from: Option<u64>,
    pub(super) gap: Option<u64>,
    pub(super) packets: Option<u64>,
    pub(super) first: Option<Vec<u64>>,
    pub(super) total: Option<usize>,
    pub(super) all_from: Option<u64>,

    #[serde(default)]
    pub(super) sojourn: u64,
    #[serde(default)]
    pub(super) queue: u32,
    pub(super) port: Option<u32>,
    pub(super) pool: Option<u32>,
    pub(super) limit: Option<u32>,
    #[serde(default)]
    pub(super) round: u64,
    #[serde(default = "full_packet")]
    pub(super) pkt: u32,
    #[serde(default)]
    pub(super) salt: u64,
    #[serde(default)]
    pub(super) ecn: Field,
    pub(super) hook: Option<End>,
    pub(super) intent: Option<Answer>,

    pub(super) emptied: Option<u64>,
    pub(super) wake: Option<u64>,
    pub(super) sleeps: Option<bool>,
    pub(super) retune: Option<toml::Table>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    Pass,
    Instant,
    Persistent,
    Random,
    Average,
    Tentative,
    Drop,
}

/// The hook, for a marker that judges at both.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum End {
    Enqueue,
    Dequeue,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Field {
    NotEct,
    Ect1,
    #[default]
    Ect0,
    Ce,
}

fn ten_gigabits() -> u64 {
    10_000_000_000
}

fn full_packet() -> u32 {
    1500
}

/// The stored values of a table of parameters. A word becomes its index among the choices.
pub(super) fn values(spec: &SchemeSpec, table: &toml::Table) -> Result<Values, String> {
    let mut values = Values::defaults(spec);
    for (name, value) in table {
        let index = spec
            .index_of(name)
            .ok_or_else(|| format!("{name} is not a parameter of {}", spec.name))?;
        let param = &spec.params[index];
        let stored = match (param.kind, value) {
            (Kind::Choice(words), toml::Value::String(s)) => words
                .iter()
                .position(|w| w == s)
                .ok_or_else(|| format!("{name} = {s:?}: the words are {words:?}"))?
                as u64,
            (Kind::Flag, toml::Value::Boolean(b)) => u64::from(*b),
            (_, toml::Value::Integer(n)) if !matches!(param.kind, Kind::Flag | Kind::Choice(_)) => {
                u64::try_from(*n).map_err(|_| format!("{name} = {n}: below zero"))?
            }
            _ => return Err(format!("{name} = {value}: not of its kind")),
        };
        if !(param.min..=param.max).contains(&stored) {
            return Err(format!("{name} = {stored} is out of its range"));
        }
        values.0[index] = stored;
    }
    Ok(values)
}
