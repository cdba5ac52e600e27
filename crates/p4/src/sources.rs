// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs of `dataplane/p4`, as they are handed out.

use std::sync::Arc;

use crate::ir::Program;
use crate::{Defines, Error, compile};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../dataplane/p4/", $name)))),*]
    };
}

/// File names and texts.
pub const FILES: &[(&str, &str)] = files![
    "headers.p4",
    "write_ce.p4",
    "switch.p4",
    "ecn_sharp.p4",
    "tcn.p4",
    "threshold.p4",
    "cedm.p4",
    "v1model/ecn_sharp.p4",
];

/// The text of a file of `dataplane/p4`.
pub fn text(name: &str) -> Option<&'static str> {
    FILES
        .iter()
        .find(|(n, _)| *n == name)
        .map(|(_, text)| *text)
}

/// A program of `dataplane/p4` with these constants.
///
/// # Errors
///
/// Where a constant makes it wrong.
///
/// # Panics
///
/// If there is no such file.
pub fn program(name: &str, defines: &Defines) -> Result<Arc<Program>, Error> {
    let text = text(name).unwrap_or_else(|| panic!("there is no dataplane/p4/{name}"));
    of_text(name, text, defines)
}

/// Another program that includes files of `dataplane/p4`.
///
/// # Errors
///
/// Where it is wrong.
pub fn of_text(name: &str, text: &str, defines: &Defines) -> Result<Arc<Program>, Error> {
    let load = |name: &str| self::text(name).map(str::to_owned);
    compile(name, text, defines, &load).map(Arc::new)
}
