// SPDX-License-Identifier: MIT OR Apache-2.0
//! The answer to a command line that clap cannot read has the form of every other mistake: what is
//! wrong, and what to write instead.

use std::error::Error as _;
use std::io::Write;

use cemark_scenario::{near, near_of_many};
use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::exit::{self, user};
use crate::program;

/// Prints help to standard output, or a mistake to standard error. Returns the exit code.
pub(crate) fn answer(e: &Error, whole: &Command) -> u8 {
    if !e.use_stderr() {
        let done = e.print().and_then(|()| std::io::stdout().flush());
        return exit::code(done.map_err(exit::not_written));
    }
    let (command, path) = typed(whole);
    let (what, help) = explained(e, command, &path);
    exit::code(Err(user(what, help)))
}

/// The command that was typed, and its words: `cemark p4 spec`.
fn typed(whole: &Command) -> (&Command, String) {
    let mut path = whole.get_name().to_owned();
    let mut command = whole;
    for word in program::words().iter().skip(1) {
        let Some(next) = command.find_subcommand(word) else {
            break;
        };
        path = format!("{path} {}", next.get_name());
        command = next;
    }
    (command, path)
}

/// The mistake, and the words to write instead.
fn explained(e: &Error, command: &Command, path: &str) -> (String, String) {
    let text = |kind| match e.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let argument = text(ContextKind::InvalidArg);
    let list = format!("`{path} --help` lists what it takes");
    match (e.kind(), argument, text(ContextKind::InvalidValue)) {
        (ErrorKind::InvalidSubcommand, ..) => {
            let word = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            let names = command.get_subcommands().map(Command::get_name);
            let help = match (command.get_name(), word) {
                ("p4", "check") => "p4c checks programs: docs/p4.md has its commands".to_owned(),
                _ => near(word, names),
            };
            (format!("there is no command `{word}`"), help)
        }
        (ErrorKind::UnknownArgument, Some(word), _) if word.starts_with('-') => {
            let options: Vec<String> = command
                .get_arguments()
                .filter(|a| !a.is_hide_set())
                .filter_map(|a| a.get_long())
                .map(|long| format!("--{long}"))
                .collect();
            let word = word.split('=').next().unwrap_or_default();
            let options = options.iter().map(String::as_str);
            (
                format!("`{path}` has no option `{word}`"),
                near_of_many(word, options, &list),
            )
        }
        (ErrorKind::UnknownArgument, Some(word), _) => {
            (format!("`{path}` has no place for `{word}`"), list)
        }
        (ErrorKind::InvalidValue, Some(argument), Some("")) => (
            format!("`{argument}` needs a value"),
            near_value(e, "", list),
        ),
        (ErrorKind::InvalidValue, Some(argument), Some(value)) => (
            format!("`{value}` is no value of `{argument}`"),
            near_value(e, value, list),
        ),
        (ErrorKind::ValueValidation, Some(argument), Some(value)) => {
            let why = e.source().map(|why| format!(": {why}"));
            let why = why.unwrap_or_default();
            (format!("`{value}` is no value of `{argument}`{why}"), list)
        }
        (ErrorKind::ArgumentConflict, Some(argument), _) => {
            let others = several(e, ContextKind::PriorArg);
            match others.iter().all(|other| *other == argument) {
                true => (format!("`{argument}` is given more than once"), list),
                false => (
                    format!("`{argument}` cannot be used with {}", quoted(&others)),
                    format!("leave one of them out; {list}"),
                ),
            }
        }
        (ErrorKind::MissingRequiredArgument, ..) => {
            let missing = several(e, ContextKind::InvalidArg);
            (format!("`{path}` needs {}", quoted(&missing)), list)
        }
        (
            ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
            ..,
        ) => {
            let names = command.get_subcommands().map(Command::get_name);
            (
                format!("`{path}` needs a command of its own"),
                near("", names),
            )
        }
        _ => (sentence(e), list),
    }
}

/// The first paragraph of clap's message.
fn sentence(e: &Error) -> String {
    let text = e.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    first.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The texts of one kind of an error.
fn several(e: &Error, kind: ContextKind) -> Vec<&str> {
    match e.get(kind) {
        Some(ContextValue::String(text)) => vec![text],
        Some(ContextValue::Strings(texts)) => texts.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

fn quoted(words: &[&str]) -> String {
    format!("`{}`", words.join("`, `"))
}

/// The values that an option takes, those near to `value` first, or where they are listed.
fn near_value(e: &Error, value: &str, list: String) -> String {
    match several(e, ContextKind::ValidValue) {
        known if known.is_empty() => list,
        known => near(value, known),
    }
}
