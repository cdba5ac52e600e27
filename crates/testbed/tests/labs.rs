// SPDX-License-Identifier: MIT OR Apache-2.0
//! Labs of points, their traffic, refusals, and outcomes from records.

use cemark_marking::{Values, catalogue};
use cemark_sim::config::{MarkerChoice, Nic, QueueConfig, SchedulerKind};
use cemark_sim::topology::{Dumbbell, LeafSpine, Star};
use cemark_sim::workload::{
    Arrivals, ClassMap, Kind, Long, LongFlows, Pairs, Poisson, RttModel, SizeTable, Workload,
};
use cemark_sim::{Config, Outcome};
use cemark_testbed::{BANDS, Lab, PortCount, Record, check, discrete, host, port};
use cemark_transport::Control;
use cemark_transport::cc::dctcp::DctcpConfig;
use cemark_wire::{Picos, Rate};

fn workload(kind: Kind) -> Workload {
    Workload {
        name: "one".to_owned(),
        kind,
        class: ClassMap::Fixed(0),
        persistent: false,
        transport: None,
    }
}

fn endless() -> Workload {
    workload(Kind::Long(Long {
        flows: LongFlows::Pairs(vec![(0, 2), (1, 2)]),
        at: Picos::ZERO,
        stagger: Picos::ZERO,
        jitter: Picos::ZERO,
    }))
}

fn sharp() -> MarkerChoice {
    let scheme = catalogue::find("ecn_sharp").expect("a scheme");
    MarkerChoice::Builtin {
        scheme,
        values: Values::defaults(scheme),
    }
}

/// Three hosts at 200 Mb/s and 10 us a link.
fn star(workloads: Vec<Workload>) -> Config {
    let star = Star {
        hosts: 3,
        rate: Rate::mbps(200),
        delay: Picos::from_micros(10),
    };
    let mut config = Config::new(star, workloads, sharp(), Picos::from_micros(20_000));
    config.rtt = RttModel::Fixed(Picos::from_micros(240));
    config
}

fn lab(config: &Config) -> (Lab, Outcome) {
    let simulated = cemark_sim::run(config);
    (Lab::new(config, &simulated).expect("a lab"), simulated)
}

fn line<'a>(lab: &'a Lab, netns: &str, begins: &str) -> &'a str {
    let all = lab.links.iter().chain(&lab.qdiscs);
    let mut lines = all.filter(|b| b.netns == netns).flat_map(|b| &b.lines);
    lines
        .find(|l| l.starts_with(begins))
        .unwrap_or_else(|| panic!("{begins} in {netns}: {lab:#?}"))
}

#[test]
fn a_path_takes_as_long_as_in_the_simulator() {
    let (lab, _) = lab(&star(vec![endless()]));
    // Data: two links of 10 us, two transmissions of 1500 bytes in 60 us, and 200 us that the flow
    // draws beyond the 40 of its path. ACKs: 20 us, and 40 bytes in 1.6 us twice.
    assert_eq!(lab.endless[0].flow.band, 1);
    let data = line(&lab, "cemark-s0", "qdisc add dev lag parent 1:2 ");
    assert!(data.contains("delay 340.000us"), "{data}");
    assert_eq!(lab.endless[0].flow.back, 0);
    let acks = line(&lab, "cemark-s0", "qdisc add dev lag parent 1:1 ");
    assert!(acks.contains("delay 23.200us"), "{acks}");
}

#[test]
fn ports_and_hosts_have_what_the_scenario_says() {
    let mut config = star(vec![endless()]);
    config.transport.ack_every = 2;
    config.switch.scheduler = SchedulerKind::Dwrr;
    config.switch.queues = vec![QueueConfig::PLAIN; 3];
    config.switch.queues[1].quantum = 4500;
    let (lab, _) = lab(&config);
    let port = line(&lab, "cemark-s0", "qdisc replace dev p2 root");
    for part in [
        "stab overhead -14 cemark scheme ecn_sharp",
        "ins_target 200000ns",
        "rate 200000000bit shaper 100% burst 150b",
        "queues 3 scheduler dwrr by dscp strict 0 quanta 1500 4500 1500",
        "round_beta 0.75",
    ] {
        assert!(port.contains(part), "{part}: {port}");
    }
    let nic = line(&lab, &host(0), "qdisc replace dev eth0 root");
    assert!(nic.contains("scheme threshold k 4294967295b"), "{nic}");
    let route = line(&lab, &host(2), "route add default");
    assert!(route.ends_with("initcwnd 10 rto_min 5ms"), "{route}");
    assert_eq!(lab.ports.len(), 3);
    assert_eq!(lab.controls, ["dctcp"]);
    // A SYN of 40 bytes is 1460 shorter than a full segment: on two links of 40 ns a byte.
    assert_eq!(lab.endless[0].flow.early, 2 * 1460 * 40);
}

