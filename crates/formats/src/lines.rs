// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines of a text as lists of words.

use crate::fault::{Fallible, Fault};
use crate::number;

/// Longest piece of a word that a message repeats.
const SHOWN: usize = 40;

/// A line that is not empty.
#[derive(Clone, Debug)]
pub(crate) struct Line<'a> {
    /// Counted from one.
    pub number: usize,
    pub words: Vec<&'a str>,
}

/// The lines that have words. What follows a `#` is left out.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.lines().zip(1..).filter_map(|(line, number)| {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        (!words.is_empty()).then_some(Line { number, words })
    })
}

/// A word as messages repeat it.
pub(crate) fn shown(word: &str) -> String {
    let mut text: String = word.chars().take(SHOWN).collect();
    if text.len() < word.len() {
        text.push('…');
    }
    text
}

impl Line<'_> {
    /// The whole number in word `i`; `what` names it in messages.
    pub fn count<T: TryFrom<u64>>(&self, i: usize, what: &str) -> Fallible<T> {
        let word = self.words.get(i).copied().unwrap_or_default();
        let value = number::scaled(word, 0).and_then(|n| u64::try_from(n).ok());
        value.and_then(|n| T::try_from(n).ok()).ok_or_else(|| {
            let message = match word {
                "" => format!("{what} is missing"),
                word => format!("`{}` is no {what}", shown(word)),
            };
            self.fault(message, "write a whole number")
        })
    }

    /// A word as a value: `what`, of which `help` says how it is written.
    pub fn read<T>(
        &self,
        i: usize,
        what: &str,
        help: &str,
        value: impl FnOnce(&str) -> Option<T>,
    ) -> Fallible<T> {
        let word = self.words.get(i).copied().unwrap_or_default();
        let message = || format!("`{}` is no {what}", shown(word));
        value(word).ok_or_else(|| self.fault(message(), help))
    }

    pub fn fault(&self, message: impl Into<String>, help: impl Into<String>) -> Fault {
        Fault::at(self.number, message, help)
    }
}
