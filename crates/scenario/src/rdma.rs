// SPDX-License-Identifier: MIT OR Apache-2.0
//! The keys of `[transport]` that only queue pairs read.

use cemark_transport::rdma::{Rdma, Retransmit};

use crate::error::Fallible;
use crate::section::{Section, count};
use crate::transport::span;
use crate::workload::MOST_QUEUES;

/// The queue pairs of `[transport]`, but for their congestion controller. The keys are read under
/// every control, so that a scheme or a point of a sweep may have another one.
pub(crate) fn rdma(s: &mut Section<'_>) -> Fallible<Rdma> {
    let usual = Rdma::default();
    Ok(Rdma {
        dcqcn: usual.dcqcn,
        retransmit: [Retransmit::GoBackN, Retransmit::Selective]
            [s.choice("repair", 0, &["go-back-n", "selective"])?],
        cnp_gap: span(s, "cnp-gap", usual.cnp_gap)?,
        cnp_class: s
            .get("cnp-class")
            .map(|node| count(node, (0, MOST_QUEUES - 1)))
            .transpose()?
            .map(|class| class as u8),
    })
}
