// SPDX-License-Identifier: MIT OR Apache-2.0
//! The steps of docs/dataplane.md for embedding a scheme in C, followed: the example is built from
//! the exported header alone and marks the packets that the Rust form marks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cemark_marking::{At, Marker, QueueSpec, Values, Verdict, Why, catalogue, ecn_sharp};
use cemark_wire::{Nanos, Rate};

fn tree(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

fn read(path: &str) -> String {
    fs::read_to_string(tree(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// A directory of this test, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("cemark-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary directory");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Compiles a source against the exported headers of `stems`; what it prints.
fn built_and_run(scratch: &Scratch, stems: &[&str], source: &Path) -> String {
    for stem in stems {
        let text = cemark_foreign::header(stem).unwrap_or_else(|e| panic!("{e}"));
        fs::write(scratch.0.join(format!("{stem}.h")), text).expect("a file");
    }
    let program = scratch.0.join("program");
    let done = Command::new("cc")
        .args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(&scratch.0)
        .arg(source)
        .arg("-o")
        .arg(&program)
        .output()
        .expect("a C compiler");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let ran = Command::new(&program).output().expect("the program");
    assert!(ran.status.success(), "{:?}", ran.status);
    String::from_utf8(ran.stdout).expect("text")
}

/// Output of the example, computed with the Rust form.
fn expected() -> String {
    let values = Values::defaults(&ecn_sharp::SPEC)
        .with(&ecn_sharp::SPEC, "ins_target", 100_000)
        .expect("a parameter of ECN#");
    let queue = QueueSpec::fifo(Rate::gbps(10));
    let mut marker = catalogue::build(&ecn_sharp::SPEC, &values, &queue);
    let (mut instant, mut persistent) = (0, 0);
    for n in 0..2_500 {
        let sojourn = if n % 1_000 == 999 { 120_000 } else { 90_000 };
        let at = At::departure(Nanos(n * 1_200), Nanos(sojourn), 112_500, 1_500);
        match marker.dequeue(&at) {
            Verdict::Mark(Why::Instant) => instant += 1,
            Verdict::Mark(Why::Persistent) => persistent += 1,
            _ => {}
        }
    }
    format!("{instant} instant, {persistent} persistent\n")
}

#[test]
fn the_example_marks_what_rust_marks() {
    let scratch = Scratch::new("embedding-c");
    let source = tree("examples/ecn_sharp_fifo.c");
    let printed = built_and_run(&scratch, &["ecn_sharp"], &source);
    assert_eq!(printed, expected());
    let documented = read("docs/dataplane.md");
    assert!(
        documented.contains(printed.trim_end()),
        "docs/dataplane.md does not say that the example prints {printed}"
    );
}

#[test]
fn the_code_in_the_documentation_is_that_of_the_example() {
    let (page, example) = (read("docs/dataplane.md"), read("examples/ecn_sharp_fifo.c"));
    // Without indentation and comments, in order.
    let lines = |text: &str| -> Vec<String> {
        text.lines()
            .map(|line| {
                line.split("/*")
                    .next()
                    .unwrap_or_default()
                    .trim()
                    .to_owned()
            })
            .filter(|line| !line.is_empty() && !line.starts_with('*'))
            .collect()
    };
    let (_, block) = page.split_once("```c\n").expect("a block of C");
    let (block, _) = block.split_once("```").expect("its end");
    let (block, mut rest) = (lines(block), lines(&example).into_iter());
    assert!(block.len() > 8, "{block:?}");
    for line in block {
        assert!(
            rest.any(|l| l == line),
            "examples/ecn_sharp_fifo.c has no `{line}` at its place"
        );
    }
}

#[test]
fn every_scheme_is_configured_from_its_defaults_with_one_field_changed() {
    let scratch = Scratch::new("embedding-all");
    for spec in catalogue::deployed() {
        let (stem, field) = (spec.name, spec.params[0].name);
        let source = scratch.0.join(format!("{stem}.c"));
        let text = format!(
            "#include \"{stem}.h\"\n\
             int main(void)\n\
             {{\n\
             \tstruct cemark_{stem}_config config = CEMARK_{upper}_DEFAULTS;\n\
             \tstruct cemark_queue_spec queue = CEMARK_FIFO(25000000000ull);\n\
             \tstruct cemark_{stem}_params params;\n\
             \tstruct cemark_{stem}_vars vars;\n\
             \tstruct cemark_at joins = cemark_at_arrival(1000, 3000, 1500);\n\
             \tstruct cemark_at leaves = cemark_at_departure(3000, 2000, 1500, 1500);\n\n\
             \tconfig.{field} = 1;\n\
             \tif (cemark_{stem}_configure(&params, &config, &queue))\n\
             \t\treturn 1;\n\
             \tcemark_{stem}_init(&params, &vars);\n\
             \tcemark_{stem}_enqueue(&params, &vars, &joins);\n\
             \tcemark_{stem}_dequeue(&params, &vars, &leaves);\n\
             \treturn 0;\n\
             }}\n",
            upper = stem.to_uppercase()
        );
        fs::write(&source, text).expect("a file");
        assert_eq!(built_and_run(&scratch, &[stem], &source), "");
    }
}
