// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bits of a packet.

/// A packet that is read from its beginning.
#[derive(Debug)]
pub(crate) struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Bits<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Bits { bytes, at: 0 }
    }

    /// The next bits as a number; none where the packet is too short.
    pub fn take(&mut self, width: u32) -> Option<u128> {
        let end = self.at + width as usize;
        if end > self.bytes.len() * 8 {
            return None;
        }
        let mut value = 0;
        while self.at < end {
            let (byte, offset) = (self.bytes[self.at / 8], self.at % 8);
            let bits = (8 - offset).min(end - self.at);
            let part = (byte >> (8 - offset - bits)) & ((1u16 << bits) - 1) as u8;
            value = value << bits | u128::from(part);
            self.at += bits;
        }
        Some(value)
    }

    /// Skips bits; false where the packet is too short.
    pub fn skip(&mut self, bits: u128) -> bool {
        let left = (self.bytes.len() * 8 - self.at) as u128;
        self.at += bits.min(left) as usize;
        bits <= left
    }

    /// Bytes that were not read, from the next whole byte on.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at.div_ceil(8)..]
    }
}

/// A packet that is written.
#[derive(Debug, Default)]
pub(crate) struct Written {
    bytes: Vec<u8>,
    /// Bits of the last byte that are used; 0: all.
    used: u32,
}

impl Written {
    pub fn put(&mut self, value: u128, width: u32) {
        for bit in (0..width).rev() {
            if self.used == 0 {
                self.bytes.push(0);
            }
            let last = self.bytes.last_mut().expect("pushed");
            *last |= ((value >> bit & 1) as u8) << (7 - self.used);
            self.used = (self.used + 1) % 8;
        }
    }

    pub fn with(mut self, payload: &[u8]) -> Vec<u8> {
        self.bytes.extend_from_slice(payload);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_read_as_they_are_written() {
        let mut out = Written::default();
        let fields = [(5, 3), (0x1ab, 9), (1, 1), (0xdead_beef, 32), (3, 3)];
        for (value, width) in fields {
            out.put(value, width);
        }
        let bytes = out.with(b"xy");
        assert_eq!(bytes.len(), 8);
        let mut bits = Bits::new(&bytes);
        for (value, width) in fields {
            assert_eq!(bits.take(width), Some(value));
        }
        assert_eq!(bits.rest(), b"xy");
        assert!(bits.skip(16));
        assert_eq!(bits.take(1), None);
        assert!(!bits.skip(1));
    }
}
