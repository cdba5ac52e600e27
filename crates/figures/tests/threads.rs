// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every kind of run has the same digest on one thread and on two, and in any number of shards: a
//! small form of each topology with each transport, and, with `CEMARK_THREADS=all`, every built-in
//! scenario and every quick figure (`cargo xtask proof threads` for some points of each, `cargo
//! xtask proof threads-all` for all). What cannot be divided is listed here with its reason, and
//! the lists fail where they are no longer true.

use std::collections::BTreeMap;

use cemark_figures::{CALIBRATION, Calibration, FIGURES, FigureFile, Mode};
use cemark_scenario::{Overrides, Plan, builtins, load, parse};
use cemark_sim::topology::Topology;
use cemark_sim::{Config, run, shards};

/// A small fabric of each kind.
const FABRICS: &[(&str, &str)] = &[
    ("star", "hosts = 6"),
    ("dumbbell", "left = 3\nright = 3"),
    ("leaf-spine", "leaves = 3\nspines = 2\nhosts-per-leaf = 3"),
    ("fat-tree", "k = 4"),
    ("two-sites", "left = 3\nright = 3\nwan-delay = \"200us\""),
    ("ring", "switches = 4\nhosts-per-switch = 2"),
    (
        "clos",
        "pods = 2\nedges-per-pod = 2\naggs-per-pod = 2\ncores-per-agg = 1\nhosts-per-edge = 2",
    ),
];

/// Each transport, and switches that suit it.
const TRANSPORTS: &[(&str, &str)] = &[
    ("dctcp", ""),
    ("reno", "rack = true"),
    ("cubic", "sack = false"),
    ("ecn-star", "handshake = true"),
    ("bbr", ""),
    (
        "dcqcn",
        "[switch]\npfc = true\nbuffer-policy = \"dynamic\"\npool = \"1MB\"",
    ),
    (
        "dctcp",
        "[switch]\nscheduler = \"dwrr\"\n[[switch.queue]]\n[[switch.queue]]",
    ),
    (
        "dctcp",
        "[switch]\nbuffer-policy = \"dynamic\"\npool = \"600KB\"",
    ),
];

fn small(fabric: (&str, &str), transport: (&str, &str), workload: &str) -> Config {
    let incast = if workload.contains("persistent") {
        workload
    } else {
        ""
    };
    let flows = if workload.contains("flows") {
        ""
    } else {
        "flows = 20"
    };
    let text = format!(
        "max-time = \"15ms\"\nseeds = [3]\n[topology]\nkind = \"{}\"\nrate = \"10Gbps\"\n\
         delay = \"3us\"\n{}\n[[workload]]\nkind = \"poisson\"\nsizes = \"web-search\"\n\
         load = 0.5\n{flows}\npairs = \"all\"\n{workload}\n[[workload]]\nkind = \"incast\"\n\
         senders = 4\nreceiver = 0\nsize = \"40KB\"\nat = \"200us\"\nrepeat = 2\n\
         every = \"2ms\"\n{incast}\n[transport]\ncontrol = \"{}\"\n{}\n\
         [[scheme]]\nmarker = \"threshold\"\nk = \"40pkt\"\n",
        fabric.0, fabric.1, transport.0, transport.1
    );
    let plan = parse(&text, "small.toml", &Overrides::default());
    let plan = plan.unwrap_or_else(|e| panic!("{e}\n{text}"));
    plan.points[0].config.clone()
}

/// Compares the digest of this number of shards, on at most two threads, with that of a whole run.
fn compare(name: &str, config: &Config, shards: &[u32]) {
    let whole = run(config).digest;
    for &n in shards {
        let divided = shards::run(config, n, n.min(2), &mut |_| true);
        let digest = divided.expect("no report abandons it").digest;
        assert_eq!(whole, digest, "{name} in {n} shards");
    }
}

#[test]
fn small_forms_of_each_topology_and_transport() {
    let known: Vec<&str> = Topology::ALL.iter().map(|t| t.name).collect();
    let here: Vec<&str> = FABRICS.iter().map(|f| f.0).collect();
    assert_eq!(here, known, "a topology without a small form");
    for spec in cemark_transport::cc::catalogue::ALL {
        let tried = TRANSPORTS.iter().any(|(name, _)| *name == spec.name);
        assert!(
            tried || spec.name == "cubic-ecn",
            "{} is not tried",
            spec.name
        );
    }
    for fabric in FABRICS {
        for transport in TRANSPORTS {
            let config = small(*fabric, *transport, "");
            let name = format!("{} with {transport:?}", fabric.0);
            assert_eq!(shards::obstacle(&config), None, "{name}");
            assert!(shards::most_shards(&config) > 1, "{name}");
            compare(&name, &config, &[2]);
        }
        let config = small(*fabric, TRANSPORTS[0], "connections = \"persistent\"");
        compare(&format!("{}, persistent", fabric.0), &config, &[2]);
        let config = small(*fabric, ("dctcp", "[measure]\nfct = \"closed\""), "");
        compare(&format!("{}, closed", fabric.0), &config, &[2]);
    }
}

