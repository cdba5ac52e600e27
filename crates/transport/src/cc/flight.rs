// SPDX-License-Identifier: MIT OR Apache-2.0
//! A controller for a transport that numbers its packets.

use cemark_wire::{Ecn, Nanos, Rate};

use super::{Acked, CeCounted, Controller, Cut, Lost, PathSpec, Sampler};

/// The packets in flight of one path, and the controller that limits them: what a transport with
/// packet numbers, such as QUIC, needs between its loss detection (RFC 9002) and a [`Controller`].
///
/// Packet numbers ascend and are never reused. The transport calls
///
/// - [`on_sent`](Flight::on_sent) for each packet that counts against the window,
/// - [`on_acked`](Flight::on_acked) for each packet that an ACK frame newly acknowledges, then
///   [`on_ack_end`](Flight::on_ack_end) once for the frame, with its count of CE,
/// - [`on_lost`](Flight::on_lost) for each packet that it declares lost, then
///   [`on_loss_end`](Flight::on_loss_end) once for all of them,
///
/// and asks [`can_send`](Flight::can_send) and [`pacing_rate`](Flight::pacing_rate). `Flight`
/// counts bytes in flight, divides the packets into rounds (one window of data each), and passes on
/// at most one reduction per round and cause. Any type that implements [`Controller`] will do,
/// `Box<dyn Controller>` from [`Control::build`](super::Control::build) too.
#[derive(Debug)]
pub struct Flight<C> {
    controller: C,
    mss: u64,
    bytes_in_flight: u64,
    /// The next packet number.
    next: u64,
    /// Just above the largest acknowledged packet number.
    acked_to: u64,
    /// The round ends when a packet from this number on is acknowledged.
    round_end: u64,
    /// Packets below it were sent while the window was full.
    full_to: u64,
    /// Packets below it were sent before the last reduction, which had the cause `cut`.
    cut_end: u64,
    cut: Cut,
    /// Packets with CE reported so far.
    ce_total: u64,
    /// Packets and bytes that the current ACK frame acknowledged, and bytes in flight before the
    /// frame.
    acked: Batch,
    /// Packets and bytes that the current loss detection declared lost, and bytes in flight before
    /// it.
    lost: Batch,
    /// Bytes lost since the last sample.
    lost_bytes: u64,
    sampler: Option<Sampler>,
}

/// The packets of one ACK frame, or of one loss detection.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    packets: u64,
    bytes: u64,
    /// Just above the largest of them.
    to: u64,
    /// Bytes in flight before them.
    in_flight: u64,
}

impl Batch {
    fn add(&mut self, packet: u64, bytes: u64, in_flight: u64) {
        if self.packets == 0 {
            self.in_flight = in_flight;
        }
        self.packets += 1;
        self.bytes += bytes;
        self.to = self.to.max(packet + 1);
    }
}

impl<C: Controller> Flight<C> {
    /// Nothing in flight yet. `path` is what the controller was made with.
    pub fn new(path: &PathSpec, controller: C) -> Flight<C> {
        Flight {
            sampler: controller.wants_delivered().then(Sampler::default),
            controller,
            mss: u64::from(path.mss),
            bytes_in_flight: 0,
            next: 0,
            acked_to: 0,
            round_end: 0,
            full_to: 0,
            cut_end: 0,
            cut: Cut::None,
            ce_total: 0,
            acked: Batch::default(),
            lost: Batch::default(),
            lost_bytes: 0,
        }
    }

    /// Whether the window has room for a packet of `bytes` bytes. One packet may always leave when
    /// nothing is in flight.
    pub fn can_send(&self, bytes: u64) -> bool {
        self.bytes_in_flight == 0 || self.bytes_in_flight + bytes <= self.cwnd()
    }

    /// The packet with this number leaves.
    pub fn on_sent(&mut self, now: Nanos, packet: u64, bytes: u64) {
        if let Some(sampler) = &mut self.sampler {
            sampler.sent(now, (packet, 1), bytes, self.bytes_in_flight);
        }
        self.bytes_in_flight += bytes;
        self.next = packet + 1;
        if self.bytes_in_flight + self.mss > self.cwnd() {
            self.full_to = self.next;
        }
        self.controller.on_sent(now, bytes, self.bytes_in_flight);
    }

    /// The application has nothing more to send, though the window has room. Without this call
    /// samples of the delivery rate would take the application's rate for that of the path.
    pub fn on_app_limited(&mut self) {
        if let Some(sampler) = &mut self.sampler {
            sampler.limit(self.bytes_in_flight);
        }
    }

