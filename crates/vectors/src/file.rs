// SPDX-License-Identifier: MIT OR Apache-2.0
//! The form of a file of vectors.

use cemark_marking::{Kind, QueueSpec, SchemeSpec, Values};
use cemark_wire::Rate;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    #[serde(default)]
    pub(crate) case: Vec<Case>,
    #[serde(default)]
    pub(crate) trace: Vec<Trace>,
}

/// A generated trace: its seed and its digest.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Trace {
    pub(crate) name: String,
    pub(crate) seed: u64,
    pub(crate) packets: u64,
    #[serde(default)]
    pub(crate) start: u64,
    #[serde(default = "ten_gigabits")]
    pub(crate) rate_bps: u64,
    pub(crate) quantum: Option<u32>,
    pub(crate) weight: Option<u32>,
    pub(crate) weight_sum: Option<u32>,
    #[serde(default)]
    pub(crate) strict: bool,
    #[serde(default)]
    pub(crate) params: toml::Table,
    pub(crate) marks: u64,
    pub(crate) digest: String,
}

impl Trace {
    /// The queue of the trace.
    pub(crate) fn queue(&self) -> QueueSpec {
        QueueSpec {
            strict: self.strict,
            ..queue(self.rate_bps, self.quantum, self.weight, self.weight_sum)
        }
    }
}

/// A FIFO, except for what the file gives.
fn queue(
    rate_bps: u64,
    quantum: Option<u32>,
    weight: Option<u32>,
    weight_sum: Option<u32>,
) -> QueueSpec {
    let fifo = QueueSpec::fifo(Rate(rate_bps));
    QueueSpec {
        quantum: quantum.unwrap_or(fifo.quantum),
        weight: weight.unwrap_or(fifo.weight),
        weight_sum: weight_sum.unwrap_or(fifo.weight_sum),
        ..fifo
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    #[serde(default = "ten_gigabits")]
    pub(crate) rate_bps: u64,
    pub(crate) quantum: Option<u32>,
    pub(crate) weight: Option<u32>,
    pub(crate) weight_sum: Option<u32>,
    #[serde(default)]
    pub(crate) strict: bool,
    #[serde(default)]
    pub(crate) params: toml::Table,
    pub(crate) steps: Vec<Step>,
}

impl Case {
    /// The queue of the case.
    pub(crate) fn queue(&self) -> QueueSpec {
        QueueSpec {
            strict: self.strict,
            ..queue(self.rate_bps, self.quantum, self.weight, self.weight_sum)
        }
    }
}

/// A packet, a train or an event. Exactly one of `now`, `from`, `emptied`, `wake`, `sleeps` and
/// `retune` is given.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    pub(crate) now: Option<u64>,
    pub(crate) want: Option<Answer>,

    pub(crate) from: Option<u64>,
    pub(crate) gap: Option<u64>,
    pub(crate) packets: Option<u64>,
    pub(crate) first: Option<Vec<u64>>,
    pub(crate) total: Option<usize>,
    pub(crate) all_from: Option<u64>,

    #[serde(default)]
    pub(crate) sojourn: u64,
    #[serde(default)]
    pub(crate) queue: u32,
    pub(crate) port: Option<u32>,
    pub(crate) pool: Option<u32>,
    pub(crate) limit: Option<u32>,
    #[serde(default)]
    pub(crate) round: u64,
    #[serde(default = "full_packet")]
    pub(crate) pkt: u32,
    #[serde(default)]
    pub(crate) salt: u64,
    #[serde(default)]
    pub(crate) ecn: Field,
    pub(crate) hook: Option<End>,
    pub(crate) intent: Option<Answer>,

    pub(crate) emptied: Option<u64>,
    pub(crate) wake: Option<u64>,
    pub(crate) sleeps: Option<bool>,
    pub(crate) retune: Option<toml::Table>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
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
pub(crate) enum End {
    Enqueue,
    Dequeue,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Field {
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
pub(crate) fn values(spec: &SchemeSpec, table: &toml::Table) -> Result<Values, String> {
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
