// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[edge]` and `[[fault]]`: what they mean, and what is refused.

use cemark_edge::Clones;
use cemark_scenario::{Overrides, Plan, parse};
use cemark_sim::config::Edge;
use cemark_sim::faults::{ALWAYS, Loss, Victims};

const SITES: &str = r#"
max-time = "20ms"
[topology]
kind = "two-sites"
left = 2
right = 2
delay = "5us"
edge-delay = "1us"
wan-delay = "3ms"
[[workload]]
kind = "long"
pattern = "pairs"
pairs = [[0, 2]]
[[scheme]]
marker = "none"
"#;

fn plan(more: &str) -> Result<Plan, String> {
    parse(
        &format!("{SITES}{more}"),
        "test.toml",
        &Overrides::default(),
    )
    .map_err(|e| format!("{e:?} {e}"))
}

#[test]
fn the_stalled_queue_and_the_hold_follow_from_the_links() {
    let plan = plan("[edge]\nkind = 'dcib'\nrelease = 'in-order'").unwrap();
    let Edge::Dcib { config, filter, .. } = plan.points[0].config.edge else {
        panic!("not DCIB");
    };
    assert_eq!(filter, None);
    assert_eq!(config.tau.0, 6_004_000);
    // 0.1 x 6.004 ms x 10 Gb/s, and a third.
    assert_eq!(config.stalled_bytes, 1_000_666);
    assert_eq!(config.hold.map(|h| h.0), Some(15_010_000));
}

#[test]
fn keys_of_another_kind_are_said_once() {
    for (edge, says, help) in [
        ("kind = 'dcib'", None, ""),
        (
            "kind = 'dcib'\nrelease = 'in-order'\nhold = '9ms'",
            None,
            "",
        ),
        ("kind = 'dcib'\nhold = '9ms'", Some("`hold`"), "in-order"),
        (
            "kind = 'dcib'\nbuffer = '9MB'",
            Some("`buffer`"),
            "kind = \"pep\"",
        ),
        ("kind = 'pep'\nbuffer = '9MB'", None, ""),
        (
            "kind = 'pep'\nshare = 0.2",
            Some("`share`"),
            "kind = \"dcib\"",
        ),
        ("kind = 'pep'\nlanes = 8", Some("`lanes`"), "in-order"),
        (
            "kind = 'dcib'\nmost-copies = 3",
            Some("`most-copies`"),
            "restore",
        ),
        (
            "kind = 'dcib'\nrecovery = 'idle'\nreorder = '1us'",
            Some("`reorder`"),
            "evidence",
        ),
        (
            "kind = 'dcib'\nack-delay = '1us'",
            Some("`ack-delay`"),
            "ack-every",
        ),
    ] {
        let text = format!("[transport]\nrto-init = '1s'\n[edge]\n{edge}");
        let lines = plan(&text).unwrap().warning_lines();
        assert_eq!(
            lines.len(),
            usize::from(says.is_some()),
            "{edge}: {lines:?}"
        );
        for (line, key) in lines.iter().zip(says) {
            let says = format!("{key} in [edge] has no effect");
            assert!(
                line.contains(&says) && line.contains(help),
                "{edge}: {line}"
            );
        }
    }
}

/// Figure 7 of the DCIB paper as printed: nine tenths of the packets have copies.
#[test]
fn copies_of_the_others_need_a_larger_queue_and_leave_no_probes() {
    let plan_of = |edge: &str| plan(&format!("[edge]\nkind = 'dcib'\n{edge}"));
    let others = plan_of("clones = 'others'").unwrap();
    let Edge::Dcib { config, .. } = others.points[0].config.edge else {
        panic!("not dcib");
    };
    assert_eq!(config.clones, Clones::Others);
    // 0.9 x 6.004 ms x 10 Gb/s, and a third.
    assert_eq!(config.stalled_bytes, 9_006_000);
    let error = plan_of("clones = 'others'\nprobe-above = '1Gbps'").unwrap_err();
    assert!(error.contains("probes have no copy"), "{error}");
    assert!(plan_of("clones = 'selected'\nprobe-above = '1Gbps'").is_ok());
}

/// Other edges let flows keep their connections.
#[test]
fn persistent_connections_go_through_dcib() {
    let web = "[[workload]]\nname = 'web'\nkind = 'poisson'\nload = 0.1\nflows = 9\nsizes = \
        'web-search'\nconnections = 'persistent'";
    let plan = plan(&format!("[edge]\nkind = 'dcib'\n{web}")).unwrap();
    assert!(plan.points[0].config.workloads[1].persistent);
}

