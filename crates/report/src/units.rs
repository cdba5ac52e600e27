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

/// Half an interval in percent points: `±2.1`, `±14`.
pub fn half(h: f64) -> String {
    if h >= 9.95 {
        format!("±{h:.0}")
    } else {
        format!("±{h:.1}")
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
        assert_eq!(percent(-0.01), "+0.0 %");
        assert_eq!(half(2.14), "±2.1");
    }
}
