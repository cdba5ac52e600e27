// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[transport]` with `control = "dcqcn"`: queue pairs.

use cemark_transport::rdma::{ALPHA_ONE, Dcqcn, Rdma, Repair};

use cemark_wire::Rate;

use crate::error::{Fallible, Fault};
use crate::section::{Section, count, fraction};
use crate::switch::MOST_QUEUES;
use crate::transport::{span, weight};
use crate::tree::{Node, Value};
use crate::units;

/// The queue pairs of `[transport]`. The keys are read under every control, so that a scheme or a
/// point of a sweep may have another one.
pub(crate) fn rdma(s: &mut Section<'_>, chosen: bool) -> Fallible<Option<Rdma>> {
    let usual = Rdma::default();
    let d = usual.dcqcn;
    let rdma = Rdma {
        dcqcn: Dcqcn {
            g_shift: weight(s, "dcqcn-g", d.g_shift)?,
            alpha_init: s
                .get("dcqcn-alpha-init")
                .map_or(Ok(1.0), fraction)
                .map(|alpha| (alpha * f64::from(ALPHA_ONE) + 0.5) as u32)?,
            alpha_timer: span(s, "alpha-timer", d.alpha_timer)?,
            rate_timer: span(s, "rate-timer", d.rate_timer)?,
            byte_counter: s.bytes("byte-counter", d.byte_counter, (0, 1 << 40))?,
            fast_recovery: s.count32("fast-recovery", d.fast_recovery, (0, 1_000_000))?,
            rate_ai: s.rate("rate-ai", d.rate_ai)?,
            rate_hai: s.rate("rate-hai", d.rate_hai)?,
            min_rate: min_rate(s, d.min_rate)?,
            clamp_target: s.flag("clamp-target", d.clamp_target)?,
        },
        repair: [Repair::GoBackN, Repair::Selective]
            [s.choice("repair", 0, &["go-back-n", "selective"])?],
        cnp_gap: span(s, "cnp-gap", usual.cnp_gap)?,
        cnp_class: s
            .get("cnp-class")
            .map(|node| count(node, (0, MOST_QUEUES - 1)))
            .transpose()?
            .map(|class| class as u8),
    };
    Ok(chosen.then_some(rdma))
}

/// A pair at rate zero would send no packet whose mark or loss could ever change that.
fn min_rate(s: &mut Section<'_>, default: Rate) -> Fallible<Rate> {
    let zero = |node: &&Node| match &node.value {
        Value::Text(text) => units::quantity(text, units::RATES) == Ok(0),
        Value::Integer(n) => *n == 0,
        _ => false,
    };
    match s.get("min-rate").filter(zero) {
        None => s.rate("min-rate", default),
        Some(node) => Err(Fault::new(
            node.at,
            "a queue pair that may slow down to nothing would never send again",
        )
        .help("write min-rate = \"40Mbps\", the default, or another rate from \"1kbps\" on")),
    }
}
