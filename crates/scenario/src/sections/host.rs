// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[host]`: how a host feeds its NIC, and which packets it handles together.

use cemark_sim::config::{Nic, Offload};
use cemark_transport::Config;
use cemark_transport::Stack;
use cemark_wire::Nanos;

use crate::error::{Fallible, Fault};
use crate::key::{Key, keys, words};
use crate::preset::Preset;
use crate::section::Section;
use crate::sections::{Form, SectionSpec};
use crate::tree::Table;

pub(crate) static HOST: SectionSpec = SectionSpec::new(
    "host",
    Form::Table,
    &[KEYS],
    "How a host feeds its NIC, and which packets it handles together.",
)
.chosen_by("nic")
.per_scheme();

/// The longest time that a received packet waits.
const LONGEST_WAIT: Nanos = Nanos::from_millis(100);

/// [`Nic`] without its parameters.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum NicKind {
    BackPressure,
    Fifo,
    SwitchPort,
}

words! { NicKind:
    "back-pressure" => NicKind::BackPressure,
    "fifo" => NicKind::Fifo,
    "switch-port" => NicKind::SwitchPort,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Pacing {
    None,
    /// Trains are spaced.
    Tcp,
    /// Packets are spaced.
    Nic,
}

words! { Pacing: "none" => Pacing::None, "tcp" => Pacing::Tcp, "nic" => Pacing::Nic }

keys! { KEYS:
    PRESET: Preset = Key::choice("preset").usual("none").doc(
        "the keys of an operating system, here and in `[transport]`, unless the file writes them \
         itself; `cemark check` prints them. `linux`: Linux 6.12 \
         ([transports.md](transports.md#hosts-as-linux-builds-them))",
    );
    NIC: NicKind = Key::choice("nic").usual("back-pressure").doc(
        "`back-pressure`: at most `nic-packets` packets of a connection wait in the NIC, which \
         serves connections in turn. `fifo`: everything that the windows allow goes into one FIFO. \
         `switch-port`: the same into a port like a switch's, with its buffer, queues and marker, \
         as ns-2 scripts build hosts; a flow alone on its path is then marked by its own host",
    );
    NIC_PACKETS: u32 = Key::count("nic-packets", 1, 1_000_000).only(&["back-pressure"]).usual("2")
        .doc("packets of one connection in the NIC");
    NIC_LIMIT: u32 = Key::count("nic-limit", 1, 1_000_000).only(&["fifo"]).follows("no limit").doc(
        "most packets that wait in the NIC, ACKs included; the host loses what comes on top, as a \
         drop-tail queue of ns-2 or ns-3 does",
    );
    TSO: u32 = Key::bytes("tso", 0, 1 << 20).usual("0").doc(
        "TSO or GSO: a connection waits until it may send this much (at most a third of its \
         window, or what is left), and then hands it to the NIC as one train at line rate; \
         `\"64KB\"` in Linux",
    );
    COALESCE: Nanos = Key::nanos("coalesce").usual("0").doc(
        "interrupt coalescing: a received packet waits this long for others, and all are handled \
         together; 3 to 50 us in servers. ACKs then leave in bursts",
    );
    COALESCE_PACKETS: u32 = Key::count("coalesce-packets", 1, 100_000).usual("64")
        .doc("this many packets end the wait");
    GRO: bool = Key::flag("gro").usual("false").doc(
        "with `coalesce`: segments of a connection that are handled together are answered by one \
         ACK, up to 64 KiB, as long as their marks agree",
    );
    PACING: Pacing = Key::choice("pacing").usual("none").doc(
        "`tcp`: trains (segments without `tso`) are spread over the round trip, at 1.2 windows a \
         round trip, 2 in slow start, each train at most a millisecond long. `nic`: each packet is \
         spaced by itself, and `tso` delays nothing. `bbr` is always paced, at its own rate: by \
         trains with `tso`, by packets under `nic`",
    );
}

/// `[host]`. Pacing is configured at the host and done by the sender, so it goes into `transport`.
pub(crate) fn host(root: &Table, transport: &mut Config) -> Fallible<(Nic, Offload)> {
    let mut s = Section::of(root, &HOST)?;
    s.read(&PRESET)?; // Applied already.
    let nic = match s.read(&NIC)? {
        NicKind::BackPressure => Nic::BackPressure {
            packets: s.read(&NIC_PACKETS)?,
        },
        NicKind::Fifo => match s.given(&NIC_LIMIT)? {
            None => Nic::Fifo,
            Some(packets) => Nic::Limited { packets },
        },
        NicKind::SwitchPort => Nic::SwitchPort,
    };
    let offload = Offload {
        tso: s.read(&TSO)?,
        coalesce: s.read(&COALESCE)?,
        coalesce_packets: s.read(&COALESCE_PACKETS)?,
        gro: s.read(&GRO)?,
    };
    if let Some(node) = s
        .node(&COALESCE)
        .filter(|_| offload.coalesce > LONGEST_WAIT)
    {
        return Err(Fault::new(node.at, "no interrupt waits longer than 100 ms")
            .help("write it like \"20us\", or 0 for none"));
    }
    if transport.stack.write_window > 0 && offload.tso > 0 {
        transport.stack.write_window = Stack::WRITE_WINDOW_OF_TRAINS;
    }
    let pacing = s.read(&PACING)?;
    transport.pacing = pacing != Pacing::None;
    // TCP paces trains, a NIC every packet of them.
    transport.pace_train = if pacing == Pacing::Nic {
        0
    } else {
        offload.tso
    };
    s.finish()?;
    Ok((nic, offload))
}
