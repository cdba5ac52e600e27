// SPDX-License-Identifier: MIT OR Apache-2.0
//! The repository's figures fit their targets and their budgets, and a broken scheme turns rows
//! red.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::common::{said, with};
use cemark_figures::{
    CALIBRATION, Calibration, Committed, EXPECTED, Expected, FIGURES, FigureFile, FigureRun, Grade,
    Mode, Request, RowVerdict, TARGETS, Target, plans, render, run, run_file, stored_points,
    targets,
};
use cemark_runner::Silent;
use cemark_scenario::{Overrides, Plan};

fn calibration() -> Calibration {
    Calibration::parse(CALIBRATION).unwrap()
}

fn files() -> Vec<FigureFile> {
    FIGURES
        .iter()
        .map(|(id, text)| FigureFile::parse(id, text, &calibration()).unwrap())
        .collect()
}

fn place(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

#[test]
fn every_target_has_its_row_and_every_row_its_target() {
    let targets = targets::parse(TARGETS).unwrap();
    let mut rows: Vec<(String, String)> = files()
        .iter()
        .flat_map(|f| f.rows.iter().map(|r| (f.id.clone(), r.id.clone())))
        .collect();
    let mut wanted: Vec<(String, String)> = targets
        .iter()
        .map(|t| (t.figure.clone(), t.id.clone()))
        .collect();
    rows.sort();
    wanted.sort();
    assert_eq!(rows, wanted);
    let expected = Expected::parse(EXPECTED).unwrap();
    let recorded = |t: &Target, mode| expected.get(t.row(), mode).is_some();
    let missing: Vec<&str> = targets
        .iter()
        .filter(|t| !recorded(t, Mode::Quick))
        .map(|t| t.row())
        .collect();
    assert!(
        missing.is_empty(),
        "figures/expected.tsv has no quick verdict for {missing:?}"
    );
    for number in (1..=16).chain(18..=49).chain(52..=54) {
        let id = format!("ECNSHARP-T{number:02}");
        assert!(targets.iter().any(|t| t.row() == id), "{id}");
    }
    // 7 and 8 belong to no figure: the sum of a switch's thresholds, and the cost of a Linux
    // module.
    for number in (1..=6).chain(9..=30) {
        let id = format!("MQECN-T{number:02}");
        assert!(targets.iter().any(|t| t.row() == id), "{id}");
    }
    for number in 1..=15 {
        let id = format!("CEDM-T{number:02}");
        assert!(targets.iter().any(|t| t.row() == id), "{id}");
    }
    assert!(
        calibration()
            .parameters()
            .all(|(_, p)| targets.iter().any(|t| t.row() == p.row))
    );
}

/// Numbers of rows in the README equal those in `figures/expected.tsv`.
#[test]
fn the_readme_counts_the_verdicts() {
    let column = |at: usize| {
        let lines = EXPECTED.lines().skip(1);
        let cells = lines.filter_map(move |l| l.split('\t').nth(at));
        cells.collect::<Vec<_>>()
    };
    let (full, near) = (column(2), column(3));
    let of = |verdict: &str| full.iter().filter(|v| **v == verdict).count();
    let decided = of("reproduced") + of("not_reproduced");
    let yes = near.iter().filter(|n| **n == "yes").count();
    let said = format!(
        "make {} statements that full runs judge: {} are reproduced, {} are not, {} stay \
         undecided. {yes} of the {} with a published number other than zero come near that number",
        decided + of("not_decided"),
        of("reproduced"),
        of("not_reproduced"),
        of("not_decided"),
        near.iter().filter(|n| **n != "-").count(),
    );
    let readme = include_str!("../../../README.md");
    let words = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&said), "README.md does not say: {said}");
}

fn cost(plan: &Plan) -> f64 {
    plan.points.iter().map(|p| p.cost).sum()
}

/// Minutes on two cores at 10 million packet-hops a CPU second (7 million behind ports with several
/// queues), of plans with the factor by which each one's estimate is corrected.
fn minutes<'a>(plans: impl Iterator<Item = (&'a Plan, f64)>) -> f64 {
    let seconds = |p: &cemark_scenario::Point| match p.config.switch.queues.len() {
        1 => p.cost / 10e6,
        _ => p.cost / 7e6,
    };
    let of = |(plan, scale): (&Plan, f64)| scale * plan.points.iter().map(seconds).sum::<f64>();
    plans.map(of).sum::<f64>() / 2.0 / 60.0
}

