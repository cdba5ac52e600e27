// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flow-size tables as the field publishes them: reading, drawing, means.

use std::fmt;

/// Payload of a full packet in the tables that count packets (MQ-ECN's).
pub const PACKET_BYTES: f64 = 1460.0;

/// A flow may not be larger than this (a petabyte): beyond it sums of a block would overflow.
const LARGEST: f64 = 1e15;

/// Unit of a row's size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Packets with this many bytes of payload. Sizes between rows stay fractions of a packet (ns-2
    /// rounds them up, which makes the mean of MQ-ECN's tables up to 0.05 % larger).
    Packets(f64),
}

/// A table that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableError {
    /// Line of the table's text, counted from one; zero where the table as a whole is at fault.
    pub line: usize,
    /// Sentence on the mistake, and advice.
    pub message: String,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

impl std::error::Error for TableError {}

macro_rules! builtin {
    ($($name:literal $unit:expr),* $(,)?) => {
        /// Names of the tables that are built in.
        pub const BUILTIN: &[&str] = &[$($name),*];

        fn builtin_text(name: &str) -> Option<(&'static str, Unit)> {
            match name {
                $($name => {
                    Some((include_str!(concat!("../../workloads/", $name, ".txt")), $unit))
                })*
                _ => None,
            }
        }
    };
}

builtin! {
    "web-search" Unit::Bytes,
    "data-mining" Unit::Bytes,
    "facebook-small" Unit::Bytes,
    "mq-ecn-web-search" Unit::Packets(PACKET_BYTES),
    "mq-ecn-data-mining" Unit::Packets(PACKET_BYTES),
    "mq-ecn-cache" Unit::Packets(PACKET_BYTES),
    "mq-ecn-hadoop" Unit::Packets(PACKET_BYTES),
}

/// A flow-size distribution: (bytes, cumulative probability 0..1), linear between rows; a size may
/// repeat (a step).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SizeTable {
    /// Name of the table in reports.
    pub name: String,
    /// Rows in rising order.
    pub rows: Vec<(f64, f64)>,
}

impl SizeTable {
    /// A built-in table (see [`BUILTIN`]), or `None` for another name.
    pub fn builtin(name: &str) -> Option<SizeTable> {
        let (text, unit) = builtin_text(name)?;
        Some(
            SizeTable::parse(name, text, unit)
                .expect("the tables of this repository are well formed"),
        )
    }

    /// All flows of one size.
    pub fn constant(bytes: u64) -> SizeTable {
        SizeTable {
            name: format!("{bytes} B"),
            rows: vec![(bytes as f64, 0.0), (bytes as f64, 1.0)],
        }
    }

