// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where plotters draws: a sheet of SVG.
//!
//! plotters has an SVG backend of its own, but its colours are fixed, its places are whole pixels
//! and it guesses how wide texts are. This one writes classes for pages and colours for files,
//! knows the font, puts what the pointer shows into `<title>`, and remembers where texts are.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write as _;

use cemark_scenario::{visible, visible_lines};
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::{Drawable, PointCollection};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};

use super::{colour, font};

/// Steps of a place per unit of the picture.
pub(super) const FINE: f64 = 10.0;

/// Least width of a line with dashes.
const DASHED: u32 = 20;

/// An area of the sheet, in tenths of a unit from its own corner.
pub(super) type Area<'a> = DrawingArea<Canvas<'a>, Shift>;

/// For whom a chart is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Medium {
    /// A page that has the style sheet and the font.
    Page,
    /// A file of its own: fixed colours, texts as outlines.
    File,
    /// What becomes a PDF: fixed colours, texts as texts.
    Pdf,
}

/// Where a text is, in units of the picture.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placed {
    pub text: String,
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

/// A picture that is being drawn.
pub(super) struct Sheet {
    medium: Medium,
    width: f64,
    height: f64,
    /// The elements so far.
    body: String,
    /// Every text that was drawn.
    pub texts: Vec<Placed>,
    /// The texts that are outlines, with their numbers: the same text is used in many places.
    runs: BTreeMap<String, usize>,
}

impl Sheet {
    pub fn new(medium: Medium, width: f64, height: f64) -> Self {
        Sheet {
            medium,
            width,
            height,
            body: String::new(),
            texts: Vec::new(),
            runs: BTreeMap::new(),
        }
    }

    /// The elements, and in files the outlines that they use.
    pub fn finish(self) -> String {
        match self.runs.is_empty() {
            true => self.body,
            false => format!(
                "<defs>\n{}</defs>\n{}",
                font::outlines(&self.runs),
                self.body
            ),
        }
    }

    fn fill(&self, colour: BackendColor) -> String {
        self.paint("f", "fill", colour)
    }

    fn stroke(&self, colour: BackendColor, width: u32) -> String {
        let mut out = self.paint("s", "stroke", colour);
        if self.medium != Medium::Page {
            out += " fill=\"none\"";
        }
        let _ = write!(out, " stroke-width=\"{}\"", f64::from(width) / FINE);
        let dashes = colour::dashes(colour.rgb);
        // A thin line of many points would be nothing but dashes.
        if !dashes.is_empty() && width >= DASHED {
            let _ = write!(out, " stroke-dasharray=\"{dashes}\"");
        }
        out
    }

    fn paint(&self, class: &str, attribute: &str, colour: BackendColor) -> String {
        let (r, g, b) = colour.rgb;
        let mut out = match self.medium {
            Medium::Page => format!("class=\"{class}-{}\"", colour::variable(colour.rgb)),
            Medium::File | Medium::Pdf => format!("{attribute}=\"#{r:02x}{g:02x}{b:02x}\""),
        };
        if colour.alpha < 1.0 {
            let _ = write!(out, " {attribute}-opacity=\"{}\"", colour.alpha);
        }
        out
    }

    /// A text on a base line through `x`, `y`, turned against the clock where `turned`. It begins
    /// at `along` from there, which is also what `anchor` says.
    fn text(&mut self, text: &str, size: f64, at: Line, fill: &str) {
        let Line {
            x,
            y,
            along,
            anchor,
            turned,
        } = at;
        let text = &*visible(text);
        let (x, y) = (short(x), short(y));
        let turn = if turned { " rotate(-90)" } else { "" };
        if self.medium == Medium::File && font::has(text) {
            let scale = size / font::units();
            let (x, y) = match turned {
                true => (x, short(y - along)),
                false => (short(x + along), y),
            };
            let many = self.runs.len();
            let run = *self.runs.entry(text.to_owned()).or_insert(many);
            let _ = writeln!(
                self.body,
                "<use xlink:href=\"#t{run}\" {fill} \
                 transform=\"translate({x} {y}){turn} scale({scale:.6} -{scale:.6})\"/>"
            );
            return;
        }
        let place = match turned {
            true => format!("transform=\"translate({x} {y}) rotate(-90)\""),
            false => format!("x=\"{x}\" y=\"{y}\""),
        };
        let family = match self.medium {
            Medium::Page => String::new(),
            Medium::File => " font-family=\"sans-serif\"".to_owned(),
            Medium::Pdf => format!(" font-family=\"{}\"", font::FAMILY),
        };
        let _ = writeln!(
            self.body,
            "<text {fill} {place} font-size=\"{size}\"{anchor}{family}>{}</text>",
            escape(text)
        );
    }
}

