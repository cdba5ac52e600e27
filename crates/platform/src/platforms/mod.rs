// SPDX-License-Identifier: MIT OR Apache-2.0
//! Platforms: operating systems of switches whose configurations are read. One folder or file and
//! one line of [`ALL`] each.

mod eos;
mod fix;
mod nvue;
mod nxos;
mod openconfig;
mod recognised;
pub(crate) mod sonic;
mod tc;

use cemark_formats::Fallible;

use crate::document::Document;
use crate::model::Switch;
use crate::wanted::{Form, Unwritable, Wanted, Written};

pub use fix::Fix;
pub use recognised::recognise;

/// A platform.
pub trait Platform: Sync {
    /// Word of the platform on the command line: `sonic`.
    fn name(&self) -> &'static str;
    /// Name of the platform: `SONiC`.
    fn title(&self) -> &'static str;
    /// Files that are read, in a few words.
    fn reads(&self) -> &'static str;
    /// How many marks of this platform a file has: lines that no other platform writes, or 1 for
    /// JSON.
    fn marks(&self, document: &Document) -> usize;
    /// Reads the files of one switch: a switch, or one for each ASIC that has a database.
    ///
    /// # Errors
    /// With index and line where a file is no configuration that a switch could have written.
    fn read(&self, documents: &[&Document]) -> Result<Vec<Switch>, (usize, cemark_formats::Fault)>;
    /// The remedy of a mistake in the platform's words.
    fn remedy(&self, fix: &Fix) -> String;
    /// Wanted marking as a configuration; none for a platform that is only read.
    ///
    /// # Errors
    /// Where the form cannot say what is wanted.
    fn write(&self, _wanted: &Wanted, _form: Form) -> Option<Result<Written, Unwritable>> {
        None
    }
}

/// Every platform, in the order in which a file is offered to them.
pub static ALL: &[&dyn Platform] = &[
    &sonic::Sonic,
    &openconfig::OpenConfig,
    &nvue::Nvue,
    &tc::Tc,
    &nxos::NxOs,
    &eos::Eos,
];

/// A reading with the index of the file.
pub(crate) fn at<T>(file: usize, read: Fallible<T>) -> Result<T, (usize, cemark_formats::Fault)> {
    read.map_err(|fault| (file, fault))
}
