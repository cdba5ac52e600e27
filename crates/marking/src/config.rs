// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a scheme declares its parameters: once, as the fields of its configuration.
//!
//! `config!` makes three things of one declaration: the struct with real types that an embedder
//! fills in, the table of [`ParamSpec`](crate::ParamSpec)s from which TOML keys, `cemark schemes`
//! and the documentation come, and the conversions between the two. A field that does not exist is
//! a compile error. rustfmt does not look inside the macros: keep their lines short by hand.

use cemark_wire::Nanos;

use crate::Hook;
use crate::fixed::ONE;

/// One second in nanoseconds: the largest value of most times.
pub const SECOND: u64 = 1_000_000_000;

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
    /// # use cemark_marking::Fraction;
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

/// The type of a configuration's field, which the catalogue stores in 64 bits.
pub(crate) trait Field: Copy {
    /// The field that `stored` means; the nearest one where it does not fit.
    fn from_stored(stored: u64) -> Self;
    /// The number that means this field.
    fn stored(self) -> u64;
}

impl Field for Nanos {
    fn from_stored(stored: u64) -> Self {
        Nanos(stored)
    }

    fn stored(self) -> u64 {
        self.0
    }
}

impl Field for Fraction {
    fn from_stored(stored: u64) -> Self {
        Fraction(u32::from_stored(stored))
    }

    fn stored(self) -> u64 {
        self.0.into()
    }
}

impl Field for u32 {
    fn from_stored(stored: u64) -> Self {
        u32::try_from(stored).unwrap_or(u32::MAX)
    }

    fn stored(self) -> u64 {
        self.into()
    }
}

impl Field for u16 {
    fn from_stored(stored: u64) -> Self {
        u16::try_from(stored).unwrap_or(u16::MAX)
    }

    fn stored(self) -> u64 {
        self.into()
    }
}

impl Field for bool {
    fn from_stored(stored: u64) -> Self {
        stored != 0
    }

    fn stored(self) -> u64 {
        self.into()
    }
}

/// Declares the configuration of a scheme. A parameter is a doc comment (one sentence or two, with
/// the paper's section), a name (the paper's), a type, and in `kind(default, range)` how it is
/// stored:
///
/// | kind | type | stored in | range |
/// |---|---|---|---|
/// | `time(85_000, 0..=SECOND)` | `Nanos` | nanoseconds | to be given |
/// | `bytes(97_500)` | `u32` | bytes of a queue | 0 to 2^32 - 1 if not given |
/// | `packet(1_500, 0..=65_535)` | `u32` | bytes of a packet | 0 to 2^32 - 1 if not given |
/// | `fraction(655)` | `Fraction` | parts of 2^16 | 0 to 1 if not given |
/// | `count(3, 0..=15)` | `u32` or `u16` | itself | to be given |
/// | `flag(true)` | `bool` | 0 or 1 | - |
/// | `choice(Word::This)` | an enum by [`choice!`] | its place | - |
macro_rules! config {
    (
        $(#[$meta:meta])*
        pub struct $Config:ident {
            $(
                $(#[doc = $doc:literal])+
                $name:ident: $Type:ty = $kind:ident($default:expr $(, $min:literal..=$max:expr)?)
            ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        ///
        /// A value outside its range counts as the nearest one inside;
        #[doc = concat!("[`", stringify!($Config), "::check`] names it.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $Config {
            $(
                $(#[doc = $doc])+
                #[doc = ""]
                #[doc = concat!(
                    "Default and range: `", stringify!($kind($default $(, $min..=$max)?)), "`."
                )]
                pub $name: $Type
            ),+
        }

        const _: () = assert!($Config::PARAMS.len() <= $crate::MAX_PARAMS);

        impl $Config {
            /// The declarations of the fields, in their order.
            pub const PARAMS: &'static [$crate::ParamSpec] = &[$({
                let (kind, min, max) = $crate::config::range!($kind, $Type $(, $min, $max)?);
                $crate::ParamSpec {
                    name: stringify!($name),
                    kind,
                    default: $default as u64,
                    min,
                    max,
                    of_queue: $crate::config::of_queue!($kind),
                    doc: concat!($($doc),+).trim_ascii(),
                }
            }),+];

            /// The same with every value inside its range.
            #[must_use]
            pub fn clamped(self) -> Self {
                Self::read(&$crate::Values::from(self).clamped(Self::PARAMS))
            }

            /// Whether every value is inside its range, and if not, which one is not.
            pub fn check(&self) -> Result<(), $crate::OutOfRange> {
                $crate::Values::from(*self).check(Self::PARAMS)
            }

            /// The declaration of one parameter. A wrong name does not compile in a constant.
            #[allow(dead_code)] // for entries that name one of their parameters
            const fn param(name: &str) -> &'static $crate::ParamSpec {
                &Self::PARAMS[$crate::params::place(Self::PARAMS, name)]
            }

            /// The fields in the order of the table, whatever their ranges.
            fn read(values: &$crate::Values) -> Self {
                let mut place = 0..;
                let mut next = || values.get(place.next().unwrap_or(0));
                $Config { $($name: $crate::config::Field::from_stored(next())),+ }
            }
        }

        impl Default for $Config {
            fn default() -> Self {
                Self::read(&$crate::Values::of_defaults(Self::PARAMS))
            }
        }

        impl From<&$crate::Values> for $Config {
            fn from(values: &$crate::Values) -> Self {
                Self::read(&values.clamped(Self::PARAMS))
            }
        }

        impl From<$Config> for $crate::Values {
            fn from(config: $Config) -> Self {
                let mut values = $crate::Values([0; $crate::MAX_PARAMS]);
                let stored = [$($crate::config::Field::stored(config.$name)),+];
                values.0[..stored.len()].copy_from_slice(&stored);
                values
            }
        }
    };
}

