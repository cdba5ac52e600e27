// SPDX-License-Identifier: MIT OR Apache-2.0
//! Charts of ours: those of the report, and curves that Python has computed.

use std::path::PathBuf;

use cemark_report::chart::{Axis, Body, Chart, Curve, Curves, Form, Key, Panel, Spot, Unit};
use cemark_report::rundir::write_named;
use pyo3::prelude::*;

use crate::errors;

/// A chart, drawn when it is asked for.
#[pyclass(frozen, module = "cemark._native")]
pub(crate) struct NativeChart(pub(crate) Chart);

/// A panel of shares: its title, and for each curve the scheme, its place in the list of colours,
/// the values in rising order and the share of rows up to each.
type Shares = (String, Vec<(String, usize, Vec<f64>, Vec<f64>)>);

#[pymethods]
impl NativeChart {
    /// Name of files with the chart, without extension.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Title line above the chart.
    #[getter]
    fn title(&self) -> &str {
        &self.0.title
    }

    /// The text of an SVG file.
    fn svg(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.svg())
    }

    /// Writes an SVG or a PDF file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let ending = path.extension().and_then(|e| e.to_str());
        let bytes = match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => py.detach(|| self.0.svg().into_bytes()),
            Some("pdf") => py.detach(|| self.0.pdf()),
            _ => {
                let message = format!("{}: a chart is an .svg or a .pdf file", path.display());
                let help = "write such a name; charts of Altair and matplotlib save others";
                return Err(errors::of_argument(py, message, help));
            }
        };
        write_named(&path, &bytes).map_err(|e| errors::of_failure(py, e.into()))
    }
}

/// A chart of cumulative shares: `name` for files, title, sentence below, label and unit (`us`,
/// `B` or a word) of the values, whether their axis is logarithmic, panels.
#[pyfunction]
pub(crate) fn shares(
    name: String,
    title: String,
    caption: String,
    axis: (String, String),
    log: bool,
    panels: Vec<Shares>,
) -> NativeChart {
    let (label, unit) = axis;
    let unit = match unit.as_str() {
        "us" => Unit::Micros,
        "B" => Unit::Bytes,
        other => Unit::Other(other.to_owned()),
    };
    let mut legend: Vec<Key> = Vec::new();
    let panels = panels.into_iter().map(|(title, curves)| {
        let mut x = Axis::new(label.clone(), unit.clone());
        x.log = log;
        let y = Axis::new("share", Unit::Other(String::new()));
        let curves = curves.into_iter().map(|(scheme, colour, values, shares)| {
            if !legend.iter().any(|key| key.label == scheme) {
                legend.push(Key {
                    label: scheme,
                    colour,
                });
            }
            let spots = values.into_iter().zip(shares).map(|(x, y)| Spot {
                x,
                y,
                ..Spot::default()
            });
            Curve {
                colour,
                spots: spots.collect(),
            }
        });
        Panel {
            title,
            note: String::new(),
            body: Body::Curves(Curves {
                x,
                y,
                origin: None,
                form: Form::Dotted,
                curves: curves.collect(),
                marks: Vec::new(),
            }),
        }
    });
    let panels = panels.collect();
    NativeChart(Chart {
        name,
        title,
        caption,
        legend,
        panels,
    })
}
