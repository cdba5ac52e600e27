// SPDX-License-Identifier: MIT OR Apache-2.0
//! From parameters such as 200 us to what a program is given: constants that are compiled into it,
//! and arguments of its tables' entries.

use cemark_marking::ecn_sharp::tofino::{Product, Ticks, divide, inverse, scale};

use crate::{Defines, Rounding};

/// The constants of `ecn_sharp.p4` for one `pst_interval`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The interval in ticks of 1,024 ns.
    pub ticks: u32,
    /// Number that the math unit adds to the exponent.
    pub scale: i32,
    /// Its entries from index 8 to 15.
    pub table: [u8; 8],
    /// The largest count whose gap is one tick or more: above it a quotient would be zero.
    pub last_count: u32,
}

impl Interval {
    /// The constants of an interval in nanoseconds, 1 to 10^9.
    pub fn new(nanos: u32, rounding: Rounding) -> Self {
        let ticks = Ticks::span(nanos);
        let table = std::array::from_fn(|i| inverse(ticks, i as u32 + 8) as u8);
        Interval {
            ticks,
            // Three bits of the index follow its first one.
            scale: scale(ticks) + 3,
            table,
            last_count: last_count(ticks, rounding),
        }
    }

    /// As definitions for the preprocessor.
    pub fn defines(&self) -> Defines {
        let table: Vec<String> = self.table.iter().rev().map(u8::to_string).collect();
        [
            ("PST_INTERVAL", self.ticks.to_string()),
            ("GAP_SCALE", self.scale.to_string()),
            ("GAP_TABLE", table.join(", ")),
            ("LAST_COUNT", self.last_count.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}

/// The targets of a queue, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Targets {
    /// `ins_target` of ECN#.
    pub ins: u32,
    /// `pst_target` of ECN#.
    pub pst: u32,
}

/// Ports of a pipe, and queues of a port, that the registers have entries for.
pub const PORTS: u16 = 128;
/// Queues of a port.
pub const QUEUES: u8 = 8;

/// The key of a queue in the programs' tables: the port within its pipe, and the queue. None
/// beyond 128 ports of 8 queues.
pub fn queue_key(port: u16, queue: u8) -> Option<u16> {
    (port < PORTS && queue < QUEUES).then(|| port << 3 | u16::from(queue))
}

/// An entry of the table `gaps` of `v1model/ecn_sharp.p4`: counts with these bits under this mask
/// have this gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The bits.
    pub bits: u32,
    /// The mask.
    pub mask: u32,
    /// The gap in ticks of 1 us.
    pub ticks: u32,
}

/// The table of an interval in ticks: every count whose gap is more than one tick, by its top four
/// bits. Other counts have the table's default of 1.
pub fn gaps(ticks: u32) -> Vec<Gap> {
    let mut all = Vec::new();
    for log in 0..32u32 {
        let unused = log.saturating_sub(3);
        let (from, to) = match log {
            0..3 => (1 << log, 2 << log),
            _ => (8, 16),
        };
        for index in from..to {
            let bits = index << unused;
            let gap = quotient(ticks, bits, Rounding::Nearest);
            if gap > 1 {
                let mask = u32::MAX << unused;
                all.push(Gap {
                    bits,
                    mask,
                    ticks: gap,
                });
            }
        }
    }
    all
}

/// A quotient as the math unit gives it.
fn quotient(ticks: u32, count: u32, rounding: Rounding) -> u32 {
    let product = divide(ticks, count);
    match rounding {
        Rounding::Nearest => product.rounded(),
        Rounding::Down => cut(product),
    }
}

fn cut(product: Product) -> u32 {
    match product.exponent {
        0.. => product.rounded(),
        down => product.entry.checked_shr(down.unsigned_abs()).unwrap_or(0),
    }
}

/// Quotients do not grow with the count, so that the last one above zero can be searched for. At
/// least 2, where counting begins.
fn last_count(ticks: u32, rounding: Rounding) -> u32 {
    let (mut yes, mut no) = (1u32, u32::MAX);
    if quotient(ticks, no, rounding) > 0 {
        return no;
    }
    while no - yes > 1 {
        let middle = yes + (no - yes) / 2;
        match quotient(ticks, middle, rounding) {
            0 => no = middle,
            _ => yes = middle,
        }
    }
    yes.max(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constants_of_200_us_are_those_in_the_program() {
        let interval = Interval::new(200_000, Rounding::Nearest);
        assert_eq!(interval.ticks, 195);
        assert_eq!(interval.scale, 1);
        assert_eq!(interval.table, [98, 87, 78, 71, 65, 60, 56, 52]);
        let text = crate::sources::text("ecn_sharp.p4").expect("a program");
        for (name, value) in interval.defines() {
            let line = format!("#define {name} {value}\n");
            assert!(text.contains(&line), "{line}");
        }
    }

    #[test]
    fn beyond_the_last_count_every_gap_is_a_tick_and_up_to_it_none_is_zero() {
        for nanos in [
            1,
            1_024,
            5_000,
            24_000,
            99_999,
            200_000,
            240_000,
            1_000_000_000,
        ] {
            for rounding in [Rounding::Nearest, Rounding::Down] {
                let Interval {
                    ticks, last_count, ..
                } = Interval::new(nanos, rounding);
                let gap = |count| quotient(ticks, count, rounding);
                assert_eq!(gap(last_count).max(1), 1, "{nanos}");
                let mut before = u32::MAX;
                for count in 1..last_count.min(100_000) {
                    let now = gap(count);
                    assert!(now >= 1 && now <= before, "{nanos} / {count}: {now}");
                    before = now;
                }
                for count in last_count + 1..last_count.saturating_add(5_000) {
                    assert_eq!(gap(count), 0, "{nanos} / {count}");
                }
            }
        }
    }
}
