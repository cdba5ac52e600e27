// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers as people read them.

/// Three significant digits: `3.14`, `31.4`, `314`, `3142`.
fn three(x: f64) -> String {
    let digits = if x.abs() >= 99.95 {
        0
    } else if x.abs() >= 9.995 {
        1
    } else {
        2
    };
    format!("{x:.digits$}")
}

/// Three or four significant digits. What rounds to zero has no sign.
pub fn number(x: f64) -> String {
    match x.abs() {
        a if a < 5e-4 => "0".to_owned(),
        a if a >= 1000.0 || (a - a.round()).abs() < 1e-9 => format!("{x:.0}"),
        a if a >= 100.0 => format!("{x:.1}"),
        a if a >= 1.0 => format!("{x:.2}"),
        _ => format!("{x:.3}"),
    }
}

/// A time given in microseconds: `812 ns`, `85.3 µs`, `1.24 ms`, `2.50 s`.
pub fn micros(us: f64) -> String {
    match us {
        0.0 => "0 µs".to_owned(),
        x if x < 0.9995 => format!("{} ns", three(x * 1e3)),
        x if x < 999.5 => format!("{} µs", three(x)),
        x if x < 999.5e3 => format!("{} ms", three(x / 1e3)),
        x => format!("{} s", three(x / 1e6)),
    }
}

/// A length in bytes: `812 B`, `24.1 KB`, `1.50 MB` (KB = 1000 B).
pub fn bytes(b: f64) -> String {
    match b {
        x if x < 999.5 => format!("{x:.0} B"),
        x if x < 999.5e3 => format!("{} KB", three(x / 1e3)),
        x if x < 999.5e6 => format!("{} MB", three(x / 1e6)),
        x => format!("{} GB", three(x / 1e9)),
    }
}

/// A rate in bits per second: `9.41 Gb/s`.
pub fn bits_per_second(r: f64) -> String {
    match r {
        x if x < 999.5e3 => format!("{} kb/s", three(x / 1e3)),
        x if x < 999.5e6 => format!("{} Mb/s", three(x / 1e6)),
        x => format!("{} Gb/s", three(x / 1e9)),
    }
}

/// A count: `0`, `9312`, `93.1k`, `1.24M`, `3.10G`.
pub fn count(n: f64) -> String {
    match n {
        x if x < 9_999.5 => format!("{x:.0}"),
        x if x < 999.5e3 => format!("{}k", three(x / 1e3)),
        x if x < 999.5e6 => format!("{}M", three(x / 1e6)),
        x => format!("{}G", three(x / 1e9)),
    }
}

