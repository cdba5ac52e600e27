// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two-bit ECN field of RFC 3168.

/// The ECN field, with its values on the wire.
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Ecn {
    /// The sender does not understand ECN: only a drop can signal congestion.
    #[default]
    NotEct = 0b00,
    /// ECN-capable, codepoint ECT(1).
    Ect1 = 0b01,
    /// ECN-capable, codepoint ECT(0).
    Ect0 = 0b10,
    /// Congestion Experienced.
    Ce = 0b11,
}

impl Ecn {
    /// Whether a switch may write CE on this packet (ECT(0), ECT(1) or CE already).
    #[inline]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }

    /// Rewrites the field, and returns whether the field changed, so that the caller can count. A
    /// middlebox and a fault of a path are the exceptions to "CE is never cleared", and the only
    /// callers.
    #[inline]
    #[must_use = "a rewrite is counted"]
    pub fn rewrite(&mut self, to: Ecn) -> bool {
        core::mem::replace(self, to) != to
    }

    /// The codepoint of the low two bits of a Traffic Class or TOS byte.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }
}
