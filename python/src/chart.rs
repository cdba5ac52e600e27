// SPDX-License-Identifier: MIT OR Apache-2.0
//! Charts of the report.

use std::path::PathBuf;

use cemark_report::chart::{Chart, Width};
use cemark_report::rundir::write_named;
use cemark_report::table::data;
use pyo3::prelude::*;

use crate::errors;

/// A chart, drawn when it is asked for.
#[pyclass(frozen, module = "cemark._native")]
pub(crate) struct NativeChart(pub(crate) Chart);

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
        py.detach(|| self.0.svg(Width::default()))
    }

    /// The data behind the chart as CSV.
    fn csv(&self) -> String {
        data::of_chart(&self.0, "scheme").csv()
    }

    /// Writes an SVG, PDF, PNG or CSV file. `width` is `241pt` for example.
    fn save(&self, py: Python<'_>, path: PathBuf, width: Option<String>) -> PyResult<()> {
        let width = match width.map(|text| text.parse()) {
            None => Width::default(),
            Some(Ok(width)) => width,
            Some(Err(why)) => {
                let example = r#"write width="241pt" for a column of a paper"#;
                return Err(errors::of_argument(py, why, example));
            }
        };
        let ending = path.extension().and_then(|e| e.to_str());
        let bytes = match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => py.detach(|| self.0.svg(width).into_bytes()),
            Some("pdf") => py.detach(|| self.0.pdf(width)),
            Some("png") => py.detach(|| self.0.png(width)),
            Some("csv") => self.csv().into_bytes(),
            _ => {
                let message = format!(
                    "{}: a chart is an .svg, .pdf or .png file, and its data a .csv file",
                    path.display()
                );
                let help = "write such a name; charts of Altair and matplotlib save others";
                return Err(errors::of_argument(py, message, help));
            }
        };
        write_named(&path, &bytes).map_err(|e| errors::of_failure(py, e.into()))
    }
}
