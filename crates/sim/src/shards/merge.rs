// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shards put together again: the state that the undivided simulation would have.

use crate::agenda::kind;
use crate::engine::Shard;
use crate::events::PartWheel;
use crate::ids::LinkId;

/// Merges all shards, in their order, into the first.
pub(super) fn merge(mut shards: Vec<Shard<PartWheel>>, now: u64) -> Shard<PartWheel> {
    for shard in &mut shards {
        shard.core.net.count_coming();
    }
    let mut shards = shards.into_iter();
    let mut whole = shards.next().expect("there is a shard");
    for other in shards {
        absorb(&mut whole, other);
    }
    whole.core.agenda.now = now;
    order_answers(&mut whole);
    count_other_ends(&mut whole);
    whole
}

fn absorb(whole: &mut Shard<PartWheel>, mut other: Shard<PartWheel>) {
    whole.core.net.absorb(&mut other.core.net);
    let border = other.core.net.border();
    for l in (0..whole.core.net.ports().len()).filter(|&l| border.owns(LinkId(l as u32))) {
        for (mine, theirs) in [
            (&mut whole.metrics.at_from, &other.metrics.at_from),
            (&mut whole.metrics.at_until, &other.metrics.at_until),
        ] {
            if let (Some(mine), Some(theirs)) = (mine.get_mut(l), theirs.get(l)) {
                mine.clone_from(theirs);
            }
        }
    }
    whole
        .ends
        .absorb(other.ends, |host| border.owns(host.nic()));
    let m = &mut whole.metrics;
    m.flows.append(&mut other.metrics.flows);
    m.goodput.append(&mut other.metrics.goodput);
    for (mine, theirs) in m.all_goodput.iter_mut().zip(&other.metrics.all_goodput) {
        *mine += theirs;
    }
    let first = whole.cfg.topology.fabric().nics();
    let owns = |port: usize| border.owns(LinkId(first + port as u32));
    m.sampler.absorb(&mut other.metrics.sampler, owns);
    m.buffers.absorb(&mut other.metrics.buffers);
    m.probe_answers.append(&mut other.metrics.probe_answers);
    whole.others += other.others;
    let part = other.part.take().expect("a shard has its part");
    let all = whole.part_mut();
    all.ends.extend(part.ends);
    all.answers.extend(part.answers);
}

/// Puts the answers to probes into the order in which they came. Those of one event came in one
/// shard, and their order is kept.
fn order_answers(whole: &mut Shard<PartWheel>) {
    let whens = std::mem::take(&mut whole.part_mut().answers);
    let answers = &mut whole.metrics.probe_answers;
    let mut ordered: Vec<_> = whens.into_iter().zip(answers.drain(..)).collect();
    ordered.sort_by_key(|(when, _)| *when);
    answers.extend(ordered.into_iter().map(|(_, answer)| answer));
}

/// Sets what the other ends of measured flows counted to what it was when the flows ended.
fn count_other_ends(whole: &mut Shard<PartWheel>) {
    let ends = std::mem::take(&mut whole.part_mut().ends);
    let histories = &mut whole.ends.histories;
    let (senders, marks) = (
        histories.senders.by_connection(),
        histories.marks.by_connection(),
    );
    let (clock, sender_ends) = (whole.core.agenda.clock, whole.ends.sender_ends());
    for (flow, (conn, end)) in whole.metrics.flows.iter_mut().zip(ends) {
        if sender_ends {
            flow.marks = marks.until(conn, end);
            // Its receiver was not told.
            if let Some(rx) = &mut whole.ends.conns.list[conn].rx
                && rx.flow.id == flow.id
            {
                rx.open = false;
            }
            continue;
        }
        let begin = senders.until(conn, (clock.ticks(flow.start), kind::FLOW));
        let end = senders.until(conn, end);
        flow.retransmits = end.retransmits - begin.retransmits;
        flow.timeouts = end.timeouts - begin.timeouts;
    }
}
