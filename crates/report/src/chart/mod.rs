// SPDX-License-Identifier: MIT OR Apache-2.0
//! Charts: of a comparison, of queues over time, over the axis of a sweep, and of a figure's rows.
//!
//! A [`Chart`] holds numbers and words, no layout. [`Chart::inline`] draws it for a page in three
//! widths, and [`style`] is the style sheet that shows the one that fits. [`Chart::svg`],
//! [`Chart::pdf`] and [`Chart::png`] draw it as a file of its own. The same chart gives the same
//! bytes on every machine.

mod axis;
mod by_metric;
mod canvas;
mod colour;
mod curves;
mod draw;
mod file;
mod font;
mod heat;
mod of_buffers;
mod of_flows;
mod of_goodput;
mod of_group;
mod of_heat;
mod of_metric;
mod of_ports;
mod of_queues;
mod of_sweep;
mod over_time;
mod pdf;
mod pen;
mod png;
mod rows;
mod shapes;
mod svg;
mod tips;
mod width;

#[cfg(test)]
mod tests;

pub use axis::{Axis, Unit, unit_of};
pub(crate) use by_metric::by_metric;
pub use by_metric::of_sweep;
pub use colour::{COLOURS, of_scheme as colour};
pub use heat::{Heat, Names, Tile};
pub use of_buffers::of_buffers;
pub use of_flows::{of_distribution, of_flows_over, of_sizes};
pub use of_goodput::{Intervals, of_goodput};
pub use of_group::{at, name as metric_name, of_group};
pub(crate) use of_group::{difference, place_of};
pub use of_metric::{compares, metrics, of_metric};
pub use of_ports::of_ports;
pub use of_queues::of_queues;
pub use of_sweep::{Places, Values, numbers};
pub use width::Width;

use cemark_scenario::Plan;
use svg::{Medium, escape};

use crate::by_port::Share;
use crate::by_size::Buckets;
use crate::comparison::Group;
use crate::comparison::sentence::FEW;
use crate::cumulative::Quantity;
use crate::{Comparisons, Finished};

/// Width of a chart in a file.
const FILE: f64 = 760.0;
/// Classes and widths of the forms of a chart on a page, from the least. A page shows the widest
/// that its column has room for and stretches it, so that no text is smaller than it is here: a
/// phone or a third of a column, a tablet or paper, a whole column.
const FORMS: [(&str, f64); 3] = [("narrow", 316.0), ("middle", 640.0), ("wide", 940.0)];
/// More schemes than this on one axis over time are switched on one by one.
const CROWD: usize = 4;

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// File name of the chart without extension: letters, digits, `-`, `.` and `_`.
    pub name: String,
    /// Title above the chart, one line.
    pub title: String,
    /// Sentences below it: what is drawn how. Empty: nothing needs to be said.
    pub caption: String,
    /// Meanings of the colours; empty where each mark has its name beside it.
    pub legend: Vec<Key>,
    /// Its parts, at least one.
    pub panels: Vec<Panel>,
}

/// A colour and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The scheme.
    pub label: String,
    /// Its place in the list of colours.
    pub colour: usize,
}

/// A part of a chart with axes of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Above it.
    pub title: String,
    /// Below the title, in smaller letters; may be empty.
    pub note: String,
    /// Rows or curves of the panel.
    pub body: Body,
}

impl Panel {
    /// A panel without a note.
    pub fn new(title: impl Into<String>, body: Body) -> Self {
        Panel {
            title: title.into(),
            note: String::new(),
            body,
        }
    }

    /// A panel of curves over time, in microseconds, with room for values up to `most`.
    pub fn over_time(
        title: impl Into<String>,
        time: (f64, f64),
        unit: Unit,
        most: f64,
        curves: Vec<Curve>,
    ) -> Self {
        let axis = |label, unit, range| Axis {
            range: Some(range),
            ..Axis::new(label, unit)
        };
        let curves = Curves {
            x: axis("time", Unit::Micros, time),
            y: axis("", unit, (0.0, 1.08 * most)),
            curves,
            ..Curves::default()
        };
        Panel::new(title, Body::Times(curves))
    }
}

/// Form of a panel with its values.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Rows with one value each.
    Rows(Rows),
    /// Values over a horizontal axis.
    Curves(Curves),
    /// Values over time; all panels of a chart have equal scales on both axes.
    Times(Curves),
    /// Values at pairs of places on two axes.
    Heat(Heat),
}

/// Values below each other, each with its name and number.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// The horizontal axis.
    pub axis: Axis,
    /// Where bars begin; `None`: there are dots instead of bars.
    pub origin: Option<f64>,
    /// From top to bottom.
    pub rows: Vec<Row>,
}

/// Value with its label, interval and published numbers, in the unit of the axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Its name.
    pub label: String,
    /// Place in the list of colours.
    pub colour: usize,
    /// The value.
    pub value: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// A shaded part of the axis: the band in which the value counts as reproduced. An end without
    /// a limit is infinite.
    pub band: Option<(f64, f64)>,
    /// A published value, drawn as a diamond.
    pub published: Option<f64>,
    /// The number as people read it.
    pub text: String,
    /// Text at the pointer.
    pub tip: String,
}

/// Values over a horizontal axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// A value of the vertical axis that has a line.
    pub origin: Option<f64>,
    /// How the values are drawn.
    pub form: Form,
    /// The curves.
    pub curves: Vec<Curve>,
    /// Published values, over the curves.
    pub marks: Vec<Mark>,
}

/// How the values of a panel are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Form {
    /// Lines with a dot at each value, where there are few.
    #[default]
    Dotted,
    /// Lines alone.
    Plain,
    /// Bars of this width, in units of the horizontal axis.
    Bars(f64),
}

