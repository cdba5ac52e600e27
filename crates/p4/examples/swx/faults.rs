// SPDX-License-Identifier: MIT OR Apache-2.0
//! Single faults: each changes one instruction of the `.spec`.

use crate::{Harness, Packets, Result};

/// Instructions whose change makes no difference, and why. Before ` | ` is the instruction in front
/// of it, where there are others alike.
const SAME: &str = include_str!("same.txt");

/// Changes one of `every` instructions at a time, and demands that the packets tell.
pub(crate) fn all(harness: &Harness, text: &str, made: &Packets, every: usize) -> Result<()> {
    harness.run(text, &made.sent, Some(crate::entry()?))?;
    crate::compare(&made.wanted, &harness.came()?)?;
    let (before, apply) = text.split_once("apply {\n").ok_or("there is no apply")?;
    let lines: Vec<&str> = apply.lines().collect();
    let (mut seen, mut same, mut missed) = (0, 0, Vec::new());
    let changes = lines.iter().enumerate().filter_map(|(i, line)| {
        let fault = fault(line)?;
        Some((i, fault))
    });
    for (i, fault) in changes.skip(every / 2).step_by(every) {
        let mut changed: Vec<&str> = lines.clone();
        changed[i] = &fault;
        let text = format!("{before}apply {{\n{}\n", changed.join("\n"));
        let noticed = match harness.again(&text, true) {
            Ok(_) => harness.came()? != made.wanted,
            // SWX refuses the program, or comes to grief in it.
            Err(_) => true,
        };
        let line = lines[i].trim();
        let behind = format!("{} | {line}", lines[i.saturating_sub(1)].trim());
        let known = SAME.lines().any(|known| known == line || known == behind);
        match (noticed, known) {
            (true, _) => seen += 1,
            (false, true) => same += 1,
            (false, false) => missed.push(format!("{}: {line} -> {}", i + 1, fault.trim())),
        }
    }
    println!(
        "faults of one instruction: {seen} noticed, {same} of those that make no difference \
         (same.txt says why), {} missed",
        missed.len()
    );
    match missed.is_empty() {
        true => Ok(()),
        false => Err(format!("not noticed:\n{}", missed.join("\n"))),
    }
}

/// An instruction with one fault.
fn fault(line: &str) -> Option<String> {
    let (label, op) = line.split_once(" : ").unwrap_or(("", line));
    let label = match label {
        "" => String::new(),
        label => format!("{label} : "),
    };
    let (name, rest) = op.trim().split_once(' ')?;
    let other = match name {
        "jmpeq" => "jmpneq",
        "jmpneq" => "jmpeq",
        "jmplt" => "jmpgt",
        "jmpgt" => "jmplt",
        "jmpv" => "jmpnv",
        "jmpnv" => "jmpv",
        "add" => "sub",
        "sub" => "add",
        "shl" => "shr",
        "shr" => "shl",
        "rx" | "tx" => return None,
        // It is left out: this does nothing.
        _ => return Some(format!("\t{label}or m.port 0")),
    };
    Some(format!("\t{label}{other} {rest}"))
}
