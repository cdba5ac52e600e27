// SPDX-License-Identifier: MIT OR Apache-2.0
//! Charts over an axis: bars and lines of a metric, absolute or relative to a scheme, with the
//! published values over them.

use std::collections::BTreeMap;

use cemark_report::chart::{
    self, Axis, Body, Chart, Curve, Curves, Key, Panel, Places, Spot, Unit,
};
use cemark_report::metrics;
use cemark_report::text::{capital, distinct};
use cemark_report::units::number;
use cemark_scenario::Plan;

use super::super::error::RowError;
use super::super::evaluate::{Cell, Data, evaluate, first_number, fits, value};
use super::super::row::{Formula, OneOrMany, Row};
use super::super::targets::Target;
use super::published;
use super::spec::{Form, PanelSpec, SCHEME, Spec};

/// Values of axes, by path.
pub(super) type Axes = BTreeMap<String, String>;

/// The part of a place on the axis that its bars take.
const FULL: f64 = 0.78;

/// Plan, points, rows and targets that a chart is drawn from.
pub(super) struct Source<'a> {
    pub plan: &'a Plan,
    pub data: &'a Data<'a>,
    pub rows: &'a [Row],
    pub targets: &'a [Target],
}

/// A value of a panel, and where it is.
pub(super) struct Place<'a> {
    pub axes: &'a Axes,
    pub scheme: &'a str,
    /// Place on the horizontal axis.
    pub x: f64,
    series: usize,
}

/// A panel whose values are being taken.
pub(super) struct Drawn<'a> {
    pub source: &'a Source<'a>,
    pub spec: &'a Spec,
    pub panel: &'a PanelSpec,
    pub places: Vec<Place<'a>>,
}

/// A chart; `None` where none of its points is there.
pub(super) fn chart(source: &Source<'_>, spec: &Spec) -> Option<Chart> {
    let cells = cells(source, spec);
    let axis = horizontal(source, spec, &cells)?;
    let series = Series::new(source, spec, &cells);
    let mut panels = Vec::new();
    for (group, here) in groups(spec, &cells) {
        for panel in &spec.panels {
            let mut places = places(source, spec, &here, (&axis, &series));
            let is_shown = |scheme: &str| {
                panel.schemes.is_empty() || panel.schemes.iter().any(|s| s == scheme)
            };
            places.retain(|p| is_shown(p.scheme));
            let drawn = Drawn {
                source,
                spec,
                panel,
                places,
            };
            panels.extend(drawn.draw(group, &axis, &series));
        }
    }
    let has_marks = panels.iter().any(|p| match &p.body {
        Body::Curves(curves) => !curves.marks.is_empty(),
        _ => false,
    });
    (!panels.is_empty()).then(|| Chart {
        name: chart::file_word(&spec.figure),
        title: spec.title.clone(),
        caption: caption(spec, has_marks),
        legend: series.legend(),
        panels,
    })
}

pub(super) fn caption(spec: &Spec, has_marks: bool) -> String {
    let mut said = Vec::new();
    if !spec.against.is_empty() {
        said.push(format!("{} is 1.", spec.against));
    }
    said.extend(match spec.form {
        Form::Bars => Some("The thin lines are 95 % intervals.".to_owned()),
        Form::Lines => Some("Bands and thin lines are 95 % intervals.".to_owned()),
        _ => None,
    });
    if has_marks {
        said.push(
            "Diamonds are published values; a line through one spans the points of which the \
             paper prints a single number."
                .to_owned(),
        );
    }
    if !spec.note.is_empty() {
        said.push(spec.note.clone());
    }
    said.join(" ")
}

/// The different combinations of axes, in order.
pub(super) fn cells<'a>(source: &Source<'a>, spec: &Spec) -> Vec<&'a Axes> {
    let all = source.data.cells.iter().map(|cell| cell.axes);
    distinct(all.filter(|axes| fits(axes, &spec.selection)))
}

/// The values of the axis by which a figure's panels are grouped, each with its combinations of
/// axes; one group of all without such an axis.
pub(super) fn groups<'a>(spec: &Spec, cells: &[&'a Axes]) -> Vec<(Option<&'a str>, Vec<&'a Axes>)> {
    let values = distinct(cells.iter().filter_map(|c| value(c, &spec.by)));
    if values.is_empty() {
        return vec![(None, cells.to_vec())];
    }
    let of = |group: &str| {
        let own = cells.iter().filter(|c| value(c, &spec.by) == Some(group));
        own.copied().collect()
    };
    values
        .into_iter()
        .map(|group| (Some(group), of(group)))
        .collect()
}

