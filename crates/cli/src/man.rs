// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark man`: manual pages, one a command.

use std::path::{Path, PathBuf};

use clap::Command;
use clap_mangen::Man;

use crate::exit::{Failure, answer, note, user};
use crate::output::{Replace, has, put};

/// Arguments of `cemark man`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The page that is printed: of `run`, of `bpf-attach` [default: that of cemark itself].
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    command: Option<String>,
    /// Write the pages of all commands into this directory.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints one page, or writes all.
pub(crate) fn man(args: &Args, mut command: Command) -> Result<(), Failure> {
    command.build();
    if let Some(dir) = &args.out {
        return write_all(dir, &command);
    }
    let Some(name) = &args.command else {
        return answer(&page(&command, None));
    };
    let pages = pages(&command, "");
    match pages.iter().find(|(known, _)| known == name) {
        Some((name, sub)) => answer(&page(sub, Some(name))),
        None => {
            let names = pages.iter().map(|(name, _)| name.as_str());
            Err(user(
                format!("there is no command `{name}`"),
                cemark_scenario::near(name, names),
            ))
        }
    }
}

/// The commands that have pages of their own, each with its name in the page's: `bpf`, and below it
/// `bpf-attach`.
fn pages<'a>(command: &'a Command, above: &str) -> Vec<(String, &'a Command)> {
    let mut all = Vec::new();
    // clap gives every group of commands a `help` of its own.
    let made = |sub: &Command| !above.is_empty() && sub.get_name() == "help";
    for sub in command.get_subcommands() {
        if sub.is_hide_set() || made(sub) {
            continue;
        }
        let name = match above {
            "" => sub.get_name().to_owned(),
            above => format!("{above}-{}", sub.get_name()),
        };
        let below = pages(sub, &name);
        all.push((name, sub));
        all.extend(below);
    }
    all
}

fn write_all(dir: &Path, command: &Command) -> Result<(), Failure> {
    let failed = |path: &Path, e: std::io::Error| {
        Failure::Machine(miette::miette!(
            help = "write --out with a directory that can be created and written",
            "{}: {e}",
            path.display()
        ))
    };
    std::fs::create_dir_all(dir).map_err(|e| failed(dir, e))?;
    let mut files = vec![("cemark.1".to_owned(), page(command, None))];
    for (name, sub) in pages(command, "") {
        files.push((format!("cemark-{name}.1"), page(sub, Some(&name))));
    }
    for (name, text) in &files {
        let path = dir.join(name);
        let pages = Replace::Ours(|head| has(head, ".TH cemark"));
        put(
            &path,
            text.as_bytes(),
            pages,
            "write --out with another directory",
        )?;
    }
    note(&format!(
        "{} pages are in {}; read one with: man -l {}",
        files.len(),
        dir.display(),
        dir.join("cemark-run.1").display()
    ));
    Ok(())
}

/// A page in the language of man; `name` is the command's below cemark.
fn page(command: &Command, name: Option<&str>) -> String {
    let mut command = command.clone().disable_help_subcommand(true);
    if let Some(name) = name {
        command = command
            .display_name(format!("cemark-{name}"))
            .version(env!("CARGO_PKG_VERSION"));
    }
    let source = concat!("cemark ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command).source(source).manual("User commands");
    let mut text = Vec::new();
    man.render(&mut text).expect("memory takes every write");
    let text = String::from_utf8(text).expect("a page is text");
    // A page has no date, so that the same program always writes the same page.
    let text = text.replacen(" 1  \"", " 1 \"\" \"", 1);
    // Old formatters read bytes: what is not ASCII goes in by its number.
    let escaped = |c: char| match c.is_ascii() {
        true => c.to_string(),
        false => format!("\\[u{:04X}]", u32::from(c)),
    };
    text.chars().map(escaped).collect()
}
