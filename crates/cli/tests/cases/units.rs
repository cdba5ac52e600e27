// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers as switches have them: percent, cells, segments, exponents.

use super::imports::says;
use super::scenario_digest;
use crate::common::{cemark, folder, line};

const STAR: &str = "[topology]\nkind = \"star\"\nhosts = 3\nrate = \"100Gbps\"\n\
                    [[workload]]\nkind = \"list\"\n\
                    flow = [{ at = \"0s\", src = 0, dst = 1, size = \"20KB\" }]\n";

/// Exit code and message of `check`.
fn check(name: &str, rest: &str) -> (Option<i32>, String) {
    let text = format!("{STAR}{rest}\n");
    let dir = folder(&format!("cases-{name}"), &[("my.toml", &text)]);
    let o = cemark(&dir, &["check", "my.toml"]);
    (o.status.code(), line(&o.stderr))
}

fn digest(name: &str, rest: &str) -> String {
    let text = format!("{STAR}{rest}\n");
    scenario_digest(&folder(&format!("cases-{name}"), &[("my.toml", &text)]))
}

fn refused(name: &str, rest: &str, parts: &[&str]) {
    let (code, said) = check(name, rest);
    assert_eq!(code, Some(2), "{rest}");
    says(&said, parts);
}

fn fine(name: &str, rest: &str) {
    let (code, said) = check(name, rest);
    assert_eq!(code, Some(0), "{rest}: {said}");
}

/// WRED's probability is a percentage on switches: 5 and 100 are none, and 1 is 1 % there.
#[test]
fn c16_a_whole_number_is_no_probability() {
    let wred = |value: &str| {
        format!(
            "[[scheme]]\nmarker = \"wred\"\nmin = \"1048576B\"\nmax = \"2097152B\"\n\
             drop-probability = {value}"
        )
    };
    refused("c16", &wred("5"), &["write \"5%\" or 0.05"]);
    refused("c16", &wred("100"), &["write \"100%\" or 1"]);
    refused("c16", &wred("\"100\""), &["not between 0 and 1"]);
    let two = [
        "`drop_probability` = 1 can be read in two ways",
        "\"1%\"",
        "\"100%\"",
    ];
    refused("c16", &wred("1"), &two);
    for value in ["\"1%\"", "\"100%\"", "1.0", "0.01", "0"] {
        fine("c16", &wred(value));
    }
    // Every probability and every part of a limit, and no weight.
    for (scheme, key) in [
        ("red", "pmax"),
        ("dynamic", "pmax"),
        ("dynamic", "max-percent"),
        ("pie", "mark-ecnth"),
        ("ecn_sharp", "pmax"),
        ("mq_ecn", "pmax"),
    ] {
        refused(
            "c16",
            &format!("[[scheme]]\nmarker = \"{scheme}\"\n{key} = 1"),
            &["two ways"],
        );
    }
    fine("c16", "[[scheme]]\nmarker = \"red\"\nweight = 1");
}

/// Thresholds in percent of the queue, and in segments: read, or told how.
#[test]
fn c17_percent_and_segments() {
    let wred = "[[scheme]]\nmarker = \"wred\"\nmin = \"MIN\"\nmax = \"4 MB\"";
    for min in ["1%", "1 percent"] {
        refused(
            "c17",
            &wred.replace("MIN", min),
            &[
                "is not a unit of a length",
                "marker = \"dynamic\", mode = \"percent\"",
                "min-percent = \"1%\"",
            ],
        );
    }
    fine(
        "c17",
        "[[scheme]]\nmarker = \"dynamic\"\nmode = \"percent\"\nmin-percent = \"1%\"\n\
         max-percent = \"2%\"",
    );
    let segments = wred.replace("MIN", "2000 segments");
    refused(
        "c17",
        &segments,
        &["needs the size of a cell", "cell = \"256B\" in [switch]"],
    );
    let digest = |min: &str, cell: &str| {
        let rest = format!("[switch]\ncell = \"{cell}\"\n{}", wred.replace("MIN", min));
        digest("c17", &rest)
    };
    // 2000 x 208 bytes.
    assert_eq!(digest("2000 segments", "208B"), digest("416KB", "208B"));
    assert_eq!(
        digest("2000 segments", "208B"),
        digest("2000 cells", "208B")
    );
    assert_ne!(
        digest("2000 segments", "208B"),
        digest("2000 segments", "256B")
    );
}

/// `dynamic_th` of SAI and SONiC is the exponent of the factor.
#[test]
fn c19_dynamic_th_is_an_exponent() {
    let switch = |keys: &str| {
        format!(
            "[switch]\nbuffer-policy = \"dynamic\"\npool = \"16MB\"\n{keys}\n\
             [[scheme]]\nmarker = \"tcn\""
        )
    };
    refused(
        "c19",
        &switch("alpha = -3"),
        &[
            "alpha is a factor, and -3 is below zero",
            "dynamic_th n is the factor 2^n",
            "for -3 write alpha = 0.125 or dynamic-th = -3",
        ],
    );
    refused(
        "c19",
        &switch("pfc = true\npfc-alpha = -2.0"),
        &["write pfc-alpha = 0.25"],
    );
    refused(
        "c19",
        &switch("alpha = -100"),
        &["for -3 write alpha = 0.125"],
    );
    refused("c19", &switch("dynamic-th = 0.5"), &["no whole exponent"]);
    refused(
        "c19",
        &switch("dynamic-th = -3\nalpha = 0.125"),
        &["keep one"],
    );
    for (exponent, factor) in [
        ("dynamic-th = -3", "alpha = 0.125"),
        ("dynamic_th = 2", "alpha = 4"),
        (
            "pfc = true\npfc-dynamic-th = -1",
            "pfc = true\npfc-alpha = 0.5",
        ),
    ] {
        assert_eq!(
            digest("c19", &switch(exponent)),
            digest("c19", &switch(factor)),
            "{exponent}"
        );
    }
}
