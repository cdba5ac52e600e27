// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[transport]`.

use cemark_transport::{Config, Control};
use cemark_wire::Nanos;

use crate::error::{Fallible, Fault};
use crate::laws;
use crate::rdma;
use crate::section::{Section, fraction};
use crate::sections::{Form, SectionSpec};
use crate::tree::Table;

pub(crate) static TRANSPORT: SectionSpec = SectionSpec::new(
    "transport",
    Form::Table,
    &[],
    "How senders and receivers behave.",
)
.chosen_by("control")
.per_scheme();

const CONTROLS: &[&str] = &[
    "dctcp",
    "ecn-star",
    "reno",
    "cubic",
    "cubic-ecn",
    "bbr",
    "dcqcn",
];

/// Largest payload and largest header of a segment: what a packet's 16-bit length can hold
/// together.
const LARGEST_MSS: u64 = 65_000;
const LARGEST_HEADER: u64 = 500;
const _: () = assert!(LARGEST_MSS + LARGEST_HEADER <= u16::MAX as u64);

/// `[transport]`.
pub(crate) fn transport(root: &Table) -> Fallible<Config> {
    let mut s = Section::of(root, &TRANSPORT)?;
    let usual = Config::default();
    // Read whatever the control is, so that one scheme or one point of a sweep may have another
    // control.
    let g_shift = weight(&mut s, "g", 4)?;
    let alpha_init = s
        .get("alpha-init")
        .map_or(Ok(1.0), fraction)
        .map(|alpha| (alpha * 1024.0 + 0.5) as u32)?;
    let place = s.choice("control", 0, CONTROLS)?;
    let cubic = laws::cubic(&mut s, place == 4)?;
    let control = match place {
        0 => Control::Dctcp {
            g_shift,
            alpha_init,
        },
        1 => Control::EcnStar,
        2 => Control::Reno,
        3 | 4 => Control::Cubic(cubic),
        5 => Control::Bbr,
        // Not looked at: its hosts have queue pairs.
        6 => usual.control,
        _ => unreachable!("{} has no arm", CONTROLS[place]),
    };
    let queue_pairs = rdma::rdma(&mut s, place == 6)?;
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
        // Without it a law that does not slow down for losses would wait for the timer in every
        // round trip.
        lost_repairs: s.flag("lost-repairs", control == Control::Bbr)?,
        pacing: usual.pacing,
        pace_train: usual.pace_train,
        rdma: queue_pairs,
    };
    s.finish()?;
    Ok(config)
}

/// A weight that is a power of two, as its exponent.
pub(crate) fn weight(s: &mut Section<'_>, key: &'static str, default: u32) -> Fallible<u32> {
    let Some(node) = s.get(key) else {
        return Ok(default);
    };
    let g = fraction(node)?;
    (0..=20)
        .find(|&shift| f64::from(1u32 << shift) * g == 1.0)
        .ok_or_else(|| {
            Fault::new(node.at, format!("{key} = {g} is not a power of two"))
                .help(format!("write {}", powers_near(g, default)))
        })
}

/// The powers of two on both sides of `g`, the nearer one first:
/// `0.00390625 (1/256) or 0.0078125 (1/128)`.
fn powers_near(g: f64, default: u32) -> String {
    let one = |shift: u32| {
        let n = 1u32 << shift;
        format!("{} (1/{n})", 1.0 / f64::from(n))
    };
    // Halvings from one to below it.
    let below = (1..=20).find(|&shift| g * f64::from(1u32 << shift) > 1.0);
    match below {
        None => one(default),
        Some(shift) => {
            let (low, high) = (shift, shift - 1);
            // Nearer by its factor.
            let up = g * f64::from(1u32 << low) * g * f64::from(1u32 << high) > 1.0;
            match up {
                true => format!("{} or {}", one(high), one(low)),
                false => format!("{} or {}", one(low), one(high)),
            }
        }
    }
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
