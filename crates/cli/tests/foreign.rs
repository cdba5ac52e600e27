// SPDX-License-Identifier: MIT OR Apache-2.0
//! Markers that are not Rust: replayed, exported, simulated. Needs a C compiler and clang, as `.ci/run` installs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// An empty directory that goes away with the value.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "cemark-foreign-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a temporary directory");
        Scratch(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn root(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join(path).display().to_string()
}

fn cemark(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cemark"))
        .args(args)
        .output()
        .expect("the program runs")
}

fn json(o: &Output) -> Value {
    assert_eq!(o.status.code(), Some(0), "{}", stderr(o));
    serde_json::from_slice(&o.stdout).expect("one JSON document")
}

fn stderr(o: &Output) -> String {
    String::from_utf8_lossy(&o.stderr).into_owned()
}

/// Compiles a C file as its comment says: for this machine into `.so`, with clang for BPF into `.o`.
fn compile(source: &str, out: &str) {
    let include = format!("-I{}", root("dataplane/include"));
    let (compiler, args) = if out.ends_with(".so") {
        ("cc", vec!["-O2", "-fPIC", "-shared"])
    } else {
        ("clang", vec!["-O2", "-target", "bpf", "-mcpu=v3", "-c"])
    };
    let done = Command::new(compiler)
        .args(args)
        .args(["-Wall", "-Wextra", "-Werror", &include, source, "-o", out])
        .output()
        .unwrap_or_else(|e| panic!("{compiler}: {e}"));
    assert!(done.status.success(), "{compiler}: {}", stderr(&done));
}

/// A small run of one load and seed with these options more.
fn run(scratch: &Scratch, more: &[&str]) -> Output {
    let (file, out) = (
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/small.toml"),
        scratch.file("run"),
    );
    let file = file.display().to_string();
    let usual = [
        "run",
        &file,
        "--out",
        &out,
        "--format",
        "json",
        "--seed",
        "1",
        "--set",
        "workload.load=0.6",
    ];
    cemark(&[&usual, more].concat())
}

/// What a scheme came to, without its name, its fingerprint and what it cost.
fn outcome(doc: &Value, scheme: &str) -> Value {
    let points = doc["points"].as_array().expect("points");
    let mut point = points
        .iter()
        .find(|p| p["scheme"] == scheme)
        .unwrap_or_else(|| panic!("no {scheme}"))
        .clone();
    let fields = point.as_object_mut().expect("fields");
    for other in ["scheme", "cpu_seconds"] {
        assert!(fields.remove(other).is_some(), "{other}");
    }
    point
}

#[test]
fn every_form_gives_the_golden_answers() {
    for form in ["rust", "c", "bpf"] {
        let doc = json(&cemark(&["vectors", "--impl", form, "--format", "json"]));
        assert_eq!((&doc["schema"], &doc["impl"]), (&1.into(), &form.into()));
        let files = doc["files"].as_array().expect("files");
        assert!(files.len() >= 12);
        for file in files {
            assert_eq!(file["verdict"], "equal", "{file}");
            assert!(
                file["cases"].as_u64() > Some(0) && file["packets"].as_u64() > Some(0),
                "{file}"
            );
        }
    }
}

#[test]
fn a_wrong_answer_is_exit_code_1_and_named() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.0.join("tcn")).expect("a folder");
    let wrong = "[[case]]\nname = \"the tie\"\nsteps = [{ now = 150_000, sojourn = 150_000, want = \"instant\" }]\n";
    fs::write(scratch.0.join("tcn/wrong.toml"), wrong).expect("a file");
    let o = cemark(&["vectors", "--dir", &scratch.file("")]);
    assert_eq!(o.status.code(), Some(1), "{}", stderr(&o));
    let table = String::from_utf8_lossy(&o.stdout).into_owned();
    assert!(
        table.contains("wrong.toml") && table.contains("differs"),
        "{table}"
    );
    assert!(
        table.contains("the tie: step 1: wants Instant, came Pass"),
        "{table}"
    );
}

#[test]
fn folders_that_hold_no_vectors_are_the_users_mistake() {
    let scratch = Scratch::new();
    for dir in [scratch.file(""), scratch.file("missing")] {
        let o = cemark(&["vectors", "--dir", &dir]);
        assert_eq!(o.status.code(), Some(2), "{}", stderr(&o));
    }
    fs::create_dir(scratch.0.join("no_scheme")).expect("a folder");
    let o = cemark(&["vectors", "--dir", &scratch.file("")]);
    assert!(stderr(&o).contains("no_scheme"), "{}", stderr(&o));
}

/// Runs a scheme beside its own bytecode.
fn beside_its_bytecode(stem: &str, label: &str, more: &[&str]) -> (Value, Value) {
    let scratch = Scratch::new();
    let object = scratch.file("scheme.o");
    let o = cemark(&["export", stem, "--as", "bpf", "--out", &object]);
    assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
    let marker = format!("bpf:{object}");
    let doc = json(&run(&scratch, &[&["--marker", &marker], more].concat()));
    let (rust, bpf) = (outcome(&doc, label), outcome(&doc, "bpf:scheme.o"));
    assert!(rust["marks"].as_u64() > Some(1_000), "{rust}");
    (rust, bpf)
}

#[test]
fn the_bytecode_simulates_exactly_as_the_scheme_it_was_made_from() {
    // With parameters of the scenario's own, which the bytecode must take over.
    let k = ["--set", "scheme.DCTCP-RED.k=30pkt"];
    let (rust, bpf) = beside_its_bytecode("threshold", "DCTCP-RED", &k);
    assert_eq!(rust, bpf);
}