/// A figure's plan in this mode, made once for all tests; `None` where nothing is simulated.
fn whole(file: &FigureFile, mode: Mode) -> Option<&'static Plan> {
    static PLANS: OnceLock<BTreeMap<String, [Option<Plan>; 2]>> = OnceLock::new();
    let all = PLANS.get_or_init(|| {
        let calibration = calibration();
        let of = |file: &FigureFile, mode| {
            let plan = file.plan(mode, &calibration, None, &Overrides::default());
            plan.unwrap()
        };
        let both = |file: FigureFile| {
            let plans = [Mode::Quick, Mode::Full].map(|mode| of(&file, mode));
            (file.id, plans)
        };
        files().into_iter().map(both).collect()
    });
    let [quick, full] = &all[&file.id];
    match mode {
        Mode::Quick => quick.as_ref(),
        Mode::Full => full.as_ref(),
    }
}

/// Packet-hops of a figure's quick run in bench/costs.tsv.
fn measured_quick(id: &str) -> Option<f64> {
    let command = format!("figure {id} --quick\t");
    let line = include_str!("../../../bench/costs.tsv")
        .lines()
        .find_map(|l| l.strip_prefix(&command))?;
    line.split('\t').next()?.parse().ok()
}

/// Ten minutes for all quick figures together, as CI runs them, and two hours for the full ones of
/// a paper.
#[test]
fn budgets() {
    let request = Request {
        only_what_decides: true,
        ..Request::default()
    };
    // Where a quick run was measured its packet-hops count, and not the estimate.
    let files = files();
    let measured = |plan| {
        let plan: &Plan = plan;
        let file = files.iter().find(|f| f.id == plan.name).unwrap();
        let estimated = cost(whole(file, Mode::Quick).unwrap());
        let scale = measured_quick(&plan.name).map_or(1.0, |hops| hops / estimated);
        (plan, scale)
    };
    let deciding = plans(&request).unwrap();
    let quick = minutes(deciding.iter().map(|p| measured(&p.0)));
    assert!(quick < 10.0, "quick: {quick:.2} minutes");
    for paper in ["ecnsharp", "mqecn", "cedm", "dcib"] {
        let of_paper = files.iter().filter(|f| f.id.starts_with(paper));
        let full = minutes(of_paper.filter_map(|f| Some((whole(f, Mode::Full)?, 1.0))));
        assert!(full < 120.0, "{paper}, full: {full:.0} minutes");
    }
}

/// Plans of figures give `cemark check` no cause for a warning.
#[test]
fn no_figure_gives_cause_for_a_warning() {
    for mode in [Mode::Quick, Mode::Full] {
        for plan in files().iter().filter_map(|f| whole(f, mode)) {
            assert_eq!(plan.warning_lines(), [""; 0], "{} {mode:?}", plan.name);
        }
    }
}

#[test]
fn an_unknown_name_is_the_users_mistake() {
    let request = Request {
        ids: vec!["ecnsharp-99".into()],
        out: place("unknown"),
        ..Request::default()
    };
    let error = with(&Silent, |means| run(&request, means)).unwrap_err();
    let (_, help, is_users) = said(error);
    assert!(
        is_users && help.contains("did you mean `ecnsharp-9`,"),
        "{help}"
    );
}

/// Each parameter of the shipped files has a reason, and none cites a program as the paper.
#[test]
fn every_parameter_says_where_it_comes_from() {
    for file in files().iter().filter(|f| f.is_simulated()) {
        assert!(!file.parameters.is_empty(), "{}", file.id);
        for p in &file.parameters {
            assert!(
                p.why.len() > 3 && p.why.len() < 400,
                "{}: {}: {}",
                file.id,
                p.path,
                p.why
            );
            let code = p.why.contains(".cc") || p.why.contains(".tcl") || p.why.contains(".py");
            assert!(
                p.grade != Grade::Paper || !code,
                "{}: {}: {}",
                file.id,
                p.path,
                p.why
            );
            if let Some(instead) = &p.instead {
                assert!(
                    instead.grade < p.grade && instead.text.len() > 3,
                    "{}: {}",
                    file.id,
                    p.path
                );
            }
        }
    }
}

