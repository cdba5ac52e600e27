// SPDX-License-Identifier: MIT OR Apache-2.0
//! Warnings about scenarios that run and were probably not meant, each with the way out.

use cemark_scenario::{AddedMarker, Overrides, Plan, parse};
use cemark_sim::config::NonEct;
use cemark_wire::Picos;

/// The keys of its `[rtt]`.
const VARIATION: &str = "model = \"variation\"\nmin = \"80us\"\nmax = \"240us\"";

/// A scenario that gives no cause for a warning. Across the leaves a path takes 80 us, within one
/// 40 us; 32 of the 56 pairs cross.
const GOOD: &str = r#"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts-per-leaf = 4

[rtt]
model = "variation"
min = "80us"
max = "240us"

[[workload]]
kind = "poisson"
sizes = "web-search"
load = 0.5
flows = 100

[transport]
rto-init = "5ms"
ack-every = 1

[switch]
buffer = "600KB"

[[scheme]]
label = "a"
marker = "threshold"
k = "65pkt"

[[scheme]]
label = "b"
marker = "ecn_sharp"
"#;

fn plan(text: &str) -> Plan {
    parse(text, "s.toml", &Overrides::default()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Replaces `from` and expects one warning that says `says`, and `help`.
fn warns(from: &str, to: &str, says: &str, help: &str) {
    assert_eq!(GOOD.matches(from).count(), 1, "{from}");
    let plan = plan(&GOOD.replace(from, to));
    let lines = plan.warning_lines();
    assert_eq!(lines.len(), 1, "{to}: {lines:?}");
    assert!(
        lines[0].contains(says) && lines[0].contains(help),
        "{to}: {lines:?}"
    );
}

#[test]
fn the_base_gives_no_cause() {
    assert_eq!(plan(GOOD).warnings, []);
}

#[test]
fn draws_below_the_path() {
    // Across the leaves (32 of 56 pairs) a fifth of the range lies below 80 us: 1 - exp(-0.2 /
    // 0.38) = 40.9 % of the draws.
    warns(
        "\"80us\"",
        "\"40us\"",
        "(up to 80us): 23.4 % of the flows of `poisson` get their path's RTT instead",
        "shorten `delay`",
    );
    // Within a leaf the path is shorter than any draw: only the others count.
    warns(
        VARIATION,
        "model = \"fixed\"\nrtt = \"60us\"",
        "57.1 % of the flows",
        "draw longer RTTs",
    );
    warns(
        VARIATION,
        "model = \"classes\"\nvalues = [\"79us\", \"100us\"]",
        "28.6 % of the flows",
        "draw longer RTTs",
    );
}

#[test]
fn timers_that_fire_too_early() {
    warns(
        "\"5ms\"",
        "\"70us\"",
        "rto-init is 70us, no longer than the base RTT: every flow of `poisson` will time out \
            spuriously",
        "above the longest base RTT",
    );
    // min(Exp(60.8 us), 160 us) + 80 us is 200 us or more for exp(-120 / 60.8) of the flows.
    warns(
        "\"5ms\"",
        "\"200us\"",
        "13.9 % of the flows of `poisson` will time out",
        "above the longest base RTT",
    );
    warns(
        "ack-every = 1",
        "ack-every = 2\nack-delay = \"10ms\"",
        "ack-delay (10ms) is not below rto-min (5ms)",
        "a shorter ack-delay",
    );
}

/// A workload with a transport of its own has timers of its own.
#[test]
fn timers_are_those_of_the_transport_of_a_workload() {
    let scenario = |own: &str, common: &str| {
        let fabric = "[topology]\nkind = \"star\"\nhosts = 4\ndelay = \"100us\"\n";
        let flows = "[[workload]]\nkind = \"poisson\"\nload = 0.1\nflows = 10\nsizes = \"10KB\"\n";
        let timer = |section: &str, timer: &str| {
            format!("[{section}]\ncontrol = \"dctcp\"\nrto-init = \"{timer}\"\n")
        };
        let (own, common) = (timer("workload.transport", own), timer("transport", common));
        format!("{fabric}{flows}{own}{common}[[scheme]]\nmarker = \"none\"\n")
    };
    let said = |own, common| {
        let lines = plan(&scenario(own, common)).warning_lines();
        lines
            .iter()
            .any(|line| line.contains("no longer than the base RTT"))
    };
    assert!(said("50us", "5ms"));
    assert!(!said("5ms", "50us"));
}

#[test]
fn keys_that_nothing_looks_at() {
    // (after which line, what is written, what is said, what to write)
    let switch = "buffer = \"600KB\"";
    for (key, written, with) in [
        ("alpha", "alpha = 2", "buffer-policy = \"dynamic\""),
        (
            "dynamic-th",
            "dynamic-th = 1",
            "buffer-policy = \"dynamic\"",
        ),
        ("pfc-dynamic-th", "pfc-dynamic-th = -2", "pfc = true"),
        ("pool", "pool = \"2MB\"", "\"shared\" or \"dynamic\""),
        ("headroom", "headroom = \"9KB\"", "lossless = true"),
        ("round-beta", "round-beta = 0.5", "mq_ecn"),
        ("round-idle", "round-idle = \"9us\"", "mq_ecn"),
        ("quantum", "quantum = \"3KB\"", "\"dwrr\" or \"wrr\""),
        ("pfc-alpha", "pfc-alpha = 0.5", "pfc = true"),
        ("pfc-xoff", "pfc-xoff = \"99KB\"", "pfc = true"),
        ("pfc-storm", "pfc-storm = 0.5", "pfc = true"),
        ("pfc-reaction", "pfc-reaction = \"1us\"", "pfc = true"),
    ] {
        let says = format!("`{key}` in [switch] has no effect");
        warns(switch, &format!("{switch}\n{written}"), &says, with);
    }
    for (written, key, with) in [
        ("weight = 2", "weight", "scheduler = \"wfq\""),
        ("quantum = \"3KB\"", "quantum", "scheduler = \"dwrr\""),
        ("strict = true", "strict", "scheduler = \"dwrr\""),
        ("lossless = true", "lossless", "pfc = true"),
    ] {
        let says = format!("`{key}` in [[switch.queue]] has no effect");
        let queue = format!("{switch}\n[[switch.queue]]\n{written}");
        warns(switch, &queue, &says, with);
    }
    let transport = "ack-every = 1";
    for (key, written, with) in [
        ("cnp-gap", "cnp-gap = \"9us\"", "control = \"dcqcn\""),
        ("rate-ai", "rate-ai = \"9Mbps\"", "control = \"dcqcn\""),
        ("cubic-c", "cubic-c = 0.5", "\"cubic-ecn\""),
    ] {
        let says = format!("`{key}` in [transport] has no effect");
        warns(transport, &format!("{transport}\n{written}"), &says, with);
    }
    for (key, written) in [
        ("gro", "gro = true"),
        ("coalesce-packets", "coalesce-packets = 9"),
    ] {
        let says = format!("`{key}` in [host] has no effect");
        let host = format!("[host]\n{written}\n[transport]");
        warns("[transport]", &host, &says, "coalesce = \"20us\"");
    }
}

/// Queue pairs need a queue that marks; what a host of TCP does in bunches is not theirs.
#[test]
fn keys_that_queue_pairs_do_not_look_at() {
    let pairs = GOOD.replace("ack-every = 1", "control = \"dcqcn\"");
    assert_eq!(plan(&pairs).warnings, []);
    for (section, written, key) in [
        ("transport", "sack = true", "sack"),
        ("transport", "init-window = 9", "init-window"),
        ("transport", "g = 0.125", "g"),
        ("host", "tso = \"64KB\"", "tso"),
        ("host", "coalesce = \"20us\"", "coalesce"),
        ("host", "pacing = \"tcp\"", "pacing"),
    ] {
        let text = match section {
            "transport" => pairs.replace("[transport]", &format!("[transport]\n{written}")),
            _ => format!("{pairs}\n[{section}]\n{written}\n"),
        };
        let plan = plan(&text);
        let lines = plan.warning_lines();
        let says = format!("`{key}` in [{section}] has no effect");
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].contains(&says), "{lines:?}");
    }
    // Bunches of a host would hold up what an adapter sends: the same points, whatever [host] says.
    let bunches = plan(&format!("{pairs}\n[host]\ncoalesce = \"20us\"\n"));
    assert_eq!(bunches.points[0].digest, plan(&pairs).points[0].digest);

    let unmarked = plan(&pairs.replace("marker = \"ecn_sharp\"", "marker = \"none\""));
    let lines = unmarked.warning_lines();
    assert!(
        lines.len() == 1
            && lines[0].contains("`b` never marks, and DCQCN slows down for nothing else"),
        "{lines:?}"
    );
}

