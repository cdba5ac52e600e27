// SPDX-License-Identifier: MIT OR Apache-2.0
//! Priority flow control in `[switch]`.

use cemark_sim::config::{Buffering, Pfc, QueueConfig, Xoff};
use cemark_wire::Picos;

use crate::error::{Fallible, Fault};
use crate::key::{Key, keys};
use crate::section::Section;
use crate::switch::factor;

/// The factor 1, in parts of 2^16.
const ONE: f64 = 65_536.0;

keys! {
    /// The keys of priority flow control.
    PFC_KEYS:
    PFC: bool = Key::flag("pfc").usual("false").doc(
        "priority flow control for the lossless queues, or for all where none is `lossless` \
         ([pfc.md](pfc.md)); needs `buffer-policy` `shared`, `dynamic`, `abm` or \
         `reverie`",
    );
    ALPHA: f64 = Key::number("pfc-alpha", 0.001, 1000.0).usual("0.125").doc(
        "a link is paused when its packets in the buffer exceed this factor times the free part of \
         the pool",
    );
    DYNAMIC_TH: f64 = Key::number("pfc-dynamic-th", -9.0, 9.0).follows("`pfc-alpha`").doc(
        "instead of `pfc-alpha`, the whole exponent n of a priority group's `dynamic_th`: the \
         factor is 2^n",
    );
    XOFF: u32 = Key::bytes("pfc-xoff", 1, 1 << 31).follows("`pfc-alpha`").doc(
        "instead of `pfc-alpha`, a fixed threshold: a link is paused when its packets in the \
         buffer exceed this many bytes",
    );
    XON_OFFSET: u32 = Key::bytes("pfc-xon-offset", 0, 1 << 31).follows("2 packets")
        .doc("the link may resume when it is this many bytes below the threshold");
    HEADROOM: u32 = Key::bytes("pfc-headroom", 1, 1 << 31)
        .follows("from rate, delay, reaction and packets")
        .doc("headroom of each link and lossless queue, on top of the pool");
    REACTION: Picos = Key::time("pfc-reaction").usual("0").doc(
        "time that a port or NIC takes to obey a pause frame, or one that ends a pause, after it \
         has arrived; the headroom that is computed covers it",
    );
    STORM: f64 = Key::fraction("pfc-storm").usual("10%")
        .doc("a port that is paused for this share of the time or more is a warning");
}

/// The keys that begin with `pfc`. They are read even where it is off, so that a scheme or a point
/// of a sweep may turn it on.
pub(crate) fn pfc(
    s: &mut Section<'_>,
    buffering: &Buffering,
    queues: &mut [QueueConfig],
    mtu: u32,
) -> Fallible<Option<Pfc>> {
    let alpha = factor(s, &ALPHA, &DYNAMIC_TH)?.unwrap_or(0.125);
    let xoff = match s.given(&XOFF)? {
        None => Xoff::Dynamic {
            alpha: (alpha * ONE + 0.5) as u32,
        },
        Some(bytes) => Xoff::Bytes(bytes),
    };
    let pfc = Pfc {
        xoff,
        xon_offset: s.read_or(&XON_OFFSET, mtu * 2)?,
        // 0: the simulator computes it.
        headroom: s.read_or(&HEADROOM, 0)?,
        reaction: s.read(&REACTION)?,
        storm: s.read(&STORM)?,
    };
    let on = s.read(&PFC)?;
    let Some(node) = s.node(&PFC).filter(|_| on) else {
        return Ok(None);
    };
    if !buffering.policy.is_shared() {
        return Err(Fault::new(
            node.at,
            "flow control counts the packets of each link in the shared buffer of a switch, and \
             here every port has a buffer of its own",
        )
        .help("write buffer-policy = \"dynamic\" or \"shared\", and pool = \"16MB\""));
    }
    // 0: the sum of the ports' buffers, which is not known here.
    let pool = buffering.pool_bytes;
    if let (Some(node), Xoff::Bytes(bytes)) = (s.node(&XOFF), pfc.xoff)
        && (1..=bytes).contains(&pool)
    {
        return Err(Fault::new(
            node.at,
            format!("a switch has {pool} bytes, so no link ever reaches this XOFF"),
        )
        .help("write less than `pool`, or pfc-alpha for a threshold that follows the free space"));
    }
    if let Some(headroom) = s
        .node(&crate::switch::HEADROOM)
        .filter(|_| buffering.headroom > 0)
    {
        return Err(Fault::new(
            headroom.at,
            "with flow control every link has a headroom of its own",
        )
        .help(
            "write pfc-headroom = \"...\" for each, or leave it out: it follows from rate, delay \
             and packets",
        ));
    }
    // No queue is chosen: all of them are lossless.
    if queues.iter().all(|q| !q.lossless) {
        for q in queues {
            q.lossless = true;
        }
    }
    Ok(Some(pfc))
}
