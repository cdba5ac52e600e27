// SPDX-License-Identifier: MIT OR Apache-2.0
//! Integer rules that every implementation follows exactly: square root, moving average, hash.
/// stub
pub fn stub() {}
