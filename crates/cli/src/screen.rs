// SPDX-License-Identifier: MIT OR Apache-2.0
//! Output of `cemark` and `cemark help` without arguments.

use std::fmt::Write as _;

use cemark_report::text::{listed, wrap};
use clap::Command;

/// Description of cemark.
const WHAT: &str = "\
cemark compares ECN marking schemes before you deploy or publish them. It simulates them packet by \
packet on your fabric, with identical flows, and prints what each gains and costs, with confidence \
intervals and the published numbers.";

/// Commands by what one wants to do. A command that is in no group is listed at the end.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "compare schemes on a fabric",
        &[
            "advise", "init", "import", "check", "run", "sweep", "search", "merge", "plot",
            "capture", "compare",
        ],
    ),
    ("look something up", &["schemes", "theory", "help"]),
    (
        "use a scheme in a kernel, a switch or a program of yours",
        &["doctor", "export", "bpf", "vectors", "p4"],
    ),
    ("see how far to trust it", &["figure", "bench", "testbed"]),
    ("set up your shell", &["completions", "man"]),
];

const EXAMPLES: &[(&str, &str)] = &[
    (
        "describe your fabric, and compare schemes on it",
        "cemark init && cemark run my-fabric.toml",
    ),
    (
        "a published comparison, at other loads",
        "cemark run rtt-variation --set workload.load=0.3,0.6",
    ),
    (
        "a scheme: its rule, its parameters, its ties",
        "cemark help ecn_sharp",
    ),
];

const MORE: &str = "\
cemark COMMAND --help lists the options of a command; cemark help explains a scheme, a key of \
scenario files (workload.load), a topic (units, sweep, output, figures) or a term.";

/// The screen, for a terminal of this width.
pub(crate) fn first(columns: usize) -> String {
    let mut out = wrap(WHAT, columns) + "\n";
    let command = crate::command();
    let known = |name: &&&str| command.find_subcommand(name).is_some();
    for (title, names) in GROUPS {
        let lines: Vec<(&str, String)> = names
            .iter()
            .filter(known)
            .map(|name| (*name, about(&command, name)))
            .collect();
        group(&mut out, title, &lines, columns);
    }
    let named: Vec<&str> = GROUPS
        .iter()
        .flat_map(|(_, names)| names.iter().copied())
        .collect();
    let others = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    let others: Vec<(&str, String)> = others
        .map(Command::get_name)
        .filter(|name| !named.contains(name))
        .map(|name| (name, about(&command, name)))
        .collect();
    if !others.is_empty() {
        group(&mut out, "more", &others, columns);
    }
    out.push_str("\nexamples\n");
    for (what, typed) in EXAMPLES {
        let _ = writeln!(out, "  {typed}\n      {what}");
    }
    let builtins = cemark_scenario::SCENARIOS.iter();
    let builtins: Vec<(&str, String)> = builtins.map(|b| (b.name, b.title())).collect();
    group(&mut out, "built-in scenarios", &builtins, columns);
    let _ = writeln!(out, "\n{}", wrap(MORE, columns));
    out
}

/// Description of a command, without the full stop.
fn about(command: &Command, name: &str) -> String {
    let sub = command.find_subcommand(name);
    let about = sub.and_then(Command::get_about).map(ToString::to_string);
    about.unwrap_or_default().trim_end_matches('.').to_owned()
}

/// A title and two columns.
fn group(out: &mut String, title: &str, lines: &[(&str, String)], columns: usize) {
    let _ = write!(out, "\n{title}\n{}", listed(lines, columns, 2));
}
