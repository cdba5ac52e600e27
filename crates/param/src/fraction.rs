// SPDX-License-Identifier: MIT OR Apache-2.0
//! A fraction in fixed point.

/// The number 1 in parts of 2^16.
pub const ONE: u32 = 1 << 16;

/// A fraction from 0 to 1 in parts of 2^16. Larger numbers count as 1.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fraction(pub u32);

impl Fraction {
    /// Never, or nothing of it.
    pub const ZERO: Fraction = Fraction(0);
    /// Always, or all of it.
    pub const ONE: Fraction = Fraction(ONE);

    /// `part` of `whole`, to the nearest 2^-16; at most 1, and 1 where `whole` is 0.
    ///
    /// ```
    /// # use cemark_param::Fraction;
    /// assert_eq!(Fraction::ratio(1, 100), Fraction(655)); // 1 %
    /// ```
    pub const fn ratio(part: u32, whole: u32) -> Fraction {
        if part >= whole {
            return Fraction::ONE;
        }
        let whole = whole as u64;
        Fraction(((((part as u64) << 16) + whole / 2) / whole) as u32)
    }
}
