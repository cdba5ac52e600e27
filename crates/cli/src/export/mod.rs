// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark export`: a scheme of the catalogue as C or BPF, or a scheme of a scenario as the
//! configuration of a switch. A target is a file and a line of [`ALL`].

mod bpf;
mod chosen;
mod header;
mod p4;
mod switches;
mod tc;

use std::ffi::OsString;
use std::io::{IsTerminal, Write, stdout};
use std::path::PathBuf;

use cemark_marking::{SchemeSpec, catalogue};
use cemark_platform::{Form, SonicForm, SonicSchema};
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser};

use self::chosen::Chosen;
use crate::exit::{Failure, answer, machine, note, user};
use crate::output::{IN_THE_WAY, Replace, put};
use crate::schemes::must_be_deployed;

pub(crate) use self::header::HEADER;

const AFTER: &str = "\
Examples:
  cemark export ecn_sharp --out ecn_sharp.h
  cemark export ecn_sharp --as bpf --out ecn_sharp.o
  cemark export my.toml --scheme TCN --as sonic --ports Ethernet0,Ethernet4 --out tcn.json
  cemark export my.toml --scheme ECN# --as eos

docs/export.md has the targets, what each of them cannot say, and the cost of that.";

/// Arguments of `cemark export`.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// A scheme by any of its names; or `marker`, the entry points for `cemark run --marker`; or
    /// `round`, the round time of a port; or a scenario: a file, or the name of a built-in.
    #[arg(value_name = "NAME|SCENARIO")]
    name: String,
    /// The scheme of a scenario by its label [default: the only one].
    #[arg(long, value_name = "LABEL")]
    scheme: Option<String>,
    /// Target.
    #[arg(long = "as", value_name = "TARGET", default_value = "header", value_parser = names())]
    target: String,
    /// Set a value of the scenario.
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Ports or devices that get it, as the platform writes lists [default: the first port].
    #[arg(long, value_name = "LIST")]
    ports: Option<String>,
    /// Rate of the ports that get it, which names their profile [default: that of the slowest
    /// links].
    #[arg(long, value_name = "RATE", value_parser = crate::quantity::read_rate)]
    rate: Option<u64>,
    /// How SONiC is told.
    #[arg(long, value_enum, value_name = "FORM", default_value = "load")]
    form: OnSonic,
    /// Names of SONiC's thresholds.
    #[arg(long, value_enum, value_name = "SCHEMA", default_value = "legacy")]
    sonic_schema: Schema,
    /// Compile the bytecode with this clang instead of using the bytecode in this program.
    #[arg(long, value_name = "PROGRAM")]
    clang: Option<OsString>,
    /// The file to write [default: standard output].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite the file if it is there and this command did not write it.
    #[arg(long, requires = "out")]
    force: bool,
}

/// How SONiC is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnSonic {
    /// Tables for `config load`.
    Load,
    /// A patch for `config apply-patch`: thresholds of AZURE_LOSSLESS only.
    Patch,
    /// Lines of `ecnconfig` and `sonic-db-cli`.
    Ecnconfig,
}

/// Names of SONiC's thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Schema {
    /// Thresholds of WRED.
    Legacy,
    /// Thresholds of ECN alone, named as in sonic-buildimage pull request 28164.
    Ecn,
    /// Thresholds of ECN alone, named as in the review of sonic-swss pull request 4719.
    Ect,
}

/// A target.
trait Target: Sync {
    /// Word of the target on the command line.
    fn name(&self) -> &'static str;
    /// The target in a few words.
    fn about(&self) -> &'static str;
    /// A scheme of the catalogue, or a header, by its name.
    fn of_catalogue(&self, name: &str, _: &Args) -> Result<Vec<u8>, Failure> {
        scheme(name)?;
        Err(user(
            format!("{name} alone has no thresholds for a link"),
            format!(
                "name a scenario: cemark export my.toml --scheme LABEL --as {}",
                self.name()
            ),
        ))
    }
    /// A scheme of a scenario, with sentences that the text has no place for.
    fn of_scenario(&self, chosen: &Chosen, args: &Args) -> Result<Exported, Failure>;
    /// Whether a file begins as one that this target writes.
    fn wrote(&self) -> fn(&[u8]) -> bool {
        |_| false
    }
}

