// SPDX-License-Identifier: MIT OR Apache-2.0
//! Estimates know when a run ends, who shares a link, and how many packets an acknowledgement
//! answers. `crates/figures/tests/costs.rs` compares estimates with measured runs.

use cemark_scenario::{Overrides, Plan, parse};

/// A star of four hosts at 10 Gb/s with these workloads and other sections.
fn plan(rest: &str, set: &[&str]) -> Plan {
    let text = format!(
        "max-time = \"1s\"\nseeds = [1]\n[topology]\nkind = \"star\"\nhosts = 4\n\
         rate = \"10Gbps\"\n\
         delay = \"1us\"\n{rest}\n\
         [[scheme]]\nmarker = \"threshold\"\nk = \"65pkt\"\n"
    );
    let mut overrides = Overrides::default();
    for option in set {
        overrides.add(option).expect("a path and a value");
    }
    parse(&text, "cost.toml", &overrides).unwrap_or_else(|e| panic!("{e}"))
}

fn hops(rest: &str, set: &[&str]) -> f64 {
    plan(rest, set).points.iter().map(|p| p.cost).sum()
}

/// Packet-hops in a number of seconds of a full link of 10 Gb/s, two links long, a packet
/// acknowledged one by one.
fn full(seconds: f64) -> f64 {
    seconds * 10e9 / 8.0 / 1500.0 * 4.0
}

fn near(got: f64, want: f64, within: f64) {
    assert!((got / want - 1.0).abs() < within, "{got} for {want}");
}

const ENDLESS: &str =
    "[[workload]]\nkind = \"long\"\npattern = \"pairs\"\npairs = [[0, 3], [1, 3], [2, 3]]\n";

#[test]
fn endless_flows_share_the_link_of_their_receiver() {
    near(hops(ENDLESS, &[]), full(1.0), 0.02);
    // Of different receivers each has its own.
    let apart = ENDLESS.replace("[[0, 3], [1, 3], [2, 3]]", "[[0, 3], [1, 2], [3, 0]]");
    near(hops(&apart, &[]), 3.0 * full(1.0), 0.02);
}

#[test]
fn a_run_ends_with_its_last_measured_flow() {
    let list = "[[workload]]\nkind = \"list\"\nflow = [{ src = 0, dst = 3, size = \"12.5MB\" }]\n";
    // Alone 10 ms; beside three endless flows four times as long, while the link is full all the
    // time.
    near(hops(list, &[]), full(0.0103), 0.1);
    near(hops(&format!("{ENDLESS}{list}"), &[]), full(0.0411), 0.1);
}

#[test]
fn a_held_load_lasts_until_the_last_flow_ends() {
    let load = "[[workload]]\nkind = \"poisson\"\nsizes = \"web-search\"\nload = 0.9\npairs = \
        \"all\"\nflows = 200\nwarmup = 0\n";
    let none = hops(&format!("{load}hold = \"0s\"\n"), &[]);
    let held = hops(load, &[]);
    assert!(held > 1.05 * none, "{held} against {none}");
    // Two hundred flows of 1.6 MB, two links, acknowledged.
    near(none, 200.0 * 1.64e6 / 1460.0 * 4.0, 0.2);
}

#[test]
fn bunches_are_answered_together() {
    let each = hops(ENDLESS, &[]);
    let host = "[host]\ncoalesce = \"20us\"\ngro = true\n";
    let some = hops(&format!("{ENDLESS}{host}"), &[]);
    // A third of the link's 17 packets in 20 us is a bunch.
    near(some / each, 0.5 * (1.0 + 3.0 / 16.7), 0.05);
    near(hops(ENDLESS, &["transport.ack-every=2"]) / each, 0.75, 0.02);
}