    /// An ACK frame acknowledges this packet for the first time.
    pub fn on_acked(&mut self, now: Nanos, packet: u64, bytes: u64) {
        self.acked.add(packet, bytes, self.bytes_in_flight);
        self.bytes_in_flight = self.bytes_in_flight.saturating_sub(bytes);
        if let Some(sampler) = &mut self.sampler {
            sampler.acked_between(now, packet, packet + 1);
        }
    }

    /// The ACK frame ends. `ce_total` is its ECN-CE count, the packets with CE since the connection
    /// began (0 in a frame without counts); `rtt` is a round-trip sample in nanoseconds, if the
    /// frame gives one.
    pub fn on_ack_end(&mut self, now: Nanos, ce_total: u64, rtt: Option<u32>) {
        let batch = core::mem::take(&mut self.acked);
        let ce_packets = ce_total.saturating_sub(self.ce_total).min(batch.packets);
        self.ce_total = self.ce_total.max(ce_total);
        if batch.packets == 0 {
            return;
        }
        let cwnd_limited = self.acked_to < self.full_to;
        let round_ended = batch.to > self.round_end;
        if round_ended {
            self.round_end = self.next;
        }
        self.acked_to = self.acked_to.max(batch.to);
        let in_recovery = self.cut == Cut::Loss && batch.to <= self.cut_end;
        self.controller.on_ack(&Acked {
            now,
            bytes: batch.bytes,
            packets: batch.packets,
            // The frame counts marked packets but does not name them: they have the mean size.
            ce_bytes: batch.bytes * ce_packets / batch.packets,
            ce_packets,
            bytes_in_flight: batch.in_flight,
            cwnd_limited,
            in_recovery,
            after_timeout: false,
            round_ended,
            rtt,
            delay: rtt.unwrap_or(0),
        });
        if ce_packets > 0 && batch.to > self.cut_end {
            self.controller.on_ce(&CeCounted {
                now,
                packets: ce_packets,
                bytes_in_flight: batch.in_flight,
            });
            self.cut_end = self.next;
            self.cut = Cut::Ce;
        }
        self.sample(now, in_recovery);
    }

    /// The transport declares this packet lost.
    pub fn on_lost(&mut self, packet: u64, bytes: u64) {
        self.lost.add(packet, bytes, self.bytes_in_flight);
        self.bytes_in_flight = self.bytes_in_flight.saturating_sub(bytes);
        self.lost_bytes += bytes;
    }

    /// Loss detection ends. `persistent` says that it established persistent congestion (RFC 9002
    /// section 7.6).
    pub fn on_loss_end(&mut self, now: Nanos, persistent: bool) {
        let batch = core::mem::take(&mut self.lost);
        if batch.packets == 0 {
            return;
        }
        let already = match batch.to <= self.cut_end {
            true => self.cut,
            false => Cut::None,
        };
        if already == Cut::Loss && !persistent {
            return;
        }
        self.controller.on_loss(&Lost {
            now,
            bytes: batch.bytes,
            packets: batch.packets,
            bytes_in_flight: batch.in_flight,
            timeout: persistent,
            already,
        });
        self.cut_end = self.next;
        self.cut = Cut::Loss;
    }

    /// Packets that left the window without being acknowledged or lost, such as those of a
    /// discarded packet number space.
    pub fn on_discarded(&mut self, bytes: u64) {
        self.bytes_in_flight = self.bytes_in_flight.saturating_sub(bytes);
    }

    fn sample(&mut self, now: Nanos, in_recovery: bool) {
        let Some(sampler) = &mut self.sampler else {
            return;
        };
        let lost = core::mem::take(&mut self.lost_bytes);
        if let Some(delivered) = sampler.finish(now, self.bytes_in_flight, lost, in_recovery)
            && self.controller.on_delivered(&delivered)
        {
            sampler.limit(self.bytes_in_flight);
        }
        if self.bytes_in_flight == 0 {
            sampler.forget_below(self.next);
        }
    }

    /// Congestion window in bytes.
    pub fn cwnd(&self) -> u64 {
        self.controller.cwnd()
    }

    /// Bytes sent, and neither acknowledged nor declared lost.
    pub fn bytes_in_flight(&self) -> u64 {
        self.bytes_in_flight
    }

    /// The rate that the controller asks for, headers included; `None`: it sets only a window,
    /// which may be spread over the round trip (RFC 9002 section 7.7).
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.controller.pacing_rate()
    }

    /// The ECN field of the packets.
    pub fn ecn(&self) -> Ecn {
        self.controller.ecn()
    }

    /// The controller.
    pub fn controller(&self) -> &C {
        &self.controller
    }

    /// The controller, for events that `Flight` does not know: `restart`, `wake`.
    pub fn controller_mut(&mut self) -> &mut C {
        &mut self.controller
    }
}
