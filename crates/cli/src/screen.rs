// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `cemark` without arguments prints.

use std::fmt::Write as _;

use cemark_report::table::wrap;

/// What cemark is.
const WHAT: [&str; 2] = [
    "cemark: choose and compare ECN marking schemes before you deploy or publish them.",
    "It simulates them packet by packet on your fabric, with identical flows, and prints what each \
     gains, with confidence intervals and the published numbers.",
];

/// Tasks and commands.
const TASKS: [(&str, &str); 12] = [
    ("I want to …", "type"),
    (
        "compare marking schemes on a whole fabric",
        "cemark run rtt-variation",
    ),
    (
        "see what a scenario contains and costs",
        "cemark check rtt-variation",
    ),
    (
        "run it at another load",
        "cemark run rtt-variation --set workload.load=0.3,0.6",
    ),
    ("run my own scenario", "cemark run my.toml"),
    (
        "see a scheme and its parameters",
        "cemark schemes ecn_sharp",
    ),
    (
        "run my own marker, in C or BPF",
        "cemark run rtt-variation --marker bpf:own.o",
    ),
    (
        "use a scheme in C, a kernel or BPF",
        "cemark export ecn_sharp",
    ),
    (
        "read the result in a script",
        "cemark run rtt-variation --format json",
    ),
    ("reproduce a paper's figures", "cemark figure --list"),
    (
        "measure its speed and check it against theory",
        "cemark bench, cemark bench --physics",
    ),
    ("see every option", "cemark --help"),
];

/// The screen, for a terminal of this width.
pub(crate) fn first(columns: usize) -> String {
    let mut out = WHAT.map(|line| wrap(line, columns) + "\n").concat();
    out.push('\n');
    list(&mut out, &TASKS, columns, "");
    out.push_str("\nbuilt-in scenarios\n");
    let scenarios: Vec<(&str, String)> = cemark_scenario::builtins()
        .map(|b| (b.name, b.title()))
        .collect();
    let scenarios: Vec<(&str, &str)> = scenarios.iter().map(|(n, t)| (*n, t.as_str())).collect();
    list(&mut out, &scenarios, columns, "  ");
    out
}

/// Prints two columns. If a line has no room for the second column, that moves to the line below.
fn list(out: &mut String, lines: &[(&str, &str)], columns: usize, indent: &str) {
    let len = |text: &str| text.chars().count();
    let width = lines.iter().map(|(left, _)| len(left)).max().unwrap_or(0);
    for (left, right) in lines {
        let _ = match indent.len() + width + 2 + len(right) <= columns {
            true => writeln!(out, "{indent}{left:width$}  {right}"),
            false => {
                let below = wrap(right, columns.saturating_sub(indent.len() + 4));
                let below = below.replace('\n', &format!("\n{indent}    "));
                writeln!(out, "{indent}{left}\n{indent}    {below}")
            }
        };
    }
}
