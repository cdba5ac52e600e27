// SPDX-License-Identifier: MIT OR Apache-2.0
//! The link behind a port with queues: packets in transmission and on the wire.

use cemark_wire::Packet;

use crate::clock::NEVER;
use crate::queue::{Chain, Slots};
use crate::ring::Ring;

/// Packets on the wire, in the slots in which they waited. The stamp of a packet is its arrival
/// time modulo 2^32; `far` holds full times where the delay is too long for that.
pub(crate) struct Wire {
    pub packets: Chain,
    /// How many of them, from the oldest on, [`Wire::next_untold`] has told of, and the slot of the
    /// last of these.
    told: u32,
    last_told: u32,
    pub far: Option<Box<Ring<u64>>>,
}

impl Wire {
    pub fn new(delay: u64) -> Self {
        Wire {
            packets: Chain::EMPTY,
            told: 0,
            last_told: 0,
            far: (delay >= 1 << 31).then(Box::default),
        }
    }

    /// Appends the packet in a slot. Returns whether it is the only one.
    #[inline(always)]
    pub fn push(&mut self, slots: &mut Slots, slot: u32, arrive: u64) -> bool {
        let packet = slots.packet_mut(slot);
        packet.set_out();
        packet.stamp = arrive as u32;
        let first = self.packets.len() == 0;
        self.packets.append(slots, slot);
        if let Some(far) = &mut self.far {
            far.push(arrive);
        }
        first
    }

    /// The oldest packet that this was not asked about.
    pub fn next_untold<'a>(&mut self, slots: &'a Slots) -> Option<&'a Packet> {
        if self.told == self.packets.len() {
            return None;
        }
        self.last_told = match self.told {
            0 => self.packets.first(),
            _ => slots.after(self.last_told),
        };
        self.told += 1;
        Some(&slots.get(self.last_told).packet)
    }

    /// Removes the head, which has arrived. Returns when the next packet arrives.
    #[inline(always)]
    pub fn advance(&mut self, slots: &mut Slots, now: u64) -> u64 {
        let slot = self.packets.pop(slots);
        slots.release(slot);
        self.told = self.told.saturating_sub(1);
        if let Some(far) = &mut self.far {
            far.skip();
            return far.front().copied().unwrap_or(NEVER);
        }
        if self.packets.len() == 0 {
            return NEVER;
        }
        // All packets on the wire arrive within the link's delay from now, so 32 bits determine the
        // time.
        let next = slots.get(self.packets.first()).packet.stamp;
        now + u64::from(next.wrapping_sub(now as u32))
    }
}