/// A span of wall-clock time in seconds: `0.4 s`, `12 s`, `3 min 05 s`, `1 h 02 min`.
pub fn span(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..=9 => format!("{seconds:.1} s"),
        10..=59 => format!("{whole} s"),
        60..=3599 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A signed percent without its interval: `-23.4 %`, `+119 %`.
pub fn percent(p: f64) -> String {
    if p.abs() >= 99.95 {
        format!("{p:+.0} %")
    } else {
        format!("{:+.1} %", if p.abs() < 0.05 { 0.0 } else { p })
    }
}

/// The interval of a percent difference, as it is printed behind the number: `±2.1`, `±14` where
/// both sides are equal to the digits printed, else its two ends: `[-84, -19]`. What is printed
/// excludes zero exactly where the interval does.
pub fn interval(percent: f64, (low, high): (f64, f64)) -> String {
    let (below, above) = (points(percent - low), points(high - percent));
    // The number and its half as a reader sees them.
    let number = if percent.abs() >= 99.95 {
        percent.round()
    } else {
        (percent * 10.0).round() / 10.0
    };
    let half: f64 = below.parse().unwrap_or(f64::INFINITY);
    let printed = (number - half > 0.0, number + half < 0.0);
    if below == above && printed == (low > 0.0, high < 0.0) {
        format!("±{below}")
    } else {
        format!("[{}, {}]", end(low), end(high))
    }
}

/// Percent points: `2.1`, `14`.
pub(crate) fn points(p: f64) -> String {
    if p.abs() >= 9.95 {
        format!("{p:.0}")
    } else {
        format!("{:.1}", if p.abs() < 0.05 { 0.0 } else { p })
    }
}

/// Rounded end of an interval, in percent points. The sign says whether the interval excludes zero,
/// so an end other than zero is never rounded to zero.
fn end(p: f64) -> String {
    match p.abs() {
        0.0 => "0".to_owned(),
        x if x < 0.005 => if p > 0.0 { "0.01" } else { "-0.01" }.to_owned(),
        x if x < 0.05 => format!("{p:.2}"),
        _ => points(p),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_change_where_digits_would_run_over() {
        assert_eq!(micros(0.812), "812 ns");
        assert_eq!(micros(85.31), "85.3 µs");
        assert_eq!(micros(999.7), "1.00 ms");
        assert_eq!(micros(2_500_000.0), "2.50 s");
        assert_eq!(bytes(24_100.0), "24.1 KB");
        assert_eq!(count(9_312.0), "9312");
        assert_eq!(count(93_120.0), "93.1k");
        assert_eq!(span(185.0), "3 min 05 s");
        assert_eq!(percent(-23.44), "-23.4 %");
        assert_eq!(percent(119.2), "+119 %");
        let numbers = [12_345.6, 123.45, 12.345, -0.5, 4.0, -0.0004].map(number);
        assert_eq!(numbers, ["12346", "123.5", "12.35", "-0.500", "4", "0"]);
        assert_eq!(percent(-0.01), "+0.0 %");
    }

    /// `±` means "equally far on either side"; otherwise the ends are printed.
    #[test]
    fn an_interval_is_printed_as_it_is() {
        for (percent, ends, printed) in [
            (-10.0, (-12.14, -7.86), "±2.1"),
            (30.0, (16.0, 44.0), "±14"),
            (-40.8, (-84.0, -19.0), "[-84, -19]"),
            (2.0, (1.0, 4.5), "[1.0, 4.5]"),
            // Equal to the digits printed.
            (2.0, (-0.12, 4.08), "±2.1"),
            (20.0, (5.8, 34.3), "±14"),
            (0.0, (0.0, 0.0), "±0.0"),
            // The resamples are on the other side of zero than the number.
            (-0.5, (0.2, 3.0), "[0.2, 3.0]"),
            // Symmetric, but the rounded half would say the opposite of what the interval says.
            (0.5, (0.04, 0.96), "[0.04, 1.0]"),
            (0.46, (-0.001, 0.921), "±0.5"),
            (12.4, (-0.049, 24.849), "[-0.05, 25]"),
            (-0.3, (-0.599, -0.001), "[-0.6, -0.01]"),
            (119.6, (-0.3, 239.5), "±120"),
        ] {
            assert_eq!(interval(percent, ends), printed, "{percent} {ends:?}");
        }
    }

    /// The printed number and interval lead to the same decision as the interval itself.
    #[test]
    fn what_is_printed_decides_as_the_interval_does() {
        for i in 0..200_000_u64 {
            let at = |k: u64, scale: f64| {
                let z = (i * 4 + k).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
                (z as f64 / (1u64 << 24) as f64) * scale
            };
            let scale = [1.0, 10.0, 40.0, 300.0][(i % 4) as usize];
            let p = at(0, 2.0 * scale) - scale;
            // Half of them symmetric.
            let (a, b) = (at(1, 1.2 * scale), at(2, 1.2 * scale));
            let (low, high) = (p - a, p + if i % 8 < 4 { a } else { b });
            let text = interval(p, (low, high));
            let number: f64 = super::percent(p).replace(" %", "").parse().unwrap();
            let (from, to) = match text.strip_prefix('±') {
                Some(h) => {
                    let h: f64 = h.parse().unwrap();
                    (number - h, number + h)
                }
                None => {
                    let (l, h) = text[1..text.len() - 1].split_once(", ").unwrap();
                    (l.parse().unwrap(), h.parse().unwrap())
                }
            };
            assert_eq!(
                (from > 0.0, to < 0.0),
                (low > 0.0, high < 0.0),
                "{p} ({low}, {high}): {text}"
            );
        }
    }
}
