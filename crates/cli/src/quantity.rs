// SPDX-License-Identifier: MIT OR Apache-2.0
//! Quantities as scenario files write them.

use cemark_scenario::{Measure, read_quantity};

/// A number with at most three digits behind the point.
fn number(x: f64) -> String {
    let text = format!("{x:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Picoseconds as files write them, at most four digits.
pub(crate) fn time(picos: u64) -> String {
    let units = [("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3)];
    let x = picos as f64;
    let fits = units.iter().find(|(_, scale)| x >= *scale);
    let (unit, scale) = fits.copied().unwrap_or(units[3]);
    let digits = x / scale;
    // `ns` have no digits behind the point: the simulator counts whole ones.
    let rounded = match digits {
        d if unit == "ns" || d >= 1000.0 => d.round(),
        d if d >= 100.0 => (d * 10.0).round() / 10.0,
        d if d >= 10.0 => (d * 100.0).round() / 100.0,
        d => (d * 1000.0).round() / 1000.0,
    };
    format!("{}{unit}", number(rounded))
}

/// Bytes as files write them; exact.
pub(crate) fn length(bytes: u64) -> String {
    for (unit, scale, least) in [("MB", 1_000_000, 1000), ("KB", 1000, 10)] {
        if bytes >= scale && bytes.is_multiple_of(least) {
            return format!("{}{unit}", number(bytes as f64 / scale as f64));
        }
    }
    format!("{bytes}B")
}

/// Reads a rate: `25G`, `25Gbps`.
pub(crate) fn read_rate(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let short = || read_quantity(&format!("{text}bps"), Measure::Rate);
    let rate = read_quantity(text, Measure::Rate).or_else(|_| short());
    let range = 100_000_000..=800_000_000_000;
    let rate = rate.ok().filter(|rate| range.contains(rate));
    rate.ok_or_else(|| "write a rate from 100Mbps to 800Gbps, such as 25G".to_owned())
}

/// Bits per second as files write them.
pub(crate) fn rate(bps: u64) -> String {
    for (unit, scale) in [("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("kbps", 1000)] {
        if bps >= scale && bps.is_multiple_of(scale / 1000) {
            return format!("{}{unit}", number(bps as f64 / scale as f64));
        }
    }
    format!("{bps}bps")
}

#[cfg(test)]
mod tests {
    use super::{length, rate, time};

    #[test]
    fn numbers_have_units_that_scenario_files_read() {
        let micro = 1_000_000;
        assert_eq!(time(80 * micro), "80us");
        assert_eq!(time(107_500_123), "107.5us");
        assert_eq!(time(12_345_678), "12.35us");
        assert_eq!(time(1_250 * micro), "1.25ms");
        assert_eq!(time(125_000), "125ns");
        assert_eq!(time(5_000 * micro), "5ms");
        assert_eq!(length(16_777_216), "16777216B");
        assert_eq!(length(600_000), "600KB");
        assert_eq!(length(1_500), "1.5KB");
        assert_eq!(length(15), "15B");
        assert_eq!(rate(25_000_000_000), "25Gbps");
        assert_eq!(rate(2_500_000), "2.5Mbps");
    }
}