    /// Reads two columns, size and cumulative probability; `#` starts a comment. Probabilities that
    /// end at 100 are per cent. The error names the line and what to write instead.
    pub fn parse(name: &str, text: &str, unit: Unit) -> Result<SizeTable, TableError> {
        let scale = match unit {
            Unit::Bytes => 1.0,
            Unit::Packets(bytes) if bytes.is_finite() && bytes >= 1.0 => bytes,
            Unit::Packets(_) => return Err(whole("a packet has at least one byte")),
        };
        let mut rows: Vec<(f64, f64)> = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let fail = |message: String| TableError {
                line: i + 1,
                message,
            };
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let words: Vec<&str> = line
                .split([' ', '\t', ','])
                .filter(|w| !w.is_empty())
                .collect();
            let [size, probability] = words[..] else {
                return Err(fail(format!(
                    "{} columns; write two: the size and the probability that a flow is at most \
                        so large",
                    words.len()
                )));
            };
            let number = |word: &str, what: &str| match word.parse::<f64>() {
                Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
                Ok(_) => Err(fail(format!(
                    "`{word}` is not a {what}: write a number that is zero or more"
                ))),
                Err(_) => Err(fail(format!(
                    "`{word}` is not a number; the {what} goes here"
                ))),
            };
            let (size, probability) = (number(size, "size")?, number(probability, "probability")?);
            if size * scale > LARGEST {
                return Err(fail(format!("a flow of {size} is larger than a petabyte")));
            }
            if probability > 100.0 {
                return Err(fail(format!(
                    "probability {probability} is above 100; write 0 to 1, or 0 to 100"
                )));
            }
            if let Some(&(before, p)) = rows.last() {
                if size * scale < before {
                    return Err(fail(format!(
                        "size {size} is smaller than the row before; sort the rows by size"
                    )));
                }
                if probability < p {
                    return Err(fail(format!(
                        "probability {probability} is below the row before ({p}); it must not fall"
                    )));
                }
            }
            rows.push((size * scale, probability));
        }
        let Some(&(largest, last)) = rows.last() else {
            return Err(whole(
                "no rows; write two columns: size and cumulative probability",
            ));
        };
        let top = if last > 1.0 { 100.0 } else { 1.0 };
        if (last - top).abs() > 1e-9 * top {
            return Err(whole(format!(
                "the last probability is {last}; the table must end at 1 (or 100)"
            )));
        }
        if largest < 1.0 {
            return Err(whole(
                "every flow would be empty; the largest size must be at least one byte",
            ));
        }
        for row in &mut rows {
            row.1 /= top;
        }
        rows.last_mut().expect("just seen").1 = 1.0;
        Ok(SizeTable {
            name: name.to_owned(),
            rows,
        })
    }

    /// The size that a share `p` of the flows does not exceed, linear between rows: the inverse
    /// distribution function.
    pub fn quantile(&self, p: f64) -> f64 {
        self.between(self.rows.partition_point(|row| row.1 < p), p)
    }

    /// The quantile of `p`, which `after` rows are below.
    fn between(&self, after: usize, p: f64) -> f64 {
        let Some(&(hi, p_hi)) = self.rows.get(after) else {
            return self.rows.last().map_or(1.0, |row| row.0);
        };
        match after.checked_sub(1).map(|before| self.rows[before]) {
            Some((lo, p_lo)) => lo + (hi - lo) * ((p - p_lo) / (p_hi - p_lo)),
            // Mass at the smallest size.
            None => hi,
        }
    }

    /// Size at a probability, in whole bytes, at least one.
    pub fn draw(&self, p: f64) -> u64 {
        bytes(self.quantile(p))
    }

    /// Sizes at the middles of equal parts of the distribution, in ascending order: each is that of
    /// [`SizeTable::draw`].
    pub fn strata(&self, parts: u32) -> impl Iterator<Item = u64> {
        let mut after = 0;
        (0..parts).map(move |i| {
            let p = (f64::from(i) + 0.5) / f64::from(parts);
            while self.rows.get(after).is_some_and(|row| row.1 < p) {
                after += 1;
            }
            bytes(self.between(after, p))
        })
    }

    /// Mean size in bytes.
    pub fn mean(&self) -> f64 {
        let (mut mean, mut before) = (0.0, None);
        for &(size, p) in &self.rows {
            let (size_0, p_0) = before.unwrap_or((size, 0.0));
            mean += 0.5 * (size_0 + size) * (p - p_0);
            before = Some((size, p));
        }
        mean
    }

    /// Mean size in bytes of the flow that a byte belongs to: large flows have more of the bytes.
    pub fn mean_of_bytes(&self) -> f64 {
        let (mut squares, mut before) = (0.0, None);
        for &(size, p) in &self.rows {
            let (size_0, p_0) = before.unwrap_or((size, 0.0));
            squares += (size_0 * size_0 + size_0 * size + size * size) / 3.0 * (p - p_0);
            before = Some((size, p));
        }
        squares / self.mean()
    }

    /// Share of all bytes that flows smaller than `bytes` carry.
    pub fn bytes_below(&self, bytes: f64) -> f64 {
        let (mut sum, mut before) = (0.0, None);
        for &(size, p) in &self.rows {
            let (size_0, p_0) = before.unwrap_or((size, 0.0));
            if size_0 >= bytes {
                break;
            }
            let (size_1, p_1) = match size <= bytes {
                true => (size, p),
                false => (
                    bytes,
                    p_0 + (p - p_0) * ((bytes - size_0) / (size - size_0)),
                ),
            };
            sum += 0.5 * (size_0 + size_1) * (p_1 - p_0);
            before = Some((size, p));
        }
        sum / self.mean()
    }

    /// Share of the flows smaller than `bytes`.
    pub fn below(&self, bytes: f64) -> f64 {
        let after = self.rows.partition_point(|row| row.0 < bytes);
        let Some(&(hi, p_hi)) = self.rows.get(after) else {
            return 1.0;
        };
        match after.checked_sub(1).map(|before| self.rows[before]) {
            Some((lo, p_lo)) => p_lo + (p_hi - p_lo) * ((bytes - lo) / (hi - lo)),
            None => 0.0,
        }
    }
}

