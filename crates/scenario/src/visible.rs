// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text of a user's on its way to a terminal: what would steer the terminal, or turn the order of
//! the letters, is shown as its number instead.

use std::borrow::Cow;
use std::fmt::Write;

/// A name, a title, a value, a path as one line: control characters (the escape that begins a
/// terminal's commands among them), marks that change the direction of writing, and ends of lines
/// are written as `\u{1b}`.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// Several lines of text for a terminal, escaped as by [`visible`], which keep their ends of lines
/// and tabs.
#[must_use]
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

/// Whether a character moves other characters instead of being one, or is none.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
        )
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{fffe}' | '\u{ffff}')
}

fn escaped(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let shown = |c: char| !is_hidden(c) || keep(c);
    if text.chars().all(shown) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        // The other half of an end of line, where these are kept.
        let ends = c == '\r' && keep('\n') && rest.peek() == Some(&'\n');
        if shown(c) || ends {
            out.push(c);
        } else {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::{is_hidden, visible, visible_lines};

    #[test]
    fn what_steers_a_terminal_is_a_number() {
        for (text, line, lines) in [
            ("ECN# µs „…“ 中", "ECN# µs „…“ 中", "ECN# µs „…“ 中"),
            ("a\u{1b}[31mb", "a\\u{1b}[31mb", "a\\u{1b}[31mb"),
            (
                "\u{0}\u{7}\u{7f}",
                "\\u{0}\\u{7}\\u{7f}",
                "\\u{0}\\u{7}\\u{7f}",
            ),
            ("\u{85}\u{9b}2J", "\\u{85}\\u{9b}2J", "\\u{85}\\u{9b}2J"),
            (
                "\u{202e}\u{2066}",
                "\\u{202e}\\u{2066}",
                "\\u{202e}\\u{2066}",
            ),
            (
                "\u{fffe}\u{ffff}",
                "\\u{fffe}\\u{ffff}",
                "\\u{fffe}\\u{ffff}",
            ),
            ("a\nb\tc", "a\\u{a}b\\u{9}c", "a\nb\tc"),
            // An end of line of Windows, and what overwrites the line before it.
            ("a\r\nb\rc", "a\\u{d}\\u{a}b\\u{d}c", "a\r\nb\\u{d}c"),
        ] {
            assert_eq!(visible(text), line);
            assert_eq!(visible_lines(text), lines);
            assert!(!visible(text).contains(is_hidden));
            assert_eq!(visible(&visible(text)), line, "once is enough");
        }
    }
}