/// The value of a setting of a host.
fn setting<'a>(lab: &'a Lab, netns: &str, path: &str) -> &'a str {
    let mut all = lab.settings.iter().filter(|s| s.netns == netns);
    let found = all.find(|s| s.path == path);
    &found.unwrap_or_else(|| panic!("{path} of {netns}")).value
}

#[test]
fn controllers_of_workloads_are_those_of_their_sockets() {
    let own = |control| Workload {
        name: "two".to_owned(),
        transport: Some(Box::new(
            cemark_transport::Config::default().under(&control),
        )),
        ..endless()
    };
    // One that does not use ECN: hosts grant it to DCTCP, which asks by itself.
    let (mixed, _) = lab(&star(vec![endless(), own(Control::CUBIC)]));
    assert_eq!(mixed.controls, ["dctcp", "cubic"]);
    let of: Vec<u8> = mixed.endless.iter().map(|e| e.flow.control).collect();
    assert_eq!(of, [0, 0, 1, 1]);
    assert_eq!(setting(&mixed, &host(0), "ipv4/tcp_ecn"), "2");
    let routes = |lab: &Lab, to: &str| {
        let lines = lab.links.iter().filter(|b| b.netns == host(0));
        lines
            .flat_map(|b| b.lines.clone())
            .filter(|l| l.contains(to))
            .collect::<Vec<String>>()
    };
    assert!(routes(&mixed, "features ecn").is_empty());
    // All use ECN: all ask for it.
    let (echo, _) = lab(&star(vec![endless(), own(Control::CUBIC_ECN)]));
    assert_eq!(setting(&echo, &host(0), "ipv4/tcp_ecn"), "1");
    // What does not ask by itself does so by its route, which another host has not.
    let mut three = star(vec![endless(), own(Control::ECN_STAR), own(Control::RENO)]);
    let pairs = |p: (u32, u32)| {
        Kind::Long(Long {
            flows: LongFlows::Pairs(vec![p]),
            at: Picos::ZERO,
            stagger: Picos::ZERO,
            jitter: Picos::ZERO,
        })
    };
    (three.workloads[1].kind, three.workloads[2].kind) = (pairs((0, 2)), pairs((1, 2)));
    let (three_lab, _) = lab(&three);
    assert_eq!(three_lab.controls, ["dctcp", "reno", "reno"]);
    assert_eq!(
        routes(&three_lab, "features ecn"),
        [
            "route add 10.77.0.3/32 dev eth0 src 10.77.0.1 initcwnd 10 rto_min 5ms quickack 1 \
             features ecn"
        ]
    );
    // Listeners have the port of their controller, and its lowest bits are the band.
    assert_eq!(port(1, 3) & 15, 3);
    assert_ne!(port(1, 3), port(0, 3));
    // Between the same hosts a route cannot tell them apart.
    three.workloads[2].kind = pairs((0, 2));
    let e = check(&three).expect_err("both on one route");
    assert_eq!(e.key, "workload.control");
    assert!(e.value.contains("host 0 to 2"), "{e}");
}

#[test]
fn a_dumbbell_has_two_switches_and_marks_in_the_middle() {
    let mut config = star(vec![endless()]);
    config.topology = Dumbbell {
        left: 2,
        right: 1,
        host_rate: Rate::mbps(200),
        middle_rate: Rate::mbps(100),
        host_delay: Picos::from_micros(10),
        middle_delay: Picos::from_micros(30),
    }
    .into();
    let (lab, simulated) = lab(&config);
    let middle = line(&lab, "cemark-s0", "qdisc replace dev middle root");
    assert!(middle.contains("rate 100000000bit"), "{middle}");
    line(&lab, "cemark-s1", "route add default dev middle");
    line(&lab, "cemark-s1", "qdisc replace dev p2 root");
    assert_eq!(lab.ports.len(), simulated.ports.len());
    // The longest queue is in front of the slow link.
    let longest = &simulated.ports[lab.sampled[0]].name;
    assert_eq!(lab.ports[lab.sampled[0]].1, "middle", "{longest}");
}

