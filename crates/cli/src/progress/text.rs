// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words of the progress: round numbers, as a person would say them.

use cemark_report::units;

/// Progress of a run as people see it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown {
    /// Name of the plan that runs at present; may be empty.
    pub(super) title: String,
    /// Share of the time, 0 to 99.
    pub(super) percent: u32,
    /// Points that are finished.
    pub(super) finished: usize,
    /// Points that are expected.
    pub(super) points: usize,
    /// Packet-hops so far.
    pub(super) hops: u64,
    /// Packet-hops a second of a single point; `None` in a run of several points.
    pub(super) speed: Option<f64>,
    /// Seconds since the start.
    pub(super) gone: f64,
    /// Estimated seconds to the end; `None` before anything is known.
    pub(super) left: Option<f64>,
}

impl Shown {
    /// A line of its own.
    pub(super) fn line(&self) -> String {
        let title = match self.title.as_str() {
            "" => String::new(),
            title => format!("{title}, "),
        };
        let left = match self.left {
            Some(left) => format!("about {} left", about(left)),
            None => "too early to say how long it takes".to_owned(),
        };
        format!(
            "[{:3} %] {title}{}, {} gone, {left}",
            self.percent,
            self.work(" of "),
            units::span(self.gone),
        )
    }

    /// Beside a bar. The most important part comes first, because a narrow terminal cuts off the
    /// end.
    pub(super) fn beside_bar(&self, narrow: bool) -> String {
        let left = match self.left {
            Some(left) => format!("{:3} %  about {} left", self.percent, about(left)),
            None => "starting".to_owned(),
        };
        // Whole seconds, also the first ten: the bar is drawn four times a second.
        let gone = match self.gone.floor() {
            seconds @ ..10.0 => format!("{seconds} s"),
            seconds => units::span(seconds),
        };
        let mut text = format!("{left}, {gone} gone");
        if !self.title.is_empty() {
            text = format!("{}  {text}", self.title);
        }
        if !narrow {
            text += &format!("  {}", self.work("/"));
        }
        text
    }

    /// Words on the work done: points and packet-hops, or the speed of a single point.
    fn work(&self, of: &str) -> String {
        let hops = units::count(self.hops as f64);
        match self.speed {
            Some(speed) => format!("{hops} packet-hops, {} a second", units::count(speed)),
            None => format!(
                "{}{of}{} points, {hops} packet-hops",
                self.finished, self.points
            ),
        }
    }
}

/// A time that is only roughly known: `5 s`, `40 s`, `2 min 20 s`, `12 min`, `1 h 10 min`, `5 h`,
/// `3 days`.
fn about(seconds: f64) -> String {
    let to = |step: f64| (seconds / step).round().max(1.0) as u64 * step as u64;
    let two = |large: u64, unit: &str, small: u64, rest: &str| match small {
        0 => format!("{large} {unit}"),
        _ => format!("{large} {unit} {small} {rest}"),
    };
    match seconds {
        ..9.5 => format!("{} s", to(1.0)),
        ..57.5 => format!("{} s", to(5.0)),
        ..295.0 => two(to(10.0) / 60, "min", to(10.0) % 60, "s"),
        ..1770.0 => format!("{} min", to(60.0) / 60),
        ..3450.0 => format!("{} min", to(300.0) / 60),
        ..17_700.0 => two(to(600.0) / 3600, "h", to(600.0) % 3600 / 60, "min"),
        ..169_200.0 => format!("{} h", to(3600.0) / 3600),
        _ => format!("{} days", to(86_400.0) / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::{Shown, about};

    #[test]
    fn times_are_round() {
        for (seconds, text) in [
            (0.0, "1 s"),
            (4.4, "4 s"),
            (9.6, "10 s"),
            (41.0, "40 s"),
            (57.4, "55 s"),
            (58.0, "1 min"),
            (142.0, "2 min 20 s"),
            (294.0, "4 min 50 s"),
            (299.0, "5 min"),
            (733.0, "12 min"),
            (2222.0, "35 min"),
            (3500.0, "1 h"),
            (4000.0, "1 h 10 min"),
            (18_000.0, "5 h"),
            (172_000.0, "2 days"),
        ] {
            assert_eq!(about(seconds), text, "{seconds}");
        }
    }

    fn shown() -> Shown {
        Shown {
            title: String::new(),
            percent: 23,
            finished: 7,
            points: 30,
            hops: 1_900_000_000,
            speed: None,
            gone: 42.3,
            left: Some(139.0),
        }
    }

    #[test]
    fn a_line_reads_as_a_sentence() {
        assert_eq!(
            shown().line(),
            "[ 23 %] 7 of 30 points, 1.90G packet-hops, 42 s gone, about 2 min 20 s left"
        );
        let early = Shown {
            percent: 0,
            left: None,
            title: "ecnsharp-9".to_owned(),
            ..shown()
        };
        assert_eq!(
            early.line(),
            "[  0 %] ecnsharp-9, 7 of 30 points, 1.90G packet-hops, 42 s gone, too early to say \
             how long it takes"
        );
    }

    #[test]
    fn a_single_point_shows_its_speed() {
        let one = Shown {
            speed: Some(24_100_000.0),
            ..shown()
        };
        assert_eq!(
            one.line(),
            "[ 23 %] 1.90G packet-hops, 24.1M a second, 42 s gone, about 2 min 20 s left"
        );
        assert_eq!(
            one.beside_bar(false),
            " 23 %  about 2 min 20 s left, 42 s gone  1.90G packet-hops, 24.1M a second"
        );
        assert_eq!(one.beside_bar(true), shown().beside_bar(true));
    }

    #[test]
    fn a_bar_begins_with_what_matters() {
        let narrow = shown().beside_bar(true);
        assert_eq!(narrow, " 23 %  about 2 min 20 s left, 42 s gone");
        assert_eq!(
            shown().beside_bar(false),
            format!("{narrow}  7/30 points, 1.90G packet-hops")
        );
        let early = Shown {
            left: None,
            gone: 1.2,
            ..shown()
        };
        assert_eq!(early.beside_bar(true), "starting, 1 s gone");
    }
}
