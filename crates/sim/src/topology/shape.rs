// SPDX-License-Identifier: MIT OR Apache-2.0
//! Questions that every topology answers. Routes, propagation delays, bottlenecks, loads, base RTTs
//! and estimates follow from its hosts, switches and cables.

use super::wiring::Wiring;
use super::{Mistake, TwoSites};

/// A topology as hosts, switches and cables.
///
/// Hosts are counted from zero. Cables between switches are the *inner* links of the fabric,
/// numbered from zero in the order of the wiring.
pub trait Shape {
    /// Values of the keys that do not go together.
    fn mistake(&self) -> Option<Mistake> {
        None
    }

    /// Number of hosts. It may be larger than what a simulation takes, so that a reader can say so.
    fn hosts(&self) -> u64;

    /// Hosts, switches and cables of a topology without a mistake.
    fn wiring(&self) -> Wiring;

    /// The two sites of this topology, if it has edge routers at which middleboxes can be.
    fn two_sites(&self) -> Option<&TwoSites> {
        None
    }
}
