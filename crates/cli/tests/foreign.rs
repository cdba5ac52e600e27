// SPDX-License-Identifier: MIT OR Apache-2.0
//! Markers that are not Rust: replayed, exported, simulated. Needs a C compiler; bytecode is that
//! of `dataplane/bpf`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use cemark_foreign::{Code, Foreign, Object, Shared};
use serde_json::Value;

/// An empty directory that is removed on drop.
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

/// Compiles a C file for this machine, as its comment says.
fn compile(source: &str, out: &str, more: &[&str]) {
    let include = format!("-I{}", root("dataplane/include"));
    let done = Command::new("cc")
        .args(["-O2", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror"])
        .args(more)
        .args([&include, source, "-o", out])
        .output()
        .unwrap_or_else(|e| panic!("cc: {e}"));
    assert!(done.status.success(), "cc: {}", stderr(&done));
}

/// A committed object of `dataplane/bpf/markers`, or the one that `cargo xtask bpf --check` has
/// just made.
fn bytecode(stem: &str) -> String {
    let folder = std::env::var("CEMARK_BPF").unwrap_or_else(|_| root("dataplane/bpf"));
    format!("{folder}/markers/{stem}.o")
}

/// A small run of one load and seed with additional options.
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

/// The results of a scheme, without its name, digest and cost.
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
    let wrong = "[[case]]\nname = \"the tie\"\n\
        steps = [{ now = 150_000, sojourn = 150_000, want = \"instant\" }]\n";
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
    // With parameters from the scenario, which the bytecode must use.
    let k = ["--set", "scheme.DCTCP-RED.k=30pkt"];
    let (rust, bpf) = beside_its_bytecode("threshold", "DCTCP-RED", &k);
    assert_eq!(rust, bpf);
}

#[test]
fn and_so_does_one_that_judges_as_packets_leave() {
    let target = ["--set", "scheme.ECN#.pst_target=50us"];
    let (rust, bpf) = beside_its_bytecode("ecn_sharp", "ECN#", &target);
    // Departures are never computed ahead for a marker outside the catalogue, so packets that are
    // still queued at the end of the run are not yet counted as marked. Every flow sees the same.
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

#[test]
fn an_own_scheme_runs_as_machine_code_and_as_bytecode() {
    let scratch = Scratch::new();
    let so = scratch.file("own.so");
    compile(&root("examples/own_marker.c"), &so, &[]);
    let marker = format!("c:{so}");
    // The second object is the same, with functions that call each other instead of being inlined.
    let [own, calling] = ["own_marker", "calling"].map(|stem| format!("bpf:{}", bytecode(stem)));
    let doc = json(&run(
        &scratch,
        &["--marker", &marker, "--marker", &own, "--marker", &calling],
    ));
    // Each is called by the name in its code, and the second of a name by its file.
    let c = outcome(&doc, "own_marker");
    assert!(c["marks"].as_u64() > Some(1_000), "{c}");
    assert_eq!(c, outcome(&doc, "bpf:own_marker.o"));
    assert_eq!(c, outcome(&doc, "calling"));
    assert_ne!(c["marks"], outcome(&doc, "DCTCP-RED")["marks"]);

    // Another content under the same name is another point.
    let changed = scratch.file("own.c");
    let source = fs::read_to_string(root("examples/own_marker.c")).expect("the example");
    fs::write(
        &changed,
        source.replace("65pkt", "20pkt").replace("40pkt", "10pkt"),
    )
    .expect("a file");
    compile(&changed, &so, &[]);
    let again = json(&run(&scratch, &["--marker", &marker, "--fresh"]));
    assert_ne!(outcome(&again, "own_marker")["marks"], c["marks"]);
}

/// The text of an error on standard error, without line breaks and frames.
fn said(o: &Output) -> String {
    let text = stderr(o).replace(['│', '×', '╰', '├', '─', '▶'], " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs the small scenario with a marker that breaks: it ends at once, says where, and stores
/// nothing of that point. Returns the message.
fn breaks(marker: &str) -> String {
    let scratch = Scratch::new();
    let o = run(&scratch, &["--marker", marker]);
    let said = said(&o);
    assert_eq!(o.status.code(), Some(2), "{said}");
    assert!(o.stdout.is_empty(), "an answer: {said}");
    for word in ["panicked", "RUST_BACKTRACE", "stack backtrace"] {
        assert!(!said.contains(word), "{said}");
    }
    assert!(said.contains("workload.load = 0.6, seed 1"), "{said}");
    // The broken point was not stored: the same command breaks again.
    let again = run(&scratch, &["--marker", marker]);
    assert_eq!(again.status.code(), Some(2), "{}", stderr(&again));
    said
}

/// How each object of `dataplane/bpf/markers/faulty.c` breaks: at its hundredth packet, or at the
/// first event of its kind behind it.
#[test]
fn a_marker_that_breaks_in_mid_run_ends_the_run_with_its_hook_and_packet() {
    for (fault, hook, why, help) in [
        (
            "load",
            "enqueue: packet 100 of its queue",
            "reads 4 bytes at byte 4096 of its block",
            "check pointers",
        ),
        (
            "null",
            "enqueue: packet 100 of its queue",
            "writes 4 bytes at the address 0x0",
            "check pointers",
        ),
        (
            "stack",
            "enqueue: packet 100 of its queue",
            "below the top of its stack",
            "512 bytes of stack",
        ),
        (
            "recursion",
            "enqueue: packet 100 of its queue",
            "calls functions more than 8 deep",
            "write a loop",
        ),
        (
            "helper",
            "enqueue: packet 100 of its queue",
            "calls the helper 5",
            "only its own functions",
        ),
        (
            "verdict",
            "enqueue: packet 100 of its queue",
            "0x7 is no verdict",
            "CEMARK_MARK(reason)",
        ),
        (
            "endless",
            "enqueue: packet 100 of its queue",
            "after 1000000 instructions",
            "bound the loop",
        ),
        (
            "dequeue",
            "dequeue: packet ",
            "reads 4 bytes at byte 4096",
            "check pointers",
        ),
        (
            "emptied",
            "emptied: after packet ",
            "reads 4 bytes at byte",
            "check pointers",
        ),
        (
            "wake",
            "wake: after packet ",
            "reads 4 bytes at byte 4096",
            "check pointers",
        ),
        (
            "clock",
            "next_wake: after packet ",
            "asks for 1000000 ns again",
            "names a later time",
        ),
    ] {
        let said = breaks(&format!("bpf:{}", bytecode(fault)));
        let whole = format!("faulty: workload.load = 0.6, seed 1: faulty: {hook}");
        for part in [&whole, why, help, " ns", "points are finished and kept in"] {
            assert!(said.contains(part), "{fault}: {part} in {said}");
        }
        if hook.starts_with("enqueue") {
            assert!(said.contains("bytes queued before it"), "{fault}: {said}");
        }
    }
}

/// `*when = 1000000` of `clock.o` becomes 2^64 - 1: no time is later, so the marker sleeps.
#[test]
fn a_marker_that_asks_for_the_end_of_time_sleeps() {
    let scratch = Scratch::new();
    let mut bytes = std::fs::read(bytecode("clock")).expect("the object");
    let constant = 1_000_000_i32.to_le_bytes();
    let at: Vec<usize> = (4..bytes.len() - 4)
        // BPF_ALU64 | BPF_MOV | BPF_K
        .filter(|i| bytes[i - 4] == 0xb7 && bytes[*i..i + 4] == constant)
        .collect();
    assert_eq!(at.len(), 1, "one instruction writes it");
    // The instruction extends the sign.
    bytes[at[0]..at[0] + 4].copy_from_slice(&(-1_i32).to_le_bytes());
    let object = scratch.file("never.o");
    std::fs::write(&object, bytes).expect("the object");
    let done = run(&scratch, &["--marker", &format!("bpf:{object}")]);
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    let doc: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let points = doc["points"].as_array().expect("points");
    let slept = points.iter().find(|p| p["scheme"] == "faulty");
    assert!(
        slept.is_some_and(|p| p["marks"].as_u64() > Some(0)),
        "{doc}"
    );
}

#[test]
fn so_does_machine_code_with_a_verdict_that_is_none() {
    let scratch = Scratch::new();
    let so = scratch.file("faulty.so");
    compile(
        &root("dataplane/bpf/markers/faulty.c"),
        &so,
        &["-DCEMARK_FAULT_verdict=1"],
    );
    let said = breaks(&format!("c:{so}"));
    let whole = "faulty: workload.load = 0.6, seed 1: faulty: enqueue: packet 100 of its queue";
    assert!(
        said.contains(whole) && said.contains("0x7 is no verdict"),
        "{said}"
    );
}

#[test]
fn points_that_were_finished_before_a_marker_broke_are_kept() {
    let scratch = Scratch::new();
    let marker = format!("bpf:{}", bytecode("load"));
    let args = ["--marker", &marker, "--jobs", "1"];
    let points = || {
        let o = run(&scratch, &args);
        assert_eq!(o.status.code(), Some(2), "{}", stderr(&o));
        let says = "2 of 3 points are finished and kept in";
        assert!(said(&o).contains(says), "{}", said(&o));
        let folder = fs::read_dir(scratch.0.join("run/points")).expect("points");
        let mut files: Vec<_> = folder
            .map(|e| e.expect("an entry").path())
            .map(|path| (fs::metadata(&path).and_then(|m| m.modified()).ok(), path))
            .collect();
        files.sort();
        files
    };
    // One after the other, so the schemes of the scenario come first; the second time they are not
    // simulated again.
    let first = points();
    assert!(!first.is_empty());
    assert_eq!(points(), first);
}

#[test]
fn a_file_that_is_no_marker_is_the_users_mistake() {
    let scratch = Scratch::new();
    let text = scratch.file("text.o");
    fs::write(&text, "not an object").expect("a file");
    for (marker, says) in [
        (format!("bpf:{text}"), "not an object file"),
        (format!("bpf:{}", bytecode("no_marker")), "CEMARK_MARKER"),
        (format!("bpf:{}", bytecode("global")), "global variable"),
        (format!("c:{text}"), "not a shared object"),
        (format!("bpf:{}", scratch.file("missing.o")), "missing.o"),
        ("python:own".to_owned(), "a marker in Python"),
        ("own.o".to_owned(), "bpf:own.o"),
        ("bpf:".to_owned(), "no file"),
    ] {
        let o = run(&scratch, &["--marker", &marker]);
        assert_eq!(o.status.code(), Some(2), "{marker}: {}", stderr(&o));
        assert!(said(&o).contains(says), "{marker}: {}", said(&o));
    }
}

#[test]
fn every_scheme_is_one_header_that_needs_no_other() {
    let scratch = Scratch::new();
    for spec in cemark_marking::catalogue::deployed() {
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

/// Two exported headers beside each other, and nothing of the repository: a scheme and the entry
/// points make a shared object that decides as the scheme does.
#[test]
fn an_exported_scheme_becomes_a_marker_with_the_exported_entry_points() {
    let scratch = Scratch::new();
    for name in ["tcn", "marker", "round"] {
        let o = cemark(&["export", name, "--out", &scratch.file(&format!("{name}.h"))]);
        assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
    }
    let (source, object) = (scratch.file("tcn.c"), scratch.file("tcn.so"));
    let text =
        "#include \"tcn.h\"\n#include \"round.h\"\n#include \"marker.h\"\nCEMARK_MARKER(tcn);\n";
    fs::write(&source, text).expect("a file");
    let done = Command::new("cc")
        .args([
            "-std=gnu11",
            "-O2",
            "-fPIC",
            "-shared",
            "-Wall",
            "-Wextra",
            "-Werror",
        ])
        .args([&source, "-o", &object])
        .output()
        .expect("a C compiler");
    assert!(done.status.success(), "{}", stderr(&done));
    let shared = Shared::open(std::path::Path::new(&object)).expect("opens");
    assert_eq!(shared.name(), "tcn");
    let (values, queue) = (
        cemark_marking::Values::defaults(&cemark_marking::tcn::SPEC),
        cemark_marking::QueueSpec::fifo(cemark_wire::Rate::gbps(10)),
    );
    let mut marker = Foreign::new(shared, &values, &queue).expect("its interface");
    let mut judge = |wait| {
        use cemark_marking::{At, Marker, Verdict};
        use cemark_wire::Nanos;
        let at = At::departure(Nanos(1_000_000), Nanos(wait), 3_000, 1_500);
        matches!(marker.dequeue(&at), Verdict::Mark(_))
    };
    assert!(!judge(150_000) && judge(150_001));
}

#[test]
fn bytecode_is_exported_without_clang_and_compiled_only_if_asked() {
    let scratch = Scratch::new();
    // No program at all is in this PATH: what is shipped needs none.
    let bare = |args: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_cemark"))
            .args(args)
            .env("PATH", scratch.file(""))
            .env_remove("CLANG")
            .output()
            .expect("the binary")
    };
    for spec in cemark_marking::catalogue::deployed() {
        let object = scratch.file("shipped.o");
        let o = bare(&["export", spec.name, "--as", "bpf", "--out", &object]);
        assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
        let loaded = Object::open(std::path::Path::new(&object));
        assert_eq!(loaded.expect("bytecode").name(), spec.name);
    }
    let o = bare(&["export", "tcn", "--as", "bpf", "--clang", "clang"]);
    assert_eq!(o.status.code(), Some(2));
    for says in [
        "tcn to BPF with `clang`: no such program",
        "install clang",
        "CLANG",
    ] {
        assert!(said(&o).contains(says), "{says}: {}", said(&o));
    }
    for (args, says) in [
        (
            &["export", "marker", "--as", "bpf"][..],
            "marker.h is not a scheme",
        ),
        (&["export", "tcn", "--clang", "clang"], "add --as bpf"),
        (&["export", "markr"], "did you mean `marker`?"),
    ] {
        let o = bare(args);
        assert_eq!(o.status.code(), Some(2), "{args:?}");
        assert!(said(&o).contains(says), "{args:?}: {}", said(&o));
    }
}