/// Schemes among `chosen` that have a point; if `chosen` is empty, among all.
pub(super) fn with_points<'a>(plan: &'a Plan, chosen: &'a [String]) -> Vec<&'a str> {
    let all = if chosen.is_empty() {
        &plan.schemes
    } else {
        chosen
    };
    let is_there = |scheme: &&str| plan.points.iter().any(|p| p.scheme == *scheme);
    all.iter().map(String::as_str).filter(is_there).collect()
}

fn schemes<'a>(source: &Source<'a>, spec: &'a Spec) -> Vec<&'a str> {
    with_points(source.plan, &spec.schemes)
}

/// The horizontal axis, with the place of each of its values.
fn horizontal<'a>(source: &Source<'a>, spec: &'a Spec, cells: &[&'a Axes]) -> Option<Places<'a>> {
    let words = match &spec.x[..] {
        SCHEME => schemes(source, spec),
        "" => vec![""],
        _ => distinct(cells.iter().filter_map(|c| value(c, &spec.x))),
    };
    let label = match &spec.x[..] {
        SCHEME | "variant" => "",
        x => x,
    };
    let first_numbers = || {
        let read = words.iter().map(|w| Some((*w, first_number(w)?)));
        Some((
            Unit::Other(unit_behind(words[0])),
            read.collect::<Option<Vec<_>>>()?,
        ))
    };
    (!words.is_empty()).then(|| {
        let numbers = match spec.form {
            Form::Lines => chart::numbers(&words).or_else(first_numbers),
            _ => None,
        };
        Places::new(label, &words, numbers, 15.0)
    })
}

/// `senders` of `8 senders`.
fn unit_behind(word: &str) -> String {
    let letters = word.find(char::is_alphabetic);
    word[letters.unwrap_or(word.len())..].to_owned()
}

/// Schemes, or values of an axis, that have colours.
struct Series<'a> {
    /// (name, colour)
    all: Vec<(&'a str, usize)>,
    is_scheme: bool,
}

impl<'a> Series<'a> {
    fn new(source: &Source<'a>, spec: &'a Spec, cells: &[&'a Axes]) -> Self {
        let is_scheme = spec.series == SCHEME;
        let all = match is_scheme {
            // Each place is a scheme: one colour.
            true if spec.x == SCHEME => vec![("", 1)],
            true => {
                let colour = |s: &'a str| (s, chart::colour(source.plan, s));
                schemes(source, spec).into_iter().map(colour).collect()
            }
            false => {
                let names = distinct(cells.iter().filter_map(|c| value(c, &spec.series)));
                let many = (0..).map(|i| i % chart::COLOURS);
                names.into_iter().zip(many).collect()
            }
        };
        Series { all, is_scheme }
    }

    fn legend(&self) -> Vec<Key> {
        let named = self.all.iter().filter(|s| !s.0.is_empty());
        let key = |(label, colour): &(&str, usize)| Key {
            label: (*label).to_owned(),
            colour: *colour,
        };
        named.map(key).collect()
    }

    fn of(&self, axes: &Axes, scheme: &str, spec: &Spec) -> Option<usize> {
        let name = match self.is_scheme {
            true if spec.x == SCHEME => "",
            true => scheme,
            false => value(axes, &spec.series)?,
        };
        self.all.iter().position(|s| s.0 == name)
    }
}

fn places<'a>(
    source: &Source<'a>,
    spec: &'a Spec,
    cells: &[&'a Axes],
    (axis, series): (&Places<'a>, &Series<'a>),
) -> Vec<Place<'a>> {
    let many = series.all.len() as f64;
    let mut found = Vec::new();
    for axes in cells {
        for scheme in schemes(source, spec) {
            let word = match spec.x == SCHEME {
                true => Some(scheme),
                false if spec.x.is_empty() => Some(""),
                false => value(axes, &spec.x),
            };
            let place = word.and_then(|w| axis.of(w));
            let (Some(x), Some(i)) = (place, series.of(axes, scheme, spec)) else {
                continue;
            };
            let aside = match axis.axis.names.is_empty() {
                true => 0.0,
                false => FULL * ((i as f64 + 0.5) / many - 0.5),
            };
            found.push(Place {
                axes,
                scheme,
                x: x + aside,
                series: i,
            });
        }
    }
    found
}