#[test]
fn a_fault_lies_on_the_links_it_names() {
    let one = plan("[[fault]]\nlinks = 'wan0.0->wan1.0'\nrate = 0.1").unwrap();
    assert_eq!(one.points[0].config.faults.len(), 1);
    let plan =
        plan("[[fault]]\nlinks = ['wan0.*']\nrate = 0.01\nburst = 5\nvictims = 'not-ect'").unwrap();
    let faults = &plan.points[0].config.faults;
    // Across, and down to the first site's edge.
    assert_eq!(faults.len(), 2);
    assert!(faults.iter().all(|f| f.victims == Victims::NotEct));
    let Loss::Bursty {
        enter, leave, bad, ..
    } = faults[0].loss
    else {
        panic!("not bursty");
    };
    assert_eq!((leave, bad), (ALWAYS / 5, ALWAYS));
    // One packet in a hundred within bursts: entered once for 99 packets outside and 5 inside.
    let share = enter as f64 / (enter + leave) as f64;
    assert!((share - 0.01).abs() < 1e-6, "{share}");
}

#[test]
fn mistakes_say_what_to_write() {
    for (more, says) in [
        (
            "[[fault]]\nlinks = ['wan']\nrate = 0.1",
            "no link of this fabric",
        ),
        (
            "[[fault]]\nlinks = ['wan0.0->wan1.0', 'wan0.*']\nrate = 0.1",
            "two faults",
        ),
        (
            "[[fault]]\nlinks = ['wan0.0->wan1.0']\nrate = 0.9\nburst = 1",
            "cannot make up this rate",
        ),
        (
            "[edge]\nkind = 'dcib'\nack-every = 4",
            "cannot acknowledge several",
        ),
        ("[edge]\nkind = 'dcib'\nlanes = 3", "power of two"),
        (
            "[edge]\nkind = 'dcib'\ntau = '0'",
            "below the round trip of the links (6.004ms)",
        ),
        (
            "[edge]\nkind = 'dcib'\nrelease = 'in-order'\nhold = '0'",
            "drops every packet that arrives late",
        ),
        (
            "[transport]\nmss = '65000B'\nheader = '500B'\n[switch]\nbuffer = '1MB'\n[edge]\nkind \
                = 'dcib'\nheader = '128B'",
            "65628 bytes long",
        ),
        (
            "[edge]\nkind = 'dcib'\nrecovery = 'low-priority'",
            "write recovery = \\\"idle\\\"",
        ),
        ("[[fault]]\nlinks = 'wan0.0->wan1.0'", "does nothing"),
        ("[[fault]]\nlinks = []\nrate = 0.1", "a fault of no link"),
        (
            "[[fault]]\nlinks = ['wan0.*->wan1.0']\nrate = 0.1",
            "matches the end of a name",
        ),
        (
            "[[fault]]\nlinks = ['wan0.0->wan1.0']\nloss = 0.1",
            "write rate = 0.05",
        ),
        (
            "[[fault]]\nlinks = ['wan0.0->wan1.0']\nrate = 0.1\nburst-loss = 0.5",
            "burst-loss without bursts",
        ),
        (
            "[[fault]]\nlinks = ['wan0.0->wan1.0']\nrate = 0\nburst = 5\nburst-loss = 0",
            "nothing is lost",
        ),
        (
            "[[fault]]\nlinks = ['wan0.0->wan1.0']\nrate = 0.1\nburst = '5ms'",
            "burst counts packets",
        ),
        (
            "[transport]\ncontrol = 'dcqcn'\nmin-rate = '1Tbps'",
            "no queue pair would ever slow down",
        ),
        (
            "[switch]\npfc = true\nbuffer-policy = 'shared'\npool = '4MB'\npfc-xoff = '100MB'",
            "no link ever reaches this XOFF",
        ),
        ("[edge]\nkind = 'dcib'\nshares = 0.1", "unknown key"),
        ("[edge]\nkind = 'dcib'\noutside = 3", "too large"),
        (
            "[edge]\nkind = 'pep'\n[[workload]]\nname = 'web'\nkind = 'poisson'\nload = \
                0.1\nflows = 9\nsizes = 'web-search'\nconnections = 'persistent'",
            "write connections = \\\"fresh\\\" with a pep",
        ),
    ] {
        let error = plan(more).expect_err(more);
        assert!(error.contains(says), "{more}: {error}");
    }
    let star = SITES.replace("two-sites", "dumbbell");
    let star = star.replace("edge-delay = \"1us\"\nwan-delay = \"3ms\"", "");
    let error = parse(
        &format!("{star}[edge]\nkind = 'dcib'"),
        "test.toml",
        &Overrides::default(),
    );
    assert!(format!("{:?}", error.unwrap_err()).contains("two sites"));
}
