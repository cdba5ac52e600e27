// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wanted marking as commands of EOS.

use std::fmt::Write as _;

use crate::wanted::{Ramp, Wanted, Written, list};

/// Name of the profile.
const NAME: &str = "CEMARK";

pub(super) fn write(wanted: &Wanted) -> Written {
    let mut text = wanted.comments("!");
    text += "!\n";
    for queue in wanted.queues.iter().filter(|queue| !queue.dscps.is_empty()) {
        let dscps = list(&queue.dscps, " ");
        let _ = writeln!(
            text,
            "qos map dscp {dscps} to traffic-class {}",
            queue.index
        );
    }
    if wanted.has_classes() {
        text += "!\n";
    }
    let _ = writeln!(text, "qos profile {NAME}{}", wanted.suffix);
    if wanted.has_classes() {
        text += "   qos trust dscp\n";
    }
    let lossless = wanted.lossless();
    if !lossless.is_empty() {
        text += "   priority-flow-control on\n";
    }
    for priority in lossless {
        let _ = writeln!(text, "   priority-flow-control priority {priority} no-drop");
    }
    for (queue, Ramp { min, max, percent }) in wanted.marked() {
        let _ = write!(
            text,
            "   !\n   uc-tx-queue {}\n      random-detect ecn minimum-threshold {min} bytes \
             maximum-threshold {max} bytes max-mark-probability {percent} weight 0\n      \
             random-detect ecn count\n",
            queue.index
        );
    }
    let _ = write!(
        text,
        "!\ninterface {}\n   service-profile {NAME}{}\n!\n",
        wanted.ports, wanted.suffix
    );
    Written {
        text,
        notes: Vec::new(),
    }
}
