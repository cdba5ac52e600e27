// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program works where there is no checkout: everything that it needs is inside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory outside the checkout that holds nothing but the program; removed on drop.
struct Elsewhere(PathBuf);

impl Elsewhere {
    fn new() -> Self {
        let dir = std::env::temp_dir().join(format!("cemark-alone-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("a temporary directory");
        fs::copy(env!("CARGO_BIN_EXE_cemark"), dir.join("cemark")).expect("a copy");
        Elsewhere(dir)
    }

    /// Runs the copy, and records the files that it opens where `strace` is installed.
    fn cemark(&self, args: &[&str]) -> Output {
        let here = |c: &mut Command| {
            let clean = c.args(args).current_dir(&self.0).env_clear();
            clean.env("PATH", "/usr/bin:/bin").output()
        };
        let traced = ["-f", "-e", "trace=%file", "-o", "opened", "./cemark"];
        let output = here(Command::new("strace").args(traced));
        let output = output.or_else(|_| here(&mut Command::new(self.0.join("cemark"))));
        output.expect("the program runs")
    }

    /// The lines of the last record that name a file of the checkout.
    fn of_checkout(&self) -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let root = root
            .canonicalize()
            .expect("the checkout")
            .display()
            .to_string();
        let opened = fs::read_to_string(self.0.join("opened")).unwrap_or_default();
        let lines = opened.lines().filter(|line| line.contains(&root));
        lines.map(str::to_owned).collect()
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn nothing_of_the_checkout_is_needed() {
    let place = Elsewhere::new();
    let few = ["--set", "workload.flows=40", "--seed", "1", "--jobs", "1"];
    let run = [&["run", "my-fabric.toml", "--out", "out"][..], &few].concat();
    for (args, part) in [
        (&["check", "rtt-variation"][..], "DCTCP-RED-Tail"),
        (&["check", "leafspine-128"], "packet-hops"),
        (&["check", "wide-area", "--seed", "1"], "CUBIC"),
        (
            &["init", "--yes", "--hosts", "4", "--sizes", "facebook-small"],
            "cemark run",
        ),
        (&run, "ECN#"),
        (&["figure", "--list"], "ECNSHARP-T18"),
        // Without simulation; its verdicts are compared with the expected ones.
        (&["figure", "mqecn-numbers"], "by construction"),
        (&["vectors"], "equal"),
        (&["export", "ecn_sharp"], "cemark_ecn_sharp"),
        (
            &["export", "ecn_sharp", "--as", "bpf", "--out", "own.o"],
            "",
        ),
        (&["schemes", "wred"], "drop_probability"),
        (&["theory"], "mq_ecn"),
        (&["help", "glossary"], "packet-hop"),
    ] {
        let o = place.cemark(args);
        let (said, went) = (
            String::from_utf8_lossy(&o.stdout),
            String::from_utf8_lossy(&o.stderr),
        );
        assert_eq!(o.status.code(), Some(0), "{args:?}: {went}");
        assert!(said.contains(part), "{args:?} without {part}: {said}");
        assert_eq!(place.of_checkout(), [""; 0], "{args:?}");
    }
    assert!(place.0.join("out/report.html").exists() && place.0.join("own.o").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn edge_says_where_its_program_comes_from() {
    let dir = std::env::temp_dir().join(format!("cemark-no-edge-{}", std::process::id()));
    fs::create_dir_all(&dir).expect("a temporary directory");
    let program = dir.join("cemark");
    fs::copy(env!("CARGO_BIN_EXE_cemark"), &program).expect("a copy");
    let run = |words: &[&str]| {
        let mut command = Command::new(&program);
        command.arg("edge").args(words).env("PATH", &dir);
        command.output().expect("the program runs")
    };
    let missing = run(&["near", "edge.toml"]);
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert_eq!(missing.status.code(), Some(2), "{said}");
    assert!(
        said.contains("cargo build --release -p cemark-router"),
        "{said}"
    );
    // Beside the program, or in PATH, it gets the words as they are.
    let script = dir.join("cemark-edge");
    fs::write(&script, "#!/bin/sh\necho \"$@\"\nexit 7\n").expect("a script");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&script, mode).expect("a mode");
    let handed = run(&["far", "edge.toml", "--stats", "json"]);
    let _ = fs::remove_dir_all(&dir);
    assert_eq!(handed.status.code(), Some(7));
    assert_eq!(handed.stdout, b"far edge.toml --stats json\n");
}