/// Contents of a file, and sentences for standard error.
struct Exported {
    bytes: Vec<u8>,
    notes: Vec<String>,
}

/// Every target.
static ALL: &[&dyn Target] = &[
    &header::Header,
    &bpf::Bpf,
    &tc::Tc,
    &p4::P4,
    &switches::SONIC,
    &switches::NVUE,
    &switches::EOS,
    &switches::NXOS,
    &switches::OPENCONFIG,
];

/// Words of the targets.
fn names() -> PossibleValuesParser {
    let value =
        |target: &&'static dyn Target| PossibleValue::new(target.name()).help(target.about());
    PossibleValuesParser::new(ALL.iter().map(value))
}

impl Args {
    /// Forms of the platforms.
    fn form(&self) -> Form {
        Form {
            sonic: match self.form {
                OnSonic::Load => SonicForm::Load,
                OnSonic::Patch => SonicForm::Patch,
                OnSonic::Ecnconfig => SonicForm::Lines,
            },
            schema: match self.sonic_schema {
                Schema::Legacy => SonicSchema::Legacy,
                Schema::Ecn => SonicSchema::Ecn,
                Schema::Ect => SonicSchema::Ect,
            },
        }
    }
}

pub(crate) fn export(args: &Args) -> Result<(), Failure> {
    let known = ALL.iter().find(|target| target.name() == args.target);
    let target = known.expect("clap knows the targets");
    if args.clang.is_some() && target.name() != "bpf" {
        return Err(user(
            format!(
                "--clang compiles bytecode, and {} is not compiled",
                target.name()
            ),
            "add --as bpf, or leave --clang out",
        ));
    }
    let by_rate = ["sonic", "nvue", "eos", "openconfig"];
    if args.rate.is_some() && (is_of_catalogue(args) || !by_rate.contains(&target.name())) {
        return Err(user(
            format!(
                "--rate: {} has no profile for each rate of ports",
                target.name()
            ),
            format!(
                "name a scenario, and one of {} with --as",
                by_rate.join(", ")
            ),
        ));
    }
    let exported = match is_of_catalogue(args) {
        true => Exported {
            bytes: target.of_catalogue(&args.name, args)?,
            notes: Vec::new(),
        },
        false => target.of_scenario(&Chosen::of(args)?, args)?,
    };
    for sentence in &exported.notes {
        note(&format!("note: {sentence}"));
    }
    if let Some(path) = &args.out {
        let replace = Replace::ours(args.force, target.wrote());
        return put(path, &exported.bytes, replace, IN_THE_WAY);
    }
    match String::from_utf8(exported.bytes) {
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

/// Whether the name is one of the catalogue, or a header, or no file either.
fn is_of_catalogue(args: &Args) -> bool {
    let scenario = args.name.ends_with(".toml")
        || args.name.contains(['/', '\\'])
        || cemark_scenario::builtins().any(|b| b.name == args.name)
        || args.scheme.is_some();
    let known = catalogue::find(&args.name).is_some() || header::HEADERS.contains(&&args.name[..]);
    known || !scenario
}

fn scheme(name: &str) -> Result<&'static SchemeSpec, Failure> {
    if header::HEADERS.contains(&name) {
        return Err(user(
            format!("{name}.h is not a scheme, so it has no bytecode of its own"),
            "leave --as out, or name a scheme",
        ));
    }
    let spec = catalogue::find(name).ok_or_else(|| {
        let known = catalogue::deployed().map(|s| s.name).chain(header::HEADERS);
        user(
            format!("no marking scheme or header is called `{name}`"),
            cemark_scenario::near(name, known),
        )
    })?;
    must_be_deployed(spec)?;
    Ok(spec)
}
