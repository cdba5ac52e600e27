// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stored values as texts.

use core::fmt::{self, Formatter, Write as _};

use crate::{Kind, ParamSpec};

/// The reader of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// A scenario file: a TOML value that is read as the same stored value, `"97.5KB"`, `0.25`.
    Toml,
    /// A message: as [`Dialect::Toml`] without quotes, `97.5KB`, and fractions in percent.
    Message,
    /// A table: a whole number of the largest unit, `97500B`, and fractions of four digits.
    Table,
    /// The options of the Linux qdisc, `97500b`, `0.2500000`.
    Tc,
    /// JSON: as [`Dialect::Table`], words and quantities in quotes.
    Json,
}

/// A stored value of one kind; `Display` writes it in its dialect.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    kind: Kind,
    stored: u64,
    dialect: Dialect,
}

impl ParamSpec {
    /// The value `stored` of this parameter for a reader.
    pub const fn show(&self, stored: u64, dialect: Dialect) -> Shown {
        self.kind.show(stored, dialect)
    }
}

impl Kind {
    /// The value `stored` of a parameter of this kind for a reader.
    pub const fn show(self, stored: u64, dialect: Dialect) -> Shown {
        Shown {
            kind: self,
            stored,
            dialect,
        }
    }
}

type Unit = (u64, &'static str);

const NANOS: &[Unit] = &[
    (1_000_000_000, "s"),
    (1_000_000, "ms"),
    (1_000, "us"),
    (1, "ns"),
];
const PICOS: &[Unit] = &[
    (1_000_000_000_000, "s"),
    (1_000_000_000, "ms"),
    (1_000_000, "us"),
    (1_000, "ns"),
    (1, "ps"),
];
const BYTES: &[Unit] = &[
    (1_000_000_000, "GB"),
    (1_000_000, "MB"),
    (1_000, "KB"),
    (1, "B"),
];
const RATES: &[Unit] = &[
    (1_000_000_000_000, "Tbps"),
    (1_000_000_000, "Gbps"),
    (1_000_000, "Mbps"),
    (1_000, "kbps"),
    (1, "bps"),
];

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let n = self.stored;
        match self.kind {
            Kind::Time => self.quantity(f, NANOS, "ns"),
            Kind::Delay => self.quantity(f, PICOS, "ps"),
            Kind::Bytes => self.quantity(f, BYTES, "b"),
            Kind::Rate => self.quantity(f, RATES, "bit"),
            Kind::Fraction { one, percent } => self.fraction(f, one, percent),
            Kind::Power => write!(f, "{}", 1.0 / (1u64 << n.min(63)) as f64),
            Kind::Thousandths => write!(f, "{}", n as f64 / 1000.0),
            Kind::Count | Kind::Host => write!(f, "{n}"),
            Kind::Flag => write!(f, "{}", n != 0),
            Kind::Choice(words) => match words.get(n as usize) {
                Some(word) => self.quoted(f, |f| f.write_str(word)),
                None => write!(f, "{n}"),
            },
        }
    }
}

