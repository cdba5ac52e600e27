// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scenarios that several tests begin from, and how these are read.
#![allow(dead_code)] // Each test uses a part.

use cemark_scenario::{Error, Overrides, Plan, parse};

/// A star with one workload of 100 flows, without a scheme.
pub const STAR: &str = r#"
[topology]
kind = "star"
hosts = 4
rate = "10Gbps"
delay = "2us"

[[workload]]
kind = "poisson"
sizes = "web-search"
load = 0.5
flows = 100
"#;

/// A scenario of two schemes, two loads and two seeds, without fault: `fabric` is the part between
/// the first lines and the workload.
pub fn two_schemes(fabric: &str) -> String {
    format!(
        r#"title = "t"
seeds = [1, 2]
baseline = "ECN#"

{fabric}
[[workload]]
kind = "poisson"
sizes = "web-search"
load = 0.8
flows = 100

[transport]
rto-min = "5ms"

[switch]
buffer = "600KB"

[[scheme]]
marker = "threshold"
k = "65pkt"

[[scheme]]
marker = "ecn_sharp"
ins_target = "220us"

[sweep]
"workload.load" = [0.5, 0.9]
"#
    )
}

/// The plan of a text without options.
pub fn read(text: &str) -> Result<Plan, Error> {
    parse(text, "s.toml", &Overrides::default())
}

/// The mistake in a text.
pub fn fails(text: &str) -> Error {
    match read(text) {
        Ok(_) => panic!("this should not be accepted:\n{text}"),
        Err(error) => error,
    }
}
