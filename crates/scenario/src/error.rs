// SPDX-License-Identifier: MIT OR Apache-2.0
//! A user's mistake: what is wrong, where, and what to write instead.

use std::fmt::Display;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};

use crate::visible::{visible, visible_lines};

/// Most names that a help line lists; a scenario may have thousands of schemes.
const MOST_NAMES: usize = 40;
/// Most other names beside those that are near: more of them would hide the near ones.
const MOST_OTHERS: usize = 16;

/// A scenario that cannot be used. What it says can go to a terminal: escapes in the text are shown
/// as numbers. Its `Display` is one line, `file:line:column: message`; `miette` draws the place and
/// the help.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.one_line())]
pub struct Error(Box<Detail>);

#[derive(Debug)]
struct Detail {
    message: String,
    label: String,
    help: Option<String>,
    place: Option<Place>,
    /// The file's name where no place in it can be pointed at.
    file: String,
}

#[derive(Debug)]
struct Place {
    source: NamedSource<String>,
    start: usize,
    len: usize,
    line: usize,
    column: usize,
}

impl Detail {
    fn one_line(&self) -> String {
        match &self.place {
            Some(place) => format!(
                "{}:{}:{}: {}",
                self.file, place.line, place.column, self.message
            ),
            None => format!("{}: {}", self.file, self.message),
        }
    }
}

impl Error {
    /// The mistake in words, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The remedy, where it is known.
    pub fn help_text(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// The file, or the option of the command line (`--set workload.load`).
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// Line and column, both counted from one, the column in characters; `None` where the file as a
    /// whole is at fault.
    pub fn position(&self) -> Option<(usize, usize)> {
        self.0
            .place
            .as_ref()
            .map(|place| (place.line, place.column))
    }

    pub(crate) fn whole(
        file: impl Into<String>,
        message: impl Into<String>,
        help: Option<String>,
    ) -> Self {
        Error(Box::new(Detail {
            message: visible(&message.into()).into_owned(),
            label: String::new(),
            help: help.map(|help| visible(&help).into_owned()),
            place: None,
            file: visible(&file.into()).into_owned(),
        }))
    }
}

impl Diagnostic for Error {
    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.0
            .help
            .as_ref()
            .map(|help| Box::new(help) as Box<dyn Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0
            .place
            .as_ref()
            .map(|place| &place.source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.0.place.as_ref()?;
        let label = Some(self.0.label.clone()).filter(|label| !label.is_empty());
        Some(Box::new(std::iter::once(LabeledSpan::new(
            label,
            place.start,
            place.len,
        ))))
    }
}

/// A stretch of one of the [`Texts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) text: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// A mistake whose place is not yet resolved to a file and a line.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) at: Option<At>,
    pub(crate) message: String,
    pub(crate) label: String,
    pub(crate) help: Option<String>,
}

pub(crate) type Fallible<T> = Result<T, Box<Fault>>;

impl Fault {
    pub(crate) fn new(at: At, message: impl Into<String>) -> Box<Fault> {
        Box::new(Fault {
            at: Some(at),
            message: message.into(),
            label: "here".to_owned(),
            help: None,
        })
    }

    pub(crate) fn nowhere(message: impl Into<String>) -> Box<Fault> {
        Box::new(Fault {
            at: None,
            message: message.into(),
            label: String::new(),
            help: None,
        })
    }

    pub(crate) fn label(mut self: Box<Self>, label: impl Into<String>) -> Box<Fault> {
        self.label = label.into();
        self
    }

    pub(crate) fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<Fault> {
        self.help = Some(help.into());
        self
    }
}

/// The text of the scenario, and after it one text for each option of the command line that changes
/// it.
#[derive(Debug)]
pub(crate) struct Texts(pub(crate) Vec<(String, String)>);

impl Texts {
    /// Adds a text of the command line, and answers the stretch that is all of it.
    pub(crate) fn add(&mut self, name: &str, text: &str) -> At {
        self.0.push((name.to_owned(), text.to_owned()));
        At {
            text: self.0.len() - 1,
            start: 0,
            end: text.len(),
        }
    }

