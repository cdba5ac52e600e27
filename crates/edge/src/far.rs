// SPDX-License-Identifier: MIT OR Apache-2.0
//! The far router: acknowledges what arrived to the near router, drops duplicates, restores the ECN
//! field of each packet's host, and, where configured, releases packets in order.

use std::collections::BTreeSet;

use cemark_wire::{Ecn, Fields, Flags, NONE, Nanos, Packet};

use crate::config::{AckForm, CePolicy, Clones, DcibConfig};
use crate::near::most_copies_kept;
use crate::order::Order;
use crate::shim::{Header, Report, SHIM, Shim};
use crate::{Actions, Middlebox};

/// Bytes of a router ACK on the wire.
const ACK_BYTES: u16 = 64;
/// Packets over which the share of Not-ECT is measured.
const LOOK: u32 = 1_024;

/// Counts of a far router.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FarStats {
    /// Router ACKs sent.
    pub acks: u64,
    /// Duplicates that were discarded.
    pub twice: u64,
    /// Packets that arrived after their place in the order had been given up, and were discarded
    /// (in-order release).
    pub late: u64,
    /// Waits that ended without the missing packet (in-order release).
    pub given_up: u64,
    /// CE marks of the WAN removed from packets, because their hosts do not use ECN or the policy
    /// says so.
    pub marks_taken: u64,
    /// The most bytes that ever waited for in-order release.
    pub peak_bytes: u64,
}

/// The router at the receiving edge of one path.
#[derive(Debug)]
pub struct Far {
    cfg: DcibConfig,
    /// The connection whose route leads router ACKs back.
    conn: u32,
    /// Sequence numbers that are remembered: four times as many as the near router ever waits for.
    window: u64,
    /// Bits for the last `window` sequence numbers, one each; the vector grows with the numbers
    /// seen.
    arrived: Vec<u64>,
    highest: Option<u64>,
    bits: u64,
    below: u64,
    above: BTreeSet<u64>,
    named: (u64, u8),
    /// When that was first sent.
    first_sent: Nanos,
    waiting: u32,
    deadline: Option<Nanos>,
    /// Share of the data that the near router selects, in 1/65536.
    share: u32,
    looked: (u32, u32),
    bleached: bool,
    order: Option<Order>,
    stats: FarStats,
}

impl Far {
    /// A router that has seen no packet. Its ACKs belong to the connection `conn`.
    pub fn new(cfg: DcibConfig, conn: u32) -> Self {
        Far {
            cfg,
            conn,
            window: 4 * most_copies_kept(cfg.stalled_bytes).next_multiple_of(64),
            arrived: Vec::new(),
            highest: None,
            bits: 0,
            below: 0,
            above: BTreeSet::new(),
            named: (0, 0),
            first_sent: Nanos::ZERO,
            waiting: 0,
            deadline: None,
            share: cfg.share,
            looked: (0, 0),
            bleached: false,
            order: cfg.hold.map(|hold| Order::new(hold, cfg.lanes)),
            stats: FarStats::default(),
        }
    }

    /// The router's counts since its start.
    pub fn stats(&self) -> FarStats {
        let order = self.order.as_ref();
        FarStats {
            late: self.stats.late + order.map_or(0, |o| o.late),
            given_up: order.map_or(0, |o| o.given_up),
            peak_bytes: order.map_or(0, |o| o.peak),
            ..self.stats
        }
    }

    /// Sets the share of the data that the near router selects, in 1/65536, where it is not this
    /// router's own.
    pub fn set_share(&mut self, share: u32) {
        self.share = share;
    }

    /// Ends every wait and delivers what waits (in-order release): its memory is needed, or nothing
    /// more will arrive.
    pub fn end_waits(&mut self, out: &mut Actions) {
        if let Some(order) = &mut self.order {
            order.end(out);
        }
    }

    /// Records the arrival of a sequence number; `None` where it had arrived before, or is too old
    /// to know.
    fn note(&mut self, number: u64) -> Option<()> {
        let window = self.window;
        let place = |n: u64| ((n % window / 64) as usize, 1 << (n % 64));
        let (word, bit) = place(number);
        match self.highest {
            Some(top) if number <= top => {
                if top - number >= window || self.arrived[word] & bit != 0 {
                    return None;
                }
                if top - number < 64 {
                    self.bits |= 1 << (top - number);
                }
            }
            top => {
                // Grows in large steps, so that this is rare.
                let needed = (number / 64 + 1).next_multiple_of(2_048);
                let needed = needed.min(window / 64) as usize;
                if self.arrived.len() < needed {
                    self.arrived.resize(needed, 0);
                }
                let first = top
                    .map_or(number, |t| t + 1)
                    .max((number + 1).saturating_sub(window));
                for skipped in first..=number {
                    let (word, bit) = place(skipped);
                    self.arrived[word] &= !bit;
                }
                let shift = top.map_or(64, |t| number - t);
                self.bits = if shift < 64 { self.bits << shift } else { 0 } | 1;
                self.highest = Some(number);
            }
        }
        self.arrived[word] |= bit;
        Some(())
    }