/// Where a text is written.
struct Line {
    x: f64,
    y: f64,
    along: f64,
    anchor: &'static str,
    turned: bool,
}

/// Draws on a sheet.
pub(super) struct Canvas<'a>(pub &'a mut Sheet);

type Done = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for Canvas<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        let fine = |x: f64| (x * FINE).round() as u32;
        (fine(self.0.width), fine(self.0.height))
    }

    fn ensure_prepared(&mut self) -> Done {
        Ok(())
    }

    fn present(&mut self) -> Done {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, colour: BackendColor) -> Done {
        let (x, y) = point;
        self.draw_rect(point, (x + 1, y + 1), &colour, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, a: BackendCoord, b: BackendCoord, style: &S) -> Done {
        self.draw_path([a, b], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        a: BackendCoord,
        b: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Done {
        let paint = match fill {
            true => self.0.fill(style.color()),
            false => self.0.stroke(style.color(), style.stroke_width()),
        };
        let _ = writeln!(
            self.0.body,
            "<rect {paint} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            tenth(a.0.min(b.0)),
            tenth(a.1.min(b.1)),
            tenth((a.0 - b.0).abs()),
            tenth((a.1 - b.1).abs())
        );
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Done {
        if style.color().alpha == 0.0 {
            return Ok(());
        }
        let paint = self.0.stroke(style.color(), style.stroke_width());
        let data = path_data(path);
        let _ = writeln!(self.0.body, "<path {paint} d=\"{data}\"/>");
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Done {
        let paint = match fill {
            true => self.0.fill(style.color()),
            false => self.0.stroke(style.color(), style.stroke_width()),
        };
        let radius = f64::from(radius) / FINE;
        let _ = writeln!(
            self.0.body,
            "<circle {paint} cx=\"{}\" cy=\"{}\" r=\"{radius}\"/>",
            tenth(x),
            tenth(y)
        );
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Done {
        let paint = self.0.fill(style.color());
        let data = path_data(corners);
        let _ = writeln!(self.0.body, "<path {paint} d=\"{data}Z\"/>");
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> Done {
        let (x, y) = (f64::from(x) / FINE, f64::from(y) / FINE);
        let (size, width) = (style.size(), font::width(text, style.size()));
        let turned = !matches!(style.transform(), FontTransform::None);
        let anchor = style.anchor();
        // From the anchor to the beginning of the base line, along the text and across it.
        let (along, anchor_word) = match anchor.h_pos {
            HPos::Left => (0.0, ""),
            HPos::Center => (-width / 2.0, " text-anchor=\"middle\""),
            HPos::Right => (-width, " text-anchor=\"end\""),
        };
        let across = match anchor.v_pos {
            VPos::Top => 0.78 * size,
            VPos::Center => 0.35 * size,
            VPos::Bottom => -0.22 * size,
        };
        let (up, down) = (0.78 * size, 0.22 * size);
        let text_box = |left, top, right, bottom| Placed {
            text: text.to_owned(),
            left,
            top,
            right,
            bottom,
        };
        let (x, y, placed) = if turned {
            let (x, start) = (x + across, y - along);
            (x, y, text_box(x - up, start - width, x + down, start))
        } else {
            let (start, y) = (x + along, y + across);
            (x, y, text_box(start, y - up, start + width, y + down))
        };
        self.0.texts.push(placed);
        let fill = self.0.fill(style.color());
        let line = Line {
            x,
            y,
            along,
            anchor: anchor_word,
            turned,
        };
        self.0.text(text, size, line, &fill);
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let fine = |x: f64| (x * FINE).ceil() as u32;
        Ok((fine(font::width(text, style.size())), fine(style.size())))
    }
}

/// Opens a group that says something under the pointer; [`End`] closes it.
pub(super) struct Begin<'a>(pub &'a str);

/// Closes a group.
pub(super) struct End;

/// Opens a group of [`Hover`]s; [`End`] closes it.
pub(super) struct Hovers;

/// A part of the plot that shows nothing and says something under the pointer.
pub(super) struct Hover<'a>(pub &'a str, pub [(f64, f64); 2]);

impl<'a> PointCollection<'a, (f64, f64)> for &'a Hover<'_> {
    type Point = &'a (f64, f64);
    type IntoIter = &'a [(f64, f64)];
    fn point_iter(self) -> &'a [(f64, f64)] {
        &self.1
    }
}

impl Drawable<Canvas<'_>> for Hover<'_> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        mut corners: I,
        canvas: &mut Canvas<'_>,
        _: (u32, u32),
    ) -> Done {
        let (Some(a), Some(b)) = (corners.next(), corners.next()) else {
            return Ok(());
        };
        if canvas.0.medium == Medium::Pdf {
            return Ok(());
        }
        let _ = writeln!(
            canvas.0.body,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>",
            tenth(a.0.min(b.0)),
            tenth(a.1.min(b.1)),
            tenth((a.0 - b.0).abs()),
            tenth((a.1 - b.1).abs()),
            escape(self.0)
        );
        Ok(())
    }
}

const NOWHERE: [(i32, i32); 1] = [(0, 0)];

impl<'a> PointCollection<'a, (i32, i32)> for &'a Begin<'_> {
    type Point = &'a (i32, i32);
    type IntoIter = &'a [(i32, i32)];
    fn point_iter(self) -> &'a [(i32, i32)] {
        &NOWHERE
    }
}

