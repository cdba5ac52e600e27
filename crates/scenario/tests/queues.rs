// SPDX-License-Identifier: MIT OR Apache-2.0
//! Switches with several queues: what is read, and mistakes with their places.

use cemark_scenario::{Error, Overrides, parse};
use cemark_sim::config::{
    Buffering, NonEct, Pfc, Policy, QueueConfig, SchedulerKind, SwitchConfig, Xoff,
};
use cemark_transport::rdma::{ALPHA_ONE, Dcqcn, Rdma, Retransmit};
use cemark_wire::{Nanos, Picos, Rate};

/// A scenario with these lines from line 13 on, line 12 being `[switch]`.
fn text(switch: &str, class: &str) -> String {
    format!(
        r#"max-time = "1ms"
[topology]
kind = "star"
hosts = 4

[[workload]]
kind = "long"
{class}

[[scheme]]
marker = "threshold"
[switch]
{switch}
"#
    )
}

fn read(switch: &str) -> SwitchConfig {
    let plan = parse(&text(switch, ""), "s.toml", &Overrides::default())
        .unwrap_or_else(|e| panic!("{switch}: {e}"));
    plan.points[0].config.switch.clone()
}

fn fails(switch: &str, class: &str) -> Error {
    match parse(&text(switch, class), "s.toml", &Overrides::default()) {
        Ok(_) => panic!("this should not be accepted: {switch} {class}"),
        Err(error) => error,
    }
}

#[test]
fn queues_alike_or_one_by_one() {
    let s = read("scheduler = \"dwrr\"\nqueues = 8\nquantum = \"3KB\"");
    assert_eq!(s.scheduler, SchedulerKind::Dwrr);
    let alike = QueueConfig {
        quantum: 3000,
        ..QueueConfig::PLAIN
    };
    assert_eq!(s.queues, vec![alike; 8]);

    let s = read(
        "scheduler = \"WFQ\"\nqueue = [{ strict = true }, { weight = 3, bytes = \"10KB\" }, { \
            lossless = true, quantum = \"100B\" }]",
    );
    assert_eq!(s.scheduler, SchedulerKind::Wfq);
    assert_eq!(
        s.queues,
        [
            QueueConfig {
                strict: true,
                ..QueueConfig::PLAIN
            },
            QueueConfig {
                weight: 3,
                limit_bytes: 10_000,
                ..QueueConfig::PLAIN
            },
            QueueConfig {
                lossless: true,
                quantum: 100,
                ..QueueConfig::PLAIN
            },
        ]
    );
    for (word, kind) in [
        ("sp", SchedulerKind::StrictPriority),
        ("wrr", SchedulerKind::Wrr),
    ] {
        assert_eq!(
            read(&format!("queues = 2\nscheduler = \"{word}\"")).scheduler,
            kind
        );
    }
    assert_eq!(read("").queues, [QueueConfig::PLAIN]);
    assert_eq!(read("").buffering, Buffering::PORT);
}

#[test]
fn buffers_and_rounds() {
    let s = read(
        "buffer-policy = \"dynamic\"\nalpha = 0.25\npool = \"2MB\"\nheadroom = \
            \"50KB\"\nround-beta = 0.5\nround-idle = \"12us\"",
    );
    assert_eq!(
        s.buffering,
        Buffering {
            policy: Policy::Dynamic { alpha: 16_384 },
            pool_bytes: 2_000_000,
            headroom: 50_000
        }
    );
    assert_eq!((s.round.beta, s.round.idle), (32_768, Some(Nanos(12_000))));
    // What is not given out is shared equally.
    let s = read(
        "buffer = \"100KB\"\nbuffer-policy = \"static\"\nscheduler = \"sp\"\n\
         queue = [{ bytes = \"40KB\" }, {}, {}]",
    );
    let limits: Vec<u32> = s.queues.iter().map(|q| q.limit_bytes).collect();
    assert_eq!(limits, [40_000, 30_000, 30_000]);
}

