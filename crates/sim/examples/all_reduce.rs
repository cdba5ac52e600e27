// SPDX-License-Identifier: MIT OR Apache-2.0
//! A ring all-reduce, as training jobs run it: a workload that a program brings along, whose flows
//! start because others have ended.
//!
//! Each of n hosts cuts its vector into n parts. In each of 2 (n - 1) steps every host sends one
//! part to its neighbour, as soon as it has received the part of the step before.

use std::sync::Arc;

use cemark_sim::config::MarkerChoice;
use cemark_sim::topology::{Star, Topology};
use cemark_sim::workload::{
    Burst, ClassMap, Draft, Facts, Kind, Own, Seat, Sending, Sends, Source, Workload,
};
use cemark_sim::{Config, run};
use cemark_wire::{Picos, Rate};

/// The first hosts of a fabric, in a ring.
#[derive(Debug)]
struct AllReduce {
    hosts: u32,
    /// Bytes of a part.
    part: u64,
    at: Picos,
}

impl AllReduce {
    fn steps(&self) -> u32 {
        2 * (self.hosts - 1)
    }
}

impl Sends for AllReduce {
    fn facts(&self, topology: &Topology) -> Facts<'_> {
        // A step takes at least the time of a part on a host's link.
        let step = Picos::from(topology.host_rate().nanos_for(self.part));
        let sends = move |(step_number, src)| Burst {
            at: Picos(self.at.0 + u64::from(step_number) * step.0),
            ..Burst::of_one(self.at, src, (src + 1) % self.hosts, self.part)
        };
        let steps = (0..self.steps()).flat_map(|s| (0..self.hosts).map(move |host| (s, host)));
        Facts {
            measured: u64::from(self.steps()) * u64::from(self.hosts),
            drawn: self.hosts.into(),
            waits: true,
            ..Facts::new("parts", Sending::Bursts(Box::new(steps.map(sends))))
        }
    }

    fn source(&self, _: &Seat<'_>) -> Box<dyn Source> {
        Box::new(Ring {
            hosts: self.hosts,
            part: self.part,
            at: self.at,
            last_step: self.steps() - 1,
            next: 0,
        })
    }
}

/// Flow `step * hosts + host` is what `host` sends in a step.
struct Ring {
    hosts: u32,
    part: u64,
    at: Picos,
    last_step: u32,
    /// Next host of the first step.
    next: u32,
}

impl Ring {
    fn flow(&self, step: u32, host: u32, start: Picos) -> Draft {
        Draft {
            place: Some(u64::from(step * self.hosts + host)),
            ..Draft::new(start, host, (host + 1) % self.hosts, self.part)
        }
    }
}

impl Source for Ring {
    fn next(&mut self) -> Option<Draft> {
        let host = self.next;
        self.next += 1;
        (host < self.hosts).then(|| self.flow(0, host, self.at))
    }

    fn completed(&mut self, place: u64, now: Picos) -> Vec<Draft> {
        let (step, host) = (place as u32 / self.hosts, place as u32 % self.hosts);
        match step == self.last_step {
            true => Vec::new(),
            false => vec![self.flow(step + 1, (host + 1) % self.hosts, now)],
        }
    }
}

fn config(hosts: u32, part: u64) -> Config {
    let all_reduce = AllReduce {
        hosts,
        part,
        at: Picos::from_micros(10),
    };
    let workload = Workload {
        name: "all-reduce".to_owned(),
        kind: Kind::Own(Own(Arc::new(all_reduce))),
        class: ClassMap::Fixed(0),
        persistent: false,
        transport: None,
    };
    let star = Star {
        hosts: 8,
        rate: Rate::gbps(100),
        delay: Picos::from_micros(1),
    };
    let end = Picos::from_micros(100_000);
    Config::new(star, vec![workload], MarkerChoice::None, end)
}

fn main() {
    let outcome = run(&config(8, 1_000_000));
    let ends = outcome
        .flows
        .iter()
        .filter_map(|flow| Some(flow.start + flow.fct?));
    let whole = ends.max().unwrap_or(Picos::ZERO);
    println!(
        "{} flows, the last ends at {} us",
        outcome.flows.len(),
        whole.0 / 1_000_000
    );
}

#[test]
fn each_part_starts_when_the_part_of_the_step_before_has_come() {
    let outcome = run(&config(5, 40_000));
    assert_eq!(outcome.flows.len(), 8 * 5);
    for (place, flow) in (0..).zip(&outcome.flows) {
        let (step, host) = (place / 5, place % 5);
        assert_eq!(
            (flow.id, flow.src, flow.dst),
            (place, host as u32, (host as u32 + 1) % 5)
        );
        if step == 0 {
            assert_eq!(flow.start, Picos::from_micros(10));
            continue;
        }
        let before = &outcome.flows[((step - 1) * 5 + (host + 4) % 5) as usize];
        let end = before.start + before.fct.expect("the flow has ended");
        assert_eq!(flow.start, end);
    }
}

#[test]
fn a_point_with_it_is_not_divided_and_says_why() {
    let obstacle = cemark_sim::shards::obstacle(&config(4, 125_000));
    let said = "some of its flows start because others have ended";
    assert_eq!(obstacle, Some(said));
}

#[test]
fn estimates_know_its_flows() {
    let config = config(4, 125_000);
    let facts = config.workloads[0].kind.facts(&config.topology);
    assert_eq!((facts.measured, facts.flows()), (24, 24));
    let Sending::Bursts(bursts) = facts.sending else {
        panic!("parts start at estimated times");
    };
    // 1 Mbit takes 10 us on a link of 100 Gbit/s.
    assert_eq!(bursts.map(|b| b.at).max(), Some(Picos::from_micros(60)));
}
