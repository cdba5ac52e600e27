// SPDX-License-Identifier: MIT OR Apache-2.0
//! Combinations of axes and scheme that two runs have in common. A run that sweeps an axis meets
//! one whose scenario writes one of its values.

use std::collections::BTreeMap;

use cemark_scenario::{Point, written_at};

use super::Combination;
use crate::rundir::Run;
use crate::text::distinct;

/// Points of a run at one combination, one for each seed.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) name: Combination,
    pub(super) points: Vec<usize>,
}

/// Combination of both runs, with the points of each.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) name: Combination,
    pub(super) a: Vec<usize>,
    pub(super) b: Vec<usize>,
}

/// Combinations of both runs and of either.
pub(super) struct Both {
    pub(super) common: Vec<Pair>,
    pub(super) only_a: Vec<Place>,
    pub(super) only_b: Vec<Place>,
}

pub(super) fn of(a: &Run, b: &Run) -> Both {
    let paths = axes(a, b);
    let (places_a, mut places_b) = (places(a, &paths), places(b, &paths));
    let (mut common, mut only_a) = (Vec::new(), Vec::new());
    for place in places_a {
        let same = |other: &Place| is_same(&place.name, &other.name, &paths);
        match places_b.iter().position(same) {
            Some(at) => common.push(Pair {
                b: places_b.remove(at).points,
                name: place.name,
                a: place.points,
            }),
            None => only_a.push(place),
        }
    }
    Both {
        common,
        only_a,
        only_b: places_b,
    }
}

/// The first axis whose value one of the runs neither sweeps nor writes.
pub(super) fn unwritten(a: &Run, b: &Run) -> Option<String> {
    let unknown = |path: &String| [a, b].iter().any(|run| fixed(run, path).is_none());
    axes(a, b).into_iter().find(unknown)
}

/// Paths that either run sweeps.
fn axes(a: &Run, b: &Run) -> Vec<String> {
    distinct(a.plan.axes.iter().chain(&b.plan.axes).cloned())
}

/// The value of an axis in all points of a run: swept (empty here), or written once.
fn fixed(run: &Run, path: &str) -> Option<String> {
    match run.plan.axes.iter().any(|p| p == path) {
        true => Some(String::new()),
        false => written_at(&run.manifest.source, path),
    }
}

/// The combinations of a run in the order of its plan.
fn places(run: &Run, paths: &[String]) -> Vec<Place> {
    let written: BTreeMap<&String, String> = paths
        .iter()
        .filter_map(|path| Some((path, fixed(run, path)?)))
        .collect();
    let value = |point: &Point, path| {
        let swept = point.axes.get(path);
        swept.or_else(|| written.get(path)).cloned()
    };
    let mut all: Vec<Place> = Vec::new();
    for (i, point) in run.plan.points.iter().enumerate() {
        let axes = paths
            .iter()
            .filter_map(|path| Some((path.clone(), value(point, path)?)));
        let name = Combination {
            axes: axes.collect(),
            scheme: point.scheme.clone(),
        };
        match all.iter_mut().find(|place| place.name == name) {
            Some(place) => place.points.push(i),
            None => all.push(Place {
                name,
                points: vec![i],
            }),
        }
    }
    all
}

/// Whether two combinations have the same scheme and equal values of every axis. Numbers are equal
/// as numbers.
fn is_same(a: &Combination, b: &Combination, paths: &[String]) -> bool {
    let equal = |x: &String, y: &String| {
        x == y || matches!((x.parse::<f64>(), y.parse::<f64>()), (Ok(x), Ok(y)) if x == y)
    };
    let same = |path: &String| match (a.axes.get(path), b.axes.get(path)) {
        (Some(x), Some(y)) => equal(x, y),
        _ => false,
    };
    a.scheme == b.scheme && paths.iter().all(same)
}
