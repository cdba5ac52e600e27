// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of schemes.
/// stub
pub fn stub() {}
