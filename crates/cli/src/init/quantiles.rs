// SPDX-License-Identifier: MIT OR Apache-2.0
//! Base RTTs as percentiles, the form of dashboards: `p50=12us,p99=95us`.

use cemark_scenario::{Measure, read_quantity};

/// The RTTs, in picoseconds, that shares of the flows, in millionths, do not exceed; both rise.
pub(super) type Rows = Vec<(u32, u64)>;

/// The share of all flows.
pub(super) const ONE: u32 = 1_000_000;

/// The form of the answer, for messages.
const WRITE: &str = "write two or more percentiles with their RTTs, such as p50=12us,p99=95us; \
                     min= and max= are the ends";

/// The share of the flows that a name is, in millionths: `p50`, `p99.9`, `min`, `max`.
fn share(name: &str) -> Option<u32> {
    let name = name.trim().to_lowercase();
    match name.as_str() {
        "min" => return Some(0),
        "max" => return Some(ONE),
        _ => {}
    }
    let percent = name.strip_prefix('p')?.parse::<f64>().ok()?;
    let inside = (1.0..=99.9).contains(&percent);
    inside.then(|| (percent * f64::from(ONE) / 100.0).round() as u32)
}

/// Reads two or more percentiles in any order.
pub(super) fn read(text: &str) -> Result<Rows, String> {
    let mut rows = text.split(',').map(row).collect::<Result<Vec<_>, _>>()?;
    rows.sort_unstable();
    if let Some(same) = rows.windows(2).find(|two| two[0].0 == two[1].0) {
        return Err(format!("{} is there twice: {WRITE}", name(same[0].0)));
    }
    if let Some(two) = rows.windows(2).find(|two| two[0].1 > two[1].1) {
        return Err(format!(
            "{} is above {}: RTTs rise from min to max",
            name(two[0].0),
            name(two[1].0)
        ));
    }
    match rows.len() {
        0 | 1 => Err(format!("one percentile is no distribution: {WRITE}")),
        _ => Ok(rows),
    }
}

/// A share and its RTT in picoseconds.
fn row(part: &str) -> Result<(u32, u64), String> {
    let part = part.trim();
    let Some((name, rtt)) = part.split_once('=') else {
        return Err(format!("`{part}` has no =: {WRITE}"));
    };
    let Some(share) = share(name) else {
        return Err(format!(
            "`{}` is no percentile: write min, p1 to p99.9, or max",
            name.trim()
        ));
    };
    let rtt = read_quantity(rtt.trim(), Measure::Time)
        .map_err(|_| format!("`{}` is no time: {WRITE}", rtt.trim()))?;
    Ok((share, rtt))
}

/// A share as a percentile is called.
pub(super) fn name(share: u32) -> String {
    match share {
        0 => "min".to_owned(),
        ONE => "max".to_owned(),
        share => format!("p{}", f64::from(share) / 10_000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICRO: u64 = 1_000_000;

    #[test]
    fn percentiles_are_read_in_any_order() {
        let rows = vec![(500_000, 12 * MICRO), (990_000, 95 * MICRO)];
        for text in ["p50=12us,p99=95us", " P99 = 95 us , p50.0=0.012ms"] {
            assert_eq!(read(text), Ok(rows.clone()), "{text}");
        }
        let ends = vec![(0, 9_500_000), (999_000, 95 * MICRO), (ONE, 1000 * MICRO)];
        assert_eq!(read("min=9.5us,p99.9=95us,max=1ms"), Ok(ends));
    }

    #[test]
    fn mistakes_say_what_to_write() {
        for (text, says) in [
            ("p50=12us", "one percentile is no distribution"),
            ("p50=12us,", "`` has no =: write two or more"),
            ("p50=12us,95us", "`95us` has no =: write two or more"),
            ("p50=12us,p99=95", "`95` is no time"),
            (
                "p50=12us,q99=95us",
                "`q99` is no percentile: write min, p1 to p99.9, or max",
            ),
            ("p0=12us,p99=95us", "`p0` is no percentile"),
            ("p50=12us,p100=95us", "`p100` is no percentile"),
            ("p50=12us,pnan=95us", "`pnan` is no percentile"),
            ("p50=12us,p50.0=95us", "p50 is there twice"),
            ("p50=95us,p99.9=12us", "p50 is above p99.9: RTTs rise"),
            ("min=95us,max=12us", "min is above max"),
        ] {
            let refused = read(text).expect_err(text);
            assert!(refused.contains(says), "{text}: {refused}");
        }
    }
}
