// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traffic classes: DSCP to queue to profile, and what a scheme changes of it.

use cemark_scenario::{Overrides, Plan, parse};
use cemark_sim::config::{MarkerChoice, NonEct};
use cemark_sim::workload::ClassMap;
use miette::Diagnostic;

const HEAD: &str = r#"
[topology]
kind = "star"
hosts = 4
rate = "10Gbps"
delay = "1us"

[switch]
scheduler = "dwrr"
KEYS

[[switch.class]]
name = "services"
dscp = [0, 8]
queue = 0

[[switch.class]]
name = "storage"
dscp = 26
priority = 3
quantum = "6KB"
non-ect = "drop"
profile = { marker = "wred", min = "100KB", max = "400KB" }
MORE

[[workload]]
name = "one"
kind = "poisson"
sizes = "web-search"
load = 0.3
flows = 10
CLASS

[[scheme]]
label = "TCN"
marker = "tcn"
threshold = "40us"
SCHEME
"#;

fn text(with: &[(&str, &str)]) -> String {
    let mut text = HEAD.to_owned();
    for word in ["KEYS", "MORE", "CLASS", "SCHEME"] {
        let found = with.iter().find(|(name, _)| *name == word);
        text = text.replace(word, found.map_or("", |(_, own)| own));
    }
    text
}

fn plan(with: &[(&str, &str)]) -> Plan {
    let text = text(with);
    parse(&text, "s.toml", &Overrides::default()).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn refused(with: &[(&str, &str)]) -> (String, String) {
    match parse(&text(with), "s.toml", &Overrides::default()) {
        Ok(_) => panic!("{with:?} should not be accepted"),
        Err(e) => (
            e.to_string(),
            e.help().map(|h| h.to_string()).unwrap_or_default(),
        ),
    }
}

/// Scheme and first parameters of each queue of a point.
fn markers(plan: &Plan, point: usize) -> Vec<(&'static str, u64)> {
    let each = plan.points[point].config.switch.markers();
    each.map(|marker| match marker {
        MarkerChoice::Builtin { scheme, values } => (scheme.name, values.get(0)),
        _ => ("none", 0),
    })
    .collect()
}

#[test]
fn a_class_is_a_queue_with_its_profile() {
    let plan = plan(&[("CLASS", "dscp = 26")]);
    let switch = &plan.points[0].config.switch;
    // As many queues as the classes need; those between have the marker of the scheme.
    assert_eq!(
        markers(&plan, 0),
        [
            ("tcn", 40_000),
            ("tcn", 40_000),
            ("tcn", 40_000),
            ("wred", 100_000)
        ]
    );
    assert_eq!(switch.queues[3].quantum, 6_000);
    assert_eq!(
        [switch.non_ect_of(0), switch.non_ect_of(3)],
        [NonEct::Forward, NonEct::Drop]
    );
    assert_eq!(switch.queue_name(3), "storage");
    assert_eq!(plan.points[0].config.workloads[0].class, ClassMap::Fixed(3));
    assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);
    let lines: Vec<&str> = plan.parameters.iter().map(String::as_str).collect();
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("TCN (storage): min = 100KB")),
        "{lines:?}"
    );
}

#[test]
fn workloads_name_a_class_by_word_dscp_or_queue() {
    for class in [
        "class = \"storage\"",
        "dscp = 26",
        "class = 3",
        "class = \"Storage\"",
    ] {
        let plan = plan(&[("CLASS", class)]);
        assert_eq!(
            plan.points[0].config.workloads[0].class,
            ClassMap::Fixed(3),
            "{class}"
        );
    }
}

#[test]
fn a_scheme_sets_some_classes_and_leaves_the_others() {
    let rows = r#"
[scheme.class.services]
marker = "ecn_sharp"
ins_target = "77us"

[[scheme]]
label = "keys"
marker = "tcn"
threshold = "50us"
[scheme.class.storage]
min = "50KB"
[scheme.class.services]
threshold = "60us"

[[scheme]]
label = "off"
marker = "tcn"
[scheme.class.storage]
marker = "none"
"#;
    let plan = plan(&[("SCHEME", rows)]);
    assert_eq!(markers(&plan, 0)[0], ("ecn_sharp", 77_000));
    assert_eq!(markers(&plan, 0)[3], ("wred", 100_000));
    // Without a marker the keys lie over the profile of the class, or over the scheme.
    assert_eq!(markers(&plan, 1)[0], ("tcn", 60_000));
    assert_eq!(markers(&plan, 1)[1], ("tcn", 50_000));
    assert_eq!(markers(&plan, 1)[3], ("wred", 50_000));
    assert_eq!(markers(&plan, 2)[3], ("none", 0));
}

#[test]
fn axes_and_the_command_line_name_a_class() {
    let axes = "\n[sweep]\n\"scheme.TCN.class.services.threshold\" = [\"10us\", \"20us\"]\n\
                \"switch.class.storage.profile.min\" = [\"50KB\", \"60KB\"]\n";
    let swept = plan(&[("SCHEME", axes)]);
    let found: Vec<_> = (0..4)
        .map(|i| (markers(&swept, i)[0].1, markers(&swept, i)[3].1))
        .collect();
    assert_eq!(
        found,
        [
            (10_000, 50_000),
            (10_000, 60_000),
            (20_000, 50_000),
            (20_000, 60_000)
        ]
    );
    let mut changes = Overrides::default();
    changes
        .add("switch.class.storage.quantum=9KB")
        .expect("a path");
    let set = parse(&text(&[]), "s.toml", &changes).expect("a plan");
    assert_eq!(set.points[0].config.switch.queues[3].quantum, 9_000);
}