/// A published value: a diamond at one place, a line with a diamond over several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mark {
    /// Inside the diamond: place in the list of colours; `None`: paper.
    pub colour: Option<usize>,
    /// The places, in rising order of the horizontal axis.
    pub places: Vec<(f64, f64)>,
    /// Text at the pointer.
    pub tip: String,
}

/// A line with a band around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Label of the scheme that the curve shows.
    pub label: String,
    /// Its place in the list of colours.
    pub colour: usize,
    /// In rising order of `x`.
    pub spots: Vec<Spot>,
}

/// A point of a curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spot {
    /// Where on the horizontal axis.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// The lower and the upper end of the band there.
    pub band: Option<(f64, f64)>,
    /// Text at the pointer.
    pub tip: String,
}

/// The rules for charts in pages: the font, which of the forms is shown, and the colours. The
/// variables have values for light and dark pages and for print; a page may override them.
pub fn style() -> String {
    let (light, dark) = (colour::variables(false), colour::variables(true));
    let mut out = format!(
        "{}\n:root {{ {light} }}\n\
         @media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n\
         .chart {{ margin: 0; position: relative; container-type: inline-size; }}\n\
         .chart > svg {{ display: block; width: 100%; height: auto; \
         font-family: \"cemark chart\", sans-serif; font-kerning: none; }}\n",
        font::face("cemark chart"),
    );
    for (i, (class, width)) in FORMS.iter().enumerate() {
        let hidden = |when: String| {
            format!("@container ({when}) {{ .chart > svg.{class} {{ display: none; }} }}\n")
        };
        if i > 0 {
            out += &hidden(format!("max-width: {}px", width - 0.02));
        }
        if let Some((_, wider)) = FORMS.get(i + 1) {
            out += &hidden(format!("min-width: {wider}px"));
        }
    }
    for name in colour::names() {
        out += &format!(
            ".f-{name} {{ fill: var(--{name}); }} \
             .s-{name} {{ stroke: var(--{name}); fill: none; }}\n"
        );
    }
    out
}

impl Chart {
    /// The chart for a page that has the rules of [`style`].
    pub fn inline(&self) -> String {
        let mut out = String::from("<div class=\"chart\">\n");
        out += &self.buttons();
        let told = self.told();
        for (class, width) in FORMS {
            let sheet = draw::sheet(&told, width, false);
            out += &format!(
                "<svg class=\"{class}\" viewBox=\"0 0 {width} {}\" role=\"img\" \
                 aria-label=\"{}\">\n{}</svg>\n",
                sheet.height,
                escape(&self.alternative()),
                svg::elements(&sheet, Medium::Page)
            );
        }
        out + "</div>\n"
    }

    /// The legend of a page. The page's script makes each entry hide its scheme; of a crowd it
    /// shows the first two.
    fn buttons(&self) -> String {
        if self.legend.is_empty() {
            return String::new();
        }
        let is_crowd = |panel: &Panel| match &panel.body {
            Body::Times(curves) => curves.curves.len() > CROWD,
            _ => false,
        };
        let first = match self.panels.iter().any(is_crowd) {
            true => " data-first=\"2\"",
            false => "",
        };
        // Curves over time have no dashes.
        let is_dashed = !self.panels.iter().any(|p| matches!(p.body, Body::Times(_)));
        let entry = |key: &Key| {
            format!(
                "<li><button type=\"button\" data-k=\"{}\" aria-pressed=\"true\">{}{}</button>\
                 </li>\n",
                key.colour % COLOURS,
                svg::sample(key.colour, is_dashed),
                escape(&key.label)
            )
        };
        let entries: String = self.legend.iter().map(entry).collect();
        format!("<ul class=\"legend\"{first}>\n{entries}</ul>\n")
    }

    /// Text for readers who cannot see the chart: title and caption.
    pub fn alternative(&self) -> String {
        format!("{}. {}", self.title, self.caption)
            .trim_end()
            .to_owned()
    }
}

/// Every chart of a run: for a sweep first the metrics over its axes, then what each value of the
/// axes shows. Only a run with few values of the axes has charts of flows.
pub fn of_run(
    plan: &Plan,
    finished: &[Finished],
    comparisons: &Comparisons,
    buckets: &Buckets,
) -> Vec<Chart> {
    let mut charts = of_sweep(plan, comparisons, Values::Differences);
    charts.extend(of_sweep(plan, comparisons, Values::Absolute(finished)));
    let has_few = comparisons.groups.len() <= FEW;
    for group in &comparisons.groups {
        charts.extend(of_group(plan, group));
        if has_few {
            charts.extend(of_flows(plan, finished, group, buckets));
            charts.extend(of_ports(plan, finished, group, &Share::EACH));
        }
        charts.extend(of_queues(plan, finished, group));
        charts.extend(of_buffers(plan, finished, group));
        charts.extend(of_goodput(plan, finished, group));
    }
    charts
}

/// Flows of a group: slowdown by size and the distributions that have values.
pub fn of_flows(
    plan: &Plan,
    finished: &[Finished],
    group: &Group,
    buckets: &Buckets,
) -> Vec<Chart> {
    let groups = std::slice::from_ref(group);
    let distribution = |quantity| of_distribution(plan, finished, groups, quantity);
    let distributions = Quantity::EACH.into_iter().filter_map(distribution);
    let by_size = of_sizes(plan, finished, group, buckets);
    by_size.into_iter().chain(distributions).collect()
}

/// A word as a part of a file's name.
pub fn file_word(text: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || ".-_".contains(c) => c,
        _ => '_',
    };
    text.chars().map(plain).collect()
}
