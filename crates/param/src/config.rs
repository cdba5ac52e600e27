// SPDX-License-Identifier: MIT OR Apache-2.0
//! The macros with which parameters are declared: once, as the fields of a configuration.
//!
//! A field that does not exist is a compile error. rustfmt does not look inside the macros: keep
//! their lines short by hand.

use cemark_wire::{Nanos, Picos, Rate};

use crate::Fraction;

/// Largest value of most times: a second, in nanoseconds.
pub const SECOND: u64 = 1_000_000_000;
/// Largest delay, in picoseconds: 1000 s.
pub const LONGEST_DELAY: u64 = 1_000_000_000_000_000;
/// Smallest and largest rate of a link or a sender, in bits per second.
pub const RATES: (u64, u64) = (1_000, 8_000_000_000_000);

/// The type of a configuration's field, which [`Values`](crate::Values) store in 64 bits.
pub trait Field: Copy {
    /// The field that `stored` means; the nearest one where it does not fit.
    fn from_stored(stored: u64) -> Self;
    /// The number that means this field.
    fn stored(self) -> u64;
}

macro_rules! fields {
    ($($Type:ty: $stored:ident => $field:expr, $this:ident => $number:expr;)+) => {$(
        impl Field for $Type {
            fn from_stored($stored: u64) -> Self {
                $field
            }

            fn stored(self) -> u64 {
                let $this = self;
                $number
            }
        }
    )+};
}

fields! {
    Nanos: n => Nanos(n), time => time.0;
    Picos: n => Picos(n), time => time.0;
    Rate: n => Rate(n), rate => rate.0;
    Fraction: n => Fraction(u32::from_stored(n)), part => part.0.into();
    u64: n => n, whole => whole;
    u32: n => u32::try_from(n).unwrap_or(u32::MAX), whole => whole.into();
    u16: n => u16::try_from(n).unwrap_or(u16::MAX), whole => whole.into();
    bool: n => n != 0, flag => flag.into();
}

/// Declares a configuration. A parameter is a doc comment (one sentence or two, with the paper's
/// section), a name (the paper's; `as "its-key"` where files write another), a type, and in
/// `kind(default, range)` how it is stored:
///
/// | kind | type | stored in | range |
/// |---|---|---|---|
/// | `time(85_000, 0..=SECOND)` | `Nanos` | nanoseconds | to be given |
/// | `delay(10_000_000)` | `Picos` | picoseconds | 0 to 1000 s |
/// | `span(10_000_000)` | `Picos` | picoseconds | above 0, to 1000 s |
/// | `host(0)` | `u32` | itself | - |
/// | `bytes(97_500)` | `u32`, `u64` | bytes of a queue | 0 to 2^32 - 1 if not given |
/// | `packet(1_500, 0..=65_535)` | `u32`, `u64` | bytes of no queue | 0 to 2^32 - 1 if not given |
/// | `rate(40_000_000)` | `Rate` | bits per second | 1 kb/s to 8 Tb/s |
/// | `fraction(655)` | `Fraction` | parts of 2^16, in percent | 0 to 1 if not given |
/// | `weight(128)` | `Fraction` | parts of 2^16 | 0 to 1 if not given |
/// | `parts(1_024, 0..=1_024)` | `u32` | parts of the largest value | to be given |
/// | `power(4)` | `u32` | n of 2^-n | 0 to 20 |
/// | `thousandths(700, 100..=990)` | `u32` | itself | to be given |
/// | `count(3, 0..=15)` | `u64`, `u32` or `u16` | itself | to be given |
/// | `flag(true)` | `bool` | 0 or 1 | - |
/// | `choice(Word::This)` | an enum by [`choice!`](crate::choice) | its place | - |
///
/// An [`Absent`](crate::Absent) after a semicolon, `count(8, 1..=64; Absent::Needed)`, says what a
/// parameter is that is not written, where this is not the default.
#[macro_export]
macro_rules! config {
    (
        $(#[$meta:meta])*
        pub struct $Config:ident {
            $(
                $(#[doc = $doc:literal])+
                $name:ident $(as $key:literal)?: $Type:ty =
                    $kind:ident($default:expr $(, $min:literal..=$max:expr)? $(; $absent:expr)?)
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
                let (kind, min, max) = $crate::range!($kind, $Type $(, $min, $max)?);
                $crate::ParamSpec {
                    name: $crate::first!($($key,)? stringify!($name)),
                    kind,
                    default: $default as u64,
                    min,
                    max,
                    absent: $crate::first!($($absent,)? $crate::Absent::Default),
                    of_queue: $crate::of_queue!($kind),
                    doc: concat!($($doc),+).trim_ascii(),
                }
            }),+];

            /// This configuration with every value inside its range.
            #[must_use]
            pub fn clamped(self) -> Self {
                Self::read(&$crate::Values::from(self).clamped(Self::PARAMS))
            }

            /// Checks that every value is inside its range.
            ///
            /// # Errors
            ///
            /// The first value that is outside.
            pub fn check(&self) -> Result<(), $crate::OutOfRange> {
                $crate::Values::from(*self).check(Self::PARAMS)
            }

            /// The declaration of one parameter. A wrong name does not compile in a constant.
            #[allow(dead_code)] // for entries that name one of their parameters
            const fn param(name: &str) -> &'static $crate::ParamSpec {
                &Self::PARAMS[$crate::place(Self::PARAMS, name)]
            }

            /// The fields in the order of the table, whatever their ranges.
            fn read(values: &$crate::Values) -> Self {
                let mut place = 0..;
                let mut next = || values.get(place.next().unwrap_or(0));
                $Config { $($name: $crate::Field::from_stored(next())),+ }
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
                let stored = [$($crate::Field::stored(config.$name)),+];
                values.0[..stored.len()].copy_from_slice(&stored);
                values
            }
        }
    };
}

