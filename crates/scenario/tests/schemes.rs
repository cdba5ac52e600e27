// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mistakes in one scheme's parameters that its own words explain better than a list of near ones.

use cemark_scenario::{Error, Overrides, parse};

/// A scenario without fault, but for the scheme at its end, from line 12 on.
const FRONT: &str = r#"max-time = "1s"

[topology]
kind = "star"
hosts = 4

[[workload]]
kind = "long"
pattern = "permutation"

[[scheme]]
"#;

fn fails(scheme: &str) -> Error {
    match parse(&format!("{FRONT}{scheme}"), "s.toml", &Overrides::default()) {
        Ok(_) => panic!("this should not be accepted:\n{scheme}"),
        Err(error) => error,
    }
}

/// `wred` was RED's other name once, and RED's words are what papers have.
#[test]
fn a_switchs_words_and_floyds() {
    for key in [
        "kmin = \"5pkt\"",
        "kmax = \"20us\"",
        "pmax = \"10%\"",
        "spacing = \"independent\"",
        "count-self = true",
        "mean_pkt = \"1500B\"",
    ] {
        let error = fails(&format!("marker = \"wred\"\n{key}"));
        let advice = error.help_text().expect("advice");
        assert!(error.message().starts_with("unknown key"), "{error}");
        assert!(
            advice.contains("write min, max, drop-probability and weight")
                && advice.contains("marker = \"red\" is Floyd's"),
            "{key}: {advice}"
        );
    }
    let red = ["min = \"5pkt\"", "max = \"5pkt\"", "drop_probability = 1"];
    for key in red {
        let error = fails(&format!("marker = \"red\"\n{key}"));
        let advice = error.help_text().expect("advice");
        assert!(
            advice.contains("write kmin, kmax and pmax") && advice.contains("\"wred\""),
            "{key}: {advice}"
        );
    }
    // Another scheme's unknown key is none of theirs.
    let error = fails("marker = \"tcn\"\nkmin = \"5pkt\"");
    let advice = error.help_text().unwrap_or_default();
    assert!(!advice.contains("wred"), "{advice}");
    // A weight of RED's.
    for weight in ["0.002", "16", "-1", "\"1%\""] {
        let error = fails(&format!("marker = \"wred\"\nweight = {weight}"));
        let advice = error.help_text().expect("advice");
        assert!(
            advice.contains("whole number n from 0 to 15") && advice.contains("\"red\""),
            "{weight}: {advice}"
        );
    }
    // Percent, as switches have them, with and without the sign.
    let error = fails("marker = \"wred\"\ndrop-probability = 10");
    assert_eq!(error.help_text(), Some("write \"10%\" or 0.1"));
}

#[test]
fn who_joins_has_not_waited() {
    let marker = "marker = \"ecn_sharp\"\nhook = \"enqueue\"";
    let error = fails(marker);
    assert!(
        error.to_string().starts_with("s.toml:13:8: hook = ")
            && error.message().contains("has not waited yet"),
        "{error}"
    );
    assert_eq!(
        error.help_text(),
        Some("write signal = \"length\" beside it")
    );
    for fine in [
        format!("{marker}\nsignal = \"length\""),
        marker.replace("enqueue", "dequeue"),
        marker.replace("ecn_sharp", "mq_ecn"),
    ] {
        let text = format!("{FRONT}{fine}");
        assert!(
            parse(&text, "s.toml", &Overrides::default()).is_ok(),
            "{fine}"
        );
    }
}

#[test]
fn the_example_reads_one_profile_in_four_ways() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wred.toml");
    let text = std::fs::read_to_string(path).expect("the example");
    let plan = parse(&text, "wred.toml", &Overrides::default()).expect("a scenario");
    let names = ["WRED", "WRED, weight 9", "RED", "RED, weight 1"];
    assert_eq!(plan.schemes, names);
    assert_eq!(plan.warnings, []);
}
