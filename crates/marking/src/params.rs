// SPDX-License-Identifier: MIT OR Apache-2.0
//! One declaration of a parameter drives TOML, `--help`, `cemark schemes` and the documentation.

use core::error::Error;
use core::fmt;

use cemark_wire::{Nanos, Rate};

/// More parameters than any scheme has.
pub const MAX_PARAMS: usize = 16;

/// What a parameter counts, and so how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A span, stored in nanoseconds (`"85us"`).
    Time,
    /// A length, stored in bytes (`"250KB"`, `"65pkt"`). A scenario file may give a time instead,
    /// which means rate x time.
    Bytes,
    /// A fraction from 0 to 1, stored in parts per 2^16 (`0.25`, `"1%"`).
    Fraction,
    /// A whole number.
    Count,
    /// True or false, stored as 1 or 0.
    Flag,
    /// One of some words, stored as its place in the list.
    Choice(&'static [&'static str]),
}

impl Kind {
    /// The stored unit, as it follows a number.
    const fn unit(self) -> &'static str {
        match self {
            Kind::Time => " ns",
            Kind::Bytes => " bytes",
            Kind::Fraction => " parts of 65536",
            Kind::Count | Kind::Flag | Kind::Choice(_) => "",
        }
    }
}

/// One parameter of a scheme.
#[derive(Clone, Copy, Debug)]
pub struct ParamSpec {
    /// The paper's name for it.
    pub name: &'static str,
    /// What it counts.
    pub kind: Kind,
    /// Its usual value, in the stored unit.
    pub default: u64,
    /// Smallest value that makes sense, in the stored unit.
    pub min: u64,
    /// Largest value that makes sense, in the stored unit.
    pub max: u64,
    /// Whether it is a length of a queue, such as a threshold, and not of a packet.
    pub of_queue: bool,
    /// One sentence, with the paper's section.
    pub doc: &'static str,
}

/// One scheme of the catalogue. A scheme declares its own properties, so that no user of the
/// catalogue has to name it: `..SchemeSpec::BLANK` fills in what does not apply.
#[derive(Clone, Copy, Debug)]
pub struct SchemeSpec {
    /// The stem: file name, TOML name, vector folder (`ecn_sharp`).
    pub name: &'static str,
    /// How people and papers write it (`ECN#`).
    pub title: &'static str,
    /// Names that operators know it by.
    pub aliases: &'static [&'static str],
    /// Where it comes from.
    pub paper: &'static str,
    /// One sentence: which packets it marks.
    pub doc: &'static str,
    /// Its parameters, in the order of [`Values`].
    pub params: &'static [ParamSpec],
    /// Pairs of parameters of which the second must not be below the first.
    pub ordered: &'static [Ordered],
    /// Whether it reads [`crate::At::round`] with these parameters. Only a port whose scheduler
    /// serves rounds measures one.
    pub reads_round: fn(&Values) -> bool,
    /// The lowest level at which it marks with these parameters, so that a buffer which never
    /// reaches it can be pointed out. `None` where there is no such level.
    pub first_mark: fn(&Values) -> Option<FirstMark>,
    /// Rules of papers for parameters in a fabric, so that a default which is far from its rule
    /// can be pointed out.
    pub rules: &'static [Rule],
}

impl SchemeSpec {
    /// Defaults of the fields that most schemes do not set: `..SchemeSpec::BLANK`.
    pub const BLANK: SchemeSpec = SchemeSpec {
        name: "",
        title: "",
        aliases: &[],
        paper: "",
        doc: "",
        params: &[],
        ordered: &[],
        reads_round: |_| false,
        first_mark: |_| None,
        rules: &[],
    };

    /// The place of a parameter.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.params.iter().position(|p| p.name == name)
    }
}

/// A paper's rule for one parameter. A length is what the link sends in the time of the rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Place of the parameter in [`SchemeSpec::params`].
    pub param: usize,
    /// The time.
    pub time: RuleTime,
    /// The part of it that the rule takes, in thousandths.
    pub thousandths: u32,
    /// Whether the parameter is a threshold on the time that packets wait.
    pub waits: bool,
    /// Whether a marker with these parameters reads the parameter at all.
    pub reads: fn(&Values) -> bool,
}

/// The time from which a [`Rule`] follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleTime {
    /// The mean base RTT of the flows.
    MeanRtt,
    /// The 90th percentile of their base RTTs.
    TailRtt,
    /// The largest of their base RTTs.
    LargestRtt,
    /// This time in every fabric: the length grows with the rate of the link.
    Fixed(Nanos),
}

impl Rule {
    /// The rule of a parameter that the scheme always reads. A name that is not among `params` does
    /// not compile, since entries of the catalogue are constants.
    pub const fn new(params: &[ParamSpec], name: &str, time: RuleTime) -> Rule {
        Rule {
            param: place(params, name),
            time,
            thousandths: 1000,
            waits: false,
            reads: |_| true,
        }
    }

    /// The rule of a threshold on the time that packets wait.
    pub const fn of_wait(params: &[ParamSpec], name: &str, time: RuleTime) -> Rule {
        Rule {
            waits: true,
            ..Rule::new(params, name, time)
        }
    }

    /// This rule with a part of the time, in thousandths.
    #[must_use]
    pub const fn part(self, thousandths: u32) -> Rule {
        Rule {
            thousandths,
            ..self
        }
    }

    /// This rule for a parameter that a marker reads only with some values of the others.
    #[must_use]
    pub const fn where_read(self, reads: fn(&Values) -> bool) -> Rule {
        Rule { reads, ..self }
    }
}

