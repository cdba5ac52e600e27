// SPDX-License-Identifier: MIT OR Apache-2.0
//! The marking schemes inside the running kernel against Rust: the golden vectors, then random
//! packets. `dataplane/linux/test/vectors.sh` runs it in a test kernel, which has the module and
//! its test module loaded. The argument: decisions per scheme.

use std::process::ExitCode;

use cemark_conformance::differential::rust_and;
use cemark_foreign::{Implementation, InKernel, build};
use cemark_marking::catalogue;

fn main() -> ExitCode {
    let decisions = std::env::args().nth(1).map_or(Ok(10_000), |n| n.parse());
    match decisions.map_err(|e| format!("decisions per scheme: {e}")) {
        Ok(decisions) => match replay().and_then(|()| random(decisions)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                eprintln!("{why}");
                ExitCode::FAILURE
            }
        },
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn replay() -> Result<(), String> {
    let (mut files, mut cases, mut packets) = (0, 0, 0);
    let mut all = cemark_vectors::builtin()?;
    all.retain(|file| file.scheme.research_of.is_none());
    for file in all {
        let make = |v: &_, q: &_| {
            build(Implementation::Kernel, file.scheme, v, q).map_err(|e| e.to_string())
        };
        let came = file.replay(make, |why| why)?;
        if !came.differ.is_empty() {
            return Err(format!(
                "{}/{}: {}",
                file.scheme.name,
                file.file,
                came.differ.join("\n")
            ));
        }
        files += 1;
        cases += came.cases;
        packets += came.packets;
    }
    println!("vectors: {files} files, {cases} cases, {packets} packets, none differing");
    Ok(())
}

fn random(decisions: u64) -> Result<(), String> {
    let mut all = 0;
    for spec in catalogue::deployed() {
        let code = InKernel::of(spec).map_err(|e| e.to_string())?;
        let agreed = rust_and(&code, spec, 1, decisions).map_err(|e| e.to_string())?;
        println!(
            "{:10} rust = kernel: {} decisions, {} marks, {} drops, {} wake-ups, {} settings; \
             {:016x}",
            spec.name,
            agreed.decisions,
            agreed.marks,
            agreed.drops,
            agreed.wakes,
            agreed.settings,
            agreed.digest
        );
        all += agreed.decisions;
    }
    println!("random: {all} decisions, none differing");
    Ok(())
}
