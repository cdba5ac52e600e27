// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which numbers of a rising sequence have arrived. A number arrives once; one that is too old to
//! know counts as arrived.

/// Numbers that are remembered.
const WINDOW: u64 = 8_192;

/// The last numbers that arrived.
#[derive(Debug)]
pub struct Seen {
    bits: Box<[u64]>,
    /// Number above the highest that arrived.
    top: u64,
}

impl Default for Seen {
    fn default() -> Self {
        Seen {
            bits: vec![0; (WINDOW / 64) as usize].into(),
            top: 0,
        }
    }
}

impl Seen {
    /// Records a number, and returns whether it is new.
    pub fn note(&mut self, number: u64) -> bool {
        if number >= self.top {
            let skipped = (number - self.top).min(WINDOW);
            for n in number - skipped..number {
                self.clear(n);
            }
            self.top = number + 1;
            self.set(number);
            return true;
        }
        if self.top - number > WINDOW || self.has(number) {
            return false;
        }
        self.set(number);
        true
    }

    fn place(number: u64) -> (usize, u64) {
        ((number % WINDOW / 64) as usize, 1 << (number % 64))
    }

    fn has(&self, number: u64) -> bool {
        let (word, bit) = Seen::place(number);
        self.bits[word] & bit != 0
    }

    fn set(&mut self, number: u64) {
        let (word, bit) = Seen::place(number);
        self.bits[word] |= bit;
    }

    fn clear(&mut self, number: u64) {
        let (word, bit) = Seen::place(number);
        self.bits[word] &= !bit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn as_a_set_would_say() {
        let mut seen = Seen::default();
        let mut set = BTreeSet::new();
        let (mut random, mut base) = (1u64, 0u64);
        for i in 0..200_000u64 {
            random = cemark_wire::hash::mix(random);
            base += random % 3;
            // Jumps, so that words are cleared again.
            if i % 20_000 == 19_999 {
                base += 3 * WINDOW + random % 100;
            }
            let number = (base + 500).saturating_sub(random >> 20 & 1_023);
            let highest = set.last().copied().unwrap_or(0);
            let known = number + WINDOW > highest;
            assert_eq!(seen.note(number), known && set.insert(number), "{number}");
        }
    }

    #[test]
    fn what_is_too_old_counts_as_arrived() {
        let mut seen = Seen::default();
        assert!(seen.note(WINDOW));
        assert!(seen.note(1));
        assert!(!seen.note(0));
        assert!(!seen.note(WINDOW));
    }
}
