// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parameters that change in mid-run: what a retune changes, and what it leaves alone.

use crate::common::{config, permutation, scheme, us, web};
use cemark_marking::{At, Hook, Marker, QueueSpec, Verdict, Why, catalogue};
use cemark_sim::config::{Config, MarkerChoice, Nic, Policy, QueueConfig, SchedulerKind};
use cemark_sim::retune::BadRetune;
use cemark_sim::topology::{Form, LeafSpine, Topology};
use cemark_sim::{
    LinkId, Outcome, Retune, Stepped, Watch, run, run_on_heap, run_with_observer, shards,
};
use cemark_wire::{Picos, Rate};
use std::sync::{Arc, OnceLock};

fn at(time: u64, params: &[(&'static str, u64)]) -> Retune {
    Retune {
        at: us(time),
        links: None,
        queue: None,
        params: params.to_vec(),
    }
}

/// The numbers of an outcome that its digest is made of, and a few more.
fn numbers(outcome: &Outcome) -> (u64, u64, u64, u64) {
    let totals = &outcome.totals;
    (
        outcome.digest,
        outcome.packet_hops,
        totals.all_marks(),
        totals.all_drops(),
    )
}

/// Outcome of a run whose ports all keep real queues. At the end of a run a fused port has counted
/// packets that have yet to leave, so digests are compared within one form; flows are equal in
/// both.
fn queued(config: &Config) -> Outcome {
    let mut queued = config.clone();
    queued.switch.never_fuse = true;
    let outcome = run(&queued);
    assert_eq!(outcome.flows, run(config).flows);
    outcome
}

/// Every scheme of the catalogue with its defaults, on one queue and behind a scheduler, and what
/// it gives in [`queued`].
fn every_scheme() -> &'static [(String, Config, Outcome)] {
    static ALL: OnceLock<Vec<(String, Config, Outcome)>> = OnceLock::new();
    ALL.get_or_init(|| {
        let with_outcome = |(name, config)| {
            let outcome = queued(&config);
            (name, config, outcome)
        };
        configs().into_iter().map(with_outcome).collect()
    })
}

fn configs() -> Vec<(String, Config)> {
    let mut all = Vec::new();
    for spec in catalogue::ALL {
        let one = config(vec![web(0.6, 12)], scheme(spec.name, &[]));
        let mut queues = one.clone();
        queues.switch.scheduler = SchedulerKind::Dwrr;
        queues.switch.queues = vec![QueueConfig::PLAIN; 3];
        queues.switch.buffering.policy = Policy::Dynamic { alpha: 1 << 16 };
        all.push((format!("{}, one queue", spec.name), one));
        all.push((format!("{}, three queues", spec.name), queues));
    }
    all
}

#[test]
fn a_retune_to_the_same_values_changes_nothing() {
    for (name, plain, outcome) in every_scheme() {
        let MarkerChoice::Builtin { scheme, values } = &plain.switch.marker else {
            unreachable!("a scheme of the catalogue")
        };
        let same = scheme.params.iter().enumerate();
        let same: Vec<_> = same.map(|(i, p)| (p.name, values.get(i))).collect();
        let mut tuned = plain.clone();
        tuned.retunes = [0, 300, 1_000, 1_001, 7_777]
            .map(|time| at(time, &same))
            .into();
        assert_eq!(numbers(&run(&tuned)), numbers(outcome), "{name}");
    }
}

#[test]
fn from_the_first_instant_on_it_is_the_scheme_with_these_values() {
    for (name, params) in [
        ("threshold", &[("k", 15_000)][..]),
        ("tcn", &[("threshold", 12_000)]),
        (
            "ecn_sharp",
            &[
                ("ins_target", 20_000),
                ("pst_target", 5_000),
                ("pst_interval", 50_000),
            ],
        ),
        ("red", &[("kmin", 5_000), ("kmax", 20_000)]),
        ("codel", &[("target", 5_000), ("interval", 50_000)]),
    ] {
        let built = config(vec![web(0.6, 40)], scheme(name, params));
        let usual = config(vec![web(0.6, 40)], scheme(name, &[]));
        let mut tuned = usual.clone();
        tuned.retunes = vec![at(0, params)];
        let (tuned, built) = (run(&tuned), queued(&built));
        assert_eq!(numbers(&tuned), numbers(&built), "{name}");
        assert_ne!(
            numbers(&tuned),
            numbers(&run(&usual)),
            "{name}: it changes nothing"
        );
    }
}

/// Marks by a limit on the length until an instant, and by another from then on.
struct Changing {
    at: u64,
    before: u32,
    after: u32,
    hook: Hook,
}

impl Changing {
    fn judge(&self, at: &At) -> Verdict {
        let (value, limit) = match self.hook {
            Hook::Enqueue => (at.queue_bytes + at.pkt_bytes, [self.before, self.after]),
            _ => (at.sojourn.0 as u32, [self.before, self.after]),
        };
        if value > limit[usize::from(at.now.0 >= self.at)] {
            Verdict::Mark(Why::Instant)
        } else {
            Verdict::Pass
        }
    }
}

impl Marker for Changing {
    fn hook(&self) -> Hook {
        self.hook
    }

    fn enqueue(&mut self, at: &At) -> Verdict {
        self.judge(at)
    }

    fn dequeue(&mut self, at: &At) -> Verdict {
        self.judge(at)
    }
}

/// A marker that had the values from an instant on, and before it others, decides as one that is
/// retuned at that instant: also for packets that wait then.
#[test]
fn from_its_instant_on_it_is_a_marker_with_the_new_values() {
    for (name, param, hook, before, after) in [
        ("threshold", "k", Hook::Enqueue, 60_000, 9_000),
        ("tcn", "threshold", Hook::Dequeue, 40_000, 7_000),
    ] {
        for time in [1_000, 4_321] {
            let make = move |_: &QueueSpec| -> Box<dyn Marker> {
                let at = time * 1_000;
                Box::new(Changing {
                    at,
                    before,
                    after,
                    hook,
                })
            };
            let own = MarkerChoice::Custom(Arc::new(make));
            let mut changing = config(vec![web(0.7, 60), permutation()], own);
            changing.max_time = us(8_000);
            let mut tuned = changing.clone();
            tuned.switch.marker = scheme(name, &[(param, u64::from(before))]);
            let unchanged = run(&tuned);
            tuned.retunes = vec![at(time, &[(param, u64::from(after))])];
            let (tuned, changing) = (run(&tuned), queued(&changing));
            assert_eq!(numbers(&tuned), numbers(&changing), "{name} at {time} us");
            assert_ne!(
                numbers(&tuned),
                numbers(&unchanged),
                "{name}: it changes nothing"
            );
        }
    }
}

#[test]
fn a_later_change_is_laid_over_an_earlier_one_of_the_same_port() {
    let plain = config(vec![web(0.7, 40)], scheme("red", &[]));
    let mut one = plain.clone();
    one.retunes = vec![at(500, &[("kmin", 5_000)]), at(500, &[("kmax", 20_000)])];
    let mut both = plain.clone();
    both.retunes = vec![at(500, &[("kmin", 5_000), ("kmax", 20_000)])];
    assert_eq!(numbers(&run(&one)), numbers(&run(&both)));
    let mut first = plain;
    first.retunes = vec![at(500, &[("kmin", 5_000)])];
    assert_ne!(numbers(&run(&one)), numbers(&run(&first)));
}

#[test]
fn only_the_named_ports_change() {
    let mut tuned = config(vec![web(0.7, 60)], scheme("threshold", &[("k", 300_000)]));
    let fabric = tuned.topology.fabric();
    let port = fabric.matching("leaf0->host1")[0];
    tuned.retunes = vec![Retune {
        at: us(100),
        links: Some(vec![port.0]),
        queue: None,
        params: vec![("k", 3_000)],
    }];
    let outcome = run(&tuned);
    let marking = outcome.ports.iter().filter(|p| p.marks > 0);
    let names: Vec<&str> = marking.map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["leaf0->host1"]);
}

