// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queue of the device below a port's queues: packets in it have been dequeued, and neither the
//! marker nor the scheduler sees them any more.
//!
//! ns-3 has one below its queue discs (the `TxQueue` of a net device), Linux the ring of the driver
//! below its qdiscs. The scheduler picks a packet, and a dequeue marker judges it, as soon as the
//! device has room, which is up to a device queue's time before it is sent.

use std::collections::VecDeque;

/// How much waits in the device below a port. The packet in transmission does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DeviceQueue {
    /// Up to this many packets of any size; zero: any number.
    pub packets: u32,
    /// Packets join while fewer bytes than these wait (Linux's byte queue limits); zero: any.
    pub bytes: u32,
}

impl DeviceQueue {
    /// No such queue: the link takes each packet from the port's queues.
    pub const NONE: DeviceQueue = DeviceQueue {
        packets: 0,
        bytes: 0,
    };

    /// Whether there is no such queue.
    pub fn is_none(&self) -> bool {
        *self == DeviceQueue::NONE
    }

    fn has_room(self, packets: u32, bytes: u64) -> bool {
        (self.packets == 0 || packets < self.packets)
            && (self.bytes == 0 || bytes < u64::from(self.bytes))
    }

    /// The most that can wait in it, in bytes.
    pub(crate) fn most_bytes(self) -> u64 {
        let packet = u64::from(u16::MAX);
        match (self.packets, self.bytes) {
            (packets, 0) => u64::from(packets) * packet,
            (_, bytes) => u64::from(bytes) + packet,
        }
    }
}

/// Rare parts of a port: a device queue, and a buffer that is counted in packets.
#[derive(Debug)]
pub(crate) struct Below {
    queue: DeviceQueue,
    /// The most packets that wait above the device; zero: bytes count.
    most_packets: u32,
    /// First tick at which the link is free after all packets in the device.
    line: u64,
    /// The packets that wait in the device, the oldest first: the start of the transmission, and
    /// the size.
    waiting: VecDeque<(u64, u32)>,
    bytes: u64,
}

impl Below {
    /// `None` where a port has neither.
    pub fn new(queue: DeviceQueue, most_packets: u32) -> Option<Box<Below>> {
        let plain = queue.is_none() && most_packets == 0;
        (!plain).then(|| {
            Box::new(Below {
                queue,
                most_packets,
                line: 0,
                waiting: VecDeque::new(),
                bytes: 0,
            })
        })
    }

    /// Whether `packets` above the device fill a buffer that is counted in packets.
    pub fn is_full(&self, packets: u32) -> bool {
        self.most_packets > 0 && packets >= self.most_packets
    }

    /// First tick at which the link is free.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// A packet enters the device at `now`. Returns when the link has sent it, and the first tick
    /// at which the next packet may enter.
    pub fn enter(&mut self, now: u64, bytes: u32, byte_ticks: u64) -> (u64, u64) {
        while let Some(&(start, size)) = self.waiting.front() {
            if start > now {
                break;
            }
            self.bytes -= u64::from(size);
            self.waiting.pop_front();
        }
        let start = self.line.max(now);
        self.line = start + u64::from(bytes) * byte_ticks;
        if start > now {
            self.waiting.push_back((start, bytes));
            self.bytes += u64::from(bytes);
        }
        (self.line, self.opens(now))
    }

    /// When the device has room again.
    fn opens(&self, now: u64) -> u64 {
        if self.queue.is_none() {
            return self.line;
        }
        let (mut at, mut bytes) = (now, self.bytes);
        let mut packets = self.waiting.len() as u32;
        for &(start, size) in &self.waiting {
            if self.queue.has_room(packets, bytes) {
                break;
            }
            at = start;
            bytes -= u64::from(size);
            packets -= 1;
        }
        at
    }
}