    pub(crate) fn error(&self, fault: Fault) -> Error {
        let index = fault.at.map_or(0, |at| at.text);
        let (file, text) = self.0.get(index).cloned().unwrap_or_default();
        let file = visible(&file).into_owned();
        let place = fault.at.map(|at| {
            let mut start = at.start.min(text.len());
            while !text.is_char_boundary(start) {
                start -= 1;
            }
            let before = &text[..start];
            let line_start = before.rfind('\n').map_or(0, |i| i + 1);
            let mut end = at.end.clamp(start, text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            // Positions in the text as it is drawn, with escapes shown as numbers.
            Place {
                line: before.matches('\n').count() + 1,
                column: text[line_start..start].chars().count() + 1,
                start: visible_lines(before).len(),
                len: visible_lines(&text[start..end]).len(),
                source: NamedSource::new(&file, visible_lines(&text).into_owned()),
            }
        });
        Error(Box::new(Detail {
            message: visible(&fault.message).into_owned(),
            label: visible(&fault.label).into_owned(),
            help: fault.help.map(|help| visible(&help).into_owned()),
            place,
            file,
        }))
    }
}

/// `a`, `b` and `c` in back quotes, the nearest to `word` first where one is near; as a sentence
/// for a help line.
pub fn near<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let (near, others) = sorted(word, known);
    let quoted = |list: &[&str]| {
        let (first, rest) = list.split_at(list.len().min(MOST_NAMES));
        let names: Vec<String> = first.iter().map(|k| format!("`{k}`")).collect();
        match rest.len() {
            0 => names.join(", "),
            more => format!("{} and {more} more", names.join(", ")),
        }
    };
    if near.is_empty() && others.is_empty() {
        "nothing is allowed here".to_owned()
    } else if near.is_empty() {
        format!("known: {}", quoted(&others))
    } else if others.is_empty() || others.len() > MOST_OTHERS {
        format!("did you mean {}?", quoted(&near))
    } else {
        format!(
            "did you mean {}? Also known: {}",
            quoted(&near),
            quoted(&others)
        )
    }
}

/// Names near to `word`, if there are any, and how to see all names, where the names are too many
/// to list.
pub fn near_of_many<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
    list: &str,
) -> String {
    let (near, _) = sorted(word, known);
    if near.is_empty() {
        return list.to_owned();
    }
    format!("did you mean `{}`? Otherwise, {list}", near.join("`, `"))
}

/// Up to three names that are near to `word`, and the others, all by their likeness.
fn sorted<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> (Vec<&'a str>, Vec<&'a str>) {
    let word = fold(word);
    let known = known.into_iter().map(|k| (likeness(&word, &fold(k)), k));
    let mut known: Vec<(f64, &str)> = known.collect();
    known.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    known.dedup_by(|a, b| a.1 == b.1);
    let best = known.first().map_or(0.0, |k| k.0);
    let is_near = |k: &&(f64, &str)| k.0 > 0.8 && k.0 > best - 0.08;
    let near = known.iter().take_while(is_near).count().min(3);
    let mut names: Vec<&str> = known.into_iter().map(|k| k.1).collect();
    let others = names.split_off(near);
    (names, others)
}

/// From 0 to 1. One wrong, missing or surplus letter is near also in a word of three.
fn likeness(a: &str, b: &str) -> f64 {
    let alike = strsim::jaro_winkler(a, b);
    if a.len() > 1 && strsim::damerau_levenshtein(a, b) == 1 {
        return alike.max(0.9);
    }
    alike
}

/// Whether two names are the same: `-` and `_` are, and case does not count.
pub fn alike(a: &str, b: &str) -> bool {
    let same = |(a, b): (u8, u8)| {
        a.eq_ignore_ascii_case(&b) || matches!((a, b), (b'-', b'_') | (b'_', b'-'))
    };
    a.len() == b.len() && a.bytes().zip(b.bytes()).all(same)
}

/// A key or name in the form in which it is compared: `-` and `_` are the same, and case does not
/// count.
pub(crate) fn fold(word: &str) -> String {
    word.chars()
        .map(|c| {
            if c == '-' {
                '_'
            } else {
                c.to_ascii_lowercase()
            }
        })
        .collect()
}
