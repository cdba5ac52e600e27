// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wanted marking as commands of NX-OS, from Cisco's guide "Configuring Queuing and Scheduling"
//! (Nexus 9000, 10.6). No device has seen them.

use std::fmt::Write as _;

use crate::wanted::{Ramp, Wanted, WantedQueue, Written, list};

/// The page that has the commands.
const PAGE: &str = "Commands of cisco.com, Nexus 9000 NX-OS Quality of Service Configuration Guide";

/// Name of a queue of eight.
fn queue_name(index: u8) -> String {
    match index {
        0 => "c-out-8q-q-default".to_owned(),
        index => format!("c-out-8q-q{index}"),
    }
}

pub(super) fn write(wanted: &Wanted) -> Written {
    let mut text = wanted.comments("!");
    let _ = writeln!(text, "! {PAGE}");
    text += "! 10.6, Configuring Queuing and Scheduling. No device has seen these lines.\n";
    let classes: Vec<&WantedQueue> = wanted
        .queues
        .iter()
        .filter(|q| !q.dscps.is_empty())
        .collect();
    for queue in &classes {
        let _ = write!(
            text,
            "class-map type qos match-any CEMARK-Q{}\n  match dscp {}\n",
            queue.index,
            list(&queue.dscps, ",")
        );
    }
    if !classes.is_empty() {
        text += "policy-map type qos CEMARK-IN\n";
        for queue in &classes {
            let _ = write!(
                text,
                "  class CEMARK-Q{0}\n    set qos-group {0}\n",
                queue.index
            );
        }
        let _ = write!(
            text,
            "  class class-default\n    set qos-group {}\n",
            wanted.rest
        );
    }
    let lossless = wanted.lossless();
    if !lossless.is_empty() {
        text += "policy-map type network-qos CEMARK-NQ\n";
        for priority in &lossless {
            let _ = write!(
                text,
                "  class type network-qos c-8q-nq{priority}\n    pause pfc-cos {priority}\n"
            );
        }
    }
    text += "policy-map type queuing CEMARK-OUT\n";
    for (queue, Ramp { min, max, percent }) in wanted.marked() {
        let _ = write!(
            text,
            "  class type queuing {}\n    random-detect minimum-threshold {} maximum-threshold {} \
             drop-probability {percent} weight 0 ecn\n",
            queue_name(queue.index),
            length(min),
            length(max)
        );
    }
    text += "system qos\n  service-policy type queuing output CEMARK-OUT\n";
    if !lossless.is_empty() {
        text += "  service-policy type network-qos CEMARK-NQ\n";
    }
    let _ = writeln!(text, "interface {}", wanted.ports);
    if !lossless.is_empty() {
        text += "  priority-flow-control mode on\n";
    }
    if !classes.is_empty() {
        text += "  service-policy type qos input CEMARK-IN\n";
    }
    Written {
        text,
        notes: Vec::new(),
    }
}

/// A threshold in kbytes where it is a whole number of them.
fn length(bytes: u64) -> String {
    match bytes % 1_000 {
        0 if bytes > 0 => format!("{} kbytes", bytes / 1_000),
        _ => format!("{bytes} bytes"),
    }
}
