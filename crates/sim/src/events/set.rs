// SPDX-License-Identifier: MIT OR Apache-2.0
//! A set of 4096 small numbers: 64 words, and one more whose bits tell which words are not empty.

/// Numbers below [`Set::SIZE`]. The operations of the hot path have no branch that depends on the
/// contents.
#[derive(Debug)]
pub(super) struct Set {
    /// Bit w: word w is not zero.
    any: u64,
    words: [u64; 64],
}

impl Set {
    pub(super) const SIZE: usize = 64 * 64;

    pub(super) const fn new() -> Self {
        Set {
            any: 0,
            words: [0; 64],
        }
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.any == 0
    }

    /// Whether `i`, taken modulo the size, is a member.
    #[inline(always)]
    pub(super) fn holds(&self, i: usize) -> bool {
        self.word(i) >> (i & 63) & 1 == 1
    }

    /// The members among the 64 numbers around `i`, taken modulo the size, as bits.
    #[inline(always)]
    pub(super) fn word(&self, i: usize) -> u64 {
        self.words[i >> 6 & 63]
    }

    /// Adds `i`, taken modulo the size.
    #[inline(always)]
    pub(super) fn insert(&mut self, i: usize) {
        let w = i >> 6 & 63;
        self.words[w] |= 1 << (i & 63);
        self.any |= 1 << w;
    }

    /// Removes `i` where `gone`.
    #[inline(always)]
    pub(super) fn remove_if(&mut self, i: usize, gone: bool) {
        let w = i >> 6 & 63;
        let left = self.words[w] & !(u64::from(gone) << (i & 63));
        self.words[w] = left;
        self.any &= !(u64::from(left == 0) << w);
    }

    /// The smallest member of a set that is not empty.
    #[inline(always)]
    pub(super) fn first(&self) -> usize {
        let w = self.any.trailing_zeros() as usize & 63;
        w << 6 | self.words[w].trailing_zeros() as usize & 63
    }

    /// All members, the smallest first.
    pub(super) fn members(&self) -> impl Iterator<Item = usize> {
        let of_word = move |w: usize| {
            (0..64)
                .filter(move |b| self.words[w] >> b & 1 == 1)
                .map(move |b| w << 6 | b)
        };
        (0..64).filter(|w| self.words[*w] != 0).flat_map(of_word)
    }

    /// Distance from `from` to the next member, going round once.
    pub(super) fn next_from(&self, from: usize) -> Option<usize> {
        let (w, b) = (from >> 6 & 63, from & 63);
        let here = self.words[w] >> b;
        if here != 0 {
            return Some(here.trailing_zeros() as usize);
        }
        // The words after this one, and finally the beginning of this one.
        let others = self.any.rotate_right(w as u32 + 1);
        if others == 0 {
            return None;
        }
        let w = (w + 1 + others.trailing_zeros() as usize) & 63;
        let i = w << 6 | self.words[w].trailing_zeros() as usize;
        Some((i + Self::SIZE - from) % Self::SIZE)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_a_set(
            steps in proptest::collection::vec((0usize..Set::SIZE, 0u8..4), 0..300),
            from in 0usize..Set::SIZE,
        ) {
            let (mut set, mut model) = (Set::new(), BTreeSet::new());
            for (i, what) in steps {
                if what < 2 {
                    set.insert(i);
                    model.insert(i);
                } else {
                    let gone = what == 2;
                    set.remove_if(i, gone);
                    if gone {
                        model.remove(&i);
                    }
                }
                prop_assert_eq!(set.is_empty(), model.is_empty());
                if let Some(&first) = model.first() {
                    prop_assert_eq!(set.first(), first);
                }
            }
            let next = model.range(from..).next().map(|i| i - from)
                .or_else(|| model.first().map(|i| i + Set::SIZE - from));
            prop_assert_eq!(set.next_from(from), next);
            prop_assert!(set.members().eq(model.iter().copied()));
        }
    }
}
