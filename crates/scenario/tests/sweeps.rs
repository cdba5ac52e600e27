// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sweeps: a scheme without a label goes by the name that tables show, and points that an axis does
//! not concern are simulated once.

use crate::common::{STAR, read};
use crate::own::OBJECT;
use cemark_scenario::{AddedMarker, Overrides, Plan, parse};
use cemark_sim::config::MarkerChoice;

/// Two schemes without a label.
fn two() -> String {
    format!("seeds = 2\n{STAR}[[scheme]]\nmarker = \"tcn\"\n[[scheme]]\nmarker = \"ecn_sharp\"\n")
}

fn with(text: &str, set: &[&str]) -> Plan {
    let mut overrides = Overrides::default();
    for option in set {
        overrides.add(option).unwrap();
    }
    parse(text, "s.toml", &overrides).unwrap_or_else(|e| panic!("{e}"))
}

fn pst_target(plan: &Plan, i: usize) -> u64 {
    match &plan.points[i].config.switch.marker {
        MarkerChoice::Builtin { scheme, values } => {
            values.get(scheme.index_of("pst_target").expect("a parameter"))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_default_label_works_wherever_a_path_is_written() {
    let text = two();
    for path in ["scheme.ECN#.pst_target", "scheme.ecn#.pst-target"] {
        let plan = with(&text, &[&format!("{path}=33us")]);
        assert_eq!(plan.schemes, ["TCN", "ECN#"]);
        assert_eq!(pst_target(&plan, 2), 33_000, "{path}");
    }
    let swept = format!(
        "baseline = \"ECN#\"\n{text}\n[scheme.transport]\nsack = false\n\
         [sweep]\n\"scheme.ECN#.pst_target\" = [\"10us\", \"20us\"]\n\
         [[published]]\nscheme = \"ecn#\"\nmetric = \"short.mean\"\npercent = -3\n\
         source = \"Fig 1\"\naxes = {{ \"scheme.ECN#.pst_target\" = \"20us\", \
         \"scheme.ECN#.transport.sack\" = false }}\n"
    );
    let plan = with(&swept, &[]);
    assert_eq!((plan.baseline, plan.points.len()), (1, 8));
    assert_eq!(
        (pst_target(&plan, 2), pst_target(&plan, 6)),
        (10_000, 20_000)
    );
    let [row] = plan.published.as_slice() else {
        panic!("one row");
    };
    assert_eq!((row.scheme.as_str(), row.axes.len()), ("ECN#", 1));
    // What the command line replaces is the same axis.
    let plan = with(&swept, &["scheme.ECN#.pst_target=30us"]);
    assert_eq!((plan.axes.len(), plan.points.len()), (1, 4));
}

#[test]
fn two_schemes_of_one_default_label_need_their_own() {
    let text = format!("{}[[scheme]]\nmarker = \"ecn_sharp\"\n", two());
    for set in [&[][..], &["scheme.ECN#.pst_target=10us"]] {
        let mut overrides = Overrides::default();
        for option in set {
            overrides.add(option).unwrap();
        }
        let error = parse(&text, "s.toml", &overrides).expect_err("ambiguous");
        assert_eq!(error.message(), "two schemes are called `ECN#`");
        let help = error.help_text().unwrap_or_default();
        assert!(
            help.contains("label = \"ECN# 2\"") && help.contains("scheme 1"),
            "{help}"
        );
    }
    let own = text.replacen(
        "marker = \"ecn_sharp\"",
        "marker = \"ecn_sharp\"\nlabel = \"a\"",
        1,
    );
    let plan = with(&own, &["scheme.ECN#.pst_target=10us"]);
    assert_eq!(plan.schemes, ["TCN", "a", "ECN#"]);
    assert_eq!(
        (pst_target(&plan, 2), pst_target(&plan, 4)),
        (85_000, 10_000)
    );
}

#[test]
fn points_of_one_configuration_are_simulated_once() {
    let plan = with(&two(), &["scheme.ECN#.pst_target=10us,20us,40us"]);
    // Three values x (two seeds of TCN, two of ECN#): TCN knows no pst_target.
    let first = plan.simulated_as();
    assert_eq!(first, [0, 1, 2, 3, 0, 1, 6, 7, 0, 1, 10, 11]);
    let distinct: Vec<_> = plan.distinct().iter().map(|p| p.digest).collect();
    assert_eq!(distinct.len(), 8);
    for (i, f) in first.into_iter().enumerate() {
        let (a, b) = (&plan.points[i], &plan.points[f]);
        assert_eq!(format!("{:?}", a.config), format!("{:?}", b.config));
        assert_eq!((&a.scheme, a.seed), (&b.scheme, b.seed));
        // Each point keeps its own identity.
        assert_eq!(a.digest == b.digest, i == f);
    }
    // A value that is written in two ways, and one that is the default.
    let plan = with(&two(), &["scheme.ECN#.pst_target=10us,0.01ms,85us"]);
    assert_eq!(plan.distinct().len(), 2 + 2 * 2);
    // An axis that concerns all leaves nothing alike.
    let plan = with(&two(), &["workload.load=0.3,0.6"]);
    assert_eq!(plan.distinct().len(), plan.points.len());
    // Two labels for one scheme: one simulation.
    let twice = format!("{}[[scheme]]\nlabel = \"again\"\nmarker = \"tcn\"\n", two());
    assert_eq!(with(&twice, &[]).simulated_as(), [0, 1, 2, 3, 0, 1]);
}

/// A marker of the user's own is alike where its parameters, its content and the rest are.
#[test]
fn markers_of_ones_own_are_simulated_once_as_well() {
    let add = |set: &str, marker: &str| {
        let mut overrides = Overrides::default();
        overrides.add(set).expect("a path and values");
        overrides.added.push(AddedMarker {
            label: Some("own".to_owned()),
            ..AddedMarker::new(marker)
        });
        parse(&two(), "own.toml", &overrides).expect("a plan")
    };
    let of_own = |plan: &Plan| plan.distinct().iter().filter(|p| p.scheme == "own").count();
    let object = |stem: &str| {
        format!(
            "bpf:{}/../../dataplane/bpf/{stem}.o",
            env!("CARGO_MANIFEST_DIR")
        )
    };
    let swept = "scheme.pst_target=10us,20us,40us";
    // A twin of ECN# has its parameters; one of TCN, and another marker, do not know the key.
    assert_eq!(of_own(&add(swept, &object("ecn_sharp"))), 6);
    assert_eq!(of_own(&add(swept, &object("tcn"))), 2);
    assert_eq!(of_own(&add(swept, OBJECT)), 2);
    assert_eq!(of_own(&add("scheme.TCN.threshold=10us,20us", OBJECT)), 2);
    // An axis of a label is one of that scheme only.
    let of_label = "scheme.ECN#.pst_target=10us,20us";
    assert_eq!(of_own(&add(of_label, &object("ecn_sharp"))), 2);
    let simulation = |marker: &str| add(swept, marker).points[4].simulation;
    assert_ne!(simulation(OBJECT), simulation(&object("tcn")));
}

#[test]
fn a_sweep_without_effect_is_one_simulation() {
    let text = two() + "[sweep]\n\"scheme.k\" = [1, 2]\n";
    assert!(read(&text).is_err(), "no scheme has the parameter");
    let plan = with(&two(), &["transport.cubic-c=0.3,0.4"]);
    assert_eq!((plan.points.len(), plan.distinct().len()), (8, 4));
}
