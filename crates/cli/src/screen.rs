// SPDX-License-Identifier: MIT OR Apache-2.0
//! What somebody sees who types `cemark` and nothing else.

use std::fmt::Write as _;

use cemark_report::table::wrap;

/// What cemark is.
const WHAT: [&str; 2] = [
    "cemark: which packets a data-centre switch marks decides latency and throughput.",
    "One catalogue of marking schemes, simulated at packet level, with the papers' numbers \
     beside the answer.",
];

/// Wishes and commands.
const WISHES: [(&str, &str); 12] = [
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
        "ask the same at another load",
        "cemark run rtt-variation --set workload.load=0.3,0.6",
    ),
    ("run my own scenario", "cemark run my.toml"),
    (
        "know a scheme and its parameters",
        "cemark schemes ecn_sharp",
    ),
    (
        "run my own marker, in C or BPF",
        "cemark run rtt-variation --marker bpf:own.o",
    ),
    (
        "take a scheme to C, a kernel or BPF",
        "cemark export ecn_sharp",
    ),
    (
        "read the result in a script",
        "cemark run rtt-variation --format json",
    ),
    ("reproduce a paper's figures", "cemark figure --list"),
    (
        "know how fast and how right it is",
        "cemark bench, cemark bench --physics",
    ),
    ("see every option", "cemark --help"),
];

/// The screen, for a terminal of this width.
pub(crate) fn first(columns: usize) -> String {
    let mut out = WHAT.map(|line| wrap(line, columns) + "\n").concat();
    out.push('\n');
    list(&mut out, &WISHES, columns, "");
    out.push_str("\nbuilt-in scenarios\n");
    let scenarios: Vec<(&str, String)> = cemark_scenario::builtins()
        .map(|b| (b.name, b.title()))
        .collect();
    let scenarios: Vec<(&str, &str)> = scenarios.iter().map(|(n, t)| (*n, t.as_str())).collect();
    list(&mut out, &scenarios, columns, "  ");
    out
}

/// Two columns; where a line has no room for the second, it goes below the first.
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
