// SPDX-License-Identifier: MIT OR Apache-2.0
//! The near router: selects packets, makes them droppable, keeps copies of them, and sends a copy
//! when the far router's ACKs show that the packet is lost.

use cemark_wire::hash::mix;
use cemark_wire::{Ecn, Flags, Nanos, Packet};

use crate::config::{AckForm, Clones, CopyPolicy, DcibConfig, Recovery};
use crate::select::{Agreed, Even};
use crate::shim::{Header, Report, SHIM, Shim};
use crate::stalled::{Entry, Stalled};
use crate::{Actions, Middlebox};

/// Bytes of the smallest packet on a wire.
const LEAST_BYTES: u64 = 64;
/// Copies for which every pair of routers has room.
const AT_LEAST: u64 = 1 << 15;

/// Copies that a stalled queue of `bytes` bytes can hold. The far router remembers a multiple of
/// that many sequence numbers.
pub(crate) fn most_copies_kept(stalled_bytes: u64) -> u64 {
    (stalled_bytes / LEAST_BYTES).max(AT_LEAST)
}

/// Counts of a near router.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NearStats {
    /// Packets selected.
    pub selected: u64,
    /// Data packets that could not be selected because the stalled queue was full.
    pub full: u64,
    /// Packets sent as probes above the agreed rate.
    pub probes: u64,
    /// Copies sent on the evidence of a router ACK.
    pub resent: u64,
    /// Copies sent because no router ACK came for one and a half round trips.
    pub flushed: u64,
    /// Copies sent into an idle link, without evidence.
    pub idle: u64,
    /// Router ACKs that matched no copy in the queue.
    pub unmatched: u64,
    /// The most bytes of copies ever kept.
    pub peak_bytes: u64,
    /// Whether it turned itself off because the path clears ECN.
    pub off: bool,
}

/// The router at the sending edge of one path.
#[derive(Debug)]
pub struct Near {
    cfg: DcibConfig,
    even: Even,
    agreed: Option<Agreed>,
    stalled: Stalled,
    next: u64,
    /// For each lane: the last place assigned, and the place of its last selected packet.
    lanes: Vec<(u64, u64)>,
    /// Smoothed round trip of packets whose first sending was acknowledged.
    measured: Nanos,
    /// When the port may be idle.
    idle_at: Nanos,
    stats: NearStats,
}

impl Near {
    /// A router with an empty stalled queue.
    pub fn new(cfg: DcibConfig) -> Self {
        Near {
            cfg,
            even: Even::default(),
            agreed: cfg.probe_above.map(Agreed::new),
            stalled: Stalled::default(),
            next: 0,
            lanes: vec![(0, 0); usize::from(cfg.lanes)],
            measured: Nanos::ZERO,
            idle_at: Nanos::ZERO,
            stats: NearStats::default(),
        }
    }

    /// The router's counts since its start.
    pub fn stats(&self) -> NearStats {
        NearStats {
            peak_bytes: self.stalled.peak,
            ..self.stats
        }
    }

    /// Bytes of copies kept now.
    pub fn stalled_bytes(&self) -> u64 {
        self.stalled.bytes()
    }

    /// Copies kept now.
    pub fn stalled_packets(&self) -> usize {
        self.stalled.len()
    }

    /// The time without router ACKs that means loss: one and a half round trips.
    fn patience(&self) -> Nanos {
        let tau = self.measured.max(self.cfg.tau);
        Nanos(tau.0 + tau.0 / 2)
    }

