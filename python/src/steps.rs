// SPDX-License-Identifier: MIT OR Apache-2.0
//! A point of a scenario that Python takes from interval to interval: the simulation of
//! `cemark.env`. The simulation is stepped in the calling thread, without Python's lock.

use std::sync::{Mutex, PoisonError};

use cemark_sim::config::MarkerChoice;
use cemark_sim::{Config, LinkId, Stepped, Watch};
use cemark_wire::Picos;
use pyo3::prelude::*;

use crate::errors;
use crate::scenario::Source;

/// A point, the ports that are watched, and the simulation while there is one.
#[pyclass(frozen, module = "cemark._native")]
pub(crate) struct Steps {
    config: Config,
    watch: Watch,
    /// Name and rate in bit/s of each watched port.
    ports: Vec<(String, u64)>,
    run: Mutex<Option<Stepped>>,
}

/// Row of one port: mean and largest length in bytes, mean and largest wait in ns, packets, bytes,
/// marks, drops, utilisation.
type Row = (f64, u32, f64, u64, u64, u64, u64, u64, f64);

/// See [`Steps::step`].
type Seen = (f64, f64, bool, u64, Vec<Row>, Vec<(u64, f64, f64)>);

/// A parameter: name, kind, value, smallest and largest value, in the unit in which it is stored.
type Parameter = (&'static str, &'static str, u64, u64, u64);

#[pymethods]
impl Steps {
    /// The point of `scheme` (the first one where it is `None`) at the first value of each axis.
    #[new]
    fn new(
        py: Python<'_>,
        source: &Source,
        scheme: Option<&str>,
        ports: Vec<String>,
        interval_ns: u64,
        samples: u32,
    ) -> PyResult<Self> {
        let plan = source.plan(py)?;
        let wanted =
            |label: &str| scheme.is_none_or(|scheme| label.to_lowercase() == scheme.to_lowercase());
        let point = plan.points.iter().find(|p| wanted(&p.scheme));
        let Some(point) = point else {
            let message = format!("no scheme is labelled {:?}", scheme.unwrap_or_default());
            let help = format!("labels: {}", plan.schemes.join(", "));
            return Err(errors::of_argument(py, message, &help));
        };
        let config = point.config.clone();
        if !matches!(config.switch.marker, MarkerChoice::Builtin { .. }) {
            let message = format!("{} is no scheme of the catalogue", point.scheme);
            return Err(errors::of_argument(
                py,
                message,
                "name a scheme of the catalogue",
            ));
        }
        let fabric = config.topology.fabric();
        let mut links: Vec<LinkId> = Vec::new();
        for pattern in &ports {
            let found = fabric.matching(pattern);
            let before = links.len();
            links.extend(found.into_iter().filter(|l| config.marks(fabric, *l)));
            if links.len() == before {
                let message = format!("no port that marks is called {pattern:?}");
                let known = fabric.links().iter().rev().take(8).map(|l| l.name.as_str());
                let known: Vec<&str> = known.collect();
                let help = format!("`*` is any text; some ports: {}", known.join(", "));
                return Err(errors::of_argument(py, message, &help));
            }
        }
        links.sort_unstable();
        links.dedup();
        let shown = |l: &LinkId| (fabric.links()[*l].name.clone(), fabric.links()[*l].rate.0);
        Ok(Steps {
            ports: links.iter().map(shown).collect(),
            watch: Watch {
                links,
                interval: Picos::from_nanos(interval_ns),
                samples,
            },
            config,
            run: Mutex::new(None),
        })
    }

    /// The watched ports: name and rate in bit/s.
    #[getter]
    fn ports(&self) -> Vec<(String, u64)> {
        self.ports.clone()
    }

    /// Bytes that a port of a switch can hold.
    #[getter]
    fn buffer_bytes(&self) -> u32 {
        self.config.switch.buffer_bytes
    }

    /// The seed of the scenario.
    #[getter]
    fn seed(&self) -> u64 {
        self.config.seed
    }

    /// The parameters of the scheme, with the values of the scenario.
    #[getter]
    fn parameters(&self) -> Vec<Parameter> {
        let MarkerChoice::Builtin { scheme, values } = &self.config.switch.marker else {
            return Vec::new();
        };
        let row = |(i, p): (usize, &cemark_marking::ParamSpec)| {
            (p.name, p.kind.word(), values.get(i), p.min, p.max)
        };
        scheme.params.iter().enumerate().map(row).collect()
    }

    /// Pairs of parameters of which the second must not be below the first.
    #[getter]
    fn ordered(&self) -> Vec<(&'static str, &'static str)> {
        let MarkerChoice::Builtin { scheme, .. } = &self.config.switch.marker else {
            return Vec::new();
        };
        let name = |place: usize| scheme.params[place].name;
        let pairs = scheme.ordered.iter();
        pairs
            .map(|pair| (name(pair.low), name(pair.high)))
            .collect()
    }

    /// Begins again, with this seed.
    fn reset(&self, py: Python<'_>, seed: u64) {
        py.detach(|| {
            let config = Config {
                seed,
                ..self.config.clone()
            };
            let run = Stepped::new(&config, &self.watch);
            *self.run.lock().unwrap_or_else(PoisonError::into_inner) = Some(run);
        });
    }

    /// Simulates one interval. Returns its beginning and end in ns, whether the run has ended,
    /// flows that are still awaited, a row for each port, and of each flow that ended its bytes,
    /// its time and its time in an empty network in us.
    fn step(&self, py: Python<'_>) -> PyResult<Seen> {
        let seen = py.detach(|| {
            let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
            run.as_mut().map(Stepped::step)
        });
        let Some(seen) = seen else {
            let message = "there is no simulation to step".to_owned();
            return Err(errors::of_argument(py, message, "call reset() first"));
        };
        let rows = seen.ports.iter().map(|p| {
            (
                p.mean_bytes,
                p.max_bytes,
                p.mean_wait,
                p.max_wait.0,
                p.packets,
                p.bytes,
                p.marks,
                p.drops,
                p.utilisation,
            )
        });
        let us = |t: Picos| t.0 as f64 / 1e6;
        let ended = seen.ended.iter();
        let ended = ended.filter_map(|f| Some((f.bytes, us(f.fct?), us(f.ideal))));
        Ok((
            seen.from.0 as f64 / 1e3,
            seen.until.0 as f64 / 1e3,
            seen.over,
            seen.awaited,
            rows.collect(),
            ended.collect(),
        ))
    }

    /// Changes parameters at watched ports (by their number; all where `port` is `None`).
    #[pyo3(signature = (params, port=None))]
    fn retune(
        &self,
        py: Python<'_>,
        params: Vec<(String, u64)>,
        port: Option<usize>,
    ) -> PyResult<()> {
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(run) = run.as_mut() else {
            let message = "there is no simulation to retune".to_owned();
            return Err(errors::of_argument(py, message, "call reset() first"));
        };
        let links = match port {
            None => &self.watch.links[..],
            Some(i) => self.watch.links.get(i..=i).unwrap_or_default(),
        };
        run.retune(links, &params).map_err(|why| {
            errors::of_argument(
                py,
                why.to_string(),
                "write a value in the range of the parameter",
            )
        })
    }

    /// Frees the simulation.
    fn close(&self) {
        *self.run.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
