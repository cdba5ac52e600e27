// SPDX-License-Identifier: MIT OR Apache-2.0
//! Typed reading of one table. A key that no code asks for is a mistake, and the error lists
//! similar ones.

use cemark_param::Kind;
use cemark_wire::{Nanos, Picos, Rate};

use crate::aliases;
use crate::error::{At, Fallible, Fault, alike, near, near_of_many};
use crate::key::{Key, Shape, Usual, Words};
use crate::sections::SectionSpec;
use crate::tree::{Node, Table, Value};
use crate::units::{self, Bad, Measure, Units};

/// No wait in a scenario is longer (and sums of several still fit).
pub(crate) const LONGEST: Picos = Picos(1_000_000_000_000_000);

/// Most keys that a message names as probably meant.
const MOST_MEANT: usize = 8;

/// A table of a scenario file while it is read.
pub(crate) struct Section<'a> {
    table: &'a Table,
    at: At,
    spec: &'static SectionSpec,
    /// Name of the scheme that the table describes, on which advice on unknown keys depends; empty
    /// for other tables.
    kind: &'static str,
    asked: Vec<&'static str>,
}

static EMPTY: Table = Table(Vec::new());

impl<'a> Section<'a> {
    /// The table of a section; empty where it is missing.
    pub(crate) fn of(root: &'a Table, spec: &'static SectionSpec) -> Fallible<Section<'a>> {
        match root.get(spec.name) {
            None => Ok(Section::new(&EMPTY, At::default(), spec)),
            Some(entry) => Section::under(&entry.node, spec),
        }
    }

    /// A table of a list.
    pub(crate) fn under(node: &'a Node, spec: &'static SectionSpec) -> Fallible<Section<'a>> {
        match &node.value {
            Value::Table(table) => Ok(Section::new(table, node.at, spec)),
            _ => Err(wrong(node, "a table")
                .help(format!("write the keys under a line {}", spec.shown()))),
        }
    }

    pub(crate) fn new(table: &'a Table, at: At, spec: &'static SectionSpec) -> Section<'a> {
        Section {
            table,
            at,
            spec,
            kind: "",
            asked: Vec::new(),
        }
    }

    /// Says what the table describes.
    pub(crate) fn describes(&mut self, kind: &'static str) {
        self.kind = kind;
    }

    pub(crate) fn at(&self) -> At {
        self.at
    }

    /// The value of a key, if it is there.
    pub(crate) fn get(&mut self, key: &'static str) -> Option<&'a Node> {
        self.asked.push(key);
        self.table.get(key).map(|entry| &entry.node)
    }

    /// Where a key is written, if it is there.
    pub(crate) fn node<T>(&mut self, key: &Key<T>) -> Option<&'a Node> {
        debug_assert!(
            self.spec.own_keys().any(|spec| spec.name == key.spec.name),
            "{} does not declare `{}`",
            self.spec.shown(),
            key.spec.name
        );
        self.get(key.spec.name)
    }

    /// The value of a key, or what its declaration says where it is missing.
    pub(crate) fn read<T>(&mut self, key: &Key<T>) -> Fallible<T> {
        match (self.node(key), key.spec.usual) {
            (Some(node), _) => self.value(key, node),
            (None, Usual::Needed(_)) => Err(self.missing(key.spec.name, key.spec.advice())),
            (None, _) => Ok(key.usual_value()),
        }
    }

    /// The value of a key, or this one, which follows from other keys.
    pub(crate) fn read_or<T>(&mut self, key: &Key<T>, usual: T) -> Fallible<T> {
        self.node(key)
            .map_or(Ok(usual), |node| self.value(key, node))
    }

    /// The value of a key, if it is there.
    pub(crate) fn given<T>(&mut self, key: &Key<T>) -> Fallible<Option<T>> {
        self.node(key).map(|node| self.value(key, node)).transpose()
    }

    /// The value that is written for a key.
    fn value<T>(&self, key: &Key<T>, node: &Node) -> Fallible<T> {
        if let Some(wanted) = measure(&key.spec.shape) {
            self.fits(key.spec.name, wanted, node)?;
        }
        key.value(node)
    }

    /// Fails on a value whose unit is of something else than the key: it was most likely meant for
    /// another key.
    pub(crate) fn fits(&self, name: &str, wanted: Measure, node: &Node) -> Fallible<()> {
        let Value::Text(written) = &node.value else {
            return Ok(());
        };
        let Some(found) = Measure::other(written, &[wanted]) else {
            return Ok(());
        };
        let same = self
            .spec
            .keys()
            .filter(|k| measure(&k.shape) == Some(found));
        let mut names: Vec<String> = same.map(|k| format!("`{}`", k.name)).collect();
        names.dedup();
        names.truncate(MOST_MEANT);
        let others = match names.len() {
            0 => String::new(),
            _ => format!("; {} here: {}", found.words(), names.join(", ")),
        };
        let what = wanted.word();
        let message = format!("`{written}` is {}, and `{name}` is {what}", found.word());
        let help = format!("write {name} = {}{others}", wanted.example());
        Err(Fault::new(node.at, message).help(help))
    }

    /// The place of a key that must be there.
    pub(crate) fn need<T>(&mut self, key: &Key<T>) -> Fallible<&'a Node> {
        self.node(key)
            .ok_or_else(|| self.missing(key.spec.name, key.spec.advice()))
    }

    /// The mistake of a file without this key.
    pub(crate) fn missing(&self, key: &str, advice: String) -> Box<Fault> {
        let message = format!("`{key}` is missing in {}", self.spec.shown());
        let fault = if self.at == At::default() {
            Fault::nowhere(message)
        } else {
            Fault::new(self.at, message)
        };
        fault.label("in this table").help(advice)
    }

    /// Keys that mean something under another kind of this section. Where they are allowed, a sweep
    /// can go through the kinds.
    pub(crate) fn allow_every_kind(&mut self) {
        self.asked.extend(self.spec.keys().map(|key| key.name));
    }

    /// Keys that are read elsewhere.
    pub(crate) fn allow(&mut self, keys: impl IntoIterator<Item = &'static str>) {
        self.asked.extend(keys);
    }

    /// Ends the reading: a key that was not asked for is a mistake.
    pub(crate) fn finish(self) -> Fallible<()> {
        let known = |key: &str| self.asked.iter().any(|asked| alike(asked, key));
        let mut unknown = self.table.0.iter().filter(|entry| !known(&entry.key));
        let Some(first) = unknown.next() else {
            return Ok(());
        };
        // One is explained: the others are most likely of the same origin.
        let more = match unknown.count() {
            0 => String::new(),
            n => format!(", and {n} more"),
        };
        Err(Fault::new(
            first.at,
            format!("unknown key `{}` in {}{more}", first.key, self.spec.shown()),
        )
        .label("not known")
        .help(self.advice(&first.key)))
    }

    /// Advice about an unknown key.
    fn advice(&self, key: &str) -> String {
        if let Some(help) =
            aliases::key(self.kind, key).or_else(|| aliases::key(&self.spec.shown(), key))
        {
            return help;
        }
        let near = near(key, self.asked.iter().copied());
        let declared = self.spec.keys().filter(|spec| alike(spec.name, key));
        let kinds: Vec<String> = declared
            .flat_map(|spec| spec.only)
            .map(|kind| format!("\"{kind}\""))
            .collect();
        match self.spec.chooser {
            Some(chooser) if !kinds.is_empty() => {
                format!("it belongs to {chooser} = {}; {near}", kinds.join(" or "))
            }
            _ => near,
        }
    }
}

