// SPDX-License-Identifier: MIT OR Apache-2.0
//! A growing ring buffer with a third cursor, so that one ring holds both the packets that wait and
//! those on the wire.

use prefetch_index::prefetch_index;

/// First-in first-out storage whose width is a power of two.
///
/// Positions are free-running u32 counters: `head..mid` is on the wire, `mid..tail` waits. The
/// width follows the number of elements, down as well as up: a ring that once held a burst would
/// otherwise keep walking through all of that memory and evict useful cache lines. The storage
/// itself only grows, so there is no allocation after warm-up.
///
/// The fields take 32 bytes: a slice without spare capacity, and no padding. A fused port has them
/// in the cache line with its other hot fields.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Ring<T> {
    slots: Box<[T]>,
    /// Width minus one; the slots in use are the first of `slots`.
    mask: u32,
    head: u32,
    mid: u32,
    tail: u32,
}

/// Width of an empty ring.
const NARROWEST: u32 = 2;

impl<T: Copy + Default> Ring<T> {
    /// An empty ring.
    pub fn new() -> Self {
        Ring {
            slots: vec![T::default(); NARROWEST as usize].into(),
            mask: NARROWEST - 1,
            head: 0,
            mid: 0,
            tail: 0,
        }
    }

    #[inline]
    fn at(&self, position: u32) -> usize {
        (position & self.mask) as usize
    }

    /// Whether nothing is held.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// Elements held.
    #[inline]
    pub fn len(&self) -> u32 {
        self.tail.wrapping_sub(self.head)
    }

    /// Elements behind the middle cursor.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.tail.wrapping_sub(self.mid)
    }

    /// Whether the middle cursor is at the head: no transmission has been accounted for yet.
    #[inline]
    pub fn none_passed(&self) -> bool {
        self.mid == self.head
    }

    /// Appends.
    #[inline]
    pub fn push(&mut self, value: T) {
        *self.push_slot() = value;
    }

    /// Appends an element with arbitrary contents, which the caller writes in place.
    #[inline]
    pub fn push_slot(&mut self) -> &mut T {
        if self.len() > self.mask {
            self.widen();
        }
        let i = self.at(self.tail);
        self.tail = self.tail.wrapping_add(1);
        &mut self.slots[i]
    }

    /// Doubles the width: every element keeps its slot or moves up by the old width.
    #[cold]
    #[inline(never)]
    fn widen(&mut self) {
        let width = self.mask + 1;
        self.mask = 2 * width - 1;
        if self.slots.len() < 2 * width as usize {
            let mut slots = std::mem::take(&mut self.slots).into_vec();
            slots.resize(2 * width as usize, T::default());
            self.slots = slots.into();
        }
        for i in 0..self.len() {
            let position = self.head.wrapping_add(i);
            let (old, new) = ((position & (width - 1)) as usize, self.at(position));
            self.slots[new] = self.slots[old];
        }
    }

    /// Halves the width when the elements fit with room to spare. Called when the head is at the
    /// first slot, so that every element is in the lower half and keeps its slot.
    #[cold]
    #[inline(never)]
    fn narrow(&mut self) {
        let width = self.mask + 1;
        if width > NARROWEST && 8 * self.len() <= 3 * width {
            self.mask = width / 2 - 1;
        }
    }

    /// Prefetches the slot of the oldest element (also when the ring is empty), without waiting for
    /// it.
    #[inline(always)]
    pub fn prefetch_front(&self) {
        prefetch_index(&self.slots[..], self.at(self.head));
    }

    /// Prefetches the slot of the element after the oldest.
    #[inline(always)]
    pub fn prefetch_second(&self) {
        prefetch_index(&self.slots[..], self.at(self.head.wrapping_add(1)));
    }

    /// Prefetches the slot that the next element takes when it is appended.
    #[inline(always)]
    pub fn prefetch_free(&self) {
        prefetch_index(&self.slots[..], self.at(self.tail));
    }

    /// The oldest element.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.is_empty() {
            None
        } else {
            Some(&self.slots[self.at(self.head)])
        }
    }

    /// The newest element.
    #[inline]
    pub fn back(&self) -> Option<&T> {
        if self.is_empty() {
            None
        } else {
            Some(&self.slots[self.at(self.tail.wrapping_sub(1))])
        }
    }

    /// The element after the oldest.
    #[inline]
    pub fn second(&self) -> Option<&T> {
        if self.len() < 2 {
            None
        } else {
            Some(&self.slots[self.at(self.head.wrapping_add(1))])
        }
    }

    /// Removes the oldest element without reading it, and returns whether it was still behind the
    /// middle cursor. The ring must not be empty.
    #[inline]
    pub fn skip(&mut self) -> bool {
        debug_assert!(!self.is_empty());
        let waited = self.mid == self.head;
        self.mid = self.mid.wrapping_add(u32::from(waited));
        self.head = self.head.wrapping_add(1);
        if self.head & self.mask == 0 {
            self.narrow();
        }
        waited
    }

    /// How many elements were ever appended, modulo 2^32.
    #[inline]
    pub fn pushed(&self) -> u32 {
        self.tail
    }

    /// The elements that were appended after the first `pushed`; none of them has been removed.
    pub fn since(&self, pushed: u32) -> impl Iterator<Item = &T> {
        let count = self.tail.wrapping_sub(pushed);
        debug_assert!(count <= self.len());
        (0..count).map(move |i| &self.slots[self.at(pushed.wrapping_add(i))])
    }

    /// Removes every element before the middle cursor.
    pub fn skip_passed(&mut self) {
        while self.head != self.mid {
            self.skip();
        }
    }

    /// Removes the oldest element; the middle cursor never falls behind the head.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let value = *self.front()?;
        self.skip();
        Some(value)
    }

    /// The first element behind the middle cursor.
    #[inline]
    pub fn next_waiting(&self) -> Option<&T> {
        if self.mid == self.tail {
            None
        } else {
            Some(&self.slots[self.at(self.mid)])
        }
    }

    /// Moves the middle cursor behind the last element.
    #[inline]
    pub fn advance_all(&mut self) {
        self.mid = self.tail;
    }

    /// Moves the middle cursor over one element.
    #[inline]
    pub fn advance(&mut self) {
        debug_assert!(self.mid != self.tail);
        self.mid = self.mid.wrapping_add(1);
    }
}

