// SPDX-License-Identifier: MIT OR Apache-2.0
//! No row that cannot fail: `figures/faults.tsv` names for every row that counts a scheme or set-up
//! broken on purpose that turns it red. Faults of `ci` run here. `CEMARK_FAULTS=quick` (`cargo
//! xtask proof faults`) runs all of them in the quick form, `full` those that need it at the first
//! look of the full form: hours. `CEMARK_FAULTS_FROM=mqecn-11` begins at the faults of that figure.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::common::{said, with};
use cemark_figures::{
    CALIBRATION, Calibration, Committed, EXPECTED, Expected, FIGURES, FigureFile, Limits, Mode,
    Request, RowVerdict, TARGETS, run_file, targets,
};
use cemark_runner::Silent;
use cemark_scenario::Overrides;

const FAULTS: &str = include_str!("../../../figures/faults.tsv");

/// A line of the file.
struct Fault {
    figure: &'static str,
    /// `ci`; `quick`: shown by the proof in the quick form; `full`: it needs the full one.
    run: &'static str,
    /// Settings as `cemark figure --set` takes them, separated by `; `.
    set: &'static str,
    rows: Vec<&'static str>,
}

fn faults() -> Vec<Fault> {
    let mut lines = FAULTS.lines();
    assert_eq!(lines.next(), Some("figure\trun\tset\trows\twhat"));
    let read = |line: &'static str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [figure, run, set, rows, what] = cells[..] else {
            panic!("five columns: {line}");
        };
        assert!(["ci", "quick", "full"].contains(&run), "{line}");
        assert!(what.len() > 5, "{line}");
        let rows = rows.split(' ').collect();
        Fault {
            figure,
            run,
            set,
            rows,
        }
    };
    lines.map(read).collect()
}

/// The changes of a fault, or the table that is laid over the file where a label has a dot or an
/// equals sign, which `--set` cannot name.
fn changes(fault: &Fault) -> (Overrides, Option<toml::Table>) {
    let mut changes = Overrides::default();
    if let Some(overlay) = fault.set.strip_prefix("toml: ") {
        return (changes, Some(overlay.parse().unwrap()));
    }
    for set in fault.set.split("; ") {
        changes.add(set).unwrap();
    }
    (changes, None)
}

fn file(id: &str) -> FigureFile {
    let (_, text) = FIGURES.iter().find(|f| f.0 == id).expect(id);
    FigureFile::parse(id, text, &Calibration::parse(CALIBRATION).unwrap()).unwrap()
}

/// The rows of a fault that are red in this form, and those that are not, with their verdicts.
fn red(fault: &Fault, mode: Mode, out: &Path) -> Result<BTreeMap<&'static str, String>, String> {
    let (changes, overlay) = changes(fault);
    let request = Request {
        mode,
        out: out.to_path_buf(),
        changes,
        limits: Limits {
            look: Some(1),
            ..Limits::default()
        },
        only_what_decides: true,
        ..Request::default()
    };
    let committed = Committed::read().unwrap();
    let file = file(fault.figure);
    let run = with(&Silent, |means| {
        run_file(&file, &committed, &request, overlay.as_ref(), means)
    });
    let run = run.map_err(|e| said(e).0)?;
    let other = run
        .rows
        .iter()
        .filter(|r| r.verdict != RowVerdict::NotReproduced);
    let other: BTreeMap<_, _> = other
        .map(|r| (r.id.clone(), r.verdict.to_string()))
        .collect();
    let ours = fault
        .rows
        .iter()
        .filter_map(|r| Some((*r, other.get(*r)?.clone())));
    Ok(ours.collect())
}