/// The measure of a key's values, where they have a single one.
fn measure(shape: &Shape) -> Option<Measure> {
    match shape {
        Shape::Of(Kind::Time | Kind::Delay, ..) => Some(Measure::Time),
        Shape::Of(Kind::Rate, ..) => Some(Measure::Rate),
        Shape::Of(Kind::Bytes, ..) => Some(Measure::Length),
        _ => None,
    }
}

/// "expected X, found Y".
pub(crate) fn wrong(node: &Node, expected: &str) -> Box<Fault> {
    Fault::new(
        node.at,
        format!("expected {expected}, found {}", node.kind()),
    )
    .label(format!("{expected} goes here"))
}

pub(crate) fn text(node: &Node) -> Fallible<&str> {
    match &node.value {
        Value::Text(text) => Ok(text),
        Value::Own(own) => Ok(&own.marker.written),
        _ => Err(wrong(node, "a string").help("write it in quotes")),
    }
}

pub(crate) fn flag(node: &Node) -> Fallible<bool> {
    match node.value {
        Value::Flag(flag) => Ok(flag),
        _ => Err(wrong(node, "true or false").help("write true or false, without quotes")),
    }
}

pub(crate) fn list(node: &Node) -> Fallible<&[Node]> {
    match &node.value {
        Value::List(items) => Ok(items),
        _ => Err(wrong(node, "a list").help("write [a, b]")),
    }
}

