// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[transport]`.

use cemark_transport::Config;
use cemark_transport::rdma::{Dcqcn, Rdma};
use cemark_wire::{Nanos, Picos};

use crate::controllers;
use crate::error::{Fallible, Fault};
use crate::rdma;
use crate::section::{LONGEST, Section};
use crate::tree::Table;

/// Largest payload and largest header of a segment: what a packet's 16-bit length can hold
/// together.
const LARGEST_MSS: u64 = 65_000;
const LARGEST_HEADER: u64 = 500;
const _: () = assert!(LARGEST_MSS + LARGEST_HEADER <= u16::MAX as u64);

/// `[transport]`.
pub(crate) fn transport(root: &Table) -> Fallible<Config> {
    let mut s = Section::of(root, "transport")?;
    let usual = Config::default();
    let chosen = controllers::control(&mut s)?;
    let queue_pairs = rdma::rdma(&mut s)?;
    // Hosts with queue pairs have no TCP sender, so its controller is never used.
    let (control, rdma) = match chosen.spec().is_queue_pair() {
        true => {
            let dcqcn = Dcqcn::from_control(&chosen);
            (
                usual.control,
                Some(Rdma {
                    dcqcn,
                    ..queue_pairs
                }),
            )
        }
        false => (chosen, None),
    };
    let config = Config {
        control,
        mss: s.bytes("mss", usual.mss.into(), (64, LARGEST_MSS))? as u16,
        header_bytes: s.bytes("header", usual.header_bytes.into(), (20, LARGEST_HEADER))? as u16,
        ack_bytes: s.bytes("ack", usual.ack_bytes.into(), (20, 1_500))? as u16,
        init_window: s.count32("init-window", usual.init_window, (1, 1_000_000))?,
        keep_window: s.flag("keep-window", usual.keep_window)?,
        rto_min: span(&mut s, "rto-min", usual.rto_min)?,
        rto_init: span(&mut s, "rto-init", usual.rto_init)?,
        rto_max: span(&mut s, "rto-max", usual.rto_max)?,
        ack_every: s.count32("ack-every", usual.ack_every, (1, 1_000))?,
        ack_delay: span(&mut s, "ack-delay", usual.ack_delay)?,
        receive_window: s.bytes("receive-window", usual.receive_window, (1_500, 1 << 40))?,
        handshake: s.flag("handshake", usual.handshake)?,
        sack: s.flag("sack", usual.sack)?,
        dup_acks: s.count32("dup-acks", usual.dup_acks, (1, 1_000_000))?,
        // A controller that does not slow down for losses would otherwise wait for the timer in
        // every round trip.
        lost_retransmissions: s.flag("lost-repairs", !control.spec().slows_for_loss)?,
        pacing: usual.pacing,
        pace_train: usual.pace_train,
        rdma,
    };
    s.finish()?;
    Ok(config)
}

/// A timer that is not zero.
pub(crate) fn span(s: &mut Section<'_>, key: &'static str, default: Nanos) -> Fallible<Nanos> {
    let Some(node) = s.get(key) else {
        return Ok(default);
    };
    match crate::section::nanos(node)? {
        Nanos::ZERO => {
            Err(Fault::new(node.at, format!("{key} must be above zero"))
                .help("write it like \"5ms\""))
        }
        span => Ok(span),
    }
}

/// `max-time`: the end of the simulated time.
pub(crate) fn max_time(s: &mut Section<'_>) -> Fallible<Option<Picos>> {
    let Some(node) = s.get("max-time") else {
        return Ok(None);
    };
    match crate::section::time(node)? {
        Picos::ZERO => Err(
            Fault::new(node.at, "nothing happens in no time").help(format!(
                "write up to \"{}s\"",
                LONGEST.0 / 1_000_000_000_000
            )),
        ),
        span => Ok(Some(span)),
    }
}