/// A flow over 10 ms that loses one packet in a hundred: the square-root law, whatever the link
/// could carry.
#[test]
fn losses_of_a_long_path_bound_a_flow() {
    let text = "max-time = \"10s\"\nseeds = [1]\n[topology]\nkind = \"two-sites\"\nleft = \
        1\nright = 1\nrate = \"10Gbps\"\ndelay = \"5us\"\nwan-delay = \"5ms\"\n\
        [[fault]]\nlinks = [\"wan0.0->wan1.0\"]\nrate = 0.01\n[[workload]]\nkind = \
        \"long\"\npattern = \"pairs\"\npairs = [[0, 1]]\n\
        [transport]\nrto-min = \"200ms\"\nreceive-window = \"64MB\"\n\
         [[scheme]]\nmarker = \"none\"\n";
    let of = |control: &str| {
        let mut overrides = Overrides::default();
        let set = format!("transport.control={control}");
        overrides.add(&set).expect("a path and a value");
        let plan = parse(text, "wide.toml", &overrides).unwrap_or_else(|e| panic!("{e}"));
        plan.points[0].cost
    };
    // A window of 12.2 packets each round trip, five links, acknowledged.
    near(of("reno"), 12.2 / 0.01 * 10.0 * 10.0, 0.1);
    assert!(of("bbr") > 100.0 * of("reno"), "BBR does not answer losses");
}

#[test]
fn memory_is_counted_once_for_every_point_that_runs_at_the_same_time() {
    let plan = plan(ENDLESS, &["switch.buffer=1MB,2MB,3MB"]);
    assert_eq!(plan.points.len(), 3);
    let more = |n: usize| plan.peak_bytes(n) - plan.peak_bytes(n - 1);
    // A run takes 50 MB in any case, and these points less.
    assert_eq!(plan.peak_bytes(1), 50e6);
    assert_eq!((more(2), plan.peak_bytes(3)), (0.0, plan.peak_bytes(99)));
    let large = plan_of_hosts(20_000);
    assert!(large.peak_bytes(2) - large.peak_bytes(1) > 0.9 * large.points[0].peak_bytes);
    // 72 MB were measured: 40,000 links, and half as many switch ports that are sampled.
    let alone = large.points[0].alone_bytes();
    assert!((55e6..90e6).contains(&alone), "{alone}");
}

/// Estimates of large fabrics count their dearer packet-hops, and connections that keep their
/// numbers until the end of the run.
#[test]
fn large_fabrics_and_many_flows_cost_more() {
    let seconds = |hosts: u32| {
        let mut point = plan_of_hosts(hosts).points.remove(0);
        point.samples = 0.0;
        point.cpu_seconds() / point.cost
    };
    // Five times the packet-hop of a small fabric was measured at 10,000 hosts.
    assert!((4.0..6.5).contains(&(seconds(10_000) / seconds(100))));
    let memory = |connections: &str| {
        let load = format!(
            "[[workload]]\nkind = \"poisson\"\nsizes = \"1KB\"\nload = 0.3\npairs = \
             \"all\"\nflows = 60000\nwarmup = 0\nconnections = \"{connections}\"\n\
             [measure]\nqueue-interval = \"0s\"\n"
        );
        plan(&load, &[]).points[0].peak_bytes
    };
    // 15 MB were measured for connections that keep their numbers after they have ended.
    let more = memory("fresh") - memory("persistent");
    assert!((10e6..30e6).contains(&more), "{more}");
}

fn plan_of_hosts(hosts: u32) -> Plan {
    let text = format!(
        "max-time = \"1ms\"\nseeds = [1, 2]\n[topology]\nkind = \"star\"\nhosts = {hosts}\nrate = \
            \"10Gbps\"\ndelay = \"1us\"\n\
         [[workload]]\nkind = \"list\"\nflow = [{{ src = 0, dst = 1, size = \"1KB\" \
         }}]\n[[scheme]]\nmarker = \"none\"\n"
    );
    parse(&text, "large.toml", &Overrides::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Samples of queues cost CPU time, of each port in each interval: here 1.3 and 13 million of
/// them, beside a flow of one packet.
#[test]
fn samples_of_queues_are_part_of_the_estimate() {
    let flow = "[[workload]]\nkind = \"list\"\n\
                flow = [{ src = 0, dst = 1, size = \"1KB\", at = \"990ms\" }]";
    let seconds = |interval: &str| {
        let plan = plan(flow, &["topology.hosts=1000", interval]);
        plan.points[0].cpu_seconds()
    };
    let some = seconds("measure.queue-interval=1ms");
    let many = seconds("measure.queue-interval=100us");
    near(many / some, 10.0, 0.2);
    assert!(many > 0.1, "{many}");
}
