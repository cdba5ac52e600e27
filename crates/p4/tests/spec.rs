// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `.spec` for DPDK's software switch. That the switch decides as the model is shown by
//! `dataplane/p4/test/run.sh`, which needs DPDK; here is what can be seen without.

use std::path::Path;

use cemark_p4::{Defines, Rounding, sources, spec};

fn emitted(name: &str, text: &str) -> Result<String, String> {
    let program = sources::of_text(name, text, &Defines::new()).map_err(|e| e.to_string())?;
    spec::emit(&program, Rounding::Nearest).map_err(|e| e.to_string())
}

#[test]
fn the_committed_spec_is_that_of_the_program() {
    let text = sources::text("ecn_sharp.p4").expect("a program");
    let text = emitted("ecn_sharp.p4", text).unwrap_or_else(|e| panic!("{e}"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dataplane/p4/swx/ecn_sharp.spec");
    if std::env::var_os("CEMARK_WRITE").is_some() {
        std::fs::write(&path, &text).expect("a file");
    }
    let committed = std::fs::read_to_string(&path).expect("a committed file");
    assert!(
        committed == text,
        "write it again: CEMARK_WRITE=1 cargo test -p cemark-p4 spec::"
    );
}

#[test]
fn every_program_is_emitted_and_jumps_to_labels_that_are_there() {
    for (name, text) in sources::FILES {
        if !text.contains("main;") {
            continue;
        }
        let spec = emitted(name, text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(spec.contains("\trx m.port\n"), "{name}");
        for block in spec.split("{\n") {
            let lines = || block.lines().map(|line| line.trim_start_matches('\t'));
            let labels: Vec<&str> = lines()
                .filter_map(|l| l.split_once(" : "))
                .map(|l| l.0)
                .collect();
            for line in lines() {
                let op = line.split_once(" : ").map_or(line, |(_, op)| op);
                if let Some(jump) = op.strip_prefix("jmp") {
                    let to = jump.split(' ').nth(1).expect("a label");
                    let places = labels.iter().filter(|label| **label == to).count();
                    assert_eq!(places, 1, "{name}: {line}");
                }
            }
        }
    }
}

#[test]
fn what_swx_cannot_do_is_refused_with_its_place() {
    let whole = sources::text("ecn_sharp.p4").expect("a program");
    for (value, said) in [
        ("now * since", "SWX has no instruction for `*`"),
        ("now / 3", "SWX has no instruction for `/`"),
        ("now << under[4:0]", "a shift by a variable"),
    ] {
        let text = whole.replace("late = earlier - since;", &format!("late = {value};"));
        assert_ne!(text, whole);
        let wrong = emitted("broken.p4", &text).expect_err(value);
        assert!(wrong.starts_with("broken.p4:"), "{wrong}");
        assert!(wrong.contains(said), "{wrong}");
    }
}
