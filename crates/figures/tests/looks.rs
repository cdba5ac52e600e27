// SPDX-License-Identifier: MIT OR Apache-2.0
//! A full figure adds seeds at its looks, only where a row is undecided; it continues where it was
//! stopped, and its parts give the answer of the whole.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use cemark_figures::{
    Calibration, Committed, FigureFile, FigureRun, Limits, Mode, Request, RowVerdict, Target,
    render, run_file, targets,
};
use cemark_report::rundir::Share;
use cemark_runner::Show;

use crate::common::{said, with};

/// Eight short flows into one host, at two loads; an own list of looks.
const FIGURE: &str = r#"
seeds = 3
max-time = "5s"
[topology]
kind = "star"
hosts = 4
rate = "1Gbps"
delay = "5us"
[[workload]]
kind = "poisson"
sizes = "web-search"
load = 0.5
pairs = "to-one"
receiver = 3
flows = 20
warmup = 0
[transport]
control = "dctcp"
[switch]
buffer = "200KB"
[[scheme]]
label = "a"
marker = "threshold"
k = "30KB"
[[scheme]]
label = "b"
marker = "threshold"
k = "3KB"
[sweep]
"workload.load" = [0.3, 0.6]
[full]
looks = [3, 4, 6]
[[row]]
id = "X-T1"
statistic = "value"
metric = "marks"
scheme = "a"
where = { load = 0.3 }
[[row]]
id = "X-T2"
statistic = "excess"
metric = "overall.mean"
scheme = "b"
against = "a"
where = { load = 0.6 }
[why.ours]
"*" = "a test"
"#;

/// Counts the points that begin.
#[derive(Default)]
struct Counter(AtomicU64);

