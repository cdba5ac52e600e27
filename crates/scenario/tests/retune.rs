// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[retune]]`: what it means, and what is refused.

use cemark_scenario::{Error, Overrides, Plan, parse};
use cemark_sim::Retune;
use cemark_wire::Picos;

const BASE: &str = r#"
max-time = "20ms"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts-per-leaf = 2
[[workload]]
kind = "long"
per-host = 1
[[scheme]]
marker = "ecn_sharp"
[[scheme]]
marker = "tcn"
label = "by time"
"#;

fn plan_with(retunes: &str, set: &[&str]) -> Result<Plan, Error> {
    let mut overrides = Overrides::default();
    for option in set {
        overrides.add(option).expect("an option");
    }
    parse(&format!("{BASE}{retunes}"), "s.toml", &overrides)
}

fn plan(retunes: &str) -> Plan {
    plan_with(retunes, &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// The retunes of a scheme.
fn of<'a>(plan: &'a Plan, label: &str) -> &'a [Retune] {
    let mut points = plan.points.iter();
    let point = points.find(|p| p.scheme == label).expect("a scheme");
    &point.config.retunes
}

#[test]
fn a_retune_is_for_the_schemes_that_have_its_parameters() {
    let plan = plan("[[retune]]\nat = '5ms'\nins_target = '100us'\npst-target = '20us'");
    let wanted = Retune {
        at: Picos::from_micros(5_000),
        links: None,
        queue: None,
        params: vec![("ins_target", 100_000), ("pst_target", 20_000)],
    };
    assert_eq!(of(&plan, "ECN#"), [wanted]);
    assert!(of(&plan, "by time").is_empty());
    let line = "ECN#: at 5ms: ins_target = 100us, pst_target = 20us, at every port that marks";
    assert_eq!(plan.retunes, [line]);
}

#[test]
fn a_label_and_ports_choose() {
    let plan = plan(
        "[[retune]]\nname = 'late'\nat = '7ms'\nscheme = 'By Time'\nthreshold = '30us'\n\
         [[retune]]\nat = '2ms'\nscheme = 'by time'\nports = ['leaf0->host*', 'leaf0->host1']\n\
         threshold = '40us'",
    );
    assert!(of(&plan, "ECN#").is_empty());
    let [first, second] = of(&plan, "by time") else {
        panic!("{:?}", of(&plan, "by time"))
    };
    assert_eq!(
        (first.at, second.at),
        (Picos::from_micros(2_000), Picos::from_micros(7_000))
    );
    assert_eq!(first.links.as_deref(), Some(&[4, 5][..]));
    assert_eq!(
        plan.retunes[0],
        "by time: at 2ms: threshold = 40us, at 2 ports"
    );
    let set = plan_with(
        "[[retune]]\nname = 'late'\nat = '7ms'\nthreshold = '30us'",
        &["retune.late.at=3ms,4ms"],
    );
    let set = set.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(set.axes, ["retune.late.at"]);
    assert_eq!(of(&set, "by time")[0].at, Picos::from_micros(3_000));
}

#[test]
fn a_retune_is_another_point_and_none_is_the_point_of_before() {
    let (plain, same) = (plan(""), plan("[[retune]]\nat = '5ms'\nthreshold = '30us'"));
    let digest = |plan: &Plan, label: &str| {
        let mut points = plan.points.iter();
        points.find(|p| p.scheme == label).expect("a scheme").digest
    };
    assert_eq!(digest(&plain, "ECN#"), digest(&same, "ECN#"));
    assert_ne!(digest(&plain, "by time"), digest(&same, "by time"));
}

#[test]
fn what_makes_no_sense_is_refused_with_a_remedy() {
    for (retune, message, help) in [
        ("at = '5ms'", "changes nothing", "ins_target"),
        ("threshold = '30us'", "`at` is missing", "at = \"5ms\""),
        (
            "at = '5ms'\nthreshhold = '1us'",
            "no scheme of this file has a parameter",
            "threshold",
        ),
        (
            "at = '5ms'\nscheme = 'TCN'\nthreshold = '1us'",
            "no scheme of this file is",
            "by time",
        ),
        (
            "at = '5ms'\nscheme = 'by time'\nins_target = '1us'",
            "has no parameter",
            "cemark schemes",
        ),
        (
            "at = '5ms'\nthreshold = '1us'\npst_target = '1us'",
            "has all the parameters",
            "one [[",
        ),
        ("at = '5ms'\nthreshold = '30KB'", "is a length", "us"),
        (
            "at = '20ms'\nthreshold = '30us'",
            "the run ends at 20ms",
            "max-time",
        ),
        (
            "at = '5ms'\nports = 'leaf7->*'\nthreshold = '3us'",
            "no port of this",
            "->",
        ),
        (
            "at = '5ms'\nports = 'host0->*'\nthreshold = '3us'",
            "marks packets",
            "switch-port",
        ),
        (
            "at = '5ms'\nports = []\nthreshold = '3us'",
            "no port",
            "leave `ports` out",
        ),
        (
            "at = '5ms'\nhook = 'enqueue'\nsignal = 'length'",
            "the hook",
            "fixed when a run",
        ),
        ("at = 5\nthreshold = '3us'", "unit", "85us"),
    ] {
        let error = plan_with(&format!("[[retune]]\n{retune}"), &[]).expect_err(retune);
        let said = error.to_string();
        assert!(said.contains(message), "{retune}: {said}");
        let advice = error.help_text().unwrap_or_default();
        assert!(advice.contains(help), "{retune}: {said}: {advice}");
    }
}