/// Two parameters of a scheme of which the second must not be below the first.
#[derive(Clone, Copy, Debug)]
pub struct Ordered {
    /// Place of the lower one in [`SchemeSpec::params`].
    pub low: usize,
    /// Place of the higher one.
    pub high: usize,
    /// Whether a higher one of zero means a value that follows from the lower one.
    pub zero_follows: bool,
    /// A pair that is right, as a scenario file writes it.
    pub example: &'static str,
}

impl Ordered {
    /// `low` must not be above `high`. A name that is not among `params` does not compile, since
    /// entries of the catalogue are constants.
    pub const fn pair(
        params: &[ParamSpec],
        low: &str,
        high: &str,
        example: &'static str,
    ) -> Ordered {
        Ordered {
            low: place(params, low),
            high: place(params, high),
            zero_follows: false,
            example,
        }
    }

    /// The same, where a `high` of zero is computed from `low`.
    pub const fn pair_or_zero(
        params: &[ParamSpec],
        low: &str,
        high: &str,
        example: &'static str,
    ) -> Ordered {
        Ordered {
            zero_follows: true,
            ..Ordered::pair(params, low, high, example)
        }
    }
}

/// The parameter that decides from which level on a scheme marks, and that level.
#[derive(Clone, Copy, Debug)]
pub struct FirstMark {
    /// The parameter.
    pub param: &'static ParamSpec,
    /// Its level.
    pub level: Level,
}

impl FirstMark {
    /// A queue of `bytes`, the value of `param`.
    pub const fn length(param: &'static ParamSpec, bytes: u32) -> FirstMark {
        FirstMark {
            param,
            level: Level::Length(bytes as u64),
        }
    }

    /// A sojourn time of `wait`, the value of `param`.
    pub const fn wait(param: &'static ParamSpec, wait: Nanos) -> FirstMark {
        FirstMark {
            param,
            level: Level::Wait(wait),
        }
    }
}

/// A level of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Bytes in a queue.
    Length(u64),
    /// Time that a packet has waited.
    Wait(Nanos),
}

/// The place of the parameter `name`. For constants: a name that is not there stops compilation.
pub const fn place(params: &[ParamSpec], name: &str) -> usize {
    let mut i = 0;
    while i < params.len() {
        if same(params[i].name.as_bytes(), name.as_bytes()) {
            return i;
        }
        i += 1;
    }
    panic!("no parameter of this scheme has this name")
}

/// Whether two texts are equal, in a constant.
const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// A value for each parameter of one scheme, in the order and the stored units of its
/// [`SchemeSpec::params`].
///
/// This is how the catalogue, C and BPF pass parameters of any scheme. Code that knows which scheme
/// it builds takes the scheme's configuration instead, such as
/// [`TcnConfig`](crate::tcn::TcnConfig); each converts into the other with `into()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values(pub [u64; MAX_PARAMS]);

impl Values {
    /// Every parameter at its default.
    pub fn defaults(spec: &SchemeSpec) -> Self {
        Values::of_defaults(spec.params)
    }

    pub(crate) fn of_defaults(params: &[ParamSpec]) -> Self {
        let mut v = [0; MAX_PARAMS];
        for (slot, p) in v.iter_mut().zip(params) {
            *slot = p.default;
        }
        Values(v)
    }

    /// The value at a place.
    #[inline]
    pub const fn get(&self, index: usize) -> u64 {
        self.0[index]
    }

    /// The same values with the parameter `name` changed, in its stored unit. `None` where the
    /// scheme has no parameter of this name.
    #[must_use]
    pub fn with(mut self, spec: &SchemeSpec, name: &str, value: u64) -> Option<Self> {
        self.0[spec.index_of(name)?] = value;
        Some(self)
    }

    /// The same values for a line of another rate: every length of a queue times `to / from`,
    /// rounded down and inside its range. Times, fractions and sizes of packets stay.
    #[must_use]
    pub fn at_rate(mut self, params: &[ParamSpec], from: Rate, to: Rate) -> Self {
        for (value, p) in self.0.iter_mut().zip(params) {
            if p.of_queue {
                let scaled = u128::from(*value) * u128::from(to.0) / u128::from(from.0.max(1));
                *value = u64::try_from(scaled)
                    .unwrap_or(u64::MAX)
                    .clamp(p.min, p.max);
            }
        }
        self
    }

    /// The same values, each inside its range.
    #[must_use]
    pub(crate) fn clamped(mut self, params: &[ParamSpec]) -> Self {
        for (value, p) in self.0.iter_mut().zip(params) {
            *value = (*value).clamp(p.min, p.max);
        }
        self
    }

    /// Whether each value is inside its range.
    pub fn check(&self, params: &'static [ParamSpec]) -> Result<(), OutOfRange> {
        let mut pairs = self.0.iter().zip(params);
        match pairs.find(|(value, p)| !(p.min..=p.max).contains(value)) {
            None => Ok(()),
            Some((&value, param)) => Err(OutOfRange { param, value }),
        }
    }
}

/// A value outside the range of its parameter.
#[derive(Clone, Copy, Debug)]
pub struct OutOfRange {
    /// The parameter.
    pub param: &'static ParamSpec,
    /// The value, in the stored unit.
    pub value: u64,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (p, unit) = (self.param, self.param.kind.unit());
        write!(
            f,
            "`{}` is {}{unit}, out of its range of {} to {}{unit}",
            p.name, self.value, p.min, p.max
        )
    }
}

impl Error for OutOfRange {}