/// Links by their names: a list of at least one, or one name without brackets. `nothing` and `help`
/// say what is wrong with none.
pub(crate) fn link_names<'a>(node: &'a Node, nothing: &str, help: &str) -> Fallible<&'a [Node]> {
    let names = match &node.value {
        Value::Text(_) => std::slice::from_ref(node),
        _ => list(node)?,
    };
    match names {
        [] => Err(Fault::new(node.at, nothing).help(help)),
        _ => Ok(names),
    }
}

/// A value that is a word of a choice.
pub(crate) fn choice<T: Words>(node: &Node) -> Fallible<T> {
    let mut all = T::words();
    let words: Vec<&str> = all.iter().map(|(word, _)| *word).collect();
    let place = word(node, &words)?;
    Ok(all.swap_remove(place).1)
}

/// A value that is one of `words`: its place in the list.
pub(crate) fn word(node: &Node, words: &[&str]) -> Fallible<usize> {
    let written = text(node).map_err(|fault| fault.help(near("", words.iter().copied())))?;
    words.iter().position(|w| alike(w, written)).ok_or_else(|| {
        let help = aliases::value(written, words)
            .map_or_else(|| near(written, words.iter().copied()), str::to_owned);
        Fault::new(node.at, format!("`{written}` is not known here"))
            .label("not known")
            .help(help)
    })
}

pub(crate) fn count(node: &Node, (min, max): (u64, u64)) -> Fallible<u64> {
    let range = || {
        if max == u64::MAX {
            format!("write a whole number from {min}")
        } else {
            format!("write a whole number from {min} to {max}")
        }
    };
    match node.value {
        Value::Integer(n) if n < i128::from(min) => {
            Err(Fault::new(node.at, format!("{n} is too small")).help(range()))
        }
        Value::Integer(n) if n > i128::from(max) => {
            Err(Fault::new(node.at, format!("{n} is too large")).help(range()))
        }
        Value::Integer(n) => Ok(n as u64),
        _ => Err(wrong(node, "a whole number").help(range())),
    }
}

/// A finite number within bounds.
pub(crate) fn number(node: &Node, (min, max): (f64, f64)) -> Fallible<f64> {
    let x = match node.value {
        Value::Integer(n) => n as f64,
        Value::Float(x, _) => x,
        _ => return Err(wrong(node, "a number")),
    };
    // Written so that NaN fails too.
    if x >= min && x <= max {
        Ok(x)
    } else {
        Err(Fault::new(node.at, format!("{x} is out of range"))
            .help(format!("write a number from {min} to {max}")))
    }
}

/// A fraction from 0 to 1: a number, or a string with `%`.
pub(crate) fn fraction(node: &Node) -> Fallible<f64> {
    let x = match &node.value {
        Value::Text(text) => match units::fraction(text) {
            Some(x) => x,
            None => {
                return Err(Fault::new(node.at, format!("`{text}` is not a fraction"))
                    .help("write 0.25 or \"25%\""));
            }
        },
        Value::Integer(n) => *n as f64,
        Value::Float(x, _) => *x,
        _ => return Err(wrong(node, "a fraction").help("write 0.25 or \"25%\"")),
    };
    if (0.0..=1.0).contains(&x) {
        return Ok(x);
    }
    // Most likely percent without their sign.
    let help = match x {
        1.0..=100.0 => format!("write \"{x}%\" or {}", x / 100.0),
        _ => "write 0.25 or \"25%\"".to_owned(),
    };
    Err(Fault::new(node.at, format!("{x} is not between 0 and 1")).help(help))
}

pub(crate) fn time(node: &Node) -> Fallible<Picos> {
    let picos = quantity(node, "a time", "\"85us\"", &units::TIMES)?;
    if picos > LONGEST.0 {
        return Err(Fault::new(node.at, "this time is longer than 1000 seconds")
            .help("simulated spans are short; check the unit"));
    }
    Ok(Picos(picos))
}

