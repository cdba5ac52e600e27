// SPDX-License-Identifier: MIT OR Apache-2.0
//! Width of a chart in a file.

use std::str::FromStr;

/// Units of the picture per inch, as pixels of CSS.
const PER_INCH: f64 = 96.0;
/// Pixels per inch of a PNG file whose width is not in pixels.
const DOTS: f64 = 300.0;
/// Least and largest width in units: a narrow column of a paper, a poster.
const LEAST: f64 = 300.0;
const MOST: f64 = 2000.0;
/// Units of lengths, with the units of the picture in each.
const LENGTHS: [(&str, f64); 5] = [
    ("pt", PER_INCH / 72.0),
    ("mm", PER_INCH / 25.4),
    ("cm", PER_INCH / 2.54),
    ("in", PER_INCH),
    ("px", 1.0),
];

/// Width of a chart in a file. Letters keep their size at every width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Width {
    /// In units of the picture, of which an inch has 96.
    pub(super) units: f64,
    /// Whether it was given in pixels.
    is_pixels: bool,
}

impl Default for Width {
    fn default() -> Self {
        Width {
            units: super::FILE,
            is_pixels: false,
        }
    }
}

impl Width {
    /// Pixels of a PNG file for each unit of the picture.
    pub(super) fn scale(self) -> f64 {
        match self.is_pixels {
            true => 1.0,
            false => DOTS / PER_INCH,
        }
    }

    /// Pixels per inch of a PNG file.
    pub(super) fn dots(self) -> f64 {
        PER_INCH * self.scale()
    }
}

impl FromStr for Width {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let example = "write a width such as 241pt, 85mm, 3.35in or 880px";
        let end = text.find(|c: char| c.is_alphabetic());
        let (number, unit) = text.split_at(end.unwrap_or(text.len()));
        let Some((_, factor)) = LENGTHS.iter().find(|(name, _)| *name == unit) else {
            return Err(match unit {
                "" => format!("the unit is missing; {example}"),
                _ => format!("`{unit}` is not a unit of a width; {example}"),
            });
        };
        let number: f64 = number.trim().parse().map_err(|_| example.to_owned())?;
        let units = number * factor;
        if !(LEAST..=MOST).contains(&units) {
            let ends = [LEAST, MOST].map(|end| (end / factor).round());
            return Err(format!("a chart is {} to {}{unit} wide", ends[0], ends[1]));
        }
        Ok(Width {
            units,
            is_pixels: unit == "px",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_have_units() {
        let units = |text: &str| text.parse::<Width>().map(|w| (w.units, w.dots()));
        let (column, dots) = units("241pt").expect("a width");
        assert!((column * 0.75 - 241.0).abs() < 1e-9 && dots == 300.0);
        assert_eq!(units("880px"), Ok((880.0, 96.0)));
        assert_eq!(units("5in"), Ok((480.0, 300.0)));
        assert_eq!(units("254mm").expect("a width").0.round(), 960.0);
        for (text, says) in [
            ("241", "the unit is missing"),
            ("241 feet", "`feet` is not a unit"),
            ("pt", "241pt"),
            ("-5in", "3 to 21in"),
            ("1px", "300 to 2000px"),
            ("infpx", "not a unit"),
        ] {
            let said = units(text).expect_err(text);
            assert!(said.contains(says), "{text}: {said}");
        }
    }
}
