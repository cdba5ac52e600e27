// SPDX-License-Identifier: MIT OR Apache-2.0
//! No text makes the front end panic, hang or take all of the stack, and every refusal has a place
//! in a file that exists. For a long run: `CEMARK_EDITS=2000000 cargo test --release -p cemark-p4
//! mutations::`.

use cemark_p4::{Defines, Error, Rounding, compile, sources, spec};
use cemark_wire::hash::SplitMix64;

/// Text that edits insert, beside pieces of the programs.
const NASTY: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    "[",
    "]",
    ";",
    ",",
    "=",
    "&&&",
    "..",
    "@",
    "|-|",
    ">>",
    "?",
    ":",
    "-1",
    "0",
    "128w1",
    "129w1",
    "0w1",
    "4w",
    "0x",
    "8s200",
    "bit<0>",
    "bit<129>",
    "int<1>",
    "bit<(1 << 100)>",
    "if",
    "else",
    "switch",
    "apply",
    "default",
    "_",
    "const",
    "struct",
    "header",
    "\n#if 1\n",
    "\n#endif\n",
    "\n#define bit\n",
    "\n#undef QUEUES\n",
    "\n#include <core.p4>\n",
    "\"",
    "/*",
    "é",
    "\u{0}",
    "packet_in",
    "Register<bit<8>, bit<8>>(1) r;",
    "typedef",
    "340282366920938463463374607431768211455",
    "99999999999999999999999999999999999999999999",
];

/// A file of dataplane/p4, for a program of its folder or of the one below.
fn load(name: &str) -> Option<String> {
    sources::text(name.trim_start_matches("../")).map(str::to_owned)
}

fn refused(text: &str) -> Option<Error> {
    let program = compile("a.p4", text, &Defines::new(), &load);
    let written = program.and_then(|program| spec::emit(&program, Rounding::Nearest));
    let error = written.err()?;
    let file = &*error.place.file;
    let of = match file {
        "a.p4" => Some(text),
        // Files of the architecture are in the program.
        "core.p4" | "tna.p4" | "v1model.p4" => None,
        name => Some(
            sources::text(name.trim_start_matches("../"))
                .unwrap_or_else(|| panic!("{error}: no such file")),
        ),
    };
    assert!(!error.what.is_empty() && error.place.column >= 1, "{error}");
    if let Some(of) = of {
        let lines = of.split('\n').count();
        let line = error.place.line as usize;
        assert!((1..=lines).contains(&line), "{error}: {lines} lines");
    }
    Some(error)
}

/// Pieces of a text: words, and single signs.
fn pieces(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = match word(first) {
            true => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        all.push(&rest[..end]);
        rest = &rest[end..];
    }
    all
}

#[test]
fn random_edits_of_the_programs_are_accepted_or_refused_with_a_place() {
    let edits: u64 = match std::env::var("CEMARK_EDITS") {
        Ok(edits) => edits.parse().expect("a number"),
        Err(_) => 1_500,
    };
    let programs: Vec<(&str, Vec<&str>)> = sources::FILES
        .iter()
        .map(|(name, text)| (*name, pieces(text)))
        .collect();
    let (mut accepted, mut refusals) = (0u64, 0u64);
    for seed in 0..edits {
        let mut random = SplitMix64::new(seed);
        let mut below = |n: usize| random.below(n as u64) as usize;
        let mut program = programs[below(programs.len())].1.clone();
        for _ in 0..1 + below(4) {
            let at = below(program.len());
            let other = &programs[below(programs.len())].1;
            match below(6) {
                0 => drop(program.remove(at)),
                1 => program.insert(at, program[at]),
                2 => program.insert(at, NASTY[below(NASTY.len())]),
                3 => program[at] = NASTY[below(NASTY.len())],
                4 => program[at] = other[below(other.len())],
                _ => program.truncate(at.max(1)),
            }
        }
        match refused(&program.concat()) {
            Some(_) => refusals += 1,
            None => accepted += 1,
        }
    }
    println!("{edits} edited programs: {accepted} accepted, {refusals} refused with a place");
    assert!(accepted > edits / 20 && refusals > edits / 4);
}

fn says(text: &str, what: &str) {
    let error = refused(text).unwrap_or_else(|| panic!("accepted: {}", &text[..40]));
    assert!(error.to_string().contains(what), "{error}");
}

#[test]
fn what_is_nested_or_repeated_without_end_is_refused() {
    let many = |what: &str| what.repeat(100_000);
    let constant = |value: &str| format!("const bit<8> x = {value};");
    let applied = |what: &str| format!("control c() {{ apply {{ {what} }} }}");
    for text in [
        constant(&many("(")),
        constant(&many("~")),
        constant(&many("(bit<8>)")),
        constant(&many("{")),
        constant(&many("1 ? 1 : ")),
        applied(&many("{")),
        applied(&many("if (true) ")),
        applied(&many("if (true) return; else ")),
        format!("struct s {{ {} x; }}", many("tuple<")),
        format!("struct s {{ bit<{} x; }}", many("(bit<")),
    ] {
        says(&text, "within each other");
    }
    says(&constant(&format!("1{}", many(" + 1"))), "in a row");
    says(&applied(&format!("a{} = 1;", many(".b"))), "in a row");
    says(
        &format!("struct s {{ bit<8>{} x; }}", many("[1]")),
        "in a row",
    );
    says(&format!("#if {}1\n#endif", many("!")), "is not supported");
}

#[test]
fn what_grows_with_each_line_is_refused() {
    let define = |i: u32| format!("#define A{} A{i} A{i}\n", i + 1);
    let text: String = (0..60).map(define).collect();
    says(&format!("{text}A60"), "too long");
    let empty: String = (1..60).map(define).collect();
    says(&format!("#define A1\n{empty}A60"), "too long");
    let pair = |i: u32| format!("struct s{} {{ s{i} a; s{i} b; }}\n", i + 1);
    let pairs: String = (0..40).map(pair).collect();
    for first in ["struct s0 { }", "struct s0 { bit<8> a; }"] {
        says(&format!("{first}\n{pairs}s25 x;"), "structures within");
    }
    says("struct s { s a; }\ns x;", "structures within");
    // Each operand is resolved once, at every level.
    for value in [" + x".repeat(400), "^ ~ (bit<8>) x".repeat(90)] {
        let text = format!("const bit<8> x = 1; const bit<8> y = x {value};");
        says(&text, "no Pipeline");
    }
    // Each `<` may begin type arguments, and is read twice.
    let read_twice = "x < bit<(".repeat(60);
    says(&format!("const bool x = {read_twice}1;"), "");
}
