// SPDX-License-Identifier: MIT OR Apache-2.0
//! C functions, bytecode and headers that the build script has compiled and embedded.
#![allow(unsafe_code)] // declarations of the C functions; called in c.rs

use crate::abi::{Call, Functions, QueueView};
use crate::config::Configuration;

include!(concat!(env!("OUT_DIR"), "/gathered.rs"));

/// The C functions of a scheme.
pub(crate) fn twin(stem: &str) -> Option<&'static Functions> {
    TWINS.iter().find(|(s, _)| *s == stem).map(|(_, f)| f)
}

/// The C function behind the tests of a scheme's configuration.
pub(crate) fn configuration(stem: &str) -> Option<Configuration> {
    CONFIGS.iter().find(|(s, _)| *s == stem).map(|(_, f)| *f)
}

/// The BPF objects by scheme, as they are in `dataplane/bpf`.
pub(crate) fn objects() -> &'static [(&'static str, &'static [u8])] {
    OBJECTS
}

/// The C headers of the markers by name, without `.h`, as they are in `dataplane/include/cemark`.
pub fn headers() -> &'static [(&'static str, &'static str)] {
    HEADERS
}
