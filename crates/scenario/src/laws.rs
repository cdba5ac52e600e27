// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `[transport]` says about the laws of the wide area.

use cemark_transport::CubicSpec;

use crate::error::Fallible;
use crate::section::{Section, number};

/// CUBIC's parameters. Read under every control, so that a scheme or a point of a sweep may have
/// another one.
pub(crate) fn cubic(s: &mut Section<'_>, ecn: bool) -> Fallible<CubicSpec> {
    let usual = CubicSpec::rfc(ecn);
    let milli = |n: f64| (n * 1000.0 + 0.5) as u32;
    Ok(CubicSpec {
        ecn,
        c_milli: s.get("cubic-c").map_or(Ok(usual.c_milli), |node| {
            number(node, (0.001, 10.0)).map(milli)
        })?,
        beta_milli: s.get("cubic-beta").map_or(Ok(usual.beta_milli), |node| {
            number(node, (0.1, 0.99)).map(milli)
        })?,
        fast_convergence: s.flag("fast-convergence", usual.fast_convergence)?,
        reno_friendly: s.flag("reno-friendly", usual.reno_friendly)?,
    })
}
