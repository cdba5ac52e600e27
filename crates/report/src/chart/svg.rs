// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shapes of a sheet as SVG: classes for pages and colours for files, and what the pointer
//! shows as `<title>`.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

use cemark_scenario::visible_lines;
use plotters::style::Color as _;
use plotters_backend::text_anchor::HPos;
use plotters_backend::{BackendColor, BackendCoord};

use super::shapes::{Corners, FINE, Paint, Shape, Sheet, Stroke, Text, short, tenth};
use super::{colour, font};

/// For whom a chart is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Medium {
    /// A page that has the style sheet and the font.
    Page,
    /// A file of its own: fixed colours, texts as outlines.
    File,
}

/// The elements of a sheet, and in files the outlines that they use.
pub(super) fn elements(sheet: &Sheet, medium: Medium) -> String {
    let mut elements = Elements {
        medium,
        body: String::new(),
        runs: BTreeMap::new(),
    };
    for shape in &sheet.shapes {
        elements.shape(shape);
    }
    let Elements { body, runs, .. } = elements;
    match runs.is_empty() {
        true => body,
        false => format!("<defs>\n{}</defs>\n{body}", font::outlines(&runs)),
    }
}

struct Elements {
    medium: Medium,
    /// The elements so far.
    body: String,
    /// The texts that are outlines, with their numbers: the same text is used in many places.
    runs: BTreeMap<String, usize>,
}

impl Elements {
    fn line(&mut self, element: impl Display) {
        let _ = writeln!(self.body, "{element}");
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect { within, paint } => {
                let (paint, place) = (self.paint(paint), rectangle(within));
                self.line(format_args!("<rect {paint} {place}/>"));
            }
            Shape::Circle {
                centre: (x, y),
                radius,
                paint,
            } => {
                let (paint, x, y) = (self.paint(paint), tenth(*x), tenth(*y));
                let radius = f64::from(*radius) / FINE;
                self.line(format_args!(
                    "<circle {paint} cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"
                ));
            }
            Shape::Line { places, stroke } => {
                let (paint, data) = (self.stroke(*stroke), path_data(places));
                self.line(format_args!("<path {paint} d=\"{data}\"/>"));
            }
            Shape::Polygon { corners, fill } => {
                let (paint, data) = (self.fill(*fill), path_data(corners));
                self.line(format_args!("<path {paint} d=\"{data}Z\"/>"));
            }
            Shape::Text(text) => self.text(text),
            Shape::Tip(tip) => {
                let _ = write!(self.body, "<g><title>{}</title>", escape(tip));
            }
            Shape::Hovers => self.line("<g fill=\"none\" pointer-events=\"all\">"),
            Shape::Hover { within, tip } => {
                let (place, tip) = (rectangle(within), escape(tip));
                self.line(format_args!("<rect {place}><title>{tip}</title></rect>"));
            }
            Shape::Scheme(scheme) if self.medium == Medium::Page => {
                let place = scheme % colour::COLOURS;
                self.line(format_args!("<g data-k=\"{place}\">"));
            }
            Shape::Plot(within) if self.medium == Medium::Page => {
                let [x, y] = [within.least.0, within.least.1].map(tenth);
                let [width, height] = [within.size.0, within.size.1].map(tenth);
                self.line(format_args!(
                    "<g class=\"plot\" data-box=\"{x} {y} {width} {height}\">"
                ));
            }
            Shape::Scheme(_) | Shape::Plot(_) => self.line("<g>"),
            Shape::End => self.line("</g>"),
        }
    }

    fn paint(&self, paint: &Paint) -> String {
        match paint {
            Paint::Fill(colour) => self.fill(*colour),
            Paint::Stroke(stroke) => self.stroke(*stroke),
        }
    }

    fn fill(&self, colour: BackendColor) -> String {
        self.colour("f", "fill", colour)
    }

    fn stroke(&self, stroke: Stroke) -> String {
        let mut out = self.colour("s", "stroke", stroke.colour);
        if self.medium != Medium::Page {
            out += " fill=\"none\"";
        }
        let _ = write!(out, " stroke-width=\"{}\"", stroke.width());
        let dashes: Vec<_> = stroke.dashes().iter().map(f64::to_string).collect();
        if !dashes.is_empty() {
            let _ = write!(out, " stroke-dasharray=\"{}\"", dashes.join(" "));
        }
        out
    }

    fn colour(&self, class: &str, attribute: &str, colour: BackendColor) -> String {
        let (r, g, b) = colour.rgb;
        let mut out = match self.medium {
            Medium::Page => format!("class=\"{class}-{}\"", colour::variable(colour.rgb)),
            Medium::File => format!("{attribute}=\"#{r:02x}{g:02x}{b:02x}\""),
        };
        if colour.alpha < 1.0 {
            let _ = write!(out, " {attribute}-opacity=\"{}\"", colour.alpha);
        }
        out
    }

    fn text(&mut self, text: &Text) {
        let fill = self.fill(text.colour);
        let (words, size) = (&*text.text, text.size);
        let turn = if text.turned { " rotate(-90)" } else { "" };
        if self.medium == Medium::File && font::has(words) {
            let scale = size / font::units();
            let (x, y) = text.start();
            let many = self.runs.len();
            let run = *self.runs.entry(words.to_owned()).or_insert(many);
            self.line(format_args!(
                "<use xlink:href=\"#t{run}\" {fill} \
                 transform=\"translate({x} {y}){turn} scale({scale:.6} -{scale:.6})\"/>"
            ));
            return;
        }
        let (x, y) = (short(text.x), short(text.y));
        let place = match text.turned {
            true => format!("transform=\"translate({x} {y}) rotate(-90)\""),
            false => format!("x=\"{x}\" y=\"{y}\""),
        };
        let anchor = match text.anchor {
            HPos::Left => "",
            HPos::Center => " text-anchor=\"middle\"",
            HPos::Right => " text-anchor=\"end\"",
        };
        let family = match self.medium {
            Medium::Page => "",
            Medium::File => " font-family=\"sans-serif\"",
        };
        self.line(format_args!(
            "<text {fill} {place} font-size=\"{size}\"{anchor}{family}>{}</text>",
            escape(words)
        ));
    }
}

/// The line of a scheme beside its name in the legend of a page, with its dashes or without.
pub(super) fn sample(place: usize, is_dashed: bool) -> String {
    let (r, g, b) = colour::series(place).rgb();
    let dashes: Vec<_> = colour::dashes((r, g, b))
        .iter()
        .map(f64::to_string)
        .collect();
    let dashes = match dashes.is_empty() || !is_dashed {
        true => String::new(),
        false => format!(" stroke-dasharray=\"{}\"", dashes.join(" ")),
    };
    format!(
        "<svg aria-hidden=\"true\" viewBox=\"0 0 22 10\" width=\"22\" height=\"10\">\
         <path class=\"s-{}\" stroke-width=\"3\"{dashes} d=\"M0 5h22\"/></svg>",
        colour::variable((r, g, b))
    )
}

fn rectangle(within: &Corners) -> String {
    let (x, y) = (tenth(within.least.0), tenth(within.least.1));
    let (width, height) = (tenth(within.size.0), tenth(within.size.1));
    format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")
}

/// `M12 4.5l3 0 1.2 -7`: places after the first are relative, which takes fewer digits.
fn path_data(path: &[BackendCoord]) -> String {
    let mut out = String::new();
    let mut before: Option<BackendCoord> = None;
    for &(x, y) in path {
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

/// Text inside markup. XML has no control characters, not even as numbers.
pub(super) fn escape(text: &str) -> String {
    visible_lines(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
