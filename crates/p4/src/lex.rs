// SPDX-License-Identifier: MIT OR Apache-2.0
//! Splits a source file into tokens. A line that begins with `#` is one token, for the
//! preprocessor.

use std::rc::Rc;

use crate::error::{Error, Place, Result};

/// A number as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub value: u128,
    /// Width in bits and whether it is signed, from a prefix such as `8w` or `6s`.
    pub width: Option<(u32, bool)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Word(Rc<str>),
    Number(Number),
    Text(String),
    Sign(&'static str),
    /// A line of the preprocessor, without its `#`.
    Directive(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub kind: Kind,
    pub place: Place,
    /// Whether white space or a comment is in front of it: `> >` is no shift.
    pub spaced: bool,
}

/// Longest first. `>>` is two signs, since it also ends two lists of type arguments.
const SIGNS: &[&str] = &[
    "|+|=", "|-|=", "<<=", "&&&", "|+|", "|-|", "...", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
    "^=", "==", "!=", "<=", ">=", "<<", "&&", "||", "++", "..", "+", "-", "*", "/", "%", "&", "|",
    "^", "~", "!", "<", ">", "=", "(", ")", "[", "]", "{", "}", ";", ":", ",", ".", "?", "@",
];

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    place: Place,
    spaced: bool,
    fresh_line: bool,
    tokens: Vec<Token>,
}

pub(crate) fn lex(file: &str, text: &str) -> Result<Vec<Token>> {
    let mut lexer = Lexer {
        text,
        at: 0,
        place: Place {
            file: file.into(),
            line: 1,
            column: 1,
        },
        spaced: true,
        fresh_line: true,
        tokens: Vec::new(),
    };
    while lexer.one()? {}
    Ok(lexer.tokens)
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn advance(&mut self, bytes: usize) {
        for c in self.text[self.at..self.at + bytes].chars() {
            if c == '\n' {
                self.place.line += 1;
                self.place.column = 1;
                self.fresh_line = true;
            } else {
                self.place.column += 1;
            }
        }
        self.at += bytes;
    }

    fn push(&mut self, kind: Kind, bytes: usize) {
        self.tokens.push(Token {
            kind,
            place: self.place.clone(),
            spaced: self.spaced,
        });
        self.spaced = false;
        self.fresh_line = false;
        self.advance(bytes);
    }

    /// Reads one token; false at the end.
    fn one(&mut self) -> Result<bool> {
        let Some(c) = self.rest().chars().next() else {
            return Ok(false);
        };
        if c.is_whitespace() {
            self.advance(c.len_utf8());
            self.spaced = true;
        } else if self.rest().starts_with("//") {
            let end = self.rest().find('\n').unwrap_or(self.rest().len());
            self.advance(end);
            self.spaced = true;
        } else if self.rest().starts_with("/*") {
            let Some(end) = self.rest()[2..].find("*/") else {
                return Err(Error::new(&self.place, "this comment does not end"));
            };
            let fresh = self.fresh_line;
            self.advance(end + 4);
            self.fresh_line |= fresh;
            self.spaced = true;
        } else if c == '#' && self.fresh_line {
            self.directive();
        } else if c.is_ascii_digit() {
            self.number()?;
        } else if c.is_ascii_alphabetic() || c == '_' || c == '$' {
            let end = self
                .rest()
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$')
                .unwrap_or(self.rest().len());
            let word = self.rest()[..end].into();
            self.push(Kind::Word(word), end);
        } else if c == '"' {
            self.text()?;
        } else if let Some(sign) = SIGNS.iter().find(|s| self.rest().starts_with(**s)) {
            self.push(Kind::Sign(sign), sign.len());
        } else {
            let what = format!("`{c}` is no part of P4");
            return Err(Error::new(&self.place, what));
        }
        Ok(true)
    }

    /// A line of the preprocessor, with the lines that follow a backslash.
    fn directive(&mut self) {
        let mut end = 0;
        loop {
            end += self.rest()[end..]
                .find('\n')
                .unwrap_or(self.rest().len() - end);
            if !self.rest()[..end].ends_with('\\') || end >= self.rest().len() {
                break;
            }
            end += 1;
        }
        let line = self.rest()[1..end].replace("\\\n", " ");
        self.push(Kind::Directive(line), end);
    }

    fn text(&mut self) -> Result<()> {
        let body = &self.rest()[1..];
        let mut escaped = false;
        let end = body.char_indices().find(|(_, c)| {
            let is_end = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            is_end
        });
        let Some((end, _)) = end else {
            return Err(Error::new(&self.place, "this string does not end"));
        };
        let text = body[..end].to_owned();
        self.push(Kind::Text(text), end + 2);
        Ok(())
    }

    fn number(&mut self) -> Result<()> {
        let end = self
            .rest()
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(self.rest().len());
        let word = self.rest()[..end].replace('_', "");
        let number = number(&word).ok_or_else(|| {
            let what = format!("`{word}` is no number: write 10, 0x0a, 0b1010 or 8w10");
            Error::new(&self.place, what)
        })?;
        self.push(Kind::Number(number), end);
        Ok(())
    }
}

fn number(word: &str) -> Option<Number> {
    let digits = word.find(|c: char| !c.is_ascii_digit());
    let prefix = digits.filter(|at| *at > 0 && matches!(&word[*at..=*at], "w" | "s"));
    let (width, value) = match prefix {
        Some(at) => {
            let width = word[..at].parse().ok()?;
            (Some((width, &word[at..=at] == "s")), &word[at + 1..])
        }
        None => (None, word),
    };
    let radix = |radix| u128::from_str_radix(&value[2..], radix).ok();
    let value = match value.get(..2) {
        Some("0x" | "0X") => radix(16)?,
        Some("0b" | "0B") => radix(2)?,
        Some("0o" | "0O") => radix(8)?,
        Some("0d" | "0D") => radix(10)?,
        _ => value.parse().ok()?,
    };
    Some(Number { value, width })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_prefixes_of_width_and_radix() {
        let n = |word| number(word).map(|n| (n.value, n.width));
        assert_eq!(n("10"), Some((10, None)));
        assert_eq!(n("0xFf"), Some((255, None)));
        assert_eq!(n("16w0x0a"), Some((10, Some((16, false)))));
        assert_eq!(n("6s3"), Some((3, Some((6, true)))));
        assert_eq!(n("0b101"), Some((5, None)));
        assert_eq!(n("10u"), None);
        assert_eq!(n("0x"), None);
    }

    #[test]
    fn a_mistake_has_its_line_and_column() {
        for (text, place) in [
            ("a\n  \\", "f:2:3"),
            ("a /*", "f:1:3"),
            ("\n\n\"x", "f:3:1"),
        ] {
            let error = lex("f", text).expect_err("wrong").to_string();
            assert!(error.starts_with(place), "{error}");
        }
    }

    #[test]
    fn a_directive_ends_with_its_line_unless_that_ends_with_a_backslash() {
        let tokens = lex("f", "#define A 1 \\\n 2\nb # c").expect_err("a sign within a line");
        assert!(tokens.what.contains('#'), "{tokens}");
        let tokens = lex("f", "#define A 1 \\\n 2\nb").expect("two tokens");
        assert_eq!(tokens.len(), 2);
        assert_eq!(tokens[1].place.line, 3);
    }
}
