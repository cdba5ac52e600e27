// SPDX-License-Identifier: MIT OR Apache-2.0
//! What reads or changes traffic on its way between two sites: DCIB's routers, a filter of
//! duplicate ACKs, a proxy.

pub(crate) mod dupacks;
pub(crate) mod edges;
pub(crate) mod pep;