/// A key that one scheme or one point of a sweep looks at is there for it.
#[test]
fn a_key_that_something_looks_at_is_nobodys_mistake() {
    let switch = "buffer = \"600KB\"";
    let sweep = "[sweep]\n\"switch.buffer-policy\" = [\"port\", \"dynamic\"]\n";
    let both = GOOD.replace(switch, &format!("{switch}\nalpha = 2")) + sweep;
    assert_eq!(plan(&both).warnings, []);
    let own = GOOD.replace(
        "marker = \"ecn_sharp\"",
        "marker = \"ecn_sharp\"\n[scheme.transport]\ncontrol = \"cubic-ecn\"",
    );
    let own = own.replace("ack-every = 1", "ack-every = 1\ncubic-c = 0.5\ng = 0.125");
    assert_eq!(plan(&own).warnings, []);
}

#[test]
fn rounds_where_there_are_none() {
    warns(
        "marker = \"ecn_sharp\"",
        "marker = \"mq_ecn\"",
        "scheduler = \"fifo\" has no rounds: `b` takes every queue for the only one",
        "\"dwrr\"",
    );
    warns(
        "marker = \"ecn_sharp\"",
        "marker = \"ecn_sharp_lab\"\nby_round = true",
        "has no rounds: `b`",
        "\"dwrr\"",
    );
}