fn whole(message: impl Into<String>) -> TableError {
    TableError {
        line: 0,
        message: message.into(),
    }
}

/// Whole bytes, at least one.
fn bytes(size: f64) -> u64 {
    (size + 0.5).max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::random::Stream;

    fn near(measured: f64, expected: f64, share: f64) {
        assert!(
            (measured / expected - 1.0).abs() <= share,
            "{measured} is not {expected}"
        );
    }

    #[test]
    fn strata_are_the_draws_of_equal_parts() {
        for rows in ["0 0\n100 0.5\n300 1\n", "7 0.25\n9 0.25\n1000 1\n", "5 1\n"] {
            let table = SizeTable::parse("t", rows, Unit::Bytes).unwrap();
            let drawn = (0..999).map(|i| table.draw((f64::from(i) + 0.5) / 999.0));
            assert!(drawn.eq(table.strata(999)), "{rows}");
        }
    }

    #[test]
    fn a_byte_belongs_to_a_larger_flow_than_the_mean() {
        // Half of the flows have 0 to 100 bytes, half 100 to 300: E[S^2] / E[S].
        let table = SizeTable::parse("t", "0 0\n100 0.5\n300 1\n", Unit::Bytes).unwrap();
        near(table.mean_of_bytes(), 23_333.333 / 125.0, 1e-6);
        assert_eq!(SizeTable::constant(700).mean_of_bytes(), 700.0);
        let mut draw = Stream::new(1, "sizes", 0);
        let drawn: Vec<f64> = (0..200_000)
            .map(|_| table.draw(draw.uniform()) as f64)
            .collect();
        let squares: f64 = drawn.iter().map(|s| s * s).sum();
        near(
            table.mean_of_bytes(),
            squares / drawn.iter().sum::<f64>(),
            0.01,
        );
    }

    #[test]
    fn bytes_are_shared_by_size() {
        let table = SizeTable::parse("t", "0 0\n100 0.5\n300 1\n", Unit::Bytes).unwrap();
        // Half the flows hold 50 bytes on average, the other half 200.
        near(table.bytes_below(100.0), 25.0 / 125.0, 1e-9);
        near(table.bytes_below(200.0), (25.0 + 37.5) / 125.0, 1e-9);
        near(table.bytes_below(1e9), 1.0, 1e-9);
        assert_eq!(table.bytes_below(0.0), 0.0);
    }

    /// Spec D and workloads/README.md.
    #[test]
    fn means_as_published() {
        for (name, mean, share) in [
            ("web-search", 1_711_250.0, 1e-9),
            ("data-mining", 12_658_199.0, 1e-6),
            ("facebook-small", 342.0, 1e-3),
            // ns-2 rounds up to whole packets.
            ("mq-ecn-web-search", 1_666_451.0, 1e-3),
            ("mq-ecn-data-mining", 7_470_601.0, 1e-3),
            ("mq-ecn-cache", 911_164.0, 1e-3),
            ("mq-ecn-hadoop", 4_135_954.0, 1e-3),
        ] {
            near(SizeTable::builtin(name).unwrap().mean(), mean, share);
        }
        assert_eq!(BUILTIN.len(), 7);
        assert!(SizeTable::builtin("websearch").is_none());
    }

    #[test]
    fn shares_as_published() {
        let web = SizeTable::builtin("web-search").unwrap();
        let mining = SizeTable::builtin("data-mining").unwrap();
        near(web.below(100e3), 0.542, 1e-3);
        near(mining.below(100e3), 0.823, 1e-3);
        near(1.0 - web.below(10e6), 0.030, 1e-9);
        near(1.0 - mining.below(10e6), 0.048, 0.01);
        assert_eq!(web.below(0.0), 0.0);
        assert_eq!(web.below(1e12), 1.0);
    }

    #[test]
    fn quantiles_invert_the_table() {
        let web = SizeTable::builtin("web-search").unwrap();
        assert_eq!(web.quantile(0.53), 80_000.0);
        near(web.quantile(0.565), 140_000.0, 1e-12);
        assert_eq!(web.quantile(1.0), 30e6);
        assert_eq!(web.draw(0.0), 1, "never an empty flow");
        let mut s = Stream::new(1, "sizes", 0);
        for _ in 0..10_000 {
            let p = s.uniform();
            assert!((web.below(web.quantile(p)) - p).abs() < 1e-9);
        }
    }

    #[test]
    fn a_repeated_size_is_a_step() {
        let cache = SizeTable::builtin("mq-ecn-cache").unwrap();
        assert_eq!(
            (cache.draw(0.0), cache.draw(0.2), cache.draw(0.35)),
            (1460, 1460, 1460)
        );
        assert_eq!(cache.draw(0.40), 2 * 1460);
        let steps =
            SizeTable::parse("steps", "10 0.5\n10 0.5 # again\n\n20 1", Unit::Bytes).unwrap();
        assert_eq!(
            (steps.draw(0.1), steps.draw(0.5), steps.draw(0.75)),
            (10, 10, 15)
        );
        assert_eq!(steps.mean(), 12.5);
        let one = SizeTable::constant(4_000);
        assert_eq!(
            (one.draw(0.0), one.draw(0.999), one.mean()),
            (4_000, 4_000, 4_000.0)
        );
    }

    #[test]
    fn percent_and_packets() {
        let a =
            SizeTable::parse("a", "# flows\n1 0\n3\t50\n9, 100", Unit::Packets(1000.0)).unwrap();
        assert_eq!(a.rows, [(1_000.0, 0.0), (3_000.0, 0.5), (9_000.0, 1.0)]);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line, says) in [
            ("", 0, "no rows"),
            ("1 0\n2", 2, "1 columns"),
            ("1 0 0\n", 1, "3 columns"),
            ("1 0\n\nx 1", 3, "`x` is not a number"),
            ("1 0\n2 -1", 2, "`-1` is not a probability"),
            ("NaN 0\n2 1", 1, "`NaN` is not a size"),
            ("5 0\n2 1", 2, "smaller than the row before"),
            ("1 0.5\n2 0.4\n3 1", 2, "must not fall"),
            ("1 0\n2 101", 2, "above 100"),
            ("1 0\n2 0.9", 0, "must end at 1 (or 100)"),
            ("1 0\n1e300 1", 2, "petabyte"),
            ("0 0\n0 1", 0, "empty"),
        ] {
            let error = SizeTable::parse("t", text, Unit::Bytes).unwrap_err();
            assert_eq!(error.line, line, "{text:?}: {error}");
            assert!(error.message.contains(says), "{text:?}: {error}");
        }
        assert!(SizeTable::parse("t", "1 0\n2 1", Unit::Packets(f64::NAN)).is_err());
    }
}
