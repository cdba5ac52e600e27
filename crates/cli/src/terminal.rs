// SPDX-License-Identifier: MIT OR Apache-2.0
//! Abilities of the terminal: its width and its colours, which `COLUMNS`, `NO_COLOR` and `TERM`
//! override.

use std::io::{IsTerminal, stderr, stdout};

use cemark_report::table::Look;
use console::Term;
use miette::{MietteHandlerOpts, ReportHandler};
use textwrap::{WordSeparator, WordSplitter};

/// Widths for which tables and messages are laid out.
const WIDTHS: std::ops::RangeInclusive<usize> = 60..=120;

/// `COLUMNS`, if it holds a number.
pub(crate) fn columns() -> Option<usize> {
    let text = std::env::var("COLUMNS").ok()?;
    text.trim().parse().ok().filter(|n| *n > 0)
}

/// Whether colours are unwanted or impossible.
pub(crate) fn plain() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()) || is_dumb()
}

/// Whether the terminal cannot move its cursor.
pub(crate) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|v| v == "dumb")
}

/// Whether a progress bar can be drawn on standard error.
pub(crate) fn has_bars() -> bool {
    stderr().is_terminal() && !is_dumb()
}

/// How to draw on this standard output.
pub(crate) fn look() -> Look {
    Look {
        width: width(&Term::stdout(), stdout().is_terminal()).unwrap_or(*WIDTHS.end()),
        color: stdout().is_terminal() && !plain(),
    }
}

/// How to draw on this standard error.
pub(crate) fn error_look() -> Look {
    Look {
        width: error_width().unwrap_or(*WIDTHS.end()),
        color: stderr().is_terminal() && !plain(),
    }
}

/// Columns of standard error, for bars and messages.
pub(crate) fn error_width() -> Option<usize> {
    width(&Term::stderr(), stderr().is_terminal())
}

fn width(term: &Term, is_terminal: bool) -> Option<usize> {
    let of_terminal = || term.size_checked().map(|(_, columns)| usize::from(columns));
    columns()
        .or_else(|| of_terminal().filter(|_| is_terminal))
        .map(|n| n.clamp(*WIDTHS.start(), *WIDTHS.end()))
}

/// How errors are drawn.
pub(crate) fn error_handler() -> Box<dyn ReportHandler> {
    let colours = stderr().is_terminal() && !plain();
    let mut options = MietteHandlerOpts::new()
        .color(colours)
        .terminal_links(false)
        // Paths and names can be copied.
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    if let Some(width) = error_width() {
        options = options.width(width);
    }
    Box::new(options.build())
}
