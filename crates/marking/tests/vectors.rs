// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replays every golden vector (`vectors/README.md` explains their form).

mod shared;

use std::path::Path;

use cemark_marking::{At, Hook, Marker, QueueId, QueueSpec, SchemeSpec, Verdict, Why, catalogue};
use cemark_wire::{Ecn, Nanos, Rate};
use serde::Deserialize;
use shared::{hand_worked, values};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default = "ten_gigabits")]
    rate_bps: u64,
    quantum: Option<u32>,
    weight: Option<u32>,
    weight_sum: Option<u32>,
    #[serde(default)]
    strict: bool,
    #[serde(default)]
    params: toml::Table,
    steps: Vec<Step>,
}

impl Case {
    fn queue(&self) -> QueueSpec {
        let fifo = QueueSpec::fifo(Rate(self.rate_bps));
        QueueSpec {
            quantum: self.quantum.unwrap_or(fifo.quantum),
            weight: self.weight.unwrap_or(fifo.weight),
            weight_sum: self.weight_sum.unwrap_or(fifo.weight_sum),
            strict: self.strict,
            ..fifo
        }
    }
}

/// A packet, a train or an event: exactly one of `now`, `from`, `emptied`, `wake`, `sleeps` and `retune` is there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    now: Option<u64>,
    want: Option<Answer>,

    from: Option<u64>,
    gap: Option<u64>,
    packets: Option<u64>,
    first: Option<Vec<u64>>,
    total: Option<usize>,
    all_from: Option<u64>,

    #[serde(default)]
    sojourn: u64,
    #[serde(default)]
    queue: u32,
    port: Option<u32>,
    pool: Option<u32>,
    limit: Option<u32>,
    #[serde(default)]
    round: u64,
    #[serde(default = "full_packet")]
    pkt: u32,
    #[serde(default)]
    salt: u64,
    #[serde(default)]
    ecn: Field,
    hook: Option<End>,
    intent: Option<Answer>,

    emptied: Option<u64>,
    wake: Option<u64>,
    sleeps: Option<bool>,
    retune: Option<toml::Table>,
}

/// The hook at which a marker of both is asked.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum End {
    Enqueue,
    Dequeue,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Pass,
    Instant,
    Persistent,
    Random,
    Average,
    Tentative,
    Drop,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Field {
    NotEct,
    Ect1,
    #[default]
    Ect0,
    Ce,
}

fn ten_gigabits() -> u64 {
    10_000_000_000
}

fn full_packet() -> u32 {
    1500
}

/// The intent a word stands for.
fn intent(word: Answer) -> Why {
    match word {
        Answer::Instant => Why::Instant,
        Answer::Persistent => Why::Persistent,
        Answer::Random => Why::Random,
        Answer::Average => Why::Average,
        Answer::Tentative => Why::Tentative,
        Answer::Pass | Answer::Drop => panic!("{word:?} is no intent"),
    }
}

fn view(step: &Step, now: u64) -> At {
    let fifo = At::fifo(Nanos(now), Nanos(step.sojourn), step.queue, step.pkt);
    At {
        salt: step.salt,
        ecn: match step.ecn {
            Field::NotEct => Ecn::NotEct,
            Field::Ect1 => Ecn::Ect1,
            Field::Ect0 => Ecn::Ect0,
            Field::Ce => Ecn::Ce,
        },
        intent: step.intent.map(intent),
        port_bytes: step.port.unwrap_or(step.queue),
        pool_bytes: step.pool.unwrap_or(step.queue),
        limit_bytes: step.limit.unwrap_or(u32::MAX),
        round: Nanos(step.round),
        ..fifo
    }
}

fn judge(marker: &mut impl Marker, step: &Step, now: u64) -> Answer {
    let at = view(step, now);
    let end = match (marker.hook(), step.hook) {
        (Hook::Enqueue, None | Some(End::Enqueue)) => End::Enqueue,
        (Hook::Dequeue, None | Some(End::Dequeue)) => End::Dequeue,
        (Hook::Both, Some(end)) => end,
        (hook, end) => panic!("judged at {hook:?}, asked at {end:?}"),
    };
    let verdict = match end {
        End::Enqueue => marker.enqueue(&at),
        End::Dequeue => marker.dequeue(&at),
    };
    match verdict {
        Verdict::Pass => Answer::Pass,
        Verdict::Mark(Why::Instant) => Answer::Instant,
        Verdict::Mark(Why::Persistent) => Answer::Persistent,
        Verdict::Mark(Why::Random) => Answer::Random,
        Verdict::Mark(Why::Average) => Answer::Average,
        Verdict::Mark(Why::Tentative) => Answer::Tentative,
        Verdict::Drop(_) => Answer::Drop,
    }
}