const PAUSES_AND_RTTS: &str = "[switch]\npfc = true\nbuffer-policy = \"dynamic\"\npool = \"1MB\"\n\
                               [rtt]\nmodel = \"variation\"\nmin = \"40us\"\nmax = \"90us\"";

/// Configurations that are not divided, with the words for the reason. A configuration that can be
/// divided by now belongs into the test above.
#[test]
fn what_runs_whole_says_why() {
    let leaf_spine = FABRICS[2];
    let sites = FABRICS[4];
    let persistent = "connections = \"persistent\"";
    let dctcp = TRANSPORTS[0];
    for (name, config, why) in [
        (
            "very many flows",
            small(leaf_spine, dctcp, "flows = 1100000\nwarmup = 0"),
            "it has more than a million flows",
        ),
        (
            "middleboxes",
            small(sites, ("dctcp", "[edge]\nkind = \"dcib\""), ""),
            "it has middleboxes between two sites",
        ),
        (
            "RTTs and pauses with persistent connections",
            small(leaf_spine, ("dcqcn", PAUSES_AND_RTTS), persistent),
            "its connections are persistent, with RTTs of their flows and pauses",
        ),
    ] {
        assert_eq!(shards::obstacle(&config), Some(why), "{name}");
        compare(name, &config, &[2]);
    }
}

/// The built-in scenarios and figures that run whole, and why.
const WHOLE: &[(&str, &str)] = &[
    ("figure dcib-10", "it has middleboxes between two sites"),
    ("figure dcib-11", "it has middleboxes between two sites"),
    ("figure dcib-12", "it has middleboxes between two sites"),
    ("figure dcib-13", "it has middleboxes between two sites"),
];

fn figures() -> impl Iterator<Item = (String, Plan)> {
    let calibration = Calibration::parse(CALIBRATION).expect("the committed file");
    FIGURES.iter().filter_map(move |(id, text)| {
        let file = FigureFile::parse(id, text, &calibration).expect("the committed file");
        let none = Overrides::default();
        let plan = file.plan(Mode::Quick, &calibration, None, &none);
        Some((format!("figure {id}"), plan.expect("a plan")?))
    })
}

fn all() -> impl Iterator<Item = (String, Plan)> {
    let one = Overrides {
        seeds: Some(1),
        ..Overrides::default()
    };
    let of = move |name: &str| load(name, &one).expect("a built-in");
    let built_in = builtins().map(move |b| (format!("run {}", b.name), of(b.name)));
    built_in.chain(figures())
}

/// Why points of a plan run whole: each reason, with the number of points.
fn reasons(plan: &Plan) -> BTreeMap<&'static str, usize> {
    let mut reasons = BTreeMap::new();
    for reason in plan
        .distinct()
        .iter()
        .filter_map(|p| shards::obstacle(&p.config))
    {
        *reasons.entry(reason).or_default() += 1;
    }
    reasons
}

#[test]
fn the_list_of_what_runs_whole_is_true() {
    let mut found = Vec::new();
    for (name, plan) in all() {
        for (why, _) in reasons(&plan) {
            found.push((name.clone(), why));
        }
    }
    let found: Vec<(&str, &str)> = found.iter().map(|(n, w)| (n.as_str(), *w)).collect();
    assert_eq!(found, WHOLE);
}

/// Points of every built-in scenario and quick figure: 2, 3 and 8 shards on two threads. Names
/// after `CEMARK_THREADS=` choose some. All points take many hours; `CEMARK_THREADS_HOPS=1e7`
/// takes the points of each that cost least, up to this many estimated packet-hops, and one at
/// least.
#[test]
fn every_scenario_and_figure_on_request() {
    let Ok(asked) = std::env::var("CEMARK_THREADS") else {
        return;
    };
    let most: f64 = std::env::var("CEMARK_THREADS_HOPS").map_or(f64::INFINITY, |hops| {
        hops.parse().expect("a number of packet-hops")
    });
    let chosen = |name: &str| asked == "all" || asked.split(',').any(|a| name.ends_with(a));
    let mut plans = 0;
    for (name, plan) in all().filter(|(name, _)| chosen(name)) {
        let mut points = plan.distinct();
        points.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        let (mut divided, mut hops) = (0, 0.0);
        for (i, point) in points.iter().enumerate() {
            hops += point.cost;
            if i > 0 && hops > most {
                break;
            }
            if shards::obstacle(&point.config).is_none() {
                compare(&format!("{name}, point {i}"), &point.config, &[2, 3, 8]);
                divided += 1;
            }
        }
        let whole: Vec<String> = reasons(&plan)
            .iter()
            .map(|(why, n)| format!(", {n} whole: {why}"))
            .collect();
        println!(
            "{name}: {divided} of {} points equal in 1, 2, 3 and 8 shards{}",
            points.len(),
            whole.concat()
        );
        plans += 1;
    }
    assert!(plans > 0, "CEMARK_THREADS={asked} chooses nothing");
}