impl Show for Counter {
    fn begins(&self, _point: usize) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The first row is decided by anything; the second one by no number of seeds,
/// since its band begins at what was measured.
fn targets(end: f64) -> Vec<Target> {
    let head =
        "id\tclass\tfigure\texperiment\tpublished\tunit\tstatistic\tlo\thi\tflows\tlaw\tnote";
    let line =
        |id: &str, lo: String| format!("{id}\tband\tx\ttest\t-\t%\tmean\t{lo}\tinf\t-\t-\tnone\n");
    let lines = [
        line("X-T1", "-1e12".to_owned()),
        line("X-T2", end.to_string()),
    ];
    targets::parse(&format!("{head}\n{}", lines.concat())).unwrap()
}

fn place(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("looks-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    path
}

/// Runs the figure, and returns how many points were begun.
fn go(out: &Path, limits: Limits, end: f64) -> (FigureRun, u64) {
    let calibration = Calibration::default();
    let file = FigureFile::parse("x", FIGURE, &calibration).unwrap();
    let request = Request {
        mode: Mode::Full,
        out: out.to_path_buf(),
        limits,
        ..Request::default()
    };
    let counter = Counter::default();
    let committed = Committed {
        targets: targets(end),
        calibration,
    };
    let run = with(&counter, |means| {
        run_file(&file, &committed, &request, None, means)
    });
    let run = run.map_err(|e| said(e).0);
    (run.unwrap(), counter.0.into_inner())
}

/// Measured number of the second row with the seeds of the last look.
fn measured() -> f64 {
    static MEASURED: OnceLock<f64> = OnceLock::new();
    *MEASURED.get_or_init(|| {
        // A band that begins where the first look has its mean leaves the row open to the end.
        let (run, _) = go(&place("measured"), Limits::default(), f64::NEG_INFINITY);
        let out = place("measured-to-the-end");
        let (last, _) = go(&out, Limits::default(), run.rows[1].measured.unwrap());
        last.rows[1].measured.unwrap()
    })
}

fn rows(run: &FigureRun) -> String {
    serde_json::to_string_pretty(&run.rows).unwrap()
}

#[test]
fn seeds_are_added_only_where_a_row_is_undecided() {
    let out = place("added");
    let (run, begun) = go(&out, Limits::default(), measured());
    let [one, two] = &run.rows[..] else {
        panic!("two rows")
    };
    assert_eq!((one.verdict, one.look), (RowVerdict::Reproduced, Some(1)));
    assert_eq!((two.verdict, two.look), (RowVerdict::NotDecided, Some(3)));
    assert_eq!((one.parts[0].seeds, two.parts[0].seeds), (Some(3), Some(6)));
    // Two loads and two schemes with three seeds, and three more at the load of the second row.
    assert_eq!((begun, run.points), (12 + 6, 12 + 6));
    let table = render::table(&run, 120);
    assert!(
        table.contains("reproduced, look 1") && table.contains("not decided, look 3"),
        "{table}"
    );
    assert!(table.contains("build: test"), "{table}");

    // Nothing is run again, and the answer is the same.
    let (again, begun) = go(&out, Limits::default(), measured());
    assert_eq!((rows(&again), begun), (rows(&run), 0));
    let (first, _) = go(
        &out,
        Limits {
            look: Some(1),
            ..Limits::default()
        },
        measured(),
    );
    assert_eq!(first.rows[1].look, Some(1));
    assert!(
        first.rows[1].seeds_needed.is_none_or(|n| n > 3),
        "{first:?}"
    );
}

/// A budget that the first point exceeds: each session runs one point.
#[test]
fn a_budget_stops_and_the_same_command_continues() {
    let whole = go(&place("unbudgeted"), Limits::default(), measured()).0;
    let out = place("budget");
    let limits = Limits {
        cpu_seconds: Some(1e-9),
        ..Limits::default()
    };
    for missing in (1..12).rev() {
        let (run, begun) = go(&out, limits, measured());
        let points = if missing == 1 {
            "point is"
        } else {
            "points are"
        };
        let said = format!("x: {missing} {points} missing at look 1; the CPU time is spent");
        assert_eq!((begun, run.rows.len()), (1, 0));
        assert_eq!(run.unfinished, [&said[..]]);
        assert!(render::table(&run, 120).contains(&said));
    }
    // The last point completes the first look.
    for missing in ["2 points are", "1 point is"] {
        let (run, begun) = go(&out, limits, measured());
        assert_eq!((begun, run.rows[1].look), (1, Some(1)));
        let said = format!("x: {missing} missing at look 2; the CPU time is spent");
        assert_eq!(run.unfinished, [said]);
    }
    let (run, begun) = go(&out, Limits::default(), measured());
    assert_eq!((begun, rows(&run)), (5, rows(&whole)));
}

#[test]
fn parts_give_the_answer_of_the_whole() {
    let whole = go(&place("whole"), Limits::default(), measured()).0;
    let out = place("parts");
    let part = |part, look| {
        let share = Some(Share { part, parts: 2 });
        go(
            &out,
            Limits {
                look: Some(look),
                share,
                ..Limits::default()
            },
            measured(),
        )
    };
    let (first, begun) = part(1, 3);
    assert_eq!(
        (begun, first.rows.len()),
        (6, 0),
        "what look 2 needs is not known"
    );
    let said = "x: 6 points are missing at look 1; those of part 1 of 2 are there";
    assert_eq!(first.unfinished, [said]);
    // The second part finds the first look complete, and continues with its share of the second.
    let (second, begun) = part(2, 3);
    assert_eq!((begun, second.rows[1].look), (6 + 1, Some(1)));
    assert_eq!(part(1, 2).1, 1);
    let (merged, begun) = go(
        &out,
        Limits {
            look: Some(2),
            ..Limits::default()
        },
        measured(),
    );
    assert_eq!((begun, merged.rows[1].look), (0, Some(2)));
    let (merged, begun) = go(&out, Limits::default(), measured());
    assert_eq!((begun, rows(&merged)), (4, rows(&whole)));
}
