// SPDX-License-Identifier: MIT OR Apache-2.0
//! Judges the packets of a case and compares.

use cemark_marking::{At, Hook, Marker, QueueId, QueueSpec, SchemeSpec, Verdict, Why};
use cemark_wire::{Ecn, Nanos};

use crate::Outcome;
use crate::file::{Answer, Case, End, Field, Step, values};

/// Why a case stops: the file is wrong, or the answer differs.
enum Stop {
    File(String),
    Differs(String),
}

/// Replays a case on a marker that is built for its parameters. `Err` is a mistake in the file. A
/// wrong answer is an outcome.
pub(crate) fn case(
    spec: &SchemeSpec,
    case: &Case,
    queue: &QueueSpec,
    mut marker: Box<dyn Marker>,
) -> Result<Outcome, String> {
    let mut packets = 0;
    for (step, number) in case.steps.iter().zip(1..) {
        match one(&mut *marker, spec, step, queue) {
            Ok(judged) => packets += judged,
            Err(Stop::File(why)) => return Err(format!("step {number}: {why}")),
            Err(Stop::Differs(how)) => {
                let differs = Some(format!("step {number}: {how}"));
                return Ok(Outcome { packets, differs });
            }
        }
    }
    Ok(Outcome {
        packets,
        differs: None,
    })
}

/// Replays one step and returns the number of packets that it judged.
fn one(
    marker: &mut dyn Marker,
    spec: &SchemeSpec,
    step: &Step,
    queue: &QueueSpec,
) -> Result<u64, Stop> {
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
                .ok_or_else(|| Stop::File("a packet without `want`".to_owned()))?;
            if let Some(due) = marker.next_wake().filter(|due| due.0 < now) {
                return Err(Stop::Differs(format!("its timer at {} is overdue", due.0)));
            }
            let came = judge(marker, step, now)?;
            if came != want {
                return Err(Stop::Differs(format!("wants {want:?}, came {came:?}")));
            }
            Ok(1)
        }
        (None, Some(from), None, None, None, None) => train(marker, step, from),
        (None, None, Some(now), None, None, None) => {
            marker.emptied(QueueId(0), Nanos(now));
            Ok(0)
        }
        (None, None, None, Some(now), None, None) => {
            let due = marker.next_wake();
            if due != Some(Nanos(now)) {
                return Err(Stop::Differs(format!(
                    "wants a wake-up at {now}, its timer is at {due:?}"
                )));
            }
            marker.wake(&view(step, now)?);
            Ok(0)
        }
        (None, None, None, None, Some(sleeps), None) => match marker.next_wake() {
            due if due.is_none() == sleeps => Ok(0),
            due => Err(Stop::Differs(format!("its timer is at {due:?}"))),
        },
        (None, None, None, None, None, Some(table)) => {
            marker.retune(&values(spec, table).map_err(Stop::File)?, queue);
            Ok(0)
        }
        _ => Err(Stop::File(
            "not exactly one of `now`, `from`, `emptied`, `wake`, `sleeps` and `retune`".to_owned(),
        )),
    }
}

/// The intent with this word.
fn intent(word: Answer) -> Result<Why, Stop> {
    Ok(match word {
        Answer::Instant => Why::Instant,
        Answer::Persistent => Why::Persistent,
        Answer::Random => Why::Random,
        Answer::Average => Why::Average,
        Answer::Tentative => Why::Tentative,
        Answer::Pass | Answer::Drop => {
            return Err(Stop::File(format!("{word:?} is no intent")));
        }
    })
}

/// A step's packet as the marker sees it.
fn view(step: &Step, now: u64) -> Result<At, Stop> {
    Ok(At {
        packet_hash: step.salt,
        ecn: match step.ecn {
            Field::NotEct => Ecn::NotEct,
            Field::Ect1 => Ecn::Ect1,
            Field::Ect0 => Ecn::Ect0,
            Field::Ce => Ecn::Ce,
        },
        intent: step.intent.map(intent).transpose()?,
        port_bytes: step.port.unwrap_or(step.queue),
        pool_bytes: step.pool.unwrap_or(step.queue),
        limit_bytes: step.limit.unwrap_or(u32::MAX),
        round: Nanos(step.round),
        ..At::departure(Nanos(now), Nanos(step.sojourn), step.queue, step.pkt)
    })
}

fn judge(marker: &mut dyn Marker, step: &Step, now: u64) -> Result<Answer, Stop> {
    let at = view(step, now)?;
    let verdict = match (marker.hook(), step.hook) {
        (Hook::Enqueue, None) | (Hook::Enqueue | Hook::Both, Some(End::Enqueue)) => {
            marker.enqueue(&at)
        }
        (Hook::Dequeue, None) | (Hook::Dequeue | Hook::Both, Some(End::Dequeue)) => {
            marker.dequeue(&at)
        }
        (hook, _) => {
            return Err(Stop::File(format!("judged at {hook:?}: name the hook")));
        }
    };
    Ok(match verdict {
        Verdict::Pass => Answer::Pass,
        Verdict::Mark(Why::Instant) => Answer::Instant,
        Verdict::Mark(Why::Persistent) => Answer::Persistent,
        Verdict::Mark(Why::Random) => Answer::Random,
        Verdict::Mark(Why::Average) => Answer::Average,
        Verdict::Mark(Why::Tentative) => Answer::Tentative,
        Verdict::Drop(_) => Answer::Drop,
    })
}

/// Runs every timer wake-up that is due by `now`, with the lengths of the step.
fn wake_until(marker: &mut dyn Marker, step: &Step, now: u64) -> Result<(), Stop> {
    while let Some(due) = marker.next_wake().filter(|due| due.0 <= now) {
        marker.wake(&view(step, due.0)?);
    }
    Ok(())
}

/// Replays a train of equal packets and returns their number.
fn train(marker: &mut dyn Marker, step: &Step, from: u64) -> Result<u64, Stop> {
    let (Some(gap), Some(packets)) = (step.gap, step.packets) else {
        return Err(Stop::File("a train needs `gap` and `packets`".to_owned()));
    };
    if step.first.is_none() && step.total.is_none() && step.all_from.is_none() {
        return Err(Stop::File(
            "a train needs `first`, `total` or `all_from`".to_owned(),
        ));
    }
    let mut marks = Vec::new();
    for n in 0..packets {
        let now = from + n * gap;
        wake_until(marker, step, now)?;
        if judge(marker, step, now)? != Answer::Pass {
            marks.push(now);
        }
    }
    let differs = |what: &str, want: String, came: String| {
        Err(Stop::Differs(format!("{what}: wants {want}, came {came}")))
    };
    if let Some(first) = &step.first {
        let came = &marks[..first.len().min(marks.len())];
        if came != &first[..] {
            return differs("first marks", format!("{first:?}"), format!("{came:?}"));
        }
    }
    if let Some(total) = step.total.filter(|t| *t != marks.len()) {
        return differs(
            "number of marks",
            total.to_string(),
            marks.len().to_string(),
        );
    }
    if let Some(start) = step.all_from {
        let end = from + packets * gap;
        let run = marks
            .iter()
            .rev()
            .zip(1u64..)
            .take_while(|&(&t, i)| t == end - i * gap)
            .count() as u64;
        let came = end - run * gap;
        if came != start {
            return differs(
                "time from which all are marked",
                start.to_string(),
                came.to_string(),
            );
        }
    }
    Ok(packets)
}
