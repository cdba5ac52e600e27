// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scheme as a BPF object.

use super::{Args, Chosen, Exported, Target, scheme};
use crate::exit::Failure;

pub(super) struct Bpf;

impl Target for Bpf {
    fn name(&self) -> &'static str {
        "bpf"
    }

    fn about(&self) -> &'static str {
        "BPF object that `cemark run --marker bpf:FILE` and `cemark vectors --impl bpf` run"
    }

    fn of_catalogue(&self, name: &str, args: &Args) -> Result<Vec<u8>, Failure> {
        object(scheme(name)?.name, args)
    }

    fn of_scenario(&self, chosen: &Chosen, args: &Args) -> Result<Exported, Failure> {
        let (spec, _) = chosen.scheme()?;
        Ok(Exported {
            bytes: object(spec.name, args)?,
            notes: vec![chosen.parameters()?],
        })
    }

    fn wrote(&self) -> fn(&[u8]) -> bool {
        // An ELF object of the machine BPF.
        |head| {
            const MACHINE: [u8; 2] = 247_u16.to_le_bytes();
            head.starts_with(b"\x7fELF") && head.get(18..20) == Some(&MACHINE)
        }
    }
}

fn object(name: &str, args: &Args) -> Result<Vec<u8>, Failure> {
    match &args.clang {
        None => Ok(cemark_foreign::object_file(name)?.into_owned()),
        Some(clang) => Ok(cemark_foreign::compile(name, clang)?),
    }
}
