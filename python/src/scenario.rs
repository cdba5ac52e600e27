// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scenario with changes, not yet expanded.

use cemark_report::summary::hex;
use cemark_scenario::{AddedMarker, Overrides, OwnMarker, Plan};
use pyo3::prelude::*;

use crate::errors;

/// A scenario and what changes it. `text` is `None` for the name of a built-in or a path, which
/// `file` then is; with a text, `file` is the name that errors use, and its folder is where
/// relative paths start.
#[pyclass(frozen, module = "cemark._native")]
pub(crate) struct Source {
    #[pyo3(get)]
    file: String,
    text: Option<String>,
    overrides: Overrides,
}

/// A marker in Python: its name, its parameters as text, its source.
type InPython = (String, String, String);

/// Row of one point: axes with their values, scheme, seed, estimated packet-hops.
type Row = (Vec<(String, String)>, String, u64, f64);

#[pymethods]
impl Source {
    #[new]
    #[pyo3(signature = (file, text, json, set, seed, seeds, precision, full, added, python))]
    #[expect(clippy::too_many_arguments, reason = "one call of the package's own")]
    fn new(
        py: Python<'_>,
        file: String,
        text: Option<String>,
        json: Option<&str>,
        set: Vec<(String, Vec<String>)>,
        seed: Option<u64>,
        seeds: Option<u64>,
        precision: Option<String>,
        full: bool,
        added: Vec<(String, String)>,
        python: Vec<InPython>,
    ) -> PyResult<Self> {
        let text = match json {
            None => text,
            Some(json) => Some(toml_of(json).map_err(|why| {
                let help = "a scenario is made of dicts, lists, texts, numbers, True and False";
                errors::of_argument(py, format!("this dict is no scenario: {why}"), help)
            })?),
        };
        Ok(Source {
            file,
            text,
            overrides: Overrides {
                set,
                seed,
                seeds,
                precision,
                full,
                added: added.into_iter().map(labelled).collect(),
                schemes: Vec::new(),
                known: python.iter().map(known).collect(),
            },
        })
    }

    /// The text as read, with the changes applied.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.plan(py)?.source)
    }

    /// Name, title, digest, labels of the schemes, axes, and warnings.
    #[expect(clippy::type_complexity, reason = "one call of the package's own")]
    fn described(
        &self,
        py: Python<'_>,
    ) -> PyResult<(
        String,
        String,
        String,
        Vec<String>,
        Vec<String>,
        Vec<String>,
    )> {
        let plan = self.plan(py)?;
        let warnings = plan.warning_lines();
        Ok((
            plan.name,
            plan.title,
            hex(plan.digest),
            plan.schemes,
            plan.axes,
            warnings,
        ))
    }

    /// Every point.
    fn points(&self, py: Python<'_>) -> PyResult<Vec<Row>> {
        let points = self.plan(py)?.points.into_iter();
        let row =
            |p: cemark_scenario::Point| (p.axes.into_iter().collect(), p.scheme, p.seed, p.cost);
        Ok(points.map(row).collect())
    }
}

/// A scheme that is added: its label, and what its key `marker` has.
fn labelled((label, marker): (String, String)) -> AddedMarker {
    AddedMarker {
        marker,
        label: Some(label),
    }
}

fn known((name, params, source): &InPython) -> OwnMarker {
    OwnMarker::in_python(name, params, source)
}

impl Source {
    /// Its file, or the name of a built-in.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The points of the scenario.
    pub(crate) fn plan(&self, py: Python<'_>) -> PyResult<Plan> {
        let read = || match &self.text {
            Some(text) => cemark_scenario::parse(text, &self.file, &self.overrides),
            None => cemark_scenario::load(&self.file, &self.overrides),
        };
        py.detach(read).map_err(|e| errors::of_scenario(py, &e))
    }
}

/// A scenario as JSON, in TOML.
fn toml_of(json: &str) -> Result<String, String> {
    let value: toml::Value = serde_json::from_str(json).map_err(|e| e.to_string())?;
    toml::to_string(&value).map_err(|e| e.to_string())
}
