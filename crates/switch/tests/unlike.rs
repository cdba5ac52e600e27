// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ports whose queues have different schemes, against the oracle's answers (`vectors/port.toml`):
//! when each packet leaves, which are marked, and the last round.

use std::path::Path;

use cemark_marking::{Kind, QueueSpec, SchemeSpec, Values, catalogue};
use cemark_switch::AnyMarker;
use cemark_switch::sched::SchedulerKind;
use cemark_wire::Ecn;
use cemark_wire::hash::{Fnv1a, GOLDEN};
use toml::{Table, Value};

use crate::common::{NS, Rig, queue};

/// xorshift64*: the upper 32 bits.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) % n
    }
}

fn number(table: &Table, key: &str, usual: u64) -> u64 {
    table.get(key).map_or(usual, |value| {
        u64::try_from(value.as_integer().expect("a number")).expect("not below zero")
    })
}

fn values(spec: &SchemeSpec, said: &Table) -> Values {
    let mut values = Values::defaults(spec);
    for (name, value) in said {
        let place = spec.params.iter().position(|p| p.name == name);
        let place = place.unwrap_or_else(|| panic!("{} has no {name}", spec.name));
        values.0[place] = match (value, spec.params[place].kind) {
            (Value::String(word), Kind::Choice(words)) => {
                words.iter().position(|w| w == word).expect("a word") as u64
            }
            (value, _) => u64::try_from(value.as_integer().expect("a number")).expect("a count"),
        };
    }
    values
}

fn spec_of(said: &Table) -> QueueSpec {
    let strict = said
        .get("strict")
        .is_some_and(|s| s.as_bool() == Some(true));
    queue(number(said, "quantum", 1_500) as u32, 1, strict)
}

fn marker(said: &Table) -> AnyMarker {
    let Some(name) = said.get("scheme").map(|s| s.as_str().expect("a name")) else {
        return AnyMarker::None;
    };
    let scheme = catalogue::find(name).expect("a scheme");
    let none = Table::new();
    let params = said
        .get("params")
        .map_or(&none, |p| p.as_table().expect("a table"));
    AnyMarker::Builtin(catalogue::build(
        scheme,
        &values(scheme, params),
        &spec_of(said),
    ))
}

/// The port of a trace: its digest, its marks by queue and its last round.
fn run(trace: &Table) -> (String, Vec<u64>, u64) {
    let lanes = trace["queue"].as_array().expect("queues");
    let lanes: Vec<&Table> = lanes
        .iter()
        .map(|q| q.as_table().expect("a queue"))
        .collect();
    let specs: Vec<QueueSpec> = lanes.iter().map(|said| spec_of(said)).collect();
    let mut rig = Rig::with(SchedulerKind::Dwrr, &specs, |i| marker(lanes[i]));
    let mut dice = Dice(number(trace, "seed", 0).wrapping_mul(GOLDEN) | 1);
    let (mut digest, mut marks) = (Fnv1a::new(), vec![0; lanes.len()]);
    let mut left = |rig: &mut Rig, packet: cemark_wire::Packet| {
        // The wire delays a packet by 1 us.
        let end = rig.now / NS - 1_000;
        let marked = packet.ecn() == Ecn::Ce;
        marks[usize::from(packet.class())] += u64::from(marked);
        digest.write(&end.to_le_bytes());
        digest.write(&[packet.class(), u8::from(marked)]);
    };
    let (mut now, mut mean) = (0, 0);
    for n in 0..number(trace, "packets", 0) {
        if n % 256 == 0 {
            mean = [500, 900, 1_100, 4_000][dice.below(4) as usize];
        }
        now += 1 + dice.below(2 * mean);
        let class = dice.below(lanes.len() as u64) as u8;
        let bytes = match dice.below(4) {
            0 => 5 * (13 + dice.below(287)),
            _ => 1_500,
        };
        rig.run(now * NS, &mut left);
        rig.offer(class, bytes as u16);
    }
    rig.run((now + 1_000_000_000_000) * NS, &mut left);
    let round = rig.round().0;
    (format!("{:016x}", digest.finish()), marks, round)
}

#[test]
fn ports_with_unlike_queues_give_the_answers_of_the_oracle() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/port.toml");
    let text = std::fs::read_to_string(path).expect("the file");
    let file: Table = text.parse().expect("its form");
    let traces = file["trace"].as_array().expect("traces");
    assert_eq!(traces.len(), 3);
    for trace in traces {
        let trace = trace.as_table().expect("a trace");
        let marks = trace["marks"].as_array().expect("marks").iter();
        let marks: Vec<u64> = marks
            .map(|m| m.as_integer().expect("a number") as u64)
            .collect();
        let digest = trace["digest"].as_str().expect("a digest").to_owned();
        let want = (digest, marks, number(trace, "round", 0));
        assert_eq!(run(trace), want, "{}", trace["name"]);
    }
}
