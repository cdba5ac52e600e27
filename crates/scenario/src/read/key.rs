// SPDX-License-Identifier: MIT OR Apache-2.0
//! Declarations of the keys of a scenario file. Reading, paths and `--set`, error messages, the
//! tables of `docs/scenarios.md` and the JSON schema for editors are all made from a key's
//! declaration.
//!
//! A section declares its keys with [`keys!`] and reads each with `Section::read(&KEY)`; the type
//! of the value is part of the declaration.

use cemark_param::{Absent, Dialect, Kind, LONGEST_DELAY, ParamSpec, RATES};
use cemark_wire::{Nanos, Picos, Rate};

use crate::error::{Fallible, Fault};
use crate::section::{
    bytes, choice, count, flag, fraction, nanos, number, rate, text, time, timer,
};
use crate::tree::{Node, Value, bare};

/// The values that a key may have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// A value of this kind whose stored value is between these.
    Of(Kind, u64, u64),
    /// A number between these.
    Number(f64, f64),
    Text,
    /// A word of this list.
    Choice(fn() -> Vec<&'static str>),
    /// A length, or a time that means what the slowest link sends in it.
    LengthOrTime,
    /// Something that the section reads by itself: in words, and as a JSON schema.
    Own(&'static str, &'static str),
}

/// A time with its unit.
const DELAY: Shape = Shape::Of(Kind::Delay, 0, LONGEST_DELAY);

/// The value of a key that is missing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Usual {
    /// The key must be there; an example for the message.
    Needed(&'static str),
    /// This value, as a scenario file has it (without the quotes of a string).
    Is(&'static str),
    /// The value that a parameter's declaration gives.
    Param(&'static ParamSpec),
    /// The value depends on other keys, or there is none; in words.
    Follows(&'static str),
}

/// The declaration of a key, whatever its type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeySpec {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) usual: Usual,
    /// The kinds of the section that have it; empty: all.
    pub(crate) only: &'static [&'static str],
    /// Markdown, one line.
    pub(crate) doc: &'static str,
}

/// A key whose value is a `T`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<T> {
    pub(crate) spec: KeySpec,
    from: fn(&Node, &KeySpec) -> Fallible<T>,
}

/// Whole numbers that counts and lengths are kept in. A range that does not fit is a mistake of the
/// declaration.
pub(crate) trait Whole: TryFrom<u64> {}
impl Whole for u8 {}
impl Whole for u16 {}
impl Whole for u32 {}
impl Whole for u64 {}

/// A choice whose words are declared once.
pub(crate) trait Words: Sized {
    fn words() -> Vec<(&'static str, Self)>;
}

fn names<T: Words>() -> Vec<&'static str> {
    T::words().into_iter().map(|(word, _)| word).collect()
}

/// The word that a choice is written as.
pub(crate) fn word_of<T: Words + PartialEq>(value: &T) -> &'static str {
    let found = T::words().into_iter().find(|(_, choice)| choice == value);
    found.map_or("", |(word, _)| word)
}

impl KeySpec {
    /// Its usual value, or an example, as a scenario file has it.
    pub(crate) fn example(&self) -> Option<String> {
        let text = match self.usual {
            Usual::Needed(text) | Usual::Is(text) => text,
            Usual::Param(param) => {
                return match param.absent {
                    Absent::Default | Absent::Needed => {
                        Some(param.show(param.default, Dialect::Toml).to_string())
                    }
                    Absent::As(_) | Absent::Formula { .. } => None,
                };
            }
            Usual::Follows(_) => return None,
        };
        let verbatim = text.starts_with(['[', '{', '"']);
        Some(match bare(text, Default::default()).value {
            Value::Text(_) if !verbatim => format!("\"{text}\""),
            _ => text.to_owned(),
        })
    }

    /// Whether the key must be written.
    pub(crate) fn is_needed(&self) -> bool {
        match self.usual {
            Usual::Param(param) => matches!(param.absent, Absent::Needed),
            usual => matches!(usual, Usual::Needed(_)),
        }
    }

    /// The sentence that says what is missing, and what to write.
    pub(crate) fn advice(&self) -> String {
        match self.example() {
            Some(example) => format!("write {} = {example}", self.name),
            None => format!("write {}", self.name),
        }
    }
}

impl<T> Key<T> {
    const fn new(
        name: &'static str,
        shape: Shape,
        from: fn(&Node, &KeySpec) -> Fallible<T>,
    ) -> Self {
        let spec = KeySpec {
            name,
            shape,
            usual: Usual::Follows("none"),
            only: &[],
            doc: "",
        };
        Key { spec, from }
    }

    /// The key's default, as a scenario file has it.
    pub(crate) const fn usual(mut self, value: &'static str) -> Self {
        self.spec.usual = Usual::Is(value);
        self
    }

    /// The key's default depends on other keys: a description in words.
    pub(crate) const fn follows(mut self, words: &'static str) -> Self {
        self.spec.usual = Usual::Follows(words);
        self
    }

    /// The key must be there.
    pub(crate) const fn needed(mut self, example: &'static str) -> Self {
        self.spec.usual = Usual::Needed(example);
        self
    }

