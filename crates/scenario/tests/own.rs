// SPDX-License-Identifier: MIT OR Apache-2.0
//! Markers of the user's own as schemes of a scenario.

use cemark_scenario::{AddedMarker, Error, Overrides, OwnMarker, Plan, parse};
use cemark_sim::config::MarkerChoice;

use crate::common::STAR;

/// A committed marker in bytecode, as a scenario names it.
pub const OBJECT: &str = concat!(
    "bpf:",
    env!("CARGO_MANIFEST_DIR"),
    "/../../dataplane/bpf/markers/own_marker.o"
);

/// A scenario with a scheme of the catalogue, one of a file, and `more`.
fn text(marker: &str, more: &str) -> String {
    format!("{STAR}\n[[scheme]]\nmarker = \"threshold\"\n[[scheme]]\nmarker = \"{marker}\"\n{more}")
}

fn with(text: &str, set: &[&str], known: Vec<OwnMarker>) -> Result<Plan, Error> {
    let mut overrides = Overrides {
        known,
        ..Overrides::default()
    };
    for option in set {
        overrides.add(option)?;
    }
    parse(text, "own.toml", &overrides)
}

/// A marker in Python with these parameters.
fn declared(params: &str) -> OwnMarker {
    OwnMarker::in_python("mine", params, "class Mine")
}

fn values(plan: &Plan, label: &str) -> Vec<Vec<u64>> {
    let of = plan.points.iter().filter(|p| p.scheme == label);
    let values = of.map(|p| {
        let (scheme, values) = p.config.switch.marker.declared().expect("a declaration");
        values.0[..scheme.params.len()].to_vec()
    });
    values.collect()
}

#[test]
fn the_parameters_of_a_file_are_set_swept_and_retuned_as_those_of_the_catalogue() {
    let more = "label = \"mine\"\nhigh = \"80pkt\"\n[[retune]]\nscheme = \"mine\"\nat = \"1ms\"\n\
        low = \"10pkt\"\n[sweep]\n\"scheme.mine.low\" = [\"20pkt\", \"30KB\"]\n";
    let plan = with(&text(OBJECT, more), &[], Vec::new()).expect("a plan");
    assert_eq!(plan.schemes, ["DCTCP-RED", "mine"]);
    assert_eq!(
        values(&plan, "mine"),
        [vec![120_000, 30_000], vec![120_000, 30_000]]
    );
    let of = plan.points.iter().find(|p| p.scheme == "mine");
    let retunes = &of.expect("its point").config.retunes;
    assert_eq!(retunes[0].params, [("low", 15_000)]);
    let [marker] = plan.markers.as_slice() else {
        panic!("one marker: {:?}", plan.markers);
    };
    assert_eq!((&*marker.name, marker.named), ("own_marker", false));
    assert_eq!(plan.parameters[1], "mine: high = 120KB, low = 30KB");

    // Without a label it is called by form and file; paths find its parameters.
    let set = ["scheme.high=70pkt,90pkt"];
    let plan = with(&text(OBJECT, ""), &set, Vec::new()).expect("a plan");
    assert_eq!(plan.schemes[1], "bpf:own_marker.o");
    assert_eq!(
        values(&plan, "bpf:own_marker.o"),
        [vec![105_000, 60_000], vec![135_000, 60_000]]
    );
}

#[test]
fn another_content_is_another_scheme_and_another_path_is_not() {
    let file = with(&text(OBJECT, ""), &[], Vec::new()).expect("a plan");
    let moved = OwnMarker {
        written: "bpf:elsewhere.o".to_owned(),
        ..file.markers[0].clone()
    };
    let label = "label = \"bpf:own_marker.o\"\n";
    let plan = |marker: OwnMarker| {
        with(&text("bpf:elsewhere.o", label), &[], vec![marker]).expect("a plan")
    };
    assert_eq!(plan(moved.clone()).digest, file.digest);
    let changed = OwnMarker {
        content: moved.content + 1,
        ..moved
    };
    assert_ne!(plan(changed).digest, file.digest);
}

