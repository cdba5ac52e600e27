// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configuration of the two DCIB routers.

use cemark_wire::{Ecn, Nanos, Rate};

/// Parameters of a pair of DCIB routers; both sides have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DcibConfig {
    /// Share of the data's bytes that is selected: sent Not-ECT and kept as a copy. Parts of 2^16.
    pub share: u32,
    /// Bytes of copies that the stalled queue may hold. While it is full, nothing is selected.
    pub stalled_bytes: u64,
    /// Round trip between the routers. A longer measured one replaces it.
    pub tau: Nanos,
    /// When a copy is sent.
    pub recovery: Recovery,
    /// Treatment of a copy that is sent.
    pub copies: CopyPolicy,
    /// Most retransmissions of one packet.
    pub most_copies: u8,
    /// Reordering tolerance: a copy is lost only if it was sent at least this long before a packet
    /// that arrived.
    pub reorder: Nanos,
    /// Contents of a router ACK, beside the packet that it names.
    pub ack_form: AckForm,
    /// Selected packets that arrive for each router ACK.
    pub ack_every: u32,
    /// Longest time that one is withheld.
    pub ack_delay: Nanos,
    /// Codepoint of packets that are not selected and that their hosts sent Not-ECT.
    pub raise: Ecn,
    /// Treatment of CE on packets whose hosts use ECN. CE on packets of other hosts is always
    /// removed.
    pub ce: CePolicy,
    /// In-order release: the longest time that a packet waits for a missing selected packet of its
    /// lane. `None`: packets never wait.
    pub hold: Option<Nanos>,
    /// Number of lanes, a power of two up to 2^15.
    pub lanes: u16,
    /// Bytes that the header before a packet adds to it on the wire.
    pub header_bytes: u16,
    /// Packets above this rate are sent Not-ECT too, without a copy: expendable probes.
    pub probe_above: Option<Rate>,
    /// Which packets have a copy and a router ACK.
    pub clones: Clones,
}

/// Which data packets the near router keeps a copy of and the far router acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Clones {
    /// The selected ones, which are Not-ECT (the paper's sections III-A and III-D).
    Selected,
    /// All but those: Figure 7 of the paper as printed.
    Others,
}

/// When a copy is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Recovery {
    /// On evidence of a loss: a router ACK of a later packet, or silence.
    Evidence,
    /// Whenever the port behind the router is idle, without evidence (the paper's limited buffer).
    Idle,
}

/// Treatment of a copy that is sent on evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum CopyPolicy {
    /// The copy is sent Not-ECT and not kept (Fig 8 as printed).
    Once,
    /// The copy is sent Not-ECT and kept again.
    Restore,
    /// The copy is sent ECN-capable, so that a cooperative WAN does not drop it, and not kept.
    Protect,
}

/// Contents of a router ACK, beside the packet that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum AckForm {
    /// Nothing (Fig 8).
    Named,
    /// The number below which everything arrived or was given up.
    Cumulative,
    /// Which of the last 64 numbers arrived.
    Bitmap,
}

/// Treatment of CE that the WAN wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum CePolicy {
    /// A host that uses ECN sees it.
    Pass,
    /// The host's own codepoint is restored.
    Clear,
}

impl DcibConfig {
    /// As the paper prints it: a tenth, a router ACK a packet, each copy once; one BDP of a 10
    /// Gb/s, 6 ms path times the share.
    pub const LITERAL: DcibConfig = DcibConfig {
        share: 6_554,
        stalled_bytes: 1_000_000,
        tau: Nanos::from_millis(6),
        recovery: Recovery::Evidence,
        copies: CopyPolicy::Once,
        most_copies: 15,
        reorder: Nanos::ZERO,
        ack_form: AckForm::Named,
        ack_every: 1,
        ack_delay: Nanos::from_micros(100),
        raise: Ecn::Ect0,
        ce: CePolicy::Pass,
        hold: None,
        lanes: 1_024,
        header_bytes: 0,
        probe_above: None,
        clones: Clones::Selected,
    };
}