#[test]
fn schemes_that_never_mark() {
    warns(
        "\"65pkt\"",
        "\"600KB\"",
        "`a` never marks: k is 600KB, and a full buffer is 600KB or 480us of waiting (in 1 of 2 \
            points)",
        "a lower threshold",
    );
    warns(
        "marker = \"ecn_sharp\"",
        "marker = \"ecn_sharp\"\nins_target = \"1ms\"\npst_target = \"480us\"",
        "`b` never marks: pst_target is 480us",
        "a larger buffer",
    );
    warns(
        "marker = \"ecn_sharp\"",
        "marker = \"tcn\"\nthreshold = \"2ms\"",
        "`b` never marks: threshold is 2ms",
        "a lower threshold",
    );
    for marker in [
        "wred\"\nmin = \"600KB\"\nmax = \"700KB\"",
        "cedm\"\nk1 = \"700KB\"\nk2 = \"800KB\"",
        "dynamic\"\noffset = \"700KB\"\nfloor = \"650KB\"",
    ] {
        warns(
            "marker = \"ecn_sharp\"",
            &format!("marker = \"{marker}"),
            "`b` never marks: ",
            "a lower threshold",
        );
    }
}

#[test]
fn senders_without_ecn() {
    for control in ["reno", "cubic", "bbr"] {
        let text = GOOD.replace(
            "[transport]",
            &format!("[transport]\ncontrol = \"{control}\""),
        );
        // Nothing is written: drops are the only signal, and one warning says so for the run.
        let silent = plan(&text);
        let [one] = &silent.warning_lines()[..] else {
            panic!("{control}: {:?}", silent.warnings)
        };
        assert!(one.contains("the schemes drop the packets"), "{one}");
        assert!(
            silent
                .points
                .iter()
                .all(|p| p.config.switch.non_ect == NonEct::Drop)
        );
        // Said: forwarded, and then the schemes do nothing.
        let deaf = plan(&text.replace("[switch]", "[switch]\nnon-ect = \"forward\""));
        assert_eq!(deaf.warnings.len(), 2, "{control}: one a scheme");
        assert!(
            deaf.warning_lines()[0].contains("not ECN-capable"),
            "{:?}",
            deaf.warnings
        );
    }
}

