// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Linux qdisc and its tc plugin take names, ranges and defaults from this catalogue:
//! `dataplane/linux/catalogue.h`. `CEMARK_WRITE=1 cargo test -p cemark-marking linux::`
//! writes it.

use std::fmt::Write;

use cemark_marking::{Kind, ParamSpec, SchemeSpec, catalogue};

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../dataplane/linux/catalogue.h"
);

#[test]
fn the_qdisc_has_the_catalogue_of_rust() {
    let text = header();
    if std::env::var_os("CEMARK_WRITE").is_some() {
        std::fs::write(FILE, &text).expect("a writable checkout");
    }
    let there = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(
        there == text,
        "{FILE} is not what the catalogue says: run \
         CEMARK_WRITE=1 cargo test -p cemark-marking linux::"
    );
}

fn header() -> String {
    let mut out = "/* SPDX-License-Identifier: GPL-2.0 OR MIT */\n\
         /*\n \
          * The catalogue of marking schemes, for the qdisc and its tc plugin. Written by\n \
          * CEMARK_WRITE=1 cargo test -p cemark-marking linux::\n \
          */\n\
         #ifndef CEMARK_CATALOGUE_H\n#define CEMARK_CATALOGUE_H\n\n\
         #include \"catalogue_types.h\"\n"
        .to_owned();
    let _ = writeln!(out, "\n#ifdef __KERNEL__");
    let mut stems: Vec<&str> = catalogue::deployed().map(|s| s.name).collect();
    stems.sort_unstable();
    for stem in stems {
        let _ = writeln!(out, "#include \"cemark/{stem}.h\"");
    }
    let _ = writeln!(out, "#endif");
    let _ = writeln!(out, "\n/* X(stem) for each scheme, in their order. */");
    let _ = writeln!(out, "#define CEMARK_SCHEMES(X) \\");
    let rows: Vec<String> = catalogue::deployed()
        .map(|s| format!("\tX({})", s.name))
        .collect();
    let _ = writeln!(out, "{}", rows.join(" \\\n"));
    for spec in catalogue::deployed() {
        tables(&mut out, spec);
    }
    let _ = writeln!(
        out,
        "\nstatic const struct cemark_scheme cemark_catalogue[] = {{"
    );
    for spec in catalogue::deployed() {
        scheme(&mut out, spec);
    }
    let _ = writeln!(out, "}};\n");
    let _ = writeln!(
        out,
        "#define CEMARK_N_SCHEMES {}\n",
        catalogue::deployed().count()
    );
    let _ = writeln!(out, "#endif");
    out
}

fn tables(out: &mut String, spec: &SchemeSpec) {
    let stem = spec.name;
    let _ = writeln!(
        out,
        "\nstatic const struct cemark_param cemark_{stem}_list[] = {{"
    );
    for p in spec.params {
        param(out, p);
    }
    let _ = writeln!(out, "}};");
    if spec.ordered.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\nstatic const struct cemark_ordered cemark_{stem}_ordered[] = {{"
    );
    for o in spec.ordered {
        let zero = u8::from(o.zero_follows);
        let _ = writeln!(out, "\t{{ {}, {}, {zero} }},", o.low, o.high);
    }
    let _ = writeln!(out, "}};");
}

fn param(out: &mut String, p: &ParamSpec) {
    let (kind, words) = match p.kind {
        Kind::Time => ("TIME", None),
        Kind::Bytes => ("BYTES", None),
        Kind::Fraction { .. } => ("FRACTION", None),
        Kind::Count => ("COUNT", None),
        Kind::Flag => ("FLAG", None),
        Kind::Choice(words) => ("CHOICE", Some(words.join(" "))),
        kind => panic!("the qdisc has no parameters of the kind {kind:?}"),
    };
    let words = words.map_or("NULL".to_owned(), |w| quoted(&w, ""));
    let _ = writeln!(
        out,
        "\t{{ \"{}\", CEMARK_KIND_{kind}, {}ULL, {}ULL, {}ULL,\n\t  {words},\n\
         \t  CEMARK_DOC({}) }},",
        p.name,
        p.default,
        p.min,
        p.max,
        quoted(&doc(p), "\t\t     "),
    );
}

/// tc knows no rate when it reads a length, so lengths are not written as times there.
fn doc(p: &ParamSpec) -> String {
    p.doc
        .replace("A time is read as rate x time.", "")
        .trim()
        .to_owned()
}

fn scheme(out: &mut String, spec: &SchemeSpec) {
    let stem = spec.name;
    let ordered = if spec.ordered.is_empty() {
        "NULL".to_owned()
    } else {
        format!("cemark_{stem}_ordered")
    };
    let _ = writeln!(
        out,
        "\t{{\n\t\t\"{stem}\", {}, {},\n\t\tCEMARK_DOC({}),\n\t\t{}, {}, cemark_{stem}_list, \
         {ordered},\n\t}},",
        quoted(spec.title, ""),
        quoted(&spec.aliases.join(" "), ""),
        quoted(spec.doc, "\t\t\t   "),
        spec.params.len(),
        spec.ordered.len(),
    );
}

/// A C string; a long one in pieces below each other.
fn quoted(text: &str, indent: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut lines = vec![String::new()];
    for word in escaped.split_inclusive(' ') {
        let line = lines.last_mut().expect("one at least");
        if line.len() + word.len() > 68 {
            lines.push(word.to_owned());
        } else {
            line.push_str(word);
        }
    }
    let pieces: Vec<String> = lines.iter().map(|l| format!("\"{l}\"")).collect();
    pieces.join(&format!("\n{indent}"))
}