#[test]
fn ports_of_hosts_that_mark_change_too() {
    let mut tuned = config(vec![web(0.7, 60)], scheme("threshold", &[("k", 300_000)]));
    tuned.nic = Nic::SwitchPort;
    let mut built = tuned.clone();
    built.switch.marker = scheme("threshold", &[("k", 9_000)]);
    tuned.retunes = vec![at(0, &[("k", 9_000)])];
    assert_eq!(numbers(&run(&tuned)), numbers(&queued(&built)));
}

#[test]
fn cores_and_shards_agree() {
    for (name, first, second) in [
        ("threshold", ("k", 9_000), ("k", 30_000)),
        ("tcn", ("threshold", 8_000), ("threshold", 20_000)),
        ("ecn_sharp", ("ins_target", 20_000), ("pst_target", 3_000)),
        ("pie", ("target", 5_000), ("t_update", 9_000)),
    ] {
        let mut tuned = config(vec![web(0.6, 60)], scheme(name, &[]));
        tuned.retunes = vec![at(700, &[first]), at(2_000, &[second])];
        assert_eq!(shards::obstacle(&tuned), None);
        let whole = numbers(&run(&tuned));
        assert_eq!(numbers(&run_on_heap(&tuned)), whole, "{name}");
        for (parts, threads) in [(2, 1), (3, 2)] {
            let outcome = shards::run(&tuned, parts, threads, &mut |_| true).expect("it ends");
            assert_eq!(
                numbers(&outcome),
                whole,
                "{name}: {parts} shards, {threads} threads"
            );
        }
    }
}