    /// Everything below this number has arrived, or the near router no longer waits for it.
    fn advance(&mut self, number: u64, oldest: u64) {
        if self.cfg.ack_form != AckForm::Cumulative {
            return;
        }
        if oldest > self.below {
            self.below = oldest;
            self.above = self.above.split_off(&oldest);
        }
        if number >= self.below {
            self.above.insert(number);
        }
        while self.above.remove(&self.below) {
            self.below += 1;
        }
    }

    fn restore(&mut self, packet: &mut Packet, shim: &Shim, out: &mut Actions) {
        let marked = packet.ecn() == Ecn::Ce;
        let pass = marked && shim.ecn.is_capable() && self.cfg.ce == CePolicy::Pass;
        let ecn = if pass { Ecn::Ce } else { shim.ecn };
        self.stats.marks_taken += u64::from(marked && ecn != Ecn::Ce);
        out.rewrite(packet, ecn);
    }

    /// Looks for a path that clears ECN: many packets arrive Not-ECT that were sent ECN-capable.
    fn look(&mut self, packet: &Packet, shim: &Shim) {
        self.looked.0 += 1;
        let copied = shim.number.is_some();
        let sent_capable = copied == (self.cfg.clones == Clones::Others) && !shim.probe;
        self.looked.1 += u32::from(sent_capable && !packet.ecn().is_capable());
        if self.looked.0 == LOOK {
            let share = (u64::from(self.looked.1) << 16) / u64::from(LOOK);
            // A share of 2r, or half of what is sent ECN-capable where that is less.
            let capable = (1u64 << 16).saturating_sub(self.share.into());
            let too_many = (2 * u64::from(self.share)).min(capable / 2);
            self.bleached |= share > too_many;
            self.looked = (0, 0);
        }
    }

    fn acknowledge(&mut self, out: &mut Actions) {
        self.waiting = 0;
        self.deadline = None;
        self.stats.acks += 1;
        let report = Report {
            named: self.named,
            first_sent: self.first_sent,
            below: self.below,
            highest: self.highest.unwrap_or(0),
            bits: match self.cfg.ack_form {
                AckForm::Bitmap => self.bits,
                AckForm::Named | AckForm::Cumulative => 0,
            },
            bleached: self.bleached,
        };
        let fields = Fields {
            wire_bytes: ACK_BYTES,
            ecn: Ecn::Ect0,
            flags: Flags::ACK,
            ..Fields::default()
        };
        let mut packet = Packet::new(0, 0, self.conn, NONE, fields);
        out.headers.wrap(&mut packet, Header::Report(report));
        out.inject(packet);
    }
}

impl Middlebox for Far {
    fn on_packet(&mut self, now: Nanos, mut packet: Packet, out: &mut Actions) {
        if !packet.flags().has(SHIM) {
            // It may belong to a host that the routers do not serve.
            if let Some(order) = self.order.as_mut().filter(|_| self.bleached) {
                order.end(out);
            }
            return out.forward(packet);
        }
        let Some(Header::Shim(shim)) = out.headers.unwrap(&mut packet) else {
            return out.discard(packet);
        };
        packet.set_wire_bytes(packet.wire_bytes() - self.cfg.header_bytes);
        self.look(&packet, &shim);
        self.restore(&mut packet, &shim, out);
        if let Some(number) = shim.number {
            let first = self.note(number).is_some();
            self.advance(number, shim.oldest);
            self.named = (number, shim.copy);
            self.first_sent = shim.first_sent;
            self.waiting += 1;
            if self.waiting >= self.cfg.ack_every {
                self.acknowledge(out);
            } else if self.deadline.is_none() {
                self.deadline = Some(now + self.cfg.ack_delay);
            }
            if !first {
                self.stats.twice += 1;
                return out.discard(packet);
            }
        } else if self.bleached && self.waiting == 0 && self.looked.0 == 0 {
            // No further selected packet may arrive whose router ACK could carry this message.
            self.acknowledge(out);
        }
        match &mut self.order {
            Some(order) => order.arrive(now, &shim, packet, out),
            None => out.forward(packet),
        }
    }

    fn next_wake(&self) -> Option<Nanos> {
        let order = self.order.as_ref().and_then(Order::next_wake);
        match (self.deadline, order) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn wake(&mut self, now: Nanos, out: &mut Actions) {
        if self.deadline.is_some_and(|at| at <= now) {
            self.acknowledge(out);
        }
        if let Some(order) = &mut self.order {
            order.wake(now, out);
        }
    }
}
