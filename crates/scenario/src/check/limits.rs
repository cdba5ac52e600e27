// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of keys that other simulators have, where the rest of the scenario leaves them no
//! meaning: refused, with the key that is most likely wrong.

use cemark_sim::Config;
use cemark_sim::config::{Edge, Fct, Nic};

use super::sense::at;
use crate::error::Fallible;
use crate::tree::Table;

/// Fails where a burst, a device queue or a completion time cannot be what the file asks for.
pub(crate) fn check(root: &Table, config: &Config) -> Fallible<()> {
    burst(root, config)?;
    device(root, config)?;
    host_ports(root, config)?;
    completion(root, config)
}

/// Under back-pressure the NIC asks for packets, so that no ACK "releases" any.
fn burst(root: &Table, config: &Config) -> Fallible<()> {
    let bursts = |t: &&cemark_transport::Config| t.max_burst > 0 && t.rdma.is_none();
    let all = config.transports().into_iter().filter(bursts);
    let all: Vec<&cemark_transport::Config> = all.collect();
    if all.is_empty() {
        return Ok(());
    }
    let (message, help) = if matches!(config.nic, Nic::BackPressure { .. }) {
        (
            "max-burst counts what an ACK releases, and under back-pressure the NIC takes segments \
             one after the other",
            "write nic = \"fifo\" or \"switch-port\", or max-burst = 0",
        )
    } else if config.offload.tso > 0 || all.iter().any(|t| t.is_paced()) {
        (
            "max-burst and trains or pacing: each says how much leaves at once",
            "write max-burst = 0, or neither tso nor pacing nor a paced control",
        )
    } else {
        return Ok(());
    };
    Err(at(root, &[("transport", "max-burst")], message.to_owned()).help(help))
}

/// Under flow control packets wait in the port's own queues, which a pause stops: a device queue
/// and a buffer that counts packets are refused.
fn device(root: &Table, config: &Config) -> Fallible<()> {
    let switch = &config.switch;
    if switch.pfc.is_none() || (switch.device.is_none() && switch.most_packets == 0) {
        return Ok(());
    }
    let keys = [
        ("switch", "device-packets"),
        ("switch", "device-bytes"),
        ("switch", "buffer-packets"),
    ];
    let message = "with pfc a port has neither a device queue nor a buffer that counts packets";
    Err(at(root, &keys, message.to_owned()).help("write pfc = false, or remove these keys"))
}

/// A port that never drops has no part in a buffer that others share, and no meter.
fn host_ports(root: &Table, config: &Config) -> Fallible<()> {
    let switch = &config.switch;
    let own = !switch.buffering.policy.is_shared();
    if !switch.plain_host_ports || (own && switch.pfc.is_none()) {
        return Ok(());
    }
    let message = "ports that face hosts and never drop need buffers of their own, without pauses";
    Err(
        at(root, &[("switch", "plain-host-ports")], message.to_owned())
            .help("write buffer-policy = \"port\" and pfc = false, or plain-host-ports = false"),
    )
}

fn completion(root: &Table, config: &Config) -> Fallible<()> {
    let fct = config.measure.fct;
    if !fct.is_of_sender() {
        return Ok(());
    }
    let (message, help) = if !config.queue_pairs().is_empty() {
        (
            "a queue pair's flow is complete when its receiver has it",
            "write fct = \"last-byte\", or a control of TCP",
        )
    } else if matches!(config.edge, Edge::Pep { .. }) {
        (
            "the sender of a flow through a proxy only learns what the proxy has",
            "write fct = \"last-byte\", or another kind in [edge]",
        )
    } else if fct == Fct::Closed && config.workloads.iter().any(|w| w.persistent) {
        (
            "a persistent connection is not closed at the end of a flow",
            "write fct = \"last-ack\", or connections = \"fresh\"",
        )
    } else {
        return Ok(());
    };
    Err(at(root, &[("measure", "fct")], message.to_owned()).help(help))
}
