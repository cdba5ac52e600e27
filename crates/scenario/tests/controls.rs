// SPDX-License-Identifier: MIT OR Apache-2.0
//! `control` of a workload: what it chooses, what it shares with the others, what is refused.

use cemark_scenario::{Overrides, Plan, parse};
use cemark_sim::config::NonEct;
use miette::Diagnostic;

/// Two workloads; `common` is in `[transport]`, `own` in the second workload.
fn text(common: &str, own: &str) -> String {
    format!(
        r#"
max-time = "10ms"
[topology]
kind = "star"
hosts = 3
[transport]
{common}
[[workload]]
kind = "long"
name = "one"
pattern = "pairs"
pairs = [[0, 2]]
[[workload]]
kind = "long"
name = "two"
pattern = "pairs"
pairs = [[1, 2]]
{own}
[[scheme]]
marker = "tcn"
threshold = "40us"
"#
    )
}

fn plan(common: &str, own: &str) -> Plan {
    let text = text(common, own);
    parse(&text, "s.toml", &Overrides::default()).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn refused(common: &str, own: &str) -> (String, String) {
    match parse(&text(common, own), "s.toml", &Overrides::default()) {
        Ok(_) => panic!("{common} and {own} should not be accepted"),
        Err(e) => (
            e.to_string(),
            e.help().map(|h| h.to_string()).unwrap_or_default(),
        ),
    }
}

fn controls(plan: &Plan) -> Vec<&'static str> {
    let config = &plan.points[0].config;
    let each = config.workloads.iter().map(|w| config.transport_of(w));
    each.map(|t| t.controller().name).collect()
}

#[test]
fn a_workload_has_its_own_controller() {
    let mixed = plan("", "control = \"cubic\"");
    assert_eq!(controls(&mixed), ["dctcp", "cubic"]);
    // One of them uses ECN, so what does not passes.
    assert_eq!(mixed.points[0].config.switch.non_ect, NonEct::Forward);
    assert!(mixed.warnings.is_empty(), "{:?}", mixed.warnings);
    let none = plan("control = \"reno\"", "control = \"cubic\"");
    assert_eq!(none.points[0].config.switch.non_ect, NonEct::Drop);
    let one = plan("control = \"reno\"", "control = \"cubic-ecn\"");
    assert_eq!(one.points[0].config.switch.non_ect, NonEct::Forward);
}

#[test]
fn the_controller_of_all_is_no_own_one() {
    let plain = plan("", "");
    assert_eq!(plan("", "control = \"dctcp\"").digest, plain.digest);
    assert_ne!(plan("", "control = \"cubic\"").digest, plain.digest);
    let pairs = plan("control = \"dcqcn\"", "control = \"dcqcn\"");
    assert_eq!(pairs.digest, plan("control = \"dcqcn\"", "").digest);
}

/// Parameters of any controller are read from `[transport]`, and count there where a workload runs
/// it.
#[test]
fn parameters_are_those_of_transport() {
    let mixed = plan("control = \"cubic\"\ng = 0.25", "control = \"dctcp\"");
    assert!(mixed.warnings.is_empty(), "{:?}", mixed.warnings);
    let config = &mixed.points[0].config;
    let own = config.transport_of(&config.workloads[1]).control;
    assert_eq!(own.spec().params[0].name, "g");
    assert_eq!(own.values().get(0), 2);
    let idle = plan("control = \"cubic\"\ng = 0.25", "control = \"reno\"");
    assert!(
        idle.warnings.iter().any(|w| w.message.contains("`g`")),
        "{:?}",
        idle.warnings
    );
}

#[test]
fn a_controller_is_swept_like_any_other_key() {
    let swept = text("", "control = \"cubic\"")
        + "[sweep]\n\"workload.two.control\" = [\"cubic\", \"dctcp\", \"reno\"]\n";
    let plan = parse(&swept, "s.toml", &Overrides::default()).expect("a plan");
    assert_eq!(plan.points.len(), 3);
}

/// TCP and queue pairs, paced senders and others share hosts.
#[test]
fn any_controllers_share_hosts() {
    for (common, own) in [
        ("dctcp", "dcqcn"),
        ("dcqcn", "cubic"),
        ("dctcp", "bbr"),
        ("bbr", "cubic"),
    ] {
        let mixed = plan(
            &format!("control = \"{common}\""),
            &format!("control = \"{own}\""),
        );
        assert_eq!(controls(&mixed), [common, own]);
    }
    let (said, help) = refused("", "control = \"dctpc\"");
    assert!(
        said.contains("dctpc") && help.contains("dctcp"),
        "{said}: {help}"
    );
}

/// Keys that a workload does not write are those of all, the pacing of the host among them.
#[test]
fn a_workload_has_any_key_of_a_transport() {
    let own = "[workload.transport]\ncontrol = \"dcqcn\"\nmss = \"4096B\"";
    let mixed = plan("mss = \"1000B\"\nack = \"66B\"", own);
    let config = &mixed.points[0].config;
    let [first, second] = [0, 1].map(|i| config.transport_of(&config.workloads[i]));
    assert_eq!(
        (first.mss, first.ack_bytes, first.rdma.is_some()),
        (1000, 66, false)
    );
    assert_eq!(
        (second.mss, second.ack_bytes, second.rdma.is_some()),
        (4096, 66, true)
    );
    assert_eq!(config.full_packet(), 4136);
    assert!(mixed.warnings.is_empty(), "{:?}", mixed.warnings);
    let swept =
        text("", own) + "[sweep]\n\"workload.two.transport.mss\" = [\"1000B\", \"2000B\"]\n";
    let plan = parse(&swept, "s.toml", &Overrides::default()).expect("a plan");
    let mss = plan
        .points
        .iter()
        .map(|p| p.config.transport_of(&p.config.workloads[1]).mss);
    assert_eq!(mss.collect::<Vec<_>>(), [1000, 2000]);
}

#[test]
fn mistakes_in_own_transports_have_their_place() {
    for (own, said, help) in [
        (
            "[workload.transport]\nmms = \"1000B\"",
            "unknown key `mms`",
            "mss",
        ),
        ("transport = 3", "[workload.transport] is a table", "mss"),
        (
            "control = \"cubic\"\n[workload.transport]\ncontrol = \"reno\"",
            "given in two ways",
            "keep control",
        ),
        (
            "[workload.transport]\nrto-min = \"2s\"\nrto-max = \"1s\"",
            "rto-max (1s) is below rto-min (2s)",
            "raise rto-max",
        ),
    ] {
        let (message, advice) = refused("", own);
        assert!(
            message.contains(said) && advice.contains(help),
            "{message}: {advice}"
        );
    }
}
