// SPDX-License-Identifier: MIT OR Apache-2.0
//! What somebody sees who types `cemark` and nothing else.

use std::fmt::Write as _;

pub(crate) fn first() -> String {
    let mut out = String::from(
        "cemark: which packets a data-centre switch marks decides latency and throughput.\n\
         One catalogue of marking schemes, simulated at packet level, with the papers' numbers beside the answer.\n\n\
         I want to …                                   type\n\
         compare marking schemes on a whole fabric     cemark run rtt-variation\n\
         see what a scenario contains and costs        cemark check rtt-variation\n\
         ask the same at another load                  cemark run rtt-variation --set workload.load=0.3,0.6\n\
         run my own scenario                           cemark run my.toml\n\
         know a scheme and its parameters              cemark schemes ecn_sharp\n\
         run my own marker, in C or BPF                cemark run rtt-variation --marker bpf:own.o\n\
         take a scheme to C, a kernel or BPF           cemark export ecn_sharp\n\
         read the result in a script                   cemark run rtt-variation --format json\n\
         reproduce a paper's figures                   cemark figure --list\n\
         know how fast and how right it is             cemark bench   cemark bench --physics\n\
         see every option                              cemark --help\n\n\
         built-in scenarios\n",
    );
    let list: Vec<(String, String)> = cemark_scenario::builtins()
        .map(|b| (b.name.to_owned(), b.title()))
        .collect();
    let width = list.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, title) in list {
        let _ = writeln!(out, "  {name:width$}  {title}");
    }
    out
}