impl<T: Copy + Default> Default for Ring<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_and_cursors_through_growth() {
        let mut r = Ring::new();
        for i in 0..5u32 {
            r.push(i);
        }
        r.advance();
        r.advance();
        assert_eq!((r.pop(), r.waiting()), (Some(0), 3));
        for i in 5..100 {
            r.push(i);
        }
        assert_eq!(r.next_waiting(), Some(&2));
        for i in 1..100 {
            assert_eq!(r.pop(), Some(i));
        }
        assert_eq!((r.pop(), r.waiting(), r.len()), (None, 0, 0));
        for i in 0..20 {
            r.push(i);
        }
        let position = r.pushed().wrapping_sub(3);
        assert_eq!(r.since(position).copied().collect::<Vec<_>>(), [17, 18, 19]);
        (0..7).for_each(|_| r.advance());
        r.skip_passed();
        assert_eq!((r.front(), r.waiting(), r.len()), (Some(&7), 13, 13));
    }

    #[test]
    fn follows_what_it_holds_down_and_up() {
        let mut r = Ring::new();
        let (mut next_in, mut next_out) = (0u32, 0u32);
        // Bursts of falling and rising size, with something always held.
        for burst in [700, 3, 3, 3, 90, 90, 90, 5, 5, 700, 1, 1, 40] {
            for _ in 0..20 {
                for _ in 0..burst {
                    r.push(next_in);
                    next_in += 1;
                }
                while r.len() > burst / 2 {
                    assert_eq!(r.pop(), Some(next_out));
                    next_out += 1;
                }
            }
        }
        assert!(
            r.slots.len() == 1024 || r.slots.len() == 2048,
            "storage {}",
            r.slots.len()
        );
        for _ in 0..20_000 {
            r.push(next_in);
            next_in += 1;
            while r.len() > 4 {
                assert_eq!(r.pop(), Some(next_out));
                next_out += 1;
            }
        }
        assert!(r.mask < 32, "width {} for four elements", r.mask + 1);
    }
}