fn watch(config: &Config, pattern: &str, interval: u64) -> Watch {
    Watch {
        links: config.topology.fabric().matching(pattern),
        interval: us(interval),
        samples: 8,
    }
}

/// Every port of a switch.
fn switches(config: &Config, interval: u64) -> Watch {
    let all = watch(config, "*", interval);
    let hosts = config.topology.hosts();
    let links = all.links.into_iter().filter(|l| l.0 >= hosts).collect();
    Watch { links, ..all }
}

#[test]
fn who_only_looks_changes_nothing_and_misses_nothing() {
    for (name, plain, outcome) in every_scheme() {
        let mut run = Stepped::new(plain, &switches(plain, 250));
        let (mut sums, mut flows, mut end) = ([0; 4], 0, Picos::ZERO);
        while !run.is_over() {
            let seen = run.step();
            assert_eq!(seen.from, end, "{name}");
            end = seen.until;
            flows += seen.ended.len();
            for port in &seen.ports {
                let counts = [port.packets, port.bytes, port.marks, port.drops];
                sums.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
                assert!((0.0..=1.0).contains(&port.utilisation), "{name}: {port:?}");
                assert!(
                    f64::from(port.max_bytes) >= port.mean_bytes,
                    "{name}: {port:?}"
                );
            }
        }
        let mut wanted = [0; 4];
        for p in &outcome.ports {
            let counts = [p.packets, p.bytes, p.marks, p.drops];
            wanted.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
        }
        assert_eq!(sums, wanted, "{name}");
        assert_eq!(
            flows,
            outcome.flows.iter().filter(|f| f.fct.is_some()).count(),
            "{name}"
        );
        assert_eq!(end, outcome.end, "{name}");
        assert_eq!(numbers(&run.finish()), numbers(outcome), "{name}");
    }
}

#[test]
fn what_an_observer_answers_is_a_retune_at_the_end_of_the_interval() {
    let plain = config(vec![web(0.7, 60)], scheme("tcn", &[("threshold", 90_000)]));
    let mut planned = plain.clone();
    planned.retunes = vec![
        at(750, &[("threshold", 8_000)]),
        at(1_500, &[("threshold", 30_000)]),
    ];
    let watch = switches(&plain, 750);
    let mut intervals = 0;
    let outcome = run_with_observer(&plain, &watch, &mut |_| {
        intervals += 1;
        let value = match intervals {
            1 => 8_000,
            2 => 30_000,
            _ => return Vec::new(),
        };
        vec![(watch.links.clone(), vec![("threshold".to_owned(), value)])]
    });
    assert_eq!(
        numbers(&outcome.expect("good values")),
        numbers(&run(&planned))
    );
}

