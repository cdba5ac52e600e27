// SPDX-License-Identifier: MIT OR Apache-2.0
//! A queue of an explicit port: packets that wait, and the marker that judges them.

use cemark_marking::{At, Hook, Why};
use cemark_wire::{Ecn, Nanos, Packet};

use crate::marker::AnyMarker;
use crate::port::{NEVER, QueueSetup};
use crate::ring::Ring;

/// A packet in a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waiting {
    pub since: u64,
    pub salt: u64,
    pub packet: Packet,
    pub intent: Option<Why>,
    /// It took headroom.
    pub headroom: bool,
}

impl Waiting {
    pub fn bytes(&self) -> u32 {
        u32::from(self.packet.wire_bytes())
    }
}

/// What every packet touches comes to little more than a line of the cache; the marker lies elsewhere.
pub(crate) struct Queue {
    pub waiting: Ring<Waiting>,
    pub bytes: u32,
    /// Below this length the enqueue hook need not be asked.
    pub quiet_below: u32,
    pub limit: u32,
    pub hook: Option<Hook>,
    pub lossless: bool,
    /// Whether the marker wants to know when the queue has become empty.
    pub watches_empty: bool,
    /// Whether the marker has a clock.
    pub keeps_time: bool,
    pub marker: Box<AnyMarker>,
    /// The tick at which the marker wants to be woken.
    pub wake: u64,
}

impl Queue {
    pub fn new(setup: QueueSetup) -> Self {
        let (marker, spec) = (setup.marker, setup.spec);
        Queue {
            waiting: Ring::new(),
            bytes: 0,
            quiet_below: marker.quiet_below(spec.mtu),
            limit: spec.limit_bytes,
            hook: marker.hook(),
            lossless: setup.lossless,
            watches_empty: marker.watches_empty(),
            keeps_time: marker.keeps_time(),
            marker: Box::new(marker),
            wake: NEVER,
        }
    }

    /// Whether nobody has anything to say about a packet that finds queue and link idle, beside admission.
    #[inline]
    pub fn lets_pass(&self) -> bool {
        let silent = match self.hook {
            None => true,
            Some(Hook::Enqueue) => self.quiet_below > 0,
            Some(Hook::Dequeue | Hook::Both) => false,
        };
        silent && !self.watches_empty && !self.keeps_time
    }

    #[inline]
    pub fn judges_at_enqueue(&self) -> bool {
        matches!(self.hook, Some(Hook::Enqueue | Hook::Both)) && self.bytes >= self.quiet_below
    }

    #[inline]
    pub fn judges_at_dequeue(&self) -> bool {
        matches!(self.hook, Some(Hook::Dequeue | Hook::Both))
    }
}

/// What a marker of the port sees beside its queue and the packet.
#[derive(Clone, Copy)]
pub(crate) struct Around {
    pub round: Nanos,
    pub port_bytes: u32,
    pub pool_bytes: u32,
    pub limit_bytes: u32,
}

/// The packet to be judged.
#[derive(Clone, Copy)]
pub(crate) struct Judged {
    pub sojourn: Nanos,
    pub salt: u64,
    pub bytes: u32,
    pub ecn: Ecn,
    pub intent: Option<Why>,
}

impl Judged {
    /// Nobody: what a marker sees that is woken by its clock.
    pub const NOBODY: Judged = Judged {
        sojourn: Nanos::ZERO,
        salt: 0,
        bytes: 0,
        ecn: Ecn::NotEct,
        intent: None,
    };
}

impl Queue {
    /// The view of a marker.
    #[inline]
    pub fn view(&self, now: Nanos, p: Judged, around: Around) -> At {
        At {
            now,
            sojourn: p.sojourn,
            round: around.round,
            salt: p.salt,
            pkt_bytes: p.bytes,
            segs: 1,
            ecn: p.ecn,
            intent: p.intent,
            queue_bytes: self.bytes,
            queue_pkts: self.waiting.len(),
            port_bytes: around.port_bytes,
            pool_bytes: around.pool_bytes,
            limit_bytes: around.limit_bytes,
        }
    }
}