#[test]
fn mistakes_have_their_place_and_their_remedy() {
    for (switch, place, says, help) in [
        (
            "queues = 8",
            "13:10",
            "the scheduler `fifo` serves one queue",
            "dwrr",
        ),
        (
            "queues = 8\nscheduler = \"fifo\"",
            "14:13",
            "the scheduler `fifo` serves one queue",
            "scheduler = \"dwrr\"",
        ),
        (
            "queue = [{}, {}]",
            "13:",
            "the scheduler `fifo` serves one queue",
            "keep one queue",
        ),
        ("queues = 0", "13:10", "0 is too small", "1 to 64"),
        ("queues = 65", "13:10", "65 is too large", "1 to 64"),
        (
            "scheduler = \"drr\"",
            "13:13",
            "`drr` is not known",
            "did you mean `dwrr`",
        ),
        (
            "scheduler = \"dwrr\"\nqueues = 2\nqueue = [{}]",
            "14:10",
            "the queues are given in two ways",
            "[[switch.queue]]",
        ),
        (
            "scheduler = \"dwrr\"\nqueues = 2\nquantum = \"1499B\"",
            "15:11",
            "a quantum of less than a full packet",
            "1500B",
        ),
        (
            "scheduler = \"wrr\"\nqueue = [{ quantum = \"40B\" }, {}]",
            "14:22",
            "a quantum of less than a full packet",
            "1500B",
        ),
        (
            "scheduler = \"wfq\"\nqueue = [{ weight = 0 }, {}]",
            "14:21",
            "0 is too small",
            "1 to 1000000",
        ),
        (
            "scheduler = \"wfq\"\nqueue = [{ wieght = 2 }, {}]",
            "14:12",
            "unknown key `wieght` in [[switch.queue]]",
            "did you mean `weight`",
        ),
        (
            "buffer-policy = \"dyn\"",
            "13:17",
            "`dyn` is not known",
            "dynamic",
        ),
        ("alpha = 0", "13:9", "0 is out of range", "0.001 to 1000"),
        (
            "alpha = nan",
            "13:9",
            "NaN is out of range",
            "0.001 to 1000",
        ),
        ("pool = \"5GB\"", "13:8", "out of range", "4294967295"),
        (
            "buffer = \"10KB\"\nheadroom = \"10KB\"",
            "14:12",
            "headroom leaves nothing of the buffer",
            "10000 bytes",
        ),
        (
            "buffer = \"10KB\"\nbuffer-policy = \"static\"\nscheduler = \"sp\"\nqueue = [{ bytes \
                = \"9KB\" }, { bytes = \"2KB\" }]",
            "14:17",
            "the queues ask for 11000 bytes of a buffer of 10000",
            "larger buffer",
        ),
        ("round-beta = 1.5", "13:14", "1.5 is out of range", "0 to 1"),
        ("round-idle = 3", "13:14", "`3` has no unit", "us"),
    ] {
        let error = fails(switch, "");
        let line = error.to_string();
        assert!(line.starts_with(&format!("s.toml:{place}")), "{line}");
        assert!(line.contains(says), "{line}");
        let advice = error.help_text().unwrap_or_default();
        assert!(advice.contains(help), "{line}: help: {advice}");
    }
}

#[test]
fn a_class_beyond_the_queues_is_a_mistake() {
    for (class, place, n) in [
        ("class = 2", "8:9", 3),
        ("class-weights = [1, 1, 1]", "8:17", 3),
        ("class-bounds = [\"10KB\", \"20KB\", \"30KB\"]", "8:16", 4),
    ] {
        let error = fails("scheduler = \"dwrr\"\nqueues = 2", class);
        let line = error.to_string();
        assert!(line.starts_with(&format!("s.toml:{place}: ")), "{line}");
        assert!(
            line.contains(&format!("{n} classes, but a port has 2 queues")),
            "{line}"
        );
        let advice = error.help_text().unwrap_or_default();
        assert!(advice.contains(&format!("queues = {n}")), "{advice}");
    }
    // As many classes as queues are fine.
    let ok = text(
        "scheduler = \"sp\"\nqueues = 2",
        "class-bounds = [\"140KB\"]",
    );
    assert!(parse(&ok, "s.toml", &Overrides::default()).is_ok());
}

