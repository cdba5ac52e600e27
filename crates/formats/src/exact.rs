// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values as scenario files write them, with every digit: `time(1_500_000)` is `1500ns`.

/// The largest unit of which the value is a whole number.
fn whole(value: u64, units: &[(&str, u64)]) -> String {
    let fits = units.iter().find(|(_, scale)| value.is_multiple_of(*scale));
    let (unit, scale) = fits.copied().unwrap_or(("", 1));
    format!("{}{unit}", value / scale)
}

/// Picoseconds.
pub fn time(picos: u64) -> String {
    let units = [
        ("s", 1_000_000_000_000),
        ("ms", 1_000_000_000),
        ("us", 1_000_000),
        ("ns", 1_000),
        ("ps", 1),
    ];
    match picos {
        0 => "0s".to_owned(),
        picos => whole(picos, &units),
    }
}

/// Bits per second.
pub fn rate(bps: u64) -> String {
    let units = [
        ("Gbps", 1_000_000_000),
        ("Mbps", 1_000_000),
        ("kbps", 1_000),
        ("bps", 1),
    ];
    whole(bps, &units)
}

/// Bytes.
pub fn length(bytes: u64) -> String {
    whole(bytes, &[("MB", 1_000_000), ("KB", 1_000), ("B", 1)])
}