/// What a parameter's kind says of it: how it is written, its smallest and its largest value.
macro_rules! range {
    (time, $Type:ty, $min:literal, $max:expr) => {
        ($crate::Kind::Time, $min, $max)
    };
    (bytes, $Type:ty) => {
        ($crate::Kind::Bytes, 0, u32::MAX as u64)
    };
    (bytes, $Type:ty, $min:literal, $max:expr) => {
        ($crate::Kind::Bytes, $min, $max)
    };
    (packet, $Type:ty $(, $min:literal, $max:expr)?) => {
        $crate::config::range!(bytes, $Type $(, $min, $max)?)
    };
    (fraction, $Type:ty) => {
        ($crate::Kind::Fraction, 0, $crate::fixed::ONE as u64)
    };
    (fraction, $Type:ty, $min:literal, $max:expr) => {
        ($crate::Kind::Fraction, $min, $max)
    };
    (count, $Type:ty, $min:literal, $max:expr) => {
        ($crate::Kind::Count, $min, $max)
    };
    (flag, $Type:ty) => {
        ($crate::Kind::Flag, 0, 1)
    };
    (choice, $Type:ty) => {{
        const WORDS: &[&str] = <$Type>::WORDS;
        ($crate::Kind::Choice(WORDS), 0, WORDS.len() as u64 - 1)
    }};
}

/// Whether a parameter of this kind is a length of a queue.
macro_rules! of_queue {
    (bytes) => {
        true
    };
    ($other:ident) => {
        false
    };
}

/// Declares an enum whose variants are words of a scenario file.
macro_rules! choice {
    (
        $(#[$meta:meta])*
        pub enum $Choice:ident { $($(#[$doc:meta])+ $Variant:ident = $word:literal),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Choice { $($(#[$doc])+ $Variant),+ }

        impl $Choice {
            /// The words of the variants, in their order.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
        }

        impl $crate::config::Field for $Choice {
            fn from_stored(stored: u64) -> Self {
                let all = [$($Choice::$Variant),+];
                all[(stored as usize).min(all.len() - 1)]
            }

            fn stored(self) -> u64 {
                self as u64
            }
        }
    };
}

pub(crate) use {choice, config, of_queue, range};

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
        /// It does not: every packet beyond one threshold is marked.
        Step = "step",
        /// As in RED: in a straight line from one threshold to the other, and 1 beyond.
        Ramp = "ramp",
    }
}