impl<'a> PointCollection<'a, (i32, i32)> for &'a Hovers {
    type Point = &'a (i32, i32);
    type IntoIter = &'a [(i32, i32)];
    fn point_iter(self) -> &'a [(i32, i32)] {
        &NOWHERE
    }
}

impl<'a> PointCollection<'a, (i32, i32)> for &'a End {
    type Point = &'a (i32, i32);
    type IntoIter = &'a [(i32, i32)];
    fn point_iter(self) -> &'a [(i32, i32)] {
        &NOWHERE
    }
}

impl Drawable<Canvas<'_>> for Begin<'_> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        _: I,
        canvas: &mut Canvas<'_>,
        _: (u32, u32),
    ) -> Done {
        let _ = write!(canvas.0.body, "<g><title>{}</title>", escape(self.0));
        Ok(())
    }
}

impl Drawable<Canvas<'_>> for Hovers {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        _: I,
        canvas: &mut Canvas<'_>,
        _: (u32, u32),
    ) -> Done {
        canvas.0.body += "<g fill=\"none\" pointer-events=\"all\">\n";
        Ok(())
    }
}

impl Drawable<Canvas<'_>> for End {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        _: I,
        canvas: &mut Canvas<'_>,
        _: (u32, u32),
    ) -> Done {
        canvas.0.body += "</g>\n";
        Ok(())
    }
}

/// `M12 4.5l3 0 1.2 -7`: places after the first are relative, which takes fewer digits.
fn path_data(path: impl IntoIterator<Item = BackendCoord>) -> String {
    let mut out = String::new();
    let mut before: Option<BackendCoord> = None;
    for (x, y) in path {
        let _ = match before {
            None => write!(out, "M{} {}l", tenth(x), tenth(y)),
            Some((from, above)) => {
                let gap = if out.ends_with('l') { "" } else { " " };
                write!(out, "{gap}{} {}", tenth(x - from), tenth(y - above))
            }
        };
        before = Some((x, y));
    }
    out
}

/// Tenths as a decimal number: `12`, `4.5`, `-0.3`.
fn tenth(fine: i32) -> f64 {
    f64::from(fine) / FINE
}

fn short(x: f64) -> f64 {
    (x * FINE).round() / FINE
}

/// Text inside markup. XML has no control characters, not even as numbers.
pub(super) fn escape(text: &str) -> String {
    visible_lines(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
