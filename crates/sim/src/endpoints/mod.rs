// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts and their connections: what sends, what receives, when flows start and end.

pub(crate) mod conn;
mod flows;
pub(crate) mod host;
pub(crate) mod offload;
pub(crate) mod rdma;
