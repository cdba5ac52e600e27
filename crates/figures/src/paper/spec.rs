// SPDX-License-Identifier: MIT OR Apache-2.0
//! `figures/charts.toml`: in which form a paper draws its figures.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::error::{FileError, Mistake};
use super::super::row::OneOrMany;

/// A chart of a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Spec {
    /// The figure whose points it shows: `ecnsharp-13`.
    pub figure: String,
    /// Title above the chart, one line.
    pub title: String,
    /// Differences between the paper's own chart and this one.
    #[serde(default)]
    pub note: String,
    /// How it is drawn.
    pub form: Form,
    /// Quantity on the horizontal axis: an axis of the points, by the last words of its path, or
    /// `scheme`; empty: there is one place, and the schemes have colours.
    #[serde(default)]
    pub x: String,
    /// Meaning of the colours: an axis, or the schemes.
    #[serde(default = "scheme")]
    pub series: String,
    /// The scheme that is 1 on the vertical axis; without one the axis has the metric's unit.
    #[serde(default)]
    pub against: String,
    /// The schemes that are drawn; none: all.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// Only points with these values of the axes.
    #[serde(default, rename = "where")]
    pub selection: BTreeMap<String, OneOrMany>,
    /// An axis of which each value has panels of its own.
    #[serde(default)]
    pub by: String,
    /// Panels of the chart, each a metric of a part of a point.
    #[serde(default)]
    pub panels: Vec<PanelSpec>,
}

fn scheme() -> String {
    SCHEME.to_owned()
}

impl Spec {
    /// Title of the panels of a value of `by`.
    pub(super) fn group(&self, value: &str) -> String {
        match &self.by[..] {
            "variant" => value.to_owned(),
            by => format!("{by} {value}"),
        }
    }
}

/// The word for the schemes as an axis.
pub(super) const SCHEME: &str = "scheme";

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Form {
    /// Bars beside each other.
    Bars,
    /// Lines.
    Lines,
    /// The share of flows, or of probes, at or below a value: of `fct`, `delivered` or `rtt`.
    Cdf,
    /// The length of the traced queue over time.
    Queue,
    /// Goodput of each queue class over time.
    Goodput,
    /// The distribution of RTT models; `schemes` are their names, here and below.
    Rtts,
    /// The distribution of size tables.
    Sizes,
    /// A switch's table division over the count.
    Division,
    /// CEDM's closed forms over the number of flows.
    Thresholds,
}

/// A panel: a metric, and of which part of a point.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct PanelSpec {
    /// As a row of a figure names it.
    pub metric: String,
    /// Above the panel; empty: what charts call the metric.
    #[serde(default)]
    pub title: String,
    /// The schemes that are drawn here; none: those of the chart.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// Only flows of this workload.
    pub workload: Option<String>,
    /// Only this switch port.
    pub port: Option<String>,
    /// Only flows of this queue class.
    pub class: Option<u8>,
    /// Values are divided by this.
    pub per: Option<f64>,
    /// Their unit then.
    #[serde(default)]
    pub unit: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    chart: Vec<Spec>,
}

/// Reads the file.
pub(super) fn parse(text: &str) -> Result<Vec<Spec>, FileError> {
    let file: File = toml::from_str(text)
        .map_err(|e| FileError::new("figures/charts.toml", Mistake::from(e)))?;
    Ok(file.chart)
}
