// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a command ends: an answer on standard output, or a failure on standard error with an exit
//! code that says whether the user or the machine caused it.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use cemark_report::Console;
use cemark_report::table::STYLES;
pub use cemark_runner::Failure;
use cemark_scenario::{is_hidden, visible, visible_lines};

/// The machine failed: a full disk, a directory without permission.
pub(crate) const MACHINE: u8 = 1;
/// The user's mistake.
pub(crate) const USER: u8 = 2;
/// Ctrl-C, as shells number it.
const INTERRUPTED: u8 = 130;

/// Most warnings that are printed: a scenario may have thousands of schemes, each with its own.
const MOST_WARNINGS: usize = 20;

/// Writes an answer to standard output, with control characters escaped: the text of a scenario
/// must not control the terminal.
pub(crate) fn answer(text: &str) -> Result<(), Failure> {
    write(&visible_lines(text))
}

/// Like [`answer`], but the colours of [`cemark_report::table`] are kept.
pub(crate) fn answer_styled(text: &str) -> Result<(), Failure> {
    write(&styled(text))
}

/// A text with control characters escaped, except the colours of [`cemark_report::table`].
pub(crate) fn styled(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let mut out = visible_lines(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let ours = STYLES.iter().any(|style| {
            let code = part.strip_prefix('[').and_then(|p| p.strip_prefix(style));
            code.is_some_and(|rest| rest.starts_with('m'))
        });
        out.push_str(if ours { "\x1b" } else { "\\u{1b}" });
        out.push_str(&visible_lines(part));
    }
    out
}

/// Writes a JSON answer to standard output.
pub(crate) fn answer_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value).expect("numbers and strings");
    text.push('\n');
    answer_json_text(&text)
}

/// Writes a JSON document to standard output. Control characters can only be in its strings, and
/// are written as escapes of JSON.
pub(crate) fn answer_json_text(text: &str) -> Result<(), Failure> {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_hidden(c) && c != '\n' {
            true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
    }
    write(&out)
}

fn write(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(not_written)
}

/// Failure of a write to standard output.
pub(crate) fn not_written(e: io::Error) -> Failure {
    match e.kind() {
        ErrorKind::BrokenPipe => Failure::OutputClosed,
        _ => Failure::Machine(miette::miette!("cannot write to standard output: {e}")),
    }
}

/// A mistake of the user, with what to write instead.
pub(crate) fn user(what: impl Display, help: impl Into<String>) -> Failure {
    let help = help.into();
    Failure::User(miette::miette!(help = help, "{what}"))
}

/// A failure that no other input would mend.
pub(crate) fn machine(what: impl Display) -> Failure {
    Failure::Machine(miette::miette!("{what}"))
}

/// Prints a line on standard error. The command continues if standard error is closed. A run stops,
/// as after Ctrl-C, if standard error is a pipe whose reader has ended (`2>&1 | head`).
pub(crate) fn note(text: &str) {
    let done = writeln!(io::stderr(), "{}", visible_lines(text));
    if done.is_err_and(|e| e.kind() == ErrorKind::BrokenPipe) {
        crate::interrupt::stop();
    }
}

/// Prints the warnings of a scenario on standard error.
pub(crate) fn warn(plan: &cemark_scenario::Plan) {
    for warning in plan.warnings.iter().take(MOST_WARNINGS) {
        complain(&warning.text(plan.points.len()), &warning.help);
    }
    if let Some(more @ 1..) = plan.warnings.len().checked_sub(MOST_WARNINGS) {
        note(&format!("warning: {more} more are listed by --format json"));
    }
}

/// Prints a warning with a hint on standard error.
pub(crate) fn complain(what: &str, help: &str) {
    note(&format!(
        "warning: {}\n   help: {}",
        visible(what),
        visible(help)
    ));
}

/// Prints the notes of a run directory on standard error.
pub(crate) struct Stderr;

impl Console for Stderr {
    fn say(&self, note: &str) {
        crate::exit::note(&format!("warning: {}", visible(note)));
    }
}

/// Prints a failure on standard error and returns its exit code.
pub(crate) fn code(done: Result<(), Failure>) -> u8 {
    let (text, code) = match done {
        Ok(()) | Err(Failure::OutputClosed) => return 0,
        Err(Failure::Machine(report)) => (drawn(report), MACHINE),
        Err(Failure::User(report)) => (drawn(report), USER),
        Err(Failure::Interrupted(text)) => (visible_lines(&text).into_owned(), INTERRUPTED),
    };
    // If standard error is closed, the exit code still tells what happened.
    let _ = writeln!(io::stderr(), "{text}");
    code
}

/// An error as it is printed. Errors of a scenario quote its text, with control characters already
/// escaped; of other errors message and help are escaped here.
fn drawn(report: miette::Report) -> String {
    if report.source_code().is_some() {
        return format!("{report:?}");
    }
    let text = |x: String| visible_lines(&x).into_owned();
    let mut shown = miette::MietteDiagnostic::new(text(report.to_string()));
    shown.help = report.help().map(|help| text(help.to_string()));
    format!("{:?}", miette::Report::new(shown))
}

#[cfg(test)]
mod tests {
    use super::{INTERRUPTED, MACHINE, USER};

    /// The table of docs/output.md lists each exit code once, and no other code.
    #[test]
    fn the_documented_codes_are_the_codes() {
        let page = include_str!("../../../docs/output.md");
        let (_, section) = page.split_once("## Exit codes").expect("the section");
        let (section, _) = section.split_once("\n## ").expect("a next section");
        let rows = section
            .lines()
            .filter_map(|l| l.strip_prefix("| ")?.split_once(" |"));
        let codes: Vec<u8> = rows.filter_map(|(code, _)| code.parse().ok()).collect();
        assert_eq!(codes, [0, MACHINE, USER, INTERRUPTED]);
        let why = |code: u8| {
            let row = section
                .lines()
                .find(|l| l.starts_with(&format!("| {code} |")));
            row.expect("a row").to_owned()
        };
        for word in ["full disk", "deadlock", "vector", "physics", "verdict"] {
            assert!(why(MACHINE).contains(word), "{word}");
        }
        for word in ["--fresh", "another scenario", "marker"] {
            assert!(why(USER).contains(word), "{word}");
        }
    }
}
