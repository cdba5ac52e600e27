// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tasks of the repository: see [`USAGE`].

mod arrows;
mod bpf;
mod circles;
mod costs;
mod crates;
mod dist;
mod first_minute;
mod instructions;
mod mutants;
mod names;
mod openings;
mod package;
mod pgo;
mod programs;
mod proof;
mod recipes;
mod release;
mod text;
mod tidy;
mod tree;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask TASK
  check              house rules: dependencies of crates and modules, files, bytecode
  text [PATH…]       lines of 100 columns and plain words
  bpf [--check]      write the markers' bytecode; with --check, compare it with clang's
  package            pack the crates that others embed, and build them from the packages
  recipes [NAME]     apply, count, build and run the additions in xtask/recipes
  release            build the program with `--release`, and check it
  dist               build all files of a release in target/publish
  costs [COMMAND]    measure bench/costs.tsv again
  instructions [write]
                     count the instructions of a packet-hop under callgrind and hold them to
                     bench/instructions.tsv, or write that file
  proof [NAME]       run a long proof and write its log; without a name, list the proofs
  pgo                build target/pgo/guided/…/cemark with a profile of the benches
  first-minute       time the first command at a terminal (run by `proof first-minute`)
  mutants [again]    mutation tests of the marking crate (run by `proof mutants`)";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["check"] => {
            for note in proof::stale().into_iter().chain(proof::simulators()) {
                println!("note: {note}");
            }
            arrows::check()
                .and_then(|()| circles::check())
                .and_then(|()| tidy::check())
                .and_then(|()| openings::check())
                .and_then(|()| crates::check())
                .and_then(|()| bpf::fresh())
        }
        ["bpf"] => bpf::write(),
        ["bpf", "--check"] => bpf::check(),
        ["release"] => release::run(),
        ["dist"] => dist::run(),
        ["text", folders @ ..] => text::run(folders),
        ["package"] => package::run(),
        ["recipes"] => recipes::run(None),
        ["recipes", name] => recipes::run(Some(name)),
        ["costs"] => costs::run(""),
        ["costs", words @ ..] => costs::run(&words.join(" ")),
        ["instructions"] => instructions::run(false),
        ["instructions", "write"] => instructions::run(true),
        ["pgo"] => pgo::run(),
        ["first-minute"] => first_minute::run(),
        ["mutants"] => mutants::run(false),
        ["mutants", "again"] => mutants::run(true),
        ["proof"] => {
            println!("{}", proof::list());
            Ok(())
        }
        ["proof", name] => proof::run(name),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}
