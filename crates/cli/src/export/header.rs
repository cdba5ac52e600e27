// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scheme as one C header that includes no other file.

use super::{Args, Chosen, Exported, Target, scheme};
use crate::exit::Failure;

/// Headers that are no scheme and that embedders include themselves.
pub(super) const HEADERS: [&str; 2] = ["marker", "round"];

/// The beginning of every header.
pub(crate) const HEADER: &[u8] = b"/* SPDX-License-Identifier: GPL-2.0 OR MIT */\n/*\n * ";

pub(super) struct Header;

impl Target for Header {
    fn name(&self) -> &'static str {
        "header"
    }

    fn about(&self) -> &'static str {
        "C header that includes no other file: for a kernel, a switch, a host stack or BPF"
    }

    fn of_catalogue(&self, name: &str, _: &Args) -> Result<Vec<u8>, Failure> {
        let stem = match HEADERS.contains(&name) {
            true => name,
            false => scheme(name)?.name,
        };
        Ok(cemark_foreign::header(stem)?.into_bytes())
    }

    fn of_scenario(&self, chosen: &Chosen, _: &Args) -> Result<Exported, Failure> {
        let (spec, _) = chosen.scheme()?;
        Ok(Exported {
            bytes: cemark_foreign::header(spec.name)?.into_bytes(),
            notes: vec![chosen.parameters()?],
        })
    }

    fn wrote(&self) -> fn(&[u8]) -> bool {
        |head| head.starts_with(HEADER)
    }
}
