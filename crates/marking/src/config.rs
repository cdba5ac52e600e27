// SPDX-License-Identifier: MIT OR Apache-2.0
//! The macros of a declaration, and choices that several schemes share.

pub use cemark_param::SECOND;
pub(crate) use cemark_param::{Field, choice, config};

use crate::Hook;

choice! {
    /// How a length is compared with a threshold, or a time with the time at which something is
    /// due.
    pub enum Compare {
        /// Above it.
        Strict = "strict",
        /// Above it or equal.
        AtLeast = "at_least",
    }
}

impl Compare {
    /// Whether `value` is beyond `threshold`.
    #[inline(always)]
    pub(crate) fn beyond<T: PartialOrd>(self, value: T, threshold: T) -> bool {
        value > threshold || (self == Compare::AtLeast && value == threshold)
    }
}

choice! {
    /// Where a scheme judges that can do so at either end of the queue.
    pub enum OneHook {
        /// As packets join.
        Enqueue = "enqueue",
        /// As packets leave.
        Dequeue = "dequeue",
    }
}

impl From<OneHook> for Hook {
    #[inline]
    fn from(hook: OneHook) -> Hook {
        match hook {
            OneHook::Enqueue => Hook::Enqueue,
            OneHook::Dequeue => Hook::Dequeue,
        }
    }
}

choice! {
    /// How a probability rises with the congestion.
    pub enum Shape {
        /// A step at one threshold: every packet beyond it is marked.
        Step = "step",
        /// As in RED: in a straight line from one threshold to the other, and 1 beyond.
        Ramp = "ramp",
    }
}
