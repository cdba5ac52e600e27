// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark export`: a scheme as C or BPF, for use elsewhere.

use std::ffi::OsString;
use std::io::{IsTerminal, Write, stdout};
use std::path::PathBuf;

use cemark_marking::{SchemeSpec, catalogue};
use clap::ValueEnum;

use crate::exit::{Failure, answer, machine, user};
use crate::output::{IN_THE_WAY, Replace, put};
use crate::schemes::must_be_deployed;

/// Headers that are no scheme and that embedders include themselves.
const HEADERS: [&str; 2] = ["marker", "round"];

/// Arguments of `cemark export`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A scheme by any of its names; or `marker`, the entry points for `cemark run --marker`; or
    /// `round`, the round time of a port.
    #[arg(value_name = "NAME")]
    name: String,
    /// Form of the file.
    #[arg(long = "as", value_enum, default_value = "header", value_name = "FORM")]
    form: Form,
    /// Compile the bytecode with this clang instead of using the bytecode in this program.
    #[arg(long, value_name = "PROGRAM")]
    clang: Option<OsString>,
    /// The file to write [default: standard output].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite the file if it is there and is not such a header or object.
    #[arg(long, requires = "out")]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// C header that includes no other file: for a kernel, a switch, a host stack or BPF.
    Header,
    /// The BPF object that `cemark run --marker bpf:FILE` and `cemark vectors --impl bpf` run.
    Bpf,
}

/// How every header begins.
pub(crate) const HEADER: &[u8] = b"/* SPDX-License-Identifier: GPL-2.0 OR MIT */\n/*\n * ";

pub(crate) fn export(args: &Args) -> Result<(), Failure> {
    if args.clang.is_some() && args.form == Form::Header {
        return Err(user(
            "--clang compiles bytecode, and a header is not compiled",
            "add --as bpf, or leave --clang out",
        ));
    }
    let bytes = match (args.form, &args.clang) {
        (Form::Header, _) => cemark_foreign::header(stem(&args.name)?)?.into_bytes(),
        (Form::Bpf, None) => cemark_foreign::object_file(scheme(&args.name)?.name)?.into_owned(),
        (Form::Bpf, Some(clang)) => cemark_foreign::compile(scheme(&args.name)?.name, clang)?,
    };
    if let Some(path) = &args.out {
        let known: fn(&[u8]) -> bool = match args.form {
            Form::Header => |head: &[u8]| head.starts_with(HEADER),
            Form::Bpf => bpf_object,
        };
        return put(path, &bytes, Replace::ours(args.force, known), IN_THE_WAY);
    }
    match String::from_utf8(bytes) {
        Ok(text) => answer(&text),
        Err(_) if stdout().is_terminal() => Err(user(
            "bytecode is not written to a terminal",
            format!("write --out {}.o", args.name),
        )),
        Err(raw) => stdout()
            .lock()
            .write_all(raw.as_bytes())
            .map_err(|e| machine(format!("cannot write to standard output: {e}"))),
    }
}

/// Whether a file begins as an ELF object of the machine BPF does.
fn bpf_object(head: &[u8]) -> bool {
    const MACHINE: [u8; 2] = 247_u16.to_le_bytes();
    head.starts_with(b"\x7fELF") && head.get(18..20) == Some(&MACHINE)
}

/// The stem of the header with this name.
fn stem(name: &str) -> Result<&str, Failure> {
    match HEADERS.contains(&name) {
        true => Ok(name),
        false => scheme(name).map(|spec| spec.name),
    }
}

fn scheme(name: &str) -> Result<&'static SchemeSpec, Failure> {
    if HEADERS.contains(&name) {
        return Err(user(
            format!("{name}.h is not a scheme, so it has no bytecode of its own"),
            "leave --as bpf out, or name a scheme",
        ));
    }
    let spec = catalogue::find(name).ok_or_else(|| {
        let known = catalogue::deployed().map(|s| s.name).chain(HEADERS);
        user(
            format!("no marking scheme or header is called `{name}`"),
            cemark_scenario::near(name, known),
        )
    })?;
    must_be_deployed(spec)?;
    Ok(spec)
}
