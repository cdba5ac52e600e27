// SPDX-License-Identifier: MIT OR Apache-2.0
//! House checks (`cargo xtask check`), long proofs (`cargo xtask proof NAME`) and the one that
//! needs a program of its own (`cargo xtask mutants`, run by `proof mutants`); the markers'
//! bytecode (`cargo xtask bpf`); the binary to hand out (`cargo xtask release`); what runs take
//! (`cargo xtask costs`).

mod arrows;
mod bpf;
mod costs;
mod mutants;
mod package;
mod proof;
mod recipes;
mod release;
mod text;
mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["check"] => {
            for note in proof::stale() {
                println!("note: {note}");
            }
            arrows::check()
                .and_then(|()| tidy::check())
                .and_then(|()| bpf::fresh())
        }
        ["bpf"] => bpf::write(),
        ["bpf", "--check"] => bpf::check(),
        ["release"] => release::run(),
        ["text", folders @ ..] => text::run(folders),
        ["package"] => package::run(),
        ["recipes"] => recipes::run(),
        ["costs"] => costs::run(""),
        ["costs", words @ ..] => costs::run(&words.join(" ")),
        ["mutants"] => mutants::run(false),
        ["mutants", "again"] => mutants::run(true),
        ["proof"] => {
            println!("{}", proof::list());
            Ok(())
        }
        ["proof", name] => proof::run(name),
        _ => Err(
            "usage: cargo xtask check | cargo xtask bpf [--check] | cargo xtask release | cargo xtask costs [COMMAND] | cargo xtask mutants [again] | cargo xtask proof [NAME]"
                .into(),
        ),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}