#[test]
fn a_retune_changes_the_queue_of_its_class() {
    let late = "\n[[retune]]\nat = \"5ms\"\nclass = \"storage\"\nmin = \"50KB\"\n";
    let tuned = plan(&[("SCHEME", late)]);
    let retune = &tuned.points[0].config.retunes[0];
    assert_eq!(
        (retune.queue, &retune.params[..]),
        (Some(3), &[("min", 50_000)][..])
    );
    assert!(
        tuned.retunes[0].contains("of `storage`"),
        "{:?}",
        tuned.retunes
    );
    let wrong = late.replace("min", "threshold");
    let (said, _) = refused(&[("SCHEME", &wrong)]);
    assert!(
        said.contains("no scheme of this file has a parameter `threshold`"),
        "{said}"
    );
    let (said, help) = refused(&[("SCHEME", &late.replace("storage", "storge"))]);
    assert!(
        said.contains("no traffic class is called `storge`"),
        "{said}"
    );
    assert!(help.contains("storage"), "{help}");
}

/// A chip has whole cells and whole steps; the plan says both values.
#[test]
fn thresholds_are_those_that_the_chip_can_hold() {
    let keys = "cell = \"208B\"\nprobability-step = \"1%\"";
    let profile = "[scheme.class.storage]\ndrop-probability = \"5.4%\"";
    let chip = plan(&[("KEYS", keys), ("SCHEME", profile)]);
    let wred = &chip.points[0].config.switch.marker_of(3);
    let (scheme, values) = wred.declared().expect("a scheme");
    let held = |name: &str| values.get(scheme.index_of(name).expect("a parameter"));
    assert_eq!((held("min"), held("drop_probability")), (480 * 208, 3_277));
    let line = chip
        .parameters
        .iter()
        .find(|line| line.contains("storage"))
        .expect("a line");
    assert!(
        line.contains("min = 99.84KB (rounded by the chip from 100KB)"),
        "{line}"
    );
    assert!(line.contains("5% (rounded by the chip from 5.4"), "{line}");
}

/// Changes of the scenario, and parts of message and advice.
type Case = (
    &'static [(&'static str, &'static str)],
    &'static str,
    &'static str,
);

#[test]
fn mistakes_say_what_to_write() {
    let cases: &[Case] = &[
        (
            &[("CLASS", "dscp = 27")],
            "no traffic class has DSCP 27",
            "26 (storage)",
        ),
        (&[("CLASS", "dscp = 64")], "64 is too large", "63"),
        (
            &[("CLASS", "class = \"strage\"")],
            "called `strage`",
            "storage",
        ),
        (
            &[("MORE", "[[switch.class]]\nname = \"more\"")],
            "the class `more` has no queue",
            "queue = 3",
        ),
        (
            &[("KEYS", "queues = 3")],
            "has queue 3, and a port has 3 queues",
            "queues = 4",
        ),
        (
            &[(
                "MORE",
                "[[switch.class]]\nname = \"more\"\nqueue = 3\nquantum = \"6KB\"",
            )],
            "share queue 3, which has one marking profile",
            "another queue",
        ),
        (
            &[(
                "MORE",
                "[[switch.class]]\nname = \"more\"\nqueue = 0\nquantum = \"9KB\"",
            )],
            "share queue 0 and write it differently",
            "alike in both",
        ),
        (
            &[(
                "MORE",
                "[[switch.class]]\nname = \"more\"\nqueue = 5\nweight = 0",
            )],
            "0 is too small",
            "1",
        ),
        (
            &[(
                "MORE",
                "[[switch.class]]\nname = \"more\"\nqueue = 5\ndscp = [26]",
            )],
            "DSCP 26 is in two traffic classes",
            "one of them",
        ),
        (
            &[("MORE", "[[switch.class]]\nname = \"storage\"\nqueue = 5")],
            "two traffic classes are called `storage`",
            "own name",
        ),
        (
            &[("SCHEME", "[scheme.class.storag]\nmarker = \"none\"")],
            "no traffic class is called `storag`",
            "storage",
        ),
        (
            &[("SCHEME", "[scheme.class.storage]\nthreshold = \"4us\"")],
            "unknown key `threshold`",
            "",
        ),
        (
            &[("MORE", "[[switch.queue]]\nweight = 2")],
            "the queues are given in two ways",
            "remove [[switch.queue]]",
        ),
        (
            &[(
                "MORE",
                "[[switch.class]]\nname = \"p\"\nqueue = 5\nprofile = 3",
            )],
            "a profile is a table",
            "marker",
        ),
    ];
    for (with, said, help) in cases {
        let (message, advice) = refused(with);
        assert!(message.contains(said), "{with:?}: {message}");
        assert!(advice.contains(help), "{with:?}: {message}: {advice}");
    }
}

/// The example of docs/classes.md is a scenario without a warning.
#[test]
fn the_example_of_the_document_runs() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/classes.md");
    let page = std::fs::read_to_string(path).expect("docs/classes.md");
    let text = page.split("```toml\n").nth(1).expect("an example");
    let text = text.split("```").next().expect("its end");
    let plan = parse(text, "classes.toml", &Overrides::default()).expect("a scenario");
    assert_eq!(
        (plan.schemes.len(), plan.warnings.len()),
        (3, 0),
        "{:?}",
        plan.warnings
    );
    assert_eq!(markers(&plan, 1)[3].0, "wred");
    assert_eq!(markers(&plan, 2)[3].0, "ecn_sharp");
}