/// Figure 16's steady queue alone: seconds instead of minutes.
fn steady() -> (FigureFile, Committed) {
    let text = FIGURES.iter().find(|f| f.0 == "ecnsharp-16").unwrap().1;
    let mut table: toml::Table = text.parse().unwrap();
    let mut keep = |key: &str, wanted: &dyn Fn(&toml::Value) -> bool| {
        table
            .get_mut(key)
            .and_then(toml::Value::as_array_mut)
            .unwrap()
            .retain(|v| wanted(v));
    };
    keep("variant", &|v| v["name"].as_str() == Some("2-flows"));
    // Without the third condition, which few seeds leave open.
    let kept = ["ECNSHARP-T38.a", "ECNSHARP-T38.b", "ECNSHARP-T38.d"];
    keep("row", &|v| kept.contains(&v["id"].as_str().unwrap()));
    table["quick"]["seeds"] = 4.into();
    // Its lines would name variants that are gone.
    table.insert(
        "why".into(),
        "ours = { \"*\" = \"a test\" }"
            .parse::<toml::Table>()
            .unwrap()
            .into(),
    );
    let file = FigureFile::parse("ecnsharp-16", &table.to_string(), &calibration()).unwrap();
    let mut committed = Committed::read().unwrap();
    committed.targets.retain(|t| kept.contains(&&*t.id));
    (file, committed)
}

fn judged(place: &Path, overlay: &str) -> FigureRun {
    let (file, committed) = steady();
    let request = Request {
        out: place.to_path_buf(),
        ..Request::default()
    };
    let overlay: toml::Table = overlay.parse().unwrap();
    with(&Silent, |means| {
        run_file(&file, &committed, &request, Some(&overlay), means)
    })
    .unwrap()
}

/// The committed scheme passes; without its persistent part, or with all its times ten times as
/// long, it does not.
#[test]
fn a_broken_scheme_turns_rows_red() {
    let dir = place("sound");
    let sound = judged(&dir, "");
    assert_eq!(
        sound.rows[0].verdict,
        RowVerdict::Reproduced,
        "{}",
        render::table(&sound, 120)
    );
    let broken = |name: &str, keys: &str| {
        let run = judged(
            &place(name),
            &format!("[[scheme]]\nlabel = \"ECN#\"\n{keys}"),
        );
        assert_eq!(
            run.rows[0].verdict,
            RowVerdict::NotReproduced,
            "{name}:\n{}",
            render::table(&run, 120)
        );
        let table = render::table(&run, 120);
        assert!(
            run.rows[0].differs()
                && table.contains("ECNSHARP-T38: not reproduced, but figures/expected.tsv says"),
            "{table}"
        );
    };
    broken("no persistent part", "pst_target = \"1s\"\n");
    broken(
        "ten times",
        "ins_target = \"2200us\"\npst_target = \"100us\"\npst_interval = \"2400us\"\n",
    );

    // The same again is read from disk and gives the same document, and the report shows the row.
    let again = judged(&dir, "");
    assert_eq!(render::json(&sound), render::json(&again));
    let html = std::fs::read_to_string(&again.reports[0]).unwrap();
    assert!(html.contains("ECNSHARP-T38") && html.contains("steady queue of RED-Tail"));
    // Below the rows the report has the tables and charts of a run, folded.
    let points = &html[html.find("<h2 id=\"measured\">").unwrap()..];
    let block = points.find("<details class=\"block\" id=\"g0\">").unwrap();
    assert!(points[block..].contains("<figure id=\"chart-comparison"));
    // The points are read from the directory as they were.
    let dir = again.reports[0].parent().unwrap();
    let run = stored_points(dir).unwrap().expect("points");
    assert_eq!(
        (run.finished.len() as u64, run.plan.points.len()),
        (again.points, run.finished.len())
    );
}

