// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[host]`: how a host feeds its NIC, and what it does in bunches.

use cemark_sim::config::{Nic, Offload};
use cemark_transport::Config;
use cemark_wire::Nanos;

use crate::error::{Fallible, Fault};
use crate::section::{Section, nanos};
use crate::tree::Table;

/// Longest train and longest wait of a received packet.
const LONGEST_TRAIN: u64 = 1 << 20;
const LONGEST_WAIT: Nanos = Nanos::from_millis(100);

/// `[host]`. Pacing is the host's choice and the sender's work, so it goes into `transport`.
pub(crate) fn host(root: &Table, transport: &mut Config) -> Fallible<(Nic, Offload)> {
    let mut s = Section::of(root, "host")?;
    let nic = match s.choice("nic", 0, &["back-pressure", "fifo", "switch-port"])? {
        0 => Nic::BackPressure {
            packets: s.count32("nic-packets", 2, (1, 1_000_000))?,
        },
        1 => Nic::Fifo,
        _ => Nic::SwitchPort,
    };
    let offload = Offload {
        tso: s.bytes("tso", 0, (0, LONGEST_TRAIN))? as u32,
        coalesce: wait(&mut s)?,
        coalesce_packets: s.count32("coalesce-packets", 64, (1, 100_000))?,
        gro: s.flag("gro", false)?,
    };
    let pacing = s.choice("pacing", 0, &["none", "tcp", "nic"])?;
    transport.pacing = pacing > 0;
    // TCP paces trains, a NIC every packet of them.
    transport.pace_train = if pacing == 2 { 0 } else { offload.tso };
    s.finish()?;
    Ok((nic, offload))
}

fn wait(s: &mut Section<'_>) -> Fallible<Nanos> {
    let Some(node) = s.get("coalesce") else {
        return Ok(Nanos::ZERO);
    };
    match nanos(node)? {
        long if long > LONGEST_WAIT => {
            Err(Fault::new(node.at, "no interrupt waits longer than 100 ms")
                .help("write it like \"20us\", or 0 for none"))
        }
        span => Ok(span),
    }
}