#[test]
fn the_flows_are_those_of_the_simulator() {
    let sizes = SizeTable {
        name: "two".to_owned(),
        rows: vec![(1000.0, 0.0), (1000.0, 0.5), (9000.0, 1.0)],
    };
    let poisson = Workload {
        persistent: true,
        class: ClassMap::BySender(2),
        ..workload(Kind::Poisson(Poisson {
            sizes,
            load: 0.4,
            pairs: Pairs::ToOne(2),
            flows: 200,
            warmup: 20,
            hold: Picos::MAX,
            arrivals: Arrivals::default(),
        }))
    };
    let mut config = star(vec![poisson]);
    config.max_time = Picos::from_micros(10_000_000);
    config.rtt = discrete(&RttModel::Variation {
        lo: Picos::from_micros(80),
        hi: Picos::from_micros(240),
    });
    let (lab, simulated) = lab(&config);
    let sent: Vec<_> = lab.flows.iter().filter(|f| f.measured).collect();
    assert_eq!(sent.len(), simulated.flows.len());
    for (ours, theirs) in sent.iter().zip(&simulated.flows) {
        assert_eq!(
            (ours.id, ours.src, ours.dst, ours.bytes, ours.class),
            (
                theirs.id,
                theirs.src,
                theirs.dst,
                theirs.bytes,
                theirs.class
            )
        );
        assert_eq!(ours.start, theirs.start.to_nanos().0);
    }
    // A single segment spares what it lacks on both links, more than one only on one of them.
    let spare = |bytes: u64| sent.iter().find(|f| f.bytes == bytes).map(|f| f.spare);
    assert_eq!(spare(1000), Some(2 * 460 * 40));
    let long = sent.iter().find(|f| f.bytes > 1460).expect("a long one");
    assert_eq!(long.spare, (1460 - (long.bytes - 1) % 1460 - 1) * 40);
    // The load is held after the last measured flow.
    let last = sent.last().expect("flows").id;
    assert!(lab.flows.iter().any(|f| f.id > last));
    let bands: std::collections::BTreeSet<u8> = lab.flows.iter().map(|f| f.band).collect();
    assert_eq!(bands.len(), BANDS - 1);
    assert!(!lab.ready.is_empty());
    let text = serde_json::to_string(&lab).expect("JSON");
    assert_eq!(serde_json::from_str::<Lab>(&text).expect("a lab"), lab);
}

#[test]
fn what_a_kernel_cannot_do_is_named_with_its_value() {
    type Change = fn(&mut Config);
    let refused: [(&str, &str, Change); 8] = [
        ("topology.kind", "\"leaf-spine\"", |c| {
            c.topology = LeafSpine {
                leaves: 2,
                spines: 1,
                hosts_per_leaf: 2,
                host_rate: Rate::gbps(1),
                uplink_rate: Rate::gbps(1),
                host_delay: Picos::ZERO,
                uplink_delay: Picos::ZERO,
            }
            .into();
        }),
        ("switch.scheduler", "\"wfq\"", |c| {
            c.switch.scheduler = SchedulerKind::Wfq;
        }),
        ("scheme.marker", "\"ecn_sharp_lab\"", |c| {
            let scheme = catalogue::find("ecn_sharp_lab").expect("a scheme");
            c.switch.marker = MarkerChoice::Builtin {
                scheme,
                values: Values::defaults(scheme),
            };
        }),
        ("switch.pfc", "true", |c| {
            c.switch.pfc = Some(cemark_sim::config::Pfc::default());
        }),
        ("transport.header", "44B", |c| c.transport.header_bytes = 44),
        ("transport.g", "0.5", |c| {
            let control = cemark_transport::Control::of(c.transport.control.spec());
            c.transport.control = control.with(DctcpConfig {
                g_shift: 1,
                ..DctcpConfig::default()
            });
        }),
        ("transport.ack-every", "4", |c| c.transport.ack_every = 4),
        ("host.nic", "\"fifo\" or \"switch-port\"", |c| {
            c.nic = Nic::Fifo
        }),
    ];
    assert_eq!(check(&star(vec![endless()])), Ok(()));
    for (key, value, change) in refused {
        let mut config = star(vec![endless()]);
        change(&mut config);
        let e = check(&config).expect_err(key);
        assert_eq!((e.key.as_str(), e.value.as_str()), (key, value));
        assert!(!e.instead.is_empty());
    }
}

#[test]
fn a_record_becomes_an_outcome() {
    let config = star(vec![endless()]);
    let (_, simulated) = lab(&config);
    let said = |packets: u64| {
        serde_json::json!({
            "packets_sent": packets, "bytes_sent": packets * 1500, "waited_ns": packets * 50,
            "mark_reasons": {"instant": packets / 10, "persistent": packets / 5},
            "drop_reasons": {"limit": 3, "scheme": 0, "not_ect": 0},
        })
    };
    let port = PortCount {
        from: said(100),
        until: said(300),
        end: said(400),
        samples: vec![1500, 3000, 0, 1500],
    };
    let record = Record {
        ports: vec![PortCount::default(), PortCount::default(), port],
        end: 20_000_000,
        timeouts: 2,
        ..Record::default()
    };
    let out = record.outcome(&config, &simulated);
    assert_eq!(out.ports[2].packets, 400);
    assert_eq!((out.ports[2].marks, out.ports[2].drops), (120, 3));
    assert_eq!((out.totals.all_marks(), out.totals.all_drops()), (120, 3));
    assert_eq!(
        (out.ports[2].queue.mean, out.ports[2].queue.max),
        (1500.0, 3000.0)
    );
    // 200 packets of 1500 bytes in 20 ms of 200 Mb/s.
    assert!((out.ports[2].utilisation - 0.6).abs() < 1e-9);
    assert_eq!(out.totals.timeouts, 2);
    assert_eq!(out.long_flows.len(), simulated.long_flows.len());
}
