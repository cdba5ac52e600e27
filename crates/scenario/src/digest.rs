// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fingerprints of what a point will simulate: equal on every machine, for every number of jobs and
//! in every folder.

use cemark_sim::Config;
use cemark_sim::workload::Kind;

/// FNV-1a over bytes, 64 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digest(u64);

impl Digest {
    pub(crate) fn new() -> Self {
        Digest(0xcbf2_9ce4_8422_2325)
    }

    #[must_use]
    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self
    }

    /// A word and its end, so that ("ab", "c") differs from ("a", "bc").
    #[must_use]
    pub(crate) fn word(self, word: &str) -> Self {
        self.bytes(word.as_bytes()).bytes(&[0xff])
    }

    #[must_use]
    pub(crate) fn number(self, n: u64) -> Self {
        self.bytes(&n.to_le_bytes())
    }

    pub(crate) fn finish(self) -> u64 {
        self.0
    }
}

/// The canonical text of a configuration: its `Debug` form (field names, integers, shortest exact
/// floats) without the names of size tables, which come from file names and change nothing.
pub(crate) fn canonical(config: &Config) -> String {
    let mut config = config.clone();
    for workload in &mut config.workloads {
        if let Kind::Poisson { sizes, .. } = &mut workload.kind {
            sizes.name.clear();
        }
    }
    format!("{config:?}")
}