#[test]
fn every_kind_of_parameter_is_read_with_its_units() {
    let params = "wait\ttime\t85us\t0us\t1s\tA.\nlength\tbytes\t65pkt\t0B\t1GB\tB.\n\
        line\trate\t10Gbps\t1kbps\t1Tbps\tC.\npart\tfraction\t25%\t0%\t100%\tD.\n\
        gain\tnumber\t0.7\t0\t10\tE.\nmany\tcount\t3\t1\t9\tF.\non\tflag\ttrue\t-\t-\tG.\n\
        form\tchoice(step|ramp)\tramp\t-\t-\tH.\n";
    let plan = with(&text("python:mine", ""), &[], vec![declared(params)]).expect("a plan");
    let all = [85_000, 97_500, 10_000_000_000, 16_384, 700, 3, 1, 1];
    assert_eq!(values(&plan, "python:mine"), [all]);
}

#[test]
fn a_wrong_declaration_says_which_parameter() {
    let cases = [
        ("k\tbytes\t1KB\t0B\t1MB", "six fields, not 5"),
        ("k k\tbytes\t1KB\t0B\t1MB\tA.", "`k k` is no name"),
        (
            "label\tbytes\t1KB\t0B\t1MB\tA.",
            "`label` is a key of every scheme",
        ),
        (
            "switch\tbytes\t1KB\t0B\t1MB\tA.",
            "`switch` is a key of every scheme",
        ),
        ("k\tlength\t1KB\t0B\t1MB\tA.", "`length` is no kind"),
        ("k\tchoice(a||b)\ta\t-\t-\tA.", "is no kind"),
        ("k\tbytes\t1us\t0B\t1MB\tA.", "the default of `k` is `1us`"),
        (
            "k\tbytes\t1KB\t0B\tmuch\tA.",
            "the largest value of `k` is `much`",
        ),
        (
            "k\tbytes\t2MB\t0B\t1MB\tA.",
            "not between its least and its largest",
        ),
        (
            "k\tcount\t1\t0\t9\tA.\nK\tcount\t1\t0\t9\tB.",
            "`K` is declared twice",
        ),
    ];
    for (params, says) in cases {
        let marker = declared(params);
        let e = with(&text("python:mine", ""), &[], vec![marker]).expect_err(params);
        assert!(e.message().contains(says), "{params}: {e}");
        assert!(e.position().is_some(), "{params}: {e}");
    }
    let many: String = (0..17)
        .map(|i| format!("k{i}\tcount\t1\t0\t9\tA.\n"))
        .collect();
    let e = with(&text("python:mine", ""), &[], vec![declared(&many)]).expect_err("too many");
    assert!(e.message().contains("at most 16 parameters"), "{e}");
}

#[test]
fn values_of_own_parameters_are_checked_where_they_are_written() {
    for (more, says) in [
        ("high = \"2GB\"", "out of range"),
        ("high = \"80us\"", ""),
        ("hihg = \"80pkt\"", "unknown key `hihg`"),
        ("high = \"fast\"", "`fast` is not a length"),
    ] {
        match with(&text(OBJECT, more), &[], Vec::new()) {
            Ok(_) => assert!(says.is_empty(), "{more} is taken"),
            Err(e) => assert!(
                !says.is_empty() && e.message().contains(says),
                "{more}: {e}"
            ),
        }
    }
}

#[test]
fn what_names_no_marker_says_what_to_write() {
    for (marker, says, help) in [
        ("python:mine", "a marker in Python", "cemark.run("),
        ("c:", "no file name", "cc -O2"),
        ("c:missing.so", "missing.so", "cc -O2"),
        ("bpf:missing.o", "missing.o", "clang"),
        ("mine.so", "no marking scheme", "c:mine.so"),
    ] {
        let e = with(&text(marker, ""), &[], Vec::new()).expect_err(marker);
        let advice = e.help_text().unwrap_or_default();
        assert!(
            e.message().contains(says) && advice.contains(help),
            "{marker}: {e}: {advice}"
        );
        assert!(e.position().is_some(), "{marker}: {e}");
    }
}

fn added(text: &str, marker: &str, label: Option<&str>) -> Result<Plan, Error> {
    let overrides = Overrides {
        added: vec![AddedMarker {
            marker: marker.to_owned(),
            label: label.map(str::to_owned),
        }],
        ..Overrides::default()
    };
    parse(text, "own.toml", &overrides)
}

