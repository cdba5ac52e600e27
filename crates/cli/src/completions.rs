// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark completions`: what a shell needs to complete commands, options and names.
//!
//! The script of a shell asks this program at each press of TAB, so that the names of scenarios,
//! schemes and figures are those of the program that is installed.

use std::ffi::OsStr;

use cemark_figures as figure;
use cemark_marking::catalogue;
use clap::Command;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter};
use clap_complete::env::{CompleteEnv, Shells};
use clap_complete::{Shell, aot};

use crate::doctor;
use crate::exit::{Failure, answer, user};
use crate::help;
use crate::theory;

/// The variable by which the script of a shell asks.
const VARIABLE: &str = "CEMARK_COMPLETE";

/// Arguments of `cemark completions`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Your shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script of a shell.
pub(crate) fn completions(args: &Args) -> Result<(), Failure> {
    let shell = match args.shell {
        aot::Shell::Bash => "bash",
        aot::Shell::Elvish => "elvish",
        aot::Shell::Fish => "fish",
        aot::Shell::PowerShell => "powershell",
        aot::Shell::Zsh => "zsh",
        other => {
            return Err(user(
                format!("there are no completions for {other}"),
                "write bash, zsh, fish, powershell or elvish",
            ));
        }
    };
    let builtins = Shells::builtins();
    let completer = builtins.completer(shell).expect("a built-in shell");
    let mut script = Vec::new();
    completer
        .write_registration(VARIABLE, "cemark", "cemark", "cemark", &mut script)
        .expect("memory takes every write");
    answer(&String::from_utf8(script).expect("a script is text"))
}

/// Answers the script of a shell, and exits; otherwise does nothing.
pub(crate) fn answer_shell(command: fn() -> Command) {
    let with_names = move || complete(command());
    CompleteEnv::with_factory(with_names)
        .var(VARIABLE)
        .complete();
}

/// Candidates that may follow the typed text.
type Values = fn(&OsStr) -> Vec<CompletionCandidate>;

/// Tells arguments which values they can have. A value that is not among them is still accepted.
fn complete(mut command: Command) -> Command {
    let mut add = |name: &'static str, arg: &'static str, values: Values| {
        let with = |a: clap::Arg| match a.get_id() == arg {
            true => a.add(ArgValueCompleter::new(values)),
            false => a,
        };
        // `mut_arg` would move a positional argument behind the others.
        command = std::mem::take(&mut command).mut_subcommand(name, |sub| sub.mut_args(with));
    };
    for name in ["run", "check"] {
        add(name, "scenario", scenarios);
        add(name, "set", paths);
    }
    add("figure", "set", paths);
    add("figure", "ids", |typed| {
        beginning(typed, figure::names().map(|name| (name, String::new())))
    });
    add("bench", "names", |typed| {
        let builtins = cemark_scenario::BENCHES.iter();
        beginning(typed, builtins.map(|b| (b.name, b.title())))
    });
    add("schemes", "name", schemes);
    add("export", "name", deployed_schemes);
    add("doctor", "explain", |typed| {
        beginning(
            typed,
            doctor::rules().map(|rule| (rule.id, rule.name.to_owned())),
        )
    });
    add("theory", "name", |typed| beginning(typed, theory::names()));
    add("help", "words", |typed| beginning(typed, help::words()));
    command
}

/// The names that begin with what is typed.
fn beginning<N: AsRef<str>>(
    current: &OsStr,
    names: impl IntoIterator<Item = (N, String)>,
) -> Vec<CompletionCandidate> {
    let typed = current.to_str();
    let begins = |name: &str| typed.is_some_and(|typed| name.starts_with(typed));
    let all = names.into_iter().filter(|(name, _)| begins(name.as_ref()));
    let candidate = |(name, about): (N, String)| {
        let about = (!about.is_empty()).then(|| about.into());
        CompletionCandidate::new(name.as_ref()).help(about)
    };
    all.map(candidate).collect()
}

fn scenarios(current: &OsStr) -> Vec<CompletionCandidate> {
    let builtins = cemark_scenario::SCENARIOS.iter();
    let mut all = beginning(current, builtins.map(|b| (b.name, b.title())));
    let files = PathCompleter::any()
        .filter(|path| path.is_dir() || path.extension().is_some_and(|end| end == "toml"));
    all.extend(clap_complete::engine::ValueCompleter::complete(
        &files, current,
    ));
    all
}

fn schemes(current: &OsStr) -> Vec<CompletionCandidate> {
    beginning(
        current,
        catalogue::ALL.iter().map(|s| (s.name, s.title.to_owned())),
    )
}

fn deployed_schemes(current: &OsStr) -> Vec<CompletionCandidate> {
    let all = catalogue::deployed();
    beginning(current, all.map(|s| (s.name, s.title.to_owned())))
}

/// Paths of `--set`, up to the sign that their value follows.
fn paths(current: &OsStr) -> Vec<CompletionCandidate> {
    let paths = cemark_scenario::documented_keys();
    let paths = paths
        .into_iter()
        .filter(|key| key.section != "scheme" && !key.section.contains('.'))
        .map(|key| {
            let dot = if key.section.is_empty() { "" } else { "." };
            (format!("{}{dot}{}=", key.section, key.name), key.doc)
        });
    beginning(current, paths)
}
