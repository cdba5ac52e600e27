// SPDX-License-Identifier: MIT OR Apache-2.0
//! Markers whose parameters change in mid-run, as a switch's configuration does at run time. State
//! that a parameter does not concern is kept ([`Marker::retune`]).
//!
//! A change at a time takes effect between two ticks: behind every event of the tick before, and
//! ahead of every event of that tick. Ports that change keep real queues, since a fused port has
//! judged packets that have yet to leave; both forms give the same results.

use std::error::Error;
use std::fmt;

use cemark_marking::{Kind, Marker, QueueSpec, SchemeSpec, Values, catalogue};
use cemark_wire::{Picos, Rate};

/// New parameters for the markers of some ports, from a time on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Retune {
    /// When.
    pub at: Picos,
    /// The links whose ports change, by their places in
    /// [`Fabric::links`](crate::topology::Fabric::links). `None`: every port that marks.
    pub links: Option<Vec<u32>>,
    /// The queue that changes. `None`: every queue whose scheme has these parameters.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub queue: Option<u8>,
    /// Names of parameters of the scheme, each with its value in the unit in which the catalogue
    /// stores it. The others stay as they are at that port.
    pub params: Vec<(&'static str, u64)>,
}

/// Why parameters cannot be changed in mid-run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadRetune {
    /// The marker has no declared parameters.
    NoScheme,
    /// The scheme has no parameter of this name.
    Unknown {
        /// The scheme's stem.
        scheme: &'static str,
        /// The name.
        param: String,
    },
    /// The value is out of range, or does not go with another one.
    Value(String),
    /// The new values change where the scheme judges packets, or whether it has a timer: ports are
    /// built for that.
    Form {
        /// The scheme's stem.
        scheme: &'static str,
    },
    /// The port is not among those that can change, or has no marker.
    Port(u32),
}

impl fmt::Display for BadRetune {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadRetune::NoScheme => {
                write!(
                    f,
                    "only schemes with declared parameters change them in mid-run"
                )
            }
            BadRetune::Unknown { scheme, param } => {
                write!(f, "{scheme} has no parameter `{param}`")
            }
            BadRetune::Value(why) => f.write_str(why),
            BadRetune::Form { scheme } => write!(
                f,
                "these values change the hook of {scheme} or its timer, which only a new run can"
            ),
            BadRetune::Port(link) => {
                write!(
                    f,
                    "the port of link {link} has no marker that could be retuned"
                )
            }
        }
    }
}

impl Error for BadRetune {}

/// The values of a scheme after changes, each checked.
pub fn retuned<N: AsRef<str>>(
    scheme: &'static SchemeSpec,
    values: &Values,
    changes: &[(N, u64)],
) -> Result<Values, BadRetune> {
    let mut new = *values;
    for (name, value) in changes {
        let unknown = || BadRetune::Unknown {
            scheme: scheme.name,
            param: name.as_ref().to_owned(),
        };
        let place = scheme.index_of(name.as_ref()).ok_or_else(unknown)?;
        new.0[place] = *value;
    }
    new.check(scheme.params)
        .map_err(|bad| BadRetune::Value(bad.to_string()))?;
    for (place, param) in scheme.params.iter().enumerate() {
        if let Kind::Choice(words) = param.kind
            && new.get(place) >= words.len() as u64
        {
            let what = format!("`{}` has {} choices", param.name, words.len());
            return Err(BadRetune::Value(what));
        }
    }
    for pair in scheme.ordered {
        let (low, high) = (new.get(pair.low), new.get(pair.high));
        if high < low && !(pair.zero_follows && high == 0) {
            let name = |place: usize| scheme.params[place].name;
            let (low, high) = (name(pair.low), name(pair.high));
            return Err(BadRetune::Value(format!("`{high}` is below `{low}`")));
        }
    }
    // A user's marker reports a new hook or timer by itself when it is retuned.
    let same = |known: &&SchemeSpec| std::ptr::eq(known.params, scheme.params);
    if !catalogue::ALL.iter().copied().any(|known| same(&known)) {
        return Ok(new);
    }
    let form = |values: &Values| {
        let marker = catalogue::build(scheme, values, &QueueSpec::fifo(Rate::gbps(10)));
        (marker.hook(), marker.keeps_time())
    };
    if form(values) != form(&new) {
        return Err(BadRetune::Form {
            scheme: scheme.name,
        });
    }
    Ok(new)
}