/// The plan of a figure with variants is read back from its directory.
#[test]
fn points_of_variants_are_read_from_the_directory() {
    let request = Request {
        ids: vec!["mqecn-3".to_owned()],
        out: place("variants"),
        ..Request::default()
    };
    let found = with(&Silent, |means| run(&request, means)).unwrap();
    let (plan, _) = plans(&request).unwrap().remove(0);
    let read = stored_points(found.reports[0].parent().unwrap())
        .unwrap()
        .expect("points");
    assert!(plan.axes.contains(&"variant".to_owned()), "{:?}", plan.axes);
    assert_eq!(read.plan.axes, plan.axes);
    let places = |plan: &Plan| -> Vec<_> {
        let points = plan.points.iter();
        points
            .map(|p| (p.axes.clone(), p.scheme.clone(), p.seed, p.digest))
            .collect()
    };
    assert_eq!(places(&read.plan), places(&plan));
    assert_eq!(read.finished.len(), plan.points.len());
}

#[test]
fn a_changed_experiment_is_judged_and_nothing_is_expected_of_it() {
    let (file, committed) = steady();
    let changed = |set: &str| {
        let mut changes = Overrides::default();
        changes.add(set).unwrap();
        let request = Request {
            out: place("changed"),
            changes,
            ..Request::default()
        };
        with(&Silent, |means| {
            run_file(&file, &committed, &request, None, means)
        })
    };
    let usual = judged(&place("usual"), "");
    let found = changed("transport.ack-every=2").unwrap();
    assert!(found.rows.iter().all(|r| r.expected.is_none()));
    assert!(usual.rows.iter().all(|r| r.expected.is_some()));
    assert_ne!(found.rows[0].measured, usual.rows[0].measured);
    let error = changed("transport.ack-evry=2").unwrap_err();
    let (text, help, is_users) = said(error);
    assert!(
        is_users && text.contains("unknown key `ack-evry`"),
        "{text}"
    );
    assert!(help.contains("correct --set"), "{help}");
}

/// Three switches in a ring, two hops a flow: with pauses nothing moves any more.
const RING: &str = r#"
max-time = "2ms"
seeds = [1]
[topology]
kind = "ring"
switches = 3
hosts-per-switch = 2
rate = "100Gbps"
delay = "1us"
[[workload]]
kind = "long"
pattern = "pairs"
pairs = [[0, 4], [1, 5], [2, 0], [3, 1], [4, 2], [5, 3]]
jitter = "10us"
[transport]
control = "dcqcn"
[switch]
buffer-policy = "dynamic"
pool = "12MB"
[[scheme]]
label = "without"
marker = "none"
[[scheme]]
label = "with"
marker = "none"
switch = { pfc = true }
[[row]]
id = "X"
statistic = "value"
metric = "drops"
scheme = "without"
[why.ours]
"*" = "a test"
"#;

/// The ports that wait are named, it is not a mistake of the user, and finished points are kept.
#[test]
fn a_deadlock_is_named_and_finished_points_are_kept() {
    let file = FigureFile::parse("ring", RING, &calibration()).unwrap();
    let request = Request {
        out: place("deadlock"),
        ..Request::default()
    };
    let targets = targets::parse(
        "id\tclass\tfigure\texperiment\tpublished\tunit\tstatistic\tlo\thi\tflows\tlaw\tnote\n\
         X\tband\tring\ttest\t-\t-\tdrops\t0\t0\t-\t-\tnone\n",
    );
    let committed = Committed {
        calibration: calibration(),
        targets: targets.unwrap(),
    };
    let go = || {
        with(&Silent, |means| {
            run_file(&file, &committed, &request, None, means)
        })
    };
    let (text, help, is_users) = said(go().unwrap_err());
    assert!(
        !is_users && text.contains("deadlock after") && text.contains("switch0->switch1 waits for"),
        "{text}"
    );
    assert!(help.contains("pfc = false"), "{help}");
    let mut runs = std::fs::read_dir(&request.out).unwrap();
    let run = runs.next().unwrap().unwrap().path();
    let kept = std::fs::read_dir(run.join("points")).unwrap();
    assert_eq!(kept.count(), 1, "the point without pauses");
}