#[test]
fn a_long_flow_fills_the_link_that_is_watched() {
    let mut long = config(vec![permutation()], scheme("threshold", &[("k", 30_000)]));
    long.max_time = us(10_000);
    let mut run = Stepped::new(&long, &watch(&long, "leaf0->host0", 2_000));
    run.step();
    let seen = run.step();
    let port = seen.ports[0];
    // 10 Gb/s for 2 ms.
    let full = 2.5e6;
    let share = port.bytes as f64 / full;
    assert!((share - port.utilisation).abs() < 0.01, "{share} {port:?}");
    assert!(port.utilisation > 0.3, "{port:?}");
}

#[test]
fn what_cannot_be_changed_is_refused_and_changes_nothing() {
    let plain = config(vec![web(0.5, 50)], scheme("ecn_sharp", &[]));
    let all = watch(&plain, "leaf*->host*", 500);
    let mut run = Stepped::new(&plain, &all);
    let port = all.links[0];
    let before = run.values(port).expect("a scheme").1;
    let hook = before.get(
        catalogue::find("ecn_sharp")
            .unwrap()
            .index_of("hook")
            .unwrap(),
    );
    for (link, params, wanted) in [
        (port, vec![("k", 5)], "no parameter `k`"),
        (port, vec![("ins_target", u64::MAX)], "out of its range"),
        (
            port,
            vec![("pst_target", 1_000), ("hook", 1 - hook)],
            "hook",
        ),
        (LinkId(0), vec![("ins_target", 5_000)], "no marker"),
    ] {
        let why = run.retune(&[link], &params).expect_err(wanted).to_string();
        assert!(why.contains(wanted), "{why}");
    }
    assert_eq!(run.values(port).expect("a scheme").1, before);
    let none = config(vec![web(0.5, 50)], MarkerChoice::None);
    let mut run = Stepped::new(&none, &all);
    assert_eq!(run.retune(&[port], &[("k", 1)]), Err(BadRetune::NoScheme));
    assert!(run.values(port).is_none());
}

#[test]
fn a_threshold_written_for_half_the_rate_is_twice_as_long() {
    let twice = config(vec![web(0.7, 60)], scheme("threshold", &[("k", 60_000)]));
    let mut written = config(vec![web(0.7, 60)], scheme("threshold", &[("k", 30_000)]));
    written.switch.threshold_rate = Some(Rate::gbps(5));
    assert_eq!(numbers(&queued(&written)), numbers(&queued(&twice)));
    assert_ne!(numbers(&queued(&written)).2, 0, "nothing was marked");

    // A later value is one of the same rate.
    let (mut from, mut to) = (written, twice);
    from.retunes = vec![at(500, &[("k", 10_000)])];
    to.retunes = vec![at(500, &[("k", 20_000)])];
    assert_eq!(numbers(&queued(&from)), numbers(&queued(&to)));
}

#[test]
fn only_ports_of_another_rate_have_other_thresholds() {
    let mut cfg = config(vec![web(0.7, 60)], scheme("threshold", &[("k", 30_000)]));
    let plain = numbers(&run(&cfg));
    cfg.switch.threshold_rate = Some(Rate::gbps(10));
    assert_eq!(numbers(&run(&cfg)), plain);
    let Form::LeafSpine(fabric) = cfg.topology.form().clone() else {
        panic!("leaves and spines");
    };
    cfg.topology = Topology::from(LeafSpine {
        uplink_rate: Rate::gbps(40),
        ..fabric
    });
    let scaled = numbers(&run(&cfg));
    cfg.switch.threshold_rate = None;
    assert!(
        scaled.2 <= numbers(&run(&cfg)).2,
        "longer thresholds mark more"
    );
}
