// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes by the command line: a key once, a scheme by its label; and errors about a text that
//! would steer the terminal.

use std::sync::LazyLock;

use cemark_scenario::{Overrides, load, parse};
use miette::Diagnostic;

/// A scenario without fault.
static GOOD: LazyLock<String> = LazyLock::new(|| {
    crate::common::two_schemes("[topology]\nkind = \"star\"\nhosts = 8\nrate = \"10Gbps\"\n")
});

/// A key that is set twice: both cannot be meant, and neither may be lost in silence.
#[test]
fn a_key_is_set_once() {
    let with = |options: &[&str]| {
        let mut overrides = Overrides::default();
        let mut add = || options.iter().try_for_each(|o| overrides.add(o));
        add().and_then(|()| parse(&GOOD, "s.toml", &overrides))
    };
    let help = |options: &[&str]| {
        let error = with(options).map(|_| ()).expect_err(&options.join(" "));
        let column = error.position();
        (
            error.message().to_owned(),
            error.help_text().unwrap_or_default().to_owned(),
            column,
        )
    };
    let (what, help_text, place) = help(&["workload.load=0.3", "workload.load=0.6"]);
    assert_eq!(what, "`workload.load` is set twice");
    assert!(
        help_text.ends_with("--set workload.load=0.3,0.6"),
        "{help_text}"
    );
    assert_eq!(place, Some((1, 1)));
    // One key under several names.
    for pair in [
        ["transport.rto-min=1ms", "transport.RTO_min=2ms"],
        ["workload.load=0.3", "workload.0.load=0.6"],
        ["workload.load=0.3,0.4", "workload.0.load=0.6"],
        [
            "scheme.ecn#.pst-target=10us",
            "scheme.ecn_sharp.pst_target=20us",
        ],
        ["scheme.ECN#.pst_target=10us", "scheme.1.pst_target=20us"],
        ["scheme.pst_target=10us", "scheme.1.pst_target=20us"],
        ["scheme.*.k=10KB", "scheme.0.k=20KB"],
        ["seeds=3", "seeds=1,2"],
        ["title=a", "title=b"],
        ["max-time=1s", "max_time=2s"],
    ] {
        let (what, help_text, _) = help(&pair);
        assert!(what.contains("is set twice"), "{pair:?}: {what}");
        assert!(
            help_text.contains("leave one of them out"),
            "{pair:?}: {help_text}"
        );
    }
    // The second would take away what the first has set, or a sweep what a single value has.
    for pair in [
        ["scheme.1.switch.buffer=1MB", "scheme.switch.buffer=2MB"],
        ["scheme.switch.buffer=1MB,2MB", "scheme.1.switch.buffer=3MB"],
        ["scheme.1.switch.buffer=3MB", "scheme.switch.buffer=1MB,2MB"],
    ] {
        let (what, help_text, _) = help(&pair);
        assert!(what.ends_with("set the same key"), "{pair:?}: {what}");
        assert!(
            help_text.contains("leave one of them out"),
            "{pair:?}: {help_text}"
        );
    }
    // One for all and then another for one of them, and two keys.
    for pair in [
        ["scheme.switch.buffer=2MB", "scheme.1.switch.buffer=1MB"],
        ["scheme.0.switch.buffer=2MB", "scheme.1.switch.buffer=1MB"],
        ["workload.load=0.3", "workload.flows=200"],
    ] {
        assert!(with(&pair).is_ok(), "{pair:?}");
    }
    // `--seed` and `--seeds` are the same key by another option.
    for option in ["seed", "seeds"] {
        let mut overrides = Overrides::default();
        overrides.add("seeds=1,2").unwrap();
        match option {
            "seed" => overrides.seed = Some(3),
            _ => overrides.seeds = Some(3),
        }
        let error = parse(&GOOD, "s.toml", &overrides).unwrap_err();
        assert!(error.message().contains(&format!("--{option}")), "{error}");
    }
}

#[test]
fn what_cannot_be_swept_says_why() {
    let with = |option: &str| {
        let mut overrides = Overrides::default();
        overrides.add(option).unwrap();
        let error = parse(&GOOD, "s.toml", &overrides).unwrap_err();
        (
            error.message().to_owned(),
            error.help_text().unwrap_or_default().to_owned(),
        )
    };
    for path in ["title", "description", "next"] {
        let (what, help) = with(&format!("{path}=a,b"));
        assert_eq!(what, format!("`{path}` cannot be swept"));
        assert!(help.contains("a comma") && !help.contains("seed"), "{help}");
    }
    let (_, help) = with("baseline=ECN#,DCTCP-RED");
    assert!(help.contains("one baseline"), "{help}");
}

/// A scheme is called by its label; without one, by what every table calls it.
#[test]
fn a_wrong_label_lists_the_labels() {
    let with = |option: &str| {
        let mut overrides = Overrides::default();
        overrides.add(option).unwrap();
        parse(&GOOD, "s.toml", &overrides)
    };
    for option in ["scheme.ECN.pst_target=10us", "scheme.ECN.=10us"] {
        let error = with(option).unwrap_err();
        assert_eq!(error.message(), "no scheme is labelled `ECN`");
        let help = error.help_text().unwrap_or_default();
        assert!(help.starts_with("did you mean `ECN#`?"), "{help}");
        assert!(
            help.contains("`DCTCP-RED`") && !help.contains("ins_target"),
            "{help}"
        );
    }
    let error = with("scheme.ECN#=10us").unwrap_err();
    assert!(
        error
            .help_text()
            .unwrap_or_default()
            .contains("scheme.ECN#.KEY")
    );
    assert!(with("scheme.ECN#.pst_target=10us").is_ok());
}

/// Errors show no character of a file that steers the terminal, and their place is right all the
/// same.
#[test]
fn escapes_are_shown_as_numbers() {
    let text = GOOD
        .replacen("title = \"t\"", "title = \"\u{9b}\u{202e}t\"\r", 1)
        .replacen("[[scheme]]", "[[scheme]]\n\"l\u{9b}2J\" = 1", 1);
    let error = parse(&text, "s\u{1b}[2J.toml", &Overrides::default()).unwrap_err();
    assert_eq!(error.message(), "unknown key `l\\u{9b}2J` in [[scheme]]");
    assert_eq!(error.file(), "s\\u{1b}[2J.toml");
    let label = error.labels().unwrap().next().unwrap();
    let span = (label.offset(), label.len());
    let source = error.source_code().unwrap();
    let drawn = source.read_span(&span.into(), 40, 0).unwrap();
    let drawn = String::from_utf8(drawn.data().to_vec()).unwrap();
    assert!(
        drawn.contains("title = \"\\u{9b}\\u{202e}t\"") && drawn.contains("l\\u{9b}2J"),
        "{drawn}"
    );
    assert!(
        drawn.ends_with("\"l\\u{9b}2J\" = 1") || drawn.ends_with("\"l\\u{9b}2J\""),
        "{drawn}"
    );
    assert!(
        !drawn.contains(|c| cemark_scenario::is_hidden(c) && !"\r\n".contains(c)),
        "{drawn:?}"
    );
    let missing = load("no\u{1b}[2Jsuch", &Overrides::default()).unwrap_err();
    assert!(
        missing.to_string().starts_with("no\\u{1b}[2Jsuch: "),
        "{missing}"
    );
}