/// Rings every bell that is due before `now`, with what the step says of lengths.
fn wake_until(marker: &mut impl Marker, step: &Step, now: u64) {
    while let Some(due) = marker.next_wake().filter(|due| due.0 <= now) {
        marker.wake(&view(step, due.0));
    }
}

fn train(marker: &mut impl Marker, step: &Step, from: u64, place: &str) -> u64 {
    let (gap, packets) = (step.gap.expect("gap"), step.packets.expect("packets"));
    let times = (0..packets).map(|n| from + n * gap);
    let marks: Vec<u64> = times
        .filter(|&now| {
            wake_until(marker, step, now);
            judge(marker, step, now) != Answer::Pass
        })
        .collect();
    assert!(
        step.first.is_some() || step.total.is_some() || step.all_from.is_some(),
        "{place}: expects nothing"
    );
    if let Some(first) = &step.first {
        assert_eq!(
            &marks[..first.len().min(marks.len())],
            &first[..],
            "{place}: first marks"
        );
    }
    if let Some(total) = step.total {
        assert_eq!(marks.len(), total, "{place}: number of marks");
    }
    if let Some(start) = step.all_from {
        let last = from + (packets - 1) * gap;
        let run = marks
            .iter()
            .rev()
            .enumerate()
            .take_while(|&(i, &t)| t == last - i as u64 * gap)
            .count() as u64;
        assert_eq!(
            last + gap - run * gap,
            start,
            "{place}: time from which all are marked"
        );
    }
    packets
}

/// Replays one case and answers how many packets it judged.
fn replay(spec: &SchemeSpec, case: &Case, place: &str) -> u64 {
    let queue = case.queue();
    let mut marker = catalogue::build(spec, &values(spec, &case.params), &queue);
    let mut judged = 0;
    for (i, step) in case.steps.iter().enumerate() {
        let place = format!("{place}: {}: step {}", case.name, i + 1);
        let what = (
            step.now,
            step.from,
            step.emptied,
            step.wake,
            step.sleeps,
            &step.retune,
        );
        match what {
            (Some(now), None, None, None, None, None) => {
                let want = step
                    .want
                    .unwrap_or_else(|| panic!("{place}: wants nothing"));
                assert!(
                    marker.next_wake().is_none_or(|due| now <= due.0),
                    "{place}: sleeps over {:?}",
                    marker.next_wake()
                );
                assert_eq!(judge(&mut marker, step, now), want, "{place}");
                judged += 1;
            }
            (None, Some(from), None, None, None, None) => {
                judged += train(&mut marker, step, from, &place);
            }
            (None, None, Some(now), None, None, None) => marker.emptied(QueueId(0), Nanos(now)),
            (None, None, None, Some(now), None, None) => {
                assert_eq!(marker.next_wake(), Some(Nanos(now)), "{place}");
                marker.wake(&view(step, now));
            }
            (None, None, None, None, Some(sleeps), None) => {
                assert_eq!(marker.next_wake().is_none(), sleeps, "{place}");
            }
            (None, None, None, None, None, Some(table)) => {
                marker.retune(&values(spec, table), &queue);
            }
            _ => panic!("{place}: not one thing"),
        }
    }
    judged
}

#[test]
fn every_scheme_gives_its_golden_answers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    for spec in catalogue::ALL {
        let mut judged = 0;
        for path in hand_worked(&root.join(spec.name)) {
            let place = format!(
                "{}/{}",
                spec.name,
                path.file_name().expect("a name").display()
            );
            let text = std::fs::read_to_string(&path).expect("a readable file");
            let file: File = toml::from_str(&text).unwrap_or_else(|e| panic!("{place}: {e}"));
            judged += file
                .case
                .iter()
                .map(|case| replay(spec, case, &place))
                .sum::<u64>();
        }
        assert!(
            judged >= 10,
            "{} has vectors for {judged} packets only",
            spec.name
        );
    }
}

#[test]
fn every_folder_of_vectors_belongs_to_a_scheme() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    for entry in std::fs::read_dir(root).expect("the vectors") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            let name = path
                .file_name()
                .expect("a name")
                .to_str()
                .expect("plain letters");
            assert!(
                catalogue::ALL.iter().any(|s| s.name == name),
                "{name} is no stem of the catalogue"
            );
        }
    }
}