/// Policy for packets without ECN, the same for the whole run: a scheme whose senders do not use
/// ECN is treated as the schemes whose senders do.
#[test]
fn packets_without_ecn_are_treated_alike_in_a_whole_run() {
    let policies = |text: &str| -> Vec<NonEct> {
        let points = plan(text).points;
        points.iter().map(|p| p.config.switch.non_ect).collect()
    };
    let red = GOOD.replace("\"ecn_sharp\"", "\"red\"");
    assert_ne!(red, GOOD);
    assert_eq!(policies(&red), [NonEct::Forward; 2], "RED is no exception");
    let overrides = Overrides {
        added: vec![AddedMarker::new(crate::own::OBJECT)],
        ..Overrides::default()
    };
    let own_marker = parse(&red, "own.toml", &overrides).expect("a plan");
    let all: Vec<NonEct> = own_marker
        .points
        .iter()
        .map(|p| p.config.switch.non_ect)
        .collect();
    assert_eq!(
        all,
        [NonEct::Forward; 3],
        "nor is a marker of one's own in its place"
    );
    let mixed = red.replace("\"red\"", "\"red\"\ntransport = { control = \"reno\" }");
    assert_eq!(
        policies(&mixed),
        [NonEct::Forward; 2],
        "one sender uses ECN"
    );
    let own = red.replace("\"red\"", "\"red\"\nswitch = { non-ect = \"drop\" }");
    assert_eq!(
        policies(&own),
        [NonEct::Forward, NonEct::Drop],
        "a key decides"
    );
    let swept = format!("{red}\n[sweep]\n\"transport.control\" = [\"reno\", \"dctcp\"]\n");
    assert_eq!(
        policies(&swept),
        [NonEct::Forward; 4],
        "axes are part of the run"
    );
}

#[test]
fn flows_that_never_start() {
    warns(
        "[topology]",
        "max-time = \"20ms\"\n[topology]",
        "the last of the measured flows of `poisson` start only at about 43",
        "a longer max-time",
    );
    let incast = "[[workload]]\nkind = \"incast\"\nsenders = 3\nreceiver = 0\nsize = \
        \"10KB\"\nevery = \"1s\"\n";
    warns(
        "[topology]",
        &format!("max-time = \"100s\"\n{incast}repeat = 200\n\n[topology]"),
        "the run ends at 100s, but the last of the queries of `incast` start only at about 199s",
        "a longer max-time",
    );
    // Without a max-time a slow arrival of flows gets the time that it needs.
    let slow = GOOD
        .replace("load = 0.5", "load = 0.001")
        .replace("flows = 100", "flows = 3000");
    let slow = plan(&slow);
    assert_eq!(slow.warnings, []);
    assert_eq!(slow.points[0].config.max_time, Picos(1_000_000_000_000_000));
    let enough = GOOD.replace(
        "[transport]",
        &format!("{incast}repeat = 100\n\n[transport]"),
    );
    assert_eq!(plan(&enough).warnings, []);
}

/// Warnings of a sweep: each appears once, whatever number of points it concerns.
#[test]
fn a_sweep_warns_once() {
    let text = format!("{GOOD}\n[sweep]\n\"switch.buffer\" = [\"90KB\", \"95KB\", \"600KB\"]\n");
    let plan = plan(&text);
    let lines = plan.warning_lines();
    assert_eq!(plan.points.len(), 6);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("`a` never marks") && lines[0].contains("(in 2 of 6 points)"));
    assert!(
        lines[1].contains("`b` never marks: pst_target is 85us"),
        "{lines:?}"
    );
}
