// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shards put together again: the state that the undivided simulation would have.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::swap;

use cemark_switch::Port;

use super::part::Change;

use crate::endpoints::conn::Counts;
use crate::engine::{Sim, kind};
use crate::events::PartWheel;
use crate::ids::{ConnId, HostId, LinkId};

/// Merges all shards, in their order, into the first.
pub(super) fn merge(sims: Vec<Sim<PartWheel>>, now: u64) -> Sim<PartWheel> {
    let mut sims = sims.into_iter();
    let mut whole = sims.next().expect("there is a shard");
    for other in sims {
        absorb(&mut whole, other);
    }
    whole.now = now;
    count_senders(&mut whole);
    whole
}

/// Exchanges the ports of `other`, and their buffers, for those that `whole` has in their places.
pub(super) fn lend(whole: &mut Sim<PartWheel>, other: &mut Sim<PartWheel>) {
    let mut pools = BTreeSet::new();
    let own = |l: &usize| other.part().owns(LinkId(*l as u32));
    let own: Vec<usize> = (0..whole.ports.len()).filter(own).collect();
    for l in own {
        swap(&mut whole.ports[l], &mut other.ports[l]);
        pools.extend([&whole.ports[l], &other.ports[l]].map(Port::pool));
    }
    for pool in pools.into_iter().flatten() {
        swap(
            &mut whole.pools[pool.place()],
            &mut other.pools[pool.place()],
        );
    }
}

fn absorb(whole: &mut Sim<PartWheel>, mut other: Sim<PartWheel>) {
    lend(whole, &mut other);
    let part = other.part.take().expect("a shard has its part");
    for l in (0..whole.ports.len()).filter(|&l| part.owns(LinkId(l as u32))) {
        for (mine, theirs) in [
            (&mut whole.metrics.at_from, &other.metrics.at_from),
            (&mut whole.metrics.at_until, &other.metrics.at_until),
        ] {
            if let (Some(mine), Some(theirs)) = (mine.get_mut(l), theirs.get(l)) {
                *mine = *theirs;
            }
        }
    }
    for (mine, theirs) in whole.waypoints.iter_mut().zip(&other.waypoints) {
        if let (Some(mine), Some(theirs)) = (&mut mine.fault, &theirs.fault) {
            mine.absorb(theirs);
        }
    }
    for h in (0..whole.hosts.len()).filter(|&h| part.owns_host(HostId(h as u32))) {
        swap(&mut whole.hosts[h], &mut other.hosts[h]);
    }
    for (i, theirs) in (0..).map(ConnId).zip(other.conns.list) {
        if i.0 as usize >= whole.conns.list.len() {
            let routes = other.conns.routes[i];
            whole.conns.put(i, theirs, routes);
            continue;
        }
        let mine = &mut whole.conns.list[i];
        mine.tx = mine.tx.take().or(theirs.tx);
        mine.rx = mine.rx.take().or(theirs.rx);
    }
    let m = &mut whole.metrics;
    m.flows.append(&mut other.metrics.flows);
    m.goodput.append(&mut other.metrics.goodput);
    for (mine, theirs) in m.all_goodput.iter_mut().zip(&other.metrics.all_goodput) {
        *mine += theirs;
    }
    let first = whole.cfg.topology.hosts();
    let owns = |port: usize| part.owns(LinkId(first + port as u32));
    m.sampler.absorb(&mut other.metrics.sampler, owns);
    m.probe_answers.append(&mut other.metrics.probe_answers);
    whole.delayed.absorb(&other.delayed);
    whole.sent += other.sent;
    whole.delivered += other.delivered;
    whole.hops += other.hops;
    whole.handled += other.handled;
    let all = whole.part_mut();
    let part = *part;
    all.changes.extend(part.changes);
    all.ends.extend(part.ends);
    all.answers.extend(part.answers);
}

/// Sets the counters of the senders of measured flows to what they were when the flows ended.
fn count_senders(whole: &mut Sim<PartWheel>) {
    let mut changes: BTreeMap<ConnId, Vec<Change>> = BTreeMap::new();
    let mut part = whole.part.take().expect("a shard has its part");
    // Those of one event came in one shard, and their order is kept.
    let answers = &mut whole.metrics.probe_answers;
    let mut ordered: Vec<_> = part.answers.drain(..).zip(answers.drain(..)).collect();
    ordered.sort_by_key(|(when, _)| *when);
    answers.extend(ordered.into_iter().map(|(_, answer)| answer));
    for change in part.changes {
        changes.entry(change.conn).or_default().push(change);
    }
    let clock = whole.clock;
    for (flow, (conn, end)) in whole.metrics.flows.iter_mut().zip(part.ends) {
        let of = changes.get(&conn).map_or(&[][..], Vec::as_slice);
        let until = |when| match of.partition_point(|change| change.when < when) {
            0 => Counts::default(),
            n => of[n - 1].counts,
        };
        let (begin, end) = (until((clock.ticks(flow.start), kind::FLOW)), until(end));
        flow.retransmits = end.retransmits - begin.retransmits;
        flow.timeouts = end.timeouts - begin.timeouts;
    }
}