#[test]
fn an_added_marker_is_like_the_first_scheme_of_the_file() {
    let file = format!(
        "{STAR}\n[[scheme]]\nmarker = \"codel\"\ntarget = \"20us\"\n[scheme.switch]\n\
         buffer = \"300KB\"\n[[scheme]]\nmarker = \"tcn\"\n"
    );
    let plan = added(&file, OBJECT, None).expect("a plan");
    assert_eq!(plan.schemes, ["CoDel", "TCN", "own_marker"]);
    let point = plan.points.iter().find(|p| p.scheme == "own_marker");
    let config = &point.expect("its point").config;
    assert_eq!(config.switch.buffer_bytes, 300_000);
    assert!(matches!(&config.switch.marker, MarkerChoice::Own(own) if own.code.is_none()));
    assert!(plan.markers[0].named, "the command line names it");
    // The text that the manifest keeps has the scheme.
    let overrides = Overrides {
        known: plan.markers.clone(),
        ..Overrides::default()
    };
    let again = parse(&plan.source, "own.toml", &overrides).expect("its own text");
    assert_eq!((again.digest, &again.schemes), (plan.digest, &plan.schemes));

    let e = added(&file, OBJECT, Some("TCN")).expect_err("two labels");
    assert!(e.message().contains("two schemes are called `TCN`"), "{e}");
    let e = added(&file, "tcn", None).expect_err("no file");
    assert!(e.message().contains("`tcn` is no file of a marker"), "{e}");
}

/// An added marker is called by the name in its code where that is free, and all of its parameters
/// are told. A label in front of it is taken instead.
#[test]
fn an_added_marker_is_called_by_its_name() {
    let with = |added: &[&str], set: &str| {
        let mut overrides = Overrides {
            added: added.iter().map(|typed| AddedMarker::new(typed)).collect(),
            ..Overrides::default()
        };
        overrides.add(set).expect("a path and a value");
        parse(
            &format!("{STAR}\n[[scheme]]\nmarker = \"tcn\"\n"),
            "own.toml",
            &overrides,
        )
    };
    let plan = with(&[OBJECT, OBJECT], "scheme.own_marker.low=20pkt").expect("a plan");
    assert_eq!(plan.schemes, ["TCN", "own_marker", "bpf:own_marker.o"]);
    assert_eq!(
        plan.parameters[1..],
        [
            "own_marker: high = 97.5KB (default), low = 30KB",
            "bpf:own_marker.o: high = 97.5KB (default), low = 60KB (default)"
        ]
    );
    let labelled = format!("mine={OBJECT}");
    let plan = with(&[&labelled], "scheme.mine.low=20pkt").expect("a plan");
    assert_eq!(plan.schemes, ["TCN", "mine"]);
    // A scheme of the file without a label answers to the name as well.
    let plan = self::with(
        &text(OBJECT, ""),
        &["scheme.own_marker.low=20pkt"],
        Vec::new(),
    );
    assert_eq!(
        values(&plan.expect("a plan"), "bpf:own_marker.o")[0][1],
        30_000
    );
    // A key of the marker that another one replaces.
    let e = with(&[], "scheme.TCN.marker=none").map(|_| ()).and(
        self::with(
            &format!("{STAR}\n[[scheme]]\nmarker = \"tcn\"\nthreshold = \"150us\"\n"),
            &[&format!("scheme.TCN.marker={OBJECT}")],
            Vec::new(),
        )
        .map(|_| ()),
    );
    let e = e.expect_err("a key that the file does not declare");
    let help = e.help_text().unwrap_or_default();
    assert!(e.message().contains("unknown key `threshold`"), "{e}");
    assert!(help.contains(&format!("--marker {OBJECT}")), "{help}");
}

/// The bytecode of a scheme has the parameters that the file gives the scheme.
#[test]
fn the_bytecode_of_a_scheme_has_its_parameters() {
    let object = concat!(
        "bpf:",
        env!("CARGO_MANIFEST_DIR"),
        "/../../dataplane/bpf/codel.o"
    );
    let file = format!(
        "{STAR}\n[[scheme]]\nmarker = \"tcn\"\n[[scheme]]\nmarker = \"codel\"\ntarget = \"20us\"\n"
    );
    let plan = added(&file, object, None).expect("a plan");
    assert_eq!(values(&plan, "bpf:codel.o"), values(&plan, "CoDel"));
    let alone = text(object, "target = \"7us\"\n");
    let plan = with(&alone, &[], Vec::new()).expect("a plan");
    assert_eq!(values(&plan, "bpf:codel.o")[0][0], 7_000);
}