impl Shown {
    fn quoted(
        &self,
        f: &mut Formatter<'_>,
        text: impl FnOnce(&mut Formatter<'_>) -> fmt::Result,
    ) -> fmt::Result {
        let quotes = matches!(self.dialect, Dialect::Toml | Dialect::Json);
        if quotes {
            f.write_char('"')?;
        }
        text(f)?;
        if quotes {
            f.write_char('"')?;
        }
        Ok(())
    }

    fn quantity(&self, f: &mut Formatter<'_>, units: &[Unit], tc: &str) -> fmt::Result {
        let n = self.stored;
        if n == 0 && matches!(self.dialect, Dialect::Toml) {
            return f.write_char('0');
        }
        self.quoted(f, |f| match self.dialect {
            Dialect::Tc => write!(f, "{n}{tc}"),
            Dialect::Toml | Dialect::Message => decimal(f, n, units),
            Dialect::Table | Dialect::Json => whole(f, n, units),
        })
    }

    fn fraction(&self, f: &mut Formatter<'_>, one: u32, percent: bool) -> fmt::Result {
        let part = self.stored as f64 / f64::from(one);
        match self.dialect {
            Dialect::Toml if percent && self.stored == u64::from(one) => f.write_str("\"100%\""),
            Dialect::Toml => write!(f, "{part}"),
            // 10 % is 10.0006 % in parts of 2^16: two digits are enough from 1 % on.
            Dialect::Message if part >= 0.01 => {
                write!(f, "{}%", (part * 1e4 + 0.5) as u64 as f64 / 100.0)
            }
            Dialect::Message => write!(f, "{}%", rounded(part * 100.0)),
            Dialect::Tc => write!(f, "{part:.7}"),
            Dialect::Table => write!(f, "{}", rounded(part)),
            Dialect::Json => write!(f, "{:?}", rounded(part)),
        }
    }
}

/// `x`, which is not negative, to four digits behind the point.
fn rounded(x: f64) -> f64 {
    (x * 1e4 + 0.5) as u64 as f64 / 1e4
}

/// In the largest unit that leaves a digit before the point, exactly: `97.5KB`.
fn decimal(f: &mut Formatter<'_>, n: u64, units: &[Unit]) -> fmt::Result {
    let smallest = units[units.len() - 1];
    let (scale, name) = units.iter().copied().find(|u| n >= u.0).unwrap_or(smallest);
    write!(f, "{}", n / scale)?;
    let (mut rest, mut digit) = (n % scale, scale / 10);
    if rest > 0 {
        f.write_char('.')?;
    }
    while rest > 0 {
        write!(f, "{}", rest / digit)?;
        rest %= digit;
        digit /= 10;
    }
    f.write_str(name)
}

/// In the largest unit of which it is a whole number: `97500B`. Zero takes the third smallest of
/// times, `0us`, and the smallest of lengths.
fn whole(f: &mut Formatter<'_>, n: u64, units: &[Unit]) -> fmt::Result {
    let (scale, name) = match n {
        0 => units
            .iter()
            .copied()
            .find(|u| u.1 == "us")
            .unwrap_or(units[units.len() - 1]),
        _ => units
            .iter()
            .copied()
            .find(|u| n.is_multiple_of(u.0))
            .unwrap_or((1, "")),
    };
    write!(f, "{}{name}", n / scale)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn each_dialect_has_its_text() {
        use Dialect::{Json, Message, Table, Tc, Toml};
        const WORDS: Kind = Kind::Choice(&["harmonic", "sqrt"]);
        let half_precise = Kind::Fraction {
            one: 1024,
            percent: false,
        };
        for (kind, stored, dialect, text) in [
            (Kind::Time, 85_000, Toml, "\"85us\""),
            (Kind::Time, 1_500, Toml, "\"1.5us\""),
            (Kind::Time, 1_500, Message, "1.5us"),
            (Kind::Time, 1_500, Table, "1500ns"),
            (Kind::Time, 0, Table, "0us"),
            (Kind::Time, 0, Toml, "0"),
            (Kind::Time, 85_000, Tc, "85000ns"),
            (Kind::Delay, 3_000_000_000, Toml, "\"3ms\""),
            (Kind::Delay, 0, Toml, "0"),
            (Kind::Delay, 500, Message, "500ps"),
            (Kind::Bytes, 97_501, Toml, "\"97.501KB\""),
            (Kind::Bytes, 1_000_000_001, Message, "1.000000001GB"),
            (Kind::Bytes, 250_000, Table, "250KB"),
            (Kind::Bytes, 97_501, Table, "97501B"),
            (Kind::Bytes, 0, Table, "0B"),
            (Kind::Bytes, 97_500, Tc, "97500b"),
            (Kind::Bytes, 97_500, Json, "\"97500B\""),
            (Kind::Rate, 40_000_000, Toml, "\"40Mbps\""),
            (Kind::PERCENT, 1 << 16, Toml, "\"100%\""),
            (Kind::PERCENT, 1 << 14, Toml, "0.25"),
            (Kind::PERCENT, 1 << 14, Message, "25%"),
            (Kind::PERCENT, 6_554, Message, "10%"),
            (Kind::PERCENT, 4_588, Message, "7%"),
            (Kind::PERCENT, 128, Message, "0.1953%"),
            (Kind::PERCENT, 655, Json, "0.01"),
            (Kind::PERCENT, 1 << 16, Json, "1.0"),
            (Kind::PERCENT, 1 << 14, Tc, "0.2500000"),
            (Kind::WEIGHT, 1 << 16, Toml, "1"),
            (half_precise, 1024, Toml, "1"),
            (Kind::Power, 4, Toml, "0.0625"),
            (Kind::Thousandths, 700, Toml, "0.7"),
            (Kind::Flag, 1, Json, "true"),
            (WORDS, 1, Table, "sqrt"),
            (WORDS, 1, Toml, "\"sqrt\""),
            (WORDS, 7, Table, "7"),
        ] {
            let shown = kind.show(stored, dialect).to_string();
            assert_eq!(shown, text, "{kind:?} {stored} {dialect:?}");
        }
    }
}
