// SPDX-License-Identifier: MIT OR Apache-2.0
//! The time that simulations may take: `90s`, `5min`, `1h`.

/// Most seconds of a budget: a week.
const LONGEST: f64 = 7.0 * 86_400.0;

/// Reads a time in seconds.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let units = [("min", 60.0), ("h", 3600.0), ("s", 1.0)];
    let found = units.iter().find_map(|(unit, scale)| {
        let number = text.strip_suffix(unit)?.trim().parse::<f64>().ok()?;
        Some(number * scale)
    });
    found
        .filter(|seconds| (1.0..=LONGEST).contains(seconds))
        .ok_or_else(|| "write a time from 1s to 168h, such as 90s, 5min or 1h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(seconds("90s"), Ok(90.0));
        assert_eq!(seconds("2 min"), Ok(120.0));
        assert_eq!(seconds("1.5h"), Ok(5400.0));
        for wrong in ["", "90", "0s", "1e9h", "nans", "infs", "5 minutes"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