#[test]
fn and_so_does_one_that_judges_as_packets_leave() {
    let target = ["--set", "scheme.ECN#.pst_target=50us"];
    let (rust, bpf) = beside_its_bytecode("ecn_sharp", "ECN#", &target);
    // A marker that is not of the catalogue never has its departures computed ahead, so what is still in a queue as the run ends is
    // not counted as marked yet; what every flow met is the same.
    for field in [
        "fct_us",
        "slowdown",
        "drops",
        "timeouts",
        "retransmissions",
        "packet_hops",
        "simulated_seconds",
    ] {
        assert_eq!(rust[field], bpf[field], "{field}");
    }
}

/// Two functions that clang must not inline.
const OUT_OF_LINE: &str = "static __attribute__((noinline)) bool from(u32 threshold, u32 length)
{
	return length >= threshold;
}
static __attribute__((noinline)) u32 cemark_own_marker_enqueue";

#[test]
fn a_scheme_of_ones_own_runs_as_machine_code_and_as_bytecode() {
    let scratch = Scratch::new();
    let (so, o) = (scratch.file("own.so"), scratch.file("own.o"));
    for out in [&so, &o] {
        compile(&root("examples/own_marker.c"), out);
    }
    let (c, bpf) = (format!("c:{so}"), format!("bpf:{o}"));
    let doc = json(&run(&scratch, &["--marker", &c, "--marker", &bpf]));
    let (c, bpf) = (outcome(&doc, "c:own.so"), outcome(&doc, "bpf:own.o"));
    assert!(c["marks"].as_u64() > Some(1_000), "{c}");
    assert_eq!(c, bpf);
    assert_ne!(c["marks"], outcome(&doc, "DCTCP-RED")["marks"]);

    // The same with functions that are called, one from another, and not part of their callers.
    let source = fs::read_to_string(root("examples/own_marker.c")).expect("the example");
    let calling = source
        .replace("CEMARK_FN u32 cemark_own_marker_enqueue", OUT_OF_LINE)
        .replace(
            "at->queue_bytes >= p->high",
            "from(p->high, at->queue_bytes)",
        );
    let (file, called) = (scratch.file("calling.c"), scratch.file("calling.o"));
    fs::write(&file, calling).expect("a file");
    compile(&file, &called);
    let doc = json(&run(
        &scratch,
        &["--marker", &format!("bpf:{called}"), "--fresh"],
    ));
    assert_eq!(outcome(&doc, "bpf:calling.o"), c);

    // Another content under the same name is another point.
    let changed = scratch.file("own.c");
    fs::write(&changed, source.replace("65 *", "20 *")).expect("a file");
    compile(&changed, &so);
    let again = json(&run(&scratch, &["--marker", &format!("c:{so}"), "--fresh"]));
    assert_ne!(outcome(&again, "c:own.so")["marks"], c["marks"]);
}

#[test]
fn a_file_that_is_no_marker_is_the_users_mistake() {
    let scratch = Scratch::new();
    let text = scratch.file("text.o");
    fs::write(&text, "not an object").expect("a file");
    let (empty, object, global) = (
        scratch.file("empty.c"),
        scratch.file("empty.o"),
        scratch.file("global.o"),
    );
    fs::write(&empty, "int nothing;\n").expect("a file");
    compile(&empty, &object);
    let counting = fs::read_to_string(root("examples/own_marker.c"))
        .expect("the example")
        .replace(
            "if (at->queue_bytes >= p->high)",
            "static u32 seen;\n\tif (++seen > p->high)",
        );
    let counter = scratch.file("global.c");
    fs::write(&counter, counting).expect("a file");
    compile(&counter, &global);
    for (marker, says) in [
        (format!("bpf:{text}"), "not an object file"),
        (format!("bpf:{object}"), "CEMARK_MARKER"),
        (format!("bpf:{global}"), "global variable"),
        (format!("c:{text}"), "cannot be opened"),
        (format!("bpf:{}", scratch.file("missing.o")), "missing.o"),
        ("python:own.py".to_owned(), "bpf:own.o"),
        ("bpf:".to_owned(), "no file"),
    ] {
        let o = run(&scratch, &["--marker", &marker]);
        assert_eq!(o.status.code(), Some(2), "{marker}: {}", stderr(&o));
        // The report is broken into lines.
        let said: String = stderr(&o)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .replace("│ ", "");
        assert!(said.contains(says), "{marker}: {said}");
    }
}

#[test]
fn every_scheme_is_one_header_that_needs_no_other() {
    let scratch = Scratch::new();
    for spec in cemark_marking::catalogue::ALL {
        let header = scratch.file(&format!("{}.h", spec.name));
        let o = cemark(&["export", spec.name]);
        assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
        fs::write(&header, &o.stdout).expect("a file");
        let source = scratch.file("one.c");
        fs::write(&source, format!("#include \"{}.h\"\n", spec.name)).expect("a file");
        let done = Command::new("cc")
            .args([
                "-std=gnu11",
                "-ffreestanding",
                "-nostdinc",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-fsyntax-only",
                &source,
            ])
            .output()
            .expect("a C compiler");
        assert!(done.status.success(), "{}: {}", spec.name, stderr(&done));
    }
    assert_eq!(cemark(&["export", "no-such-scheme"]).status.code(), Some(2));
}