#[test]
fn a_sweep_may_go_through_schedulers_and_policies() {
    let sweep = format!(
        "{}[sweep]\n\"switch.scheduler\" = [\"dwrr\", \"wrr\", \"wfq\", \
            \"sp\"]\n\"switch.buffer-policy\" = [\"port\", \"static\", \"shared\", \"dynamic\"]\n",
        text(
            "scheduler = \"dwrr\"\nqueues = 4\nquantum = \"1500B\"\nalpha = 2\npool = \"1MB\"",
            "class = \"by-pair\""
        )
    );
    let plan = parse(&sweep, "s.toml", &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(plan.points.len(), 16);
    let mut digests: Vec<u64> = plan.points.iter().map(|p| p.digest).collect();
    digests.dedup();
    assert_eq!(digests.len(), 16);
}

#[test]
fn flow_control_and_its_thresholds() {
    let lossless = |s: &SwitchConfig| s.queues.iter().map(|q| q.lossless).collect::<Vec<_>>();
    let s = read("pfc = true\nbuffer-policy = \"dynamic\"\npool = \"16MB\"");
    let usual = s.pfc.expect("it is on");
    assert_eq!(usual, Pfc::default());
    assert_eq!(lossless(&s), [true], "no queue is chosen: all");
    let s = read(
        "pfc = true\nbuffer-policy = \"shared\"\nscheduler = \"dwrr\"\nqueue = [{ lossless = true \
            }, {}]\npfc-xoff = \"100KB\"\npfc-xon-offset = \"2KB\"\npfc-headroom = \
            \"40KB\"\npfc-storm = \"5%\"\npfc-reaction = \"600ns\"",
    );
    assert_eq!(lossless(&s), [true, false]);
    let own = Pfc {
        xoff: Xoff::Bytes(100_000),
        xon_offset: 2_000,
        headroom: 40_000,
        reaction: Picos::from_nanos(600),
        storm: 0.05,
    };
    assert_eq!(s.pfc, Some(own));
    assert_eq!(
        read("pfc = true\nbuffer-policy = \"shared\"\npfc-alpha = 0.5")
            .pfc
            .map(|p| p.xoff),
        Some(Xoff::Dynamic { alpha: 1 << 15 })
    );
    // Off: the keys are allowed, and nothing becomes lossless.
    let off = read("pfc = false\npfc-alpha = 0.5");
    assert_eq!((off.pfc, lossless(&off)), (None, vec![false]));
    // Drops are the signal for senders without ECN, but not where nothing may be lost.
    let reno = |pfc: &str| {
        let text = text(&format!("buffer-policy = \"shared\"\n{pfc}"), "");
        let text = format!("{text}\n[transport]\ncontrol = \"reno\"\n");
        let plan = parse(&text, "s.toml", &Overrides::default()).expect("a scenario");
        plan.points[0].config.switch.non_ect
    };
    assert_eq!(
        (reno(""), reno("pfc = true")),
        (NonEct::Drop, NonEct::Forward)
    );
}

#[test]
fn mistakes_with_flow_control() {
    let e = fails("pfc = true", "");
    assert!(
        e.to_string().contains("every port has a buffer of its own"),
        "{e}"
    );
    let e = fails("pfc = 3", "");
    assert!(e.to_string().contains("true"), "{e}");
    let e = fails(
        "pfc = true\nbuffer-policy = \"shared\"\nheadroom = \"10KB\"",
        "",
    );
    assert!(e.to_string().contains("headroom of its own"), "{e}");
    // Drawn base RTTs and pauses go together.
    let drawn = text("pfc = true\nbuffer-policy = \"shared\"", "")
        + "[rtt]\nmodel = \"fixed\"\nrtt = \"100us\"\n";
    assert!(parse(&drawn, "s.toml", &Overrides::default()).is_ok());
}

#[test]
fn queue_pairs_have_the_papers_parameters_and_yours() {
    let rdma = |keys: &str| {
        let text = text("", "") + "[transport]\n" + keys;
        let plan =
            parse(&text, "s.toml", &Overrides::default()).unwrap_or_else(|e| panic!("{keys}: {e}"));
        plan.points[0].config.transport.rdma
    };
    assert_eq!(rdma("control = \"dctcp\"\nrate-ai = \"50Mbps\""), None);
    assert_eq!(rdma("control = \"dcqcn\""), Some(Rdma::default()));
    let usual = Rdma::default();
    let own = Rdma {
        dcqcn: Dcqcn {
            g: ALPHA_ONE / 16,
            alpha_init: ALPHA_ONE / 2,
            alpha_timer: Nanos::from_micros(1),
            rate_timer: Nanos::from_micros(300),
            byte_counter: 0,
            fast_recovery: 1,
            rate_ai: Rate::mbps(50),
            rate_hai: Rate::mbps(100),
            min_rate: Rate::mbps(1),
            clamp_target: false,
            decrease_interval: Nanos::from_micros(4),
            timer_hyper: true,
            window_by_rate: true,
        },
        retransmit: Retransmit::Selective,
        cnp_gap: Nanos::from_micros(4),
        cnp_class: Some(0),
    };
    assert_ne!(own, usual);
    assert_eq!(
        rdma(
            "control = \"dcqcn\"\ndcqcn-g = 0.0625\ndcqcn-alpha-init = 0.5\n\
             alpha-timer = \"1us\"\nrate-timer = \"300us\"\nbyte-counter = 0\nfast-recovery = 1\n\
             rate-ai = \"50Mbps\"\nrate-hai = \"100Mbps\"\nmin-rate = \"1Mbps\"\n\
             clamp-target = false\ndecrease-interval = \"4us\"\ntimer-hyper = true\n\
             window-by-rate = true\n\
             repair = \"selective\"\ncnp-gap = \"4us\"\ncnp-class = 0"
        ),
        Some(own)
    );
}

/// A published sender brings its parameters, its notifications and its window; what the file writes
/// goes before, and TCP ignores it.
#[test]
fn a_published_sender_is_a_preset() {
    let plan = |keys: &str| {
        let text = text("", "") + "[transport]\nmss = \"1000B\"\n" + keys;
        parse(&text, "s.toml", &Overrides::default()).unwrap_or_else(|e| panic!("{keys}: {e}"))
    };
    let transport = |keys: &str| plan(keys).points[0].config.transport.clone();
    let usual = transport("control = \"dcqcn\"");
    assert_eq!(transport("control = \"dcqcn\"\npreset = \"dcqcn\""), usual);
    let windowed = transport("control = \"dcqcn\"\npreset = \"hpcc-window\"");
    let rdma = windowed.rdma.expect("queue pairs");
    assert_eq!(rdma.cnp_gap, Nanos::from_micros(1));
    assert_eq!(rdma.dcqcn.decrease_interval, Nanos::from_micros(4));
    assert_eq!(rdma.dcqcn.min_rate, Rate::mbps(1_000));
    assert!(rdma.dcqcn.window_by_rate && rdma.dcqcn.timer_hyper);
    let plan_of = plan("control = \"dcqcn\"\npreset = \"hpcc-window\"");
    let topology = &plan_of.points[0].config.topology;
    assert_eq!(windowed.receive_window, topology.bandwidth_delay(1_000));
    assert!(windowed.receive_window < usual.receive_window);
    let line = "DCQCN sender hpcc-window: HPCC's simulator, simulation/run.py, `dcqcn_vwin`";
    assert!(
        plan_of.presets[0].starts_with(line),
        "{:?}",
        plan_of.presets
    );
    let own = transport(
        "control = \"dcqcn\"\npreset = \"hpcc-window\"\ncnp-gap = \"7us\"\n\
         receive-window = \"1MB\"\nrate-ai = \"5Mbps\"",
    );
    let rdma = own.rdma.expect("queue pairs");
    assert_eq!(
        (rdma.cnp_gap, own.receive_window),
        (Nanos(7_000), 1_000_000)
    );
    assert_eq!(rdma.dcqcn.rate_ai, Rate::mbps(5));
    // Under a scheme with DCTCP the preset changes nothing.
    let tcp = plan("control = \"dctcp\"\npreset = \"hpcc-window\"");
    assert_eq!(
        tcp.points[0].config.transport,
        transport("control = \"dctcp\"")
    );
    assert!(tcp.presets.is_empty());
    let e = parse(
        &(text("", "") + "[transport]\ncontrol = \"dcqcn\"\npreset = \"hpc\"\n"),
        "s.toml",
        &Overrides::default(),
    )
    .expect_err("no sender");
    assert!(e.to_string().contains("`hpc` is not known here"), "{e}");
}

/// ABM and Reverie have the constants of the authors' simulator, and keys of the other policy are
/// idle.
#[test]
fn abm_and_reverie_are_buffer_policies() {
    let plan = |keys: &str| {
        let text = text(keys, "");
        parse(&text, "s.toml", &Overrides::default()).unwrap_or_else(|e| panic!("{keys}: {e}"))
    };
    let policy = |keys: &str| plan(keys).points[0].config.switch.buffering.policy;
    assert_eq!(
        policy("buffer-policy = \"abm\"\nalpha = 0.5"),
        Policy::Abm {
            alpha: 1 << 15,
            interval: Nanos::from_micros(30),
            congested: 20_480,
        }
    );
    assert_eq!(
        policy("buffer-policy = \"reverie\"\ncongested-bytes = \"10KB\""),
        Policy::Reverie {
            alpha: 1 << 16,
            gamma: 64_881,
            congested: 10_000,
        }
    );
    let idle = plan("buffer-policy = \"reverie\"\nabm-interval = \"20us\"").warnings;
    let said = idle.iter().map(|w| w.message.clone()).collect::<Vec<_>>();
    assert!(said.iter().any(|w| w.contains("abm-interval")), "{said:?}");
    let text = text("buffer-policy = \"abm\"\nabm-interval = \"0s\"", "");
    let e = parse(&text, "s.toml", &Overrides::default()).expect_err("no interval");
    assert!(e.to_string().contains("no rate"), "{e}");
}
