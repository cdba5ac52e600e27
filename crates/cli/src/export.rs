// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark export`: a scheme to take away.

use std::io::{IsTerminal, Write, stdout};
use std::path::PathBuf;

use cemark_marking::catalogue;
use clap::ValueEnum;

use crate::exit::{Failure, answer};

/// Arguments of `cemark export`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A scheme, by any of its names.
    scheme: String,
    /// In which form.
    #[arg(long = "as", value_enum, default_value = "header", value_name = "FORM")]
    form: Form,
    /// The file to write [default: standard output].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// One C header that needs no other: for a kernel, a switch, a host stack, BPF.
    Header,
    /// The BPF object that this program replays and simulates.
    Bpf,
}

pub(crate) fn export(args: &Args) -> Result<(), Failure> {
    let spec = catalogue::find(&args.scheme).ok_or_else(|| {
        let known = catalogue::ALL.iter().map(|s| s.name);
        Failure::User(miette::miette!(
            help = cemark_scenario::near(&args.scheme, known),
            "no marking scheme is called `{}`",
            args.scheme
        ))
    })?;
    let bytes = match args.form {
        Form::Header => cemark_conformance::header(spec.name)?.into_bytes(),
        Form::Bpf => cemark_conformance::object_file(spec.name)?.to_vec(),
    };
    if let Some(path) = &args.out {
        return std::fs::write(path, bytes)
            .map_err(|e| Failure::Machine(miette::miette!("{}: {e}", path.display())));
    }
    match String::from_utf8(bytes) {
        Ok(text) => answer(&text),
        Err(_) if stdout().is_terminal() => Err(Failure::User(miette::miette!(
            help = format!("write --out {}.o", spec.name),
            "bytecode is nothing for a terminal"
        ))),
        Err(raw) => stdout()
            .lock()
            .write_all(raw.as_bytes())
            .map_err(|e| Failure::Machine(miette::miette!("cannot write to standard output: {e}"))),
    }
}
