// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[transport]` with `control = "dcqcn"`: queue pairs.

use cemark_transport::rdma::{ALPHA_ONE, Dcqcn, Rdma, Repair};

use crate::error::Fallible;
use crate::section::{Section, count, fraction};
use crate::transport::{span, weight};
use crate::workload::MOST_QUEUES;

/// The queue pairs of `[transport]`. The keys are read under every control, so that a scheme or a point of a sweep may have another one.
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
            min_rate: s.rate("min-rate", d.min_rate)?,
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
