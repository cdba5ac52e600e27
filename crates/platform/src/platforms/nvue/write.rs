// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wanted marking as `nv set` commands.

use std::fmt::Write as _;

use crate::wanted::{Ramp, Wanted, Written, list};

/// Name of the profiles.
const NAME: &str = "cemark";

pub(super) fn write(wanted: &Wanted) -> Written {
    let mut text = wanted.comments("#");
    let suffix = &wanted.suffix;
    let mut line = |words: String| {
        let _ = writeln!(text, "nv set {words}");
    };
    for (queue, Ramp { min, max, percent }) in wanted.marked() {
        let of = format!(
            "qos congestion-control {NAME}{suffix} traffic-class {}",
            queue.index
        );
        line(format!("{of} ecn enable"));
        line(format!("{of} min-threshold {min}"));
        line(format!("{of} max-threshold {max}"));
        line(format!("{of} probability {percent}"));
    }
    let ports = &wanted.ports;
    line(format!(
        "interface {ports} qos congestion-control profile {NAME}{suffix}"
    ));
    if wanted.has_classes() {
        line(format!("qos mapping {NAME} trust l3"));
        let mut given = Vec::new();
        for queue in &wanted.queues {
            given.extend(&queue.dscps);
            for dscp in &queue.dscps {
                line(format!(
                    "qos mapping {NAME} dscp {dscp} switch-priority {}",
                    queue.index
                ));
            }
        }
        // Without an entry DSCP 8 N belongs to priority N, which may be a lossless one.
        let rest: Vec<u8> = (0..64).filter(|dscp| !given.contains(dscp)).collect();
        line(format!(
            "qos mapping {NAME} dscp {} switch-priority {}",
            list(&rest, ","),
            wanted.rest
        ));
        line(format!("interface {ports} qos mapping profile {NAME}"));
        let lossless = wanted.lossless();
        if !lossless.is_empty() {
            line(format!(
                "qos pfc {NAME} switch-priority {}",
                list(&lossless, ",")
            ));
            line(format!("interface {ports} qos pfc profile {NAME}"));
        }
    }
    text += "nv config apply\n";
    Written {
        text,
        notes: Vec::new(),
    }
}
