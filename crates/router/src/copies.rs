// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes of packets that a state machine keeps. Each has memory of its own, which no code writes
//! to: a copy owns its headers.

/// Memory of a packet beside its bytes: the slot, the allocation's own header, its rounding.
const OVERHEAD: u64 = 64;

/// Memory that a packet of this length takes, its truesize.
pub fn memory(bytes: usize) -> u64 {
    OVERHEAD + bytes.next_multiple_of(16) as u64
}

#[derive(Debug)]
struct Copy {
    bytes: Box<[u8]>,
    holders: u32,
}

/// Packets in slots. A slot is free until a packet is kept there.
#[derive(Debug, Default)]
pub struct Copies {
    slots: Vec<Option<Copy>>,
    free: Vec<u32>,
    memory: u64,
    /// The most memory that they took.
    pub peak: u64,
}

impl Copies {
    /// The slot that the next packet to be kept will have.
    pub fn next_slot(&mut self) -> u32 {
        if let Some(slot) = self.free.last() {
            return *slot;
        }
        self.slots.push(None);
        let slot = self.slots.len() as u32 - 1;
        self.free.push(slot);
        slot
    }

    /// Keeps a packet in its slot, once more where it is there already.
    pub fn keep(&mut self, slot: u32, bytes: &[u8]) {
        match &mut self.slots[slot as usize] {
            Some(copy) => copy.holders += 1,
            empty => {
                *empty = Some(Copy {
                    bytes: bytes.into(),
                    holders: 1,
                });
                if self.free.last() == Some(&slot) {
                    self.free.pop();
                } else {
                    self.free.retain(|s| *s != slot);
                }
                self.memory += memory(bytes.len());
                self.peak = self.peak.max(self.memory);
            }
        }
    }

    /// The packet in a slot.
    pub fn get(&self, slot: u32) -> Option<&[u8]> {
        self.slots.get(slot as usize)?.as_ref().map(|c| &*c.bytes)
    }

    /// Ends one use of a packet; after the last its memory is free. Returns its bytes then.
    pub fn release(&mut self, slot: u32) -> Option<Box<[u8]>> {
        let place = self.slots.get_mut(slot as usize)?;
        let copy = place.as_mut()?;
        copy.holders -= 1;
        if copy.holders > 0 {
            return None;
        }
        let bytes = place.take()?.bytes;
        self.memory -= memory(bytes.len());
        self.free.push(slot);
        Some(bytes)
    }

    /// Packets that are kept.
    pub fn kept(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Memory that they take.
    pub fn memory(&self) -> u64 {
        self.memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_counted_once_a_packet_and_returned_after_the_last_use() {
        let mut copies = Copies::default();
        let a = copies.next_slot();
        assert_eq!(
            copies.next_slot(),
            a,
            "a slot is free until a packet is kept there"
        );
        copies.keep(a, &[1; 1_500]);
        copies.keep(a, &[1; 1_500]);
        let b = copies.next_slot();
        assert_ne!(a, b);
        copies.keep(b, &[2; 64]);
        assert_eq!(copies.memory(), 64 + 1_504 + 64 + 64);
        assert_eq!(copies.release(a), None);
        assert_eq!(copies.get(a), Some(&[1; 1_500][..]));
        assert_eq!(copies.release(a).as_deref(), Some(&[1; 1_500][..]));
        assert_eq!((copies.get(a), copies.kept()), (None, 1));
        assert_eq!((copies.memory(), copies.peak), (128, 1_696));
    }
}