    fn outward(&mut self, now: Nanos, mut packet: Packet, out: &mut Actions) {
        let flags = packet.flags();
        let data = !packet.is_empty() && flags.0 & (Flags::ACK.0 | Flags::PROBE.0) == 0;
        let bytes = packet.wire_bytes();
        let bound = self.cfg.stalled_bytes;
        let most = most_copies_kept(bound) as usize;
        let room = self.stalled.has_room(u64::from(bytes), bound, most);
        // Only data packets are counted and selected. If ACKs counted too, a rare data packet among
        // many ACKs would always be selected.
        let selected = data && self.even.select(bytes, self.cfg.share, room);
        if data && !room {
            self.stats.full += 1;
        }
        let above = data && self.agreed.as_mut().is_some_and(|a| a.exceeds(now, bytes));
        let lane = (mix(u64::from(packet.conn)) as usize) & (self.lanes.len() - 1);
        let (place, after) = &mut self.lanes[lane];
        *place += 1;
        let mut shim = Shim {
            number: None,
            copy: 0,
            first_sent: now,
            oldest: 0,
            probe: above && !selected && self.cfg.clones == Clones::Selected,
            ecn: packet.ecn(),
            lane: lane as u16,
            place: *place,
            after: *after,
            aux: packet.aux,
        };
        let kept = match self.cfg.clones {
            Clones::Selected => selected,
            Clones::Others => data && room && !selected,
        };
        self.stats.selected += u64::from(selected);
        if kept {
            *after = *place;
            shim.number = Some(self.next);
            if self.cfg.ack_form == AckForm::Cumulative {
                shim.oldest = self.stalled.oldest().unwrap_or(self.next);
            }
            let entry = Entry {
                packet: out.clone_to(&packet),
                shim,
                number: self.next,
                sent: now,
            };
            self.stalled.push(entry);
            self.next += 1;
            self.idle_at = self.idle_at.max(out.free_at).max(now);
        }
        self.stats.probes += u64::from(shim.probe);
        if selected || shim.probe {
            out.rewrite(&mut packet, Ecn::NotEct);
        } else if shim.ecn == Ecn::NotEct {
            out.rewrite(&mut packet, self.cfg.raise);
        }
        self.wrap(&mut packet, shim, out);
        out.forward(packet);
    }

    fn wrap(&self, packet: &mut Packet, shim: Shim, out: &mut Actions) {
        packet.set_wire_bytes(packet.wire_bytes() + self.cfg.header_bytes);
        out.headers.wrap(packet, Header::Shim(shim));
    }

    /// Sends a copy; it is kept again where the policy says so.
    fn send(&mut self, now: Nanos, entry: Entry, out: &mut Actions) {
        let shim = Shim {
            copy: entry.shim.copy.saturating_add(1),
            ..entry.shim
        };
        let again = self.cfg.recovery == Recovery::Evidence
            && self.cfg.copies == CopyPolicy::Restore
            && shim.copy < self.cfg.most_copies;
        if again {
            let packet = out.clone_to(&entry.packet);
            self.stalled.push(Entry {
                packet,
                shim,
                sent: now,
                ..entry
            });
        }
        let mut packet = entry.packet;
        let ecn = match self.cfg.copies {
            CopyPolicy::Protect if packet.ecn().is_capable() => packet.ecn(),
            CopyPolicy::Protect => self.cfg.raise,
            // The packet was not selected, and its copy is sent as it was.
            _ if self.cfg.clones == Clones::Others => match packet.ecn() {
                Ecn::NotEct => self.cfg.raise,
                own => own,
            },
            CopyPolicy::Once | CopyPolicy::Restore => Ecn::NotEct,
        };
        out.rewrite(&mut packet, ecn);
        self.wrap(&mut packet, shim, out);
        out.release(packet);
    }

    fn report(&mut self, now: Nanos, report: &Report, out: &mut Actions) {
        if report.bleached {
            self.shut_off(out);
            return;
        }
        let (number, copy) = report.named;
        if copy == 0 {
            self.measure(now, report.first_sent);
        }
        let named = self.stalled.find(number).map(|(i, e)| (i, *e));
        match named {
            None => self.stats.unmatched += 1,
            Some((slot, entry)) => {
                let ahead = self.stalled.ahead_of(slot);
                self.stalled.remove(slot);
                out.forget(entry.packet);
                // What arrived may be an earlier transmission than the copy in the queue; then it
                // says nothing about the copies ahead of it.
                if entry.shim.copy == copy {
                    self.lost_before(now, ahead, entry.sent, report, out);
                }
            }
        }
        let arrived = (0..64).filter(|i| report.bits >> i & 1 == 1);
        let arrived = arrived.filter_map(|i| report.highest.checked_sub(i));
        self.stalled
            .extract(report.below, arrived, |e| out.forget(e.packet));
    }

