// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the points of a figure to the verdicts on its rows.

use std::collections::BTreeSet;

use super::calibration::Calibration;
use super::error::{FileError, Mistake};
use super::estimate::Estimate;
use super::evaluate::{Data, evaluate};
use super::file::{FigureFile, place};
use super::looks::seeds_needed;
use super::models::Models;
use super::result::{PartResult, RowResult};
use super::row::{Formula, Row};
use super::targets::{Expected, Target, row_of};
use super::verdict::{RowVerdict, matches_value, near};
use super::{EXPECTED, Mode};

/// A condition of a figure: what was published, and which number is compared with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Condition<'a> {
    pub(super) target: &'a Target,
    pub(super) row: &'a Row,
}

/// The conditions of a figure but those that are left out, in the order of the targets.
pub(super) fn conditions<'a>(
    file: &'a FigureFile,
    targets: &'a [Target],
    without: &BTreeSet<String>,
) -> Result<Vec<Condition<'a>>, FileError> {
    let wrong = |m: Mistake| FileError::new(place(&file.id), m);
    let stray = |r: &&Row| !targets.iter().any(|t| t.id == r.id);
    if let Some(stray) = file.rows.iter().find(stray) {
        return Err(wrong(Mistake::StrayRow(stray.id.clone())));
    }
    let ours = targets.iter().filter(|t| t.figure == file.id);
    let ours = ours.filter(|t| !without.contains(&t.id));
    let all = ours.map(|target| {
        let row = file.rows.iter().find(|r| r.id == target.id);
        let row = row.ok_or_else(|| wrong(Mistake::NoRow(target.id.clone())))?;
        Ok(Condition { target, row })
    });
    all.collect()
}

/// A look: its number from 1, and its seeds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) number: u32,
    pub(super) seeds: u32,
}

/// A condition, measured. `look` is `None` where there is only one.
pub(super) fn measure(
    condition: Condition<'_>,
    data: &Data<'_>,
    models: &mut Models,
    look: Option<Look>,
) -> Result<PartResult, Mistake> {
    let Condition { target, row } = condition;
    let computed = models.evaluate(row);
    let simulated = computed.is_none();
    let estimate: Estimate = computed
        .unwrap_or_else(|| evaluate(row, data))
        .map_err(|why| Mistake::NoNumber {
            id: row.id.clone(),
            why,
        })?;
    let look = look.filter(|_| simulated);
    let interval = match simulated {
        true => estimate.interval_at(data.alpha),
        false => estimate.interval(),
    };
    let verdict = match row.formula {
        Formula::Spread => target.band.judge_spread(interval),
        _ => target.band.judge(interval),
    };
    // A closed form does not depend on the simulator, so that a match proves nothing. A
    // mismatch is a finding.
    let verdict = match verdict {
        RowVerdict::Reproduced if !simulated => RowVerdict::ByConstruction,
        verdict => verdict,
    };
    let verdict = target.is_compared().then_some(verdict);
    let undecided = verdict == Some(RowVerdict::NotDecided);
    let needs = look.filter(|_| undecided).and_then(|look| {
        let band = &target.band;
        seeds_needed(interval, band, look.seeds, data.alpha)
    });
    let finite = |x: f64| x.is_finite().then_some(x);
    Ok(PartResult {
        id: target.id.clone(),
        statistic: target.statistic.clone(),
        unit: target.unit.clone(),
        published: target.published,
        measured: finite(estimate.value()),
        low: interval.and_then(|i| finite(i.0)),
        high: interval.and_then(|i| finite(i.1)),
        method: estimate.method(),
        lo: finite(target.band.lo),
        hi: finite(target.band.hi),
        verdict,
        matches_value: matches_value(target.published, interval),
        near: near(target.published, interval),
        look: look.map(|l| l.number),
        seeds: look.map(|l| l.seeds),
        seeds_needed: needs,
        note: target.note.clone(),
    })
}

/// The rows of a figure from its conditions, in the same order.
pub(super) fn rows(
    conditions: &[Condition<'_>],
    parts: &[PartResult],
    calibration: &Calibration,
    mode: Mode,
) -> Result<Vec<RowResult>, FileError> {
    let expected = Expected::parse(EXPECTED)?;
    let mut rows: Vec<RowResult> = Vec::new();
    for (Condition { target, .. }, part) in conditions.iter().zip(parts) {
        match rows.iter_mut().find(|r| r.id == target.row()) {
            Some(known) => known.parts.push(part.clone()),
            None => rows.push(RowResult {
                id: target.row().to_owned(),
                figure: target.figure.clone(),
                published: part.published,
                measured: part.measured,
                low: part.low,
                high: part.high,
                verdict: RowVerdict::NotDecided,
                matches_value: part.matches_value,
                near: None,
                look: None,
                seeds_needed: None,
                expected: expected.get(target.row(), mode),
                unit: target.unit.clone(),
                experiment: target.experiment.clone(),
                parts: vec![part.clone()],
            }),
        }
    }
    for row in &mut rows {
        let verdict = RowVerdict::all(row.parts.iter().filter_map(|p| p.verdict));
        row.settle(match calibration.fitted_on(row_of(&row.id)) {
            true => RowVerdict::Calibrated,
            false => verdict,
        });
    }
    Ok(rows)
}