impl Drawn<'_> {
    fn draw(&self, group: Option<&str>, axis: &Places<'_>, series: &Series<'_>) -> Option<Panel> {
        let mut curves: Vec<Curve> = Vec::new();
        for (i, (name, colour)) in series.all.iter().enumerate() {
            let here = self.places.iter().filter(|p| p.series == i);
            let mut spots: Vec<Spot> = here.filter_map(|p| self.spot(p, name)).collect();
            spots.sort_by(|a, b| a.x.total_cmp(&b.x));
            // Places without number have no line between them.
            let is_line = self.spec.form == Form::Lines && axis.axis.names.is_empty();
            let curve = |spots| Curve {
                label: (*name).to_owned(),
                colour: *colour,
                spots,
            };
            match is_line || self.spec.form == Form::Bars {
                true => curves.extend((!spots.is_empty()).then(|| curve(spots))),
                false => curves.extend(spots.into_iter().map(|s| curve(vec![s]))),
            }
        }
        if curves.is_empty() {
            return None;
        }
        let metric = metrics::find(&self.panel.metric)?;
        let name = match &self.panel.title[..] {
            "" => capital(&chart::metric_name(metric)),
            title => title.to_owned(),
        };
        let title = group.map_or(name.clone(), |g| format!("{}: {name}", self.spec.group(g)));
        let wide = 0.9 * FULL / series.all.len() as f64;
        let curves = Curves {
            x: axis.axis.clone(),
            y: self.vertical(metric),
            origin: (!self.spec.against.is_empty()).then_some(1.0),
            form: match self.spec.form {
                Form::Bars => chart::Form::Bars(wide),
                _ => chart::Form::Dotted,
            },
            curves,
            marks: published::marks(self),
        };
        Some(Panel::new(title, Body::Curves(curves)))
    }

    fn vertical(&self, metric: &metrics::Metric) -> Axis {
        if !self.spec.against.is_empty() {
            return Axis::new(
                format!("relative to {}", self.spec.against),
                Unit::default(),
            );
        }
        let unit = match (&self.panel.unit[..], metric.in_figures) {
            ("", None) => chart::unit_of(metric.unit),
            ("", Some(figure)) => Unit::Other(figure.unit.to_owned()),
            (unit, _) => Unit::Other(unit.to_owned()),
        };
        Axis::new("", unit)
    }

    /// The row that asks for the panel's value of a scheme.
    fn row(&self, formula: Formula, axes: &Axes, scheme: &str, against: &str) -> Row {
        let one = |(path, value): (&String, &String)| {
            let value = toml::Value::String(value.clone());
            (path.clone(), OneOrMany::One(value))
        };
        Row {
            scheme: scheme.to_owned(),
            against: against.to_owned(),
            selection: axes.iter().map(one).collect(),
            workload: self.panel.workload.clone(),
            port: self.panel.port.clone(),
            class: self.panel.class,
            unit: self.panel.per.filter(|_| formula == Formula::Value),
            ..Row::of(formula, &self.panel.metric)
        }
    }

    /// The value of a scheme in the unit of the vertical axis, with its interval.
    pub(super) fn value(
        &self,
        axes: &Axes,
        scheme: &str,
    ) -> Result<(f64, Option<(f64, f64)>), RowError> {
        let against = &self.spec.against;
        let here = |c: &Cell<'_>| c.axes == axes && c.scheme == scheme;
        if !self.source.data.cells.iter().any(here) {
            return Err(RowError::NoCell);
        }
        if scheme == against {
            return Ok((1.0, None));
        }
        let formula = match against.is_empty() {
            true => Formula::Value,
            false => Formula::Ratio,
        };
        let found = evaluate(&self.row(formula, axes, scheme, against), self.source.data)?;
        Ok((found.value(), found.interval()))
    }

    fn spot(&self, place: &Place<'_>, name: &str) -> Option<Spot> {
        let (y, band) = self.value(place.axes, place.scheme).ok()?;
        let mut tip = match name {
            "" => place.scheme.to_owned(),
            name => name.to_owned(),
        };
        if self.spec.x != SCHEME
            && !self.spec.x.is_empty()
            && let Some(word) = value(place.axes, &self.spec.x)
        {
            tip += &format!(", {} {word}", self.spec.x);
        }
        tip += &format!(": {}", number(y));
        if let Some((low, high)) = band {
            tip += &format!(" ({} to {})", number(low), number(high));
        }
        y.is_finite().then_some(Spot {
            x: place.x,
            y,
            // What is measured is never below zero.
            band: band
                .filter(|b| b.0.is_finite() && b.1.is_finite())
                .map(|b| (b.0.max(0.0).min(y), b.1)),
            tip,
        })
    }
}