/// The first of one or two expressions.
#[doc(hidden)]
#[macro_export]
macro_rules! first {
    ($first:expr $(, $second:expr)?) => {
        $first
    };
}

/// The kind of a declaration, its smallest and its largest value.
#[doc(hidden)]
#[macro_export]
macro_rules! range {
    (time, $Type:ty, $min:literal, $max:expr) => {
        ($crate::Kind::Time, $min, $max)
    };
    (delay, $Type:ty) => {
        ($crate::Kind::Delay, 0, $crate::LONGEST_DELAY)
    };
    (span, $Type:ty) => {
        ($crate::Kind::Delay, 1, $crate::LONGEST_DELAY)
    };
    (host, $Type:ty) => {
        ($crate::Kind::Host, 0, u32::MAX as u64)
    };
    (bytes, $Type:ty) => {
        ($crate::Kind::Bytes, 0, u32::MAX as u64)
    };
    (bytes, $Type:ty, $min:literal, $max:expr) => {
        ($crate::Kind::Bytes, $min, $max)
    };
    (packet, $Type:ty $(, $min:literal, $max:expr)?) => {
        $crate::range!(bytes, $Type $(, $min, $max)?)
    };
    (rate, $Type:ty) => {
        ($crate::Kind::Rate, $crate::RATES.0, $crate::RATES.1)
    };
    (fraction, $Type:ty) => {
        ($crate::Kind::PERCENT, 0, $crate::ONE as u64)
    };
    (fraction, $Type:ty, $min:literal, $max:expr) => {
        ($crate::Kind::PERCENT, $min, $max)
    };
    (weight, $Type:ty) => {
        ($crate::Kind::WEIGHT, 0, $crate::ONE as u64)
    };
    (weight, $Type:ty, $min:literal, $max:expr) => {
        ($crate::Kind::WEIGHT, $min, $max)
    };
    (parts, $Type:ty, $min:literal, $max:expr) => {{
        let (one, percent) = ($max as u32, false);
        ($crate::Kind::Fraction { one, percent }, $min, $max as u64)
    }};
    (power, $Type:ty) => {
        ($crate::Kind::Power, 0, 20)
    };
    (thousandths, $Type:ty, $min:literal, $max:expr) => {
        ($crate::Kind::Thousandths, $min, $max)
    };
    (count, $Type:ty, $min:literal, $max:expr) => {
        ($crate::Kind::Count, $min, $max as u64)
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
#[doc(hidden)]
#[macro_export]
macro_rules! of_queue {
    (bytes) => {
        true
    };
    ($other:ident) => {
        false
    };
}

/// Declares an enum whose variants are words of a scenario file.
#[macro_export]
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

        impl $crate::Field for $Choice {
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
