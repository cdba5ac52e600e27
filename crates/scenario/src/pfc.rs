// SPDX-License-Identifier: MIT OR Apache-2.0
//! Priority flow control in `[switch]`.

use cemark_sim::config::{Buffering, Pfc, Policy, QueueConfig, Xoff};

use crate::error::{Fallible, Fault};
use crate::section::{Section, bytes, fraction, number};

/// One in parts of 2^16.
const ONE: f64 = 65_536.0;

/// The keys that begin with `pfc`. They are read also where it is off, so that a scheme or a point
/// of a sweep may have it.
pub(crate) fn pfc(
    s: &mut Section<'_>,
    buffering: &Buffering,
    queues: &mut [QueueConfig],
    mtu: u32,
) -> Fallible<Option<Pfc>> {
    let usual = Pfc::default();
    let alpha = s
        .get("pfc-alpha")
        .map_or(Ok(0.125), |node| number(node, (0.001, 1000.0)))?;
    let xoff = match s.get("pfc-xoff") {
        None => Xoff::Dynamic {
            alpha: (alpha * ONE + 0.5) as u32,
        },
        Some(node) => Xoff::Bytes(bytes(node, None, (1, 1 << 31))? as u32),
    };
    let pfc = Pfc {
        xoff,
        xon_offset: s.bytes("pfc-xon-offset", u64::from(mtu) * 2, (0, 1 << 31))? as u32,
        headroom: s.bytes("pfc-headroom", usual.headroom.into(), (1, 1 << 31))? as u32,
        storm: s.get("pfc-storm").map_or(Ok(usual.storm), fraction)?,
    };
    let node = s.get("pfc");
    let Some(node) = node.filter(|_| s.flag("pfc", false).unwrap_or(true)) else {
        return Ok(None);
    };
    s.flag("pfc", false)?;
    if !matches!(buffering.policy, Policy::Shared | Policy::Dynamic { .. }) {
        return Err(Fault::new(
            node.at,
            "flow control counts what a link brings into the buffer of a switch, and here every port has its own",
        )
        .help("write buffer-policy = \"dynamic\" or \"shared\", and pool = \"16MB\""));
    }
    // 0: what its ports bring, which is not known here.
    let pool = buffering.pool_bytes;
    if let (Some(node), Xoff::Bytes(bytes)) = (s.get("pfc-xoff"), pfc.xoff)
        && (1..=bytes).contains(&pool)
    {
        return Err(Fault::new(
            node.at,
            format!("a switch has {pool} bytes, so that no link ever reaches this XOFF"),
        )
        .help("write less than `pool`, or pfc-alpha for a threshold that follows the free room"));
    }
    if let Some(headroom) = s.get("headroom").filter(|_| buffering.headroom > 0) {
        return Err(Fault::new(
            headroom.at,
            "with flow control every link has a headroom of its own",
        )
        .help("write pfc-headroom = \"...\" for each, or leave it out: it follows from rate, delay and packets"));
    }
    // Nobody said which: all of them.
    if queues.iter().all(|q| !q.lossless) {
        for q in queues {
            q.lossless = true;
        }
    }
    Ok(Some(pfc))
}
