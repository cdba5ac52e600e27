// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schemes for research on every data plane: each command that deploys a scheme refuses them.

use std::path::Path;

use cemark_marking::{SchemeSpec, catalogue};

use crate::common::{cemark, folder, line};

/// Fails unless the command refuses the scheme and names the one that data planes have.
fn refuses(dir: &Path, spec: &SchemeSpec, args: &[&str]) {
    let out = cemark(dir, args);
    let said = line(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{args:?}: {said}");
    assert!(out.stdout.is_empty(), "{args:?}");
    assert!(said.contains(spec.name), "{args:?}: {said}");
    assert!(said.contains("for research"), "{args:?}: {said}");
    let deployed = spec.research_of.expect("a research scheme");
    let named = [
        format!("data planes have {deployed}"),
        format!("marker = \"{deployed}\""),
    ];
    assert!(named.iter().any(|n| said.contains(n)), "{args:?}: {said}");
}

#[test]
fn no_data_plane_has_a_research_scheme() {
    let mut tried = 0;
    for spec in catalogue::ALL.iter().filter(|s| s.research_of.is_some()) {
        let scenario = format!(
            "max-time = \"10ms\"\n[topology]\nkind = \"star\"\nhosts = 3\nrate = \"200Mbps\"\n\
             delay = \"10us\"\n[rtt]\nmodel = \"fixed\"\nrtt = \"1ms\"\n[host]\n\
             preset = \"linux\"\ntso = \"0B\"\n[[workload]]\nkind = \"long\"\n\
             pattern = \"to-one\"\ncount = 2\nreceiver = 2\n[[scheme]]\nmarker = \"{}\"\n",
            spec.name
        );
        let case = "[[case]]\nname = \"a packet\"\nsteps = [{ now = 1, want = \"pass\" }]\n";
        let dir = folder("research", &[("lab.toml", &scenario)]);
        let vectors = dir.join("vectors").join(spec.name);
        std::fs::create_dir_all(&vectors).expect("a folder");
        std::fs::write(vectors.join("ties.toml"), case).expect("a file");
        let mut planes = vec![
            vec!["export", spec.name],
            vec!["export", spec.title],
            vec!["export", spec.name, "--as", "bpf"],
            vec!["export", spec.name, "--as", "bpf", "--clang", "clang"],
            vec!["vectors", "--dir", "vectors", "--impl", "c"],
            vec!["vectors", "--dir", "vectors", "--impl", "bpf"],
            vec!["vectors", "--dir", "vectors", "--impl", "kernel"],
        ];
        if cfg!(target_os = "linux") {
            let rate = ["--rate", "1Gbps", "scheme", spec.name];
            planes.push([&["bpf", "attach", "nowhere"][..], &rate].concat());
            planes.push(vec!["vectors", "--dir", "vectors", "--impl", "tc"]);
            planes.push(vec!["testbed", "run", "lab.toml", "--check"]);
        }
        for args in planes {
            refuses(&dir, spec, &args);
        }
        // The simulator has it.
        let out = cemark(&dir, &["check", "lab.toml"]);
        assert!(out.status.success(), "{}", line(&out.stderr));
        let out = cemark(&dir, &["vectors", "--dir", "vectors"]);
        assert!(out.status.success(), "{}", line(&out.stderr));
        tried += 1;
    }
    assert!(tried >= 1, "the catalogue has schemes for research");
}
