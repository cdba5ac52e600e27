// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which program runs, and how it was called.

use cemark_report::Provenance;

/// Version, simulator and command line: for manifests, and to recognise points of another one.
pub fn provenance(command: Vec<String>) -> Provenance {
    Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: SIMULATOR.to_owned(),
        command,
    }
}

/// A fingerprint of the sources that can change a result, 16 hex digits (`build.rs`). Points that
/// another simulator stored are run again, because its results may differ.
pub const SIMULATOR: &str = env!("CEMARK_SIMULATOR");
