// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which points decide a row. `cemark figure --all --quick` simulates only these, and leaves out
//! numbers that are printed beside and need other points.

use std::collections::BTreeSet;

use cemark_scenario::Plan;

use super::evaluate::reads;
use super::file::FigureFile;
use super::row::Row;
use super::targets::Target;

/// The points that a deciding condition reads, and the conditions that read another point, by their
/// ids: they are left out.
pub(super) fn deciding(
    file: &FigureFile,
    targets: &[Target],
    plan: &Plan,
) -> (Plan, BTreeSet<String>) {
    let decides: BTreeSet<&str> = targets
        .iter()
        .filter(|t| decides(t, targets))
        .map(|t| t.id.as_str())
        .collect();
    let is_read = |i: usize, row: &Row| {
        let point = &plan.points[i];
        reads(row, &point.axes, &point.scheme)
    };
    let deciding = || file.rows.iter().filter(|r| decides.contains(&*r.id));
    let (kept, dropped): (Vec<usize>, Vec<usize>) =
        (0..plan.points.len()).partition(|i| deciding().any(|row| is_read(*i, row)));
    let lacks = |row: &&Row| dropped.iter().any(|i| is_read(*i, row));
    let without = file.rows.iter().filter(lacks).map(|r| r.id.clone());
    (plan.only(&kept), without.collect())
}

/// Whether a condition decides its row. Of a row that nothing decides, because there is nothing to
/// compare with, every condition is its answer.
pub(super) fn decides(target: &Target, targets: &[Target]) -> bool {
    let of_row = |t: &&Target| t.row() == target.row();
    target.is_compared() || !targets.iter().filter(of_row).any(Target::is_compared)
}

#[cfg(test)]
mod tests {
    use cemark_scenario::Overrides;

    use super::super::{Committed, FIGURES, Mode};
    use super::*;

    fn chosen(id: &str) -> (Plan, (Plan, BTreeSet<String>), Vec<Target>) {
        let Committed {
            calibration,
            targets,
        } = Committed::read().unwrap();
        let text = FIGURES.iter().find(|f| f.0 == id).unwrap().1;
        let file = FigureFile::parse(id, text, &calibration).unwrap();
        let plan = file.plan(Mode::Quick, &calibration, None, &Overrides::default());
        let plan = plan.unwrap().unwrap();
        let chosen = deciding(&file, &targets, &plan);
        (plan, chosen, targets)
    }

    /// Nine of fifteen schemes decide; of the numbers beside, those of the nine stay.
    #[test]
    fn what_is_printed_beside_is_left_out() {
        let (plan, (kept, without), targets) = chosen("dcib-11");
        assert_eq!(kept.points.len() * 15, plan.points.len() * 9);
        let has = |label: &str| kept.points.iter().any(|p| *p.scheme == *label);
        assert!(has("BBR DCIB literal") && !has("Reno L4S step"));
        for (id, is_there) in [
            ("DCIB-T13.a", true),
            ("DCIB-T13.g", true),
            ("DCIB-T13.c", false),
            ("DCIB-T13.l", false),
        ] {
            assert_eq!(!without.contains(id), is_there, "{id}");
        }
        let decides = |id: &&String| {
            let target = targets.iter().find(|t| t.id == **id);
            decides(target.unwrap(), &targets)
        };
        assert_eq!(without.iter().find(decides), None);
    }

    /// A question of our own has no published number, so that all of it is its answer.
    #[test]
    fn answers_without_a_published_number_stay() {
        let (plan, (kept, without), _) = chosen("laws");
        assert_eq!(kept.points.len(), plan.points.len());
        assert!(without.is_empty());
    }
}
