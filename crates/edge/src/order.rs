// SPDX-License-Identifier: MIT OR Apache-2.0
//! In-order release at the far router. A packet waits while a selected packet that was sent before
//! it in its lane is missing. Packets that were not selected have no copy, so nothing waits for
//! them.

use std::collections::VecDeque;

use cemark_wire::{Nanos, Packet};

use crate::Actions;
use crate::shim::Shim;

#[derive(Debug, Default)]
struct Lane {
    /// The last place that was released.
    released: u64,
    /// The highest place of a selected packet that is known of.
    known: u64,
    /// Places of missing selected packets, and until when to wait for each; in rising order.
    awaited: VecDeque<(u64, Nanos)>,
    /// Packets that wait, in order of place.
    held: VecDeque<(u64, Packet)>,
}

impl Lane {
    fn release(&mut self, out: &mut Actions, bytes: &mut u64) {
        while let Some(&(place, packet)) = self.held.front() {
            if self
                .awaited
                .front()
                .is_some_and(|&(missing, _)| missing < place)
            {
                return;
            }
            self.held.pop_front();
            self.released = place;
            *bytes -= u64::from(packet.wire_bytes());
            out.release(packet);
        }
    }
}

/// All lanes of a far router.
#[derive(Debug)]
pub(crate) struct Order {
    hold: Nanos,
    lanes: Vec<Lane>,
    /// Deadlines of waits, in order of time because all waits are equally long.
    ends: VecDeque<(Nanos, u16)>,
    bytes: u64,
    /// The most bytes that ever waited.
    pub peak: u64,
    /// Packets that arrived after their place had been given up, and were discarded.
    pub late: u64,
    /// Waits that ended without their packet.
    pub given_up: u64,
}

impl Order {
    pub fn new(hold: Nanos, lanes: u16) -> Self {
        Order {
            hold,
            lanes: (0..lanes).map(|_| Lane::default()).collect(),
            ends: VecDeque::new(),
            bytes: 0,
            peak: 0,
            late: 0,
            given_up: 0,
        }
    }

    pub fn arrive(&mut self, now: Nanos, shim: &Shim, packet: Packet, out: &mut Actions) {
        let lane = &mut self.lanes[usize::from(shim.lane)];
        if shim.place <= lane.released {
            self.late += 1;
            out.discard(packet);
            return;
        }
        if shim.after > lane.known {
            lane.known = shim.after;
            lane.awaited.push_back((shim.after, now + self.hold));
            self.ends.push_back((now + self.hold, shim.lane));
        }
        if shim.number.is_some() {
            lane.known = lane.known.max(shim.place);
            lane.awaited.retain(|&(place, _)| place != shim.place);
        }
        if lane.awaited.is_empty() && lane.held.is_empty() {
            lane.released = shim.place;
            out.forward(packet);
            return;
        }
        let at = lane.held.partition_point(|&(place, _)| place < shim.place);
        lane.held.insert(at, (shim.place, packet));
        out.hold();
        self.bytes += u64::from(packet.wire_bytes());
        self.peak = self.peak.max(self.bytes);
        lane.release(out, &mut self.bytes);
    }

    /// The near router has turned itself off: no missing packet will arrive, and waiting packets
    /// are released before packets without a header.
    pub fn end(&mut self, out: &mut Actions) {
        if self.bytes == 0 {
            return;
        }
        for lane in &mut self.lanes {
            self.given_up += lane.awaited.len() as u64;
            lane.awaited.clear();
            lane.release(out, &mut self.bytes);
        }
        self.ends.clear();
    }

    pub fn next_wake(&self) -> Option<Nanos> {
        self.ends.front().map(|&(at, _)| at)
    }

    pub fn wake(&mut self, now: Nanos, out: &mut Actions) {
        while let Some(&(at, l)) = self.ends.front() {
            if at > now {
                return;
            }
            self.ends.pop_front();
            let lane = &mut self.lanes[usize::from(l)];
            let before = lane.awaited.len();
            lane.awaited.retain(|&(_, until)| until > now);
            self.given_up += (before - lane.awaited.len()) as u64;
            lane.release(out, &mut self.bytes);
        }
    }
}
