// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers with units, read exactly: `0.001ms` is 1,000,000 ps, not nearly so.

use cemark_wire::{Picos, Rate};

/// Longest decimal that is read; more digits are no number of these files.
const LONGEST: usize = 40;

/// A decimal times 10^`zeros` as a whole number; `None` if it is none, or is not whole. An exponent
/// (`1e-05`) may follow it, as Python prints small numbers.
pub(crate) fn scaled(text: &str, zeros: i32) -> Option<u128> {
    if text.len() > LONGEST {
        return None;
    }
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        None => (text, 0),
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(part.bytes());
    if whole.is_empty() && part.is_empty() || !digits().all(|d| d.is_ascii_digit()) {
        return None;
    }
    let value = digits().try_fold(0_u128, |sum, d| {
        sum.checked_mul(10)?.checked_add(u128::from(d - b'0'))
    })?;
    let shift = zeros
        .checked_add(exponent)?
        .checked_sub(i32::try_from(part.len()).ok()?)?;
    if value == 0 {
        return Some(0);
    }
    let ten = 10_u128.checked_pow(shift.unsigned_abs())?;
    match shift >= 0 {
        true => value.checked_mul(ten),
        false => value.is_multiple_of(ten).then_some(value / ten),
    }
}

/// A decimal times 10^`zeros`, to the nearest whole number: for values that were printed from
/// floating-point numbers, with more digits than they mean.
pub(crate) fn rounded(text: &str, zeros: i32) -> Option<u128> {
    if let Some(exact) = scaled(text, zeros) {
        return Some(exact);
    }
    // Digits beyond the last that counts change nothing but the rounding.
    (1..=LONGEST as i32)
        .find_map(|more| scaled(text, zeros.checked_add(more)?).map(|value| (value, more)))
        .and_then(|(value, more)| {
            let ten = 10_u128.checked_pow(more.unsigned_abs())?;
            Some(value / ten + u128::from(value % ten >= ten / 2))
        })
}

/// A number and its unit.
fn split(text: &str) -> (&str, &str) {
    let end = text
        .char_indices()
        .find(|&(i, c)| {
            let exponent = matches!(c, 'e' | 'E')
                && text[i + 1..].starts_with(|d: char| d.is_ascii_digit() || d == '-' || d == '+');
            !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+') && !exponent
        })
        .map_or(text.len(), |(i, _)| i);
    text.split_at(end)
}

/// A rate as ns-3 writes it, in bits or bytes: `100Gbps`, `25Gb/s`, `1.5GBps`. Prefixes count by
/// 1000. A number without a unit is in bits per second.
pub(crate) fn rate(text: &str) -> Option<Rate> {
    let (number, unit) = split(text);
    let (zeros, byte) = match unit {
        "" | "bps" | "b/s" => (0, false),
        "kbps" | "kb/s" | "Kbps" | "Kb/s" => (3, false),
        "Mbps" | "Mb/s" => (6, false),
        "Gbps" | "Gb/s" => (9, false),
        "Tbps" | "Tb/s" => (12, false),
        "Bps" | "B/s" => (0, true),
        "kBps" | "kB/s" | "KBps" | "KB/s" => (3, true),
        "MBps" | "MB/s" => (6, true),
        "GBps" | "GB/s" => (9, true),
        _ => return None,
    };
    let value = scaled(number, zeros)?.checked_mul(if byte { 8 } else { 1 })?;
    u64::try_from(value).ok().filter(|&bps| bps > 0).map(Rate)
}

/// A time as ns-3 writes it: `0.001ms`, `1000ns`, `1us`. A number without a unit is in seconds.
pub(crate) fn time(text: &str) -> Option<Picos> {
    let (number, unit) = split(text);
    let zeros = match unit {
        "" | "s" => 12,
        "ms" => 9,
        "us" => 6,
        "ns" => 3,
        "ps" => 0,
        _ => return None,
    };
    u64::try_from(scaled(number, zeros)?).ok().map(Picos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        assert_eq!(scaled("0.001", 9), Some(1_000_000));
        assert_eq!(scaled("2.000000533", 12), Some(2_000_000_533_000));
        assert_eq!(scaled("1e-05", 12), Some(10_000_000));
        assert_eq!(scaled("1.5", 0), None, "not whole");
        assert_eq!(scaled("", 0), None);
        assert_eq!(scaled(".", 0), None);
        assert_eq!(scaled("-1", 0), None);
        assert_eq!(scaled("1e99999", 0), None);
        assert_eq!(scaled("99999999999999999999999999999999999999", 3), None);
        assert_eq!(rounded("2.0000000000006", 12), Some(2_000_000_000_001));
        assert_eq!(rounded("2.0000000000004", 12), Some(2_000_000_000_000));
        assert_eq!(rounded("x", 12), None);
    }

    #[test]
    fn units_are_those_of_ns3() {
        assert_eq!(rate("100Gbps"), Some(Rate::gbps(100)));
        assert_eq!(rate("2.5Gb/s"), Some(Rate::mbps(2_500)));
        assert_eq!(rate("1GBps"), Some(Rate::gbps(8)), "bytes");
        assert_eq!(rate("1000000"), Some(Rate::mbps(1)));
        for wrong in ["", "0Gbps", "Gbps", "1Gibps", "1 Gbps", "-1Gbps", "é"] {
            assert_eq!(rate(wrong), None, "{wrong}");
        }
        assert_eq!(time("0.001ms"), Some(Picos::from_micros(1)));
        assert_eq!(time("1000ns"), Some(Picos::from_micros(1)));
        assert_eq!(time("1e-6s"), Some(Picos::from_micros(1)));
        assert_eq!(time("0s"), Some(Picos::ZERO));
        for wrong in ["", "us", "1fs", "0.5ps", "1µs"] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }
}
