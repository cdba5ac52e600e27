// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark p4`: programs are written for DPDK's switch or refused with a place, parameters become
//! table entries.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

fn cemark(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cemark"))
        .args(args)
        .output()
        .expect("the program")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_word_that_is_no_command_of_p4_is_answered_with_those_that_are() {
    let o = cemark(&["p4", "tabels"]);
    assert_eq!(o.status.code(), Some(2));
    assert!(
        says(&o.stderr, "there is no command `tabels`"),
        "{}",
        text(&o.stderr)
    );
    assert!(says(&o.stderr, "`tables`"), "{}", text(&o.stderr));
}

#[test]
fn a_program_is_written_for_dpdk_s_switch_as_it_is_committed() {
    let program = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../dataplane/p4/ecn_sharp.p4"
    );
    let o = cemark(&["p4", "spec", program]);
    assert_eq!(o.status.code(), Some(0), "{}", text(&o.stderr));
    let committed = include_str!("../../../dataplane/p4/swx/ecn_sharp.spec");
    assert!(text(&o.stdout) == committed);
    let targets = ["-DINS_TARGET=300000", "-DPST_TARGET=9999"];
    let o = cemark(&["p4", "spec", program, targets[0], targets[1]]);
    assert!(text(&o.stdout).contains("set_targets args ins 0x493e0 pst 9999\n"));
}

/// Whether a message says something, wherever its lines break.
fn says(message: &[u8], what: &str) -> bool {
    let plain = |text: &str| text.replace(|c: char| c.is_whitespace() || c == '│', "");
    plain(&text(message)).contains(&plain(what))
}

/// A file in the test's own folder.
fn file(name: &str, content: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("p4");
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(&path, content).expect("a file");
    path.display().to_string()
}

const CONTROL: &str = include_str!("../../../dataplane/p4/control.toml");

/// The real compiler checks a program.
#[test]
fn the_check_of_a_program_is_p4c_s() {
    for words in [&["p4", "check"][..], &["p4", "check", "a.p4", "--parse"]] {
        let o = cemark(words);
        assert_eq!(o.status.code(), Some(2), "{words:?}");
        for said in ["there is no command `check`", "p4c", "docs/p4.md"] {
            assert!(says(&o.stderr, said), "{said}: {}", text(&o.stderr));
        }
    }
}

/// An included file is looked for beside the program only, as a compiler does.
#[test]
fn a_file_that_is_not_beside_the_program_is_not_included() {
    let whole = include_str!("../../../dataplane/p4/ecn_sharp.p4");
    let o = cemark(&["p4", "spec", &file("alone/ecn_sharp.p4", whole)]);
    assert_eq!(o.status.code(), Some(2));
    assert!(says(&o.stderr, "alone/headers.p4"), "{}", text(&o.stderr));
}

#[test]
fn a_program_that_is_wrong_is_refused_with_its_place() {
    for (name, program, said) in [
        (
            "syntax.p4",
            "header h {\n  bit<8> a\n}\n",
            "syntax.p4:3:1: wants `;`",
        ),
        ("empty.p4", "#include <tna.p4>\n", "there is no Pipeline"),
        (
            "include.p4",
            "\n#include \"no.p4\"\n",
            "include.p4:2:1: there is no file",
        ),
    ] {
        let o = cemark(&["p4", "spec", &file(name, program)]);
        assert_eq!(o.status.code(), Some(2), "{name}");
        assert!(says(&o.stderr, said), "{}", text(&o.stderr));
    }
    let o = cemark(&["p4", "spec", "/nonexistent.p4"]);
    assert_eq!(o.status.code(), Some(2));
}

#[test]
fn parameters_become_constants_and_entries() {
    let o = cemark(&["p4", "tables", &file("control.toml", CONTROL)]);
    let out = text(&o.stdout);
    assert_eq!(o.status.code(), Some(0), "{}", text(&o.stderr));
    // 195 ticks; port 3, queue 1 is 3 * 8 + 1.
    for line in [
        "PST_INTERVAL=195",
        "LAST_COUNT=415",
        "ins = 200000",
        "queue = 25",
        "pst = 40000",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
    let slower = CONTROL.replace("pipeline = \"0ns\"", "pipeline = \"400ns\"");
    let o = cemark(&[
        "p4",
        "tables",
        &file("slower.toml", &slower),
        "--format",
        "json",
    ]);
    assert!(text(&o.stdout).contains("200400"), "{}", text(&o.stdout));
}

#[test]
fn a_mistake_in_the_parameters_says_what_to_write() {
    for (name, from, to, said) in [
        ("unit.toml", "\"200us\"", "\"200\"", "a number with one of"),
        ("port.toml", "port = 3", "port = 128", "ports 0 to 127"),
        (
            "short.toml",
            "pst_interval = \"200us\"",
            "pst_interval = \"1us\"",
            "at least 5us",
        ),
        (
            "key.toml",
            "pst_target = \"85us\"",
            "target = \"85us\"",
            "target",
        ),
    ] {
        let o = cemark(&["p4", "tables", &file(name, &CONTROL.replace(from, to))]);
        assert_eq!(o.status.code(), Some(2), "{name}");
        assert!(says(&o.stderr, said), "{}", text(&o.stderr));
    }
}