    /// The kinds of the section that have it.
    pub(crate) const fn only(mut self, kinds: &'static [&'static str]) -> Self {
        self.spec.only = kinds;
        self
    }

    pub(crate) const fn doc(mut self, doc: &'static str) -> Self {
        self.spec.doc = doc;
        self
    }

    /// The value that is written.
    pub(crate) fn value(&self, node: &Node) -> Fallible<T> {
        (self.from)(node, &self.spec)
    }

    /// The value that holds where the key is missing.
    pub(crate) fn usual_value(&self) -> T {
        let Usual::Is(text) = self.spec.usual else {
            unreachable!("`{}` declares no usual value", self.spec.name);
        };
        match self.value(&bare(text, Default::default())) {
            Ok(value) => value,
            Err(fault) => unreachable!("`{}` = {text}: {}", self.spec.name, fault.message),
        }
    }
}

impl<T: Whole> Key<T> {
    pub(crate) const fn count(name: &'static str, min: u64, max: u64) -> Self {
        Key::new(
            name,
            Shape::Of(Kind::Count, min, max),
            |node, spec| match spec.shape {
                Shape::Of(_, min, max) => Ok(narrow(count(node, (min, max))?, spec)),
                _ => unreachable!("a count has a range"),
            },
        )
    }

    pub(crate) const fn bytes(name: &'static str, min: u64, max: u64) -> Self {
        Key::new(
            name,
            Shape::Of(Kind::Bytes, min, max),
            |node, spec| match spec.shape {
                Shape::Of(_, min, max) => Ok(narrow(bytes(node, None, (min, max))?, spec)),
                _ => unreachable!("a length has a range"),
            },
        )
    }
}

fn narrow<T: Whole>(n: u64, spec: &KeySpec) -> T {
    match T::try_from(n) {
        Ok(n) => n,
        Err(_) => unreachable!("the range of `{}` does not fit its type", spec.name),
    }
}

impl Key<Picos> {
    pub(crate) const fn time(name: &'static str) -> Self {
        Key::new(name, DELAY, |node, _| time(node))
    }

    /// A time that is not zero.
    pub(crate) const fn span(name: &'static str) -> Self {
        Key::new(name, DELAY, |node, _| match time(node)? {
            Picos::ZERO => {
                Err(Fault::new(node.at, "this time must be above zero")
                    .help("write it like \"10us\""))
            }
            span => Ok(span),
        })
    }
}

impl Key<Nanos> {
    /// A whole number of nanoseconds.
    pub(crate) const fn nanos(name: &'static str) -> Self {
        Key::new(name, DELAY, |node, _| nanos(node))
    }

    /// A timer: whole nanoseconds, not zero.
    pub(crate) const fn timer(name: &'static str) -> Self {
        Key::new(name, DELAY, |node, spec| timer(node, spec.name))
    }
}

impl Key<Rate> {
    pub(crate) const fn rate(name: &'static str) -> Self {
        Key::new(name, Shape::Of(Kind::Rate, RATES.0, RATES.1), |node, _| {
            rate(node)
        })
    }
}

impl Key<f64> {
    pub(crate) const fn number(name: &'static str, min: f64, max: f64) -> Self {
        Key::new(name, Shape::Number(min, max), |node, spec| {
            match spec.shape {
                Shape::Number(min, max) => number(node, (min, max)),
                _ => unreachable!("a number has a range"),
            }
        })
    }

    pub(crate) const fn fraction(name: &'static str) -> Self {
        Key::new(name, Shape::Of(Kind::PERCENT, 0, 1 << 16), |node, _| {
            fraction(node)
        })
    }
}

impl Key<bool> {
    pub(crate) const fn flag(name: &'static str) -> Self {
        Key::new(name, Shape::Of(Kind::Flag, 0, 1), |node, _| flag(node))
    }
}

impl Key<String> {
    pub(crate) const fn text(name: &'static str) -> Self {
        Key::new(name, Shape::Text, |node, _| text(node).map(str::to_owned))
    }
}

impl<T: Words> Key<T> {
    pub(crate) const fn choice(name: &'static str) -> Self {
        Key::new(name, Shape::Choice(names::<T>), |node, _| choice(node))
    }
}

impl Key<Node> {
    /// A value that the section reads by itself: what it is in words, and as a JSON schema.
    pub(crate) const fn own(name: &'static str, words: &'static str, schema: &'static str) -> Self {
        Key::new(name, Shape::Own(words, schema), |node, _| Ok(node.clone()))
    }
}

/// 2^n.
pub(crate) fn power_of_two(n: u64) -> f64 {
    (1u64 << n) as f64
}

/// Declares keys and the list of them: `keys! { LIST: NAME: Type = Key::...; ... }`.
macro_rules! keys {
    ($(#[$about:meta])* $LIST:ident: $($KEY:ident: $T:ty = $declared:expr;)*) => {
        $(pub(crate) static $KEY: $crate::key::Key<$T> = $declared;)*
        $(#[$about])*
        pub(crate) static $LIST: &[&$crate::key::KeySpec] = &[$(&$KEY.spec),*];
    };
}
pub(crate) use keys;

/// Declares the words of a choice: `words! { Type: "word" => value, ... }`.
macro_rules! words {
    ($T:ty: $($word:literal => $value:expr),* $(,)?) => {
        impl $crate::key::Words for $T {
            fn words() -> Vec<(&'static str, Self)> {
                vec![$(($word, $value)),*]
            }
        }
    };
}
pub(crate) use words;
