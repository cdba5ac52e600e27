// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiving half of a queue pair.

use alloc::boxed::Box;

use cemark_wire::{Ecn, Flags, Nanos};

use super::{NAK, NotificationPoint, Rdma, Retransmit};
use crate::ranges::Ranges;
use crate::{Ack, Config, Segment};

/// How a responder replies to one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replies {
    /// Send a congestion notification, before the acknowledgement.
    pub cnp: bool,
    /// An acknowledgement; with the flag [`NAK`] a negative one.
    pub ack: Option<Ack>,
    /// With a negative one under selective repeat: what arrived out of order, `[start, end)`.
    pub beyond: Option<(u64, u64)>,
}

/// Receives one stream.
#[derive(Debug, Default)]
pub struct Responder {
    /// Every byte before this offset has arrived.
    cum: u64,
    /// Packets in order since the last acknowledgement.
    pending: u32,
    /// The hole at `cum` has been reported: go-back-N reports it once.
    reported: bool,
    notification: NotificationPoint,
    ce_packets: u32,
    /// Selective repeat: what is held beyond a hole. Allocated at the first hole and kept.
    beyond: Option<Box<Ranges>>,
}

impl Responder {
    /// A responder of a stream that begins at offset 0.
    pub fn new() -> Responder {
        Responder::default()
    }

    /// Processes one packet, `seg.ecn` as it arrived.
    #[inline]
    pub fn on_data(&mut self, cfg: &Config, rdma: &Rdma, now: Nanos, seg: &Segment) -> Replies {
        let ce = seg.ecn == Ecn::Ce;
        self.ce_packets += u32::from(ce);
        let mut replies = Replies {
            cnp: ce && self.notification.on_ce(rdma.cnp_gap, now),
            ack: None,
            beyond: None,
        };
        if seg.seq != self.cum || self.beyond.as_ref().is_some_and(|b| !b.is_empty()) {
            self.on_disorder(rdma, seg, &mut replies);
            return replies;
        }
        self.cum += u64::from(seg.len);
        self.reported = false;
        self.pending += 1;
        if self.pending >= cfg.ack_every || seg.flags.has(Flags::PUSH) {
            replies.ack = Some(self.ack(Flags::ACK));
        }
        replies
    }

    /// Bytes delivered in order so far.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.cum
    }

    /// Bytes that have arrived and are kept, each counted once: those in order, and under selective
    /// repeat those beyond a hole.
    pub fn arrived(&self) -> u64 {
        self.cum + self.beyond.as_ref().map_or(0, |beyond| beyond.bytes())
    }

    /// Packets that arrived with CE.
    #[inline]
    pub fn ce_packets(&self) -> u32 {
        self.ce_packets
    }

    /// Notifications sent.
    pub fn notifications(&self) -> u32 {
        self.notification.sent()
    }

    fn ack(&mut self, flags: Flags) -> Ack {
        self.pending = 0;
        Ack {
            cum: self.cum,
            flags,
            ts_echo: 0,
            sacks: 0,
        }
    }

    #[cold]
    fn on_disorder(&mut self, rdma: &Rdma, seg: &Segment, replies: &mut Replies) {
        let end = seg.seq + u64::from(seg.len);
        if end <= self.cum {
            // A duplicate: its acknowledgement may have been lost.
            replies.ack = Some(self.ack(Flags::ACK));
            return;
        }
        if rdma.retransmit == Retransmit::GoBackN {
            // A packet that begins below `cum` and ends above it is treated like a gap: a requester
            // retransmits whole packets.
            if !self.reported {
                self.reported = true;
                replies.ack = Some(self.ack(Flags::ACK.with(NAK)));
            }
            return;
        }
        let beyond = self.beyond.get_or_insert_default();
        if seg.seq > self.cum {
            beyond.insert(seg.seq, end);
            replies.beyond = beyond.holding(seg.seq);
            replies.ack = Some(Ack {
                sacks: 1,
                ..self.ack(Flags::ACK.with(NAK))
            });
            return;
        }
        // The hole before the lowest range may have closed.
        self.cum = end;
        beyond.trim(self.cum);
        if let Some((_, reached)) = beyond.holding(self.cum) {
            beyond.trim(reached);
            self.cum = reached;
        }
        replies.ack = Some(self.ack(Flags::ACK));
    }
}