fn place(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("faults-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    path
}

/// A row whose recorded verdict is "not reproduced" has failed already. Every other row that counts
/// has a fault, in a figure that has the row. A fault of the quick form shows nothing where the row
/// is red in that form without it.
#[test]
fn every_row_that_counts_can_fail() {
    let expected = Expected::parse(EXPECTED).unwrap();
    let targets = targets::parse(TARGETS).unwrap();
    let faults = faults();
    let is_red = |row: &str, mode| expected.get(row, mode) == Some(RowVerdict::NotReproduced);
    let shows = |fault: &Fault, row: &str| fault.run == "full" || !is_red(row, Mode::Quick);
    let mut named: BTreeSet<&str> = BTreeSet::new();
    for fault in &faults {
        named.extend(fault.rows.iter().copied().filter(|row| shows(fault, row)));
    }
    let counting = |row: &str| {
        let found = expected.get(row, Mode::Full);
        found.is_some_and(|v| v.counts() && v != RowVerdict::NotReproduced)
    };
    let missing: BTreeSet<&str> = targets
        .iter()
        .map(|t| t.row())
        .filter(|row| counting(row) && !named.contains(row))
        .collect();
    assert!(
        missing.is_empty(),
        "figures/faults.tsv has no fault for {missing:?}"
    );
    for fault in &faults {
        for row in &fault.rows {
            let there = targets
                .iter()
                .any(|t| t.row() == *row && t.figure == fault.figure);
            assert!(there, "{} has no row {row}", fault.figure);
        }
    }
    for paper in ["ecnsharp", "mqecn", "cedm", "dcib"] {
        let of_paper = faults.iter().filter(|f| f.figure.starts_with(paper));
        assert!(of_paper.count() >= 3, "{paper}");
    }
}

/// The keys exist, and the broken set-up is a scenario that runs.
#[test]
fn every_fault_is_a_scenario() {
    let calibration = Calibration::parse(CALIBRATION).unwrap();
    let mut wrong = Vec::new();
    for fault in faults() {
        let (changes, overlay) = changes(&fault);
        let plan = file(fault.figure).plan(Mode::Quick, &calibration, overlay.as_ref(), &changes);
        match plan {
            Ok(plan) => assert!(plan.is_some(), "{} simulates nothing", fault.figure),
            Err(e) => wrong.push(e.to_string()),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn faults_turn_rows_red() {
    for (i, fault) in faults().iter().enumerate().filter(|(_, f)| f.run == "ci") {
        let green = red(fault, Mode::Quick, &place(&format!("ci-{i}")));
        assert_eq!(
            green,
            Ok(BTreeMap::new()),
            "{}: {}",
            fault.figure,
            fault.set
        );
    }
}

/// The proof: a line for each fault.
#[test]
fn all_faults() {
    let Ok(form) = std::env::var("CEMARK_FAULTS") else {
        return;
    };
    let forms: &[(Mode, &str)] = match &*form {
        "quick" => &[(Mode::Quick, "quick")],
        "full" => &[(Mode::Quick, "quick"), (Mode::Full, "full")],
        other => panic!("CEMARK_FAULTS is `{other}`; write quick or full"),
    };
    let all = faults();
    let first = std::env::var("CEMARK_FAULTS_FROM").map_or(0, |figure| {
        let first = all.iter().position(|fault| fault.figure == figure);
        first.unwrap_or_else(|| panic!("figures/faults.tsv has no fault of `{figure}`"))
    });
    let mut wrong = Vec::new();
    for (i, fault) in all.iter().enumerate().skip(first) {
        let what = format!("{}: {}: {}", fault.figure, fault.set, fault.rows.join(" "));
        // A row may be red in the quick form without the fault, which then shows nothing.
        let needs_full = fault.run == "full";
        for (mode, name) in forms.iter().filter(|f| !needs_full || f.0 == Mode::Full) {
            let green = red(fault, *mode, &place(&format!("{name}-{i}")));
            println!("{name}: {what}: {green:?}");
            if green == Ok(BTreeMap::new()) {
                break;
            }
            if needs_full || *mode == Mode::Quick {
                wrong.push(what.clone());
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
