// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two clocks: markers see nanoseconds, like a kernel; the simulator reports picoseconds.

use core::ops::{Add, AddAssign, Sub};

macro_rules! clock {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name(pub u64);

        impl $name {
            /// The origin of the clock, and the empty duration.
            pub const ZERO: Self = Self(0);
            /// Later than anything.
            pub const MAX: Self = Self(u64::MAX);

            /// The difference, or zero when `earlier` is in fact later.
            #[inline]
            pub const fn saturating_sub(self, earlier: Self) -> Self {
                Self(self.0.saturating_sub(earlier.0))
            }

            /// The sum, or the end of time.
            #[inline]
            pub const fn saturating_add(self, span: Self) -> Self {
                Self(self.0.saturating_add(span.0))
            }
        }

        impl Add for $name {
            type Output = Self;
            #[inline]
            fn add(self, rhs: Self) -> Self {
                Self(self.0 + rhs.0)
            }
        }

        impl AddAssign for $name {
            #[inline]
            fn add_assign(&mut self, rhs: Self) {
                self.0 += rhs.0;
            }
        }

        impl Sub for $name {
            type Output = Self;
            #[inline]
            fn sub(self, rhs: Self) -> Self {
                Self(self.0 - rhs.0)
            }
        }
    };
}

clock!(
    /// Nanoseconds: an instant or a span, as markers and transports see time.
    Nanos
);
clock!(
    /// Picoseconds: an instant or a span, exact for every byte time of a fabric (213 days fit).
    Picos
);

impl Nanos {
    /// A span of whole microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Self(us * 1_000)
    }

    /// A span of whole milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }
}

impl Picos {
    /// Whole nanoseconds, rounded down as a kernel clock rounds.
    #[inline]
    pub const fn to_nanos(self) -> Nanos {
        Nanos(self.0 / 1_000)
    }

    /// A span of whole nanoseconds.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns * 1_000)
    }

    /// A span of whole microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Self(us * 1_000_000)
    }

    /// Seconds, for people.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-12
    }

    /// Microseconds, for people.
    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 * 1e-6
    }
}

impl From<Nanos> for Picos {
    fn from(n: Nanos) -> Self {
        Picos(n.0 * 1_000)
    }
}