pub(crate) fn nanos(node: &Node) -> Fallible<Nanos> {
    let picos = time(node)?;
    if picos.0 % 1000 != 0 {
        return Err(
            Fault::new(node.at, "this must be a whole number of nanoseconds")
                .help("markers and transports count nanoseconds"),
        );
    }
    Ok(picos.to_nanos())
}

/// A timer: whole nanoseconds, not zero.
pub(crate) fn timer(node: &Node, key: &str) -> Fallible<Nanos> {
    match nanos(node)? {
        Nanos::ZERO => {
            Err(Fault::new(node.at, format!("{key} must be above zero"))
                .help("write it like \"5ms\""))
        }
        span => Ok(span),
    }
}

pub(crate) fn rate(node: &Node) -> Fallible<Rate> {
    let bps = quantity(node, "a rate", "\"10Gbps\"", &units::RATES)?;
    match bps {
        0 => Err(Fault::new(node.at, "a rate of zero carries nothing")
            .help("write a rate above zero, such as \"10Gbps\"")),
        1_000..=8_000_000_000_000 => Ok(Rate(bps)),
        _ => Err(Fault::new(node.at, "this rate is out of range")
            .help("write a rate from \"1kbps\" to \"8Tbps\"")),
    }
}

/// A length. Where `line` is known, a time means the bytes that the line sends in it.
pub(crate) fn bytes(node: &Node, line: Option<Rate>, (min, max): (u64, u64)) -> Fallible<u64> {
    let spans_time =
        matches!(&node.value, Value::Text(text) if units::has_unit(text, &units::TIMES));
    let n = match line {
        Some(rate) if spans_time => rate.bytes_in(nanos(node)?),
        _ => quantity(
            node,
            "a length",
            if line.is_some() {
                "\"250KB\", \"65pkt\" or \"220us\""
            } else {
                "\"250KB\""
            },
            &units::LENGTHS,
        )?,
    };
    if n < min || n > max {
        return Err(Fault::new(node.at, format!("{n} bytes are out of range"))
            .help(format!("write {min} to {max} bytes")));
    }
    Ok(n)
}

fn quantity(node: &Node, what: &str, example: &str, list: &Units) -> Fallible<u64> {
    let known = || format!("write it like {example}; units: {}", units::names(list));
    let written = match &node.value {
        Value::Text(text) => text.clone(),
        Value::Integer(n) => n.to_string(),
        Value::Float(_, raw) => raw.clone(),
        _ => return Err(wrong(node, what).help(known())),
    };
    units::quantity(&written, list).map_err(|bad| {
        let (message, help) = match bad {
            Bad::NoNumber => (format!("`{written}` is not {what}"), known()),
            Bad::Negative => (format!("{what} cannot be negative"), known()),
            Bad::NoUnit => (format!("`{written}` has no unit"), known()),
            Bad::UnknownUnit(unit) if units::CELLS.contains(&&*unit) => (
                format!("`{unit}` is not a unit of {what} here"),
                format!(
                    "cells are read in [switch] and for the thresholds of a [[scheme]]; write it \
                     like {example}"
                ),
            ),
            Bad::UnknownUnit(unit) if units::PERCENT.contains(&&*unit) && what == "a length" => (
                format!("`{unit}` is not a unit of {what}"),
                format!(
                    "thresholds that are a part of their queue's limit are marker = \"dynamic\", \
                     mode = \"percent\", with min-percent = \"1%\" and max-percent = \"2%\". \
                     Write a length like {example}"
                ),
            ),
            Bad::UnknownUnit(unit) => (
                format!("`{unit}` is not a unit of {what}"),
                format!(
                    "{}. Write it like {example}",
                    near_of_many(
                        &unit,
                        list.known.iter().map(|u| u.0),
                        &format!("units: {}", units::names(list))
                    )
                ),
            ),
            Bad::Doubtful(help) => (format!("`{written}` can be read in two ways"), help),
            Bad::TooLarge => (format!("`{written}` is too large"), known()),
            Bad::Fraction => (
                format!("`{written}` is not a whole number of {}", list.base),
                format!("{} are what is counted: write fewer digits", list.base),
            ),
        };
        Fault::new(node.at, message).help(help)
    })
}
