// SPDX-License-Identifier: MIT OR Apache-2.0
//! The declaration of a scheme beside its parameters: what the catalogue knows of it.

use cemark_param::{Declares, ParamSpec, Values, place};
use cemark_wire::Nanos;

/// Declaration of a scheme in the catalogue. A scheme declares its own properties, so that no user
/// of the catalogue has to name it: `..SchemeSpec::BLANK` fills in the properties that do not
/// apply.
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
    /// Packets that the scheme marks, in one sentence.
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
    /// The stem of the scheme whose variants this entry has, for research: it is in the simulator
    /// only, and no data plane has it.
    pub research_of: Option<&'static str>,
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
        research_of: None,
    };

    /// The place of a parameter.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        Declares::index_of(self, name)
    }
}

impl Declares for SchemeSpec {
    fn params(&self) -> &'static [ParamSpec] {
        self.params
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

    /// A pair whose `high` of zero is computed from `low`.
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