    /// Updates the round trip from a packet's first transmission, also when the packet was declared
    /// lost too early: otherwise a queueing delay above the timeout would make every copy be sent,
    /// and the timeout would never grow.
    fn measure(&mut self, now: Nanos, sent: Nanos) {
        let sample = now.saturating_sub(sent).0;
        self.measured = match self.measured.0 {
            0 => Nanos(sample),
            old => Nanos(old - old / 8 + sample / 8),
        };
    }

    /// Copies ahead of one that arrived, and sent long enough before it, are lost: they are sent in
    /// order. `last` is the slot of the last of them.
    fn lost_before(
        &mut self,
        now: Nanos,
        last: Option<u32>,
        arrived: Nanos,
        report: &Report,
        out: &mut Actions,
    ) {
        // A copy that is sent again moves to the tail, so the ones ahead stay in front.
        let mut more = last.is_some();
        while more {
            let Some(entry) = self.stalled.front().copied() else {
                return;
            };
            if entry.sent + self.cfg.reorder > arrived {
                return;
            }
            more = self.stalled.first() != last;
            self.stalled.pop();
            if is_told(report, entry.number) {
                out.forget(entry.packet);
            } else {
                self.stats.resent += 1;
                self.send(now, entry, out);
            }
        }
    }

    fn shut_off(&mut self, out: &mut Actions) {
        self.stats.off = true;
        while let Some(entry) = self.stalled.pop() {
            out.forget(entry.packet);
        }
    }
}

/// Whether the router ACK says that this number, besides the one it names, arrived or was given up.
fn is_told(report: &Report, number: u64) -> bool {
    number < report.below
        || report
            .highest
            .checked_sub(number)
            .is_some_and(|i| i < 64 && report.bits >> i & 1 == 1)
}

impl Middlebox for Near {
    /// A packet for the far side, or a router ACK from there.
    fn on_packet(&mut self, now: Nanos, mut packet: Packet, out: &mut Actions) {
        if packet.flags().has(SHIM) {
            if let Some(Header::Report(report)) = out.headers.unwrap(&mut packet) {
                self.report(now, &report, out);
            }
            out.discard(packet);
        } else if self.stats.off {
            out.forward(packet);
        } else {
            self.outward(now, packet, out);
        }
    }

    fn next_wake(&self) -> Option<Nanos> {
        let front = self.stalled.front()?;
        Some(match self.cfg.recovery {
            Recovery::Evidence => front.sent + self.patience(),
            Recovery::Idle => self.idle_at,
        })
    }

    fn wake(&mut self, now: Nanos, out: &mut Actions) {
        match self.cfg.recovery {
            Recovery::Evidence => {
                let patience = self.patience();
                for _ in 0..self.stalled.len() {
                    let due = |e: &&Entry| e.sent + patience <= now;
                    let Some(entry) = self.stalled.front().filter(due).copied() else {
                        break;
                    };
                    self.stalled.pop();
                    self.stats.flushed += 1;
                    self.send(now, entry, out);
                }
            }
            Recovery::Idle if out.free_at > now => self.idle_at = out.free_at,
            Recovery::Idle => {
                // One at a time, so that a packet of a host that arrives now waits for one copy at
                // most.
                if let Some(entry) = self.stalled.pop() {
                    let bytes = u64::from(entry.packet.wire_bytes());
                    self.stats.idle += 1;
                    self.send(now, entry, out);
                    // Only the owner knows when this copy has been sent; until the next call this
                    // estimate is early enough.
                    self.idle_at = now + Nanos(1.max(bytes / 64));
                }
            }
        }
    }
}
