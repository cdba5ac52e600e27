// SPDX-License-Identifier: MIT OR Apache-2.0
//! A pair of routers over a channel of this process: the traps of real networks, attackers, and
//! failures. Times are arguments, so that nothing here waits.

mod attacks;
mod failures;
mod packets;
mod traps;
mod world;
