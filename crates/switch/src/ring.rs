// SPDX-License-Identifier: MIT OR Apache-2.0
//! A growing ring buffer with a third cursor, so that one ring holds what waits and what is already on the wire.

/// First-in first-out storage whose capacity is a power of two. Grows; never shrinks, so that nothing is allocated once warm.
///
/// Positions are free-running u32 counters: `head..mid` is on the wire, `mid..tail` waits.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    slots: Box<[T]>,
    head: u32,
    mid: u32,
    tail: u32,
}

impl<T: Copy + Default> Ring<T> {
    /// An empty ring.
    pub fn new() -> Self {
        Ring {
            slots: vec![T::default(); 8].into_boxed_slice(),
            head: 0,
            mid: 0,
            tail: 0,
        }
    }

    #[inline]
    fn at(&self, position: u32) -> usize {
        position as usize & (self.slots.len() - 1)
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

    /// Whether the middle cursor stands at the head: nothing is on the wire as far as has been accounted for.
    #[inline]
    pub fn none_passed(&self) -> bool {
        self.mid == self.head
    }

    /// Appends.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.len() as usize == self.slots.len() {
            self.grow();
        }
        let i = self.at(self.tail);
        self.slots[i] = value;
        self.tail = self.tail.wrapping_add(1);
    }

    #[cold]
    fn grow(&mut self) {
        let mut wider = vec![T::default(); self.slots.len() * 2].into_boxed_slice();
        let mask = wider.len() - 1;
        for p in 0..self.len() {
            let p = self.head.wrapping_add(p);
            wider[p as usize & mask] = self.slots[self.at(p)];
        }
        self.slots = wider;
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

    /// The element after the oldest.
    #[inline]
    pub fn second(&self) -> Option<&T> {
        if self.len() < 2 {
            None
        } else {
            Some(&self.slots[self.at(self.head.wrapping_add(1))])
        }
    }

    /// Removes the oldest element; the middle cursor never falls behind the head.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let value = *self.front()?;
        if self.mid == self.head {
            self.mid = self.mid.wrapping_add(1);
        }
        self.head = self.head.wrapping_add(1);
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
    }
}
